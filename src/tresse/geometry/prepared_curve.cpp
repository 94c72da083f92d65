#include <tresse/geometry/prepared_curve.hpp>

#include <algorithm>

#include <Eigen/Geometry>

namespace tresse::geometry {
namespace {

Matrix3 skew(const Vector3& v) {
  Matrix3 out;
  out << 0.0, -v.z(), v.y(), v.z(), 0.0, -v.x(), -v.y(), v.x(), 0.0;
  return out;
}

}  // namespace

HelixEvaluator::HelixEvaluator(const HelixArc& arc)
    : origin(arc.position), pitch_(arc.frame.col(0)), length_(arc.length) {
  const Vector3& k = arc.curvature;
  rate_ = k.norm();
  // e = w x t and f = w x e in the material frame: no cancellation against the twist.
  const Vector3 e = arc.frame * Vector3(0.0, k.z(), -k.y());
  const Vector3 f = arc.frame * Vector3(-(k.y() * k.y() + k.z() * k.z()), k.x() * k.y(), k.x() * k.z());
  curvature_ = std::hypot(k.y(), k.z());
  third_ = rate_ * curvature_;
  turning_ = rate_ * length_ >= 1.0;
  if (turning_) {
    const double w2 = rate_ * rate_;
    u_ = -e / w2;
    v_ = -f / (w2 * rate_);
    centre_ = -u_;
    pitch_ = arc.frame * k * (k.x() / w2);
  } else {
    u_ = e;
    v_ = f;
  }
  halves_ = {jet(0.25 * length_), jet(0.75 * length_)};
}

ClothoidEvaluator::ClothoidEvaluator(const ClothoidArc& arc)
    : origin(arc.position), curvature_(arc.curvature), slope_(arc.curvature_slope), length_(arc.length) {
  constexpr double max_turn = 0.5;  // of a piece [rad]: the series' terms then fall from the first
  const double g = slope_.norm();
  double begin = 0.0;
  Vector3 start = Vector3::Zero();
  Matrix3 frame = arc.frame;
  for (;;) {
    const double k = (curvature_ + begin * slope_).norm();
    // largest l with (k + g l) l <= max_turn, in the form that never divides by zero
    const double l = 2.0 * max_turn / (k + std::sqrt(k * k + 4.0 * max_turn * g));
    const double left = length_ - begin;
    append_piece(begin, start, frame, std::min(l, left));
    if (!(l < left)) break;
    const CurveJet end = jet(begin + l);
    frame = this->frame(begin + l);
    start = end.offset;
    begin += l;
  }
}

void ClothoidEvaluator::append_piece(double begin, const Vector3& start, const Matrix3& frame, double length) {
  Piece& piece = pieces_.emplace_back();
  piece.begin = begin;
  piece.start = start;
  piece.frame = frame;
  const Matrix3 k = skew(curvature_ + begin * slope_);
  const Matrix3 g = skew(slope_);
  Matrix3 previous = Matrix3::Zero();
  Matrix3 current = frame;
  double power = 1.0;
  int n = 0;
  for (; n < max_terms; ++n) {
    piece.tangent[n] = current.col(0);
    const Matrix3 next = (current * k + previous * g) / (n + 1.0);
    previous = current;
    current = next;
    power *= length;
    constexpr double negligible = 1e-19;  // against a unit tangent; two in a row, as a term may vanish by symmetry
    if (n > 1 && power * current.norm() < negligible && power / length * previous.norm() < negligible) break;
  }
  piece.terms = std::min(n + 1, max_terms);
}

const ClothoidEvaluator::Piece& ClothoidEvaluator::piece_at(double s) const {
  const auto after = std::upper_bound(pieces_.begin() + 1, pieces_.end(), s,
                                      [](double value, const Piece& piece) { return value < piece.begin; });
  return *(after - 1);
}

CurveJet ClothoidEvaluator::jet(double s) const {
  const Piece& piece = piece_at(s);
  const double x = s - piece.begin;
  CurveJet out{Vector3::Zero(), Vector3::Zero(), Vector3::Zero()};
  for (int n = piece.terms - 1; n >= 0; --n) {
    const Vector3& c = piece.tangent[n];
    out.offset = x * out.offset + c / (n + 1.0);
    out.second = x * out.second + out.first;
    out.first = x * out.first + c;
  }
  out.offset = piece.start + x * out.offset;
  return out;
}

Matrix3 ClothoidEvaluator::frame(double s) const {
  const Piece& piece = piece_at(s);
  const double x = s - piece.begin;
  const Matrix3 k = skew(curvature_ + piece.begin * slope_);
  const Matrix3 g = skew(slope_);
  // The same recursion, with the power of x inside each term.
  Matrix3 previous = Matrix3::Zero();
  Matrix3 current = piece.frame;
  Matrix3 sum = current;
  for (int n = 0; n < max_terms; ++n) {
    const Matrix3 next = (x / (n + 1.0)) * (current * k + x * (previous * g));
    previous = current;
    current = next;
    sum += next;
  }
  return sum;
}

DerivativeBounds ClothoidEvaluator::bounds(Interval interval) const {
  // r'' = R (k x e_x), r''' = R (k x (k x e_x) + g x e_x); the norm of an affine vector is largest at an end.
  const Vector3 first = curvature_ + interval.begin * slope_;
  const Vector3 last = curvature_ + interval.end * slope_;
  const double bend = std::max(std::hypot(first.y(), first.z()), std::hypot(last.y(), last.z()));
  const double whole = std::max(first.norm(), last.norm());
  return {bend, whole * bend + std::hypot(slope_.y(), slope_.z())};
}

BezierEvaluator::BezierEvaluator(const CubicBezier& curve) : origin(curve.points[0]) {
  const Vector3 p1 = curve.points[1] - origin;
  const Vector3 p2 = curve.points[2] - origin;
  const Vector3 p3 = curve.points[3] - origin;
  c0_ = (3.0 * (p1 + p2) + p3) / 8.0;
  c1_ = 0.75 * (p3 + p2 - p1);
  c2_ = 1.5 * (p3 - p2 - p1);
  c3_ = 3.0 * (p1 - p2) + p3;
  size_ = p1.norm() + p2.norm() + p3.norm();
}

PreparedCurve prepare(const Curve& curve) {
  struct Visitor {
    PreparedCurve operator()(const LineSegment& c) const { return SegmentEvaluator(c); }
    PreparedCurve operator()(const HelixArc& c) const { return HelixEvaluator(c); }
    PreparedCurve operator()(const ClothoidArc& c) const { return ClothoidEvaluator(c); }
    PreparedCurve operator()(const CubicBezier& c) const { return BezierEvaluator(c); }
  };
  return std::visit(Visitor{}, curve);
}

Interval domain(const PreparedCurve& curve) {
  return std::visit([](const auto& c) { return c.domain(); }, curve);
}

Vector3 position(const PreparedCurve& curve, double s) {
  return std::visit([s](const auto& c) -> Vector3 { return c.origin + c.offset(s); }, curve);
}

CurveJet jet(const PreparedCurve& curve, double s) {
  return std::visit([s](const auto& c) { return c.jet(s); }, curve);
}

double second_derivative_bound(const PreparedCurve& curve, Interval interval) {
  return std::visit([interval](const auto& c) { return c.bounds(interval).second; }, curve);
}

}  // namespace tresse::geometry
