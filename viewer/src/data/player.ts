/** The play head: which frame stands at which time. Knows neither the page nor the server. */

export class Player {
  times = new Float64Array(0);
  playing = false;
  follow = false; // jump to the latest frame as it comes
  speed = 1; // seconds of the run a second
  private head = 0; // [s]

  get count(): number {
    return this.times.length;
  }
  get time(): number {
    return this.head;
  }
  get last(): number {
    return Math.max(0, this.count - 1);
  }

  /** Index of the frame at the head: the latest that is not later. */
  get index(): number {
    return frame_at(this.times, this.head);
  }

  set_times(times: Float64Array): void {
    this.times = times;
    if (times.length === 0) this.head = 0;
    if (this.follow) this.seek_index(this.last);
  }
  seek_index(index: number): void {
    this.head = this.times[Math.min(Math.max(0, Math.round(index)), this.last)] ?? 0;
  }
  seek_time(time: number): void {
    this.head = Math.min(Math.max(time, this.times[0] ?? 0), this.times[this.last] ?? 0);
  }
  /** One or more frames on. */
  step(by: number): void {
    this.playing = false;
    this.seek_index(this.index + by);
  }
  toggle(): void {
    this.playing = !this.playing;
    if (this.playing) this.follow = false;
    if (this.playing && this.index === this.last) this.seek_index(0);
  }
  /** `elapsed` seconds of wall time have passed. */
  advance(elapsed: number): void {
    if (!this.playing) return;
    this.seek_time(this.head + elapsed * this.speed);
    if (this.index === this.last) this.playing = false;
  }
}

/** Index of the last entry of a rising array that is not above `time`; 0 where all are. */
export function frame_at(times: ArrayLike<number>, time: number): number {
  let low = 0;
  let high = times.length;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    // Half a millionth of slack: a slider gives a time back with rounding.
    if (times[middle]! <= time + 5e-7 * Math.abs(time)) low = middle;
    else high = middle;
  }
  return low;
}

/** Index of the entry of a rising array that is nearest to `time`. */
export function nearest_frame(times: ArrayLike<number>, time: number): number {
  const before = frame_at(times, time);
  return before + 1 < times.length && times[before + 1]! - time < time - times[before]! ? before + 1 : before;
}

/** All times of several rising arrays, once where they differ by rounding only. */
export function joined_times(all: readonly Float64Array[]): Float64Array {
  if (all.length === 1) return all[0]!;
  const sorted = Float64Array.from(all.flatMap((times) => [...times])).sort();
  return sorted.filter((time, i) => i === 0 || time - sorted[i - 1]! > 1e-9 * Math.abs(time));
}

export const speeds = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50];

/** The largest speed up to real time at which the run takes some ten seconds. */
export function suitable_speed(duration: number): number {
  const fitting = speeds.filter((speed) => speed <= 1 && duration / speed >= 8);
  return fitting.length > 0 ? fitting[fitting.length - 1]! : speeds[0]!;
}
