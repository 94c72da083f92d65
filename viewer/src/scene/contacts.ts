/** Contacts as dots and their forces as arrows, each kind in one draw call. */

import * as THREE from "three";
import { map_bytes, state_colours } from "../colours";
import type { Frame } from "../data/protocol";

export type ContactColour = "force" | "state";

const colour_code = /* glsl */ `
uniform sampler2D map;
uniform float largest;
uniform bool by_state;
uniform vec3 state_colours[3];
vec3 colour_of(float force, float state) {
  vec3 colour = by_state ? state_colours[int(clamp(state + 0.5, 0.0, 2.0))]
                         : texture(map, vec2(clamp(force / largest, 0.0, 1.0), 0.5)).rgb;
  return pow(colour, vec3(2.2));
}
// Contacts lie between surfaces: a step towards the eye brings them out.
uniform float lift;
vec4 lifted(vec4 seen) { return vec4(seen.xyz + lift * normalize(-seen.xyz), 1.0); }
`;

const dot_vertex_shader = /* glsl */ `
in float force;
in float state;
uniform float dot_size;         // world diameter
uniform vec2 dot_pixels;        // least and most, of the screen
uniform float dots_per_pixel;   // of the screen a pixel of the page
uniform float pixel_size;
out vec3 v_colour;
${colour_code}
void main() {
  v_colour = colour_of(force, state);
  vec4 seen = modelViewMatrix * vec4(position, 1.0);
  gl_Position = projectionMatrix * lifted(seen);
  gl_PointSize = clamp(dot_size * dots_per_pixel / (pixel_size * max(-seen.z, 1e-9)), dot_pixels.x, dot_pixels.y);
}
`;

const dot_fragment_shader = /* glsl */ `
in vec3 v_colour;
void main() {
  float r = length(2.0 * gl_PointCoord - 1.0);
  if (r > 1.0) discard;
  gl_FragColor = vec4(r > 0.72 ? 0.25 * v_colour : v_colour, 1.0);
  #include <colorspace_fragment>
}
`;

const arrow_vertex_shader = /* glsl */ `
in vec3 place;
in vec3 vector;
in float force;
in float state;
uniform float length_scale;   // world length of a newton
uniform float longest;        // world length
uniform float pixel_size;
out vec3 v_colour;
out vec3 v_normal;
${colour_code}
void main() {
  float size = length(vector);
  vec3 axis = size > 0.0 ? vector / size : vec3(0.0, 0.0, 1.0);
  vec3 across = normalize(cross(axis, abs(axis.x) < 0.7 ? vec3(1.0, 0.0, 0.0) : vec3(0.0, 1.0, 0.0)));
  vec3 third = cross(axis, across);
  float pixel = pixel_size * -(modelViewMatrix * vec4(place, 1.0)).z;
  float reach = min(size * length_scale, longest);
  float shaft = clamp(0.022 * reach, 0.7 * pixel, 3.0 * pixel);
  float head = min(7.0 * shaft, 0.45 * reach);
  // position.y: 0 tail, 1 neck, 2 tip; position.xz: on the unit circle times 1 (shaft) or 2.6 (head).
  float y = position.y < 1.5 ? position.y * (reach - head) : reach;
  vec3 p = place + axis * y + shaft * (position.x * across + position.z * third);
  v_colour = colour_of(force, state);
  v_normal = normalMatrix * (normal.x * across + normal.y * axis + normal.z * third);
  gl_Position = size > 0.0 ? projectionMatrix * lifted(modelViewMatrix * vec4(p, 1.0)) : vec4(2.0, 2.0, 2.0, 1.0);
}
`;

const arrow_fragment_shader = /* glsl */ `
in vec3 v_colour;
in vec3 v_normal;
void main() {
  float diffuse = max(0.0, dot(normalize(v_normal), normalize(vec3(-0.45, 0.8, 1.0))));
  gl_FragColor = vec4(v_colour * (0.6 + 0.5 * diffuse), 1.0);
  #include <colorspace_fragment>
}
`;

/** Tail, neck and tip as six-sided rings; see the shader. */
function arrow_geometry(): THREE.InstancedBufferGeometry {
  const sides = 6;
  const positions: number[] = [];
  const normals: number[] = [];
  const ring = (y: number, width: number, slope: number): void => {
    for (let i = 0; i <= sides; ++i) {
      const angle = (2 * Math.PI * i) / sides;
      positions.push(width * Math.cos(angle), y, width * Math.sin(angle));
      normals.push(Math.cos(angle), slope, Math.sin(angle));
    }
  };
  ring(0, 1, 0);
  ring(1, 1, 0);
  ring(1, 2.8, 0.4);
  ring(2, 0, 0.4);
  const indices: number[] = [];
  for (const first of [0, 2 * (sides + 1)]) {
    for (let i = 0; i < sides; ++i) {
      const [a, b] = [first + i, first + i + sides + 1];
      indices.push(a, a + 1, b, a + 1, b + 1, b);
    }
  }
  const geometry = new THREE.InstancedBufferGeometry();
  geometry.setIndex(indices);
  geometry.setAttribute("position", new THREE.Float32BufferAttribute(positions, 3));
  geometry.setAttribute("normal", new THREE.Float32BufferAttribute(normals, 3));
  return geometry;
}

/** Normal component of each contact's force. [N] */
export function normal_forces(frame: Frame): Float32Array {
  const out = new Float32Array(frame.contact_count);
  for (let i = 0; i < out.length; ++i) {
    let sum = 0;
    for (let c = 0; c < 3; ++c) sum += frame.contact_force[3 * i + c]! * frame.contact_normal[3 * i + c]!;
    out[i] = Math.abs(sum);
  }
  return out;
}

export class Contacts {
  readonly dots: THREE.Points<THREE.BufferGeometry, THREE.ShaderMaterial>;
  readonly arrows: THREE.Mesh<THREE.InstancedBufferGeometry, THREE.ShaderMaterial>;
  private readonly uniforms: Record<string, THREE.IUniform>;

  constructor(lift: number) {
    const map = new THREE.DataTexture(map_bytes("plasma"), 256, 1, THREE.RGBAFormat, THREE.UnsignedByteType);
    map.magFilter = map.minFilter = THREE.LinearFilter;
    map.needsUpdate = true;
    this.uniforms = {
      map: { value: map },
      largest: { value: 1 },
      by_state: { value: false },
      state_colours: { value: state_colours.map((c) => new THREE.Vector3(...c)) },
      lift: { value: lift },
      dot_size: { value: 2 * lift },
      dot_pixels: { value: new THREE.Vector2(2, 10) },
      dots_per_pixel: { value: 1 },
      length_scale: { value: 1 },
      longest: { value: 1 },
      pixel_size: { value: 0.001 },
    };
    const material = (vertex: string, fragment: string): THREE.ShaderMaterial =>
      new THREE.ShaderMaterial({ vertexShader: vertex, fragmentShader: fragment, uniforms: this.uniforms, side: THREE.DoubleSide });
    this.dots = new THREE.Points(new THREE.BufferGeometry(), material(dot_vertex_shader, dot_fragment_shader));
    this.arrows = new THREE.Mesh(arrow_geometry(), material(arrow_vertex_shader, arrow_fragment_shader));
    this.dots.frustumCulled = false;
    this.arrows.frustumCulled = false;
  }

  update(frame: Frame, forces: Float32Array): void {
    const state = Float32Array.from(frame.contact_state);
    this.dots.geometry.dispose();
    this.dots.geometry = new THREE.BufferGeometry();
    this.dots.geometry.setAttribute("position", new THREE.BufferAttribute(frame.contact_place, 3));
    this.dots.geometry.setAttribute("force", new THREE.BufferAttribute(forces, 1));
    this.dots.geometry.setAttribute("state", new THREE.BufferAttribute(state, 1));
    this.arrows.geometry.dispose();
    const geometry = arrow_geometry();
    geometry.setAttribute("place", new THREE.InstancedBufferAttribute(frame.contact_place, 3));
    geometry.setAttribute("vector", new THREE.InstancedBufferAttribute(frame.contact_force, 3));
    geometry.setAttribute("force", new THREE.InstancedBufferAttribute(forces, 1));
    geometry.setAttribute("state", new THREE.InstancedBufferAttribute(state, 1));
    geometry.instanceCount = frame.contact_count;
    this.arrows.geometry = geometry;
  }

  /** `largest`: the force that has the map's last colour [N]; `scale`: world length of a newton, `longest`: of an arrow. */
  set_scales(largest: number, scale: number, longest: number, colour: ContactColour): void {
    this.uniforms["largest"]!.value = largest;
    this.uniforms["length_scale"]!.value = scale;
    this.uniforms["longest"]!.value = longest;
    this.uniforms["by_state"]!.value = colour === "state";
  }
  prepare(pixel_size: number, pixel_ratio: number, count: number): void {
    this.uniforms["pixel_size"]!.value = pixel_size;
    this.uniforms["dots_per_pixel"]!.value = pixel_ratio;
    // A few may be found from afar, many must not hide the fibres.
    this.uniforms["dot_pixels"]!.value.set((count > 200 ? 2 : count > 20 ? 4 : 8) * pixel_ratio, 10 * pixel_ratio);
  }

  dispose(): void {
    for (const object of [this.dots, this.arrows]) {
      object.geometry.dispose();
      object.material.dispose();
    }
    (this.uniforms["map"]!.value as THREE.Texture).dispose();
  }
}
