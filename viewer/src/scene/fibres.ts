/**
 * All fibres in one draw call. Centreline points lie in a texture; the vertex shader lays a cubic through them and the
 * half of a tube that faces the eye around it. For many fibres the half tube is one flat strip, shaded as if round.
 */

import * as THREE from "three";
import { map_bytes, type MapName, type Rgb } from "../colours";
import type { Range } from "../data/numbers";
import type { Layout } from "../data/protocol";
import { fineness, pieces_of } from "./segments";

const texture_width = 1024;

const vertex_shader = /* glsl */ `
in ivec4 piece;
in int fibre;
uniform highp sampler2D points;  // xyz, and the number that colours
uniform highp sampler2D radii;
uniform highp sampler2D fibre_colours;
uniform sampler2D map;
uniform vec2 map_range;
uniform bool by_value;
uniform float thickness;
uniform float least_width;       // pixels
uniform float pixel_size;        // world length of a pixel at distance one
uniform int selected;
uniform vec3 accent;
out vec3 v_side;
out vec3 v_facing;
out vec3 v_tangent;
out vec3 v_position;
out vec3 v_colour;
out float v_across;
out float v_thin;

ivec2 place(int i) { return ivec2(i % ${texture_width}, i / ${texture_width}); }

void main() {
  vec4 p = texelFetch(points, place(piece.x), 0);
  vec4 q = texelFetch(points, place(piece.y), 0);
  vec3 before = texelFetch(points, place(piece.z), 0).xyz;
  vec3 after = texelFetch(points, place(piece.w), 0).xyz;
  float radius = mix(texelFetch(radii, place(piece.x), 0).r, texelFetch(radii, place(piece.y), 0).r, position.x);
  // Hermite's cubic; the slope at a point is that between its neighbours, at an end that of the chord.
  vec3 m0 = piece.z == piece.x ? q.xyz - p.xyz : 0.5 * (q.xyz - before);
  vec3 m1 = piece.w == piece.y ? q.xyz - p.xyz : 0.5 * (after - p.xyz);
  float t = position.x;
  float u = 1.0 - t;
  vec3 centre = (1.0 + 2.0 * t) * u * u * p.xyz + t * u * u * m0 + t * t * (3.0 - 2.0 * t) * q.xyz - t * t * u * m1;
  vec3 slope = 6.0 * t * u * (q.xyz - p.xyz) + u * (1.0 - 3.0 * t) * m0 + t * (3.0 * t - 2.0) * m1;

  vec4 seen = modelViewMatrix * vec4(centre, 1.0);
  vec3 tangent = normalize(mat3(modelViewMatrix) * slope + vec3(0.0, 0.0, 1e-20));
  vec3 eye = normalize(-seen.xyz);
  vec3 side = cross(eye, tangent);
  side = dot(side, side) > 1e-10 ? normalize(side) : vec3(1.0, 0.0, 0.0);
  vec3 facing = cross(tangent, side);
  float pixel = pixel_size * max(-seen.z, 1e-9);
  bool chosen = fibre == selected;
  float real = radius * thickness;
  float width = max(real, 0.5 * (chosen ? max(least_width, 4.0) : least_width) * pixel);
  v_across = position.y;
  v_thin = 1.0 - smoothstep(1.5, 6.0, 2.0 * width / pixel);
  v_side = side;
  v_facing = facing;
  v_tangent = tangent;
  seen.xyz += width * (position.y * side + sqrt(max(0.0, 1.0 - position.y * position.y)) * facing);
  v_position = seen.xyz;
  float value = mix(p.w, q.w, t);
  float along_map = (value - map_range.x) / max(map_range.y - map_range.x, 1e-30);
  vec3 colour = by_value ? texture(map, vec2(clamp(along_map, 0.0, 1.0) * (255.0 / 256.0) + 0.5 / 256.0, 0.5)).rgb
                         : texelFetch(fibre_colours, place(fibre), 0).rgb;
  colour = pow(colour, vec3(2.2));
  if (selected >= 0) colour = chosen ? (by_value ? colour : accent) : mix(colour, vec3(dot(colour, vec3(0.33))), 0.65) * 0.7;
  v_colour = colour;
  gl_Position = projectionMatrix * seen;
  if (chosen) gl_Position.z -= 2e-4 * gl_Position.w;
}
`;

const fragment_shader = /* glsl */ `
in vec3 v_side;
in vec3 v_facing;
in vec3 v_tangent;
in vec3 v_position;
in vec3 v_colour;
in float v_across;
in float v_thin;
uniform float flatness;  // 1: data colours stay as the colour bar has them


void main() {
  float x = clamp(v_across, -1.0, 1.0);
  vec3 normal = normalize(x * v_side + sqrt(max(0.0, 1.0 - x * x)) * v_facing);
  vec3 tangent = normalize(v_tangent);
  vec3 eye = normalize(-v_position);
  vec3 light = normalize(vec3(-0.45, 0.8, 1.0));
  vec3 half_way = normalize(light + eye);
  // A tube that can be seen as one is lit by its normal, a thin one by its direction (Kajiya and Kay).
  float along = dot(tangent, light);
  float thin_diffuse = sqrt(max(0.0, 1.0 - along * along));
  float tube_diffuse = max(0.0, dot(normal, light));
  float diffuse = mix(tube_diffuse, 0.8 * thin_diffuse, v_thin);
  float along_half = dot(tangent, half_way);
  float shine = mix(pow(max(0.0, dot(normal, half_way)), 48.0), pow(max(0.0, 1.0 - along_half * along_half), 32.0), v_thin);
  float rim = mix(0.55 + 0.45 * max(0.0, dot(normal, eye)), 1.0, v_thin);
  vec3 lit = v_colour * (0.34 + 0.82 * diffuse) * rim + vec3(mix(0.20, 0.10, v_thin) * shine);
  gl_FragColor = vec4(mix(lit, v_colour * (0.62 + 0.5 * diffuse) * rim, flatness), 1.0);
  #include <colorspace_fragment>
}
`;

export class Fibres {
  readonly mesh: THREE.Mesh<THREE.InstancedBufferGeometry, THREE.ShaderMaterial>;
  stride = 1;
  pieces = 0;
  private readonly kept = new Map<number, THREE.InstancedBufferGeometry>(); // by stride
  private readonly point_texture: THREE.DataTexture;
  private readonly point_values: Float32Array;
  private readonly colours: THREE.DataTexture;
  private readonly uniforms: Record<string, THREE.IUniform>;

  constructor(private readonly layout: Layout) {
    this.point_texture = texture_of(layout.point_count, THREE.RGBAFormat, 4);
    this.point_values = this.point_texture.image.data as unknown as Float32Array;
    const radii = texture_of(layout.point_count, THREE.RedFormat, 1);
    (radii.image.data as unknown as Float32Array).set(layout.radius);
    this.colours = texture_of(layout.fibre_count, THREE.RGBAFormat, 4);
    this.uniforms = {
      points: { value: this.point_texture },
      radii: { value: radii },
      fibre_colours: { value: this.colours },
      map: { value: map_texture("viridis") },
      map_range: { value: new THREE.Vector2(0, 1) },
      by_value: { value: false },
      thickness: { value: 1 },
      least_width: { value: 1 },
      pixel_size: { value: 0.001 },
      selected: { value: -1 },
      accent: { value: new THREE.Color("#ff7a1a") },
      flatness: { value: 0 },
    };
    const material = new THREE.ShaderMaterial({
      vertexShader: vertex_shader,
      fragmentShader: fragment_shader,
      uniforms: this.uniforms,
      side: THREE.DoubleSide,
    });
    this.mesh = new THREE.Mesh(this.geometry(), material);
    this.mesh.frustumCulled = false; // the points are in a texture, where three.js does not see them
  }

  /** Draws every `stride`-th point only. */
  set_stride(stride: number): void {
    if (stride === this.stride) return;
    this.kept.set(this.stride, this.mesh.geometry);
    this.stride = stride;
    this.mesh.geometry = this.kept.get(stride) ?? this.geometry();
    this.pieces = this.mesh.geometry.instanceCount;
  }

  set_points(points: Float32Array, values: Float32Array | null): void {
    const out = this.point_values;
    for (let i = 0, from = 0, to = 0; i < this.layout.point_count; ++i, to += 4) {
      out[to] = points[from++]!;
      out[to + 1] = points[from++]!;
      out[to + 2] = points[from++]!;
      out[to + 3] = values ? values[i]! : 0;
    }
    this.point_texture.needsUpdate = true;
  }

  colour_by_value(map: MapName, range: Range): void {
    const old = this.uniforms["map"]!.value as THREE.DataTexture;
    if (old.name !== map) {
      old.dispose();
      this.uniforms["map"]!.value = map_texture(map);
    }
    this.uniforms["map_range"]!.value.set(range.low, range.high);
    this.uniforms["by_value"]!.value = true;
    this.uniforms["flatness"]!.value = 0.7;
  }

  colour_by_fibre(colour: (fibre: number) => Rgb): void {
    const out = this.colours.image.data as unknown as Float32Array;
    for (let i = 0; i < this.layout.fibre_count; ++i) out.set(colour(i), 4 * i);
    this.colours.needsUpdate = true;
    this.uniforms["by_value"]!.value = false;
    this.uniforms["flatness"]!.value = 0;
  }

  set_thickness(factor: number): void {
    this.uniforms["thickness"]!.value = factor;
  }
  select(fibre: number): void {
    this.uniforms["selected"]!.value = fibre;
  }
  prepare(pixel_size: number): void {
    this.uniforms["pixel_size"]!.value = pixel_size;
    this.uniforms["least_width"]!.value = this.layout.fibre_count > 400 ? 0.9 : this.layout.fibre_count > 20 ? 1.3 : 2.5;
  }

  dispose(): void {
    for (const geometry of [this.mesh.geometry, ...this.kept.values()]) geometry.dispose();
    this.mesh.material.dispose();
    for (const name of ["points", "radii", "fibre_colours", "map"]) {
      (this.uniforms[name]!.value as THREE.Texture).dispose();
    }
  }

  private geometry(): THREE.InstancedBufferGeometry {
    const pieces = pieces_of(this.layout, this.stride);
    this.pieces = pieces.length / 4;
    const { along, across } = fineness(this.pieces);
    const geometry = new THREE.InstancedBufferGeometry();
    const positions: number[] = [];
    for (let i = 0; i <= along; ++i) {
      // Even in angle, so that a few strips make a round edge.
      for (let j = 0; j <= across; ++j) positions.push(i / along, -Math.cos((Math.PI * j) / across), 0);
    }
    const indices: number[] = [];
    for (let i = 0; i < along; ++i) {
      for (let j = 0; j < across; ++j) {
        const a = i * (across + 1) + j;
        const b = a + across + 1;
        indices.push(a, b, a + 1, a + 1, b, b + 1);
      }
    }
    geometry.setIndex(indices);
    geometry.setAttribute("position", new THREE.Float32BufferAttribute(positions, 3));
    const piece = new THREE.InstancedBufferAttribute(pieces, 4);
    piece.gpuType = THREE.IntType;
    geometry.setAttribute("piece", piece);
    const fibre = new THREE.InstancedBufferAttribute(this.fibre_of_pieces(pieces), 1);
    fibre.gpuType = THREE.IntType;
    geometry.setAttribute("fibre", fibre);
    geometry.instanceCount = this.pieces;
    return geometry;
  }

  private fibre_of_pieces(pieces: Int32Array): Int32Array {
    const out = new Int32Array(pieces.length / 4);
    let fibre = 0;
    for (let i = 0; i < out.length; ++i) {
      while (pieces[4 * i]! >= this.layout.point_offsets[fibre + 1]!) ++fibre;
      out[i] = fibre;
    }
    return out;
  }
}

function texture_of(count: number, format: THREE.PixelFormat, width: number): THREE.DataTexture {
  const rows = Math.max(1, Math.ceil(count / texture_width));
  const texture = new THREE.DataTexture(
    new Float32Array(width * texture_width * rows),
    texture_width,
    rows,
    format,
    THREE.FloatType,
  );
  texture.needsUpdate = true;
  return texture;
}

function map_texture(name: MapName): THREE.DataTexture {
  const texture = new THREE.DataTexture(map_bytes(name), 256, 1, THREE.RGBAFormat, THREE.UnsignedByteType);
  texture.name = name;
  texture.magFilter = THREE.LinearFilter;
  texture.minFilter = THREE.LinearFilter;
  texture.needsUpdate = true;
  return texture;
}
