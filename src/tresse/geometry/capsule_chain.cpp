#include <tresse/geometry/capsule_chain.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

#include <tresse/geometry/detail/piece.hpp>

namespace tresse::geometry {

int chain_parts(const PreparedCurve& curve, Interval interval, double sagitta, double chord) {
  constexpr int most = 64;
  const double length = interval.end - interval.begin;
  const double bend = second_derivative_bound(curve, interval);
  const double parts = std::max(std::sqrt(bend * length * length / (8.0 * sagitta)), length / chord);
  return parts < most ? std::max(1, static_cast<int>(std::ceil(parts))) : most;
}

void make_chain(const PreparedCurve& curve, Interval interval, int parts, CapsuleChain& out) {
  std::visit(
      [&](const auto& c) {
        const double length = (interval.end - interval.begin) / parts;
        out.points.resize(static_cast<std::size_t>(parts) + 1);
        for (int k = 0; k <= parts; ++k) {
          const double s = k == parts ? interval.end : interval.begin + k * length;
          out.points[static_cast<std::size_t>(k)] = c.origin + c.offset(s);
        }
        constexpr double units = 16.0 * std::numeric_limits<double>::epsilon();
        out.radius = c.bounds(interval).second * length * length / 8.0 * (1.0 + 1e-12) +
                     units * (c.size(interval) + c.origin.cwiseAbs().maxCoeff());
      },
      curve);
}

NearestOnSegments nearest_on_segments(const Vector3& p0, const Vector3& p1, const Vector3& q0, const Vector3& q1) {
  const Vector3 p = 0.5 * (p1 - p0);
  const Vector3 q = 0.5 * (q1 - q0);
  const Vector3 w = 0.5 * ((p0 - q0) + (p1 - q1));
  const auto [u, v] = detail::closest_on_segments(w, p, q);
  return {w + u * p - v * q, u, v};
}

double segment_distance(const Vector3& p0, const Vector3& p1, const Vector3& q0, const Vector3& q1) {
  return nearest_on_segments(p0, p1, q0, q1).apart.norm();
}

}  // namespace tresse::geometry
