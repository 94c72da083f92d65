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

export const fetch_state = (): Promise<RunState> => json("/api/state");
export const fetch_description = (): Promise<RunDescription> => json("/api/run");
export const fetch_steps = (): Promise<StepTable> => json("/api/steps");
export const fetch_forces = (): Promise<ForceTable> => json("/api/forces");

export const fetch_holds = (): Promise<HoldTable> => json("/api/holds");

export async function fetch_layout(generation: number): Promise<Layout> {
  return parse_layout(await bytes(`/api/layout?generation=${generation}`));
}

export async function fetch_meshes(generation: number): Promise<Mesh[]> {
  return parse_meshes(await bytes(`/api/meshes?generation=${generation}`));
}

/** (vertices, 3) where the obstacle has not moved [m] */
export async function fetch_vertices(generation: number, mesh: number, key: number, signal?: AbortSignal): Promise<Float32Array> {
  return new Float32Array(await bytes(`/api/vertices?generation=${generation}&mesh=${mesh}&key=${key}`, signal));
}

export async function fetch_times(generation: number, from: number): Promise<Float64Array> {
  return new Float64Array(await bytes(`/api/times?generation=${generation}&from=${from}`));
}

export async function fetch_frame(generation: number, index: number, signal?: AbortSignal): Promise<Frame> {
  return parse_frame(await bytes(`/api/frame?generation=${generation}&index=${index}`, signal));
}

/** (holds, 3) force of each fibre on its hold, over the step before the frame [N] */
export async function fetch_hold_loads(generation: number, index: number, signal?: AbortSignal): Promise<Float32Array> {
  return new Float32Array(await bytes(`/api/hold_loads?generation=${generation}&index=${index}`, signal));
}

export async function fetch_quantity(
  generation: number,
  index: number,
  name: Quantity,
  signal?: AbortSignal,
): Promise<Float32Array> {
  return new Float32Array(
    await bytes(`/api/quantity?generation=${generation}&index=${index}&name=${name}`, signal),
  );
}
