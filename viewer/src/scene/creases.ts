/** Smooth shading of triangles that stops at sharp edges. */

export interface Creased {
  readonly vertex: Uint32Array; // (points) the vertex that a point is a copy of
  readonly index: Uint32Array; // (faces, 3) points
}

/** Normal of a face, as long as twice its area. */
function face_normal(x: Float32Array, a: number, b: number, c: number, out: Float64Array): void {
  const [ux, uy, uz] = [x[3 * b]! - x[3 * a]!, x[3 * b + 1]! - x[3 * a + 1]!, x[3 * b + 2]! - x[3 * a + 2]!];
  const [vx, vy, vz] = [x[3 * c]! - x[3 * a]!, x[3 * c + 1]! - x[3 * a + 1]!, x[3 * c + 2]! - x[3 * a + 2]!];
  out[0] = uy * vz - uz * vy;
  out[1] = uz * vx - ux * vz;
  out[2] = ux * vy - uy * vx;
}

/** Unit normals of the faces; zeros for one without area. */
function unit_normals(vertices: Float32Array, face: Int32Array): Float32Array {
  const out = new Float32Array(face.length);
  const normal = new Float64Array(3);
  for (let k = 0; k < face.length; k += 3) {
    face_normal(vertices, face[k]!, face[k + 1]!, face[k + 2]!, normal);
    const length = Math.hypot(normal[0]!, normal[1]!, normal[2]!);
    for (let c = 0; c < 3 && length > 0; ++c) out[k + c] = normal[c]! / length;
  }
  return out;
}

/**
 * A copy of each vertex for every group of faces around it that hang together over edges where they turn by less than
 * `angle` [rad], so that normals averaged over the faces of a copy are smooth within the group and break beside it.
 */
export function split_at_creases(vertices: Float32Array, face: Int32Array, angle: number): Creased {
  const normals = unit_normals(vertices, face);
  const least = Math.cos(angle);
  const parent = Uint32Array.from(face, (_, corner) => corner);
  const root = (corner: number): number => {
    while (parent[corner] !== corner) corner = parent[corner] = parent[parent[corner]!]!;
    return corner;
  };
  const vertex_count = vertices.length / 3;
  const edges = new Map<number, number>(); // of the face seen there last: its corner at the lower vertex
  for (let corner = 0; corner < face.length; ++corner) {
    const first = corner - (corner % 3);
    const next = corner % 3 === 2 ? first : corner + 1;
    const [low, high] = face[corner]! < face[next]! ? [corner, next] : [next, corner];
    const edge = face[low]! * vertex_count + face[high]!;
    const other = edges.get(edge);
    edges.set(edge, low);
    if (other === undefined) continue;
    const begin = other - (other % 3);
    const cosine = normals[first]! * normals[begin]! + normals[first + 1]! * normals[begin + 1]! + normals[first + 2]! * normals[begin + 2]!;
    if (cosine < least) continue;
    parent[root(low)] = root(other);
    for (let k = begin; k < begin + 3; ++k) if (face[k] === face[high]) parent[root(high)] = root(k);
  }
  const point_of = new Map<number, number>(); // by root
  const vertex: number[] = [];
  const index = new Uint32Array(face.length);
  for (let corner = 0; corner < face.length; ++corner) {
    const group = root(corner);
    let point = point_of.get(group);
    if (point === undefined) {
      point = vertex.push(face[corner]!) - 1;
      point_of.set(group, point);
    }
    index[corner] = point;
  }
  return { vertex: Uint32Array.from(vertex), index };
}

/** No copy of any vertex. */
export function as_it_is(vertices: Float32Array, face: Int32Array): Creased {
  return { vertex: Uint32Array.from({ length: vertices.length / 3 }, (_, i) => i), index: Uint32Array.from(face) };
}

/** Unit normals of points, averages over their faces by area; `out` (points, 3). */
export function smooth_normals(points: Float32Array, index: Uint32Array, out: Float32Array): void {
  out.fill(0);
  const normal = new Float64Array(3);
  for (let k = 0; k < index.length; k += 3) {
    face_normal(points, index[k]!, index[k + 1]!, index[k + 2]!, normal);
    for (let corner = k; corner < k + 3; ++corner) {
      for (let c = 0; c < 3; ++c) out[3 * index[corner]! + c]! += normal[c]!;
    }
  }
  for (let i = 0; i < out.length; i += 3) {
    const length = Math.hypot(out[i]!, out[i + 1]!, out[i + 2]!);
    for (let c = 0; c < 3; ++c) out[i + c] = length > 0 ? out[i + c]! / length : c === 2 ? 1 : 0;
  }
}
