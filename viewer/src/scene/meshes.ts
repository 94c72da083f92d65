/** Obstacles that are meshes: put on the graphics card once, moved as bodies; vertices only where the scene moves them. */

import * as THREE from "three";
import type { MeshShape } from "../data/frame_source";
import type { Mesh } from "../data/protocol";
import { smooth_normals, split_at_creases, type Creased } from "./creases";

/** A mesh and its first key. */
export interface Surface {
  readonly mesh: Mesh;
  readonly vertices: Float32Array; // (vertices, 3) [m]
}

const crease = (40 * Math.PI) / 180;
const outline_points = 2000;

interface Drawn {
  readonly mesh: Mesh;
  readonly creased: Creased;
  readonly points: Float32Array; // (points, 3), those of the attribute
  readonly normals: Float32Array;
  readonly object: THREE.Mesh;
}

function draw({ mesh, vertices }: Surface, material: THREE.Material): Drawn {
  const creased = split_at_creases(vertices, mesh.face, crease);
  const points = new Float32Array(3 * creased.vertex.length);
  const normals = new Float32Array(points.length);
  const geometry = new THREE.BufferGeometry();
  const usage = mesh.keys > 1 ? THREE.DynamicDrawUsage : THREE.StaticDrawUsage;
  geometry.setAttribute("position", new THREE.BufferAttribute(points, 3).setUsage(usage));
  geometry.setAttribute("normal", new THREE.BufferAttribute(normals, 3).setUsage(usage));
  geometry.setIndex(new THREE.BufferAttribute(creased.index, 1));
  const object = new THREE.Mesh(geometry, material);
  object.matrixAutoUpdate = false;
  object.frustumCulled = false; // vertices that move leave any sphere about them
  const out = { mesh, creased, points, normals, object };
  shape(out, { before: vertices, after: vertices, weight: 0 });
  return out;
}

function shape({ creased, points, normals, object }: Drawn, { before, after, weight }: MeshShape): void {
  for (let i = 0; i < creased.vertex.length; ++i) {
    const from = 3 * creased.vertex[i]!;
    for (let c = 0; c < 3; ++c) points[3 * i + c] = before[from + c]! + weight * (after[from + c]! - before[from + c]!);
  }
  smooth_normals(points, creased.index, normals);
  for (const name of ["position", "normal"]) object.geometry.getAttribute(name).needsUpdate = true;
}

export class Meshes {
  readonly group = new THREE.Group();
  private readonly all: readonly Drawn[];

  constructor(surfaces: readonly Surface[], material: THREE.Material) {
    this.all = surfaces.map((surface) => draw(surface, material));
    for (const { object } of this.all) this.group.add(object);
  }

  /** `poses` of all obstacles; `shapes` of those meshes whose vertices move. */
  update(poses: readonly THREE.Matrix4[], shapes: readonly (MeshShape | null)[]): void {
    this.all.forEach((drawn, i) => {
      const moved = shapes[i];
      if (moved) shape(drawn, moved);
      drawn.object.matrix.copy(poses[drawn.mesh.obstacle]!);
      drawn.object.matrixWorldNeedsUpdate = true;
    });
  }

  /** Some points of each as they are drawn now, but in poses of another frame. */
  outline(poses: readonly THREE.Matrix4[]): THREE.Vector3[] {
    const out: THREE.Vector3[] = [];
    for (const { mesh, points } of this.all) {
      const stride = 3 * Math.max(1, Math.floor(points.length / 3 / outline_points));
      for (let i = 0; i < points.length; i += stride) out.push(new THREE.Vector3().fromArray(points, i).applyMatrix4(poses[mesh.obstacle]!));
    }
    return out;
  }

  dispose(): void {
    for (const { object } of this.all) object.geometry.dispose();
  }
}
