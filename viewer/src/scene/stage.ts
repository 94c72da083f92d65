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
  /** Milliseconds from the wish for a picture to the next one, smoothed. */
  frame_time = 16;
  drawn = 0;
  private dirty = true;
  private widening = 1; // of the field of view, so that a picture to be saved shows as much across as the page
  private readonly box = new THREE.Box3(new THREE.Vector3(-1, -1, -1), new THREE.Vector3(1, 1, 1));
  private outline: readonly THREE.Vector3[] = [new THREE.Vector3(-1, -1, -1), new THREE.Vector3(1, 1, 1)];
  private last_draw = 0;
  private last_eye = "";
  private wished = 0;

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
    new ResizeObserver(() => this.resize()).observe(canvas.parentElement!);
    this.resize();
  }

  redraw(): void {
    if (!this.dirty) this.wished = performance.now();
    this.dirty = true;
  }

  get is_dirty(): boolean {
    return this.dirty;
  }
  /** Milliseconds since the last picture. */
  idle(now: number): number {
    return now - this.last_draw;
  }

  set_background(colour: string): void {
    this.scene.background = new THREE.Color(colour);
    this.redraw();
  }

  /** Of the picture, in pixels of the page: a picture to be saved may be wider or narrower, and has finer ones. */
  get room(): { width: number; height: number } {
    const height = this.widening * (this.canvas.clientHeight || 1);
    return { width: height * this.camera.aspect, height };
  }
  /** Pixels of the picture a pixel of the page. */
  get fineness(): number {
    return this.renderer.domElement.height / this.room.height;
  }

  /** World length of a pixel of the page at distance one. */
  get pixel_size(): number {
    const { height } = this.room;
    return (2 * Math.tan((this.camera.fov * Math.PI) / 360)) / height;
  }

  /** World length of a pixel of the page where the eye looks at. */
  get pixel_at_target(): number {
    return this.pixel_size * this.camera.position.distanceTo(this.controls.target);
  }

  /** Where a point is seen, in pixels of the page from the upper left; null behind the eye. */
  project(point: THREE.Vector3): [number, number] | null {
    const seen = point.clone().applyMatrix4(this.camera.matrixWorldInverse);
    if (seen.z >= 0) return null;
    seen.applyMatrix4(this.camera.projectionMatrix);
    const { width, height } = this.room;
    return [((seen.x + 1) / 2) * width, ((1 - seen.y) / 2) * height];
  }

  /** Points about what is to be seen, for fitting and for the near and far planes. */
  set_outline(points: readonly THREE.Vector3[]): void {
    if (points.length === 0) return;
    this.outline = points;
    this.box.setFromPoints([...points]);
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

  /** Looks from `direction` so that what is to be seen fills the picture, above the legend. */
  fit(direction: THREE.Vector3): void {
    const right = this.camera.up.clone().cross(direction).normalize();
    const up = direction.clone().cross(right);
    const tan_y = Math.tan((this.camera.fov * Math.PI) / 360) * 0.78;
    const tan_x = tan_y * this.camera.aspect;
    // For a given direction the fit is exact: in each of the two planes, the apex of the cone that just holds all points.
    const apex = (axis: THREE.Vector3, slope: number): { across: number; depth: number } => {
      let [low, high] = [Infinity, -Infinity];
      for (const point of this.outline) {
        const depth = point.dot(direction);
        low = Math.min(low, point.dot(axis) / slope - depth);
        high = Math.max(high, point.dot(axis) / slope + depth);
      }
      return { across: ((low + high) / 2) * slope, depth: (high - low) / 2 };
    };
    const [horizontal, vertical] = [apex(right, tan_x), apex(up, tan_y)];
    const depth = Math.max(horizontal.depth, vertical.depth);
    const middle = this.box.getCenter(new THREE.Vector3()).dot(direction);
    const distance = Math.max(depth - middle, 1e-6);
    this.controls.target
      .set(0, 0, 0)
      .addScaledVector(right, horizontal.across)
      .addScaledVector(up, vertical.across - 0.12 * distance * tan_y)
      .addScaledVector(direction, middle);
    this.camera.position.copy(this.controls.target).addScaledVector(direction, distance);
    this.controls.update();
    this.redraw();
  }

  /** (6) Where the camera stands, what it looks at. */
  get eye(): number[] {
    return [...this.camera.position.toArray(), ...this.controls.target.toArray()];
  }
  set eye(eye: readonly number[]) {
    this.camera.position.fromArray(eye, 0);
    this.controls.target.fromArray(eye, 3);
    this.controls.update();
    this.redraw();
  }

  /** Whether the eye has moved since this was asked last. OrbitControls tells of moves beyond a millimetre only. */
  has_moved(): boolean {
    const eye = String(this.eye);
    if (eye === this.last_eye) return false;
    this.last_eye = eye;
    this.redraw();
    return true;
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
    this.frame_time += 0.3 * (now - Math.min(now, Math.max(this.last_draw, this.wished)) - this.frame_time);
    this.last_draw = now;
    return true;
  }

  /**
   * Calls `use` while the canvas holds a picture of this size, of all that the page shows.
   * @throws Error when the browser cannot draw so large a one.
   */
  at_size(width: number, height: number, prepare: () => void, use: () => void): void {
    const context = this.renderer.getContext();
    try {
      this.renderer.setPixelRatio(1);
      this.renderer.setSize(width, height, false);
      if (context.drawingBufferWidth !== width || context.drawingBufferHeight !== height) {
        throw new Error(`This browser cannot draw a picture of ${width} × ${height} pixels.`);
      }
      this.widening = Math.max(1, (this.camera.aspect * height) / width);
      this.camera.aspect = width / height;
      this.camera.fov = (360 / Math.PI) * Math.atan(this.widening * Math.tan((field_of_view * Math.PI) / 360));
      this.dirty = true;
      this.draw(performance.now(), prepare);
      use();
    } finally {
      this.widening = 1;
      this.camera.fov = field_of_view;
      this.resize();
    }
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
