/** Colour maps whose lightness rises evenly, and colours to tell things apart. */

export type Rgb = readonly [number, number, number]; // sRGB, 0 to 1

const hex = (text: string): Rgb => [0, 2, 4].map((i) => parseInt(text.slice(i, i + 2), 16) / 255) as unknown as Rgb;
const list = (text: string): Rgb[] => text.split(" ").map(hex);

const maps = {
  // Viridis and plasma (matplotlib, public domain), without the darkest tenth, which a dark ground would swallow.
  viridis: list("482878 3e4989 31688e 26828e 1f9e89 35b779 6ece58 b5de2b fde725"),
  plasma: list("46039f 7201a8 9c179e bd3786 d8576b ed7953 fb9f3a fdca26 f0f921"),
  // Blue below zero, red above, grey between.
  diverging: list("1f4fa3 3b75bd 6d9fd0 a3c1da bfbfbf e3b09a dc8463 c5533f 9c1f2e"),
} as const;

export type MapName = keyof typeof maps;

/** Colour at `t` in [0, 1]. */
export function map_colour(name: MapName, t: number): Rgb {
  const anchors = maps[name];
  const x = Math.min(Math.max(Number.isFinite(t) ? t : 0, 0), 1) * (anchors.length - 1);
  const i = Math.min(Math.floor(x), anchors.length - 2);
  const mix = x - i;
  return [0, 1, 2].map((c) => anchors[i]![c]! * (1 - mix) + anchors[i + 1]![c]! * mix) as unknown as Rgb;
}

/** Okabe and Ito's colours, which people with any colour vision tell apart. */
const told_apart = list("0072b2 e69f00 009e73 cc79a7 56b4e9 d55e00 f0e442 999999");

export const group_colour = (index: number): Rgb => told_apart[index % told_apart.length]!;

/** Of obstacles: told apart from hair, which is brown, and from each other. */
const obstacle_colours = list("7f9cc0 2f9488 9a6fd6 7fae4e cf6f9b 4f62c4 59616b 37b6d6");

export const obstacle_colour = (index: number): Rgb => obstacle_colours[index % obstacle_colours.length]!;

/** Of surfaces such as cloth: light, as undyed fabric is. */
const surface_colours = list("c9a58b 8fb2a3 b7a3c4 c4b77a");

export const surface_colour = (index: number): Rgb => surface_colours[index % surface_colours.length]!;

export const hair_colours: readonly Rgb[] = [
  [0.66, 0.45, 0.27],
  [0.72, 0.51, 0.31],
  [0.58, 0.38, 0.22],
  [0.79, 0.58, 0.37],
];

/** Neighbours differ: hues go round by the golden ratio at one lightness (OKLCH). */
export function index_colour(index: number): Rgb {
  const hue = 2 * Math.PI * ((index * 0.618034) % 1);
  const [lightness, chroma] = [0.74, 0.12];
  const [a, b] = [chroma * Math.cos(hue), chroma * Math.sin(hue)];
  const l = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3;
  const m = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3;
  const s = (lightness - 0.0894841775 * a - 1.291485548 * b) ** 3;
  return [
    4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s,
    -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
    -0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s,
  ].map((x) => {
    const clamped = Math.min(Math.max(x, 0), 1);
    return clamped <= 0.0031308 ? 12.92 * clamped : 1.055 * clamped ** (1 / 2.4) - 0.055;
  }) as unknown as Rgb;
}

export const state_colours: readonly Rgb[] = [hex("8a8f98"), hex("2f86c8"), hex("e8820c")];

export const css = (colour: Rgb): string => `rgb(${colour.map((x) => Math.round(255 * x)).join(" ")})`;

/** 256 colours as RGBA bytes. */
export function map_bytes(name: MapName): Uint8Array {
  const out = new Uint8Array(4 * 256);
  for (let i = 0; i < 256; ++i) {
    const colour = map_colour(name, i / 255);
    for (let c = 0; c < 3; ++c) out[4 * i + c] = Math.round(255 * colour[c]!);
    out[4 * i + 3] = 255;
  }
  return out;
}
