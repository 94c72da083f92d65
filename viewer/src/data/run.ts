/** One run as the server gives it: what it is, its state, its times, tables and frames. Knows no page. */

import { RunApi, type RunDescription, type RunState, type Tables } from "./api";
import { is_embedded } from "./embedded";
import { FrameSource } from "./frame_source";
import { spread } from "./numbers";
import type { Frame, Layout, Mesh } from "./protocol";

const poll_interval = 1000; // milliseconds
const sampled_frames = 7; // for the first view

/** What does not change while a run goes on. */
export interface Opened {
  readonly generation: number;
  readonly description: RunDescription;
  readonly layout: Layout;
  readonly meshes: readonly Mesh[];
  readonly vertices: readonly Float32Array[]; // of each mesh its first key
}

export class Run {
  readonly api: RunApi;
  readonly source: FrameSource;
  state: RunState | null = null;
  opened: Opened | null = null;
  times = new Float64Array(0);
  tables: Tables | null = null;
  samples: readonly Frame[] | null = null; // from the first to the last frame; null: not there yet
  problem = "";
  private tables_of = -1; // frames for which the tables were read
  private tables_live = false;

  /** `changed` is called when anything has come. */
  constructor(
    readonly number: number,
    cache_bytes: number,
    private readonly changed: () => void,
  ) {
    this.api = new RunApi(number);
    this.source = new FrameSource(this.api, cache_bytes, changed, (message) => this.show_problem(message));
    void this.poll();
  }

  get generation(): number {
    return this.opened?.generation ?? -1;
  }
  get is_live(): boolean {
    return this.state?.live ?? false;
  }
  get is_readable(): boolean {
    return this.times.length > 0 && !this.state?.error;
  }

  private async poll(): Promise<void> {
    try {
      this.state = await this.api.state();
      if (this.state.error) throw new Error(this.state.error);
      if (this.state.generation !== this.generation) await this.open(this.state.generation);
      if (this.state.frames > this.times.length) {
        const more = await this.api.times(this.generation, this.times.length);
        this.times = Float64Array.from([...this.times, ...more]);
      }
      if (!this.samples && this.times.length > 0) this.samples = await this.sample();
      this.problem = "";
      await this.read_tables();
    } catch (error) {
      this.problem = error instanceof Error ? error.message : String(error);
    }
    this.changed();
    if (!is_embedded || this.problem) setTimeout(() => void this.poll(), poll_interval); // what stands in the page does not change
  }

  private show_problem(message: string): void {
    this.problem = message;
    this.changed();
  }

  private async open(generation: number): Promise<void> {
    const { api } = this;
    const [description, layout, meshes] = await Promise.all([api.description(), api.layout(generation), api.meshes(generation)]);
    const vertices = await Promise.all(meshes.map((_, i) => api.vertices(generation, i, 0)));
    this.source.restart(generation, meshes, vertices);
    this.times = new Float64Array(0);
    this.samples = null;
    this.tables_of = -1;
    this.opened = { generation, description, layout, meshes, vertices };
  }

  /** Some frames from the first to the last, without those that cannot be read. */
  private async sample(): Promise<Frame[] | null> {
    const wanted = spread(this.times.length, sampled_frames).map((index) => this.api.frame(this.generation, index));
    const found = (await Promise.allSettled(wanted)).flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
    return found.length > 0 ? found : null;
  }

  private async read_tables(): Promise<void> {
    // Once more after the run has ended, for its last rows.
    if (!this.state || (this.tables_of === this.state.frames && this.tables_live === this.state.live && !this.state.live)) return;
    this.tables_of = this.state.frames;
    this.tables_live = this.state.live;
    const [steps, forces, holds] = await Promise.all([this.api.steps(), this.api.forces(), this.api.holds()]);
    this.tables = { steps, forces, holds };
    this.source.has_holds = holds.holds.length > 0;
  }
}
