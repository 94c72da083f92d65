/** All that is drawn of one run: fibres, surfaces, obstacles, contacts. */

import * as THREE from "three";
import { group_colour, hair_colours, index_colour, obstacle_colour, state_colours, surface_colour, type MapName } from "../colours";
import { round_down, round_up, with_unit } from "../data/numbers";
import { is_quantity, quantities, state_names, type Frame, type Layout, type Quantity } from "../data/protocol";
import type { Shown } from "../data/frame_source";
import type { Settings } from "../settings";
import type { LegendEntry } from "../ui/legend";
import { Contacts, normal_forces } from "./contacts";
import { Fibres } from "./fibres";
import { Ground } from "./ground";
import { held_place, type Hold } from "./holds";
import type { StartingMesh } from "./meshes";
import { Obstacles } from "./obstacles";
import type { Scales } from "./scales";
import type { Stage } from "./stage";
import { Surfaces } from "./surfaces";

export class World {
  readonly fibres: Fibres;
  readonly obstacles: Obstacles;
  readonly surfaces: Surfaces;
  readonly contacts: Contacts;
  private readonly ground = new Ground();
  private ground_is_a_plane = false;
  /** Of all that is to be seen. */
  private extent: { points: readonly THREE.Vector3[]; size: number; frame: Frame } | null = null;
  shown: Shown | null = null;
  private holds: readonly Hold[] = [];
  private drawn_contacts = 0;
  private readonly centre = new THREE.Vector3();

  constructor(
    readonly layout: Layout,
    meshes: readonly StartingMesh[],
    private readonly names: { readonly groups: readonly string[]; readonly obstacles: readonly string[]; readonly surfaces: readonly string[] },
    private readonly stage: Stage,
    private readonly scales: Scales,
  ) {
    this.fibres = new Fibres(layout);
    this.obstacles = new Obstacles(layout, meshes);
    this.surfaces = new Surfaces(layout.surfaces);
    let radius = 0;
    for (const r of layout.radius) radius = Math.max(radius, r);
    this.contacts = new Contacts(2.5 * radius);
    stage.scene.add(...this.objects());
  }

  private objects(): THREE.Object3D[] {
    return [this.ground.group, this.fibres.mesh, this.obstacles.group, this.surfaces.group, this.contacts.dots, this.contacts.arrows];
  }

  dispose(): void {
    this.stage.scene.remove(...this.objects());
    this.ground.dispose();
    this.fibres.dispose();
    this.obstacles.dispose();
    this.surfaces.dispose();
    this.contacts.dispose();
  }

  get contact_count(): number {
    return this.drawn_contacts;
  }

  get is_started(): boolean {
    return this.extent !== null;
  }

  /** Sizes planes and the ground for the stage's outline, `points`. */
  start(points: readonly THREE.Vector3[], frame: Frame): void {
    new THREE.Box3().setFromPoints([...points]).getCenter(this.centre);
    this.obstacles.add_planes(this.stage.size);
    this.extent = { points, size: this.stage.size, frame };
    this.place_ground();
  }

  /** At the lowest point, or at a floor not far below it, which then stands for it while it is seen. */
  place_ground(): void {
    if (!this.extent) return;
    const { points, size, frame } = this.extent;
    const { up } = this.stage.camera;
    const lowest = points.reduce((least, point) => Math.min(least, point.dot(up)), Infinity);
    const floors = this.obstacles.level_planes(frame, up).filter((height) => height > lowest - size);
    this.ground_is_a_plane = floors.length > 0;
    this.ground.place(this.centre, up, Math.min(lowest, ...floors), size);
  }

  /** Some thousand points of the fibres, surfaces and meshes and the ends of the capsules; planes are left out. */
  outline(frames: readonly Frame[]): THREE.Vector3[] {
    const points: THREE.Vector3[] = [];
    for (const frame of frames) {
      const stride = 3 * Math.max(1, Math.floor((frame.points.length * frames.length) / 15000));
      for (let i = 0; i < frame.points.length; i += stride) points.push(new THREE.Vector3().fromArray(frame.points, i));
      for (const point of this.obstacles.outline(frame)) points.push(point);
      for (const point of this.surfaces.outline(frame)) points.push(point);
    }
    const finite = points.filter((point) => Number.isFinite(point.x + point.y + point.z));
    if (finite.length === 0) finite.push(new THREE.Vector3(-0.5, -0.5, -0.5), new THREE.Vector3(0.5, 0.5, 0.5));
    return finite;
  }

  show(shown: Shown, settings: Settings): void {
    this.shown = shown;
    this.fibres.set_points(shown.frame.points, shown.values);
    this.obstacles.update(shown.frame, shown.shapes, this.centre);
    this.surfaces.update(shown.frame);
    if (is_quantity(settings.colour) && shown.values) this.scales.see_values(shown.values, settings.colour);
    this.show_contacts(shown.frame, settings);
    this.apply(settings);
  }

  /** Takes over all settings that concern what is drawn. */
  apply(settings: Settings): void {
    const { colour } = settings;
    if (is_quantity(colour)) {
      this.fibres.colour_by_value(this.map_of(colour), this.scales.range);
    } else if (colour === "group") {
      this.fibres.colour_by_fibre((i) => group_colour(this.layout.group[i]!));
    } else if (colour === "fibre") {
      this.fibres.colour_by_fibre(index_colour);
    } else {
      this.fibres.colour_by_fibre((i) => hair_colours[(i * 7 + (i >> 3)) % hair_colours.length]!);
    }
    this.fibres.set_thickness(10 ** settings.thickness);
    this.fibres.mesh.visible = settings.show_fibres;
    this.obstacles.group.visible = settings.show_obstacles;
    this.surfaces.group.visible = settings.show_surfaces;
    this.ground.group.visible = settings.show_ground && !(this.ground_is_a_plane && settings.show_obstacles);
    this.obstacles.set_opacity(settings.opacity);
    this.contacts.dots.visible = settings.show_contacts && this.drawn_contacts > 0;
    this.contacts.arrows.visible = settings.show_forces && this.drawn_contacts > 0;
    this.contacts.set_scales(this.scales.force_limit, this.arrow_length(settings), this.longest_arrow, settings.contact_colour);
    this.stage.redraw();
  }

  /** A new choice of which contacts to show. */
  refresh_contacts(settings: Settings): void {
    if (this.shown) this.show_contacts(this.shown.frame, settings);
    this.apply(settings);
  }

  select(fibre: number): void {
    this.fibres.select(fibre);
    this.stage.redraw();
  }

  legend(settings: Settings): LegendEntry[] {
    const out: LegendEntry[] = [];
    if (is_quantity(settings.colour)) {
      const { label, unit } = quantities[settings.colour];
      out.push({ kind: "bar", title: label, unit, map: this.map_of(settings.colour), range: this.scales.range });
    } else if (settings.colour === "group" && this.names.groups.length > 0) {
      const colours = this.names.groups.slice(0, 12).map((text, i) => ({ colour: group_colour(i), text }));
      out.push({ kind: "key", title: "Group", colours });
    }
    if (settings.show_obstacles && this.names.obstacles.length > 1) {
      const colours = this.names.obstacles.slice(0, 8).map((text, i) => ({ colour: obstacle_colour(i), text }));
      out.push({ kind: "key", title: "Obstacles", colours });
    }
    if (settings.show_surfaces && this.names.surfaces.length > 1) {
      const colours = this.names.surfaces.slice(0, 4).map((text, i) => ({ colour: surface_colour(i), text }));
      out.push({ kind: "key", title: "Surfaces", colours });
    }
    if (this.drawn_contacts > 0 && (settings.show_contacts || settings.show_forces)) {
      if (settings.contact_colour === "state") {
        const colours = state_names.map((text, i) => ({ colour: state_colours[i]!, text }));
        out.push({ kind: "key", title: "Contact", colours: settings.hide_open ? colours.slice(1) : colours });
      } else {
        const range = { low: 0, high: this.scales.force_limit };
        out.push({ kind: "bar", title: "Normal force", unit: "N", map: "plasma", range });
      }
      if (settings.show_forces) {
        const scale = this.arrow_length(settings);
        const force = Math.min(round_up(this.scales.force_limit / 4), round_down(this.longest_arrow / scale));
        const length = force * scale;
        const most = with_unit(this.longest_arrow, "m", 2);
        out.push({ kind: "scale", title: "Arrows", text: `${with_unit(force, "N", 2)}: ${with_unit(length, "m", 2)} long, at most ${most}` });
      }
    }
    return out;
  }

  set_holds(holds: readonly Hold[]): void {
    this.holds = holds;
    this.stage.redraw();
  }
  held_places(): (THREE.Vector3 | null)[] {
    return this.shown ? this.holds.map((hold) => held_place(this.layout, this.shown!.frame.points, hold)) : [];
  }
  /** World length of a newton in the arrows of holds' loads. */
  load_scale(settings: Settings): number {
    const { largest_load } = this.scales;
    return largest_load > 0 ? Math.min(10 ** settings.arrow_scale * 0.16 * this.stage.size, this.longest_arrow) / largest_load : 0;
  }

  prepare(): void {
    this.fibres.prepare(this.stage.pixel_size);
    this.contacts.prepare(this.stage.pixel_size, this.stage.fineness, this.drawn_contacts);
  }

  /** World length of a newton: the largest force of what has been seen is some sixth of the scene. */
  private arrow_length(settings: Settings): number {
    return (10 ** settings.arrow_scale * 0.16 * this.stage.size) / this.scales.force_limit;
  }
  private get longest_arrow(): number {
    return 0.25 * this.stage.size;
  }

  private map_of(quantity: Quantity): MapName {
    return quantities[quantity].diverging ? "diverging" : "viridis";
  }

  private show_contacts(frame: Frame, settings: Settings): void {
    const kept = settings.hide_open ? carrying(frame) : frame;
    const forces = normal_forces(kept);
    this.scales.see_forces(forces);
    this.drawn_contacts = kept.contact_count;
    this.contacts.update(kept, forces);
  }
}

/** The frame with those contacts only that stick or slide. */
function carrying(frame: Frame): Frame {
  const indices: number[] = [];
  for (let i = 0; i < frame.contact_count; ++i) if (frame.contact_state[i] !== 0) indices.push(i);
  const numbers = (values: Float32Array): Float32Array => Float32Array.from(indices, (i) => values[i]!);
  const vectors = (values: Float32Array): Float32Array => {
    const out = new Float32Array(3 * indices.length);
    indices.forEach((i, k) => out.set(values.subarray(3 * i, 3 * i + 3), 3 * k));
    return out;
  };
  return {
    ...frame,
    contact_count: indices.length,
    contact_place: vectors(frame.contact_place),
    contact_normal: vectors(frame.contact_normal),
    contact_force: vectors(frame.contact_force),
    contact_gap: numbers(frame.contact_gap),
    contact_state: Int32Array.from(indices, (i) => frame.contact_state[i]!),
  };
}
