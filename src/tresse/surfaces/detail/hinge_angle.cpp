#include <tresse/surfaces/detail/hinge_angle.hpp>

#include <cmath>

#include <Eigen/Geometry>

#include <tresse/math/rotations.hpp>
#include <tresse/math/vectors.hpp>

namespace tresse::surfaces::detail {
namespace {

using Row = Eigen::Matrix<double, 1, 12>;
using Slopes = Eigen::Matrix<double, 3, 12>;

/// One of the two triangles: m = N / |N|^2 with N = (x_1 - x_0) x (x_c - x_0), for the second from x_1.
struct Flank {
  int corner;     ///< across from the edge
  Vector3 m;      ///< [1/m^2]
  Slopes slopes;  ///< of m
};

/// `begin` to `end` is the edge as the triangle runs through it.
Flank flank(const HingePoints& x, int begin, int end, int corner) {
  const auto at = [&](int k) { return x[static_cast<std::size_t>(k)]; };
  const Vector3 e = at(end) - at(begin), to = at(corner) - at(begin), normal = e.cross(to);
  const double square = normal.squaredNorm();
  Slopes d = Slopes::Zero();  // of N
  const Matrix3 by_end = -math::cross_matrix(to), by_corner = math::cross_matrix(e);
  d.middleCols<3>(3 * end) = by_end;
  d.middleCols<3>(3 * corner) = by_corner;
  d.middleCols<3>(3 * begin) = -by_end - by_corner;
  Flank out;
  out.corner = corner;
  out.m = normal / square;
  const Matrix3 turned = (Matrix3::Identity() - 2.0 / square * normal * normal.transpose()) / square;
  out.slopes = turned * d;
  return out;
}

/// A number that a derivative of the angle holds, and its own derivatives.
struct Share {
  double value;
  Row slopes;
};

/// (x_a - x_b) . e / |e|.
Share along_edge(const HingePoints& x, int a, int b) {
  const Vector3 e = x[1] - x[0], d = x[static_cast<std::size_t>(a)] - x[static_cast<std::size_t>(b)];
  const double length = e.norm();
  const Vector3 unit = e / length;
  Share out{d.dot(unit), Row::Zero()};
  const Vector3 by_edge = (d - out.value * unit) / length;
  out.slopes.segment<3>(3) += by_edge.transpose();
  out.slopes.segment<3>(0) -= by_edge.transpose();
  out.slopes.segment<3>(3 * a) += unit.transpose();
  out.slopes.segment<3>(3 * b) -= unit.transpose();
  return out;
}

/// visit(vertex, flank, share): the derivative with the place of the vertex is the sum of share times m.
template <class Visit>
void for_terms(const HingePoints& x, const Visit& visit) {
  const Flank first = flank(x, 0, 1, 2), second = flank(x, 1, 0, 3);
  for (const Flank& one : {first, second}) {
    const Share length = along_edge(x, 1, 0);
    visit(one.corner, one, Share{-length.value, -length.slopes});
    const Share to_end = along_edge(x, 1, one.corner), from_begin = along_edge(x, one.corner, 0);
    visit(0, one, to_end);
    visit(1, one, from_begin);
  }
}

}  // namespace

double hinge_angle(const HingePoints& x) {
  const Vector3 e = x[1] - x[0];
  const Vector3 first = e.cross(x[2] - x[0]), second = (x[3] - x[0]).cross(e);
  return std::atan2(first.cross(second).dot(e) / e.norm(), first.dot(second));
}

HingeVector hinge_slope(const HingePoints& x) {
  HingeVector out = HingeVector::Zero();
  for_terms(
      x, [&](int vertex, const Flank& one, const Share& share) { out.segment<3>(3 * vertex) += share.value * one.m; });
  return out;
}

HingeMatrix hinge_curvature(const HingePoints& x) {
  HingeMatrix out = HingeMatrix::Zero();
  for_terms(x, [&](int vertex, const Flank& one, const Share& share) {
    out.middleRows<3>(3 * vertex) += one.m * share.slopes + share.value * one.slopes;
  });
  return out;
}

BentHinge bent_hinge(const HingePoints& x) {
  const Vector3 e = x[1] - x[0];
  const double length = e.norm();
  // Corners in the plane, the edge along the first axis from the origin.
  const auto flat = [&](int corner, double side) {
    const Vector3 to = x[static_cast<std::size_t>(corner)] - x[0];
    return Eigen::Vector2d(to.dot(e) / length, side * to.cross(e).norm() / length);
  };
  const std::array<Eigen::Vector2d, 4> at{Eigen::Vector2d(0.0, 0.0), Eigen::Vector2d(length, 0.0), flat(2, 1.0),
                                          flat(3, -1.0)};
  // The angle is linear in small heights: height over the edge at the corner's foot, over the distance from it.
  std::array<double, 4> slope{0.0, 0.0, 1.0 / at[2].y(), -1.0 / at[3].y()};
  for (const std::size_t corner : {std::size_t{2}, std::size_t{3}}) {
    const double share = at[corner].x() / length;
    slope[0] -= (1.0 - share) * slope[corner];
    slope[1] -= share * slope[corner];
  }
  // Heights (n . x)^2 / 2 of a cylinder bent along n: the angle is n . S n, and its mean square a matter of traces.
  Eigen::Matrix2d s = Eigen::Matrix2d::Zero();
  for (std::size_t k = 0; k < 4; ++k) s += 0.5 * slope[k] * at[k] * at[k].transpose();
  const double areas = 0.5 * length * (at[2].y() - at[3].y());
  return {length * length / areas, (s.trace() * s.trace() + 2.0 * (s * s).trace()) / 8.0, areas / 3.0};
}

}  // namespace tresse::surfaces::detail
