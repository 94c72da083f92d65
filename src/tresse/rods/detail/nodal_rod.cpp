#include <tresse/rods/detail/nodal_rod.hpp>

#include <algorithm>
#include <cmath>
#include <string>

#include <Eigen/Geometry>

#include <tresse/base/assert.hpp>
#include <tresse/base/errors.hpp>
#include <tresse/math/rotations.hpp>
#include <tresse/rods/detail/discrete_shape.hpp>

// Construction and kinematics; forces and matrices are in nodal_rod_dynamics.cpp.
namespace tresse::rods::detail {

NodalRod::NodalRod(std::shared_ptr<const NodalModel> model) : BandedRod(model), made_(*model) {
  const auto n = static_cast<std::size_t>(count());
  rest_strains_.assign(n, Vector3::Zero());
  nodes_.resize(n + 1);
  frames_.resize(n);
  stencils_.resize(n);
  hessians_.resize(n);
}

void NodalRod::start() {
  set_rest_curvature(made_.rest_curvature());
  update(shaped({}, {}, rest_, VectorX::Zero(rest_.size())));
}

void NodalRod::set_rest_curvature(const VectorX& rest) {
  require(rest.size() == 3 * (count() - first_joint()), [&] {
    return std::string(made_.name()) + ": " + std::to_string(rest.size()) + " natural curvatures, expected " +
           std::to_string(3 * (count() - first_joint()));
  });
  rest_ = rest;
  bent_ = false;
  for (int i = first_joint(); i < count(); ++i) {
    rest_strains_[i] = strain_of_turn(made_.joints[i].length * rest.segment<3>(3 * (i - first_joint())));
  }
}

VectorX NodalRod::curvature() const {
  VectorX out(rest_.size());
  for (int i = first_joint(); i < count(); ++i) {
    out.segment<3>(3 * (i - first_joint())) = turn_of_strain(stencils_[i].strain) / made_.joints[i].length;
  }
  return out;
}

RodState NodalRod::shaped(const Pose& root, const Twist& root_velocity, const VectorX& curvature,
                          const VectorX& curvature_rate) const {
  require(curvature.size() == rest_.size() && curvature_rate.size() == rest_.size(),
          [&] { return std::string(made_.name()) + ": the shape does not match the rod"; });
  RodState out{root, root_velocity, VectorX(dof()), VectorX(dof()), VectorX::Zero(memory_size())};
  Pose pose = root;
  Twist motion = root_velocity;
  if (!clamped()) {
    out.coordinates.head<3>() = root.position;
    out.rates.head<3>() = root_velocity.linear;
  }
  for (int j = 0; j < count(); ++j) {
    double twist = 0.0;
    if (j == 0 && !clamped() && count() > 1) {
      const Vector3 half = 0.5 * made_.lengths[0] * curvature.head<3>();
      motion.angular +=
          pose.frame * (math::rotation_exp_integral(half) * (0.5 * made_.lengths[0] * curvature_rate.head<3>()));
      pose.frame = math::orthonormalised_once(pose.frame * math::rotation_exp(half));
    }
    if (j >= first_joint()) {
      const double part = made_.joints[j].length;
      const Vector3 turn = part * curvature.segment<3>(3 * (j - first_joint()));
      const JointTurn joint = joint_turn(turn, part * curvature_rate.segment<3>(3 * (j - first_joint())));
      motion.angular += pose.frame * joint.spin;
      pose.frame = math::orthonormalised_once(pose.frame * joint.rotation);
      twist = turn[0];
    }
    const Vector3 step = made_.lengths[j] * pose.frame.col(0);
    pose.position += step;
    motion.linear += motion.angular.cross(step);
    set_edge(j, pose.frame, motion.angular, twist, out);
    out.coordinates.segment<3>(node_at(j + 1)) = pose.position;
    out.rates.segment<3>(node_at(j + 1)) = motion.linear;
  }
  return out;
}

EdgeFrame NodalRod::root_edge() const {
  const Matrix3& frame = state_.root.frame;
  return {frame.col(0), frame.col(1), frame.col(2), 1.0};
}

void NodalRod::set_free_root(const EdgeFrame& edge, double spin, const BendStencil* bend, RodState& state) const {
  state.root.position = state.coordinates.head<3>();
  state.root.frame << edge.tangent, edge.director_1, edge.director_2;
  const Vector3 change = state.rates.segment<3>(node_at(1)) - state.rates.head<3>();
  state.root_velocity.linear = state.rates.head<3>();
  state.root_velocity.angular = edge.tangent.cross(change) / edge.length + spin * edge.tangent;
  if (!bend) return;
  const double share = 0.5 * made_.lengths[0] / made_.joints[1].length;
  const Vector3 half = share * turn_of_strain(bend->strain);
  const Vector3 rate = share * turn_rate(bend->strain, bend->gradient * edge_rates(1, state.rates, false));
  state.root.frame = math::orthonormalised_once(state.root.frame * math::rotation_exp(-half));
  state.root_velocity.angular -= state.root.frame * (math::rotation_exp_integral(half) * rate);
}

NodalRod::Nodes NodalRod::nodes_of(const RodState& state) const {
  Nodes nodes(made_.lengths.size() + 1);
  nodes[0] = clamped() ? state.root.position : Vector3(state.coordinates.head<3>());
  for (int i = 1; i <= count(); ++i) nodes[i] = state.coordinates.segment<3>(node_at(i));
  return nodes;
}

/// Every edge turns by the angle that the step asks for and stretches by its part along the edge. A free rod's mean
/// displacement is the step's.
VectorX NodalRod::curved_displacement(const VectorX& step) const {
  TRESSE_ASSERT(step.size() == dof());
  VectorX out = step;
  const auto move = [&](int node) -> Vector3 {
    return node_at(node) < 0 ? Vector3::Zero() : Vector3(step.segment<3>(node_at(node)));
  };
  Vector3 moved = move(0);
  Vector3 lag = Vector3::Zero();
  for (int j = 0; j < count(); ++j) {
    const EdgeFrame& edge = frames_[j];
    const Vector3 change = move(j + 1) - move(j);
    const double stretch = change.dot(edge.tangent);
    const Vector3 turn = (change - stretch * edge.tangent) / edge.length;
    const double angle = turn.norm();
    const double sine = angle > 1e-8 ? std::sin(angle) / angle : 1.0;
    moved += (edge.length + stretch) * (std::cos(angle) * edge.tangent + sine * turn) - edge.length * edge.tangent;
    out.segment<3>(node_at(j + 1)) = moved;
    lag += (move(j + 1) - moved) / (count() + 1);
  }
  for (int i = 0; i <= count() && !clamped(); ++i) out.segment<3>(node_at(i)) += lag;
  return out;
}

bool NodalRod::within_reach(const RodState&, const Eigen::Ref<const VectorX>& v, double dt) const {
  constexpr double largest_flight = 1e3;
  if (!v.allFinite()) return false;
  for (int i = clamped() ? 1 : 0; i <= count(); ++i) {
    if (!(dt * v.segment<3>(node_at(i)).norm() <= largest_flight * length())) return false;
  }
  return true;
}

void NodalRod::check_sizes(const RodState& state) const {
  const Eigen::Index n = coordinate_count();
  require(state.coordinates.size() == n && state.rates.size() == n && state.memory.size() == memory_size(), [&] {
    return std::string(made_.name()) + ": the state has " + std::to_string(state.coordinates.size()) +
           " coordinates, " + std::to_string(state.rates.size()) + " rates and a memory of " +
           std::to_string(state.memory.size()) + ", expected " + std::to_string(n) + " and " +
           std::to_string(memory_size());
  });
}

void NodalRod::update(const RodState& state) {
  check_sizes(state);
  state_ = state;
  bent_ = clamped_hessian_ = false;
  nodes_[0] = clamped() ? state_.root.position : Vector3(state_.coordinates.head<3>());
  for (int i = 1; i <= count(); ++i) nodes_[i] = state_.coordinates.segment<3>(node_at(i));
  update_frames();
}

geometry::Curve NodalRod::piece(int piece) const {
  TRESSE_ASSERT(piece >= 0 && piece < count());
  return geometry::LineSegment{nodes_[piece], nodes_[piece + 1]};
}

geometry::MaterialSpan NodalRod::span(int piece) const {
  return {made_.lengths[piece], geometry::domain(NodalRod::piece(piece)).end};
}

RodSection NodalRod::section(double s) const {
  const auto after = std::upper_bound(made_.begin.begin() + 1, made_.begin.end() - 1, s);
  const int j = static_cast<int>(after - made_.begin.begin()) - 1;
  const double weight = std::clamp((s - made_.begin[j]) / made_.lengths[j], 0.0, 1.0);
  // Curvature and moment are known at the nodes, straight lines between; a free end has no moment.
  const auto moment_at = [&](int node) -> Vector3 {
    if (node < first_joint() || node == count()) return Vector3::Zero();
    Vector3 moment = joint_force(node);
    moment.tail<2>() *= 1.0 + 0.25 * stencils_[node].strain.tail<2>().squaredNorm();  // d 2 tan(angle/2) / d angle
    return moment;
  };
  const auto curvature_at = [&](int node) -> Vector3 {
    if (first_joint() == count()) return Vector3::Zero();
    if (node < first_joint() || node == count()) return end_curvature(node == count() ? node - 1 : node + 1);
    return turn_of_strain(stencils_[node].strain) / made_.joints[node].length;
  };
  RodSection out;
  out.s = s;
  out.stretch = frames_[j].length / made_.lengths[j];
  out.position = nodes_[j] + weight * (nodes_[j + 1] - nodes_[j]);
  out.frame << frames_[j].tangent, frames_[j].director_1, frames_[j].director_2;
  out.curvature = (1.0 - weight) * curvature_at(j) + weight * curvature_at(j + 1);
  out.moment = (1.0 - weight) * moment_at(j) + weight * moment_at(j + 1);
  return out;
}

Vector3 NodalRod::node_velocity(int node, const Eigen::Ref<const VectorX>& v) const {
  return node_at(node) < 0 ? state_.root_velocity.linear : Vector3(v.segment<3>(node_at(node)));
}

Vector3 NodalRod::velocity(int piece, double u, const Eigen::Ref<const VectorX>& v) const {
  TRESSE_ASSERT(piece >= 0 && piece < count() && v.size() == dof());
  const double weight = std::clamp(u / made_.lengths[piece], 0.0, 1.0);
  return (1.0 - weight) * node_velocity(piece, v) + weight * node_velocity(piece + 1, v);
}

void NodalRod::end_velocities(const Eigen::Ref<const VectorX>& v, Eigen::Ref<Matrix3X> out) const {
  TRESSE_ASSERT(v.size() == dof() && out.cols() == count() + 1);
  for (int i = 0; i <= count(); ++i) out.col(i) = node_velocity(i, v);
}

void NodalRod::end_positions(Eigen::Ref<Matrix3X> out) const {
  TRESSE_ASSERT(out.cols() == count() + 1);
  for (int i = 0; i <= count(); ++i) out.col(i) = nodes_[i];
}

void NodalRod::add_end_forces(const Eigen::Ref<const Matrix3X>& forces, Eigen::Ref<VectorX> into) const {
  TRESSE_ASSERT(forces.cols() == count() + 1 && into.size() == dof());
  for (int i = 0; i <= count(); ++i) {
    if (node_at(i) >= 0) into.segment<3>(node_at(i)) += forces.col(i);
  }
}

int NodalRod::jacobian(int piece, double u, Eigen::Ref<Matrix3X> out) const {
  TRESSE_ASSERT(piece >= 0 && piece < count() && out.cols() >= touched(piece));
  const double weight = std::clamp(u / made_.lengths[piece], 0.0, 1.0);
  out.leftCols(touched(piece)).setZero();
  if (node_at(piece) >= 0) out.middleCols<3>(node_at(piece)).diagonal().setConstant(1.0 - weight);
  out.middleCols<3>(node_at(piece + 1)).diagonal().setConstant(weight);
  return touched(piece);
}

}  // namespace tresse::rods::detail
