import * as THREE from "three";
import { afterEach, describe, expect, it, vi } from "vitest";
import { hair_colours, map_colour, obstacle_colour, type Rgb } from "../src/colours";
import { ByteCache } from "../src/data/cache";
import { part_name, unpack_points, unshuffled } from "../src/data/embedded";
import { RunApi } from "../src/data/api";
import { FrameSource } from "../src/data/frame_source";
import { place_among_keys } from "../src/data/mesh_keys";
import { quantiles, round_down, round_up, scaled_unit, short, spread, ticks, with_unit, without_rounding } from "../src/data/numbers";
import { Player, frame_at, joined_times, nearest_frame, suitable_speed } from "../src/data/player";
import { parse_frame, parse_layout, parse_meshes, type Layout, type Mesh } from "../src/data/protocol";
import { title_of, up_axis } from "../src/data/scene_text";
import { smooth_normals, split_at_creases } from "../src/scene/creases";
import { Meshes, most_smooth_faces } from "../src/scene/meshes";
import { read_link, write_link, type Link } from "../src/link";
import { default_settings } from "../src/settings";
import { held_place } from "../src/scene/holds";
import { Scales } from "../src/scene/scales";
import { pick_fibre } from "../src/scene/picking";
import { pieces_of } from "../src/scene/segments";
import { Surfaces } from "../src/scene/surfaces";
import { parts_of } from "../src/ui/arrangement";
import { envelope } from "../src/ui/figures";

/** Two fibres of three and two points, one obstacle without shape. */
function layout_buffer(): ArrayBuffer {
  const bytes = new ArrayBuffer(4 * (5 + 3 + 2 + 5 + 5 + 3 + 2));
  new Uint32Array(bytes, 0, 5).set([2, 5, 1, 0, 0]);
  new Int32Array(bytes, 20, 5).set([0, 3, 5, 0, 1]);
  new Float32Array(bytes, 40, 13).set([1, 1, 1, 2, 2, 0, 0.5, 1, 0, 1, 7, 8, 9]);
  return bytes;
}

const layout: Layout = parse_layout(layout_buffer());

describe("protocol", () => {
  it("reads a layout as the server writes it", () => {
    expect([...layout.point_offsets]).toEqual([0, 3, 5]);
    expect([...layout.group]).toEqual([0, 1]);
    expect([...layout.arc_length]).toEqual([0, 0.5, 1, 0, 1]);
    expect([...layout.obstacle_reference]).toEqual([7, 8, 9]);
  });
  it("reads a frame with a contact", () => {
    const bytes = new ArrayBuffer(32 + 4 * (15 + 15 + 16 + 1));
    new Float64Array(bytes, 0, 2).set([0.25, 10]);
    new Uint32Array(bytes, 16, 4).set([5, 1, 1, 0]);
    new Float32Array(bytes, 32, 15).fill(3);
    new Int32Array(bytes, 32 + 4 * (15 + 15 + 12), 4).set([0, 1, -1, 2]);
    const frame = parse_frame(bytes);
    expect([frame.time, frame.step, frame.contact_count]).toEqual([0.25, 10, 1]);
    expect([frame.contact_fibre_a[0], frame.contact_fibre_b[0], frame.contact_obstacle_b[0], frame.contact_state[0]]).toEqual([0, 1, -1, 2]);
  });
  it("reads surfaces and their vertices", () => {
    const bytes = new ArrayBuffer(4 * (5 + 1 + 2 + 4 + 9));
    new Int32Array(bytes, 20).set([0, 2, 3, 3, 4, 1, 2, 0, 1, 2, 0, 1, 2, 0, 2, 3]);
    const { surfaces } = parse_layout(bytes);
    expect(surfaces.map(({ vertex_count, face }) => [vertex_count, ...face])).toEqual([
      [3, 0, 1, 2],
      [4, 0, 1, 2, 0, 2, 3],
    ]);
    const frame = new ArrayBuffer(32 + 4 + 12 * 7);
    new Uint32Array(frame, 32, 1).set([7]);
    new Float32Array(frame, 36).set(Array.from({ length: 21 }, (_, i) => i));
    expect([...parse_frame(frame).surface_vertices.subarray(9, 12)]).toEqual([9, 10, 11]);
    expect(() => parse_frame(frame.slice(0, 40))).toThrow("cut short");
  });
  it("reads meshes", () => {
    const bytes = new ArrayBuffer(8 + 16 + 4 * (8 + 9));
    new Uint32Array(bytes, 0, 2).set([2, 3]);
    new Float64Array(bytes, 8, 2).set([24, 0.1]);
    new Int32Array(bytes, 24).set([1, 0, 1, 2, 3, 4, 5, 1, 0, 1, 2, 0, 1, 2, 0, 2, 3]);
    const [first, second] = parse_meshes(bytes);
    expect([first!.obstacle, first!.vertex_count, first!.keys, first!.rate, ...first!.face]).toEqual([1, 3, 5, 24, 0, 1, 2]);
    expect([second!.obstacle, second!.vertex_count, second!.keys, second!.rate, ...second!.face]).toEqual([0, 4, 1, 0.1, 0, 1, 2, 0, 2, 3]);
    expect(() => parse_meshes(bytes.slice(0, bytes.byteLength - 4))).toThrow("cut short");
    expect(parse_meshes(new ArrayBuffer(8))).toEqual([]);
  });
  it("refuses what is cut short or too long", () => {
    const bytes = layout_buffer();
    for (const size of [0, 4, 40, bytes.byteLength - 4]) expect(() => parse_layout(bytes.slice(0, size))).toThrow();
    const longer = new ArrayBuffer(bytes.byteLength + 4);
    new Uint8Array(longer).set(new Uint8Array(bytes));
    expect(() => parse_layout(longer)).toThrow("too many");
    expect(() => parse_frame(new ArrayBuffer(31))).toThrow();
  });
});

describe("cache", () => {
  it("drops what was used longest ago, never the newest", () => {
    const cache = new ByteCache<string>(100);
    cache.set("a", "A", 40);
    cache.set("b", "B", 40);
    expect(cache.get("a")).toBe("A");
    cache.set("c", "C", 40);
    expect([cache.has("a"), cache.has("b"), cache.has("c"), cache.bytes]).toEqual([true, false, true, 80]);
    cache.set("d", "D", 1000);
    expect([cache.size, cache.get("d")]).toEqual([1, "D"]);
    cache.set("d", "E", 10);
    expect(cache.bytes).toBe(10);
  });
});

describe("meshes", () => {
  const mesh: Mesh = { obstacle: 0, vertex_count: 1, keys: 4, rate: 10, face: new Int32Array(0) };
  it("are between two of their keys, and rest before and after", () => {
    expect([-1, 0, 0.05, 0.1, 0.25, 0.3, 9, NaN].map((time) => place_among_keys(mesh, time))).toEqual([
      { before: 0, after: 0, weight: 0 },
      { before: 0, after: 0, weight: 0 },
      { before: 0, after: 1, weight: 0.5 },
      { before: 1, after: 1, weight: 0 },
      { before: 2, after: 3, weight: 0.5 },
      { before: 3, after: 3, weight: 0 },
      { before: 3, after: 3, weight: 0 },
      { before: 0, after: 0, weight: 0 },
    ]);
  });
  it("have faces that share normals where they turn little, and break at edges", () => {
    const [corners, faces] = box();
    const cube = split_at_creases(corners, faces, 0.7);
    expect(cube.vertex.length).toBe(24);
    const points = Float32Array.from([...cube.vertex].flatMap((v) => [...corners.subarray(3 * v, 3 * v + 3)]));
    const normals = new Float32Array(points.length);
    smooth_normals(points, cube.index, normals);
    cube.index.forEach((point, k) => {
      const axis = k < 12 ? 2 : k < 24 ? 1 : 0; // faces in pairs along z, y, x, the lower ones first
      const sign = (k / 6) % 2 < 1 ? -1 : 1;
      expect([...normals.subarray(3 * point, 3 * point + 3)].map((x, c) => (c === axis ? x * sign : x))[axis]).toBeCloseTo(1, 6);
    });
    expect(split_at_creases(corners, faces, 2).vertex.length).toBe(8);
  });
});

describe("meshes in the scene", () => {
  const plain = new THREE.MeshStandardMaterial();
  const [corners, face] = box();
  const mesh: Mesh = { obstacle: 1, vertex_count: 8, keys: 2, rate: 10, face };
  const place = (drawn: THREE.Object3D): number[] => {
    const points = (drawn as THREE.Mesh).geometry.getAttribute("position");
    return new THREE.Vector3().fromBufferAttribute(points, 0).applyMatrix4(drawn.matrix).toArray();
  };
  it("stand where their obstacle and their keys put them", () => {
    const meshes = new Meshes([{ mesh, vertices: corners }], plain, () => new THREE.Color("#0000ff"));
    const drawn = meshes.group.children[0]!;
    const poses = [new THREE.Matrix4(), new THREE.Matrix4().makeTranslation(1, 2, 3)];
    expect(meshes.materials[0]!.color.getHexString()).toBe("0000ff");
    meshes.update(poses, [null]);
    expect(place(drawn)).toEqual([1, 2, 3]);
    const points = (drawn as THREE.Mesh).geometry.getAttribute("position") as THREE.BufferAttribute;
    const uploads = points.version;
    meshes.update(poses, [null]);
    expect(points.version).toBe(uploads); // not put on the card again
    meshes.update(poses, [{ before: corners, after: corners.map((x) => x + 4), weight: 0.25 }]);
    expect(place(drawn)).toEqual([2, 3, 4]);
    expect(points.version).toBe(uploads + 1);
    expect(meshes.outline(poses)).toHaveLength(24);
    meshes.dispose();
  });
  it("are shaded flat where they have very many faces", () => {
    const many = { ...mesh, face: new Int32Array(3 * (most_smooth_faces + 1)).map((_, k) => face[k % 36]!) };
    const drawn = new Meshes([{ mesh: many, vertices: corners }], plain, () => new THREE.Color()).group.children[0] as THREE.Mesh;
    expect((drawn.material as THREE.MeshStandardMaterial).flatShading).toBe(true);
    expect([drawn.geometry.getAttribute("position").count, drawn.geometry.index!.count]).toEqual([8, many.face.length]);
    expect(drawn.geometry.getAttribute("normal")).toBeUndefined();
  });
});

describe("surfaces in the scene", () => {
  it("have the vertices of the frame, and normals of their own", () => {
    const face = new Int32Array([0, 1, 2]);
    const surfaces = new Surfaces([{ vertex_count: 4, face }, { vertex_count: 3, face }]);
    const buffer = new ArrayBuffer(36 + 12 * 7);
    new Uint32Array(buffer, 32, 1).set([7]);
    new Float32Array(buffer, 36).set([0, 0, 0, 1, 0, 0, 0, 1, 0, 9, 9, 9, 0, 0, 0, 0, 2, 0, 0, 0, 2]);
    const frame = parse_frame(buffer);
    surfaces.update(frame);
    const [first, second] = surfaces.group.children as THREE.Mesh[];
    const numbers = (drawn: THREE.Mesh, name: string): number[] => [...drawn.geometry.getAttribute(name).array];
    expect(numbers(first!, "position")).toEqual([0, 0, 0, 1, 0, 0, 0, 1, 0, 9, 9, 9]);
    expect(numbers(first!, "normal").slice(0, 9)).toEqual([0, 0, 1, 0, 0, 1, 0, 0, 1]);
    expect(numbers(second!, "position")).toEqual([0, 0, 0, 0, 2, 0, 0, 0, 2]);
    expect(numbers(second!, "normal").slice(0, 3)).toEqual([1, 0, 0]);
    expect(surfaces.outline(frame)).toHaveLength(7);
    surfaces.dispose();
  });
});

/** A cube of twelve faces that look outwards. */
function box(): [Float32Array, Int32Array] {
  const corners = Float32Array.from({ length: 24 }, (_, i) => (((i - (i % 3)) / 3) >> i % 3) & 1);
  const faces = [[0, 2, 3], [0, 3, 1], [4, 5, 7], [4, 7, 6], [0, 1, 5], [0, 5, 4], [2, 6, 7], [2, 7, 3], [0, 4, 6], [0, 6, 2], [1, 3, 7], [1, 7, 5]];
  return [corners, Int32Array.from(faces.flat())];
}

describe("frames", () => {
  afterEach(() => void vi.unstubAllGlobals());
  it("come with the keys of meshes that move, each asked for once", async () => {
    const asked: string[] = [];
    vi.stubGlobal("fetch", async (path: string) => {
      asked.push(path);
      const index = Number(/index=(\d+)/.exec(path)?.[1] ?? 0);
      const key = Number(/key=(\d+)/.exec(path)?.[1] ?? 0);
      const frame = new ArrayBuffer(36);
      new Float64Array(frame, 0, 1)[0] = 0.05 * index;
      return { ok: true, arrayBuffer: async () => (path.includes("vertices") ? Float32Array.from([key, 0, 0]).buffer : frame) };
    });
    const still: Mesh = { obstacle: 0, vertex_count: 1, keys: 1, rate: 1, face: new Int32Array(0) };
    const source = new FrameSource(new RunApi(0), 1e6, () => undefined, (message) => expect(message).toBe(""));
    source.restart(3, [still, { ...still, keys: 2, rate: 10 }], [new Float32Array(3), new Float32Array(3)]);
    const times = [0, 0.05, 0.1, 0.15];
    expect(source.peek(1, null)).toBeNull();
    for (const index of [1, 2, 3, 0]) {
      source.want(index, null, 0, times);
      await vi.waitFor(() => expect(source.peek(index, null)).not.toBeNull());
    }
    const moved = times.map((_, index) => {
      const [none, shape] = source.peek(index, null)!.shapes;
      expect(none).toBeNull();
      return shape!.before[0]! + shape!.weight * (shape!.after[0]! - shape!.before[0]!);
    });
    expect(moved).toEqual([0, 0.5, 1, 1]);
    expect(asked.filter((path) => path.includes("vertices"))).toEqual(["/api/vertices?generation=3&mesh=1&key=1"]);
  });
});

describe("a run within the page", () => {
  it("has parts by what is asked of the server", () => {
    const names = ["/api/state", "/api/times?generation=1&from=0", "/api/frame?generation=1&index=7", "/api/quantity?generation=1&index=7&name=twist", "/api/vertices?generation=1&mesh=2&key=3", "/api/runs/1/frame?generation=1&index=7"].map(part_name);
    expect(names).toEqual(["state", "times", "frame/7", "quantity/7/twist", "vertices/2/3", "runs/1/frame/7"]);
  });
  it("is put together again", () => {
    expect([...new Uint8Array(unshuffled(Uint8Array.from([1, 5, 2, 6, 3, 7, 4, 8])))]).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
    const frame = new ArrayBuffer(32 + 24);
    new Uint32Array(frame, 16, 1)[0] = 2;
    new Float32Array(frame, 28, 1)[0] = 0.5;
    new Int32Array(frame, 32).set([4, 2, -2, 0, 7, 1]); // x: 4, 4 + (4 + 2); y: -2, -4; z: 7, 7 + 8
    expect([...new Float32Array(unpack_points(frame), 32)]).toEqual([2, -1, 3.5, 5, -2, 7.5]);
    expect([...new Float32Array(unpack_points(frame), 32)]).toEqual([2, -1, 3.5, 5, -2, 7.5]);
  });
});

describe("links", () => {
  const settings = { ...default_settings, colour: "twist" as const, show_forces: true, opacity: 0.25, theme: "dark" as const };
  it("say what is shown, but for a reader's own choices", () => {
    const link: Link = { settings, frame: 7, named_frame: true, time: null, eye: [1, 2, 3, 0.5, 0, -1e-9], up: "y", range: [-1, 2], plot: "Force,2", fibre: 3, runs: "straight and bezier" };
    const text = write_link(link, default_settings);
    expect(text).toBe("frame=7&eye=1,2,3,0.5,0,-1e-9&up=y&range=-1,2&plot=Force,2&fibre=3&colour=twist&opacity=0.25&show_forces=true&runs=straight+and+bezier");
    expect(read_link(`#${text}`, { ...default_settings, theme: "light" }, default_settings)).toEqual({ ...link, settings: { ...settings, theme: "light" } });
  });
  it("name the time where two runs are shown", () => {
    const link = { ...read_link("#time=0.125", default_settings, default_settings)! };
    expect([link.time, link.named_frame]).toEqual([0.125, false]);
    expect(write_link(link, default_settings)).toBe("time=0.125");
    expect(write_link({ ...link, runs: "a and b" }, default_settings)).toBe("time=0.125&runs=a+and+b");
    expect(write_link({ ...link, time: null, runs: "a and b" }, default_settings)).toBe("");
  });
  it("are empty where nothing was changed", () => {
    expect(write_link({ settings: default_settings, frame: 0, named_frame: true, time: null, eye: null, up: null, range: null, plot: "", fibre: -1, runs: "" }, default_settings)).toBe("");
    expect(read_link("", default_settings, default_settings)).toBeNull();
  });
});

describe("player", () => {
  const player = new Player();
  player.set_times(Float64Array.from([0, 0.1, 0.2, 0.3]));
  it("finds frames by time", () => {
    expect([-1, 0, 0.05, 0.1, 0.29999999999, 5].map((t) => frame_at(player.times, t))).toEqual([0, 0, 0, 1, 3, 3]);
    expect(frame_at([], 1)).toBe(0);
  });
  it("plays to the end and stops there, then starts again", () => {
    player.toggle();
    player.advance(0.15);
    expect(player.index).toBe(1);
    player.advance(10);
    expect([player.index, player.playing]).toEqual([3, false]);
    player.toggle();
    expect([player.index, player.playing]).toEqual([0, true]);
    player.step(1);
    expect([player.index, player.playing]).toEqual([1, false]);
  });
  it("follows what comes", () => {
    player.follow = true;
    player.set_times(Float64Array.from([0, 0.1, 0.2, 0.3, 0.4]));
    expect(player.index).toBe(4);
  });
  it("joins the times of two runs, each of which shows its nearest frame", () => {
    const [a, b] = [Float64Array.from([0, 0.1, 0.2, 0.1 + 0.2]), Float64Array.from([0, 0.15, 0.3])];
    const joined = joined_times([a, b]);
    expect(joined.length).toBe(5);
    expect([...joined].map((time) => nearest_frame(a, time))).toEqual([0, 1, 1, 2, 3]);
    expect([...joined].map((time) => nearest_frame(b, time))).toEqual([0, 1, 1, 1, 2]);
    expect([nearest_frame(a, 9), nearest_frame([], 1), nearest_frame(b, -1)]).toEqual([3, 0, 0]);
    expect(joined_times([a])).toBe(a);
  });
  it("plays slowly what is short", () => {
    expect(suitable_speed(20)).toBe(1);
    expect(suitable_speed(0.01)).toBe(0.001);
  });
});

describe("numbers", () => {
  it("of a plot are 0 where they are rounding beside its largest", () => {
    expect([3e-13, -9e-13, 1.1e-12, -2e-3].map((v) => without_rounding(v, 1e-3))).toEqual([0, 0, 1.1e-12, -2e-3]);
    expect(without_rounding(1e-16, 1e-16)).toBe(1e-16);
  });
  it("writes units that read well", () => {
    expect(with_unit(0.0032, "N")).toBe("3.2 mN");
    expect(with_unit(5e-5, "m")).toBe("50 µm");
    expect(with_unit(0, "N")).toBe("0 N");
    expect(with_unit(120, "1/m")).toBe("120 1/m");
    expect(scaled_unit(2e-12, "J").name).toBe("nJ");
    expect(scaled_unit(4e-7, "1/m").name).toBe("10⁻⁷ 1/m");
    expect(short(1 / 3, 3)).toBe("0.333");
    expect(short(2.5e-15, 3)).toBe("2.5e-15");
  });
  it("finds round ticks and limits", () => {
    expect(ticks(0, 50, 5)).toEqual([0, 10, 20, 30, 40, 50]);
    expect(ticks(1, 1, 5)).toEqual([1]);
    expect([round_up(0.3), round_up(2), round_up(71), round_up(0)]).toEqual([0.5, 2, 100, 1]);
    expect([round_down(0.3), round_down(2), round_down(1.999), round_down(71), round_down(0)]).toEqual([0.2, 2, 1, 50, 1]);
    expect([spread(0, 7), spread(1, 7), spread(3, 7), spread(101, 5)]).toEqual([[], [0], [0, 1, 2], [0, 25, 50, 75, 100]]);
    expect(quantiles([NaN, 3, 1, 2, Infinity], 0, 1)).toEqual({ low: 1, high: 3 });
    expect(quantiles([NaN], 0, 1)).toBeNull();
  });
});

describe("scene text", () => {
  it("finds title and up", () => {
    expect(title_of('x = 1\ntitle = "A \\"knot\\""\n')).toBe('A "knot"');
    expect(title_of("")).toBe("");
    expect(up_axis("gravity = 9.81", [1, 1, 0])).toBe("z");
    expect(up_axis("gravity = [0, -9.81, 0]", [1, 1, 1])).toBe("y");
    expect(up_axis("", [1, 1, 0.01])).toBe("y");
  });
});

describe("scales", () => {
  it("are those of all that was seen", () => {
    const scales = new Scales();
    scales.see_values(Float32Array.from([0, 3]), "curvature");
    scales.see_values(Float32Array.from([0, 40]), "curvature");
    scales.see_values(Float32Array.from([0, 1]), "curvature");
    scales.see_forces([0.3]);
    expect([scales.range, scales.force_limit]).toEqual([{ low: 0, high: 50 }, 0.5]);
    scales.see_values(Float32Array.from([-0.3, 0.1]), "tension");
    expect(scales.range).toEqual({ low: -0.5, high: 0.5 });
  });
});

describe("what is drawn", () => {
  it("joins all points of a fibre, its last one too", () => {
    expect([...pieces_of(layout, 1)]).toEqual([0, 1, 0, 2, 1, 2, 0, 2, 3, 4, 3, 4]);
    expect([...pieces_of(layout, 4)]).toEqual([0, 2, 0, 2, 3, 4, 3, 4]);
  });
  it("has lighter colours for larger values", () => {
    const lightness = ([r, g, b]: readonly number[]): number => 0.2126 * r! + 0.7152 * g! + 0.0722 * b!;
    for (const name of ["viridis", "plasma"] as const) {
      for (let i = 1; i <= 20; ++i) {
        expect(lightness(map_colour(name, i / 20))).toBeGreaterThan(lightness(map_colour(name, (i - 1) / 20)));
      }
    }
  });
  it("has obstacles of other colours than hair and than each other", () => {
    const distance = (a: Rgb, b: Rgb): number => Math.hypot(...a.map((x, i) => x - b[i]!));
    const obstacles = Array.from({ length: 8 }, (_, i) => obstacle_colour(i));
    obstacles.forEach((one, i) => {
      for (const other of [...hair_colours, ...obstacles.slice(0, i)]) expect(distance(one, other)).toBeGreaterThan(0.2);
    });
  });
  it("has views beside or below each other in one picture", () => {
    expect(parts_of({ width: 300, height: 100 }, 2, false).map(({ size, corner }) => [size.width, size.height, ...corner])).toEqual([[150, 100, 0, 0], [150, 100, 150, 0]]);
    expect(parts_of({ width: 300, height: 100 }, 2, true).map(({ size, corner }) => [size.width, size.height, ...corner])).toEqual([[300, 50, 0, 0], [300, 50, 0, 50]]);
  });
  it("keeps least and greatest of a stretch in its lines", () => {
    const curves = { from: [0, 2], to: [1, 2], least: [[-1, 5]], greatest: [[4, 5]] };
    expect(envelope(curves, 0)).toEqual({ times: [0, 0.5, 2], values: [-1, 4, 5] });
  });
});

describe("held points", () => {
  const points = Float32Array.from([0, 0, 0, 1, 0, 0, 1, 2, 0, 5, 5, 5, 6, 5, 5]);
  const place = (fibre: number, at: number | null): number[] | null => held_place(layout, points, { name: "", fibre, at })?.toArray() ?? null;
  it("lie between the points of their fibre", () => {
    expect([place(0, 0), place(0, 0.25), place(0, 0.75), place(0, 1), place(0, 9)]).toEqual([[0, 0, 0], [0.5, 0, 0], [1, 1, 0], [1, 2, 0], [1, 2, 0]]);
    expect(place(1, 0.5)).toEqual([5.5, 5, 5]);
  });
  it("are nowhere where the scene does not say", () => {
    expect([place(0, null), place(-1, 0), place(2, 0)]).toEqual([null, null, null]);
  });
});

describe("picking", () => {
  // The eye at z = 2 looks along -z: x and y are divided by 2 - z.
  const matrix = [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, -1, 0, 0, 0, 2];
  const view = { width: 200, height: 100 };
  const points = Float32Array.from([-0.5, 0, 0, 0, 0, 0, 0.5, 0, 0, 0, -0.5, 1, 0, 0.5, 1]);
  it("takes the nearer of two that cross, and none where there is none", () => {
    expect(pick_fibre(layout, points, matrix, view, { x: 100, y: 50 }, 5)?.fibre).toBe(1);
    expect(pick_fibre(layout, points, matrix, view, { x: 80, y: 52 }, 5)).toEqual({ fibre: 0, point: 0 });
    expect(pick_fibre(layout, points, matrix, view, { x: 80, y: 70 }, 5)).toBeNull();
  });
});
