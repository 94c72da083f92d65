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

  append(times: Float64Array): void {
    const joined = new Float64Array(this.count + times.length);
    joined.set(this.times);
    joined.set(times, this.count);
    this.times = joined;
    if (this.follow) this.seek_index(this.last);
  }
  clear(): void {
    this.times = new Float64Array(0);
    this.head = 0;
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

export const speeds = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50];

/** The largest speed up to real time at which the run takes some ten seconds. */
export function suitable_speed(duration: number): number {
  const fitting = speeds.filter((speed) => speed <= 1 && duration / speed >= 8);
  return fitting.length > 0 ? fitting[fitting.length - 1]! : speeds[0]!;
}
