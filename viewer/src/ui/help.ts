import { make } from "./page";

const keys: readonly (readonly [string, string])[] = [
  ["space", "play, pause"],
  ["← →", "one frame back, on; with shift ten"],
  ["home end", "first, last frame"],
  ["− +", "slower, faster"],
  ["l", "follow the latest frame of a run that goes on"],
  ["f", "fit what is seen now into the view"],
  ["1 2 3 4 5 6", "look along −x, +x, −y, +y, −z, +z"],
  ["c", "next way to colour the fibres"],
  ["k", "contacts on, off"],
  ["a", "arrows of contact forces on, off"],
  ["x", "contacts by force, by stick or slide"],
  ["o", "obstacles on, off"],
  ["h", "held points on, off"],
  ["g", "ground on, off"],
  ["[ ]", "shorter, longer arrows"],
  ["p b", "plots, settings on, off"],
  ["t", "light, dark"],
  ["s v", "save a picture, record a video"],
  ["i", "frame rate and memory"],
  ["esc", "let go of the picked fibre"],
  ["?", "this list"],
];

export function fill_help(dialog: HTMLDialogElement): void {
  const rows = keys.map(([key, text]) => {
    const cell = make("td", {}, ...key.split(" ").flatMap((k) => [make("kbd", { textContent: k }), " "]));
    return make("tr", {}, cell, make("td", { textContent: text }));
  });
  const close = make("button", { type: "button", textContent: "Close", className: "primary" });
  close.addEventListener("click", () => dialog.close());
  dialog.replaceChildren(
    make("h2", { textContent: "Keys" }),
    make("table", {}, make("tbody", {}, ...rows)),
    make("p", { className: "hint", textContent: "Drag turns, right button or shift and drag moves, the wheel zooms. Click a fibre to pick it, a plot to go there." }),
    close,
  );
}
