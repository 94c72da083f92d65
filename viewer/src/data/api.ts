/** Requests to the server, or to the page itself where a run stands in it. All reject with an Error whose message can be shown. */

import { embedded_bytes, embedded_json, is_embedded } from "./embedded";
import { parse_frame, parse_layout, parse_meshes, type Frame, type Layout, type Mesh, type Quantity } from "./protocol";

export interface RunSummary {
  readonly steps?: number;
  readonly simulated_seconds?: number;
  readonly wall_seconds?: number;
  readonly sentence?: string;
  readonly verdict?: unknown;
  readonly severity?: string | null;
}

export interface RunState {
  readonly generation: number;
  readonly frames: number;
  readonly live: boolean;
  readonly status: string;
  readonly error: string;
  readonly summary: RunSummary;
}

export interface RunDescription {
  readonly generation: number;
  readonly folder: string;
  readonly scene: string;
  readonly version: string;
  readonly group_names: readonly string[];
  readonly obstacle_names: readonly string[];
  readonly surface_names: readonly string[];
}

/** Least and greatest value of each column over stretches of time. */
export interface Curves {
  readonly from: readonly number[];
  readonly to: readonly number[];
  readonly least: readonly (readonly (number | null)[])[];
  readonly greatest: readonly (readonly (number | null)[])[];
}

export interface StepTable {
  readonly columns: readonly string[];
  readonly curves: Curves;
}

export interface ForceTable {
  readonly columns: readonly string[];
  readonly obstacles: Readonly<Record<string, Curves>>;
}

export interface HoldTable {
  readonly columns: readonly string[];
  readonly holds: readonly { readonly name: string; readonly fibre: number; readonly at: number | null; readonly curves: Curves }[];
}

/** A run over time. */
export interface Tables {
  readonly steps: StepTable;
  readonly forces: ForceTable;
  readonly holds: HoldTable;
}

async function request(path: string, signal?: AbortSignal): Promise<Response> {
  let response: Response;
  try {
    response = await fetch(path, signal ? { signal } : {});
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new Error("The viewer has ended: its server does not answer. Start tresse view again.");
  }
  if (response.ok) return response;
  let message = `${response.status} ${response.statusText}`;
  try {
    message = ((await response.json()) as { error: string }).error;
  } catch {
    // Not the server's own answer: the status has to do.
  }
  throw new Error(message);
}

const json = async <T>(path: string): Promise<T> => (is_embedded ? embedded_json<T>(path) : ((await (await request(path)).json()) as T));
const bytes = async (path: string, signal?: AbortSignal): Promise<ArrayBuffer> =>
  is_embedded ? embedded_bytes(path) : (await request(path, signal)).arrayBuffer();

/** What tells the runs of the page from each other, in their order. */
export const fetch_runs = async (): Promise<readonly string[]> => (await json<{ runs: string[] }>("/api/runs")).runs;

/** Requests that concern one run, by its number. */
export class RunApi {
  private readonly base: string;
  constructor(number: number) {
    this.base = number === 0 ? "/api" : `/api/runs/${number}`;
  }

  state = (): Promise<RunState> => json(`${this.base}/state`);
  description = (): Promise<RunDescription> => json(`${this.base}/run`);
  steps = (): Promise<StepTable> => json(`${this.base}/steps`);
  forces = (): Promise<ForceTable> => json(`${this.base}/forces`);
  holds = (): Promise<HoldTable> => json(`${this.base}/holds`);

  async layout(generation: number): Promise<Layout> {
    return parse_layout(await bytes(`${this.base}/layout?generation=${generation}`));
  }
  async meshes(generation: number): Promise<Mesh[]> {
    return parse_meshes(await bytes(`${this.base}/meshes?generation=${generation}`));
  }
  /** (vertices, 3) where the obstacle has not moved [m] */
  async vertices(generation: number, mesh: number, key: number, signal?: AbortSignal): Promise<Float32Array> {
    return new Float32Array(await bytes(`${this.base}/vertices?generation=${generation}&mesh=${mesh}&key=${key}`, signal));
  }
  async times(generation: number, from: number): Promise<Float64Array> {
    return new Float64Array(await bytes(`${this.base}/times?generation=${generation}&from=${from}`));
  }
  async frame(generation: number, index: number, signal?: AbortSignal): Promise<Frame> {
    return parse_frame(await bytes(`${this.base}/frame?generation=${generation}&index=${index}`, signal));
  }
  /** (holds, 3) force of each fibre on its hold, over the step before the frame [N] */
  async hold_loads(generation: number, index: number, signal?: AbortSignal): Promise<Float32Array> {
    return new Float32Array(await bytes(`${this.base}/hold_loads?generation=${generation}&index=${index}`, signal));
  }
  async quantity(generation: number, index: number, name: Quantity, signal?: AbortSignal): Promise<Float32Array> {
    return new Float32Array(await bytes(`${this.base}/quantity?generation=${generation}&index=${index}&name=${name}`, signal));
  }
}
