/** Obstacles that are meshes: put on the graphics card once, moved as bodies; vertices only where the scene moves them. */

import * as THREE from "three";
import type { MeshShape } from "../data/frame_source";
import type { Mesh } from "../data/protocol";
import { as_it_is, smooth_normals, split_at_creases, type Creased } from "./creases";

/** A mesh and its first key. */
export interface StartingMesh {
  readonly mesh: Mesh;
  readonly vertices: Float32Array; // (vertices, 3) [m]
}

const crease = (40 * Math.PI) / 180;
const outline_points = 2000;
/** Larger meshes are shaded flat: finding their edges would take seconds. */
export const most_smooth_faces = 1e6;

interface Drawn {
  readonly mesh: Mesh;
  readonly creased: Creased;
  readonly points: Float32Array; // (points, 3), those of the attribute
  readonly normals: Float32Array | null; // the graphics card's, by face
  readonly object: THREE.Mesh;
}

function draw({ mesh, vertices }: StartingMesh, material: THREE.MeshStandardMaterial): Drawn {
  const is_smooth = mesh.face.length / 3 <= most_smooth_faces;
  const creased = is_smooth ? split_at_creases(vertices, mesh.face, crease) : as_it_is(vertices, mesh.face);
  const points = new Float32Array(3 * creased.vertex.length);
  const normals = is_smooth ? new Float32Array(points.length) : null;
  const geometry = new THREE.BufferGeometry();
  const usage = mesh.keys > 1 ? THREE.DynamicDrawUsage : THREE.StaticDrawUsage;
  geometry.setAttribute("position", new THREE.BufferAttribute(points, 3).setUsage(usage));
  if (normals) geometry.setAttribute("normal", new THREE.BufferAttribute(normals, 3).setUsage(usage));
  geometry.setIndex(new THREE.BufferAttribute(creased.index, 1));
  material.flatShading = !is_smooth;
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
  if (normals) smooth_normals(points, creased.index, normals);
  for (const attribute of Object.values(object.geometry.attributes)) attribute.needsUpdate = true;
}

export class Meshes {
  readonly group = new THREE.Group();
  readonly materials: readonly THREE.MeshStandardMaterial[];
  private readonly all: readonly Drawn[];

  /** As `material`, but seen from both sides, as sheets are; `colour`: of an obstacle. */
  constructor(meshes: readonly StartingMesh[], material: THREE.MeshStandardMaterial, colour: (obstacle: number) => THREE.Color) {
    this.materials = meshes.map(({ mesh }) => {
      const own = material.clone();
      own.side = THREE.DoubleSide;
      own.color.copy(colour(mesh.obstacle));
      return own;
    });
    this.all = meshes.map((mesh, i) => draw(mesh, this.materials[i]!));
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
    for (const material of this.materials) material.dispose();
  }
}
