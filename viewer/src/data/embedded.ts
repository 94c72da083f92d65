/** A run that stands in the page itself, as `tresse export --format html` writes it: no server is asked. */

const parts = new Map<string, string>();
if (typeof document !== "undefined") {
  for (const one of document.querySelectorAll("script[data-part]")) parts.set(one.getAttribute("data-part")!, one.textContent!);
}

export const is_embedded = parts.size > 0;

/** "/api/frame?generation=1&index=3" is the part "frame/3"; the generation is the first and only one. */
export function part_name(path: string): string {
  const [name, query] = path.replace("/api/", "").split("?");
  const wanted = new URLSearchParams(query);
  const rest = ["index", "name", "mesh", "key"].map((key) => wanted.get(key)).filter((value) => value !== null);
  return [name, ...rest].join("/");
}

async function unzipped(text: string): Promise<Uint8Array> {
  if (typeof DecompressionStream === "undefined") throw new Error("This browser is too old to unpack the page: it knows no DecompressionStream.");
  const bytes = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/** Of 4-byte numbers all first bytes came first, then all second ones, and so on. */
export function unshuffled(bytes: Uint8Array): ArrayBuffer {
  const out = new Uint8Array(bytes.length);
  const count = bytes.length / 4;
  for (let byte = 0, at = 0; byte < 4; ++byte) for (let i = 0; i < count; ++i) out[4 * i + byte] = bytes[at++]!;
  return out.buffer;
}

/** Puts a frame's points back where they are second differences of multiples of the spacing in the header. */
export function unpack_points(frame: ArrayBuffer): ArrayBuffer {
  const spacing = new Float32Array(frame, 28, 1);
  if (spacing[0] === 0) return frame;
  const points = new Uint32Array(frame, 16, 1)[0]!;
  const packed = new Int32Array(frame, 32, 3 * points).slice();
  const out = new Float32Array(frame, 32, 3 * points);
  for (let axis = 0, at = 0; axis < 3; ++axis) {
    for (let i = 0, place = 0, slope = 0; i < points; ++i) {
      slope = (slope + packed[at++]!) | 0;
      place = (place + slope) | 0;
      out[3 * i + axis] = place * spacing[0]!;
    }
  }
  spacing[0] = 0;
  return frame;
}

/** @throws Error when the page has no such part. */
async function part(path: string): Promise<Uint8Array> {
  const text = parts.get(part_name(path));
  if (text === undefined) throw new Error(`The page has no ${part_name(path)}.`);
  return unzipped(text);
}

export const embedded_json = async <T>(path: string): Promise<T> => JSON.parse(new TextDecoder().decode(await part(path))) as T;

export async function embedded_bytes(path: string): Promise<ArrayBuffer> {
  const bytes = unshuffled(await part(path));
  return path.includes("/frame?") ? unpack_points(bytes) : bytes;
}
