/** A faint grid below all that is seen. */

import * as THREE from "three";
import { round_up } from "../data/numbers";
import { grid_mesh } from "./grid";

export class Ground {
  readonly group = new THREE.Group();
  private grid: ReturnType<typeof grid_mesh> | null = null;
  private reach = 0;

  /** A disc across `up` through `centre`, at the height `height` along `up`, a few times as wide as the scene, `size` [m]. */
  place(centre: THREE.Vector3, up: THREE.Vector3, height: number, size: number): void {
    if (2.5 * size !== this.reach) this.make(2.5 * size, round_up(size / 12));
    this.grid!.quaternion.setFromUnitVectors(new THREE.Vector3(0, 0, 1), up);
    this.grid!.position.copy(centre).addScaledVector(up, height - centre.dot(up));
  }

  private make(reach: number, spacing: number): void {
    this.dispose();
    this.reach = reach;
    this.grid = grid_mesh({ reach, spacing, colour: "#7d8ca0", surface: 0.04, lines: 0.22 });
    // Before all else and without depth: fibres are drawn over it from wherever one looks.
    const { material } = this.grid;
    material.transparent = false;
    material.blending = THREE.CustomBlending;
    material.blendSrcAlpha = THREE.OneFactor; // the picture itself stays opaque
    material.blendDstAlpha = THREE.OneMinusSrcAlphaFactor;
    material.depthTest = false;
    this.grid.renderOrder = -1;
    this.group.add(this.grid);
  }

  dispose(): void {
    if (!this.grid) return;
    this.group.remove(this.grid);
    this.grid.geometry.dispose();
    this.grid.material.dispose();
    this.grid = null;
  }
}
