/** The buffers of the server, as docs/reference/viewer_protocol.md lays them out. Views into one ArrayBuffer: nothing is copied. */

export interface Layout {
  readonly fibre_count: number;
  readonly point_count: number;
  readonly obstacle_count: number;
  readonly capsule_count: number;
  readonly plane_count: number;
  /** (fibres + 1) points of fibre i: from entry i to entry i + 1 */
  readonly point_offsets: Int32Array;
  readonly group: Int32Array; // (fibres)
  readonly radius: Float32Array; // (points) [m]
  readonly arc_length: Float32Array; // (points) [m]
  readonly obstacle_reference: Float32Array; // (obstacles, 3) [m]
  readonly capsule_from: Float32Array; // (capsules, 3) [m]
  readonly capsule_to: Float32Array; // (capsules, 3) [m]
  readonly capsule_radius: Float32Array; // (capsules) [m]
  readonly capsule_obstacle: Int32Array; // (capsules)
  readonly plane_point: Float32Array; // (planes, 3) [m]
  readonly plane_normal: Float32Array; // (planes, 3)
  readonly plane_obstacle: Int32Array; // (planes)
  readonly surfaces: readonly SurfaceFaces[];
}

/** A surface that deforms, such as cloth; its vertices stand in the frames. */
export interface SurfaceFaces {
  readonly vertex_count: number;
  readonly face: Int32Array; // (faces, 3) its own vertices
}

/** An obstacle of triangles. Its vertices go linearly from key to key, the first at time zero. */
export interface Mesh {
  readonly obstacle: number;
  readonly vertex_count: number;
  readonly keys: number; // 1: the vertices stand still
  readonly rate: number; // keys a second
  readonly face: Int32Array; // (faces, 3) counterclockwise seen from outside
}

export interface Frame {
  readonly time: number; // [s]
  readonly step: number;
  readonly contact_count: number;
  readonly points: Float32Array; // (points, 3) [m]
  readonly obstacle_position: Float32Array; // (obstacles, 3) [m]
  readonly obstacle_frame: Float32Array; // (obstacles, 3, 3) by rows
  readonly obstacle_force: Float32Array; // (obstacles, 3) [N]
  readonly contact_place: Float32Array; // (contacts, 3) between the surfaces [m]
  readonly contact_normal: Float32Array; // (contacts, 3) from a to b
  readonly contact_force: Float32Array; // (contacts, 3) of a on b [N]
  readonly contact_gap: Float32Array; // (contacts) [m]
  readonly contact_s_a: Float32Array; // (contacts) [m]
  readonly contact_s_b: Float32Array; // (contacts) [m]
  readonly contact_fibre_a: Int32Array; // (contacts) < 0: a free obstacle
  readonly contact_fibre_b: Int32Array; // (contacts) -1: an obstacle
  readonly contact_obstacle_b: Int32Array; // (contacts) -1: a fibre
  readonly contact_state: Int32Array; // (contacts) 0 open, 1 stick, 2 slide
  readonly surface_vertices: Float32Array; // (vertices of all surfaces, 3) surface by surface [m]
}

export const state_names = ["open", "stick", "slide"] as const;

class Reader {
  private at = 0;
  constructor(private readonly buffer: ArrayBuffer) {}

  private advance(bytes: number): number {
    const begin = this.at;
    this.at += bytes;
    if (this.at > this.buffer.byteLength) {
      throw new Error(`a buffer of ${this.buffer.byteLength} bytes is cut short`);
    }
    return begin;
  }
  uint32(count: number): Uint32Array {
    return new Uint32Array(this.buffer, this.advance(4 * count), count);
  }
  int32(count: number): Int32Array {
    return new Int32Array(this.buffer, this.advance(4 * count), count);
  }
  float32(count: number): Float32Array {
    return new Float32Array(this.buffer, this.advance(4 * count), count);
  }
  float64(count: number): Float64Array {
    return new Float64Array(this.buffer, this.advance(8 * count), count);
  }
  end(): void {
    if (this.at !== this.buffer.byteLength) {
      throw new Error(`a buffer has ${this.buffer.byteLength - this.at} bytes too many`);
    }
  }
}

function read_surfaces(reader: Reader): SurfaceFaces[] {
  const [surfaces, faces] = reader.uint32(2) as unknown as number[];
  const vertex_count = reader.int32(surfaces!);
  const face_count = reader.int32(surfaces!);
  return shares(reader.int32(3 * faces!), face_count).map((face, i) => ({ vertex_count: vertex_count[i]!, face }));
}

/** The faces of each of several meshes, which stand one after the other. */
function shares(face: Int32Array, counts: Int32Array): Int32Array[] {
  let end = 0;
  return Array.from(counts, (count) => {
    const begin = end;
    end += 3 * count;
    return face.subarray(begin, end);
  });
}

export function parse_layout(buffer: ArrayBuffer): Layout {
  const reader = new Reader(buffer);
  const [fibres, points, obstacles, capsules, planes] = reader.uint32(5) as unknown as number[];
  const layout: Layout = {
    fibre_count: fibres!,
    point_count: points!,
    obstacle_count: obstacles!,
    capsule_count: capsules!,
    plane_count: planes!,
    point_offsets: reader.int32(fibres! + 1),
    group: reader.int32(fibres!),
    radius: reader.float32(points!),
    arc_length: reader.float32(points!),
    obstacle_reference: reader.float32(3 * obstacles!),
    capsule_from: reader.float32(3 * capsules!),
    capsule_to: reader.float32(3 * capsules!),
    capsule_radius: reader.float32(capsules!),
    capsule_obstacle: reader.int32(capsules!),
    plane_point: reader.float32(3 * planes!),
    plane_normal: reader.float32(3 * planes!),
    plane_obstacle: reader.int32(planes!),
    surfaces: read_surfaces(reader),
  };
  reader.end();
  return layout;
}

export function parse_meshes(buffer: ArrayBuffer): Mesh[] {
  const reader = new Reader(buffer);
  const [meshes, faces] = reader.uint32(2) as unknown as number[];
  const rate = reader.float64(meshes!);
  const [obstacle, face_count, vertex_count, keys] = [0, 1, 2, 3].map(() => reader.int32(meshes!)) as Int32Array[];
  const face = reader.int32(3 * faces!);
  reader.end();
  return shares(face, face_count!).map((own, i) => {
    return { obstacle: obstacle![i]!, vertex_count: vertex_count![i]!, keys: keys![i]!, rate: rate[i]!, face: own };
  });
}

export function parse_frame(buffer: ArrayBuffer): Frame {
  const reader = new Reader(buffer);
  const [time, step] = reader.float64(2) as unknown as number[];
  const [points, obstacles, contacts] = reader.uint32(4) as unknown as number[];
  const frame: Frame = {
    time: time!,
    step: step!,
    contact_count: contacts!,
    points: reader.float32(3 * points!),
    obstacle_position: reader.float32(3 * obstacles!),
    obstacle_frame: reader.float32(9 * obstacles!),
    obstacle_force: reader.float32(3 * obstacles!),
    contact_place: reader.float32(3 * contacts!),
    contact_normal: reader.float32(3 * contacts!),
    contact_force: reader.float32(3 * contacts!),
    contact_gap: reader.float32(contacts!),
    contact_s_a: reader.float32(contacts!),
    contact_s_b: reader.float32(contacts!),
    contact_fibre_a: reader.int32(contacts!),
    contact_fibre_b: reader.int32(contacts!),
    contact_obstacle_b: reader.int32(contacts!),
    contact_state: reader.int32(contacts!),
    surface_vertices: reader.float32(3 * reader.uint32(1)[0]!),
  };
  reader.end();
  return frame;
}

/** Numbers a centreline point that the server works out. */
export const quantities = {
  curvature: { label: "Curvature", unit: "1/m", diverging: false },
  speed: { label: "Speed", unit: "m/s", diverging: false },
  tension: { label: "Tension", unit: "N", diverging: true },
  shear: { label: "Shear force", unit: "N", diverging: false },
  bending: { label: "Bending moment", unit: "N m", diverging: false },
  twist: { label: "Twisting moment", unit: "N m", diverging: true },
} as const;

export type Quantity = keyof typeof quantities;

export function is_quantity(name: string): name is Quantity {
  return Object.hasOwn(quantities, name);
}
