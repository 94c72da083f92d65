#pragma once

#include <cmath>
#include <random>

#include <Eigen/Geometry>

#include <tresse/geometry/closest_points.hpp>

/// Random curves of the size of hair, from a seed: a failing property names the seed.
namespace tresse::geometry::test {

class RandomCurves {
 public:
  explicit RandomCurves(unsigned seed) : engine_(seed) {}

  double uniform(double low, double high) { return std::uniform_real_distribution<double>(low, high)(engine_); }
  Vector3 vector(double size) { return {uniform(-size, size), uniform(-size, size), uniform(-size, size)}; }
  Matrix3 rotation() {
    std::normal_distribution<double> normal;
    return Eigen::Quaterniond(normal(engine_), normal(engine_), normal(engine_), normal(engine_))
        .normalized()
        .toRotationMatrix();
  }
  HelixArc helix(double place = 0.012, double bend = 150.0) {
    return {vector(place), rotation(), vector(bend), uniform(0.005, 0.03)};
  }
  /// A neighbour in a wisp: much the same arc, some fibre radii away, turned a little and shifted along.
  template <typename Arc>
  Arc beside(Arc arc) {
    const double angle = 0.1 * std::pow(uniform(0.0, 1.0), 3.0);
    arc.position += vector(2e-4) + uniform(-1.0, 1.0) * arc.length * arc.frame.col(0) * (uniform(0.0, 1.0) < 0.5);
    arc.frame = Eigen::AngleAxisd(angle, vector(1.0).normalized()) * arc.frame;
    arc.curvature += vector(10.0 * uniform(0.0, 1.0));
    arc.length *= uniform(0.7, 1.4);
    return uniform(0.0, 1.0) < 0.25 ? reversed(arc) : arc;
  }
  /// The same arc from its other end.
  static HelixArc reversed(const HelixArc& arc) {
    const PreparedCurve curve = prepare(arc);
    const Matrix3 end =
        Eigen::AngleAxisd(arc.curvature.norm() * arc.length, arc.frame * arc.curvature.normalized()) * arc.frame;
    const Vector3 k = arc.curvature;
    Matrix3 frame;
    frame << -end.col(0), end.col(1), -end.col(2);
    return {tresse::geometry::position(curve, arc.length), frame, {k.x(), -k.y(), k.z()}, arc.length};
  }
  static ClothoidArc reversed(const ClothoidArc& arc) {
    const Pose end = end_pose(arc);
    const Eigen::DiagonalMatrix<double, 3> turned(1.0, -1.0, 1.0);
    Matrix3 frame;
    frame << -end.frame.col(0), end.frame.col(1), -end.frame.col(2);
    return {end.position, frame, turned * (arc.curvature + arc.length * arc.curvature_slope),
            -(turned * arc.curvature_slope), arc.length};
  }
  ClothoidArc clothoid(double bend = 150.0, double slope = 5000.0) {
    return {vector(0.012), rotation(), vector(bend), vector(slope), uniform(0.005, 0.03)};
  }
  CubicBezier bezier() { return {{vector(0.02), vector(0.02), vector(0.02), vector(0.02)}}; }
  LineSegment segment() { return {vector(0.02), vector(0.02)}; }
  Curve any() {
    switch (static_cast<int>(uniform(0.0, 4.0))) {
      case 0:
        return helix();
      case 1:
        return clothoid();
      case 2:
        return bezier();
      default:
        return segment();
    }
  }
  Interval part(const Curve& curve) {
    const double end = domain(curve).end;
    const double x = uniform(0.0, end);
    const double y = uniform(0.0, end);
    return {std::min(x, y), std::max(x, y)};
  }

 private:
  std::mt19937 engine_;
};

/// The curve moved rigidly: x -> rotation x + shift.
inline Curve moved(const Curve& curve, const Matrix3& rotation, const Vector3& shift) {
  struct Visitor {
    const Matrix3& q;
    const Vector3& t;
    Vector3 at(const Vector3& x) const { return q * x + t; }
    Curve operator()(const LineSegment& c) const { return LineSegment{at(c.from), at(c.to)}; }
    Curve operator()(const HelixArc& c) const { return HelixArc{at(c.position), q * c.frame, c.curvature, c.length}; }
    Curve operator()(const ClothoidArc& c) const {
      return ClothoidArc{at(c.position), q * c.frame, c.curvature, c.curvature_slope, c.length};
    }
    Curve operator()(const CubicBezier& c) const {
      return CubicBezier{{at(c.points[0]), at(c.points[1]), at(c.points[2]), at(c.points[3])}};
    }
  };
  return std::visit(Visitor{rotation, shift}, curve);
}

/// Scale of a curve [m], for tolerances.
inline double scale(const Curve& curve) {
  if (const auto* bezier = std::get_if<CubicBezier>(&curve)) {
    double size = 0.0;
    for (int i = 1; i < 4; ++i) size += (bezier->points[i] - bezier->points[i - 1]).norm();
    return size;
  }
  return domain(curve).end;
}

}  // namespace tresse::geometry::test
