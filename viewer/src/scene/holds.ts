/** Where fibres are held. */

import * as THREE from "three";
import type { Layout } from "../data/protocol";

export interface Hold {
  readonly name: string;
  readonly fibre: number;
  readonly at: number | null; // arc length; null: not known [m]
}

/** The held point in a frame with these `points`, between the two of the fibre about it; null where it is not known. */
export function held_place(layout: Layout, points: Float32Array, hold: Hold): THREE.Vector3 | null {
  const begin = layout.point_offsets[hold.fibre];
  const last = layout.point_offsets[hold.fibre + 1]! - 1;
  if (hold.at === null || begin === undefined || !(last >= begin)) return null;
  let i = begin;
  while (i < last - 1 && layout.arc_length[i + 1]! < hold.at) ++i;
  const from = new THREE.Vector3().fromArray(points, 3 * i);
  const to = new THREE.Vector3().fromArray(points, 3 * Math.min(i + 1, last));
  const length = layout.arc_length[Math.min(i + 1, last)]! - layout.arc_length[i]!;
  return from.lerp(to, length > 0 ? Math.min(Math.max((hold.at - layout.arc_length[i]!) / length, 0), 1) : 0);
}
