/** A run in a view of its own: its picture, and the words over and about it. */

import * as THREE from "three";
import { nearest_frame } from "./data/player";
import type { Quantity } from "./data/protocol";
import { Run, type Opened } from "./data/run";
import { title_of } from "./data/scene_text";
import type { RunState, Tables } from "./data/api";
import { pick_fibre } from "./scene/picking";
import type { Scales } from "./scene/scales";
import { Stage } from "./scene/stage";
import { World } from "./scene/world";
import type { Settings } from "./settings";
import { paint_picture } from "./ui/capture";
import { compass_marks, compass_width } from "./ui/compass";
import { hold_marks } from "./ui/hold_marks";
import type { Inspected } from "./ui/inspector";
import { draw_legend, type LegendEntry } from "./ui/legend";
import { draw_marks, type Mark } from "./ui/marks";
import { element, id_of, theme_colour } from "./ui/page";
import type { Size } from "./ui/arrangement";

/** Above this time between pictures fibres are drawn through fewer points. */
const slow_frame = 70; // milliseconds
const rest_time = 400; // milliseconds without a new picture

export class RunView {
  readonly stage: Stage;
  readonly run: Run;
  world: World | null = null;
  private opened: Opened | null = null;
  private tables: Tables | null = null;
  private state: RunState | null = null;
  private shown_index = -1;
  private stride = 1; // of the frames that playing shows
  private moving_stride = 1; // of the points that fibres are drawn through while something moves
  private legend_text = "";
  private readonly facts: DOMStringMap; // for tests

  /** `name`: empty for a run that is alone. `changed` is called when anything of the run has come. */
  constructor(
    readonly number: number,
    readonly name: string,
    private readonly settings: Settings,
    private readonly scales: Scales,
    cache_bytes: number,
    changed: () => void,
  ) {
    this.stage = new Stage(this.part<HTMLCanvasElement>("canvas"));
    this.run = new Run(number, cache_bytes, changed);
    this.facts = (number === 0 ? document.body : this.part("view")).dataset;
  }

  private part<T extends Element = HTMLElement>(name: string): T {
    return element<T>(id_of(name, this.number));
  }
  get title(): string {
    const { description } = this.opened!;
    const title = title_of(description.scene) || (this.name ? "" : description.folder);
    return [this.name, title].filter(Boolean).join(": ");
  }
  get folder(): string {
    return this.opened?.description.folder ?? "tresse";
  }

  /** Takes over what has come. True for another run, or the same anew. */
  take(): boolean {
    const { run } = this;
    const is_new = run.opened !== null && run.opened !== this.opened;
    if (is_new) this.open(run.opened!);
    if (run.tables !== this.tables || is_new) {
      this.tables = run.tables;
      this.world?.set_holds(run.tables?.holds.holds ?? []);
      if (run.source.has_holds && this.world?.shown?.loads === null) this.forget_shown(); // once more, with its loads
    }
    if (run.state !== this.state) this.draw_state(run.state!);
    return is_new;
  }

  private open(opened: Opened): void {
    const { description, layout, meshes, vertices } = opened;
    this.opened = opened;
    this.forget_shown();
    this.world?.dispose();
    const starting = meshes.map((mesh, i) => ({ mesh, vertices: vertices[i]! }));
    const names = { groups: description.group_names, obstacles: description.obstacle_names, surfaces: description.surface_names };
    this.world = new World(layout, starting, names, this.stage, this.scales);
    this.part("title").textContent = this.title;
    this.part("title").title = this.title;
  }

  private draw_state(state: RunState): void {
    this.state = state;
    const [badge, verdict] = [this.part("status"), this.part("verdict")];
    this.facts["live"] = String(state.live);
    badge.textContent = state.live ? "live" : state.status === "running" ? "stopped" : state.status;
    badge.dataset["kind"] = state.live ? "live" : state.status === "failed" ? "bad" : "";
    badge.title = state.status === "running" && !state.live ? "The run did not end by itself; --resume goes on" : "";
    verdict.hidden = state.live || (state.summary.verdict ?? null) === null;
    const sound = state.summary.verdict === "sound";
    verdict.textContent = sound ? "sound" : state.summary.severity === "slight" ? "nearly sound" : "not sound";
    verdict.dataset["kind"] = sound ? "good" : "bad";
    verdict.title = state.summary.sentence ?? "";
  }

  // The picture.

  forget_shown(): void {
    this.shown_index = -1;
  }
  private index_at(time: number): number {
    return nearest_frame(this.run.times, time);
  }
  is_at_hand(time: number, quantity: Quantity | null): boolean {
    return this.run.source.peek(this.index_at(time), quantity) !== null;
  }

  /** Shows the frame nearest to `time` once it is there, and asks for what comes next. True when another one is shown. */
  show(time: number, quantity: Quantity | null, playing: boolean): boolean {
    const { run, world } = this;
    const index = this.index_at(time);
    if (run.is_readable) run.source.want(index, quantity, playing ? this.stride : 0, run.times);
    const shown = run.times.length > 0 && world?.is_started ? run.source.peek(index, quantity) : null;
    const is_new = shown !== null && index !== this.shown_index;
    if (is_new) {
      this.stride = playing && this.shown_index >= 0 && index > this.shown_index ? Math.min(index - this.shown_index, 32) : 1;
      world!.show(shown, this.settings);
      this.shown_index = index;
      this.facts["frame"] = String(index);
      this.facts["contacts"] = String(world!.contact_count);
    }
    this.draw_words(time, index);
    return is_new;
  }

  private draw_words(time: number, index: number): void {
    const { times } = this.run;
    const [now, last] = [times[index] ?? 0, times[times.length - 1] ?? 0];
    this.part("clock").textContent = times.length > 0 ? `t = ${now.toFixed(decimals(times))} s` : "";
    if (!this.world) return;
    const { fibre_count, surfaces } = this.world.layout;
    const counted = [counted_words(fibre_count, "fibre"), counted_words(surfaces.length, "surface"), counted_words(this.world.contact_count, "contact")];
    const words = counted.filter(Boolean).join(", ");
    this.part("facts").textContent = time > last + 1e-6 * Math.abs(last) ? `${words}\nthe last frame of this run` : words;
  }

  /** Leaves out what the legend of another view has. */
  draw_legend(others: readonly LegendEntry[]): LegendEntry[] {
    if (!this.world) return [];
    const entries = this.world.legend(this.settings);
    const had = others.map((entry) => JSON.stringify(entry));
    const mine = entries.filter((entry) => !had.includes(JSON.stringify(entry)));
    if (JSON.stringify(mine) !== this.legend_text) draw_legend(this.part("legend"), mine);
    this.legend_text = JSON.stringify(mine);
    return entries;
  }

  /** Call once a display frame. True when something was drawn. */
  draw(now: number): boolean {
    const { stage, world } = this;
    if (!world) return false;
    const { fibres } = world;
    const resting = !stage.is_dirty && fibres.stride > 1 && stage.idle(now) > rest_time;
    if (resting) stage.redraw();
    if (stage.is_dirty) fibres.set_stride(resting ? 1 : this.moving_stride);
    if (!stage.draw(now, () => world.prepare())) return false;
    draw_marks(this.part<SVGElement>("marks"), this.marks_of_page());
    if (!resting) this.choose_detail();
    return true;
  }

  /** Fewer points a fibre where pictures come too slowly, all of them once the view rests. */
  private choose_detail(): void {
    const fibres = this.world!.fibres;
    const { frame_time, drawn } = this.stage;
    this.facts["drawn"] = String(drawn);
    this.facts["stride"] = String(fibres.stride);
    if (drawn % 4 === 0) {
      if (frame_time > slow_frame && this.moving_stride < 8 && fibres.pieces > 20000) this.moving_stride *= 2;
      else if (frame_time < slow_frame / 4 && this.moving_stride > 1) this.moving_stride /= 2;
    }
    const performance_box = this.part("performance");
    const { bytes } = this.run.source;
    if (!performance_box.hidden) {
      performance_box.textContent = `${(1000 / frame_time).toFixed(0)} pictures a second\n${(bytes / 1e6).toFixed(0)} MB of frames\n${fibres.stride > 1 ? `every ${fibres.stride}th point, ` : ""}${this.stage.renderer.info.render.triangles} triangles`;
    }
    this.facts["cacheBytes"] = String(bytes);
  }
  toggle_performance(): void {
    this.part("performance").hidden = !this.part("performance").hidden;
    this.stage.redraw();
  }

  /** What is drawn over the picture; axes and scale above `bottom`, in pixels of the page. */
  private marks(bottom: number): Mark[] {
    if (!this.world?.shown) return [];
    const { settings, stage, world } = this;
    const out: Mark[] = [];
    if (settings.show_holds) {
      const project = (point: THREE.Vector3): [number, number] | null => stage.project(point);
      out.push(...hold_marks(world.held_places(), world.shown!.loads, { project, scale: world.load_scale(settings), colour: theme_colour("hold") }));
    }
    if (settings.show_axes) {
      const dark = document.documentElement.dataset["theme"] === "dark";
      out.push(...compass_marks(stage.camera.quaternion, { pixel: stage.pixel_at_target, right: stage.room.width, bottom, ink: theme_colour("ink"), dark }));
    }
    return out;
  }
  /** Above the legend where there is no room beside it. */
  private marks_of_page(): Mark[] {
    const { width, height } = this.stage.room;
    const legend = this.part("legend");
    return this.marks(height - (legend.offsetLeft + legend.offsetWidth > width - compass_width ? legend.offsetHeight : 0));
  }

  /** The picture of the page in another size. @throws Error when the browser cannot draw it. */
  paint(context: CanvasRenderingContext2D, { width, height }: Size, corner: readonly [number, number], words: boolean): void {
    const { stage } = this;
    const world = this.world!;
    const head = [this.name, this.part("clock").textContent!].filter(Boolean).join(", ");
    const marks = (bottom: number): Mark[] => this.marks(bottom);
    world.fibres.set_stride(1);
    stage.at_size(width, height, () => world.prepare(), () => {
      paint_picture(context, stage, words ? { head, legend: world.legend(this.settings), marks } : null, corner);
    });
  }

  // A fibre.

  /** That at (x, y) of the canvas; -1: none. */
  fibre_at(x: number, y: number): number {
    const shown = this.world?.shown;
    if (!this.world || !shown) return -1;
    const { camera, canvas } = this.stage;
    camera.updateMatrixWorld();
    const matrix = new THREE.Matrix4().multiplyMatrices(camera.projectionMatrix, camera.matrixWorldInverse);
    const view = { width: canvas.clientWidth, height: canvas.clientHeight };
    return pick_fibre(this.world.layout, shown.frame.points, matrix.elements, view, { x, y }, 9)?.fibre ?? -1;
  }

  /** Null where no frame is shown, or the run has no such fibre. */
  inspected(fibre: number, label: string): Inspected | null {
    const shown = this.world?.shown;
    if (!shown || !this.world || fibre < 0 || fibre >= this.world.layout.fibre_count) return null;
    const { layout } = this.world;
    const group = this.opened!.description.group_names[layout.group[fibre]!] ?? "";
    return { label, layout, group, frame: shown.frame, values: shown.values };
  }
  /** A quantity of what is shown now, which need not colour it. */
  fetch_quantity(quantity: Quantity): Promise<Float32Array> {
    return this.run.api.quantity(this.run.generation, this.shown_index, quantity);
  }
}

/** Empty for none. */
const counted_words = (count: number, what: string): string => (count > 0 ? `${count} ${what}${count === 1 ? "" : "s"}` : "");

/** So many that neighbouring frames differ. */
function decimals(times: Float64Array): number {
  const last = Math.max(0, times.length - 1);
  const step = (times[last]! - times[0]!) / Math.max(1, last);
  return step > 0 ? Math.min(Math.max(Math.ceil(-Math.log10(step)) + 0, 1), 9) : 3;
}
