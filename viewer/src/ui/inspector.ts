/** What the picked fibre is and feels, in each run that has it: facts, and one quantity along its arc length. */

import uPlot from "uplot";
import { quantities, state_names, type Frame, type Layout, type Quantity } from "../data/protocol";
import { scaled_unit, short, with_unit } from "../data/numbers";
import { element, make, theme_colour } from "./page";

export interface FibreContacts {
  readonly count: number; // that carry a force
  readonly by_state: readonly number[];
  readonly force: number; // magnitudes summed [N]
  readonly places: readonly number[]; // arc lengths [m]
}

export function contacts_of(frame: Frame, fibre: number): FibreContacts {
  const by_state = [0, 0, 0];
  const places: number[] = [];
  let force = 0;
  for (let i = 0; i < frame.contact_count; ++i) {
    const [is_a, is_b] = [frame.contact_fibre_a[i] === fibre, frame.contact_fibre_b[i] === fibre];
    if (!is_a && !is_b) continue;
    ++by_state[frame.contact_state[i]!]!;
    if (frame.contact_state[i] === 0) continue;
    force += Math.hypot(...frame.contact_force.subarray(3 * i, 3 * i + 3));
    if (is_a) places.push(frame.contact_s_a[i]!);
    if (is_b) places.push(frame.contact_s_b[i]!);
  }
  return { count: by_state[1]! + by_state[2]!, by_state, force, places };
}

/** A run with the picked fibre. */
export interface Inspected {
  readonly label: string; // of the run; empty where there is but one
  readonly layout: Layout;
  readonly group: string;
  readonly frame: Frame;
  readonly values: Float32Array | null; // the quantity at every point of all fibres; null: not there
}

const dashes = [[], [5, 3]];

export class Inspector {
  private plot: uPlot | null = null;

  hide(): void {
    this.plot?.destroy();
    this.plot = null;
    element("inspector-body").hidden = true;
    element("inspector-hint").hidden = false;
  }

  show(fibre: number, runs: readonly Inspected[], quantity: Quantity): void {
    const facts = runs.map((run) => facts_of(fibre, run));
    const names = facts[0]!.map(([name], i) => [make("dt", { textContent: name }), ...facts.map((of) => make("dd", { textContent: of[i]![1] }))]);
    const list = element("inspector-facts");
    list.style.gridTemplateColumns = `auto repeat(${runs.length}, 1fr)`;
    list.replaceChildren(...names.flat());
    element("inspector-body").hidden = false;
    element("inspector-hint").hidden = true;
    const drawn = runs.filter(({ values }) => values);
    if (drawn.length === runs.length) this.draw(fibre, drawn, quantity);
  }

  private draw(fibre: number, runs: readonly Inspected[], quantity: Quantity): void {
    const { label, unit } = quantities[quantity];
    const parts = runs.map(({ layout, frame, values }) => {
      const [begin, end] = [layout.point_offsets[fibre]!, layout.point_offsets[fibre + 1]!];
      return { arc: [...layout.arc_length.subarray(begin, end)], values: [...values!.subarray(begin, end)], places: contacts_of(frame, fibre).places };
    });
    const y = scaled_unit(Math.max(...parts.flatMap((part) => part.values.map(Math.abs))), unit);
    const x = scaled_unit(Math.max(...parts.map(({ arc }) => arc[arc.length - 1]!)), "m");
    const [ink, grid] = [theme_colour("soft"), theme_colour("line")];
    const axis = { stroke: ink, grid: { stroke: grid, width: 1 }, ticks: { stroke: grid, width: 1 }, font: "10px system-ui" };
    const target = element("inspector-plot");
    this.plot?.destroy();
    const draw_places = (u: uPlot): void => {
      u.ctx.fillStyle = "#e8820c";
      parts.forEach(({ places }, run) => {
        const top = u.bbox.top + u.bbox.height - 9 * (run + 1) * devicePixelRatio;
        for (const s of places) u.ctx.fillRect(u.valToPos(s * x.factor, "x", true) - devicePixelRatio, top, 2 * devicePixelRatio, 7 * devicePixelRatio);
      });
    };
    this.plot = new uPlot(
      {
        width: Math.max(120, target.clientWidth),
        height: 150,
        title: `${label} [${y.name}]`,
        padding: [4, 8, 0, 0],
        legend: { show: false },
        cursor: { drag: { x: false, y: false } },
        scales: { x: { time: false } },
        series: [{}, ...runs.map((_, i) => ({ stroke: theme_colour("accent"), width: 1.5, dash: dashes[i]!, points: { show: false } }))],
        axes: [
          { ...axis, size: 24, label: `arc length [${x.name}], marks: contacts`, labelSize: 14, labelFont: "10px system-ui", values: (_, v) => v.map((t) => short(t, 3)) },
          { ...axis, size: 44, values: (_, v) => v.map((t) => short(t, 3)) },
        ],
        hooks: { draw: [draw_places] },
      },
      uPlot.join(parts.map(({ arc, values }) => [arc.map((s) => s * x.factor), values.map((v) => v * y.factor)])),
      target,
    );
  }
}

function facts_of(fibre: number, { label, layout, group, frame }: Inspected): [string, string][] {
  const [begin, end] = [layout.point_offsets[fibre]!, layout.point_offsets[fibre + 1]!];
  const contacts = contacts_of(frame, fibre);
  const states = contacts.by_state.map((count, i) => (count > 0 ? `${count} ${state_names[i]!}` : "")).filter(Boolean);
  return [
    ...(label ? [["Run", label] as [string, string]] : []),
    ["Fibre", `${fibre} of ${layout.fibre_count}`],
    ["Group", group],
    ["Length", with_unit(layout.arc_length[end - 1]!, "m")],
    ["Radius", with_unit(layout.radius[begin]!, "m")],
    ["Points", `${end - begin}`],
    ["Contacts", states.length > 0 ? states.join(", ") : "none"],
    ["Contact forces, summed", with_unit(contacts.force, "N", 3)],
  ];
}
