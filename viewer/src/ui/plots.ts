/**
 * Forces, loads of holds, energies, contacts and the solver over time, with the play head; a click seeks. Several runs
 * share a plot: what is the same has the same colour, and the lines of the second are dashed.
 */

import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { scaled_unit, short, without_rounding } from "../data/numbers";
import { frame_at } from "../data/player";
import type { Tables } from "../data/api";
import { choices_of, figure_names, figure_of, figures_of, type Axis, type Figure, type FigureName, type Line, type Side } from "./figures";
import { choice, element, make, set_options, theme_colour } from "./page";

const line_colours = {
  light: ["#0072b2", "#d55e00", "#009e73", "#aa4499", "#777777"],
  dark: ["#56b4e9", "#ff9955", "#3fd0a0", "#e08bd0", "#a5adb8"],
};
const dashes = [[], [6, 4]];
/** Of the runs, where there are two. */
export const run_letters = ["A", "B"] as const;
const font = "11px system-ui";

interface Unit {
  readonly largest: number; // value of its axis, before the factor
  readonly factor: number;
  readonly name: string;
}

interface Curve {
  readonly line: Line;
  readonly run: number;
  readonly colour: number; // index
}

export class Plots {
  private shown: FigureName = "Force";
  private tables: readonly Tables[] | null = null; // a run
  private readonly chosen = new Map<FigureName, number>(); // index of the obstacle or hold
  private plot: uPlot | null = null;
  private readonly target = element("plot");
  private time = 0;
  private wanted = ""; // place to go to once there are tables

  constructor(private readonly seek: (time: number) => void) {
    const tabs = figure_names.map((name) => {
      const tab = make("button", { type: "button", textContent: name });
      tab.setAttribute("role", "tab");
      tab.addEventListener("click", () => this.show(name));
      return tab;
    });
    element("plot-tabs").append(...tabs);
    choice("plot-of").addEventListener("change", () => {
      this.chosen.set(this.shown, choice("plot-of").selectedIndex);
      this.draw();
    });
    new ResizeObserver(() => this.resize()).observe(this.target);
    this.select("Force");
  }

  /** The first of the figures that there are is shown until another is chosen. */
  set_tables(tables: readonly Tables[]): void {
    const first = this.tables === null;
    this.tables = tables;
    const present = this.present();
    for (const tab of element("plot-tabs").children) (tab as HTMLElement).hidden = !present.includes(tab.textContent as FigureName);
    if (first || !present.includes(this.shown)) this.select(present[0]!);
    if (first) this.go(this.wanted);
    this.draw();
  }

  private present(): FigureName[] {
    return figure_names.filter((name) => this.tables!.some((of) => figures_of(of).includes(name)));
  }
  private choices(): string[] {
    return [...new Set((this.tables ?? []).flatMap((of) => choices_of(this.shown, of)))];
  }

  /** Which figure of which obstacle or held point; empty: the first of all. */
  get place(): string {
    const at = this.chosen.get(this.shown) ?? 0;
    if (!this.tables) return this.wanted;
    return this.shown === this.present()[0] && at === 0 ? "" : `${this.shown},${at}`;
  }
  set place(place: string) {
    this.wanted = place;
  }
  private go(place: string): void {
    const [name, at] = place.split(",");
    const found = this.present().find((one) => one === name);
    if (!found) return;
    this.select(found);
    this.chosen.set(found, Math.max(0, Math.round(Number(at)) || 0));
  }

  set_time(time: number): void {
    this.time = time;
    this.plot?.redraw(false, false);
    this.tell_values();
  }

  /** Also after a change of theme. */
  draw(): void {
    this.plot?.destroy();
    this.plot = null;
    this.target.replaceChildren();
    const choices = this.choices();
    const at = Math.min(this.chosen.get(this.shown) ?? 0, Math.max(0, choices.length - 1));
    element("plot-choice").hidden = choices.length === 0;
    set_options(choice("plot-of"), choices.map((name, i) => [String(i), name]));
    choice("plot-of").selectedIndex = at;
    const figures = (this.tables ?? []).map((of) => figure_of(this.shown, of, choices.length > 0 ? choices_of(this.shown, of).indexOf(choices[at]!) : 0));
    const axes = figures.find((figure) => figure && figure.times.length >= 2 && figure.lines.length > 0)?.axes;
    if (!axes) {
      this.target.append(make("p", { className: "empty", textContent: "No steps yet." }));
      return;
    }
    const curves = figures.flatMap((figure, run) => figure?.lines.map((line, colour) => ({ line, run, colour })) ?? []);
    const units = { left: unit_of(curves, axes, "left"), right: unit_of(curves, axes, "right") };
    const data = figures.flatMap((figure): uPlot.AlignedData[] =>
      figure ? [[[...figure.times], ...figure.lines.map(({ values, side }) => values.map((v) => scaled(v, units[side], axes[side]!)))]] : [],
    );
    this.plot = new uPlot(this.options(curves, axes, units), uPlot.join(data), this.target);
    this.resize();
    this.tell_values();
  }

  private show(name: FigureName): void {
    this.select(name);
    this.draw();
  }
  private select(name: FigureName): void {
    this.shown = name;
    for (const tab of element("plot-tabs").children) {
      tab.setAttribute("aria-selected", String(tab.textContent === name));
    }
  }

  private options(curves: readonly Curve[], axes_of: Figure["axes"], units: Record<Side, Unit>): uPlot.Options {
    const dark = document.documentElement.dataset["theme"] === "dark";
    const colours = line_colours[dark ? "dark" : "light"];
    const [ink, grid] = [theme_colour("soft"), theme_colour("line")];
    const common = { stroke: ink, ticks: { stroke: grid, width: 1 }, font, labelFont: font, labelSize: 16 };
    const sides = (["left", "right"] as const).filter((side) => axes_of[side]);
    return {
      ...this.size(),
      pxAlign: false,
      padding: [8, 12, 0, 0],
      cursor: { points: { size: 5 }, drag: { x: false, y: false } },
      scales: { x: { time: false }, ...Object.fromEntries(sides.map((side) => [side, scale_of(axes_of[side]!)])) },
      legend: { live: true, markers: { dash: (_, i) => (curves[i - 1]?.run ? "dashed" : "solid") } },
      series: [
        { label: "t", value: (_, v) => (v == null ? "–" : `${short(v, 5)} s`) },
        ...curves.map(({ line, run, colour }) => ({
          label: this.tables!.length > 1 ? `${line.label} ${run_letters[run]!}` : line.label,
          scale: line.side,
          stroke: colours[colour % colours.length]!,
          width: 1.4,
          dash: dashes[run]!,
          spanGaps: false,
          points: { show: false },
          value: (u: uPlot, _: number | null, series: number, at: number | null) => {
            const value = at === null ? null : value_at(u.data[series]!, at);
            return value == null ? "–" : `${short(value, 4)} ${units[line.side].name}`.trim();
          },
        })),
      ],
      axes: [
        { ...common, grid: { stroke: grid, width: 1 }, values: (_, values) => values.map((v) => short(v, 5)), label: "t [s]", size: 28 },
        ...sides.map((side) => ({
          ...common,
          scale: side,
          side: side === "left" ? 3 : 1,
          grid: side === "left" ? { stroke: grid, width: 1 } : { show: false },
          // Of several axes each has the colour of its line.
          stroke: sides.length > 1 ? colours[curves.find(({ line }) => line.side === side)!.colour]! : ink,
          values: (_: uPlot, values: (number | null)[]) => values.map((v) => (v == null ? "" : short(v, 4))),
          size: 56,
          space: 22,
          label: units[side].name ? `${axes_of[side]!.label} [${units[side].name}]` : axes_of[side]!.label,
        })),
      ],
      hooks: { draw: [(u) => this.draw_head(u)], ready: [(u) => this.listen(u)], setCursor: [() => this.tell_values()] },
    };
  }

  /** Values at the play head, unless the pointer asks for those elsewhere. */
  private tell_values(): void {
    if (!this.plot || (this.plot.cursor.idx ?? null) !== null) return;
    this.plot.setLegend({ idx: frame_at(this.plot.data[0], this.time) });
    if (this.plot.height !== this.size().height) this.resize(); // the values take another line now
  }

  private draw_head(u: uPlot): void {
    const x = u.valToPos(this.time, "x", true);
    if (!(x >= u.bbox.left && x <= u.bbox.left + u.bbox.width)) return;
    u.ctx.save();
    u.ctx.strokeStyle = theme_colour("accent");
    u.ctx.lineWidth = 2 * devicePixelRatio;
    u.ctx.setLineDash([]);
    u.ctx.beginPath();
    u.ctx.moveTo(x, u.bbox.top);
    u.ctx.lineTo(x, u.bbox.top + u.bbox.height);
    u.ctx.stroke();
    u.ctx.restore();
  }

  private listen(u: uPlot): void {
    const seek = (event: PointerEvent): void => this.seek(u.posToVal(event.clientX - u.over.getBoundingClientRect().left, "x"));
    u.over.addEventListener("pointerdown", (event) => {
      u.over.setPointerCapture(event.pointerId);
      seek(event);
    });
    u.over.addEventListener("pointermove", (event) => {
      if (event.buttons & 1) seek(event);
    });
  }

  /** The legend stands above the curves and takes what it needs. */
  private size(): { width: number; height: number } {
    const legend = this.target.querySelector<HTMLElement>(".u-legend")?.offsetHeight ?? 24;
    return { width: Math.max(100, this.target.clientWidth), height: Math.max(60, this.target.clientHeight - legend) };
  }
  private resize(): void {
    this.plot?.setSize(this.size());
  }
}

/** An axis without values, or with zeros alone, has a range all the same. */
function scale_of({ logarithmic }: Axis): uPlot.Scale {
  const none = (low: number | null, high: number | null): boolean => low === null || high === null || !Number.isFinite(low + high);
  if (logarithmic) {
    return { distr: 3, log: 10, range: (_, low, high) => (none(low, high) ? [1e-16, 1] : uPlot.rangeLog(low, high, 10, true)) };
  }
  return { range: (_, low, high) => (none(low, high) || (low === 0 && high === 0) ? [0, 1] : uPlot.rangeNum(low, high, 0.1, true)) };
}

function unit_of(curves: readonly Curve[], axes: Figure["axes"], side: Side): Unit {
  let largest = 0;
  for (const { line } of curves) if (line.side === side) for (const value of line.values) largest = Math.max(largest, Math.abs(value ?? 0));
  const axis = axes[side];
  return { largest, ...(axis?.unit ? scaled_unit(largest, axis.unit) : { factor: 1, name: "" }) };
}

/** Where only another run has a time, the value is undefined: that before it counts, as long as more comes. */
function value_at(values: ArrayLike<number | null | undefined>, at: number): number | null | undefined {
  let [before, after] = [at, at];
  while (before > 0 && values[before] === undefined) --before;
  while (after < values.length && values[after] === undefined) ++after;
  return after < values.length ? values[before] : undefined;
}

function scaled(value: number | null, { factor, largest }: Unit, axis: Axis): number | null {
  if (value === null || (axis.logarithmic && !(value > 0))) return null;
  return factor * (axis.logarithmic ? value : without_rounding(value, largest));
}
