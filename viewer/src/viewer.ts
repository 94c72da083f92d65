/** The page at work: one run, one play head, one view. */

import * as THREE from "three";
import { fetch_description, fetch_forces, fetch_frame, fetch_holds, fetch_layout, fetch_meshes, fetch_state, fetch_steps, fetch_times, fetch_quantity, fetch_vertices, type HoldTable, type RunDescription, type RunState } from "./data/api";
import { is_embedded } from "./data/embedded";
import { FrameSource, type Shown } from "./data/frame_source";
import { Player, speeds, suitable_speed } from "./data/player";
import { is_quantity, type Frame, type Quantity } from "./data/protocol";
import { title_of, up_axis } from "./data/scene_text";
import { short, spread } from "./data/numbers";
import { pick_fibre } from "./scene/picking";
import { Stage } from "./scene/stage";
import { World } from "./scene/world";
import { read_link, write_link } from "./link";
import { default_settings, keep_settings, load_settings } from "./settings";
import { Recorder, save_picture } from "./ui/capture";
import { compass_marks, compass_width } from "./ui/compass";
import { Inspector } from "./ui/inspector";
import { hold_marks } from "./ui/hold_marks";
import { draw_legend } from "./ui/legend";
import { draw_marks, type Mark } from "./ui/marks";
import { choice, element, input, set_options, set_pressed, theme_colour } from "./ui/page";
import { Plots } from "./ui/plots";

const poll_interval = 1000; // milliseconds
const sampled_frames = 7; // of a run, for the first view
const cache_bytes = 512e6;
/** Above this time between pictures fibres are drawn through fewer points. */
const slow_frame = 70; // milliseconds
const rest_time = 400; // milliseconds without a new picture

const link_interval = 500; // milliseconds between changes of the address, which browsers limit

export class Viewer {
  private readonly link = read_link(location.hash, load_settings(), default_settings);
  readonly settings = this.link?.settings ?? load_settings();
  readonly player = new Player();
  readonly stage: Stage;
  readonly recorder: Recorder;
  private readonly source: FrameSource;
  private readonly plots: Plots;
  private readonly inspector = new Inspector();
  private world: World | null = null;
  private description: RunDescription | null = null;
  private state: RunState | null = null;
  private generation = -1;
  private shown_index = -1;
  private samples: readonly Frame[] | null = null; // from the first to the last frame; null: not there yet
  private stride = 1; // of the frames that playing shows
  private selected = -1;
  private last_tick = 0;
  private tables_of = -1; // frames for which the tables were read
  private tables_live = false;
  private problem = "";
  private linked = false; // the address has been followed
  private first_eye = "";
  private first_up = "";
  private last_link = 0; // when the address was written
  private moving_stride = 1; // of the points that fibres are drawn through while something moves

  constructor(canvas: HTMLCanvasElement) {
    this.stage = new Stage(canvas);
    this.recorder = new Recorder(canvas, (on, bytes) => {
      set_pressed(element("record"), on);
      element("record").textContent = on ? `Stop (${(bytes / 1e6).toFixed(2)} MB)` : "Record";
    });
    this.source = new FrameSource(cache_bytes, () => this.update(), (message) => this.show_problem(message));
    this.plots = new Plots((time) => this.seek_time(time));
    this.plots.place = this.link?.plot ?? "";
    this.apply_theme();
    this.fill_speeds();
    void this.poll();
    requestAnimationFrame((now) => this.tick(now));
  }

  get quantity(): Quantity | null {
    return is_quantity(this.settings.colour) ? this.settings.colour : null;
  }

  // The play head.

  seek_index(index: number): void {
    this.player.follow = false;
    this.player.playing = false;
    this.player.seek_index(index);
    this.update();
  }
  seek_time(time: number): void {
    this.player.follow = false;
    this.player.seek_time(time);
    this.update();
  }
  step(by: number): void {
    this.player.follow = false;
    this.player.step(by);
    this.update();
  }
  toggle_play(): void {
    this.player.toggle();
    this.stride = 1;
    this.update();
  }
  toggle_follow(): void {
    this.player.follow = !this.player.follow;
    this.player.playing = false;
    if (this.player.follow) this.player.seek_index(this.player.last);
    this.update();
  }
  change_speed(by: number): void {
    const at = speeds.indexOf(this.player.speed) + by;
    this.set_speed(speeds[Math.min(Math.max(at, 0), speeds.length - 1)]!);
  }
  set_speed(speed: number): void {
    this.player.speed = speed;
    choice("speed").value = String(speed);
  }

  // What is shown.

  apply(): void {
    keep_settings(this.settings);
    this.world?.apply(this.settings);
    this.draw_legend();
  }
  refresh_contacts(): void {
    keep_settings(this.settings);
    this.world?.refresh_contacts(this.settings);
    this.draw_legend();
  }
  /** Another quantity has to be fetched first. */
  recolour(): void {
    keep_settings(this.settings);
    this.world?.forget_range();
    this.shown_index = -1;
    this.update();
    this.draw_legend();
  }
  set_range(low: number, high: number): void {
    if (!this.world || !Number.isFinite(low) || !Number.isFinite(high) || !(high > low)) return;
    this.world.fixed_range = { low, high };
    this.apply();
  }
  free_range(): void {
    this.world?.forget_range();
    if (this.world?.shown) this.world.show(this.world.shown, this.settings);
    this.draw_legend();
  }

  apply_theme(): void {
    const dark = this.settings.theme === "" ? matchMedia("(prefers-color-scheme: dark)").matches : this.settings.theme === "dark";
    document.documentElement.dataset["theme"] = dark ? "dark" : "light";
    this.stage.set_background(theme_colour("ground"));
    this.plots.draw();
    this.inspect();
  }

  fit(): void {
    this.world?.refit();
    this.stage.view("fit");
    this.draw_legend();
  }

  set_up(axis: "y" | "z"): void {
    this.stage.set_up(axis);
    this.world?.place_ground();
    this.fit();
  }

  pick(x: number, y: number): void {
    const shown = this.world?.shown;
    if (!this.world || !shown) return;
    const { camera, canvas } = this.stage;
    camera.updateMatrixWorld();
    const matrix = new THREE.Matrix4().multiplyMatrices(camera.projectionMatrix, camera.matrixWorldInverse);
    const view = { width: canvas.clientWidth, height: canvas.clientHeight };
    const found = pick_fibre(this.world.layout, shown.frame.points, matrix.elements, view, { x, y }, 9);
    this.select(found ? found.fibre : -1);
  }
  select(fibre: number): void {
    this.selected = fibre;
    document.body.dataset["picked"] = String(fibre);
    this.world?.select(fibre);
    this.inspect();
  }

  /** In pixels; as it is seen where no size is given. */
  save_picture(size?: { width: number; height: number }, words = true): void {
    const shown = this.world?.shown;
    if (!shown) return;
    const { width, height } = size ?? this.stage.canvas;
    const head = `t = ${short(shown.frame.time, 5)} s`;
    const name = `${this.description?.folder ?? "tresse"}-${String(shown.index).padStart(5, "0")}.png`;
    const draw = (): void => {
      const marks = (bottom: number): Mark[] => this.marks(bottom);
      save_picture(this.stage, words ? { head, legend: this.world!.legend(this.settings), marks } : null, name);
    };
    this.world!.fibres.set_stride(1);
    try {
      this.stage.at_size(width, height, () => this.world!.prepare(), draw);
    } catch (error) {
      this.show_problem(error instanceof Error ? error.message : String(error));
    }
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
    const legend = element("legend");
    return this.marks(height - (legend.offsetLeft + legend.offsetWidth > width - compass_width ? legend.offsetHeight : 0));
  }

  toggle_record(): void {
    if (this.recorder.recording) {
      this.recorder.stop();
      this.player.playing = false;
      return;
    }
    try {
      this.recorder.start(`${this.description?.folder ?? "tresse"}.webm`);
      if (!this.player.playing) this.toggle_play();
    } catch (error) {
      this.show_problem(String(error));
    }
  }

  /** Shows the frame at the head once it is there, and asks for what comes next. */
  update(): void {
    const index = this.player.index;
    const stride = this.player.playing ? this.stride : 0;
    const readable = this.player.count > 0 && !this.state?.error;
    if (readable) this.source.want(index, this.quantity, stride, this.player.times);
    const shown = this.player.count > 0 ? this.source.peek(index, this.quantity) : null;
    if (shown && this.world && this.samples && shown.index !== this.shown_index) this.show(shown);
    this.draw_timeline();
  }

  private show(shown: Shown): void {
    const world = this.world!;
    const first = world.shown === null;
    const limits = world.range;
    const contacts = world.contact_count;
    if (this.player.playing && shown.index > this.shown_index && this.shown_index >= 0) {
      this.stride = Math.min(Math.max(1, shown.index - this.shown_index), 32);
    }
    if (first) this.first_view(shown);
    world.show(shown, this.settings);
    this.shown_index = shown.index;
    document.body.dataset["frame"] = String(shown.index);
    document.body.dataset["contacts"] = String(world.contact_count);
    this.plots.set_time(shown.frame.time);
    this.inspect();
    if (first) this.follow_link();
    if (first || limits !== world.range || contacts > 0 !== world.contact_count > 0) this.draw_legend();
  }

  private first_view(shown: Shown): void {
    const world = this.world!;
    const fibres = new THREE.Box3().setFromArray(shown.frame.points);
    const size = fibres.isEmpty() ? [1, 1, 1] : fibres.getSize(new THREE.Vector3()).toArray();
    const up = up_axis(this.description?.scene ?? "", size);
    choice("up").value = up;
    this.stage.set_up(up);
    world.start(this.samples?.length ? this.samples : [shown.frame]);
    // A scene in the plane (x, y) is seen from its front, any other from above and the side.
    this.stage.fit(up === "y" ? new THREE.Vector3(0.15, 0.25, 1).normalize() : new THREE.Vector3(0.75, -1, 0.45).normalize());
  }

  /** Once, after the first picture: what the address asks for. */
  private follow_link(): void {
    const { stage, link } = this;
    this.first_up = choice("up").value;
    this.first_eye = String(stage.eye);
    if (!link || this.linked) return;
    this.linked = true;
    if (link.up) {
      choice("up").value = link.up;
      this.set_up(link.up);
    }
    if (link.eye) stage.eye = link.eye;
    if (link.range) this.set_range(link.range[0]!, link.range[1]!);
    if (this.world && link.fibre < this.world.layout.fibre_count) this.select(link.fibre);
  }

  /** Keeps in the address what is shown now. */
  private keep_link(now: number): void {
    if (now - this.last_link < link_interval || this.player.playing || !this.world?.shown) return;
    this.last_link = now;
    const { eye } = this.stage;
    const up = choice("up").value as "y" | "z";
    const { fixed_range } = this.world;
    const text = write_link(
      {
        settings: this.settings,
        frame: this.player.follow ? 0 : this.player.index,
        named_frame: true,
        eye: String(eye) === this.first_eye ? null : eye,
        up: up === this.first_up ? null : up,
        range: fixed_range && [fixed_range.low, fixed_range.high],
        plot: this.plots.place,
        fibre: this.selected,
      },
      default_settings,
    );
    if (text === location.hash.slice(1)) return;
    try {
      history.replaceState(null, "", text ? `#${text}` : location.pathname);
    } catch {
      this.last_link = Infinity; // a page inside another has no address of its own
    }
  }

  private inspect(): void {
    const shown = this.world?.shown;
    if (this.selected < 0 || !shown || !this.world) {
      this.inspector.hide();
      return;
    }
    const quantity = this.quantity ?? "curvature";
    const layout = this.world.layout;
    const fibre = this.selected;
    const group = this.description?.group_names[layout.group[fibre]!] ?? "";
    if (this.quantity && shown.values) {
      this.inspector.show(fibre, layout, group, shown.frame, quantity, shown.values);
      return;
    }
    this.inspector.show(fibre, layout, group, shown.frame, quantity, null);
    if (this.player.playing) return; // curvature is asked for when the picture stands still
    fetch_quantity(this.generation, shown.index, quantity).then(
      (values) => {
        if (this.selected === fibre && this.world?.shown === shown) this.inspector.show(fibre, layout, group, shown.frame, quantity, values);
      },
      () => undefined, // the next poll says what is wrong
    );
  }

  private draw_legend(): void {
    const range_row = element("range-row");
    range_row.hidden = this.quantity === null;
    if (!this.world) return;
    draw_legend(element("legend"), this.world.legend(this.settings));
    if (this.quantity && document.activeElement?.closest("#range-row") !== range_row) {
      input("range-low").value = short(this.world.range.low, 4).replace("−", "-");
      input("range-high").value = short(this.world.range.high, 4);
    }
  }

  private draw_timeline(): void {
    const { player } = this;
    const scrub = input("scrub");
    scrub.max = String(player.last);
    if (document.activeElement !== scrub || player.playing || player.follow) scrub.value = String(player.index);
    const time = player.times[player.index] ?? 0;
    scrub.setAttribute("aria-valuetext", `${short(time, 5)} s`);
    const play = element("play");
    play.textContent = player.playing ? "❚❚" : "▶";
    play.setAttribute("aria-label", player.playing ? "Pause" : "Play");
    element("frame-number").textContent = `${player.index} / ${player.last}`;
    element("clock").textContent = player.count > 0 ? `t = ${time.toFixed(decimals(player))} s` : "";
    set_pressed(element("follow"), player.follow);
    if (this.world) {
      const { fibre_count } = this.world.layout;
      const contacts = this.world.contact_count;
      element("facts").textContent = `${fibre_count} fibre${fibre_count === 1 ? "" : "s"}${contacts > 0 ? `, ${contacts} contact${contacts === 1 ? "" : "s"}` : ""}`;
    }
  }

  private tick(now: number): void {
    requestAnimationFrame((next) => this.tick(next));
    // A long pause, of a tab in the background or of loading, is not caught up with.
    const elapsed = Math.min(now - this.last_tick, 250) / 1000;
    this.last_tick = now;
    this.keep_link(now);
    if (this.player.playing && this.source.peek(this.player.index, this.quantity)) {
      const before = this.player.index;
      this.player.advance(elapsed);
      if (this.player.index !== before || !this.player.playing) this.update();
      if (!this.player.playing && this.recorder.recording) this.recorder.stop();
    }
    if (!this.world) return;
    const fibres = this.world.fibres;
    const resting = !this.stage.is_dirty && fibres.stride > 1 && this.stage.idle(now) > rest_time;
    if (resting) this.stage.redraw();
    if (this.stage.is_dirty) fibres.set_stride(resting ? 1 : this.moving_stride);
    if (!this.stage.draw(now, () => this.world!.prepare())) return;
    draw_marks(element<SVGElement>("marks"), this.marks_of_page());
    if (!resting) this.choose_detail();
  }

  /** Fewer points a fibre where pictures come too slowly, all of them once the view rests. */
  private choose_detail(): void {
    const fibres = this.world!.fibres;
    const { frame_time, drawn } = this.stage;
    document.body.dataset["drawn"] = String(this.stage.drawn);
    document.body.dataset["stride"] = String(fibres.stride);
    if (drawn % 4 === 0) {
      if (frame_time > slow_frame && this.moving_stride < 8 && fibres.pieces > 20000) this.moving_stride *= 2;
      else if (frame_time < slow_frame / 4 && this.moving_stride > 1) this.moving_stride /= 2;
    }
    const performance_box = element("performance");
    if (!performance_box.hidden) {
      performance_box.textContent = `${(1000 / frame_time).toFixed(0)} pictures a second\n${(this.source.bytes / 1e6).toFixed(0)} MB of frames\n${fibres.stride > 1 ? `every ${fibres.stride}th point, ` : ""}${this.stage.renderer.info.render.triangles} triangles`;
    }
    document.body.dataset["cacheBytes"] = String(this.source.bytes);
  }

  // The run on the disk.

  private async poll(): Promise<void> {
    try {
      this.state = await fetch_state();
      if (this.state.error) throw new Error(this.state.error);
      if (this.state.generation !== this.generation) await this.open(this.state.generation);
      if (this.state.frames > this.player.count) {
        this.player.append(await fetch_times(this.generation, this.player.count));
        this.samples ??= await this.sample();
        this.fill_after_first();
      }
      this.show_problem("");
      await this.read_tables();
    } catch (error) {
      this.show_problem(error instanceof Error ? error.message : String(error));
    }
    this.draw_state();
    this.update();
    if (!is_embedded || this.problem) setTimeout(() => void this.poll(), poll_interval); // what stands in the page does not change
  }

  private async open(generation: number): Promise<void> {
    this.description = await fetch_description();
    const [layout, meshes] = await Promise.all([fetch_layout(generation), fetch_meshes(generation)]);
    const vertices = await Promise.all(meshes.map((_, i) => fetch_vertices(generation, i, 0)));
    const surfaces = meshes.map((mesh, i) => ({ mesh, vertices: vertices[i]! }));
    this.world?.dispose();
    this.player.clear();
    this.source.restart(generation, meshes, vertices);
    this.generation = generation;
    this.shown_index = -1;
    this.samples = null;
    this.tables_of = -1;
    this.world = new World(layout, surfaces, { groups: this.description.group_names, obstacles: this.description.obstacle_names }, this.stage);
    this.select(-1);
    const title = title_of(this.description.scene) || this.description.folder;
    element("title").textContent = title;
    document.title = `${title} – tresse`;
  }

  /** Some frames from the first to the last, without those that cannot be read. */
  private async sample(): Promise<Frame[]> {
    const wanted = spread(this.player.count, sampled_frames).map((index) => fetch_frame(this.generation, index));
    return (await Promise.allSettled(wanted)).flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
  }

  private fill_after_first(): void {
    if (this.shown_index >= 0 || this.player.count === 0) return;
    const duration = this.player.times[this.player.last]! - this.player.times[0]!;
    this.set_speed(suitable_speed(duration));
    if (this.link?.named_frame && !this.linked) {
      this.player.seek_index(this.link.frame);
    } else if (this.state?.live) {
      this.player.follow = true;
      this.player.seek_index(this.player.last);
    }
  }

  private async read_tables(): Promise<void> {
    // Once more after the run has ended, for its last rows.
    if (!this.state || (this.tables_of === this.state.frames && this.tables_live === this.state.live && !this.state.live)) return;
    this.tables_of = this.state.frames;
    this.tables_live = this.state.live;
    const [steps, forces, holds] = await Promise.all([fetch_steps(), fetch_forces(), fetch_holds()]);
    this.plots.set_tables({ steps, forces, holds });
    this.source.has_holds = holds.holds.length > 0;
    element("hold-settings").hidden = !this.source.has_holds;
    this.world?.set_holds(holds.holds, largest_load(holds));
    if (this.source.has_holds && this.world?.shown?.loads === null) this.shown_index = -1; // once more, with its loads
  }

  private draw_state(): void {
    const { state } = this;
    const badge = element("status");
    const verdict = element("verdict");
    document.body.dataset["live"] = String(state?.live ?? false);
    if (!state) return;
    const ended = state.status === "running" ? "stopped" : state.status;
    badge.textContent = state.live ? "live" : ended;
    badge.dataset["kind"] = state.live ? "live" : state.status === "failed" ? "bad" : "";
    badge.title = state.status === "running" && !state.live ? "The run did not end by itself; --resume goes on" : "";
    element("follow").hidden = !state.live && !this.player.follow;
    if (!state.live) this.player.follow = false;
    verdict.hidden = state.live || (state.summary.verdict ?? null) === null;
    const sound = state.summary.verdict === "sound";
    verdict.textContent = sound ? "sound" : state.summary.severity === "slight" ? "nearly sound" : "not sound";
    verdict.dataset["kind"] = sound ? "good" : "bad";
    verdict.title = state.summary.sentence ?? "";
  }

  private show_problem(message: string): void {
    if (message === this.problem) return;
    this.problem = message;
    const box = element("message");
    box.hidden = message === "";
    box.textContent = message;
  }

  private fill_speeds(): void {
    set_options(
      choice("speed"),
      speeds.map((speed) => [String(speed), speed < 1 ? `1/${Math.round(1 / speed)} ×` : `${speed} ×`]),
    );
    this.set_speed(1);
  }
}

function largest_load({ columns, holds }: HoldTable): number {
  const force = columns.indexOf("force");
  return holds.flatMap(({ curves }) => curves.greatest[force]!).reduce<number>((most, load) => Math.max(most, load ?? 0), 0);
}

/** So many that neighbouring frames differ. */
function decimals(player: Player): number {
  const step = (player.times[player.last]! - player.times[0]!) / Math.max(1, player.last);
  return step > 0 ? Math.min(Math.max(Math.ceil(-Math.log10(step)) + 0, 1), 9) : 3;
}
