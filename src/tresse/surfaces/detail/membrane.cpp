#include <tresse/surfaces/detail/membrane.hpp>

#include <algorithm>
#include <cmath>

#include <Eigen/Geometry>
#include <Eigen/LU>

namespace tresse::surfaces::detail {

RestTriangle rest_triangle(const std::array<Vector3, 3>& x, const Vector3& warp) {
  const Vector3 a = x[1] - x[0], b = x[2] - x[0], normal = a.cross(b);
  const Vector3 first = (warp - warp.dot(normal) / normal.squaredNorm() * normal).normalized();
  const Vector3 second = normal.normalized().cross(first);
  Eigen::Matrix2d sides;
  sides << first.dot(a), first.dot(b), second.dot(a), second.dot(b);
  const Eigen::Matrix2d inverse = sides.inverse();
  RestTriangle out;
  out.area = 0.5 * normal.norm();
  out.slopes.col(1) = inverse.row(0).transpose();
  out.slopes.col(2) = inverse.row(1).transpose();
  out.slopes.col(0) = -out.slopes.col(1) - out.slopes.col(2);
  return out;
}

TriangleStrain strain_of(const RestTriangle& rest, const std::array<Vector3, 3>& x) {
  TriangleStrain out;
  const Vector3 a = x[1] - x[0], b = x[2] - x[0];  // differences: nothing is lost far from the origin
  out.edge = a * rest.slopes.col(1).transpose() + b * rest.slopes.col(2).transpose();
  const auto f = out.edge.col(0), g = out.edge.col(1);
  out.strain = {0.5 * (f.squaredNorm() - 1.0), 0.5 * (g.squaredNorm() - 1.0), f.dot(g)};
  return out;
}

std::array<Matrix3, 3> strain_slopes(const RestTriangle& rest, const TriangleStrain& at) {
  std::array<Matrix3, 3> out;
  for (int k = 0; k < 3; ++k) {
    const double n1 = rest.slopes(0, k), n2 = rest.slopes(1, k);
    Matrix3& slope = out[static_cast<std::size_t>(k)];
    slope.row(0) = n1 * at.edge.col(0).transpose();
    slope.row(1) = n2 * at.edge.col(1).transpose();
    slope.row(2) = (n2 * at.edge.col(0) + n1 * at.edge.col(1)).transpose();
  }
  return out;
}

Matrix3 geometric_stiffness(const RestTriangle& rest, const Vector3& stress) {
  Eigen::Matrix2d tensor;
  tensor << stress[0], stress[2], stress[2], stress[1];
  return rest.slopes.transpose() * tensor * rest.slopes;
}

Vector3 tensile(const Vector3& stress) {
  const double mean = 0.5 * (stress[0] + stress[1]), half = 0.5 * (stress[0] - stress[1]);
  const double radius = std::sqrt(half * half + stress[2] * stress[2]);
  const double high = mean + radius, low = mean - radius;
  if (low >= 0.0) return stress;
  if (high <= 0.0 || radius == 0.0) return Vector3::Zero();
  // high times the projector on its direction: (S - low 1) / (high - low).
  const double share = high / (high - low);
  return {share * (stress[0] - low), share * (stress[1] - low), share * stress[2]};
}

}  // namespace tresse::surfaces::detail
