/** Surfaces that deform, such as cloth: smooth, seen from both sides, with a place for every vertex in each frame. */

import * as THREE from "three";
import { surface_colour } from "../colours";
import type { Frame, SurfaceFaces } from "../data/protocol";
import { smooth_normals } from "./creases";

const outline_points = 2000;

interface Drawn {
  readonly first: number; // number in the frame of its first vertex's first coordinate
  readonly points: Float32Array; // (vertices, 3), those of the attribute
  readonly normals: Float32Array; // (vertices, 3)
  readonly index: Uint32Array; // (faces, 3)
  readonly object: THREE.Mesh<THREE.BufferGeometry, THREE.MeshStandardMaterial>;
}

function draw({ vertex_count, face }: SurfaceFaces, first: number, number: number): Drawn {
  const [points, normals] = [new Float32Array(3 * vertex_count), new Float32Array(3 * vertex_count)];
  const index = Uint32Array.from(face);
  const geometry = new THREE.BufferGeometry();
  geometry.setAttribute("position", new THREE.BufferAttribute(points, 3).setUsage(THREE.DynamicDrawUsage));
  geometry.setAttribute("normal", new THREE.BufferAttribute(normals, 3).setUsage(THREE.DynamicDrawUsage));
  geometry.setIndex(new THREE.BufferAttribute(index, 1));
  const material = new THREE.MeshStandardMaterial({ roughness: 0.8, metalness: 0, side: THREE.DoubleSide });
  material.color.setRGB(...surface_colour(number), THREE.SRGBColorSpace);
  // A sheet that lies on an obstacle is nearer to it than the depth buffer tells apart.
  material.polygonOffset = true;
  material.polygonOffsetFactor = material.polygonOffsetUnits = -1;
  const object = new THREE.Mesh(geometry, material);
  object.frustumCulled = false; // vertices that move leave any sphere about them
  return { first, points, normals, index, object };
}

export class Surfaces {
  readonly group = new THREE.Group();
  private readonly all: readonly Drawn[];

  constructor(surfaces: readonly SurfaceFaces[]) {
    let first = 0;
    this.all = surfaces.map((surface, i) => {
      const drawn = draw(surface, first, i);
      first += 3 * surface.vertex_count;
      return drawn;
    });
    for (const { object } of this.all) this.group.add(object);
  }

  update(frame: Frame): void {
    for (const { first, points, normals, index, object } of this.all) {
      points.set(frame.surface_vertices.subarray(first, first + points.length));
      smooth_normals(points, index, normals);
      for (const attribute of Object.values(object.geometry.attributes)) attribute.needsUpdate = true;
    }
  }

  /** Some points of all of them in a frame. */
  outline(frame: Frame): THREE.Vector3[] {
    const { surface_vertices } = frame;
    const out: THREE.Vector3[] = [];
    const stride = 3 * Math.max(1, Math.floor(surface_vertices.length / 3 / outline_points));
    for (let i = 0; i < surface_vertices.length; i += stride) out.push(new THREE.Vector3().fromArray(surface_vertices, i));
    return out;
  }

  dispose(): void {
    for (const { object } of this.all) {
      object.geometry.dispose();
      object.material.dispose();
    }
  }
}
