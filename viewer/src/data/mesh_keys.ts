/** Where a time falls among the key frames of a mesh. */

import type { Mesh } from "./protocol";

export interface KeyPlace {
  readonly before: number;
  readonly after: number;
  readonly weight: number; // of after
}

/** At rest before the first key and after the last. */
export function place_among_keys(mesh: Mesh, time: number): KeyPlace {
  const last = mesh.keys - 1;
  const place = Math.min(Math.max(time * mesh.rate, 0), last) || 0;
  const before = Math.floor(place);
  return { before, after: Math.ceil(place), weight: place - before };
}
