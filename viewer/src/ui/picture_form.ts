/** The form that asks how large a picture shall be. */

import type { Size } from "./arrangement";
import { choice, element, input, set_options } from "./page";

const sizes = [
  [1920, 1080],
  [3840, 2160],
  [2000, 2000],
  [1600, 1200],
] as const;

/** `seen`: size of the picture on the page. `save` is called with what was asked for. */
export function connect_picture_form(button: HTMLElement, seen: () => Size, save: (size: Size, words: boolean) => void): void {
  const dialog = element<HTMLDialogElement>("picture");
  const fill = (width: number, height: number): void => {
    input("picture-width").value = String(width);
    input("picture-height").value = String(height);
  };
  button.addEventListener("click", () => {
    const { width, height } = seen();
    set_options(choice("picture-size"), [
      [`${width}x${height}`, `as it is seen, ${width} × ${height}`],
      ...sizes.map(([w, h]) => [`${w}x${h}`, `${w} × ${h}`] as const),
      ["", "other"],
    ]);
    choice("picture-size").selectedIndex = 0;
    fill(width, height);
    dialog.showModal();
  });
  choice("picture-size").addEventListener("change", () => {
    const [width, height] = choice("picture-size").value.split("x").map(Number);
    if (width && height) fill(width, height);
  });
  for (const id of ["picture-width", "picture-height"]) {
    input(id).addEventListener("input", () => (choice("picture-size").value = ""));
  }
  element("picture-cancel").addEventListener("click", () => dialog.close());
  element("picture-form").addEventListener("submit", () => {
    save({ width: Number(input("picture-width").value), height: Number(input("picture-height").value) }, input("picture-words").checked);
  });
}
