/** Planes drawn as grids that fade towards their rim. */

import * as THREE from "three";

const vertex_shader = /* glsl */ `
out vec2 v_place;
void main() {
  v_place = position.xy;
  gl_Position = projectionMatrix * modelViewMatrix * vec4(position, 1.0);
}
`;

const fragment_shader = /* glsl */ `
in vec2 v_place;
uniform float spacing;
uniform float reach;
uniform vec3 tint;
uniform vec2 strengths;  // of the surface and, on top, of its lines
void main() {
  vec2 cell = v_place / spacing;
  vec2 width = fwidth(cell);
  vec2 line = 1.0 - smoothstep(width * 0.6, width * 1.6, abs(fract(cell - 0.5) - 0.5));
  float strength = max(line.x, line.y) * (1.0 - smoothstep(0.15, 0.6, max(width.x, width.y)));
  float fade = 1.0 - smoothstep(0.35, 1.0, length(v_place) / reach);
  gl_FragColor = vec4(tint, (strengths.x + strengths.y * strength) * fade);
  #include <colorspace_fragment>
}
`;

export interface Grid {
  readonly reach: number; // radius of the disc [m]
  readonly spacing: number; // between its lines [m]
  readonly colour: THREE.ColorRepresentation;
  readonly surface: number; // opacity
  readonly lines: number; // opacity that lines add
}

/** A disc about the origin in the plane (x, y). It never hides what is behind it. */
export function grid_mesh({ reach, spacing, colour, surface, lines }: Grid): THREE.Mesh<THREE.CircleGeometry, THREE.ShaderMaterial> {
  const material = new THREE.ShaderMaterial({
    vertexShader: vertex_shader,
    fragmentShader: fragment_shader,
    uniforms: {
      spacing: { value: spacing },
      reach: { value: reach },
      tint: { value: new THREE.Color(colour) },
      strengths: { value: new THREE.Vector2(surface, lines) },
    },
    side: THREE.DoubleSide,
    transparent: true,
    depthWrite: false,
  });
  return new THREE.Mesh(new THREE.CircleGeometry(reach, 64), material);
}
