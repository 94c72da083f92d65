/** Frames and quantities of a run, fetched when wanted, a few ahead, kept as long as memory allows. */

import { fetch_frame, fetch_quantity } from "./api";
import { ByteCache } from "./cache";
import type { Frame, Quantity } from "./protocol";

/** A frame together with the quantity that colours it, if any. */
export interface Shown {
  readonly index: number;
  readonly frame: Frame;
  readonly values: Float32Array | null;
}

const at_once = 4;
const ahead = 8;

export class FrameSource {
  private readonly cache: ByteCache<Frame | Float32Array>;
  private readonly pending = new Map<string, AbortController>();
  private wanted: string[] = [];
  private generation = 0;

  constructor(
    byte_limit: number,
    private readonly arrived: () => void,
    private readonly failed: (message: string) => void,
  ) {
    this.cache = new ByteCache(byte_limit);
  }

  get bytes(): number {
    return this.cache.bytes;
  }

  /** Another run, or the same anew. */
  restart(generation: number): void {
    this.generation = generation;
    for (const controller of this.pending.values()) controller.abort();
    this.pending.clear();
    this.cache.clear();
    this.wanted = [];
  }

  /** The frame and its quantity if both are at hand. */
  peek(index: number, quantity: Quantity | null): Shown | null {
    const frame = this.cache.get(`${index}`) as Frame | undefined;
    if (!frame) return null;
    if (!quantity) return { index, frame, values: null };
    const values = this.cache.get(`${index}/${quantity}`) as Float32Array | undefined;
    return values ? { index, frame, values } : null;
  }

  /** Asks for a frame and for those that playing will need next; requests for others are dropped. */
  want(index: number, quantity: Quantity | null, stride: number, count: number): void {
    const keys: string[] = [];
    for (let i = 0; i <= (stride === 0 ? 0 : ahead); ++i) {
      const at = index + i * stride;
      if (at < 0 || at >= count) break;
      keys.push(`${at}`);
      if (quantity) keys.push(`${at}/${quantity}`);
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

  private async load(key: string): Promise<void> {
    const controller = new AbortController();
    this.pending.set(key, controller);
    const [index, quantity] = key.split("/");
    try {
      const value = quantity
        ? await fetch_quantity(this.generation, Number(index), quantity as Quantity, controller.signal)
        : await fetch_frame(this.generation, Number(index), controller.signal);
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
