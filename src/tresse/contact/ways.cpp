#include <tresse/contact/ways.hpp>

#include <algorithm>
#include <utility>

#include <tresse/base/blocks.hpp>
#include <tresse/geometry/curve_motion.hpp>

namespace tresse::contact {
namespace {

/// The pieces of `end` on their way; empty where the two are not of the same bodies.
std::vector<WayPiece> way_pieces(const Geometry& begin, const Geometry& end) {
  std::vector<WayPiece> out(end.pieces.size());
  auto before = begin.pieces.begin();
  for (std::size_t i = 0; i < end.pieces.size(); ++i) {
    const Piece& now = end.pieces[i];
    const auto earlier = [&](const Piece& piece) {
      return std::pair(piece.body, piece.element) < std::pair(now.body, now.element);
    };
    while (before != begin.pieces.end() && earlier(*before)) ++before;
    if (before == begin.pieces.end() || before->body != now.body || before->element != now.element) return {};
    const double length = geometry::domain(now.curve).end;
    out[i] = {&before->curve, &now.curve, now.interval,
              length > 0.0 ? geometry::domain(before->curve).end / length : 1.0, now.curvature};
  }
  return out;
}

/// The way of a piece between two curves as a travel: rigid, and the rest, proved, as its reach. What is left of the
/// way between two points is within b (length/2)^2/8 of a straight line, b a bound of its second derivative.
struct WayOf {
  const geometry::PreparedCurve& from;
  const geometry::PreparedCurve& to;
  double stretch = 1.0;    ///< from the parameter of the first to that of the second
  double bend_from = 0.0;  ///< >= |r''| of the first, by its parameter [1/m]
  double bend_to = 0.0;    ///< of the second, by the parameter of the first

  Travel over(const geometry::Interval& interval) const {
    const double length = interval.end - interval.begin;
    const double middle = interval.begin + 0.5 * length;
    const auto place = [&](double s) { return geometry::position(from, s); };
    const auto way = [&](double s) -> Vector3 { return geometry::position(to, stretch * s) - place(s); };
    Travel out =
        rigid_travel({place(interval.begin), place(middle), place(interval.end)},
                     {way(interval.begin), way(middle), way(interval.end)}, bend_from * length * length / 32.0, 0.0);
    const double turn = out.spin.norm();
    double change = bend_to + bend_from * (1.0 + turn);
    if (stretch == 1.0) {
      Matrix3 turned;
      turned << 1.0, -out.spin.z(), out.spin.y(), out.spin.z(), 1.0, -out.spin.x(), -out.spin.y(), out.spin.x(), 1.0;
      change = std::min(change, (1.0 + turn) * geometry::bending_between(from, to, turned, interval));
    }
    out.reach += change * length * length / 32.0;
    return out;
  }
};

/// Sets what of the ways `end`'s travel does not hold: `beyond` and `astray`.
void compare_with_travel(const Geometry& end, Ways& ways) {
  const std::size_t count = end.pieces.size();
  std::vector<Travel> beside = ways.back;
  take_off_common(end.pieces, beside);
  double along = 0.0, all = 0.0;
  for (std::size_t i = 0; i < count; ++i) {
    along -= beside[i].drift.dot(end.pieces[i].travel.drift);
    all += end.pieces[i].travel.drift.squaredNorm();
  }
  const double share = all > 0.0 ? std::clamp(along / all, 0.0, 1.0) : 0.0;
  for (std::size_t i = 0; i < count; ++i) {
    const Travel& next = end.pieces[i].travel;
    beside[i].drift += share * (next.drift + next.spin.cross(ways.back[i].middle - next.middle));
    beside[i].spin += share * next.spin;
  }
  take_off_common(end.pieces, beside);
  ways.beyond.assign(count, 0.0);
  for (std::size_t i = 0; i < count; ++i) {
    const Piece& piece = end.pieces[i];
    const double beyond = beside[i].farthest() - piece.travel.reach;
    if (!(beyond <= piece.radius)) {
      ways.astray.push_back(static_cast<int>(i));
    } else if (beyond > 0.0) {
      ways.beyond[i] = beyond;
    }
  }
}

}  // namespace

Ways ways_between(const Geometry& begin, const Geometry& end) {
  Ways out;
  out.pieces = way_pieces(begin, end);
  out.forth.resize(out.pieces.size());
  out.back.resize(out.pieces.size());
  constexpr std::size_t block = 128;
  for_blocks(out.pieces.size(), block, [&](std::size_t, std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last; ++i) {
      WayPiece& piece = out.pieces[i];
      const geometry::Interval earlier = piece.interval_before();
      const double bend = geometry::second_derivative_bound(*piece.before, earlier);
      const double by = piece.stretch * piece.stretch;
      out.forth[i] = WayOf{*piece.before, *piece.now, 1.0 / piece.stretch, bend, piece.bend / by}.over(earlier);
      out.back[i] = WayOf{*piece.now, *piece.before, piece.stretch, piece.bend, by * bend}.over(piece.interval);
      piece.bend = std::max(piece.bend, by * bend);
    }
  });
  if (!out.pieces.empty()) compare_with_travel(end, out);
  return out;
}

}  // namespace tresse::contact
