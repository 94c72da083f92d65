#include <tresse/rods/rod.hpp>

#include <algorithm>

#include <tresse/base/errors.hpp>
#include <tresse/base/local_memory.hpp>
#include <tresse/math/rotations.hpp>
#include <tresse/rods/detail/dense_step_matrix.hpp>

namespace tresse::rods {

RodState Rod::advanced(const RodState& state, const Eigen::Ref<const VectorX>& v, double dt, const Pose& next_root,
                       const Twist& root_velocity) const {
  require(v.size() == dof() && state.coordinates.size() == coordinate_count(),
          "advanced: velocities or state do not match the rod");
  RodState next;
  next.rates = v.tail(coordinate_count());
  next.coordinates = state.coordinates + dt * next.rates;
  if (root_dof() > 0) {
    next.root_velocity.linear = v.head<3>();
    next.root_velocity.angular = v.segment<3>(3);
    next.root.position = state.root.position + dt * next.root_velocity.linear;
    next.root.frame =
        math::orthonormalised_once(math::rotation_exp(dt * next.root_velocity.angular) * state.root.frame);
  } else {
    next.root = next_root;
    next.root_velocity = root_velocity;
  }
  return next;
}

void Rod::point_rows(std::span<const RodPoint> points, std::span<FourRows> rows, std::span<Vector3> prescribed) const {
  const Twist& root = state().root_velocity;
  const bool moving = root_dof() == 0 && !(root.linear.isZero(0.0) && root.angular.isZero(0.0));
  std::fill(rows.begin(), rows.end(), FourRows::Zero());
  LocalMemory<300 * 3 * sizeof(double)> memory;
  auto columns = memory.matrix<Matrix3X>(3, static_cast<Eigen::Index>(rows.size()));
  for (std::size_t k = 0; k < points.size(); ++k) {
    const auto& [piece, u, directions, arm] = points[k];
    const int touched = jacobian(piece, u, arm, columns);
    for (int i = 0; i < touched; ++i) {
      const Vector3 numbers = directions.transpose() * columns.col(i);
      for (Eigen::Index c = 0; c < 3; ++c)
        rows[static_cast<std::size_t>(i)][place_in_rows(static_cast<Eigen::Index>(k), c)] = numbers[c];
    }
    prescribed[k].setZero();
    if (!moving) continue;
    const VectorX at_rest = VectorX::Zero(dof());
    Vector3 own = velocity(piece, u, at_rest);
    if (!arm.isZero(0.0)) own += angular_velocity(piece, u, at_rest).cross(arm);
    prescribed[k] = directions.transpose() * own;
  }
}

int Rod::jacobian(int piece, double u, const Vector3& arm, Eigen::Ref<Matrix3X> out) const {
  if (arm.isZero(0.0)) return jacobian(piece, u, out);
  LocalMemory<64 * 6 * sizeof(double)> memory;
  auto twist = memory.matrix<Matrix6X>(6, touched(piece));
  const int columns = twist_jacobian(piece, u, twist);
  out.leftCols(columns) = twist.topRows<3>();
  out.leftCols(columns).noalias() -= math::cross_matrix(arm) * twist.bottomRows<3>();
  return columns;
}

Vector3 Rod::angular_velocity(int, double, const Eigen::Ref<const VectorX>&) const { return Vector3::Zero(); }

void StepMatrix::whiten_rows(std::span<FourRows> rows) const {
  constexpr std::size_t twelve = FourRows::SizeAtCompileTime;
  LocalMemory<300 * twelve * sizeof(double)> memory;
  auto columns = memory.matrix<MatrixX>(static_cast<Eigen::Index>(rows.size()), twelve);
  for (std::size_t i = 0; i < rows.size(); ++i) columns.row(static_cast<Eigen::Index>(i)) = rows[i].matrix();
  whiten(columns);
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = columns.row(static_cast<Eigen::Index>(i)).transpose();
}

bool Rod::within_reach(const RodState& state, const Eigen::Ref<const VectorX>& v, double dt) const {
  constexpr double largest_turn = 1e4;
  constexpr double largest_flight = 1e3;
  if (!v.allFinite()) return false;
  const double bend = (state.coordinates + dt * v.tail(coordinate_count())).lpNorm<Eigen::Infinity>();
  if (!(bend * length() <= largest_turn)) return false;
  return root_dof() == 0 || dt * v.head<3>().norm() <= largest_flight * length();
}

std::unique_ptr<StepMatrix> RodModel::make_step_matrix() const { return std::make_unique<detail::DenseStepMatrix>(); }

void Rod::share_memory(const Rod&) {}

void Rod::set_length_scale(double) {
  throw InvalidInput("this rod's model cannot grow; expected a super-helix or a super-clothoid");
}

std::unique_ptr<LimbMatrix> RodModel::make_limb_matrix(std::span<const LimbPlace>) const {
  throw InvalidInput("this rod's model carries no branches; expected a super-helix or a super-clothoid");
}

std::shared_ptr<const RodModel> RodModel::with_lengths(const std::vector<double>&) const {
  throw InvalidInput("this rod's model does not stretch; expected a discrete elastic rod or a mass-spring chain");
}

int Rod::twist_jacobian(int, double, Eigen::Ref<Matrix6X>) const {
  throw InvalidInput("this rod's model does not twist; expected another than a mass-spring chain");
}

Twist Rod::bias_acceleration(int, double, const Twist&) const {
  throw InvalidInput("this rod's model carries no branches; expected a super-helix or a super-clothoid");
}

void Rod::sample_motion(MaterialMotion&) const {
  throw InvalidInput("this rod's model moves its nodes; expected a super-helix or a super-clothoid");
}

void Rod::carried_momentum(const MaterialMotion&, const RodLoads&, double, Eigen::Ref<VectorX>) const {
  throw InvalidInput("this rod's model moves its nodes; expected a super-helix or a super-clothoid");
}

void Rod::material_momentum(const MaterialMotion&, Vector3&, Vector3&) const {
  throw InvalidInput("this rod's model moves its nodes; expected a super-helix or a super-clothoid");
}

void Rod::resistance(double drag, const VectorX& v, Eigen::Ref<VectorX> out) const {
  MatrixX matrix = MatrixX::Zero(dof(), dof());
  add_stiffness(0.0, 1.0, matrix);
  add_drag_matrix(drag, matrix);
  out = -(matrix * v);
}

void Rod::elastic_metric(Eigen::Ref<MatrixX> out) const {
  out.setZero();
  add_stiffness(1.0, 0.0, out);
}

void generalised_velocity(const Rod& rod, const RodState& state, VectorX& out) {
  out.resize(rod.dof());
  if (rod.root_dof() > 0) {
    out.head<3>() = state.root_velocity.linear;
    out.segment<3>(3) = state.root_velocity.angular;
  }
  out.tail(rod.coordinate_count()) = state.rates;
}

VectorX generalised_velocity(const Rod& rod, const RodState& state) {
  VectorX v;
  generalised_velocity(rod, state, v);
  return v;
}

void set_generalised_velocity(const Rod& rod, const VectorX& v, RodState& state) {
  if (rod.root_dof() > 0) state.root_velocity = {v.head<3>(), v.segment<3>(3)};
  state.rates = v.tail(rod.coordinate_count());
}

std::pair<int, double> piece_at(const RodModel& rod, double s) {
  int piece = 0;
  while (piece + 1 < rod.piece_count() && rod.piece_begin(piece + 1) < s) ++piece;
  const double begin = rod.piece_begin(piece);
  return {piece, std::clamp(s - begin, 0.0, rod.piece_begin(piece + 1) - begin)};
}

}  // namespace tresse::rods
