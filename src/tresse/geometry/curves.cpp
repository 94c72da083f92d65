#include <tresse/geometry/curves.hpp>

#include <algorithm>
#include <cmath>

#include <tresse/geometry/prepared_curve.hpp>
#include <tresse/math/vectors.hpp>

namespace tresse::geometry {

Interval domain(const Curve& curve) {
  struct Visitor {
    Interval operator()(const LineSegment& c) const { return {0.0, math::safe_norm(c.to - c.from)}; }
    Interval operator()(const HelixArc& c) const { return {0.0, c.length}; }
    Interval operator()(const ClothoidArc& c) const { return {0.0, c.length}; }
    Interval operator()(const CubicBezier&) const { return {0.0, 1.0}; }
  };
  return std::visit(Visitor{}, curve);
}

Vector3 position(const Curve& curve, double s) {
  return std::visit([s](const auto& c) -> Vector3 { return c.origin + c.offset(s); }, prepare(curve));
}

Vector3 derivative(const Curve& curve, double s) {
  return std::visit([s](const auto& c) -> Vector3 { return c.jet(s).first; }, prepare(curve));
}

Vector3 second_derivative(const Curve& curve, double s) {
  return std::visit([s](const auto& c) -> Vector3 { return c.jet(s).second; }, prepare(curve));
}

double turning_length(double k, double g, double turn, double whole) {
  constexpr double most_pieces = 1e5;
  // in the form that never divides by zero but for a straight one
  return std::max(2.0 * turn / (k + std::sqrt(k * k + 4.0 * turn * g)), whole / most_pieces);
}

}  // namespace tresse::geometry
