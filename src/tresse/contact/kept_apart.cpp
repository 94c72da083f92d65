#include <tresse/contact/detail/kept_apart.hpp>

#include <algorithm>
#include <array>
#include <cmath>

#include <tresse/geometry/closest_points.hpp>
#include <tresse/geometry/curve_motion.hpp>

namespace tresse::contact::detail {
namespace {

/// How long the tangents are from a point that is `apart` from the middle of a ball. [m]
double tangent(double apart, double radius) { return std::sqrt((apart - radius) * (apart + radius)); }

double change_of(const WayPiece& piece) {
  if (piece.stretch != 1.0) return 2.0 * piece.bend;
  return std::min(2.0 * piece.bend,
                  geometry::bending_between(*piece.before, *piece.now, Matrix3::Identity(), piece.interval));
}

}  // namespace

bool passes_beside(double first, double last, double way, double least) {
  return first >= least && last >= least && way <= tangent(first, least) + tangent(last, least);
}

PairProof::PairProof(const WayPiece& a, const WayPiece& b, double least, const LeftOut& left_out,
                     std::vector<WayBox>& memory)
    : a_{a, change_of(a)}, b_{b, change_of(b)}, least_(least), left_out_(left_out), memory_(memory) {}

bool PairProof::run(double last) { return apart(a_.whole(), b_.whole(), last); }

bool PairProof::apart(const Stretch& a, const Stretch& b, double last) {
  constexpr int corners = 4, most = 400;
  const int out = corners_left_out(a, b);
  if (out == corners) return true;
  const double way = farthest(a, b);
  if (apart_by_ends(a, b, way, last)) return true;
  if (++stretches_ > most) {
    place_ = {.s_a = a.middle(), .s_b = b.middle(), .time = 0.5};
    return false;
  }
  // Shorter stretches differ less in their motions, and say better where what counts begins.
  constexpr double much = 0.25, long_one = 0.5;
  const double swing_a = a_.swing(a), swing_b = b_.swing(b);
  if (std::max(swing_a, swing_b) > much * way) return apart_in_halves(a, b, swing_a >= swing_b);
  if (out > 0 && std::max(a.length(), b.length()) > long_one * least_)
    return apart_in_halves(a, b, a.length() >= b.length());
  return apart_by_search(a, b);
}

bool PairProof::apart_in_halves(const Stretch& a, const Stretch& b, bool of_a) {
  const Stretch& whole = of_a ? a : b;
  const double middle = whole.middle();
  const Vector3 way = (of_a ? a_ : b_).way(middle);
  const std::array<Stretch, 2> halves{
      {{{whole.interval.begin, middle}, whole.begin, way}, {{middle, whole.interval.end}, way, whole.end}}};
  return std::all_of(halves.begin(), halves.end(),
                     [&](const Stretch& half) { return of_a ? apart(half, b, 0.0) : apart(a, half, 0.0); });
}

/// By the distances at both ends of the way. Each is measured only as well as it has to be.
bool PairProof::apart_by_ends(const Stretch& a, const Stretch& b, double way, double last) const {
  constexpr double rounding = 1e-9;  // of the way: so much is asked for beyond what would do
  const double wanted = way * (1.0 + rounding);
  if (!(last > 0.0)) {
    last = geometry::separation(*a_.piece.now, a.interval, *b_.piece.now, b.interval,
                                {.enough = std::hypot(least_, wanted), .least = least_});
  }
  if (last < least_) return false;
  if (last - wanted >= least_) return true;
  const double needed = std::hypot(least_, std::max(0.0, wanted - tangent(last, least_)));
  const auto before = [](const WayPiece& piece, const Stretch& stretch) -> geometry::Interval {
    return {piece.stretch * stretch.interval.begin, piece.stretch * stretch.interval.end};
  };
  const double first = geometry::separation(*a_.piece.before, before(a_.piece, a), *b_.piece.before,
                                            before(b_.piece, b), {.enough = needed, .least = needed});
  return passes_beside(first, last, way, least_);
}

bool PairProof::apart_by_search(const Stretch& a, const Stretch& b) {
  WayPiece part_a = a_.piece, part_b = b_.piece;
  part_a.interval = a.interval;
  part_b.interval = b.interval;
  place_ = nearest_on_way(part_a, part_b, {.enough = least_, .limit = least_, .left_out = &left_out_}, memory_);
  return place_.apart;
}

/// How far points of two stretches move at most, seen from each other. [m]
double PairProof::farthest(const Stretch& a, const Stretch& b) const {
  double out = 0.0;
  for (const Vector3* of_a : {&a.begin, &a.end}) {
    for (const Vector3* of_b : {&b.begin, &b.end}) out = std::max(out, (*of_a - *of_b).norm());
  }
  return out + a_.beside(a) + b_.beside(b);
}

int PairProof::corners_left_out(const Stretch& a, const Stretch& b) const {
  int out = 0;
  for (const double s_a : {a.interval.begin, a.interval.end}) {
    for (const double s_b : {b.interval.begin, b.interval.end}) out += left_out_(s_a, s_b) ? 1 : 0;
  }
  return out;
}

}  // namespace tresse::contact::detail
