/** Where x, y and z point, and how long something is: small, in the lower right corner. */

import * as THREE from "three";
import { round_down, with_unit } from "../data/numbers";
import { arrow_marks, type Mark } from "./marks";

const axis_colours = { light: ["#c62828", "#2e7d32", "#1f5fbf"], dark: ["#ff7b72", "#5fcf7f", "#79b8ff"] } as const;
const arm = 26; // pixels
const margin = 44; // pixels, of the axes' origin from the corner
const most_bar = 120; // pixels

/** The axes as an eye sees them that is turned as `eye`; those that point towards it last. */
export function axis_marks(eye: THREE.Quaternion, origin: readonly [number, number], dark: boolean): Mark[] {
  const back = eye.clone().invert();
  const axes = [0, 1, 2].map((i) => ({ i, seen: new THREE.Vector3().setComponent(i, 1).applyQuaternion(back) }));
  axes.sort((a, b) => a.seen.z - b.seen.z);
  return axes.flatMap(({ i, seen }) => {
    const colour = axis_colours[dark ? "dark" : "light"][i]!;
    const along = (length: number): [number, number] => [origin[0] + length * seen.x, origin[1] - length * seen.y];
    // Of an axis that points at the eye the letter stands beside its end.
    const shift = 9 / Math.max(Math.hypot(seen.x, seen.y), 0.5);
    return [...arrow_marks(origin, along(arm), colour, 2), { kind: "text", at: along(arm + shift), text: "xyz"[i]!, colour, bold: true } as const];
  });
}

/** A round length of at most `most_bar` pixels; `pixel`: world length of one [m]. */
export function scale_of(pixel: number): { length: number; pixels: number; text: string } {
  const length = round_down(most_bar * pixel);
  return { length, pixels: length / pixel, text: with_unit(length, "m", 2) };
}

export interface CompassLook {
  readonly pixel: number; // its world length where the eye looks at [m]
  readonly right: number; // edge [pixels]
  readonly bottom: number; // edge [pixels]
  readonly ink: string;
  readonly dark: boolean;
}

/** Columns that both may take from the right edge. [pixels] */
export const compass_width = 2 * margin + most_bar + 4;

/** The axes, turned as `eye` sees them, and left of them the scale. */
export function compass_marks(eye: THREE.Quaternion, { pixel, right: edge, bottom, ink, dark }: CompassLook): Mark[] {
  const origin = [edge - margin - 4, bottom - margin] as const;
  const scale = scale_of(pixel);
  const right = origin[0] - margin;
  const [left, y] = [right - scale.pixels, bottom - 16];
  return [
    ...axis_marks(eye, origin, dark),
    { kind: "line", points: [[left, y - 5], [left, y], [right, y], [right, y - 5]], colour: ink, width: 1.5 },
    { kind: "text", at: [(left + right) / 2, y - 11], text: scale.text, colour: ink },
  ];
}
