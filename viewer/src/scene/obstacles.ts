/** Obstacles: capsules and balls as instances of one cylinder and one ball, planes as fading grids, meshes. */

import * as THREE from "three";
import type { MeshShape } from "../data/frame_source";
import type { Frame, Layout } from "../data/protocol";
import { round_up } from "../data/numbers";
import { obstacle_colour } from "../colours";
import { grid_mesh } from "./grid";
import { Meshes, type StartingMesh } from "./meshes";

/** Reference pose to the pose of a frame: x -> position + frame (x - reference). */
export function pose_of(layout: Layout, frame: Frame, obstacle: number): THREE.Matrix4 {
  const f = frame.obstacle_frame.subarray(9 * obstacle, 9 * obstacle + 9) as unknown as number[];
  const matrix = new THREE.Matrix4().set(f[0]!, f[1]!, f[2]!, 0, f[3]!, f[4]!, f[5]!, 0, f[6]!, f[7]!, f[8]!, 0, 0, 0, 0, 1);
  const moved = new THREE.Vector3().fromArray(layout.obstacle_reference, 3 * obstacle).applyMatrix4(matrix);
  const position = new THREE.Vector3().fromArray(frame.obstacle_position, 3 * obstacle).sub(moved);
  return matrix.setPosition(position);
}

const colour_of = (obstacle: number): THREE.Color => new THREE.Color().setRGB(...obstacle_colour(obstacle), THREE.SRGBColorSpace);

export class Obstacles {
  readonly group = new THREE.Group();
  private readonly material = new THREE.MeshStandardMaterial({ roughness: 0.45, metalness: 0.05 });
  private readonly meshes: Meshes;
  private readonly balls: THREE.InstancedMesh;
  private readonly cylinders: THREE.InstancedMesh;
  private readonly planes: { mesh: THREE.Mesh; obstacle: number }[] = [];

  constructor(
    private readonly layout: Layout,
    meshes: readonly StartingMesh[],
  ) {
    const many = layout.capsule_count > 300;
    const ball = new THREE.SphereGeometry(1, many ? 20 : 40, many ? 14 : 28);
    const cylinder = new THREE.CylinderGeometry(1, 1, 1, many ? 20 : 40, 1, true);
    this.balls = new THREE.InstancedMesh(ball, this.material, 2 * layout.capsule_count);
    this.cylinders = new THREE.InstancedMesh(cylinder, this.material, layout.capsule_count);
    for (const mesh of [this.balls, this.cylinders]) mesh.frustumCulled = false;
    for (let i = 0; i < layout.capsule_count; ++i) {
      const colour = colour_of(layout.capsule_obstacle[i]!);
      for (const ball of [2 * i, 2 * i + 1]) this.balls.setColorAt(ball, colour);
      this.cylinders.setColorAt(i, colour);
    }
    this.meshes = new Meshes(meshes, this.material, colour_of);
    this.group.add(this.balls, this.cylinders, this.meshes.group);
  }

  /** Planes reach a few times as far as the rest of the scene, `size` [m]. */
  add_planes(size: number): void {
    for (let i = 0; i < this.layout.plane_count; ++i) {
      const mesh = grid_mesh({ reach: 2.5 * size, spacing: round_up(size / 12), colour: colour_of(this.layout.plane_obstacle[i]!), surface: 0.16, lines: 0.34 });
      this.planes.push({ mesh, obstacle: this.layout.plane_obstacle[i]! });
      this.group.add(mesh);
    }
  }

  set_opacity(opacity: number): void {
    for (const material of [this.material, ...this.meshes.materials]) {
      material.transparent = opacity < 1;
      material.opacity = opacity;
      material.depthWrite = opacity > 0.5;
      material.needsUpdate = true;
    }
  }

  private poses(frame: Frame): THREE.Matrix4[] {
    return Array.from({ length: this.layout.obstacle_count }, (_, i) => pose_of(this.layout, frame, i));
  }

  update(frame: Frame, shapes: readonly (MeshShape | null)[], centre: THREE.Vector3): void {
    const layout = this.layout;
    const poses = this.poses(frame);
    this.meshes.update(poses, shapes);
    const up = new THREE.Vector3(0, 1, 0);
    const matrix = new THREE.Matrix4();
    for (let i = 0; i < layout.capsule_count; ++i) {
      const pose = poses[layout.capsule_obstacle[i]!]!;
      const radius = layout.capsule_radius[i]!;
      const from = new THREE.Vector3().fromArray(layout.capsule_from, 3 * i).applyMatrix4(pose);
      const to = new THREE.Vector3().fromArray(layout.capsule_to, 3 * i).applyMatrix4(pose);
      const scale = new THREE.Vector3(radius, radius, radius);
      const still = new THREE.Quaternion().setFromRotationMatrix(pose);
      this.balls.setMatrixAt(2 * i, matrix.compose(from, still, scale));
      this.balls.setMatrixAt(2 * i + 1, matrix.compose(to, still, scale));
      const axis = to.clone().sub(from);
      const length = axis.length();
      const turn = new THREE.Quaternion().setFromUnitVectors(up, length > 0 ? axis.divideScalar(length) : up);
      scale.y = length; // nothing for a ball
      this.cylinders.setMatrixAt(i, matrix.compose(from.add(to).multiplyScalar(0.5), turn, scale));
    }
    this.balls.instanceMatrix.needsUpdate = true;
    this.cylinders.instanceMatrix.needsUpdate = true;
    this.planes.forEach(({ mesh, obstacle }, i) => {
      const pose = poses[obstacle]!;
      const point = new THREE.Vector3().fromArray(layout.plane_point, 3 * i).applyMatrix4(pose);
      const normal = new THREE.Vector3().fromArray(layout.plane_normal, 3 * i).transformDirection(pose);
      mesh.quaternion.setFromUnitVectors(new THREE.Vector3(0, 0, 1), normal);
      // The disc lies where the scene is.
      mesh.position.copy(centre).addScaledVector(normal, point.sub(centre).dot(normal));
    });
  }

  /** Heights along `up` of the planes that lie across it, as floors do. [m] */
  level_planes(frame: Frame, up: THREE.Vector3): number[] {
    const poses = this.poses(frame);
    const out: number[] = [];
    this.planes.forEach(({ obstacle }, i) => {
      const pose = poses[obstacle]!;
      const normal = new THREE.Vector3().fromArray(this.layout.plane_normal, 3 * i).transformDirection(pose);
      const point = new THREE.Vector3().fromArray(this.layout.plane_point, 3 * i).applyMatrix4(pose);
      if (normal.dot(up) > 0.99) out.push(point.dot(up));
    });
    return out;
  }

  /** Corners of boxes about the ends of the capsules, and points of the meshes, in their place in `frame`. */
  outline(frame: Frame): THREE.Vector3[] {
    const poses = this.poses(frame);
    const out = this.meshes.outline(poses);
    for (let i = 0; i < this.layout.capsule_count; ++i) {
      const pose = poses[this.layout.capsule_obstacle[i]!]!;
      const radius = this.layout.capsule_radius[i]!;
      for (const ends of [this.layout.capsule_from, this.layout.capsule_to]) {
        const end = new THREE.Vector3().fromArray(ends, 3 * i).applyMatrix4(pose);
        for (const sign of [-1, 1]) {
          for (const axis of [0, 1, 2]) out.push(end.clone().setComponent(axis, end.getComponent(axis) + sign * radius));
        }
      }
    }
    return out;
  }

  dispose(): void {
    this.balls.geometry.dispose();
    this.cylinders.geometry.dispose();
    this.balls.dispose();
    this.cylinders.dispose();
    this.material.dispose();
    this.meshes.dispose();
    for (const { mesh } of this.planes) {
      mesh.geometry.dispose();
      (mesh.material as THREE.Material).dispose();
    }
  }
}
