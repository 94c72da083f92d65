/** What colours and arrows mean, in all views alike: of every value that was seen so far. */

import { quantiles, round_up, union, type Range } from "../data/numbers";
import { quantities, type Quantity } from "../data/protocol";

export class Scales {
  /** Limits of the fibres' colours that were chosen by hand. */
  fixed_range: Range | null = null;
  /** Of all holds. [N] */
  largest_load = 0;
  private seen_range: Range | null = null;
  private seen_quantity: Quantity | null = null;
  private largest_force = 0;

  /** Of the fibres' colours. */
  get range(): Range {
    return this.fixed_range ?? this.seen_range ?? { low: 0, high: 1 };
  }
  get force_limit(): number {
    return this.largest_force > 0 ? this.largest_force : 1;
  }
  /** Differs after any change. */
  get state(): string {
    const { low, high } = this.range;
    return `${low} ${high} ${this.largest_force} ${this.largest_load}`;
  }

  clear(): void {
    this.forget_range();
    this.largest_force = this.largest_load = 0;
  }
  forget_range(): void {
    this.seen_range = this.fixed_range = null;
  }

  see_values(values: Float32Array, quantity: Quantity): void {
    if (this.seen_quantity !== quantity) this.forget_range();
    this.seen_quantity = quantity;
    const found = quantiles(values, 0.01, 0.99);
    if (!found) return;
    if (quantities[quantity].diverging) {
      const size = round_up(Math.max(-found.low, found.high, 1e-30));
      this.seen_range = union(this.seen_range, { low: -size, high: size });
    } else {
      this.seen_range = union(this.seen_range, { low: 0, high: round_up(found.high) });
    }
  }

  /** The scale rises in steps as larger forces come, so that arrows do not pulse. */
  see_forces(forces: ArrayLike<number>): void {
    const high = quantiles(forces, 0, 0.98)?.high ?? 0;
    if (high > this.largest_force) this.largest_force = round_up(high);
  }
}
