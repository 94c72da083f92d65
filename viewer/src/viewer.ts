/** The page at work: one run or two side by side, one play head, one eye. */

import * as THREE from "three";
import { Player, joined_times, speeds, suitable_speed } from "./data/player";
import { is_quantity, type Quantity } from "./data/protocol";
import type { HoldTable, Tables } from "./data/api";
import { up_axis } from "./data/scene_text";
import { short } from "./data/numbers";
import { Scales } from "./scene/scales";
import type { ViewName } from "./scene/stage";
import { read_link, write_link } from "./link";
import { RunView } from "./run_view";
import { default_settings, keep_settings, load_settings } from "./settings";
import { is_stacked, parts_of, size_of, type Size } from "./ui/arrangement";
import { Recorder, save_picture } from "./ui/capture";
import { Inspector, type Inspected } from "./ui/inspector";
import type { LegendEntry } from "./ui/legend";
import { choice, element, input, make, make_views, set_options, set_pressed, theme_colour } from "./ui/page";
import { Plots, run_letters } from "./ui/plots";

const cache_bytes = 512e6; // of all runs
const link_interval = 500; // milliseconds between changes of the address, which browsers limit

export class Viewer {
  private readonly link = read_link(location.hash, load_settings(), default_settings);
  readonly settings = this.link?.settings ?? load_settings();
  readonly player = new Player();
  readonly views: readonly RunView[];
  readonly recorder: Recorder;
  private readonly scales = new Scales();
  private readonly plots: Plots;
  private readonly inspector = new Inspector();
  private times: readonly Float64Array[] = []; // of each run, as the play head has them
  private tables: readonly (Tables | null)[] = [];
  private placed = false; // the play head stands where the page begins
  private selected = -1;
  private last_tick = 0;
  private problem = ""; // of the page, not of a run
  private linked = false; // the address has been followed
  private first_eye = "";
  private first_up = "";
  private last_link = 0; // when the address was written
  private film: CanvasRenderingContext2D | null = null; // that is recorded

  /** `names` tells the runs from each other. @throws Error without WebGL 2. */
  constructor(names: readonly string[]) {
    make_views(names.length);
    const several = names.length > 1;
    this.views = names.map(
      (name, i) => new RunView(i, several ? `${run_letters[i]!} ${name}` : "", this.settings, this.scales, cache_bytes / names.length, () => this.take()),
    );
    this.recorder = new Recorder((on, bytes) => {
      set_pressed(element("record"), on);
      element("record").textContent = on ? `Stop (${(bytes / 1e6).toFixed(2)} MB)` : "Record";
    });
    this.plots = new Plots((time) => this.seek_time(time));
    this.plots.place = this.link?.plot ?? "";
    this.apply_theme();
    this.fill_speeds();
    requestAnimationFrame((now) => this.tick(now));
  }

  get quantity(): Quantity | null {
    return is_quantity(this.settings.colour) ? this.settings.colour : null;
  }
  private get stages(): RunView["stage"][] {
    return this.views.map(({ stage }) => stage);
  }
  /** That all others follow. */
  private get lead(): RunView["stage"] {
    return this.views[0]!.stage;
  }
  private get time(): number {
    return this.player.times[this.player.index] ?? 0;
  }
  private get is_live(): boolean {
    return this.views.some(({ run }) => run.is_live);
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
    for (const { world } of this.views) world?.apply(this.settings);
    this.draw_legends();
  }
  refresh_contacts(): void {
    keep_settings(this.settings);
    for (const { world } of this.views) world?.refresh_contacts(this.settings);
    this.draw_legends();
  }
  /** Another quantity has to be fetched first. */
  recolour(): void {
    keep_settings(this.settings);
    this.scales.forget_range();
    for (const view of this.views) view.forget_shown();
    this.update();
    this.draw_legends();
  }
  set_range(low: number, high: number): void {
    if (!Number.isFinite(low) || !Number.isFinite(high) || !(high > low)) return;
    this.scales.fixed_range = { low, high };
    this.apply();
  }
  free_range(): void {
    this.scales.forget_range();
    for (const view of this.views) view.forget_shown();
    this.update();
  }

  apply_theme(): void {
    const dark = this.settings.theme === "" ? matchMedia("(prefers-color-scheme: dark)").matches : this.settings.theme === "dark";
    document.documentElement.dataset["theme"] = dark ? "dark" : "light";
    for (const stage of this.stages) stage.set_background(theme_colour("ground"));
    this.plots.draw();
    this.inspect();
  }

  look_from(direction: ViewName): void {
    this.lead.view(direction);
  }

  /** What is seen now into the views. */
  fit(): void {
    const points = this.views.flatMap(({ world }) => (world?.shown ? world.outline([world.shown.frame]) : []));
    for (const stage of this.stages) stage.set_outline(points);
    this.lead.view("fit");
    this.draw_legends();
  }

  set_up(axis: "y" | "z"): void {
    choice("up").value = axis;
    for (const { stage, world } of this.views) {
      stage.set_up(axis);
      world?.place_ground();
    }
    this.fit();
  }

  pick(view: RunView, x: number, y: number): void {
    this.select(view.fibre_at(x, y));
  }
  /** In every run that has such a fibre. */
  select(fibre: number): void {
    this.selected = fibre;
    document.body.dataset["picked"] = String(fibre);
    for (const { world } of this.views) world?.select(fibre);
    this.inspect();
  }

  /** Of those side by side, for the address; empty: one alone. */
  private get run_names(): string {
    return this.views.length > 1 ? this.views.map(({ folder }) => folder).join(" and ") : "";
  }
  private get picture_name(): string {
    return this.views.map(({ folder }) => folder).join("-");
  }
  get seen_size(): Size {
    return size_of(this.stages);
  }
  private blank(size: Size): CanvasRenderingContext2D {
    return make("canvas", size).getContext("2d")!;
  }

  /** In pixels; as it is seen where no size is given. */
  save_picture(size = this.seen_size, words = true): void {
    if (!this.views.every(({ world }) => world?.shown)) return;
    this.tell("");
    const context = this.blank(size);
    const parts = parts_of(size, this.views.length, is_stacked(this.stages));
    try {
      this.views.forEach((view, i) => view.paint(context, parts[i]!.size, parts[i]!.corner, words));
    } catch (error) {
      return this.tell(error instanceof Error ? error.message : String(error));
    }
    save_picture(context.canvas, `${this.picture_name}-${String(this.player.index).padStart(5, "0")}.png`);
  }

  toggle_record(): void {
    if (this.recorder.recording) {
      this.recorder.stop();
      this.player.playing = false;
      return;
    }
    try {
      this.film = this.blank(this.seen_size);
      this.recorder.start(this.film.canvas, `${this.picture_name}.webm`);
      for (const stage of this.stages) stage.redraw();
      if (!this.player.playing) this.toggle_play();
    } catch (error) {
      this.tell(String(error));
    }
  }

  /** Shows in each view the frame nearest to the head once it is there. */
  update(): void {
    const before = this.scales.state;
    const shown = this.are_started() ? this.views.filter((view) => view.show(this.time, this.quantity, this.player.playing)) : [];
    if (shown.length > 0) {
      if (this.views.length > 1 && this.scales.state !== before) for (const { world } of this.views) world!.apply(this.settings);
      this.plots.set_time(this.time);
      this.inspect();
      if (!this.linked && this.views.every(({ world }) => world!.shown)) this.follow_link();
      this.draw_legends();
    }
    this.draw_timeline();
  }

  /** Whether each run is there; places the eye before the first picture. */
  private are_started(): boolean {
    const { views } = this;
    if (!views.every(({ world, run }) => world && run.samples)) return false;
    if (views.every(({ world }) => world!.is_started)) return true;
    const points = views.flatMap(({ world, run }) => world!.outline(run.samples!));
    const { points: places, surface_vertices } = views[0]!.run.samples![0]!;
    const box = new THREE.Box3().setFromArray(places).union(new THREE.Box3().setFromArray(surface_vertices));
    const size = box.isEmpty() ? [1, 1, 1] : box.getSize(new THREE.Vector3()).toArray();
    const up = up_axis(views[0]!.run.opened!.description.scene, size);
    choice("up").value = up;
    for (const { stage, world, run } of views) {
      stage.set_up(up);
      stage.set_outline(points);
      if (!world!.is_started) world!.start(points, run.samples![0]!);
    }
    // A scene in the plane (x, y) is seen from its front, any other from above and the side.
    this.lead.fit(up === "y" ? new THREE.Vector3(0.15, 0.25, 1).normalize() : new THREE.Vector3(0.75, -1, 0.45).normalize());
    element("surface-settings").hidden = views.every(({ world }) => world!.layout.surfaces.length === 0);
    for (const id of ["inspector", "fibre-settings"]) element(id).hidden = views.every(({ world }) => world!.layout.fibre_count === 0);
    this.first_up = up;
    this.first_eye = String(this.lead.eye);
    return true;
  }

  /** Once, after the first picture: what the address asks for. */
  private follow_link(): void {
    this.linked = true;
    const { link } = this;
    if (!link) return;
    if (link.up) this.set_up(link.up);
    if (link.eye) this.lead.eye = link.eye;
    if (link.range) this.set_range(link.range[0]!, link.range[1]!);
    if (this.views.some(({ world }) => link.fibre < world!.layout.fibre_count)) this.select(link.fibre);
    if (link.runs && link.runs !== this.run_names) this.tell(`The link shows ${link.runs}; this page shows ${this.run_names || this.views[0]!.folder}.`);
  }

  /** Keeps in the address what is shown now. */
  private keep_link(now: number): void {
    if (now - this.last_link < link_interval || this.player.playing || !this.linked) return;
    this.last_link = now;
    const { eye } = this.lead;
    const up = choice("up").value as "y" | "z";
    const { fixed_range } = this.scales;
    const at_end = this.player.follow || this.player.index === 0;
    const text = write_link(
      {
        settings: this.settings,
        frame: at_end || this.views.length > 1 ? 0 : this.player.index,
        named_frame: true,
        time: at_end || this.views.length === 1 ? null : this.time,
        eye: String(eye) === this.first_eye ? null : eye,
        up: up === this.first_up ? null : up,
        range: fixed_range && [fixed_range.low, fixed_range.high],
        plot: this.plots.place,
        fibre: this.selected,
        runs: this.run_names,
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
    const fibre = this.selected;
    const quantity = this.quantity ?? "curvature";
    const inspected = (): [RunView, Inspected][] =>
      this.views.flatMap((view, i) => {
        const found = view.inspected(fibre, this.views.length > 1 ? run_letters[i]! : "");
        return found ? [[view, found] as [RunView, Inspected]] : [];
      });
    const found = inspected();
    if (found.length === 0) return this.inspector.hide();
    const runs = found.map(([, run]) => (this.quantity ? run : { ...run, values: null }));
    this.inspector.show(fibre, runs, quantity);
    if (this.quantity || this.player.playing) return; // curvature is asked for when the picture stands still
    Promise.all(found.map(([view]) => view.fetch_quantity(quantity))).then(
      (values) => {
        const now = inspected();
        const same = this.selected === fibre && now.length === found.length && now.every(([, run], i) => run.frame === found[i]![1].frame);
        if (same) this.inspector.show(fibre, runs.map((run, i) => ({ ...run, values: values[i]! })), quantity);
      },
      () => undefined, // the next poll says what is wrong
    );
  }

  private draw_legends(): void {
    const range_row = element("range-row");
    range_row.hidden = this.quantity === null;
    let had: LegendEntry[] = [];
    for (const view of this.views) had = [...had, ...view.draw_legend(had)];
    if (this.quantity && document.activeElement?.closest("#range-row") !== range_row) {
      const { low, high } = this.scales.range;
      input("range-low").value = short(low, 4).replace("−", "-");
      input("range-high").value = short(high, 4);
    }
  }

  private draw_timeline(): void {
    const { player } = this;
    const scrub = input("scrub");
    scrub.max = String(player.last);
    scrub.value = String(player.index);
    const time = `${short(this.time, 5)} s`;
    scrub.setAttribute("aria-valuetext", time);
    const play = element("play");
    play.textContent = player.playing ? "❚❚" : "▶";
    play.setAttribute("aria-label", player.playing ? "Pause" : "Play");
    element("frame-number").textContent = this.views.length > 1 ? time : `${player.index} / ${player.last}`;
    set_pressed(element("follow"), player.follow);
  }

  private tick(now: number): void {
    requestAnimationFrame((next) => this.tick(next));
    // A long pause, of a tab in the background or of loading, is not caught up with.
    const elapsed = Math.min(now - this.last_tick, 250) / 1000;
    this.last_tick = now;
    this.keep_link(now);
    if (this.player.playing && this.views.every((view) => view.is_at_hand(this.time, this.quantity))) {
      const before = this.player.index;
      this.player.advance(elapsed);
      if (this.player.index !== before || !this.player.playing) this.update();
      if (!this.player.playing && this.recorder.recording) this.recorder.stop();
    }
    this.share_eye();
    this.views.forEach((view, i) => {
      if (!view.draw(now) || !this.film || !this.recorder.recording) return;
      const { corner } = parts_of(this.film.canvas, this.views.length, is_stacked(this.stages))[i]!;
      this.film.drawImage(view.stage.canvas, ...corner);
    });
  }

  /** Whichever view was moved, the others follow. */
  private share_eye(): void {
    const moved = this.stages.find((stage) => stage.has_moved());
    for (const stage of moved ? this.stages : []) {
      if (stage === moved) continue;
      stage.eye = moved!.eye;
      stage.has_moved();
    }
  }

  // The runs on the disk.

  /** Something of a run has come. */
  private take(): void {
    const opened = this.views.filter((view) => view.take()).length > 0;
    if (opened) this.begin_anew();
    this.take_tables();
    const times = this.views.map(({ run }) => run.times);
    if (times.some((one, i) => one !== this.times[i])) {
      this.times = times;
      this.player.set_times(joined_times(times));
    }
    this.place_head();
    element("follow").hidden = !this.is_live && !this.player.follow;
    if (this.placed && !this.is_live) this.player.follow = false;
    this.tell(this.problem);
    this.update();
  }

  private begin_anew(): void {
    this.scales.clear();
    this.placed = false;
    this.tables = [];
    for (const view of this.views) view.forget_shown();
    this.select(-1);
    const titles = this.views.filter(({ run }) => run.opened).map(({ title }) => title);
    document.title = `${titles.join(" | ")} – tresse`;
  }

  private take_tables(): void {
    const tables = this.views.map(({ run }) => run.tables);
    if (!tables.every((one) => one !== null) || tables.every((one, i) => one === this.tables[i])) return;
    this.tables = tables;
    this.plots.set_tables(tables);
    element("hold-settings").hidden = tables.every(({ holds }) => holds.holds.length === 0);
    this.scales.largest_load = Math.max(...tables.map(({ holds }) => largest_load(holds)));
  }

  /** Where the page begins, once all times are there. */
  private place_head(): void {
    if (this.placed || !this.times.every(({ length }) => length > 0)) return;
    this.placed = true;
    this.set_speed(suitable_speed(this.player.times[this.player.last]! - this.player.times[0]!));
    const { link } = this;
    if (link && !this.linked && (link.named_frame || link.time !== null)) {
      if (link.time !== null && this.views.length > 1) this.player.seek_time(link.time);
      else this.player.seek_index(link.frame);
    } else if (this.is_live) {
      this.player.follow = true;
      this.player.seek_index(this.player.last);
    }
  }

  /** What is wrong with the page, and with each of the runs. */
  private tell(problem: string): void {
    this.problem = problem;
    const all = [...new Set([problem, ...this.views.map(({ run }) => run.problem)])].filter(Boolean).join("\n");
    const box = element("message");
    box.hidden = all === "";
    box.textContent = all;
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
