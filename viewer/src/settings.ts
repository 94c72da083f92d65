/** What is shown and how, kept in the browser from one visit to the next. */

import type { ContactColour } from "./scene/contacts";
import { quantities, type Quantity } from "./data/protocol";

export type FibreColour = "hair" | "group" | "fibre" | Quantity;

export const fibre_colours: readonly (readonly [FibreColour, string])[] = [
  ["hair", "hair"],
  ["group", "group"],
  ["fibre", "fibre"],
  ...Object.entries(quantities).map(([name, { label }]) => [name as Quantity, label.toLowerCase()] as const),
];

export interface Settings {
  theme: "light" | "dark" | "";
  colour: FibreColour;
  thickness: number; // power of ten
  arrow_scale: number; // power of ten
  opacity: number;
  show_fibres: boolean;
  show_contacts: boolean;
  show_forces: boolean;
  show_obstacles: boolean;
  show_surfaces: boolean;
  hide_open: boolean;
  contact_colour: ContactColour;
  show_holds: boolean;
  show_ground: boolean;
  show_axes: boolean;
  show_plots: boolean;
  show_panel: boolean;
}

export const default_settings: Settings = {
  theme: "",
  colour: "hair",
  thickness: 0,
  arrow_scale: 0,
  opacity: 1,
  show_fibres: true,
  show_contacts: true,
  show_forces: false,
  show_obstacles: true,
  show_surfaces: true,
  hide_open: true,
  contact_colour: "force",
  show_holds: true,
  show_ground: true,
  show_axes: true,
  show_plots: true,
  show_panel: true,
};

const key = "tresse-viewer-settings";

/** The defaults, but for what is given in `kept` and is of the right kind. */
export function settings_of(kept: Readonly<Record<string, unknown>>): Settings {
  const out = { ...default_settings } as unknown as Record<string, unknown>;
  for (const [name, value] of Object.entries(default_settings)) {
    if (typeof kept[name] === typeof value) out[name] = kept[name];
  }
  const settings = out as unknown as Settings;
  if (!fibre_colours.some(([name]) => name === settings.colour)) settings.colour = default_settings.colour;
  return settings;
}

export function load_settings(): Settings {
  try {
    return settings_of(JSON.parse(localStorage.getItem(key) ?? "{}") as Record<string, unknown>);
  } catch {
    return { ...default_settings };
  }
}

export function keep_settings(settings: Settings): void {
  try {
    localStorage.setItem(key, JSON.stringify(settings));
  } catch {
    // A private window keeps nothing.
  }
}
