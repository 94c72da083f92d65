/** Forces, energies, contacts and the solver over time, with the play head; a click seeks. */

import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import type { Curves, ForceTable, StepTable } from "../data/api";
import { scaled_unit, short } from "../data/numbers";
import { frame_at } from "../data/player";
import { choice, element, make, set_options, theme_colour } from "./page";

interface Line {
  readonly label: string;
  readonly values: readonly (number | null)[];
}
interface Figure {
  readonly times: readonly number[];
  readonly lines: readonly Line[];
  readonly unit: string;
  readonly logarithmic?: boolean;
}

const names = ["Force", "Energy", "Contacts", "Solver"] as const;
type Name = (typeof names)[number];

const line_colours = {
  light: ["#0072b2", "#d55e00", "#009e73", "#aa4499", "#777777"],
  dark: ["#56b4e9", "#ff9955", "#3fd0a0", "#e08bd0", "#a5adb8"],
};

/** Both ends of every stretch, in the order that keeps a line narrow: each stretch gives its least and its greatest. */
export function envelope(curves: Curves, column: number): { times: number[]; values: (number | null)[] } {
  const times: number[] = [];
  const values: (number | null)[] = [];
  curves.from.forEach((from, i) => {
    const to = curves.to[i]!;
    const [least, greatest] = [curves.least[column]![i]!, curves.greatest[column]![i]!];
    if (to === from) {
      times.push(from);
      values.push(least);
      return;
    }
    times.push(from, from + (to - from) / 2);
    values.push(least, greatest);
  });
  return { times, values };
}

export class Plots {
  private shown: Name = "Force";
  private steps: StepTable | null = null;
  private forces: ForceTable | null = null;
  private plot: uPlot | null = null;
  private readonly target = element("plot");
  private time = 0;

  constructor(private readonly seek: (time: number) => void) {
    const tabs = names.map((name) => {
      const tab = make("button", { type: "button", textContent: name });
      tab.setAttribute("role", "tab");
      tab.addEventListener("click", () => this.show(name));
      return tab;
    });
    element("plot-tabs").append(...tabs);
    choice("plot-obstacle").addEventListener("change", () => this.draw());
    new ResizeObserver(() => this.resize()).observe(this.target);
    this.select("Force");
  }

  set_tables(steps: StepTable, forces: ForceTable): void {
    if (!this.steps && Object.keys(forces.obstacles).length === 0) this.select("Energy");
    this.steps = steps;
    this.forces = forces;
    set_options(
      choice("plot-obstacle"),
      Object.keys(forces.obstacles).map((name) => [name, name]),
    );
    this.draw();
  }

  set_time(time: number): void {
    this.time = time;
    this.plot?.redraw(false, false);
    this.tell_values();
  }

  /** Also after a change of theme. */
  draw(): void {
    const figure = this.figure();
    element("obstacle-choice").hidden = this.shown !== "Force" || Object.keys(this.forces?.obstacles ?? {}).length < 1;
    this.plot?.destroy();
    this.plot = null;
    this.target.replaceChildren();
    if (!figure || figure.times.length < 2 || figure.lines.length === 0) {
      const what = this.shown === "Force" ? "No force on an obstacle." : "No steps yet.";
      this.target.append(make("p", { className: "empty", textContent: what }));
      return;
    }
    const { factor, name } = scaled_unit(largest(figure), figure.unit);
    const data = figure.lines.map((line) => line.values.map((v) => scaled(v, factor, figure.logarithmic ?? false)));
    this.plot = new uPlot(this.options(figure, name), [[...figure.times], ...data], this.target);
    this.tell_values();
  }

  private show(name: Name): void {
    this.select(name);
    this.draw();
  }
  private select(name: Name): void {
    this.shown = name;
    for (const tab of element("plot-tabs").children) {
      tab.setAttribute("aria-selected", String(tab.textContent === name));
    }
  }

  private figure(): Figure | null {
    if (this.shown === "Force") {
      const curves = this.forces?.obstacles[choice("plot-obstacle").value];
      return curves ? figure_of(curves, this.forces!.columns, ["force", "fx", "fy", "fz"], "N", ["|F|", "Fx", "Fy", "Fz"]) : null;
    }
    if (!this.steps) return null;
    const { curves, columns } = this.steps;
    if (this.shown === "Energy") {
      return figure_of(curves, columns, ["kinetic", "elastic", "gravity", "work_external"], "J", ["kinetic", "elastic", "gravity", "work done from outside"]);
    }
    if (this.shown === "Contacts") return figure_of(curves, columns, ["contacts"], "", ["contacts"]);
    return { ...figure_of(curves, columns, ["iterations", "residual"], "", ["iterations", "residual"]), logarithmic: true };
  }

  private options(figure: Figure, unit: string): uPlot.Options {
    const dark = document.documentElement.dataset["theme"] === "dark";
    const colours = line_colours[dark ? "dark" : "light"];
    const [ink, grid] = [theme_colour("soft"), theme_colour("line")];
    const axis = { stroke: ink, grid: { stroke: grid, width: 1 }, ticks: { stroke: grid, width: 1 }, font: "11px system-ui" };
    return {
      ...this.size(),
      pxAlign: false,
      padding: [8, 12, 0, 0],
      cursor: { points: { size: 5 }, drag: { x: false, y: false } },
      scales: { x: { time: false }, y: figure.logarithmic ? { distr: 3, log: 10 } : {} },
      legend: { live: true },
      series: [
        { label: "t", value: (_, v) => (v == null ? "–" : `${short(v, 5)} s`) },
        ...figure.lines.map((line, i) => ({
          label: line.label,
          stroke: colours[i % colours.length]!,
          width: 1.4,
          spanGaps: false,
          points: { show: false },
          value: (_: uPlot, v: number | null) => (v == null ? "–" : `${short(v, 4)} ${unit}`.trim()),
        })),
      ],
      axes: [
        { ...axis, values: (_, values) => values.map((v) => short(v, 5)), label: "t [s]", labelSize: 16, labelFont: "11px system-ui", size: 28 },
        {
          ...axis,
          values: (_, values) => values.map((v) => (v == null ? "" : short(v, 4))),
          size: 62,
          ...(unit ? { label: `[${unit}]`, labelSize: 16, labelFont: "11px system-ui" } : {}),
        },
      ],
      hooks: { draw: [(u) => this.draw_head(u)], ready: [(u) => this.listen(u)], setCursor: [() => this.tell_values()] },
    };
  }

  /** Values at the play head, unless the pointer asks for those elsewhere. */
  private tell_values(): void {
    if (!this.plot || (this.plot.cursor.idx ?? null) !== null) return;
    this.plot.setLegend({ idx: frame_at(this.plot.data[0], this.time) });
  }

  private draw_head(u: uPlot): void {
    const x = u.valToPos(this.time, "x", true);
    if (!(x >= u.bbox.left && x <= u.bbox.left + u.bbox.width)) return;
    u.ctx.save();
    u.ctx.strokeStyle = theme_colour("accent");
    u.ctx.lineWidth = 2 * devicePixelRatio;
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

  private size(): { width: number; height: number } {
    return { width: Math.max(100, this.target.clientWidth), height: Math.max(60, this.target.clientHeight - 24) };
  }
  private resize(): void {
    this.plot?.setSize(this.size());
  }
}

function figure_of(curves: Curves, columns: readonly string[], wanted: readonly string[], unit: string, labels: readonly string[]): Figure {
  const found = wanted.map((name, i) => ({ column: columns.indexOf(name), label: labels[i]! })).filter(({ column }) => column >= 0);
  const lines = found.map(({ column, label }) => ({ label, values: envelope(curves, column).values }));
  return { times: found.length > 0 ? envelope(curves, found[0]!.column).times : [], lines, unit };
}

function largest(figure: Figure): number {
  let out = 0;
  for (const line of figure.lines) for (const value of line.values) out = Math.max(out, Math.abs(value ?? 0));
  return out;
}

function scaled(value: number | null, factor: number, logarithmic: boolean): number | null {
  if (value === null || (logarithmic && !(value > 0))) return null;
  return value * factor;
}
