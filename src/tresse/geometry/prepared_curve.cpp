#include <tresse/geometry/prepared_curve.hpp>

#include <algorithm>
#include <memory>
#include <utility>

#include <Eigen/Geometry>

#include <tresse/geometry/detail/piece.hpp>
#include <tresse/math/reciprocals.hpp>
#include <tresse/math/rotations.hpp>

namespace tresse::geometry {

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
  detail::Pieces at;
  at.centre = length_ * detail::Lanes{0.25, 0.75, 0.0, 1.0};
  fill_jets(*this, at);
  const auto keep = [](const detail::LaneVector& v, Places::Vectors& to) {
    for (std::size_t axis = 0; axis < 3; ++axis) lanes::store(v[axis], to[axis].data());
  };
  keep(at.offset, places_.offset);
  keep(at.first, places_.first);
  keep(at.second, places_.second);
}

namespace {

/// Cuts an arc into pieces, each of which turns by max_turn at most.
class ClothoidCut {
 public:
  ClothoidCut(const ClothoidArc& arc, double max_turn)
      : arc_(arc), max_turn_(max_turn), slope_(arc.curvature_slope.norm()) {}

  /// End of the piece that begins there.
  double end(double begin) const {
    const double k = (arc_.curvature + begin * arc_.curvature_slope).norm();
    const double l = turning_length(k, slope_, max_turn_, arc_.length);
    return l < arc_.length - begin ? begin + l : arc_.length;
  }
  std::size_t count() const {
    std::size_t out = 0;
    for (double begin = 0.0; begin < arc_.length; begin = end(begin)) ++out;
    return out;
  }

 private:
  const ClothoidArc& arc_;
  double max_turn_;
  double slope_;
};

using math::reciprocals;

using Lanes = detail::Lanes;
using LaneRows = std::array<detail::LaneVector, 3>;

/// Series of up to four arcs, a lane each, in the frame of the point that they are developed about: `curvature` is the
/// one there, s = 1 is at `length` from it.
class FourSeries {
 public:
  void set(std::size_t lane, double length, const Vector3& curvature, const Vector3& slope) {
    const Vector3 k = length * curvature;
    const Vector3 g = (length * length) * slope;
    turn_ = std::max(turn_, k.norm());
    twirl_ = std::max(twirl_, g.norm());
    for (std::size_t c = 0; c < 3; ++c) {
      k_[c][lane] = k[static_cast<int>(c)];
      g_[c][lane] = g[static_cast<int>(c)];
    }
  }

  /// Calls keep(n, term n of the frame's rows) for n >= 1 and below `max_terms`; how many terms there are.
  template <typename Keep>
  int for_each_term(int max_terms, const Keep& keep) const {
    const Lanes zero = detail::spread(0.0);
    const Lanes one = detail::spread(1.0);
    LaneRows before{{{zero, zero, zero}, {zero, zero, zero}, {zero, zero, zero}}};
    LaneRows now{{{one, zero, zero}, {zero, one, zero}, {zero, zero, one}}};
    SeriesMajorant majorant(turn_, twirl_);
    int n = 1;
    for (; n < max_terms; ++n) {
      const double by = reciprocals[static_cast<std::size_t>(n)];
      const Lanes kx = by * k_[0], ky = by * k_[1], kz = by * k_[2];
      const Lanes gx = by * g_[0], gy = by * g_[1], gz = by * g_[2];
      for (std::size_t r = 0; r < 3; ++r) {
        const auto y = now[r];
        const auto p = before[r];
        before[r] = y;
        now[r] = {(y[1] * kz - y[2] * ky) + (p[1] * gz - p[2] * gy), (y[2] * kx - y[0] * kz) + (p[2] * gx - p[0] * gz),
                  (y[0] * ky - y[1] * kx) + (p[0] * gy - p[1] * gx)};
      }
      keep(static_cast<std::size_t>(n), now);
      if (majorant.ends_at(by) && n > 2) break;
    }
    return std::min(n + 1, max_terms);
  }

 private:
  detail::LaneVector k_{};  ///< curvature times length
  detail::LaneVector g_{};  ///< slope times its square
  double turn_ = 0.0;
  double twirl_ = 0.0;
};

Matrix3 matrix_of(const LaneRows& rows, std::size_t lane) {
  Matrix3 out;
  for (int r = 0; r < 3; ++r) {
    for (int c = 0; c < 3; ++c) out(r, c) = rows[static_cast<std::size_t>(r)][static_cast<std::size_t>(c)][lane];
  }
  return out;
}

Vector3 first_three(Lanes x) { return {x[0], x[1], x[2]}; }

/// The poses of the ends of up to four pieces from their middles: with odd terms of the other sign the series gives the
/// begin, so that a piece is twice as long for as many terms.
class FourMiddles {
 public:
  explicit FourMiddles(const FourSeries& series) {
    constexpr int max_terms = 40;
    const Lanes one = detail::spread(1.0);
    frames_[0][0][0] = frames_[0][1][1] = frames_[0][2][2] = one;
    points_[1][0] = one;
    series.for_each_term(max_terms, [&](std::size_t n, const LaneRows& term) {
      LaneRows& frame = frames_[n & 1U];
      detail::LaneVector& point = points_[(n + 1) & 1U];
      const double by = reciprocals[n + 1];
      for (std::size_t r = 0; r < 3; ++r) {
        for (std::size_t c = 0; c < 3; ++c) frame[r][c] += term[r][c];
        point[r] += by * term[r][0];
      }
    });
  }

  /// Carries a pose over the piece of a lane, of half length `half`.
  void advance(std::size_t lane, double half, Vector3& position, Matrix3& frame) const {
    const Matrix3 even = matrix_of(frames_[0], lane);
    const Matrix3 odd = matrix_of(frames_[1], lane);
    const Matrix3 middle = frame * (even - odd).transpose();
    position += (2.0 * half) * (middle * detail::lane_of(points_[1], static_cast<int>(lane)));
    frame = math::orthonormalised_once(middle * (even + odd));
  }

 private:
  std::array<LaneRows, 2> frames_{};            ///< sums of the even and of the odd terms
  std::array<detail::LaneVector, 2> points_{};  ///< the same, of the position over the half length
};

}  // namespace

Pose end_pose(const ClothoidArc& arc) {
  constexpr double max_turn = 4.0;  // two to each side, longer than for evaluations, where the number of terms weighs
  constexpr std::size_t four = detail::lane_count;
  const double last = (arc.curvature + arc.length * arc.curvature_slope).norm();
  const bool even = std::max(arc.curvature.norm(), last) * arc.length <= four * max_turn;  // then in four equal pieces
  const ClothoidCut cut(arc, max_turn);
  Pose pose{arc.position, arc.frame};
  Vector3 offset = Vector3::Zero();
  double begin = 0.0;
  bool more = even || begin < arc.length;
  while (more) {
    FourSeries series;
    std::array<double, four> halves{};
    std::size_t count = 0;
    for (; count < four && (even || begin < arc.length); ++count) {
      const std::size_t lane = count;
      const double end = even ? (static_cast<double>(lane) + 1.0) / four * arc.length : cut.end(begin);
      // Lengths are differences of ends, so that they sum to the whole: what rounding took would be a phase.
      halves[lane] = 0.5 * (end - begin);
      series.set(lane, halves[lane], arc.curvature + 0.5 * (begin + end) * arc.curvature_slope, arc.curvature_slope);
      begin = end;
    }
    const FourMiddles middles(series);
    for (std::size_t lane = 0; lane < count; ++lane) middles.advance(lane, halves[lane], offset, pose.frame);
    more = !even && begin < arc.length;
  }
  pose.position += offset;
  return pose;
}

ClothoidEvaluator::ClothoidEvaluator(const ClothoidArc& arc)
    : origin(arc.position), curvature_(arc.curvature), slope_(arc.curvature_slope), length_(arc.length) {
  constexpr double max_turn = 1.2;  // [rad]
  const ClothoidCut cut(arc, max_turn);
  const std::size_t count = cut.count();
  std::vector<Piece> pieces(count + 1);
  double begin = 0.0;
  for (std::size_t i = 0; i <= count; ++i) {
    pieces[i].begin = begin;
    if (i == count) break;
    // Lengths are differences of ends, so that they sum to the whole: what rounding took would be a phase.
    const double end = cut.end(begin);
    pieces[i].length = end - begin;
    pieces[i].curvature = curvature_ + begin * slope_;
    begin = end;
  }
  pieces[0].start = Vector3::Zero();
  pieces[0].frame = arc.frame;
  for (std::size_t first = 0; first < count; first += detail::lane_count) {
    sum_pieces(first, std::min<std::size_t>(detail::lane_count, count - first), pieces);
  }
  pieces_ = std::make_shared<const std::vector<Piece>>(std::move(pieces));
}

void ClothoidEvaluator::sum_pieces(std::size_t first, std::size_t count, std::vector<Piece>& pieces) const {
  FourSeries series;
  for (std::size_t lane = 0; lane < count; ++lane) {
    series.set(lane, pieces[first + lane].length, pieces[first + lane].curvature, slope_);
  }
  LaneRows frame{};
  detail::LaneVector position{};
  frame[0][0] = frame[1][1] = frame[2][2] = position[0] = detail::spread(1.0);
  std::array<detail::LaneVector, max_terms> tangent;
  const int terms = series.for_each_term(max_terms, [&](std::size_t n, const LaneRows& term) {
    const double by = reciprocals[n + 1];
    for (std::size_t r = 0; r < 3; ++r) {
      for (std::size_t c = 0; c < 3; ++c) frame[r][c] += term[r][c];
      tangent[n][r] = term[r][0];
      position[r] += by * term[r][0];
    }
  });
  for (std::size_t lane = 0; lane < count; ++lane) {
    Piece& piece = pieces[first + lane];
    Piece& next = pieces[first + lane + 1];
    piece.terms = terms;
    piece.term[0] = {1.0, 0.0, 0.0, 0.0};
    for (std::size_t n = 1; n < static_cast<std::size_t>(terms); ++n) {
      piece.term[n] = {tangent[n][0][lane], tangent[n][1][lane], tangent[n][2][lane], 0.0};
    }
    next.start = piece.start + piece.length * (piece.frame * detail::lane_of(position, static_cast<int>(lane)));
    next.frame = math::orthonormalised_once(piece.frame * matrix_of(frame, lane));
  }
}

const ClothoidEvaluator::Piece& ClothoidEvaluator::piece_at(double s) const {
  const auto after = std::upper_bound(pieces_->begin() + 1, pieces_->end() - 1, s,
                                      [](double value, const Piece& piece) { return value < piece.begin; });
  return *(after - 1);
}

Vector3 ClothoidEvaluator::offset(double s) const {
  const Piece& piece = piece_at(s);
  const double x = s - piece.begin;
  const Lanes t = detail::spread(x / piece.length);
  Lanes sum = detail::spread(0.0);
  for (auto n = static_cast<std::size_t>(piece.terms); n-- > 0;)
    sum = t * sum + reciprocals[n + 1] * lanes::load(piece.term[n].data());
  return piece.start + piece.frame * (x * first_three(sum));
}

CurveJet ClothoidEvaluator::jet(double s) const {
  const Piece& piece = piece_at(s);
  const double x = s - piece.begin;
  const Lanes t = detail::spread(x / piece.length);
  Lanes sum = detail::spread(0.0);
  Lanes first = sum;
  Lanes second = sum;
  for (auto n = static_cast<std::size_t>(piece.terms); n-- > 0;) {
    const Lanes c = lanes::load(piece.term[n].data());
    sum = t * sum + reciprocals[n + 1] * c;
    second = t * second + first;
    first = t * first + c;
  }
  return {piece.start + piece.frame * (x * first_three(sum)), piece.frame * first_three(first),
          piece.frame * (first_three(second) / piece.length)};
}

DerivativeBounds ClothoidEvaluator::bounds(Interval interval) const {
  // r'' = R (k x e_x), r''' = R (k x (k x e_x) + g x e_x); the norm of an affine vector is largest at an end.
  const Vector3 first = curvature_ + interval.begin * slope_;
  const Vector3 last = curvature_ + interval.end * slope_;
  const double bend = std::max(first.tail<2>().norm(), last.tail<2>().norm());
  const double whole = std::max(first.norm(), last.norm());
  return {bend, whole * bend + slope_.tail<2>().norm()};
}

double ClothoidEvaluator::continuation() const {
  // The rest of the series, negligible up to the end of a piece, grows with the power of its last term.
  const double first = pieces_->front().length;
  const double last = (*pieces_)[pieces_->size() - 2].length;
  return 0.25 * std::min(first, last);
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
