/** Which fibre is under the pointer. */

import type { Layout } from "../data/protocol";

export interface Pick {
  readonly fibre: number;
  readonly point: number; // the nearest centreline point
}

/**
 * `matrix`: world to clip coordinates, 16 numbers by columns. Among the fibres whose centreline passes within
 * `tolerance` pixels of (x, y), in pixels from the upper left, the nearest to the eye; else null.
 */
export function pick_fibre(
  layout: Layout,
  points: Float32Array,
  matrix: readonly number[],
  view: { width: number; height: number },
  at: { x: number; y: number },
  tolerance: number,
): Pick | null {
  let best: Pick | null = null;
  let best_score = Infinity;
  const m = matrix;
  for (let fibre = 0; fibre < layout.fibre_count; ++fibre) {
    const end = layout.point_offsets[fibre + 1]!;
    let last_x = 0;
    let last_y = 0;
    let last_depth = -1;
    for (let i = layout.point_offsets[fibre]!; i < end; ++i) {
      const [px, py, pz] = [points[3 * i]!, points[3 * i + 1]!, points[3 * i + 2]!];
      const depth = m[3]! * px + m[7]! * py + m[11]! * pz + m[15]!;
      const x = (((m[0]! * px + m[4]! * py + m[8]! * pz + m[12]!) / depth + 1) / 2) * view.width;
      const y = ((1 - (m[1]! * px + m[5]! * py + m[9]! * pz + m[13]!) / depth) / 2) * view.height;
      if (depth > 0 && last_depth > 0) {
        const [dx, dy] = [x - last_x, y - last_y];
        const squared = dx * dx + dy * dy;
        const t = squared > 0 ? Math.min(Math.max(((at.x - last_x) * dx + (at.y - last_y) * dy) / squared, 0), 1) : 0;
        const distance = Math.hypot(last_x + t * dx - at.x, last_y + t * dy - at.y);
        // A pixel off weighs as much as a thousandth of the depth.
        const score = (last_depth + t * (depth - last_depth)) * (1 + 1e-3 * distance);
        if (distance <= tolerance && score < best_score) {
          best_score = score;
          best = { fibre, point: t < 0.5 ? i - 1 : i };
        }
      }
      [last_x, last_y, last_depth] = [x, y, depth];
    }
  }
  return best;
}
