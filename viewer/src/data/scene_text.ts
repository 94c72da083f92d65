/** The little that the page reads of a resolved scene: it is only text to show, so a miss does no harm. */

export function title_of(scene: string): string {
  const match = /^title\s*=\s*"((?:[^"\\]|\\.)*)"/m.exec(scene);
  return match ? match[1]!.replace(/\\(.)/g, "$1") : "";
}

/** What points up: against gravity where there is any along an axis, else what suits the fibres (sizes along x, y, z). */
export function up_axis(scene: string, sizes: readonly number[]): "y" | "z" {
  const match = /^gravity\s*=\s*(.+)$/m.exec(scene);
  const value = match?.[1]?.trim() ?? "";
  if (value.startsWith("[")) {
    const parts = value.replace(/[[\]]/g, "").split(",").map(Number);
    if (Math.abs(parts[1] ?? 0) > Math.abs(parts[2] ?? 0)) return "y";
    if (Math.abs(parts[2] ?? 0) > 0) return "z";
  } else if (Number(value.split(/[ #]/)[0]) > 0) {
    return "z";
  }
  return sizes[2]! < 0.1 * Math.max(sizes[0]!, sizes[1]!) ? "y" : "z";
}
