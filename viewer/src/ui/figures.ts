/** What the plots show: lines over time, each on one of two axes. */

import type { Curves, Tables } from "../data/api";

export type Side = "left" | "right";

export interface Line {
  readonly label: string;
  readonly values: readonly (number | null)[];
  readonly side: Side;
}
export interface Axis {
  readonly label: string;
  readonly unit: string;
  readonly logarithmic?: boolean;
}
export interface Figure {
  readonly times: readonly number[];
  readonly lines: readonly Line[];
  readonly axes: { readonly left: Axis; readonly right?: Axis };
}

export const figure_names = ["Force", "Holds", "Energy", "Contacts", "Solver"] as const;
export type FigureName = (typeof figure_names)[number];

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

/** What of a run has a figure of its own: names of obstacles, or of held points. */
export function choices_of(name: FigureName, tables: Tables): string[] {
  if (name === "Force") return Object.keys(tables.forces.obstacles);
  if (name !== "Holds") return [];
  const { holds } = tables.holds;
  const one_fibre = holds.every(({ fibre }) => fibre === holds[0]!.fibre);
  return holds.map((hold) => (one_fibre ? hold.name : `${hold.name}, fibre ${hold.fibre}`));
}

/** Those that have anything to show. */
export function figures_of(tables: Tables): FigureName[] {
  return figure_names.filter((name) => (name !== "Force" && name !== "Holds") || choices_of(name, tables).length > 0);
}

/** `choice`: index in choices_of(). */
export function figure_of(name: FigureName, tables: Tables, choice: number): Figure | null {
  const force = { label: "force", unit: "N" };
  const components = [["force", "|F|"], ["fx", "Fx"], ["fy", "Fy"], ["fz", "Fz"]] as const;
  if (name === "Force") {
    const curves = Object.values(tables.forces.obstacles)[choice];
    return curves ? figure(curves, tables.forces.columns, components, { left: force }) : null;
  }
  if (name === "Holds") {
    const hold = tables.holds.holds[choice];
    return hold ? figure(hold.curves, tables.holds.columns, components, { left: { ...force, label: "load" } }) : null;
  }
  const { curves, columns } = tables.steps;
  if (name === "Energy") {
    const parts = [["kinetic", "kinetic"], ["elastic", "elastic"], ["gravity", "gravity"], ["work_external", "work done from outside"]] as const;
    return figure(curves, columns, parts, { left: { label: "energy", unit: "J" } });
  }
  if (name === "Contacts") return figure(curves, columns, [["contacts", "contacts"]], { left: { label: "contacts", unit: "" } });
  return figure(curves, columns, [["residual", "residual"], ["iterations", "iterations a step", "right"]], {
    left: { label: "residual [–]", unit: "", logarithmic: true },
    right: { label: "iterations", unit: "" },
  });
}

type Wanted = readonly (readonly [column: string, label: string, side?: Side])[];

function figure(curves: Curves, columns: readonly string[], wanted: Wanted, axes: Figure["axes"]): Figure {
  const found = wanted.filter(([column]) => columns.includes(column));
  const drawn = found.map(([column]) => envelope(curves, columns.indexOf(column)));
  const lines = found.map(([, label, side], i) => ({ label, values: drawn[i]!.values, side: side ?? ("left" as const) }));
  return { times: drawn[0]?.times ?? [], lines, axes };
}
