#include <tresse/geometry/triangle_mesh.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <tuple>
#include <utility>

#include <Eigen/Geometry>

#include <tresse/base/errors.hpp>
#include <tresse/math/vectors.hpp>

namespace tresse::geometry {
namespace {

Box box_of(const Vector3& x) { return {x, x}; }

void include(Box& box, const Box& other) {
  box.lower = box.lower.cwiseMin(other.lower);
  box.upper = box.upper.cwiseMax(other.upper);
}

bool is_degenerate(const std::array<Vector3, 3>& x) {
  constexpr double least_height = 1e-12;  // of the longest side
  const double longest = std::max({(x[1] - x[0]).norm(), (x[2] - x[1]).norm(), (x[0] - x[2]).norm()});
  return !((x[1] - x[0]).cross(x[2] - x[0]).norm() > least_height * longest * longest);
}

std::array<Vector3, 3> corners_of(const Face& face, const std::vector<Vector3>& vertices) {
  return {vertices[static_cast<std::size_t>(face[0])], vertices[static_cast<std::size_t>(face[1])],
          vertices[static_cast<std::size_t>(face[2])]};
}

}  // namespace

MeshTopology::MeshTopology(std::vector<Face> faces, const std::vector<Vector3>& vertices) : faces_(std::move(faces)) {
  const int count = static_cast<int>(vertices.size());
  for (const Vector3& x : vertices) require(x.allFinite(), "mesh: a vertex is not finite");
  for (const Face& face : faces_) {
    for (const int v : face) require(v >= 0 && v < count, "mesh: a face names a vertex that is not there");
  }
  degenerate_ = static_cast<int>(
      std::erase_if(faces_, [&](const Face& face) { return is_degenerate(corners_of(face, vertices)); }));
  require(!faces_.empty(), "mesh: no face that is not degenerate");
  find_edges();
  find_faces_at(vertices.size());
  turn_outwards(vertices);
  build_tree(vertices);
}

void MeshTopology::find_edges() {
  struct Side {
    int low, high, face, place;
    bool forward;
  };
  std::vector<Side> sides;
  sides.reserve(3 * faces_.size());
  for (std::size_t f = 0; f < faces_.size(); ++f) {
    for (int k = 0; k < 3; ++k) {
      const int from = faces_[f][static_cast<std::size_t>(k)];
      const int to = faces_[f][static_cast<std::size_t>((k + 1) % 3)];
      sides.push_back({std::min(from, to), std::max(from, to), static_cast<int>(f), k, from < to});
    }
  }
  std::sort(sides.begin(), sides.end(), [](const Side& x, const Side& y) {
    return std::tie(x.low, x.high, x.face, x.place) < std::tie(y.low, y.high, y.face, y.place);
  });
  face_edges_.resize(faces_.size());
  closed_ = true;
  for (std::size_t begin = 0, end = 0; begin < sides.size(); begin = end) {
    MeshEdge edge{{sides[begin].low, sides[begin].high}};
    for (; end < sides.size() && sides[end].low == sides[begin].low && sides[end].high == sides[begin].high; ++end) {
      if (end - begin < 2) edge.faces[end - begin] = sides[end].face;
      face_edges_[static_cast<std::size_t>(sides[end].face)][static_cast<std::size_t>(sides[end].place)] =
          static_cast<int>(edges_.size());
    }
    edge.several = end - begin > 2;
    edge.agree = end - begin == 2 && sides[begin].forward != sides[begin + 1].forward;
    rim_edges_ += end - begin == 1 ? 1 : 0;
    several_edges_ += edge.several ? 1 : 0;
    closed_ = closed_ && edge.agree;
    edges_.push_back(edge);
  }
}

void MeshTopology::find_faces_at(std::size_t vertices) {
  vertex_faces_begin_.assign(vertices + 1, 0);
  for (const Face& face : faces_) {
    for (const int v : face) ++vertex_faces_begin_[static_cast<std::size_t>(v) + 1];
  }
  std::partial_sum(vertex_faces_begin_.begin(), vertex_faces_begin_.end(), vertex_faces_begin_.begin());
  vertex_faces_.resize(3 * faces_.size());
  std::vector<int> next(vertex_faces_begin_.begin(), vertex_faces_begin_.end() - 1);
  for (std::size_t f = 0; f < faces_.size(); ++f) {
    for (const int v : faces_[f])
      vertex_faces_[static_cast<std::size_t>(next[static_cast<std::size_t>(v)]++)] = static_cast<int>(f);
  }
}

std::span<const int> MeshTopology::faces_at(int vertex) const {
  const auto v = static_cast<std::size_t>(vertex);
  return {vertex_faces_.data() + vertex_faces_begin_[v],
          static_cast<std::size_t>(vertex_faces_begin_[v + 1] - vertex_faces_begin_[v])};
}

void MeshTopology::turn_outwards(const std::vector<Vector3>& vertices) {
  if (!closed_) return;
  double volume = 0.0;
  const Vector3& origin = vertices[static_cast<std::size_t>(faces_.front()[0])];
  for (const Face& face : faces_) {
    const auto x = corners_of(face, vertices);
    volume += (x[0] - origin).dot((x[1] - origin).cross(x[2] - origin));
  }
  if (volume >= 0.0) return;
  for (std::size_t f = 0; f < faces_.size(); ++f) {
    std::swap(faces_[f][1], faces_[f][2]);
    std::swap(face_edges_[f][0], face_edges_[f][2]);
  }
}

void MeshTopology::build_tree(const std::vector<Vector3>& vertices) {
  std::vector<Vector3> middles;
  middles.reserve(faces_.size());
  for (const Face& face : faces_) {
    const auto x = corners_of(face, vertices);
    middles.emplace_back((x[0] + x[1] + x[2]) / 3.0);
  }
  order_.resize(faces_.size());
  std::iota(order_.begin(), order_.end(), 0);
  nodes_.reserve(faces_.size());
  add_node(middles, 0, static_cast<int>(faces_.size()));
}

/// Halves along the longest side of the middles' box: as deep as the logarithm of the faces, whatever they are.
int MeshTopology::add_node(const std::vector<Vector3>& middles, int begin, int end) {
  const int node = static_cast<int>(nodes_.size());
  nodes_.push_back({begin, end});
  constexpr int few = 4;
  if (end - begin <= few) return node;
  Box box = box_of(middles[static_cast<std::size_t>(order_[static_cast<std::size_t>(begin)])]);
  for (int i = begin; i < end; ++i)
    include(box, box_of(middles[static_cast<std::size_t>(order_[static_cast<std::size_t>(i)])]));
  Eigen::Index axis = 0;
  (box.upper - box.lower).maxCoeff(&axis);
  const int half = begin + (end - begin) / 2;
  const auto before = [&](int i, int j) {
    const double x = middles[static_cast<std::size_t>(i)][axis];
    const double y = middles[static_cast<std::size_t>(j)][axis];
    return x != y ? x < y : i < j;
  };
  std::nth_element(order_.begin() + begin, order_.begin() + half, order_.begin() + end, before);
  const int left = add_node(middles, begin, half);
  const int right = add_node(middles, half, end);
  nodes_[static_cast<std::size_t>(node)].left = left;
  nodes_[static_cast<std::size_t>(node)].right = right;
  return node;
}

TriangleMesh::TriangleMesh(std::shared_ptr<const MeshTopology> of, std::vector<Vector3> places)
    : topology(std::move(of)), vertices(std::move(places)) {
  require(static_cast<int>(vertices.size()) == topology->vertex_count(), "mesh: wrong number of vertices");
  const std::vector<MeshTopology::Node>& nodes = topology->nodes();
  boxes.resize(nodes.size());
  for (std::size_t n = nodes.size(); n-- > 0;) {  // children stand after their parents
    const MeshTopology::Node& node = nodes[n];
    if (node.left >= 0) {
      boxes[n] = boxes[static_cast<std::size_t>(node.left)];
      include(boxes[n], boxes[static_cast<std::size_t>(node.right)]);
      continue;
    }
    boxes[n] = box_of(corners(topology->order()[static_cast<std::size_t>(node.begin)])[0]);
    for (int i = node.begin; i < node.end; ++i) {
      for (const Vector3& x : corners(topology->order()[static_cast<std::size_t>(i)])) include(boxes[n], box_of(x));
    }
  }
}

std::array<Vector3, 3> TriangleMesh::corners(int face) const {
  return corners_of(topology->faces()[static_cast<std::size_t>(face)], vertices);
}

namespace {

/// Calls visit(face) for faces in leaves that overlap `box` until it returns false.
template <typename Visit>
void visit_leaves(const TriangleMesh& mesh, const Box& box, const Visit& visit) {
  std::array<int, 64> stack;  // deeper than any tree of halves of the faces that an int counts
  std::size_t count = 0;
  stack[count++] = 0;
  while (count > 0) {
    const auto n = static_cast<std::size_t>(stack[--count]);
    if (!mesh.boxes[n].overlaps(box)) continue;
    const MeshTopology::Node& node = mesh.topology->nodes()[n];
    if (node.left >= 0) {
      stack[count++] = node.right;
      stack[count++] = node.left;
      continue;
    }
    for (int i = node.begin; i < node.end; ++i) {
      const int face = mesh.topology->order()[static_cast<std::size_t>(i)];
      const auto x = mesh.corners(face);
      Box own = box_of(x[0]);
      include(own, box_of(x[1]));
      include(own, box_of(x[2]));
      if (own.overlaps(box) && !visit(face)) return;
    }
  }
}

}  // namespace

void TriangleMesh::append_faces(const Box& box, std::vector<int>& out) const {
  visit_leaves(*this, box, [&](int face) {
    out.push_back(face);
    return true;
  });
}

bool TriangleMesh::may_meet(const Box& box) const {
  bool met = false;
  visit_leaves(*this, box, [&](int) { return !(met = true); });
  return met;
}

Welded weld(const std::vector<Face>& faces, const std::vector<Vector3>& vertices) {
  Welded out;
  for (const Vector3& x : vertices) require(x.allFinite(), "mesh: a vertex is not finite");
  std::vector<int> order(vertices.size());
  std::iota(order.begin(), order.end(), 0);
  const auto at = [&](int i) -> const Vector3& { return vertices[static_cast<std::size_t>(i)]; };
  const auto key = [&](int i) { return std::tie(at(i).x(), at(i).y(), at(i).z()); };
  std::sort(order.begin(), order.end(), [&](int i, int j) { return key(i) != key(j) ? key(i) < key(j) : i < j; });
  std::vector<int> first(vertices.size());  // at the same place
  for (std::size_t k = 0; k < order.size(); ++k) {
    const bool same = k > 0 && at(order[k]) == at(order[k - 1]);
    first[static_cast<std::size_t>(order[k])] = same ? first[static_cast<std::size_t>(order[k - 1])] : order[k];
  }
  out.merged.resize(vertices.size());
  for (std::size_t i = 0; i < vertices.size(); ++i) {
    if (first[i] == static_cast<int>(i)) {
      out.merged[i] = static_cast<int>(out.vertices.size());
      out.vertices.push_back(vertices[i]);
    } else {
      out.merged[i] = out.merged[static_cast<std::size_t>(first[i])];
    }
  }
  out.faces.reserve(faces.size());
  for (const Face& face : faces) {
    Face& welded = out.faces.emplace_back();
    for (std::size_t k = 0; k < 3; ++k) {
      require(face[k] >= 0 && static_cast<std::size_t>(face[k]) < vertices.size(),
              "mesh: a face names a vertex that is not there");
      welded[k] = out.merged[static_cast<std::size_t>(face[k])];
    }
  }
  return out;
}

Vector3 triangle_normal(const std::array<Vector3, 3>& x) {
  return math::safe_normalized(Vector3((x[1] - x[0]).cross(x[2] - x[0])));
}

TrianglePoint nearest_on_triangle(const std::array<Vector3, 3>& x, const Vector3& p) {
  TrianglePoint out;
  const auto take = [&](const Vector3& weights) {
    const Vector3 point = weights[0] * x[0] + weights[1] * x[1] + weights[2] * x[2];
    const double distance = math::safe_norm(Vector3(p - point));
    if (out.weights.isZero(0.0) || distance < out.distance) out = {weights, point, distance};
  };
  out.weights.setZero();
  // Inside, by areas seen along the normal; else the nearest of the three sides.
  const Vector3 normal = (x[1] - x[0]).cross(x[2] - x[0]);
  const double size = normal.squaredNorm();
  Vector3 areas;
  for (std::size_t k = 0; k < 3; ++k) {
    const Vector3& from = x[(k + 1) % 3];
    areas[static_cast<Eigen::Index>(k)] = normal.dot((x[(k + 2) % 3] - from).cross(p - from)) / size;
  }
  if ((areas.array() > 0.0).all()) {
    take(areas / areas.sum());
    return out;
  }
  for (std::size_t k = 0; k < 3; ++k) {
    const Vector3& from = x[k];
    const Vector3 along = x[(k + 1) % 3] - from;
    const double share = std::clamp(along.dot(p - from) / along.squaredNorm(), 0.0, 1.0);
    Vector3 weights = Vector3::Zero();
    weights[static_cast<Eigen::Index>(k)] = 1.0 - share;
    weights[static_cast<Eigen::Index>((k + 1) % 3)] = share;
    take(weights);
  }
  return out;
}

namespace {

double squared_distance(const Box& box, const Vector3& p) {
  return (p - p.cwiseMax(box.lower).cwiseMin(box.upper)).squaredNorm();
}

/// A point of a face.
struct FacePoint {
  int face = -1;
  TrianglePoint at{Vector3::Zero(), Vector3::Zero(), std::numeric_limits<double>::infinity()};
};

FacePoint nearest_on(const TriangleMesh& mesh, const Vector3& p) {
  FacePoint best;
  std::array<int, 64> stack;  // as in visit_leaves()
  std::size_t count = 0;
  stack[count++] = 0;
  const auto far = [&](int n) { return squared_distance(mesh.boxes[static_cast<std::size_t>(n)], p); };
  while (count > 0) {
    const int n = stack[--count];
    if (far(n) > best.at.distance * best.at.distance) continue;
    const MeshTopology::Node& node = mesh.topology->nodes()[static_cast<std::size_t>(n)];
    if (node.left >= 0) {
      const bool left_first = far(node.left) <= far(node.right);
      stack[count++] = left_first ? node.right : node.left;
      stack[count++] = left_first ? node.left : node.right;
      continue;
    }
    for (int i = node.begin; i < node.end; ++i) {
      const int face = mesh.topology->order()[static_cast<std::size_t>(i)];
      const TrianglePoint found = nearest_on_triangle(mesh.corners(face), p);
      if (found.distance < best.at.distance) best = {face, found};
    }
  }
  return best;
}

/// Of the faces around a vertex, each by its angle there.
Vector3 vertex_normal(const TriangleMesh& mesh, int vertex) {
  Vector3 out = Vector3::Zero();
  for (const int face : mesh.topology->faces_at(vertex)) {
    const Face& corners = mesh.topology->faces()[static_cast<std::size_t>(face)];
    const auto at = static_cast<std::size_t>(std::find(corners.begin(), corners.end(), vertex) - corners.begin());
    const auto x = mesh.corners(face);
    const Vector3 a = x[(at + 1) % 3] - x[at], b = x[(at + 2) % 3] - x[at];
    out += std::atan2(a.cross(b).norm(), a.dot(b)) * triangle_normal(x);
  }
  return out;
}

Vector3 normal_at(const TriangleMesh& mesh, const FacePoint& place) {
  const auto& [face, at] = place;
  if (at.inside() == 3) return triangle_normal(mesh.corners(face));
  Eigen::Index corner = 0;
  if (at.inside() == 1) {
    at.weights.maxCoeff(&corner);
    return vertex_normal(mesh,
                         mesh.topology->faces()[static_cast<std::size_t>(face)][static_cast<std::size_t>(corner)]);
  }
  at.weights.minCoeff(&corner);
  const int side = mesh.topology->face_edges(face)[static_cast<std::size_t>((corner + 1) % 3)];  // opposite the corner
  Vector3 out = Vector3::Zero();
  for (const int beside : mesh.topology->edges()[static_cast<std::size_t>(side)].faces)
    if (beside >= 0) out += triangle_normal(mesh.corners(beside));
  return out;
}

}  // namespace

double signed_distance(const TriangleMesh& mesh, const Vector3& p) {
  const FacePoint nearest = nearest_on(mesh, p);
  const bool inside = mesh.topology->closed() && normal_at(mesh, nearest).dot(p - nearest.at.point) < 0.0;
  return inside ? -nearest.at.distance : nearest.at.distance;
}

}  // namespace tresse::geometry
