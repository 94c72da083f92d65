#include <tresse/geometry/triangle_mesh.hpp>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>
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

/// Where the way from p to that of q passes p along z: 1 going up, -1 going down, on the far side of p along y; else 0.
/// The same to the bit, but for its sign, for the way back.
int passes(const Vector3& q, const Vector3& r, const Vector3& p) {
  const bool up = r.z() > p.z();
  if ((q.z() > p.z()) == up) return 0;
  const Vector3& low = up ? q : r;
  const Vector3& high = up ? r : q;
  const double side = (high.z() - low.z()) * (low.y() - p.y()) + (p.z() - low.z()) * (high.y() - low.y());
  if (!(side > 0.0)) return 0;
  return up ? 1 : -1;
}

/// Calls visit(face, sign) for the faces that the ray from p along x goes through; sign: 1 where it goes the way of the
/// face's normal, -1 against it.
template <typename Visit>
void for_each_crossing(const TriangleMesh& mesh, const Vector3& p, const Visit& visit) {
  const Vector3 far(std::numeric_limits<double>::infinity(), p.y(), p.z());
  visit_leaves(mesh, Box{p, far}, [&](int face) {
    const auto x = mesh.corners(face);
    const int sign = passes(x[0], x[1], p) + passes(x[1], x[2], p) + passes(x[2], x[0], p);
    const double behind = (x[1] - x[0]).cross(x[2] - x[0]).dot(p - x[0]);
    if (sign * behind < 0.0) visit(face, sign);
    return true;
  });
}

/// Six times the volume that faces go round, or their share of it.
double volume(const std::vector<int>& part, const std::vector<Face>& faces, const std::vector<Vector3>& vertices) {
  const Vector3& origin = vertices[static_cast<std::size_t>(faces[static_cast<std::size_t>(part.front())][0])];
  double out = 0.0;
  for (const int face : part) {
    const auto x = corners_of(faces[static_cast<std::size_t>(face)], vertices);
    out += (x[0] - origin).dot((x[1] - origin).cross(x[2] - origin));
  }
  return out;
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
  const std::vector<Part> parts = parts_alike();
  find_faces_at(vertices.size());
  build_tree(vertices);
  turn_outwards(parts, vertices);
}

void MeshTopology::find_edges() {
  edges_.clear();
  rim_edges_ = several_edges_ = 0;
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

void MeshTopology::turn(int face) {
  const auto f = static_cast<std::size_t>(face);
  std::swap(faces_[f][1], faces_[f][2]);
  std::swap(face_edges_[f][0], face_edges_[f][2]);
}

/// Gathers the faces that hang together with the first of a part over edges of two faces, and which of them run round
/// against the first. False for a surface with one side only, such as a Moebius strip.
bool MeshTopology::wind_alike(Part& part, std::vector<char>& seen, std::vector<char>& against) const {
  bool two_sides = true;
  for (std::size_t i = 0; i < part.size(); ++i) {
    const auto face = static_cast<std::size_t>(part[i]);
    for (const int e : face_edges_[face]) {
      const MeshEdge& edge = edges_[static_cast<std::size_t>(e)];
      if (edge.several || edge.faces[1] < 0) continue;
      const int next = edge.faces[0] == part[i] ? edge.faces[1] : edge.faces[0];
      const auto n = static_cast<std::size_t>(next);
      const char wanted = edge.agree ? against[face] : static_cast<char>(1 - against[face]);
      if (seen[n] == 0) {
        seen[n] = 1;
        against[n] = wanted;
        part.push_back(next);
      }
      two_sides = two_sides && against[n] == wanted;
    }
  }
  return two_sides;
}

/// The parts of the surface. Of each that has two sides as few faces are turned as it takes for all to agree.
std::vector<MeshTopology::Part> MeshTopology::parts_alike() {
  std::vector<Part> parts;
  std::vector<char> seen(faces_.size(), 0), against(faces_.size(), 0);
  Part wrong;
  for (int start = 0; start < static_cast<int>(faces_.size()); ++start) {
    if (seen[static_cast<std::size_t>(start)] != 0) continue;
    seen[static_cast<std::size_t>(start)] = 1;
    Part& part = parts.emplace_back(1, start);
    if (!wind_alike(part, seen, against)) continue;
    const auto count =
        std::count_if(part.begin(), part.end(), [&](int f) { return against[static_cast<std::size_t>(f)] != 0; });
    const char fewer = 2 * count > static_cast<std::ptrdiff_t>(part.size()) ? 0 : 1;
    std::copy_if(part.begin(), part.end(), std::back_inserter(wrong),
                 [&](int f) { return against[static_cast<std::size_t>(f)] == fewer; });
  }
  for (const int face : wrong) turn(face);
  turned_ = static_cast<int>(wrong.size());
  if (turned_ > 0) find_edges();
  return parts;
}

/// The outer parts of a closed surface are made to look outwards. What is inside another part, a hollow say, keeps its
/// sides against that.
void MeshTopology::turn_outwards(const std::vector<Part>& parts, const std::vector<Vector3>& vertices) {
  if (!closed_) return;
  std::vector<double> volumes;
  std::vector<std::size_t> part_of(faces_.size());
  for (std::size_t i = 0; i < parts.size(); ++i) {
    for (const int face : parts[i]) part_of[static_cast<std::size_t>(face)] = i;
    volumes.push_back(volume(parts[i], faces_, vertices));
  }
  std::vector<std::size_t> outer(parts.size());  // the largest part around each
  std::iota(outer.begin(), outer.end(), std::size_t{0});
  if (parts.size() > 1) {
    const TriangleMesh mesh({std::shared_ptr<const MeshTopology>(), this}, vertices);
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const auto x = mesh.corners(parts[i].front());
      std::map<std::size_t, int> winding;
      for_each_crossing(mesh, (x[0] + x[1] + x[2]) / 3.0,
                        [&](int face, int sign) { winding[part_of[static_cast<std::size_t>(face)]] += sign; });
      for (const auto& [other, times] : winding) {
        if (other != i && times != 0 && std::abs(volumes[other]) > std::abs(volumes[outer[i]])) outer[i] = other;
      }
    }
  }
  Part wrong;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (volumes[outer[i]] < 0.0) wrong.insert(wrong.end(), parts[i].begin(), parts[i].end());
  }
  for (const int face : wrong) turn(face);
  if (wrong.size() < faces_.size()) turned_ += static_cast<int>(wrong.size());
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

}  // namespace

MeshPoint nearest_on_mesh(const TriangleMesh& mesh, const Vector3& p, double within) {
  MeshPoint best{-1, {Vector3::Zero(), Vector3::Zero(), within}};
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
  if (best.face < 0) best.at.distance = std::numeric_limits<double>::infinity();
  return best;
}

int winding_number(const TriangleMesh& mesh, const Vector3& p) {
  int out = 0;
  for_each_crossing(mesh, p, [&](int, int sign) { out += sign; });
  return out;
}

bool is_inside(const TriangleMesh& mesh, const Vector3& p) {
  return mesh.topology->closed() && winding_number(mesh, p) != 0;
}

double signed_distance(const TriangleMesh& mesh, const Vector3& p) {
  const double distance = nearest_on_mesh(mesh, p, std::numeric_limits<double>::infinity()).at.distance;
  return is_inside(mesh, p) ? -distance : distance;
}

}  // namespace tresse::geometry
