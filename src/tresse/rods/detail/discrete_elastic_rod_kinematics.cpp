#include <tresse/rods/detail/discrete_elastic_rod_kinematics.hpp>

#include <cmath>
#include <utility>

#include <Eigen/Geometry>

#include <tresse/base/errors.hpp>
#include <tresse/math/rotations.hpp>
#include <tresse/rods/detail/discrete_shape.hpp>

namespace tresse::rods::detail {

DiscreteElasticRod::DiscreteElasticRod(std::shared_ptr<const NodalModel> model) : NodalRod(std::move(model)) {
  start();
}

void DiscreteElasticRod::set_edge(int j, const Matrix3& frame, const Vector3& angular, double twist,
                                  RodState& state) const {
  state.coordinates[angle_at(j)] = 0.0;  // references start as the section's axis 1
  state.rates[angle_at(j)] = angular.dot(frame.col(0));
  state.memory.segment<3>(3 * j) = frame.col(1);
  state.memory[3 * count() + j] = twist;
}

/// Angle from the reference director before joint i, carried over to edge i, to that of edge i; the value nearest to
/// `near` of those that differ by turns.
double DiscreteElasticRod::reference_twist(int i, const RodState& state, const Nodes& nodes, double near) const {
  const Vector3 t = (nodes[i + 1] - nodes[i]).normalized();
  const Vector3 before = i == 0 ? Vector3(state.root.frame.col(0)) : Vector3((nodes[i] - nodes[i - 1]).normalized());
  const Vector3 director = i == 0 ? Vector3(state.root.frame.col(1)) : Vector3(state.memory.segment<3>(3 * (i - 1)));
  const Vector3 carried = parallel_transport(before, t, director);
  const Vector3 own = state.memory.segment<3>(3 * i);
  const double angle = std::atan2(t.cross(carried).dot(own), carried.dot(own));
  return near + std::remainder(angle - near, 2.0 * M_PI);
}

RodState DiscreteElasticRod::advanced(const RodState& state, const Eigen::Ref<const VectorX>& v, double dt,
                                      const Pose& next_root, const Twist& root_velocity) const {
  require(v.size() == dof(), "advanced: velocities do not match the rod");
  check_sizes(state);
  RodState next{next_root, root_velocity, state.coordinates + dt * v, v, state.memory};
  const Nodes old = nodes_of(state);
  const Nodes nodes = nodes_of(next);
  for (int j = 0; j < count(); ++j) {
    const Vector3 t = (nodes[j + 1] - nodes[j]).normalized();
    const Vector3 carried = parallel_transport((old[j + 1] - old[j]).normalized(), t, state.memory.segment<3>(3 * j));
    next.memory.segment<3>(3 * j) = (carried - carried.dot(t) * t).normalized();
  }
  for (int i = first_joint(); i < count(); ++i) {
    double& twist = next.memory[3 * count() + i];
    twist = reference_twist(i, next, nodes, twist);
  }
  if (clamped()) return next;
  const auto frame = [&](int j) {
    return edge_frame(nodes[j + 1] - nodes[j], next.memory.segment<3>(3 * j), next.coordinates[angle_at(j)]);
  };
  const EdgeFrame first = frame(0);
  if (count() == 1) {
    set_free_root(first, next.rates[angle_at(0)], nullptr, next);
  } else {
    const BendStencil bend = stencil(1, first, frame(1), next);
    set_free_root(first, next.rates[angle_at(0)], &bend, next);
  }
  return next;
}

BendStencil DiscreteElasticRod::stencil(int i, const EdgeFrame& before, const EdgeFrame& edge,
                                        const RodState& state) const {
  const double angle_before = i == 0 ? 0.0 : state.coordinates[angle_at(i - 1)];
  return make_bend_stencil(before, edge, state.coordinates[angle_at(i)] - angle_before + state.memory[3 * count() + i]);
}

bool DiscreteElasticRod::within_reach(const RodState& state, const Eigen::Ref<const VectorX>& v, double dt) const {
  constexpr double largest_turn = 1e5;
  if (!NodalRod::within_reach(state, v, dt)) return false;
  for (int j = 0; j < count(); ++j) {
    if (!(std::abs(state.coordinates[angle_at(j)] + dt * v[angle_at(j)]) <= largest_turn)) return false;
  }
  return true;
}

void DiscreteElasticRod::update_frames() {
  for (int j = 0; j < count(); ++j) {
    frames_[j] =
        edge_frame(nodes_[j + 1] - nodes_[j], state_.memory.segment<3>(3 * j), state_.coordinates[angle_at(j)]);
  }
  for (int i = first_joint(); i < count(); ++i) {
    stencils_[i] = stencil(i, i == 0 ? root_edge() : frames_[i - 1], frames_[i], state_);
  }
  if (!clamped()) set_free_root(frames_[0], state_.rates[angle_at(0)], count() > 1 ? &stencils_[1] : nullptr, state_);
}

/// An edge turns as its tangent does, t x t', and spins by theta' about it: reference directors are carried along
/// without spin, so that theta' is the material's.
Vector3 DiscreteElasticRod::angular_velocity(int piece, double, const Eigen::Ref<const VectorX>& v) const {
  const EdgeFrame& edge = frames_[piece];
  const Vector3 change = node_velocity(piece + 1, v) - node_velocity(piece, v);
  return edge.tangent.cross(change) / edge.length + v[angle_at(piece)] * edge.tangent;
}

int DiscreteElasticRod::twist_jacobian(int piece, double u, Eigen::Ref<Matrix6X> out) const {
  const int columns = jacobian(piece, u, out.topRows<3>());
  const EdgeFrame& edge = frames_[piece];
  const Matrix3 turning = math::cross_matrix(edge.tangent) / edge.length;
  auto angular = out.bottomRows<3>();
  angular.leftCols(columns).setZero();
  if (node_at(piece) >= 0) angular.middleCols<3>(node_at(piece)) = -turning;
  angular.middleCols<3>(node_at(piece + 1)) = turning;
  angular.col(angle_at(piece)) = edge.tangent;
  return columns;
}

double DiscreteElasticRod::joint_energy(int i) const {
  return 0.5 * joint_force(i).dot(stencils_[i].strain - rest_strains_[i]);
}

Vector3 DiscreteElasticRod::joint_force(int i) const {
  return made_.joints[i].stiffness.cwiseProduct(stencils_[i].strain - rest_strains_[i]);
}

Matrix8 DiscreteElasticRod::joint_hessian(int i) const {
  const BendStencil& s = stencils_[i];
  Matrix8 out = weighted_hessian(s, joint_force(i));
  out.noalias() += s.gradient.transpose() * made_.joints[i].stiffness.asDiagonal() * s.gradient;
  return out;
}

/// With A: an edge that spins about its tangent resists the turning of that tangent with the couple
/// -(spin inertia) theta' t', which its two nodes take up.
void DiscreteElasticRod::inertial_and_external_force(const RodLoads& loads, Eigen::Ref<VectorX> out) const {
  NodalRod::inertial_and_external_force(loads, out);
  for (int j = 0; j < count(); ++j) {
    const double l = frames_[j].length;
    const Vector3& t = frames_[j].tangent;
    const Vector3 turning = (node_velocity(j + 1, state_.rates) - node_velocity(j, state_.rates)) / l;
    const Vector3 force = made_.spin_inertia[j] * state_.rates[angle_at(j)] / l * t.cross(turning);
    if (node_at(j) >= 0) out.segment<3>(node_at(j)) -= force;
    out.segment<3>(node_at(j + 1)) += force;
  }
}

RodEnergies DiscreteElasticRod::energies(const Vector3& gravity) const {
  RodEnergies out = NodalRod::energies(gravity);
  for (int j = 0; j < count(); ++j) {
    const double spin = state_.rates[angle_at(j)];
    out.kinetic += 0.5 * made_.spin_inertia[j] * spin * spin;
  }
  return out;
}

void DiscreteElasticRod::momentum(Vector3& linear, Vector3& angular) const {
  NodalRod::momentum(linear, angular);
  for (int j = 0; j < count(); ++j) angular += made_.spin_inertia[j] * state_.rates[angle_at(j)] * frames_[j].tangent;
}

}  // namespace tresse::rods::detail
