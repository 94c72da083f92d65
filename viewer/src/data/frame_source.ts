/** Frames and quantities of a run, and key frames of its meshes: fetched when wanted, a few ahead, kept as long as memory allows. */

import type { RunApi } from "./api";
import { ByteCache } from "./cache";
import { place_among_keys } from "./mesh_keys";
import type { Frame, Mesh, Quantity } from "./protocol";

/** A frame together with the quantity that colours it, if any. */
export interface Shown {
  readonly index: number;
  readonly frame: Frame;
  readonly values: Float32Array | null;
  /** Of each mesh, the keys that it is between; null for one whose vertices stand still. */
  readonly shapes: readonly (MeshShape | null)[];
  /** (holds, 3) [N]; null where nothing is held. */
  readonly loads: Float32Array | null;
}

export interface MeshShape {
  readonly before: Float32Array; // (vertices, 3)
  readonly after: Float32Array; // (vertices, 3)
  readonly weight: number; // of after
}

const at_once = 4;
const ahead = 8;

export class FrameSource {
  private readonly cache: ByteCache<Frame | Float32Array>;
  private readonly pending = new Map<string, AbortController>();
  private wanted: string[] = [];
  private generation = 0;
  private meshes: readonly Mesh[] = [];
  /** Whether points are held, whose loads belong to a frame. */
  has_holds = false;

  constructor(
    private readonly api: RunApi,
    byte_limit: number,
    private readonly arrived: () => void,
    private readonly failed: (message: string) => void,
  ) {
    this.cache = new ByteCache(byte_limit);
  }

  get bytes(): number {
    return this.cache.bytes;
  }

  /** Another run, or the same anew. `first`: of each mesh its first key. */
  restart(generation: number, meshes: readonly Mesh[], first: readonly Float32Array[]): void {
    this.generation = generation;
    this.meshes = meshes;
    for (const controller of this.pending.values()) controller.abort();
    this.pending.clear();
    this.cache.clear();
    meshes.forEach((mesh, i) => mesh.keys > 1 && this.cache.set(`mesh/${i}/0`, first[i]!, first[i]!.byteLength));
    this.wanted = [];
  }

  /** The frame and its quantity if both are at hand. */
  peek(index: number, quantity: Quantity | null): Shown | null {
    const frame = this.cache.get(`${index}`) as Frame | undefined;
    if (!frame) return null;
    const values = quantity ? (this.cache.get(`${index}/${quantity}`) as Float32Array | undefined) : null;
    const shapes = this.meshes.map((mesh, i) => (mesh.keys > 1 ? this.shape(mesh, i, frame.time) : null));
    const loads = this.has_holds ? (this.cache.get(`${index}/holds`) as Float32Array | undefined) : null;
    if (values === undefined || loads === undefined || shapes.includes(undefined)) return null;
    return { index, frame, values, loads, shapes: shapes as (MeshShape | null)[] };
  }

  private shape(mesh: Mesh, number: number, time: number): MeshShape | undefined {
    const place = place_among_keys(mesh, time);
    const before = this.cache.get(`mesh/${number}/${place.before}`) as Float32Array | undefined;
    const after = this.cache.get(`mesh/${number}/${place.after}`) as Float32Array | undefined;
    return before && after ? { before, after, weight: place.weight } : undefined;
  }

  /** Everything that a frame needs to be shown. */
  private keys_of(index: number, quantity: Quantity | null, time: number): string[] {
    const out = quantity ? [`${index}`, `${index}/${quantity}`] : [`${index}`];
    if (this.has_holds) out.push(`${index}/holds`);
    this.meshes.forEach((mesh, i) => {
      if (mesh.keys === 1) return;
      const { before, after } = place_among_keys(mesh, time);
      out.push(`mesh/${i}/${before}`, `mesh/${i}/${after}`);
    });
    return out;
  }

  /** Asks for a frame and for those that playing will need next; requests for others are dropped. */
  want(index: number, quantity: Quantity | null, stride: number, times: ArrayLike<number>): void {
    const keys: string[] = [];
    for (let i = 0; i <= (stride === 0 ? 0 : ahead); ++i) {
      const at = index + i * stride;
      if (at < 0 || at >= times.length) break;
      keys.push(...this.keys_of(at, quantity, times[at]!));
    }
    this.wanted = keys;
    for (const [key, controller] of this.pending) {
      if (!keys.includes(key)) {
        controller.abort();
        this.pending.delete(key);
      }
    }
    this.pump();
  }

  private pump(): void {
    for (const key of this.wanted) {
      if (this.pending.size >= at_once) return;
      if (!this.cache.has(key) && !this.pending.has(key)) void this.load(key);
    }
  }

  private fetch(key: string, signal: AbortSignal): Promise<Frame | Float32Array> {
    const [first, second, third] = key.split("/");
    if (first === "mesh") return this.api.vertices(this.generation, Number(second), Number(third), signal);
    if (second === "holds") return this.api.hold_loads(this.generation, Number(first), signal);
    if (second) return this.api.quantity(this.generation, Number(first), second as Quantity, signal);
    return this.api.frame(this.generation, Number(first), signal);
  }

  private async load(key: string): Promise<void> {
    const controller = new AbortController();
    this.pending.set(key, controller);
    try {
      const value = await this.fetch(key, controller.signal);
      if (controller.signal.aborted) return;
      this.cache.set(key, value, value instanceof Float32Array ? value.byteLength : value.points.buffer.byteLength);
      this.pending.delete(key);
      this.arrived();
    } catch (error) {
      if (controller.signal.aborted) return;
      this.pending.delete(key);
      this.wanted = this.wanted.filter((other) => other !== key); // not again until somebody asks anew
      this.failed(error instanceof Error ? error.message : String(error));
    }
    this.pump();
  }
}
