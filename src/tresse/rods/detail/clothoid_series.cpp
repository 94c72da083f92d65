#include <cmath>

#include <tresse/math/gauss_legendre.hpp>
#include <tresse/math/reciprocals.hpp>
#include <tresse/math/rotations.hpp>
#include <tresse/rods/detail/clothoid_series.hpp>

namespace tresse::rods::detail {
namespace {

using math::reciprocals;

const NodeLanes& nodes() {
  static const NodeLanes out = Eigen::Map<const NodeLanes>(math::gauss_legendre(clothoid_nodes).nodes.data());
  return out;
}

const Eigen::Array<double, 16, 3> none = Eigen::Array<double, 16, 3>::Zero();

Vector3 cross_along(const Vector3& v) { return {0.0, v.z(), -v.y()}; }  // v x e_x

}  // namespace

ClothoidSeries::ClothoidSeries(const ClothoidPiece& piece, const ClothoidState& start, bool products)
    : piece_(piece),
      turn_(piece.length * piece.curvature),
      twirl_(piece.length * piece.length * piece.slope),
      start_(start.position) {
  const double h = piece.length;
  const double part = piece.begin / piece.element_length;
  const double growth = h / piece.element_length;
  Term& first = y_[0];
  first.setZero();
  for (int k = 0; k < 3; ++k) {
    first.col(k).head<6>() = start.a.row(k).transpose();
    first.col(k).segment<6>(b_lane) = start.b.row(k).transpose();
    for (int r = 0; r < 3; ++r) first(row_lane[static_cast<std::size_t>(r)], k) = start.frame(r, k);
  }
  Eigen::Array<double, 8, 1> only_a = Eigen::Array<double, 8, 1>::Constant(h);
  only_a.tail<2>().setZero();

  const double scale = products ? 2.0 : 1.0;
  geometry::SeriesMajorant majorant(scale * turn_.norm(), scale * twirl_.norm());
  const int least = products ? 6 : 3;  // a straight element's series end at s^3, its acceleration at s^5
  int n = 0;
  for (; n + 1 < clothoid_max_terms; ++n) {
    const double by = reciprocals[static_cast<std::size_t>(n + 1)];
    const Vector3 k = by * turn_;
    const Vector3 g = by * twirl_;
    const Term& now = y_[static_cast<std::size_t>(n)];
    const Term& before = n > 0 ? y_[static_cast<std::size_t>(n - 1)] : none;
    Term& next = y_[static_cast<std::size_t>(n + 1)];
    next.col(0) = now.col(1) * k.z() - now.col(2) * k.y() + before.col(1) * g.z() - before.col(2) * g.y();
    next.col(1) = now.col(2) * k.x() - now.col(0) * k.z() + before.col(2) * g.x() - before.col(0) * g.z();
    next.col(2) = now.col(0) * k.y() - now.col(1) * k.x() + before.col(0) * g.y() - before.col(1) * g.x();
    next.col(1).tail<8>() += by * only_a * now.col(2).head<8>();
    next.col(2).tail<8>() -= by * only_a * now.col(1).head<8>();
    if (n <= 1) {
      for (int i = 0; i < 3; ++i) {
        next(i, i) += by * (n == 0 ? h * (1.0 - part) : -h * growth);
        next(i + 3, i) += by * (n == 0 ? h * part : h * growth);
      }
    }
    if (majorant.ends_at(by) && n >= least) {
      ++n;
      break;
    }
  }
  terms_ = n + 1;
}

Vector3 ClothoidSeries::position_term(int n) const {
  const Term& y = y_[static_cast<std::size_t>(n - 1)];
  return piece_.length * reciprocals[static_cast<std::size_t>(n)] *
         Vector3(y(row_lane[0], 0), y(row_lane[1], 0), y(row_lane[2], 0));
}

ClothoidState ClothoidSeries::at(double part) const {
  Term sum = y_[static_cast<std::size_t>(terms_ - 1)];
  Vector3 position = position_term(terms_);
  for (int n = terms_ - 2; n >= 0; --n) {
    sum = sum * part + y_[static_cast<std::size_t>(n)];
    position = position * part + position_term(n + 1);
  }
  ClothoidState out;
  out.position = start_ + part * position;
  for (int k = 0; k < 3; ++k) {
    out.a.row(k) = sum.col(k).head<6>().transpose();
    out.b.row(k) = sum.col(k).segment<6>(b_lane).transpose();
    for (int r = 0; r < 3; ++r) out.frame(r, k) = sum(row_lane[static_cast<std::size_t>(r)], k);
  }
  out.frame = math::orthonormalised_once(out.frame);
  return out;
}

void ClothoidSeries::columns_at_nodes(int lane, std::array<std::array<NodeLanes, 6>, 3>& out) const {
  const NodeLanes& t = nodes();
  for (int k = 0; k < 3; ++k) {
    std::array<NodeLanes, 6> sum;
    for (int j = 0; j < 6; ++j) sum[static_cast<std::size_t>(j)].setZero();
    for (int n = terms_ - 1; n >= 0; --n) {
      const double* c = y_[static_cast<std::size_t>(n)].col(k).data() + lane;
      for (std::size_t j = 0; j < 6; ++j) sum[j] = sum[j] * t + c[j];
    }
    out[static_cast<std::size_t>(k)] = sum;
  }
}

void ClothoidSeries::frame_at_nodes(std::array<Triple<NodeLanes>, 3>& R) const {
  const NodeLanes& t = nodes();
  for (std::size_t r = 0; r < 3; ++r) {
    Triple<NodeLanes> sum = zero_lanes<NodeLanes>();
    for (int n = terms_ - 1; n >= 0; --n) {
      const Term& y = y_[static_cast<std::size_t>(n)];
      for (int k = 0; k < 3; ++k) {
        NodeLanes& lanes = sum[static_cast<std::size_t>(k)];
        lanes = lanes * t + y(row_lane[r], k);
      }
    }
    R[r] = sum;
  }
}

void ClothoidSeries::position_at_nodes(Triple<NodeLanes>& p) const {
  const NodeLanes& t = nodes();
  p = zero_lanes<NodeLanes>();
  for (int n = terms_; n >= 1; --n) {
    const Vector3 c = position_term(n);
    for (int r = 0; r < 3; ++r) {
      NodeLanes& lanes = p[static_cast<std::size_t>(r)];
      lanes = lanes * t + c[r];
    }
  }
  for (int r = 0; r < 3; ++r) p[static_cast<std::size_t>(r)] = p[static_cast<std::size_t>(r)] * t + start_[r];
}

Vector3 ClothoidSeries::position_integral_at_nodes(Triple<NodeLanes>& integral) const {
  const NodeLanes& t = nodes();
  integral = zero_lanes<NodeLanes>();
  Vector3 end = Vector3::Zero();
  for (int n = terms_; n >= 0; --n) {
    const Vector3 c =
        piece_.length * reciprocals[static_cast<std::size_t>(n + 1)] * (n > 0 ? position_term(n) : start_);
    end += c;
    for (int r = 0; r < 3; ++r) {
      NodeLanes& lanes = integral[static_cast<std::size_t>(r)];
      lanes = (lanes + c[r]) * t;
    }
  }
  return end;
}

/// With w = a c' the angular velocity and dots at constant rates, all in the moving frame:
///   wdot' = -kappa x wdot + w x kappadot,   A' = -kappa x A + wdot x e_x + w x (w x e_x).
void ClothoidSeries::bias_at_nodes(const Coordinates<6>& rate, ClothoidBias& bias, Triple<NodeLanes>& linear,
                                   std::span<const double> parts, std::vector<Vector3>* angular_at) const {
  const double h = piece_.length;
  const double part = piece_.begin / piece_.element_length;
  const Vector3 turn_rate = h * ((1.0 - part) * rate.head<3>() + part * rate.tail<3>());
  const Vector3 twirl_rate = h * h / piece_.element_length * (rate.tail<3>() - rate.head<3>());
  std::array<Vector3, clothoid_max_terms> w;
  std::array<Vector3, clothoid_max_terms> angular;
  std::array<Vector3, clothoid_max_terms> A;
  angular[0] = bias.angular;
  A[0] = bias.linear;
  for (std::size_t n = 0; n < static_cast<std::size_t>(terms_); ++n) {
    for (int k = 0; k < 3; ++k) w[n][k] = y_[n].col(k).head<6>().matrix().dot(rate);
    Vector3 square = Vector3::Zero();  // term n of w x (w x e_x)
    for (std::size_t i = 0; i <= n; ++i) {
      const Vector3& x = w[i];
      const Vector3& z = w[n - i];
      square += Vector3(-(x.y() * z.y() + x.z() * z.z()), x.x() * z.y(), x.x() * z.z());
    }
    if (n + 1 == static_cast<std::size_t>(terms_)) break;
    Vector3 turned = angular[n].cross(turn_) + w[n].cross(turn_rate);
    Vector3 moved = A[n].cross(turn_) + h * (cross_along(angular[n]) + square);
    if (n > 0) {
      turned += angular[n - 1].cross(twirl_) + w[n - 1].cross(twirl_rate);
      moved += A[n - 1].cross(twirl_);
    }
    angular[n + 1] = reciprocals[n + 1] * turned;
    A[n + 1] = reciprocals[n + 1] * moved;
  }
  const NodeLanes& t = nodes();
  linear = zero_lanes<NodeLanes>();
  bias = {Vector3::Zero(), Vector3::Zero()};
  for (int n = terms_ - 1; n >= 0; --n) {
    const auto at = static_cast<std::size_t>(n);
    bias.angular += angular[at];
    bias.linear += A[at];
    for (int r = 0; r < 3; ++r) {
      NodeLanes& lanes = linear[static_cast<std::size_t>(r)];
      lanes = lanes * t + A[at][r];
    }
  }
  for (const double part_of_piece : parts) {
    Vector3& sum = angular_at->emplace_back(Vector3::Zero());
    for (int n = terms_ - 1; n >= 0; --n) sum = sum * part_of_piece + angular[static_cast<std::size_t>(n)];
  }
}

}  // namespace tresse::rods::detail
