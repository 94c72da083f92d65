/** What is shown, in the part of the address behind the #: whoever opens the link sees the same. */

import { settings_of, type Settings } from "./settings";

export interface Link {
  readonly settings: Settings;
  readonly frame: number; // index; 0 in a link that names none
  readonly named_frame: boolean;
  readonly time: number | null; // of two runs, whose frames have no common number [s]
  readonly eye: readonly number[] | null; // (6) where the camera stands, what it looks at [m]; null: the first view
  readonly up: "y" | "z" | null; // null: as the scene has it
  readonly range: readonly number[] | null; // (2) limits of the colours; null: of what is seen
  readonly plot: string; // its name, and which obstacle or held point; empty: the first
  readonly fibre: number; // that is picked; -1: none
  readonly runs: string; // names of runs side by side, which the page itself does not choose; empty: a single one
}

/** These are a reader's own, not the link's. */
const personal: readonly string[] = ["theme", "show_panel"];

export function write_link(link: Link, defaults: Settings): string {
  const out = new URLSearchParams();
  if (link.frame > 0) out.set("frame", String(link.frame));
  const number = (value: number): string => String(Number(value.toPrecision(7)));
  if (link.time !== null) out.set("time", number(link.time));
  if (link.eye) out.set("eye", link.eye.map(number).join(","));
  if (link.up) out.set("up", link.up);
  if (link.range) out.set("range", link.range.map(number).join(","));
  if (link.plot) out.set("plot", link.plot);
  if (link.fibre >= 0) out.set("fibre", String(link.fibre));
  for (const [name, value] of Object.entries(link.settings)) {
    if (!personal.includes(name) && value !== (defaults as unknown as Record<string, unknown>)[name]) out.set(name, String(value));
  }
  if (link.runs && [...out.keys()].length > 0) out.set("runs", link.runs); // these alone are no change
  return out.toString().replaceAll("%2C", ",");
}

/** What a link does not name is as in `defaults`; what makes no sense in it is left out. Null for an empty one. */
export function read_link(hash: string, own: Settings, defaults: Settings): Link | null {
  const text = new URLSearchParams(hash.replace(/^#/, ""));
  if ([...text.keys()].length === 0) return null;
  const numbers = (name: string, count: number): number[] | null => {
    const all = (text.get(name) ?? "").split(",").map(Number);
    return text.has(name) && all.length === count && all.every(Number.isFinite) ? all : null;
  };
  const [frame] = numbers("frame", 1) ?? [0];
  const [time] = numbers("time", 1) ?? [null];
  const [fibre] = numbers("fibre", 1) ?? [-1];
  const up = text.get("up");
  const named: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(defaults)) {
    const given = text.get(name);
    if (personal.includes(name)) named[name] = (own as unknown as Record<string, unknown>)[name];
    else if (given === null) continue;
    else if (typeof value === "boolean") named[name] = given === "true";
    else if (typeof value !== "number") named[name] = given;
    else if (Number.isFinite(Number(given))) named[name] = Number(given);
  }
  return {
    settings: settings_of(named),
    frame: Math.max(0, Math.round(frame!)),
    named_frame: text.has("frame"),
    time: time ?? null,
    eye: numbers("eye", 6),
    up: up === "y" || up === "z" ? up : null,
    range: numbers("range", 2),
    plot: text.get("plot") ?? "",
    fibre: Math.round(fibre!),
    runs: text.get("runs") ?? "",
  };
}
