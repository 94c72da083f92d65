/** Colour bars with ticks and units, and keys of colours. */

import { css, map_colour, type MapName, type Rgb } from "../colours";
import { scaled_unit, short, ticks, type Range } from "../data/numbers";
import { make } from "./page";
import { svg } from "./svg";

export interface BarEntry {
  readonly kind: "bar";
  readonly title: string;
  readonly unit: string;
  readonly map: MapName;
  readonly range: Range;
}
export interface KeyEntry {
  readonly kind: "key";
  readonly title: string;
  readonly colours: readonly { colour: Rgb; text: string }[];
}
export interface ScaleEntry {
  readonly kind: "scale";
  readonly title: string;
  readonly text: string;
}
export type LegendEntry = BarEntry | KeyEntry | ScaleEntry;

const bar = { width: 200, height: 12, margin: 16 };
/** Title with the unit in which the ticks are, and the ticks at fractions of the bar. */
export function bar_ticks(entry: BarEntry, count = 5): { title: string; marks: { at: number; text: string }[] } {
  const { low, high } = entry.range;
  const { factor, name } = scaled_unit(Math.max(Math.abs(low), Math.abs(high)), entry.unit);
  const marks = ticks(low, high, count).map((value) => ({
    at: high > low ? (value - low) / (high - low) : 0,
    text: short(value * factor, 3),
  }));
  return { title: name ? `${entry.title} [${name}]` : entry.title, marks };
}

function bar_section(entry: BarEntry): HTMLElement {
  const is_narrow = matchMedia("(max-width: 640px)").matches; // a telephone: two bars beside each other
  const width = is_narrow ? 110 : bar.width;
  const { title, marks } = bar_ticks(entry, is_narrow ? 3 : 5);
  const out = svg("svg", { width: width + 2 * bar.margin, height: bar.height + 20, role: "img", "aria-label": title });
  const strips = 64;
  for (let i = 0; i < strips; ++i) {
    const x = bar.margin + (i * width) / strips;
    const fill = css(map_colour(entry.map, i / (strips - 1)));
    out.append(svg("rect", { x, y: 0, width: width / strips + 0.6, height: bar.height, fill }));
  }
  for (const { at, text } of marks) {
    const x = bar.margin + at * width;
    out.append(svg("line", { class: "mark", x1: x, x2: x, y1: bar.height, y2: bar.height + 4 }));
    out.append(svg("text", { x, y: bar.height + 16, "text-anchor": "middle" }, text));
  }
  const section = make("section", {}, make("h2", { textContent: title }));
  section.append(out);
  return section;
}

function key_section(entry: KeyEntry): HTMLElement {
  const rows = entry.colours.map(({ colour, text }) => {
    const dot = svg("svg", { width: 11, height: 11, "aria-hidden": "true" });
    dot.append(svg("circle", { cx: 5.5, cy: 5.5, r: 5, fill: css(colour) }));
    const row = make("span", { className: "swatch" });
    row.append(dot, text);
    return row;
  });
  return make("section", {}, make("h2", { textContent: entry.title }), make("div", { className: "swatches" }, ...rows));
}

export function draw_legend(target: HTMLElement, entries: readonly LegendEntry[]): void {
  target.replaceChildren(
    ...entries.map((entry) => {
      if (entry.kind === "bar") return bar_section(entry);
      if (entry.kind === "key") return key_section(entry);
      return make("section", {}, make("h2", { textContent: entry.title }), entry.text);
    }),
  );
}
