#include <tresse/geometry/box.hpp>

#include <algorithm>
#include <limits>

#include <tresse/geometry/detail/piece.hpp>

namespace tresse::geometry {
Box quick_box(const PreparedCurve& curve, Interval interval) {
  if (const auto* segment = std::get_if<SegmentEvaluator>(&curve)) {
    const Vector3 first = segment->origin + segment->offset(interval.begin);
    const Vector3 last = segment->origin + segment->offset(interval.end);
    return {first.cwiseMin(last), first.cwiseMax(last)};
  }
  return std::visit(
      [&](const auto& c) -> Box {
        using namespace detail;
        const double half = 0.5 * (interval.end - interval.begin) / lane_count;
        const Pieces p = make_pieces(c, interval.begin + half * Lanes{1.0, 3.0, 5.0, 7.0}, spread(half));
        constexpr double units = 8.0 * std::numeric_limits<double>::epsilon();
        const Lanes grow = p.remainder + units * (c.size(interval) + c.origin.cwiseAbs().maxCoeff());
        Box box;
        for (int axis = 0; axis < 3; ++axis) {
          const auto k = static_cast<std::size_t>(axis);
          const Lanes slope = p.half * p.first[k];
          const Lanes bend = (0.5 * p.half * p.half) * p.second[k];
          const Lanes low = p.offset[k] + least_parabola(slope, bend) - grow;
          const Lanes high = p.offset[k] - least_parabola(-slope, -bend) + grow;
          box.lower[axis] = c.origin[axis] + lanes::least(low);
          box.upper[axis] = c.origin[axis] + lanes::largest(high);
        }
        return box;
      },
      curve);
}

}  // namespace tresse::geometry
