/** Held points and what they carry: a ring, the load of the fibre on it as an arrow, and its size. */

import * as THREE from "three";
import { with_unit } from "../data/numbers";
import { arrow_marks, type Mark } from "./marks";

export interface HoldLook {
  /** Pixels from the upper left; null behind the eye. */
  readonly project: (point: THREE.Vector3) => [number, number] | null;
  readonly scale: number; // world length of a newton
  readonly colour: string;
}

const most_numbers = 12; // more would cover the fibres
const radius = 5; // pixels

/** `loads`: (places, 3), not a number where none is known; zeros once it has let go. */
export function hold_marks(places: readonly (THREE.Vector3 | null)[], loads: Float32Array | null, look: HoldLook): Mark[] {
  const out: Mark[] = [];
  places.forEach((place, i) => {
    const seen = place && look.project(place);
    if (!seen) return;
    const load = new THREE.Vector3().fromArray(loads ?? [], 3 * i);
    const size = load.length();
    const ring = Array.from({ length: 17 }, (_, k) => [seen[0] + radius * Math.cos((k * Math.PI) / 8), seen[1] + radius * Math.sin((k * Math.PI) / 8)] as const);
    out.push({ kind: "line", points: ring, colour: look.colour, width: 2 });
    if (!(size > 0)) return;
    const end = look.project(place.clone().addScaledVector(load, look.scale));
    if (end) out.push(...arrow_marks(seen, end, look.colour, 2.5));
    if (places.length > most_numbers) return;
    // Beside the end of the arrow, away from the ring.
    const tip = end ?? seen;
    const [dx, dy] = [tip[0] - seen[0], tip[1] - seen[1]];
    const length = Math.hypot(dx, dy);
    const [ux, uy] = length > 1 ? [dx / length, dy / length] : [0, -1];
    out.push({ kind: "text", at: [tip[0] + 32 * ux, tip[1] + 14 * uy], text: with_unit(size, "N", 3), colour: look.colour, bold: true });
  });
  return out;
}
