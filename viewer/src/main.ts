/** Connects buttons, sliders and keys to the viewer. */

import "./style.css";
import { keep_settings, fibre_colours, type FibreColour, type Settings } from "./settings";
import { fetch_runs } from "./data/api";
import { short } from "./data/numbers";
import type { ContactColour } from "./scene/contacts";
import type { ViewName } from "./scene/stage";
import { fill_help } from "./ui/help";
import { connect_picture_form } from "./ui/picture_form";
import { choice, element, input, make, set_options, set_pressed } from "./ui/page";
import { Viewer } from "./viewer";

const help = element<HTMLDialogElement>("help");
const views: readonly ViewName[] = ["-x", "+x", "-y", "+y", "-z", "+z"];

type Flag = { [K in keyof Settings]: Settings[K] extends boolean ? K : never }[keyof Settings];

function refuse(reason: string): void {
  element("message").hidden = false;
  element("message").textContent = reason;
}

async function start(): Promise<void> {
  let names: readonly string[];
  try {
    names = await fetch_runs();
  } catch (error) {
    return refuse(error instanceof Error ? error.message : String(error));
  }
  let viewer: Viewer;
  try {
    viewer = new Viewer(names);
  } catch {
    return refuse("This browser gives no WebGL 2, which the view needs.");
  }
  connect_panel(viewer);
  connect_timeline(viewer);
  connect_bar(viewer);
  connect_pointer(viewer);
  connect_keys(viewer);
  fill_help(help);
}

const boxes: readonly (readonly [string, Flag])[] = [
  ["show-fibres", "show_fibres"],
  ["show-contacts", "show_contacts"],
  ["show-forces", "show_forces"],
  ["show-obstacles", "show_obstacles"],
  ["show-surfaces", "show_surfaces"],
  ["hide-open", "hide_open"],
  ["show-holds", "show_holds"],
  ["show-ground", "show_ground"],
  ["show-axes", "show_axes"],
];

function flip(name: Flag): void {
  const box = input(boxes.find(([, flag]) => flag === name)![0]);
  box.checked = !box.checked;
  box.dispatchEvent(new Event("change"));
}

function connect_panel(viewer: Viewer): void {
  const { settings } = viewer;
  for (const [id, name] of boxes) {
    input(id).checked = settings[name];
    input(id).addEventListener("change", () => {
      settings[name] = input(id).checked;
      if (name === "hide_open") viewer.refresh_contacts();
      else viewer.apply();
    });
  }
  const slider = (id: string, name: "thickness" | "arrow_scale" | "opacity", text: (value: number) => string): void => {
    const show = (): void => {
      element(`${id.replace("arrow-scale", "arrow")}-value`).textContent = text(settings[name]);
    };
    input(id).value = String(settings[name]);
    show();
    input(id).addEventListener("input", () => {
      settings[name] = Number(input(id).value);
      show();
      viewer.apply();
    });
  };
  const power = (value: number): string => `${short(10 ** value, 2)}×`;
  slider("thickness", "thickness", power);
  slider("arrow-scale", "arrow_scale", power);
  slider("opacity", "opacity", (value) => `${Math.round(100 * value)} %`);

  set_options(choice("colour"), fibre_colours);
  choice("colour").value = settings.colour;
  choice("colour").addEventListener("change", () => {
    settings.colour = choice("colour").value as FibreColour;
    viewer.recolour();
  });
  choice("contact-colour").value = settings.contact_colour;
  choice("contact-colour").addEventListener("change", () => {
    settings.contact_colour = choice("contact-colour").value as ContactColour;
    viewer.apply();
  });
  for (const id of ["range-low", "range-high"]) {
    input(id).addEventListener("change", () => viewer.set_range(Number(input("range-low").value), Number(input("range-high").value)));
  }
  element("range-auto").addEventListener("click", () => viewer.free_range());
  choice("up").addEventListener("change", () => {
    viewer.set_up(choice("up").value as "y" | "z");
  });
  const button = (text: string, title: string, action: () => void): HTMLButtonElement => {
    const out = make("button", { type: "button", textContent: text, title });
    out.addEventListener("click", action);
    return out;
  };
  element("directions").append(
    button("Fit", "What is seen now into the view (f)", () => viewer.fit()),
    ...views.map((name) => button(name.replace("-", "−"), `From ${name.replace("-", "−")}`, () => viewer.look_from(name))),
  );
  element("inspector-clear").addEventListener("click", () => viewer.select(-1));
}

function connect_timeline(viewer: Viewer): void {
  input("scrub").addEventListener("input", () => viewer.seek_index(Number(input("scrub").value)));
  element("play").addEventListener("click", () => viewer.toggle_play());
  element("first").addEventListener("click", () => viewer.seek_index(0));
  element("last").addEventListener("click", () => viewer.seek_index(viewer.player.last));
  element("back").addEventListener("click", () => viewer.step(-1));
  element("forward").addEventListener("click", () => viewer.step(1));
  element("follow").addEventListener("click", () => viewer.toggle_follow());
  choice("speed").addEventListener("change", () => viewer.set_speed(Number(choice("speed").value)));
}

type Part = "plots" | "panel";
const narrow = matchMedia("(max-width: 640px)");
/** A narrow window has room for one of the parts beside the view, and begins with none. */
let narrow_part: Part | "" = "";

const is_shown = (viewer: Viewer, id: Part): boolean =>
  narrow.matches ? narrow_part === id : viewer.settings[id === "plots" ? "show_plots" : "show_panel"];

function toggle_part(viewer: Viewer, id: Part): void {
  const shown = !is_shown(viewer, id);
  if (narrow.matches) narrow_part = shown ? id : "";
  else viewer.settings[id === "plots" ? "show_plots" : "show_panel"] = shown;
  show_parts(viewer);
}

function show_parts(viewer: Viewer): void {
  for (const id of ["plots", "panel"] as const) {
    element(id).hidden = !is_shown(viewer, id);
    set_pressed(element(`toggle-${id}`), is_shown(viewer, id));
  }
  document.body.dataset["beside"] = narrow.matches ? narrow_part : "";
  keep_settings(viewer.settings);
}

function toggle_theme(viewer: Viewer): void {
  viewer.settings.theme = document.documentElement.dataset["theme"] === "dark" ? "light" : "dark";
  keep_settings(viewer.settings);
  viewer.apply_theme();
}

function connect_bar(viewer: Viewer): void {
  connect_picture_form(element("screenshot"), () => viewer.seen_size, (size, words) => viewer.save_picture(size, words));
  element("record").addEventListener("click", () => viewer.toggle_record());
  element("toggle-plots").addEventListener("click", () => toggle_part(viewer, "plots"));
  element("toggle-panel").addEventListener("click", () => toggle_part(viewer, "panel"));
  element("theme").addEventListener("click", () => toggle_theme(viewer));
  element("help-button").addEventListener("click", () => help.showModal());
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => viewer.apply_theme());
  narrow.addEventListener("change", () => show_parts(viewer));
  show_parts(viewer);
}

/** A click that was no drag picks. */
function connect_pointer(viewer: Viewer): void {
  for (const view of viewer.views) {
    const { canvas } = view.stage;
    let down = { x: 0, y: 0 };
    canvas.addEventListener("pointerdown", (event) => {
      down = { x: event.clientX, y: event.clientY };
    });
    canvas.addEventListener("pointerup", (event) => {
      if (event.button !== 0 || Math.hypot(event.clientX - down.x, event.clientY - down.y) > 4) return;
      const box = canvas.getBoundingClientRect();
      viewer.pick(view, event.clientX - box.left, event.clientY - box.top);
    });
  }
}

function next_colour(viewer: Viewer): void {
  const at = fibre_colours.findIndex(([name]) => name === viewer.settings.colour);
  choice("colour").value = fibre_colours[(at + 1) % fibre_colours.length]![0];
  choice("colour").dispatchEvent(new Event("change"));
}

function change_arrows(by: number): void {
  input("arrow-scale").value = String(Number(input("arrow-scale").value) + by);
  input("arrow-scale").dispatchEvent(new Event("input"));
}

function connect_keys(viewer: Viewer): void {
  const actions: Record<string, (event: KeyboardEvent) => void> = {
    " ": () => viewer.toggle_play(),
    ArrowLeft: (event) => viewer.step(event.shiftKey ? -10 : -1),
    ArrowRight: (event) => viewer.step(event.shiftKey ? 10 : 1),
    Home: () => viewer.seek_index(0),
    End: () => viewer.seek_index(viewer.player.last),
    "-": () => viewer.change_speed(-1),
    "+": () => viewer.change_speed(1),
    "=": () => viewer.change_speed(1),
    l: () => viewer.toggle_follow(),
    f: () => viewer.fit(),
    c: () => next_colour(viewer),
    k: () => flip("show_contacts"),
    a: () => flip("show_forces"),
    o: () => flip("show_obstacles"),
    h: () => flip("show_holds"),
    g: () => flip("show_ground"),
    x: () => {
      choice("contact-colour").value = viewer.settings.contact_colour === "force" ? "state" : "force";
      choice("contact-colour").dispatchEvent(new Event("change"));
    },
    "[": () => change_arrows(-0.1),
    "]": () => change_arrows(0.1),
    p: () => toggle_part(viewer, "plots"),
    b: () => toggle_part(viewer, "panel"),
    t: () => toggle_theme(viewer),
    s: () => viewer.save_picture(),
    v: () => viewer.toggle_record(),
    i: () => viewer.views.forEach((view) => view.toggle_performance()),
    Escape: () => viewer.select(-1),
    "?": () => help.showModal(),
  };
  views.forEach((name, i) => {
    actions[String(i + 1)] = () => viewer.look_from(name);
  });
  document.addEventListener("keydown", (event) => {
    const target = event.target as HTMLElement;
    if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
    if (target.matches("input[type=text], select")) return;
    // Space presses a focused button and arrows move a focused slider, as everywhere.
    if (event.key === " " && target.matches("button, input[type=checkbox]")) return;
    if (/^(Arrow|Home|End)/.test(event.key) && target.matches("input[type=range]") && target.id !== "scrub") return;
    const action = actions[event.key.length === 1 ? event.key.toLowerCase() : event.key];
    if (!action) return;
    event.preventDefault();
    action(event);
  });
}

// Another link in the same window is opened anew.
addEventListener("hashchange", () => location.reload());
void start();
