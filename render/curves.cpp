#include "render/curves.hpp"

#include <algorithm>

#include "render/world.hpp"

namespace tresse::render {
namespace {

/// Tangent at point i: given, or of the parabola through it and its neighbours.
Vector3 tangent_at(const Fibre& fibre, Eigen::Index i) {
  if (fibre.tangents.cols() > 0) return fibre.tangents.col(i).normalized();
  const Eigen::Index n = fibre.points.cols();
  if (n == 2) return (fibre.points.col(1) - fibre.points.col(0)).normalized();
  const Eigen::Index middle = std::clamp<Eigen::Index>(i, 1, n - 2);
  const Vector3 before = fibre.points.col(middle) - fibre.points.col(middle - 1);
  const Vector3 after = fibre.points.col(middle + 1) - fibre.points.col(middle);
  const double a = before.norm();
  const double b = after.norm();
  const Vector3 slope_before = before / a;
  const Vector3 slope_after = after / b;
  if (i < middle) return (slope_before + (slope_before - slope_after) * (a / (a + b))).normalized();
  if (i > middle) return (slope_after + (slope_after - slope_before) * (b / (a + b))).normalized();
  return (slope_before * b + slope_after * a).normalized();
}

}  // namespace

void CurveArrays::append(const Fibre& fibre, int index, const Vector3& origin, const Thickness& thickness) {
  const auto vertex = [&](const Vector3& x, double radius) {
    Vertex v;
    v.head<3>() = ((x - origin) * World::scale).cast<float>();
    v[3] = static_cast<float>(radius * World::scale);
    return v;
  };
  struct Radii {
    double covering, drawn;
  };
  const auto radii = [&](Eigen::Index i) -> Radii {
    const double distance = (fibre.points.col(i) - thickness.viewer).norm();
    const double least = std::max(fibre.radii[i] * thickness.factor, thickness.radius_per_metre * distance);
    return {least, std::max(least, thickness.drawn_per_metre * distance)};
  };
  for (Eigen::Index i = 0; i + 1 < fibre.points.cols(); ++i) {
    const Vector3 a = fibre.points.col(i);
    const Vector3 b = fibre.points.col(i + 1);
    const double third = (b - a).norm() / 3.0;
    if (third == 0.0) continue;
    const Radii ra = radii(i);
    const Radii rb = radii(i + 1);
    first.push_back(static_cast<unsigned>(vertices.size()));
    owner.push_back(index);
    covering.push_back(
        {static_cast<float>(ra.covering * World::scale), static_cast<float>(rb.covering * World::scale)});
    thin = thin || ra.covering < ra.drawn || rb.covering < rb.drawn;
    vertices.push_back(vertex(a, ra.drawn));
    vertices.push_back(vertex(a + third * tangent_at(fibre, i), (2.0 * ra.drawn + rb.drawn) / 3.0));
    vertices.push_back(vertex(b - third * tangent_at(fibre, i + 1), (ra.drawn + 2.0 * rb.drawn) / 3.0));
    vertices.push_back(vertex(b, rb.drawn));
  }
}

Vec3 CurveArrays::tangent(unsigned arc, float u) const {
  const Vertex* p = &vertices[first[arc]];
  const float w = 1.0F - u;
  const Vertex d = w * w * (p[1] - p[0]) + 2.0F * u * w * (p[2] - p[1]) + u * u * (p[3] - p[2]);
  return d.head<3>().normalized();
}

float CurveArrays::radius(unsigned arc, float u) const {
  const Vertex* p = &vertices[first[arc]];
  return p[0][3] + u * (p[3][3] - p[0][3]);
}

float CurveArrays::coverage(unsigned arc, float u) const {
  const auto& [at_first, at_last] = covering[arc];
  return (at_first + u * (at_last - at_first)) / radius(arc, u);
}

}  // namespace tresse::render
