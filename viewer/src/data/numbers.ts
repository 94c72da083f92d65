/** Numbers for people: ranges, ticks, units. */

export interface Range {
  readonly low: number;
  readonly high: number;
}

/** The values below which the fractions `low` and `high` of all finite ones lie, from a sample of some thousands. */
export function quantiles(values: ArrayLike<number>, low: number, high: number): Range | null {
  const stride = Math.max(1, Math.floor(values.length / 8192));
  const sample: number[] = [];
  for (let i = 0; i < values.length; i += stride) {
    if (Number.isFinite(values[i])) sample.push(values[i]!);
  }
  if (sample.length === 0) return null;
  sample.sort((a, b) => a - b);
  const at = (fraction: number): number => sample[Math.round(fraction * (sample.length - 1))]!;
  return { low: at(low), high: at(high) };
}

export function union(a: Range | null, b: Range | null): Range | null {
  if (!a || !b) return a ?? b;
  return { low: Math.min(a.low, b.low), high: Math.max(a.high, b.high) };
}

/** At most `most` indices below `count`, evenly from the first to the last. */
export function spread(count: number, most: number): number[] {
  const pieces = Math.min(count, most) - 1;
  return pieces < 1 ? [0].slice(0, count) : Array.from({ length: pieces + 1 }, (_, i) => Math.round((i * (count - 1)) / pieces));
}

/** 1, 2 or 5 times a power of ten, not below `value`. */
export function round_up(value: number): number {
  if (!(value > 0) || !Number.isFinite(value)) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  for (const digit of [1, 2, 5]) {
    if (digit * power >= value * (1 - 1e-9)) return digit * power;
  }
  return 10 * power;
}

/** 1, 2 or 5 times a power of ten, not above `value`. */
export function round_down(value: number): number {
  if (!(value > 0) || !Number.isFinite(value)) return 1;
  const power = 10 ** Math.floor(Math.log10(value) + 1e-9);
  return ([5, 2].find((digit) => digit * power <= value * (1 + 1e-9)) ?? 1) * power;
}

/** Some `count` round numbers between `low` and `high`. */
export function ticks(low: number, high: number, count: number): number[] {
  if (!(high > low)) return [low];
  const step = round_up((high - low) / count);
  const out: number[] = [];
  for (let i = Math.ceil(low / step - 1e-9); i * step <= high + 1e-9 * (high - low); ++i) out.push(i * step + 0); // no -0
  return out;
}

const prefixes: readonly (readonly [number, string])[] = [
  [1e9, "G"],
  [1e6, "M"],
  [1e3, "k"],
  [1, ""],
  [1e-3, "m"],
  [1e-6, "µ"],
  [1e-9, "n"],
];

/** Factor and name of the unit in which numbers up to `size` read well. Compound units take powers of ten instead. */
export function scaled_unit(size: number, unit: string): { factor: number; name: string } {
  if (!(size > 0) || !Number.isFinite(size)) return { factor: 1, name: unit };
  if (/^(m|N|J|s|m\/s|N m)$/.test(unit)) {
    const found = prefixes.find(([scale]) => size >= scale * 0.9995 && !(unit === "s" && scale > 1));
    const [scale, prefix] = found ?? prefixes[prefixes.length - 1]!;
    return { factor: 1 / scale, name: prefix + unit };
  }
  const power = Math.floor(Math.log10(size) + 1e-9);
  if (power > -3 && power < 5) return { factor: 1, name: unit };
  return { factor: 10 ** -power, name: `10${superscript(power)} ${unit}` };
}

function superscript(value: number): string {
  return [...String(value)].map((c) => (c === "-" ? "⁻" : "⁰¹²³⁴⁵⁶⁷⁸⁹"[Number(c)])).join("");
}

/** A value of a plot whose largest is `largest`: what is so much smaller is rounding, and reads 0. */
export function without_rounding(value: number, largest: number): number {
  return Math.abs(value) < 1e-9 * largest ? 0 : value;
}

/** At most `digits` significant digits, without trailing zeros. */
export function short(value: number, digits = 4): string {
  if (!Number.isFinite(value)) return String(value);
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size >= 1e6 || size < 1e-4) return value.toExponential(digits - 1).replace(/\.?0+e/, "e");
  return String(Number(value.toPrecision(digits))).replace("-", "−");
}

/** A number with its unit: "3.2 mN". */
export function with_unit(value: number, unit: string, digits = 4): string {
  const { factor, name } = scaled_unit(Math.abs(value), unit);
  return `${short(value * factor, digits)} ${name}`.trim();
}
