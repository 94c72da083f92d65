#include <algorithm>
#include <cmath>

#include <tresse/math/gauss_legendre.hpp>
#include <tresse/math/rotations.hpp>
#include <tresse/rods/detail/helix_shape.hpp>

namespace tresse::rods::detail {
namespace {

using Lanes3 = Triple<Lanes>;

constexpr int lane_count = 4;
constexpr double interval_turn = 9.0;  // [rad] longest sub-interval
constexpr double max_turn = 1e4;       // [rad] beyond it sampling stops growing

/// A Gauss rule on [0, 1] cut in lanes.
struct LaneRule {
  explicit LaneRule(int points) : nodes(points / lane_count), weights(points / lane_count) {
    const math::GaussRule& rule = math::gauss_legendre(points);
    for (int i = 0; i < points; ++i) {
      nodes[i / lane_count][i % lane_count] = rule.nodes[i];
      weights[i / lane_count][i % lane_count] = rule.weights[i];
    }
  }
  std::vector<Lanes> nodes;
  std::vector<Lanes> weights;
};

const LaneRule& rule_for_turn(double turn) {
  static const LaneRule rule12(12);
  static const LaneRule rule16(16);
  return turn <= 4.0 ? rule12 : rule16;
}

void evaluate(const Vector3& w, double w2, const PreciseNorm& norm, double turn, GaussBatch& batch) {
  if (turn * turn <= math::stumpff_switch) {
    math::stumpff_series<8, Lanes>(batch.s * batch.s * w2, batch.c);
  } else {
    for (int lane = 0; lane < lane_count; ++lane) {
      const double s = batch.s[lane];
      const double angle = s * norm.value;
      const auto c = math::stumpff_of_angle<8>(angle, std::fma(s, norm.value, -angle) + s * norm.correction);
      for (std::size_t m = 0; m < c.size(); ++m) batch.c[m][lane] = c[m];
    }
  }
  batch.point = helix_point(batch.s, triple(w), batch.c);
}

/// a I + b [v]x + c [v]x^2.
Matrix3 rotation_polynomial(double a, double b, double c, const Vector3& v) {
  Matrix3 m = c * v * v.transpose();
  m.diagonal().array() += a - c * v.squaredNorm();
  return m + b * math::cross_matrix(v);
}

/// exp(s [w]x) from c_0 .. c_2.
template <std::size_t Count>
Matrix3 rotation(double s, const Vector3& w, const std::array<double, Count>& c) {
  return rotation_polynomial(1.0, s * c[1], s * s * c[2], w);
}

/// T(s, w): dtheta = T dw, from c_0 .. c_3.
template <std::size_t Count>
Matrix3 turning(double s, const Vector3& w, const std::array<double, Count>& c) {
  return s * rotation_polynomial(1.0, s * c[2], s * s * c[3], w);
}

void sample_element(double length, const Vector3& w, std::vector<GaussBatch>& batches) {
  const double w2 = w.squaredNorm();
  const double turn = length * std::sqrt(w2);
  // A turn that is not finite takes one interval: the values are then not finite either, which the caller sees.
  const int intervals =
      turn > interval_turn && turn < 1e300 ? static_cast<int>(std::ceil(std::min(turn, max_turn) / interval_turn)) : 1;
  const double width = length / intervals;
  const LaneRule& rule = rule_for_turn(turn / intervals);
  const PreciseNorm norm = turn * turn <= math::stumpff_switch ? PreciseNorm{} : precise_norm(w);

  batches.resize(intervals * rule.nodes.size());
  std::size_t next = 0;
  for (int k = 0; k < intervals; ++k) {
    for (std::size_t i = 0; i < rule.nodes.size(); ++i, ++next) {
      GaussBatch& batch = batches[next];
      batch.s = (rule.nodes[i] + double(k)) * width;
      batch.weight = rule.weights[i] * width;
      evaluate(w, w2, norm, turn, batch);
    }
  }
}

HelixMoments<double> integrate_moments(const std::vector<GaussBatch>& batches) {
  Lanes3 p = zero_lanes<Lanes>();
  std::array<Lanes3, 3> P = {zero_lanes<Lanes>(), zero_lanes<Lanes>(), zero_lanes<Lanes>()};
  std::array<Lanes3, 3> p_p = P;
  std::array<Lanes3, 3> crossed = P;  // [column]
  std::array<Lanes3, 3> P_P = P;
  for (const GaussBatch& batch : batches) {
    const HelixPoint<Lanes>& h = batch.point;
    const Lanes& weight = batch.weight;
    const Lanes3 wp = {h.p[0] * weight, h.p[1] * weight, h.p[2] * weight};
    std::array<Lanes3, 3> column;
    for (int k = 0; k < 3; ++k) {
      p[k] += wp[k];
      column[k] = {h.P[0][k], h.P[1][k], h.P[2][k]};
      crossed[k] += cross(wp, column[k]);
      for (int r = 0; r < 3; ++r) P[r][k] += weight * h.P[r][k];
      for (int r = 0; r <= k; ++r) {
        p_p[r][k] += wp[r] * h.p[k];
        P_P[r][k] += weight * dot(column[r], column[k]);
      }
    }
  }

  HelixMoments<double> out;
  const Vector3 all = sum(p);
  for (std::size_t k = 0; k < 3; ++k) {
    out.p[k] = all[static_cast<int>(k)];
    out.p_cross_P[k] = triple(sum(crossed[k]));
    for (std::size_t r = 0; r < 3; ++r) out.P[k][r] = P[r][k].sum();
    for (std::size_t r = 0; r <= k; ++r) {
      out.p_p[r][k] = out.p_p[k][r] = p_p[r][k].sum();
      out.P_P[r][k] = out.P_P[k][r] = P_P[r][k].sum();
    }
  }
  return out;
}

}  // namespace

void HelixShape::set(double length, const ElementDiscs& discs, const Vector3& w) {
  length_ = length;
  of_section_ = discs;
  w_ = w;
  integrated_ = false;
  c_ = helix_stumpff<8>(length, w);
  const HelixPoint<double> h = helix_point(length, triple(w), c_);
  end_ = vector(h.p);
  end_linear_ = gradient_matrix(h);
  end_angular_ = turning(length, w, c_);
  end_frame_ = rotation(length, w, c_);
}

Vector3 HelixShape::position(double u) const { return vector(helix_point(u, triple(w_), helix_stumpff<6>(u, w_)).p); }

Matrix3 HelixShape::frame(double u) const { return rotation(u, w_, helix_stumpff<3>(u, w_)); }

FirstMoments<3> HelixShape::point(double u) const {
  const auto h = helix_point(u, triple(w_), helix_stumpff<6>(u, w_));
  return {vector(h.p), gradient_matrix(h)};
}

ElementPoint<3> HelixShape::at(double u) const {
  const auto c = helix_stumpff<6>(u, w_);
  const auto h = helix_point(u, triple(w_), c);
  return {vector(h.p), rotation(u, w_, c), gradient_matrix(h), turning(u, w_, c)};
}

void HelixShape::points(int parts, std::vector<PointBatch<3>>& out, std::vector<SectionDisc<3>>& discs) const {
  const ElementPoint<3> inner = at(HelixDiscs<double>::inner_place * length_);
  discs.assign(1, {inner.frame, inner.frame.transpose() * inner.angular, about_axes(of_section_.spread)});
  const math::GaussRule& rule = math::gauss_legendre(point_lanes);
  const auto of_rule = [](const std::vector<double>& numbers) -> NodeLanes {
    return Eigen::Map<const NodeLanes>(numbers.data());
  };
  out.resize(static_cast<std::size_t>(parts));
  const bool little = length_ * length_ * w_.squaredNorm() <= math::stumpff_switch;
  for (int k = 0; k < parts; ++k) {
    PointBatch<3>& batch = out[static_cast<std::size_t>(k)];
    const double part = length_ / parts;
    const NodeLanes s = (of_rule(rule.nodes) + double(k)) * part;
    batch.weight = of_rule(rule.weights) * part;
    std::array<NodeLanes, 6> c;
    if (little) {
      math::stumpff_series<6, NodeLanes>(s * s * w_.squaredNorm(), c);
    } else {
      for (int lane = 0; lane < point_lanes; ++lane) {
        const std::array<double, 6> own = helix_stumpff<6>(s[lane], w_);
        for (std::size_t m = 0; m < own.size(); ++m) c[m][lane] = own[m];
      }
    }
    const HelixPoint<NodeLanes> h = helix_point(s, triple(w_), c);
    batch.p = h.p;
    batch.P = h.P;
  }
}

void HelixShape::sample(const Vector3& rate) {
  rate_ = rate;
  if (integrated_) return;
  by_series_ = length_ * w_.norm() <= HelixIntegrals<double>::largest_turn;  // not what isn't finite
  HelixMoments<double> m;
  if (by_series_) {
    integrals_.set(length_, triple(w_));
    integrals_.moments(m);
  } else {
    sample_element(length_, w_, batches_);
    m = integrate_moments(batches_);
  }
  const double at = HelixDiscs<double>::inner_place * length_;
  const auto& [start, inner] = of_section_;
  discs_.set(at, triple(w_), helix_stumpff<6>(at, w_), {start[0], start[1], inner[0], inner[1]});
  discs_.add_to(m);
  moments_ = {length_, vector(m.p), matrix(m.p_p), matrix(m.P), matrix(m.p_cross_P), matrix(m.P_P)};
  integrated_ = true;
}

EndBias HelixShape::end_bias() const {
  return {vector(helix_second(length_, triple(w_), triple(rate_), c_)),
          vector(helix_angular_rate(length_, triple(w_), triple(rate_), c_))};
}

EndBias HelixShape::bias(double u) const {
  const auto c = helix_stumpff<8>(u, w_);
  return {vector(helix_second(u, triple(w_), triple(rate_), c)),
          vector(helix_angular_rate(u, triple(w_), triple(rate_), c))};
}

FirstMoments<3> HelixShape::first_moments() const {
  const HelixPoint<double> moment = helix_point<3>(length_, triple(w_), c_);  // closed: no quadrature
  return {vector(moment.p), gradient_matrix(moment)};
}

/// Diagonal blocks in closed form: int s^m c_m ds = s^{m+1} c_{m+1} gives the integral over the element.
Matrix3 HelixShape::pull_hessian(const ElementPull& pull) const {
  const double l = length_;
  const auto c = helix_stumpff<9>(l, w_);
  const Coefficient<double> s1{l * c[1], l * stumpff_slope<1>(c), l * stumpff_second<1>(c)};
  const Coefficient<double> s2{l * l * c[2], l * l * stumpff_slope<2>(c), l * l * stumpff_second<2>(c)};
  const double l3 = l * l * l;
  const Coefficient<double> s3{l3 * c[3], l3 * stumpff_slope<3>(c), l3 * stumpff_second<3>(c)};
  const Coefficient<double> s4{l3 * l * c[4], l3 * l * stumpff_slope<4>(c), l3 * l * stumpff_second<4>(c)};
  const Vector3 along = Vector3::UnitX();
  Matrix3 own = pull.density * contracted_hessian(l, w_, s3, s4, along, pull.pull);
  own += pull.beyond_mass * contracted_hessian(l, w_, s2, s3, along, pull.pull);
  own += contracted_hessian(l, w_, s1, s2, pull.beyond_moment, pull.pull);
  return own;
}

ElementForce<3> HelixShape::force(const LineForce<double>& line) const {
  HelixForce<double> f;
  if (by_series_) {
    integrals_.force(line, triple(rate_), f);
  } else {
    f = integrate_force(line);
  }
  discs_.add_to(f, line, triple(w_), triple(rate_));
  return {vector(f.resultant), vector(f.torque), vector(f.generalised)};
}

/// force() without the discs, by quadrature.
HelixForce<double> HelixShape::integrate_force(const LineForce<double>& line) const {
  const Triple<double> w_lanes = triple(w_);
  const Triple<double> rate_lanes = triple(rate_);
  Lanes3 resultant = zero_lanes<Lanes>();
  Lanes3 torque = zero_lanes<Lanes>();
  Lanes3 generalised = zero_lanes<Lanes>();
  for (const GaussBatch& batch : batches_) {
    const HelixPoint<Lanes>& h = batch.point;
    const Lanes3 second = helix_second(batch.s, w_lanes, rate_lanes, batch.c);
    const Lanes3 from_position = times(line.position, h.p);
    const Lanes3 from_rate = times(line.rate, gradient_times(h.P, rate_));
    Lanes3 f;
    for (int r = 0; r < 3; ++r) {
      f[r] = (from_position[r] + from_rate[r] - second[r] * line.density + line.constant[r]) * batch.weight;
      resultant[r] += f[r];
    }
    torque += cross(h.p, f);
    for (int k = 0; k < 3; ++k) generalised[k] += h.P[0][k] * f[0] + h.P[1][k] * f[1] + h.P[2][k] * f[2];
  }
  return {triple(sum(resultant)), triple(sum(torque)), triple(sum(generalised))};
}

}  // namespace tresse::rods::detail
