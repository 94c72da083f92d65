/** Pictures of several views on one canvas, beside or below each other as on the page. */

import type { Stage } from "../scene/stage";

export interface Size {
  readonly width: number;
  readonly height: number;
}

/** Whether a view stands below the first. */
export function is_stacked(stages: readonly Stage[]): boolean {
  const tops = stages.map(({ canvas }) => canvas.getBoundingClientRect().top);
  return tops.some((top) => top > tops[0]!);
}

export function size_of(stages: readonly Stage[]): Size {
  const widths = stages.map(({ canvas }) => canvas.width);
  const heights = stages.map(({ canvas }) => canvas.height);
  const sum = (all: number[]): number => all.reduce((a, b) => a + b, 0);
  return is_stacked(stages) ? { width: Math.max(...widths), height: sum(heights) } : { width: sum(widths), height: Math.max(...heights) };
}

/** Of a picture of this size, what each of `count` views gets, and where. */
export function parts_of({ width, height }: Size, count: number, stacked: boolean): { size: Size; corner: [number, number] }[] {
  const size = stacked ? { width, height: Math.floor(height / count) } : { width: Math.floor(width / count), height };
  return Array.from({ length: count }, (_, i) => ({ size, corner: stacked ? [0, i * size.height] : [i * size.width, 0] }));
}
