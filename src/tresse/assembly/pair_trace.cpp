#include <tresse/assembly/pair_trace.hpp>

#include <algorithm>
#include <map>
#include <utility>

#include <tresse/geometry/box.hpp>
#include <tresse/math/rotations.hpp>

namespace tresse::assembly {
namespace {

/// The part of an element's helix, or of an obstacle's straight or circular axis, that a piece covers, from parameter 0
/// on.
geometry::Curve curve_of(const Kinematics& at, const contact::Piece& piece) {
  if (!piece.id.is_fibre() && piece.curvature > 0.0) {
    const geometry::CurveJet begin = geometry::jet(piece.curve, piece.interval.begin);
    geometry::HelixArc arc;
    arc.position = geometry::position(piece.curve, piece.interval.begin);
    arc.frame << begin.first, begin.second.normalized(), begin.first.cross(begin.second).normalized();
    arc.curvature = {0.0, 0.0, begin.second.norm()};
    arc.length = piece.interval.end - piece.interval.begin;
    return arc;
  }
  if (!piece.id.is_fibre()) {
    return geometry::LineSegment{geometry::position(piece.curve, piece.interval.begin),
                                 geometry::position(piece.curve, piece.interval.end)};
  }
  geometry::Curve whole = at.rod(piece.body).piece(piece.element);
  auto* helix = std::get_if<geometry::HelixArc>(&whole);
  if (!helix) return whole;  // other elements are never cut
  helix->position = geometry::position(piece.curve, piece.interval.begin);
  helix->frame = helix->frame * math::rotation_exp(piece.interval.begin * helix->curvature);
  helix->length = piece.interval.end - piece.interval.begin;
  return whole;
}

using Pair = std::pair<int, int>;

std::vector<Pair> pairs_of_boxes(const contact::Geometry& geometry) {
  std::vector<geometry::Box> boxes;
  boxes.reserve(geometry.pieces.size());
  for (const contact::Piece& piece : geometry.pieces) {
    boxes.push_back(geometry::quick_box(piece.curve, piece.interval).grown(piece.radius + piece.travel.farthest()));
  }
  std::vector<int> order(boxes.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int>(i);
  const auto low = [&](int i) { return boxes[static_cast<std::size_t>(i)].lower.z(); };
  std::sort(order.begin(), order.end(), [&](int i, int j) { return low(i) != low(j) ? low(i) < low(j) : i < j; });
  std::vector<Pair> out;
  for (std::size_t k = 0; k < order.size(); ++k) {
    const geometry::Box& box = boxes[static_cast<std::size_t>(order[k])];
    for (std::size_t l = k + 1; l < order.size() && low(order[l]) <= box.upper.z(); ++l) {
      if (!box.overlaps(boxes[static_cast<std::size_t>(order[l])])) continue;
      const auto [i, j] = std::minmax(order[k], order[l]);
      const contact::Piece& a = geometry.pieces[static_cast<std::size_t>(i)];
      const contact::Piece& b = geometry.pieces[static_cast<std::size_t>(j)];
      if (!a.id.is_fibre() || (a.body == b.body && !contact::can_touch_itself(geometry, i, j))) continue;
      out.emplace_back(i, j);
    }
  }
  std::sort(out.begin(), out.end());
  return out;
}

}  // namespace

std::vector<PairQuery> narrow_phase_trace(const Kinematics& at, const contact::Geometry& geometry,
                                          const std::vector<contact::Place>& followed, std::size_t most) {
  std::map<Pair, geometry::ClosestPointsGuess> guesses;
  for (const contact::Place& place : followed) {
    if (place.element_b < 0) continue;
    const contact::OnPiece a = contact::piece_at(geometry, place.body_a, place.element_a, place.s_a);
    const contact::OnPiece b = contact::piece_at(geometry, place.body_b, place.element_b, place.s_b);
    guesses[{a.piece, b.piece}] = {a.s - geometry.pieces[static_cast<std::size_t>(a.piece)].interval.begin,
                                   b.s - geometry.pieces[static_cast<std::size_t>(b.piece)].interval.begin};
  }
  const std::vector<Pair> pairs = pairs_of_boxes(geometry);
  const std::size_t every = std::max<std::size_t>(1, (pairs.size() + most - 1) / std::max<std::size_t>(1, most));
  std::vector<PairQuery> out;
  for (std::size_t k = 0; k < pairs.size(); k += every) {
    const contact::Piece& a = geometry.pieces[static_cast<std::size_t>(pairs[k].first)];
    const contact::Piece& b = geometry.pieces[static_cast<std::size_t>(pairs[k].second)];
    PairQuery query{curve_of(at, a), curve_of(at, b), contact::meeting_distance(a, b)};
    if (const auto guess = guesses.find(pairs[k]); guess != guesses.end()) query.guess = guess->second;
    out.push_back(std::move(query));
  }
  return out;
}

}  // namespace tresse::assembly
