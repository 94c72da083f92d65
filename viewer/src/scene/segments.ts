/** Which points the pieces of a drawn fibre join. */

import type { Layout } from "../data/protocol";

/**
 * (pieces, 4): from point, to point, the point before, the point after; at an end of a fibre these repeat. `stride` 1
 * draws every point, 2 every other, and so on; the last point of a fibre is always among them.
 */
export function pieces_of(layout: Layout, stride: number): Int32Array {
  const out: number[] = [];
  for (let fibre = 0; fibre < layout.fibre_count; ++fibre) {
    const begin = layout.point_offsets[fibre]!;
    const last = layout.point_offsets[fibre + 1]! - 1;
    for (let i = begin; i < last; i += stride) {
      const to = Math.min(i + stride, last);
      out.push(i, to, Math.max(i - stride, begin), Math.min(to + stride, last));
    }
  }
  return Int32Array.from(out);
}

/** How finely a piece is drawn, by the number of all: strips along it and across it. */
export function fineness(pieces: number): { along: number; across: number } {
  if (pieces <= 1500) return { along: 8, across: 10 };
  if (pieces <= 6000) return { along: 4, across: 6 };
  if (pieces <= 30000) return { along: 2, across: 4 };
  return { along: 1, across: 1 };
}
