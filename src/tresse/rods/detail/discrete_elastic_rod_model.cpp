#include <tresse/rods/detail/discrete_elastic_rod_model.hpp>

#include <algorithm>
#include <cmath>
#include <string>

#include <Eigen/Geometry>

#include <tresse/base/assert.hpp>
#include <tresse/base/errors.hpp>
#include <tresse/math/rotations.hpp>
#include <tresse/rods/detail/discrete_shape.hpp>

// Construction and kinematics; forces and matrices are in discrete_elastic_rod_dynamics.cpp.
namespace tresse::rods::detail {

DiscreteElasticRod::DiscreteElasticRod(const std::vector<RodEdge>& edges, const Material& material,
                                       RootCondition root_condition)
    : root_condition_(root_condition), first_(clamped() ? 0 : 3), damping_time_(material.damping_time) {
  const std::size_t n = edges.size();
  begin_.push_back(0.0);
  node_mass_.assign(n + 1, 0.0);
  node_length_.assign(n + 1, 0.0);
  for (std::size_t j = 0; j < n; ++j) {
    const RodEdge& edge = edges[j];
    const double l = edge.length;
    const double a = edge.section.half_axis_1, b = edge.section.half_axis_2;
    const double edge_mass = material.density * area(edge.section) * l;
    lengths_.push_back(l);
    begin_.push_back(begin_.back() + l);
    axial_.push_back(material.young_modulus * area(edge.section));
    spin_inertia_.push_back(edge_mass * (a * a + b * b) / 4.0);
    for (const std::size_t node : {j, j + 1}) {
      node_mass_[node] += 0.5 * edge_mass;
      node_length_[node] += 0.5 * l;
    }
    mass_ += edge_mass;
    contact_radius_ = std::max({contact_radius_, a, b});
    // Half of each neighbouring edge, one behind the other.
    Vector3 compliance = (0.5 * l * bending_stiffness(edge.section, material).cwiseInverse());
    double part = 0.5 * l;
    if (j > 0) {
      compliance += 0.5 * edges[j - 1].length * bending_stiffness(edges[j - 1].section, material).cwiseInverse();
      part += 0.5 * edges[j - 1].length;
    }
    joints_.push_back({compliance.cwiseInverse(), part, Vector3::Zero()});
  }
  inertia_.resize(dof());
  for (int node = 0; node <= count(); ++node) {
    if (node_at(node) >= 0) inertia_.segment<3>(node_at(node)).setConstant(node_mass_[node]);
  }
  for (int j = 0; j < count(); ++j) inertia_[angle_at(j)] = spin_inertia_[j];
  nodes_.resize(n + 1);
  frames_.resize(n);
  stencils_.resize(n);
  hessians_.resize(n);
  VectorX elements(3 * static_cast<Eigen::Index>(n));
  for (std::size_t j = 0; j < n; ++j) elements.segment<3>(3 * static_cast<Eigen::Index>(j)) = edges[j].rest_curvature;
  set_rest_curvature(curvature_of_elements(elements));
  update(shaped({}, {}, rest_, VectorX::Zero(rest_.size())));
}

VectorX DiscreteElasticRod::curvature_of_elements(const VectorX& elements) const {
  require(elements.size() == 3 * count(), "discrete elastic rod: needs three curvatures an edge");
  VectorX out(3 * (count() - first_joint()));
  for (int i = first_joint(); i < count(); ++i) {
    Vector3 mean = elements.segment<3>(3 * i);
    if (i > 0) {
      mean =
          (lengths_[i] * mean + lengths_[i - 1] * elements.segment<3>(3 * (i - 1))) / (lengths_[i] + lengths_[i - 1]);
    }
    out.segment<3>(3 * (i - first_joint())) = mean;
  }
  return out;
}

void DiscreteElasticRod::set_rest_curvature(const VectorX& rest) {
  require(rest.size() == 3 * (count() - first_joint()), [&] {
    return "discrete elastic rod: " + std::to_string(rest.size()) + " natural curvatures, expected " +
           std::to_string(3 * (count() - first_joint()));
  });
  rest_ = rest;
  bent_ = false;
  for (int i = first_joint(); i < count(); ++i) {
    joints_[i].rest_strain = strain_of_turn(joints_[i].length * rest.segment<3>(3 * (i - first_joint())));
  }
}

VectorX DiscreteElasticRod::curvature() const {
  VectorX out(rest_.size());
  for (int i = first_joint(); i < count(); ++i) {
    out.segment<3>(3 * (i - first_joint())) = turn_of_strain(stencils_[i].strain) / joints_[i].length;
  }
  return out;
}

RodState DiscreteElasticRod::shaped(const Pose& root, const Twist& root_velocity, const VectorX& curvature,
                                    const VectorX& curvature_rate) const {
  require(curvature.size() == rest_.size() && curvature_rate.size() == rest_.size(),
          "discrete elastic rod: the shape does not match the rod");
  RodState out{root, root_velocity, VectorX(dof()), VectorX(dof()), VectorX::Zero(4 * count())};
  Pose pose = root;
  Twist motion = root_velocity;
  if (!clamped()) {
    out.coordinates.head<3>() = root.position;
    out.rates.head<3>() = root_velocity.linear;
  }
  for (int j = 0; j < count(); ++j) {
    if (j >= first_joint()) {
      const double part = joints_[j].length;
      const Vector3 turn = part * curvature.segment<3>(3 * (j - first_joint()));
      const JointTurn joint = joint_turn(turn, part * curvature_rate.segment<3>(3 * (j - first_joint())));
      motion.angular += pose.frame * joint.spin;
      pose.frame = math::orthonormalised_once(pose.frame * joint.rotation);
      out.memory[3 * count() + j] = turn[0];
    }
    const Vector3 step = lengths_[j] * pose.frame.col(0);
    pose.position += step;
    motion.linear += motion.angular.cross(step);
    out.coordinates[angle_at(j)] = 0.0;  // references start as the section's axis 1
    out.rates[angle_at(j)] = motion.angular.dot(pose.frame.col(0));
    out.memory.segment<3>(3 * j) = pose.frame.col(1);
    out.coordinates.segment<3>(node_at(j + 1)) = pose.position;
    out.rates.segment<3>(node_at(j + 1)) = motion.linear;
  }
  return out;
}

DiscreteElasticRod::Nodes DiscreteElasticRod::nodes_of(const RodState& state) const {
  Nodes nodes(lengths_.size() + 1);
  nodes[0] = clamped() ? state.root.position : Vector3(state.coordinates.head<3>());
  for (int i = 1; i <= count(); ++i) nodes[i] = state.coordinates.segment<3>(node_at(i));
  return nodes;
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
  if (!clamped()) set_free_root(next, nodes);
  return next;
}

/// Pose and velocity of the first edge, at its first node.
void DiscreteElasticRod::set_free_root(RodState& state, const Nodes& nodes) const {
  const Vector3 edge = nodes[1] - nodes[0];
  const Vector3 t = edge.normalized();
  const EdgeFrame frame = edge_frame(edge, state.memory.head<3>(), state.coordinates[angle_at(0)]);
  state.root.position = nodes[0];
  state.root.frame << frame.tangent, frame.director_1, frame.director_2;
  const Vector3 stretch = state.rates.segment<3>(node_at(1)) - state.rates.head<3>();
  state.root_velocity.linear = state.rates.head<3>();
  state.root_velocity.angular = t.cross(stretch) / edge.norm() + state.rates[angle_at(0)] * t;
}

/// Every edge turns by the angle that the step asks for and stretches by its part along the edge. A free rod's mean
/// displacement is the step's.
VectorX DiscreteElasticRod::curved_displacement(const VectorX& step) const {
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

bool DiscreteElasticRod::within_reach(const RodState& state, const Eigen::Ref<const VectorX>& v, double dt) const {
  constexpr double largest_turn = 1e5;
  constexpr double largest_flight = 1e3;
  if (!v.allFinite()) return false;
  for (int j = 0; j < count(); ++j) {
    if (!(std::abs(state.coordinates[angle_at(j)] + dt * v[angle_at(j)]) <= largest_turn)) return false;
  }
  for (int i = clamped() ? 1 : 0; i <= count(); ++i) {
    if (!(dt * v.segment<3>(node_at(i)).norm() <= largest_flight * length())) return false;
  }
  return true;
}

void DiscreteElasticRod::check_sizes(const RodState& state) const {
  const Eigen::Index n = coordinate_count();
  require(state.coordinates.size() == n && state.rates.size() == n && state.memory.size() == 4 * count(), [&] {
    return "discrete elastic rod: the state has " + std::to_string(state.coordinates.size()) + " coordinates, " +
           std::to_string(state.rates.size()) + " rates and a memory of " + std::to_string(state.memory.size()) +
           ", expected " + std::to_string(n) + " and " + std::to_string(4 * count());
  });
}

void DiscreteElasticRod::update(const RodState& state) {
  check_sizes(state);
  state_ = state;
  bent_ = clamped_hessian_ = false;
  nodes_[0] = clamped() ? state_.root.position : Vector3(state_.coordinates.head<3>());
  for (int j = 0; j < count(); ++j) {
    nodes_[j + 1] = state_.coordinates.segment<3>(node_at(j + 1));
    frames_[j] =
        edge_frame(nodes_[j + 1] - nodes_[j], state_.memory.segment<3>(3 * j), state_.coordinates[angle_at(j)]);
  }
  if (!clamped()) set_free_root(state_, nodes_);
  for (int i = first_joint(); i < count(); ++i) {
    const double before = i == 0 ? 0.0 : state_.coordinates[angle_at(i - 1)];
    const double twist = state_.coordinates[angle_at(i)] - before + state_.memory[3 * count() + i];
    const Matrix3& root = state_.root.frame;
    const EdgeFrame root_edge{root.col(0), root.col(1), root.col(2), 1.0};
    stencils_[i] = make_bend_stencil(i == 0 ? root_edge : frames_[i - 1], frames_[i], twist);
  }
}

double DiscreteElasticRod::piece_begin(int piece) const {
  require(piece >= 0 && piece <= count(),
          [&] { return "discrete elastic rod: no such piece " + std::to_string(piece); });
  return begin_[piece];
}

geometry::Curve DiscreteElasticRod::piece(int piece) const {
  TRESSE_ASSERT(piece >= 0 && piece < count());
  return geometry::LineSegment{nodes_[piece], nodes_[piece + 1]};
}

RodSection DiscreteElasticRod::section(double s) const {
  const double slack = 1e-9 * length();  // a caller's own sum of lengths may round past the end
  require(s >= -slack && s <= length() + slack, [&] {
    return "discrete elastic rod: arc length " + std::to_string(s) + " m, expected 0 to " + std::to_string(length());
  });
  const auto after = std::upper_bound(begin_.begin() + 1, begin_.end() - 1, s);
  const int j = static_cast<int>(after - begin_.begin()) - 1;
  const double weight = std::clamp((s - begin_[j]) / lengths_[j], 0.0, 1.0);
  // Curvature and moment are known at the nodes, straight lines between; a free end has no moment.
  const auto moment_at = [&](int node) -> Vector3 {
    if (node < first_joint() || node == count()) return Vector3::Zero();
    Vector3 moment = joint_force(node);
    moment.tail<2>() *= 1.0 + 0.25 * stencils_[node].strain.tail<2>().squaredNorm();  // d 2 tan(angle/2) / d angle
    return moment;
  };
  const auto curvature_at = [&](int node) -> Vector3 {
    if (first_joint() == count()) return Vector3::Zero();
    if (node < first_joint()) return rest_.head<3>();
    if (node == count()) return rest_.tail<3>();
    return turn_of_strain(stencils_[node].strain) / joints_[node].length;
  };
  RodSection out;
  out.s = s;
  out.position = nodes_[j] + weight * (nodes_[j + 1] - nodes_[j]);
  out.frame << frames_[j].tangent, frames_[j].director_1, frames_[j].director_2;
  out.curvature = (1.0 - weight) * curvature_at(j) + weight * curvature_at(j + 1);
  out.moment = (1.0 - weight) * moment_at(j) + weight * moment_at(j + 1);
  return out;
}

Vector3 DiscreteElasticRod::node_velocity(int node, const Eigen::Ref<const VectorX>& v) const {
  return node_at(node) < 0 ? state_.root_velocity.linear : Vector3(v.segment<3>(node_at(node)));
}

Vector3 DiscreteElasticRod::velocity(int piece, double u, const Eigen::Ref<const VectorX>& v) const {
  TRESSE_ASSERT(piece >= 0 && piece < count() && v.size() == dof());
  const double weight = std::clamp(u / frames_[piece].length, 0.0, 1.0);
  return (1.0 - weight) * node_velocity(piece, v) + weight * node_velocity(piece + 1, v);
}

void DiscreteElasticRod::end_velocities(const Eigen::Ref<const VectorX>& v, Eigen::Ref<Matrix3X> out) const {
  TRESSE_ASSERT(v.size() == dof() && out.cols() == count() + 1);
  for (int i = 0; i <= count(); ++i) out.col(i) = node_velocity(i, v);
}

int DiscreteElasticRod::jacobian(int piece, double u, Eigen::Ref<Matrix3X> out) const {
  TRESSE_ASSERT(piece >= 0 && piece < count() && out.cols() >= touched(piece));
  const double weight = std::clamp(u / frames_[piece].length, 0.0, 1.0);
  out.leftCols(touched(piece)).setZero();
  if (node_at(piece) >= 0) out.middleCols<3>(node_at(piece)).diagonal().setConstant(1.0 - weight);
  out.middleCols<3>(node_at(piece + 1)).diagonal().setConstant(weight);
  return touched(piece);
}

}  // namespace tresse::rods::detail
