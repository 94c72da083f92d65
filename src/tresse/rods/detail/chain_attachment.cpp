#include <tresse/base/assert.hpp>
#include <tresse/math/rotations.hpp>
#include <tresse/rods/detail/chain_rod.hpp>

// Motion of a material frame, for what is fixed to it: another rod's root, a point of the surface.
namespace tresse::rods::detail {

template <typename Shape>
int ChainRod<Shape>::twist_jacobian(int piece, double u, Eigen::Ref<Matrix6X> out) const {
  const int columns = jacobian(piece, u, out.template topRows<3>());
  auto angular = out.template bottomRows<3>();
  for (int i = 0; i < root_dof() + 3 * piece; i += 3) {
    angular.template middleCols<3>(i) = twists_.template block<3, 3>(i, 3).transpose();
  }
  // The first node of this piece is shared with the piece before, the rest of which twists_ must not bring in.
  auto own = angular.template middleCols<width>(root_dof() + 3 * piece);
  own = joints_[piece].frame * shapes_[piece].at(u).angular;
  if constexpr (width == 6) {
    if (piece > 0) own.template leftCols<3>() += links_[piece - 1].X_angular.template rightCols<3>();
  }
  return columns;
}

template <typename Shape>
Eigen::Matrix<double, 6, Shape::width> ChainRod<Shape>::piece_twist(int piece, double u) const {
  check_piece(piece);
  const Joint& joint = joints_[piece];
  const ElementPoint<width> end = shapes_[piece].at(u);
  Columns6 out;
  out.template bottomRows<3>() = joint.frame * end.angular;
  out.template topRows<3>() = joint.frame * end.linear;
  out.template topRows<3>() +=
      math::cross_matrix(joint.offset + joint.frame * end.position) * out.template bottomRows<3>();
  return out;
}

template <typename Shape>
Twist ChainRod<Shape>::bias_acceleration(int piece, double u, const Twist& root_acceleration) const {
  check_piece(piece);
  sample();
  Vector3 spin = state_.root_velocity.angular;
  Twist out = root_condition() == RootCondition::free ? Twist{} : root_acceleration;
  const auto pass = [&](int i, const ElementPoint<width>& end, const EndBias& bias) {
    const Matrix3& frame = joints_[i].frame;
    const Vector3 step = frame * end.position;
    const Vector3 own = frame * (end.linear * rate(i));
    const Vector3 curl = frame * (end.angular * rate(i));
    out.linear += out.angular.cross(step) + spin.cross(spin.cross(step)) + 2.0 * spin.cross(own) + frame * bias.linear;
    out.angular += spin.cross(curl) + frame * bias.angular;
    spin += curl;
  };
  for (int i = 0; i < piece; ++i) {
    const Shape& shape = shapes_[i];
    pass(i, {shape.end(), shape.end_frame(), shape.end_linear(), shape.end_angular()}, shape.end_bias());
  }
  pass(piece, shapes_[piece].at(u), shapes_[piece].bias(u));
  return out;
}

template Eigen::Matrix<double, 6, 3> ChainRod<HelixShape>::piece_twist(int, double) const;
template Eigen::Matrix<double, 6, 6> ChainRod<ClothoidShape>::piece_twist(int, double) const;
template int ChainRod<HelixShape>::twist_jacobian(int, double, Eigen::Ref<Matrix6X>) const;
template int ChainRod<ClothoidShape>::twist_jacobian(int, double, Eigen::Ref<Matrix6X>) const;
template Twist ChainRod<HelixShape>::bias_acceleration(int, double, const Twist&) const;
template Twist ChainRod<ClothoidShape>::bias_acceleration(int, double, const Twist&) const;

}  // namespace tresse::rods::detail
