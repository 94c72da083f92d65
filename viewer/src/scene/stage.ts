/** Renderer, camera and light. Draws only when something has changed. */

import * as THREE from "three";
import { OrbitControls } from "three/examples/jsm/controls/OrbitControls.js";

export type ViewName = "fit" | "+x" | "-x" | "+y" | "-y" | "+z" | "-z";

const field_of_view = 30; // degrees

export class Stage {
  readonly scene = new THREE.Scene();
  readonly camera = new THREE.PerspectiveCamera(field_of_view, 1, 0.001, 100);
  readonly renderer: THREE.WebGLRenderer;
  readonly controls: OrbitControls;
  /** Milliseconds between frames while many follow each other, smoothed. */
  frame_time = 16;
  drawn = 0;
  private dirty = true;
  private box = new THREE.Box3(new THREE.Vector3(-1, -1, -1), new THREE.Vector3(1, 1, 1));
  private last_draw = 0;

  constructor(readonly canvas: HTMLCanvasElement) {
    this.renderer = new THREE.WebGLRenderer({ canvas, antialias: true, powerPreference: "high-performance" });
    this.renderer.outputColorSpace = THREE.SRGBColorSpace;
    this.camera.up.set(0, 0, 1);
    const key = new THREE.DirectionalLight(0xffffff, 2.4);
    key.position.set(-0.45, 0.8, 1);
    this.camera.add(key, key.target); // moves with the eye
    key.target.position.set(0, 0, 0);
    this.scene.add(this.camera, new THREE.HemisphereLight(0xffffff, 0x8a8f99, 1.1));
    this.controls = new OrbitControls(this.camera, canvas);
    this.controls.enableDamping = false;
    this.controls.zoomToCursor = true;
    this.controls.addEventListener("change", () => this.redraw());
    new ResizeObserver(() => this.resize()).observe(canvas.parentElement!);
    this.resize();
  }

  redraw(): void {
    this.dirty = true;
  }

  set_background(colour: string): void {
    this.scene.background = new THREE.Color(colour);
    this.redraw();
  }

  /** World length of a pixel at distance one. */
  get pixel_size(): number {
    const height = this.canvas.clientHeight || 1;
    return (2 * Math.tan((this.camera.fov * Math.PI) / 360)) / height;
  }

  /** Box of what is to be seen, for fitting and for the near and far planes. */
  set_box(box: THREE.Box3): void {
    if (box.isEmpty()) return;
    this.box = box.clone();
  }

  get size(): number {
    return Math.max(this.box.getSize(new THREE.Vector3()).length(), 1e-6);
  }

  set_up(axis: "y" | "z"): void {
    this.camera.up.set(0, axis === "y" ? 1 : 0, axis === "z" ? 1 : 0);
    // OrbitControls takes the axis to turn about when it is made.
    const quaternion = new THREE.Quaternion().setFromUnitVectors(this.camera.up, new THREE.Vector3(0, 1, 0));
    const inner = this.controls as unknown as { _quat: THREE.Quaternion; _quatInverse: THREE.Quaternion };
    inner._quat = quaternion;
    inner._quatInverse = quaternion.clone().invert();
    this.redraw();
  }

  view(name: ViewName): void {
    const direction = this.camera.position.clone().sub(this.controls.target);
    if (name !== "fit") {
      direction.set(0, 0, 0).setComponent("xyz".indexOf(name[1]!), name[0] === "+" ? 1 : -1);
      // Straight along the axis that one turns about, left and right would be undefined.
      if (Math.abs(direction.dot(this.camera.up)) > 0.5) direction.add(new THREE.Vector3(1e-3, -1e-3, 1e-3));
    }
    this.fit(direction.normalize());
  }

  /** Looks from `direction` so that the box just fills the picture. */
  fit(direction: THREE.Vector3): void {
    const centre = this.box.getCenter(new THREE.Vector3());
    const right = this.camera.up.clone().cross(direction).normalize();
    const up = direction.clone().cross(right);
    const tan_y = Math.tan((this.camera.fov * Math.PI) / 360) * 0.88;
    const tan_x = tan_y * this.camera.aspect;
    let distance = 0;
    for (let corner = 0; corner < 8; ++corner) {
      const offset = new THREE.Vector3(
        corner & 1 ? this.box.max.x : this.box.min.x,
        corner & 2 ? this.box.max.y : this.box.min.y,
        corner & 4 ? this.box.max.z : this.box.min.z,
      ).sub(centre);
      const depth = offset.dot(direction);
      distance = Math.max(
        distance,
        Math.abs(offset.dot(right)) / tan_x + depth,
        Math.abs(offset.dot(up)) / tan_y + depth,
      );
    }
    this.controls.target.copy(centre);
    this.camera.position.copy(centre).addScaledVector(direction, Math.max(distance, 1e-6));
    this.controls.update();
    this.redraw();
  }

  /** Moves the eye so that `point` is in the middle. */
  look_at(point: THREE.Vector3): void {
    const shift = point.clone().sub(this.controls.target);
    this.controls.target.add(shift);
    this.camera.position.add(shift);
    this.controls.update();
    this.redraw();
  }

  /** Call once a display frame. True when something was drawn. */
  draw(now: number, prepare: () => void): boolean {
    if (!this.dirty) return false;
    this.dirty = false;
    const distance = this.camera.position.distanceTo(this.controls.target);
    const reach = distance + 4 * this.size;
    this.camera.near = Math.max(distance * 0.01, reach * 1e-5);
    this.camera.far = reach;
    this.camera.updateProjectionMatrix();
    prepare();
    this.renderer.render(this.scene, this.camera);
    ++this.drawn;
    const elapsed = now - this.last_draw;
    this.last_draw = now;
    if (elapsed < 1000) this.frame_time += 0.2 * (elapsed - this.frame_time);
    return true;
  }

  private resize(): void {
    const parent = this.canvas.parentElement!;
    const [width, height] = [Math.max(1, parent.clientWidth), Math.max(1, parent.clientHeight)];
    this.renderer.setPixelRatio(Math.min(window.devicePixelRatio, 2));
    this.renderer.setSize(width, height, false);
    this.camera.aspect = width / height;
    this.camera.updateProjectionMatrix();
    this.redraw();
  }
}
