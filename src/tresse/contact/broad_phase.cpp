#include <tresse/contact/broad_phase.hpp>

#include <algorithm>
#include <numeric>

#include <tresse/geometry/box.hpp>

namespace tresse::contact {
namespace {

/// The box of everywhere that a piece may be during the step.
geometry::Box swept(const Piece& piece, const geometry::Box& box) {
  const Vector3 there = piece.drift.cwiseMax(0.0);
  const Vector3 back = piece.drift.cwiseMin(0.0);
  return geometry::Box{box.lower + back, box.upper + there}.grown(piece.radius + piece.reach);
}

int axis_of_largest_spread(const std::vector<geometry::Box>& boxes) {
  Eigen::Array3d sum = Eigen::Array3d::Zero();
  Eigen::Array3d squares = Eigen::Array3d::Zero();
  for (const auto& box : boxes) {
    const Eigen::Array3d centre = 0.5 * (box.lower + box.upper).array();
    sum += centre;
    squares += centre.square();
  }
  int axis = 0;
  (squares - sum.square() / static_cast<double>(boxes.size())).maxCoeff(&axis);
  return axis;
}

/// Whether two pieces of one fibre, i before j, are so far apart along it that they could touch.
bool can_touch_itself(const std::vector<Piece>& pieces, int i, int j) {
  if (j - i < 2) return false;
  double curvature = 0.0;
  for (int k = i; k <= j; ++k) curvature = std::max(curvature, pieces[k].curvature);
  const double longest = pieces[j].begin + pieces[j].interval.end - pieces[i].begin - pieces[i].interval.begin;
  const double margin = pieces[i].reach + pieces[j].reach + (pieces[i].drift - pieces[j].drift).norm();
  return longest > self_contact_free_length(curvature, std::max(pieces[i].radius, pieces[j].radius), margin);
}

bool wanted(const std::vector<Piece>& pieces, const std::vector<geometry::Box>& still, const BroadPhaseOptions& options,
            int i, int j) {
  const Piece& a = pieces[i];
  const Piece& b = pieces[j];
  if (!a.fibre && !b.fibre) return false;
  // Neighbours in a wisp travel together: only what one travels towards the other counts.
  if (still[i].distance(still[j]) > meeting_distance(a, b)) return false;
  if (a.body == b.body) return options.self_contact && can_touch_itself(pieces, i, j);
  return options.fibre_contact || !a.fibre || !b.fibre;
}

void add_plane_pairs(const Geometry& scene, const std::vector<geometry::Box>& boxes,
                     std::vector<CandidatePair>& pairs) {
  for (int k = 0; k < static_cast<int>(scene.planes.size()); ++k) {
    const HalfSpace& plane = scene.planes[k];
    for (int i = 0; i < static_cast<int>(boxes.size()); ++i) {
      if (!scene.pieces[i].fibre) continue;
      const Vector3 centre = 0.5 * (boxes[i].lower + boxes[i].upper);
      const double half_width = 0.5 * (boxes[i].upper - boxes[i].lower).dot(plane.normal.cwiseAbs());
      if (plane.normal.dot(centre - plane.point) <= half_width) pairs.push_back({i, -1 - k});
    }
  }
}

}  // namespace

std::vector<CandidatePair> candidate_pairs(const Geometry& scene, const BroadPhaseOptions& options) {
  std::vector<CandidatePair> pairs;
  if (scene.pieces.empty()) return pairs;
  std::vector<geometry::Box> still;
  std::vector<geometry::Box> boxes;
  still.reserve(scene.pieces.size());
  boxes.reserve(scene.pieces.size());
  for (const Piece& piece : scene.pieces) {
    still.push_back(geometry::quick_box(piece.curve, piece.interval));
    boxes.push_back(swept(piece, still.back()));
  }
  const int axis = axis_of_largest_spread(boxes);
  std::vector<int> order(boxes.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](int i, int j) {
    return boxes[i].lower[axis] != boxes[j].lower[axis] ? boxes[i].lower[axis] < boxes[j].lower[axis] : i < j;
  });
  for (auto first = order.begin(); first != order.end(); ++first) {
    const double end = boxes[*first].upper[axis];
    for (auto other = first + 1; other != order.end() && boxes[*other].lower[axis] <= end; ++other) {
      const int i = std::min(*first, *other);
      const int j = std::max(*first, *other);
      if (boxes[i].overlaps(boxes[j]) && wanted(scene.pieces, still, options, i, j)) pairs.push_back({i, j});
    }
  }
  add_plane_pairs(scene, boxes, pairs);
  std::sort(pairs.begin(), pairs.end(),
            [](const CandidatePair& p, const CandidatePair& q) { return p.a != q.a ? p.a < q.a : p.b < q.b; });
  return pairs;
}

}  // namespace tresse::contact
