#include <tresse/rods/detail/mass_spring_kinematics.hpp>

#include <string>
#include <utility>

#include <Eigen/Geometry>

#include <tresse/base/errors.hpp>
#include <tresse/rods/detail/discrete_shape.hpp>

// A joint's energy is k (|kb| - rest)^2 / 2. With directors that are carried over from edge to edge kb has the
// components (c1, c2) of the stencil, and over motions of the nodes, whose directors turn against each other by dm,
//   |kb|^2 = c1^2 + c2^2 + |kb|^2 dm^2 / 4  to second order,
// as each c_k is the mean over both edges' directors.
namespace tresse::rods::detail {
namespace {

constexpr double straight = 1e-10;  // [rad]; below it a bend's direction is not told from rounding

/// Frame of an edge whose director comes over from unit tangent `before`.
EdgeFrame carried_frame(const Vector3& edge, const Vector3& before, const Vector3& director) {
  const Vector3 t = edge.normalized();
  const Vector3 carried = parallel_transport(before, t, director);
  return edge_frame(edge, (carried - carried.dot(t) * t).normalized(), 0.0);
}

BendStencil stencil(const EdgeFrame& before, const EdgeFrame& edge) {
  BendStencil out = make_bend_stencil(before, edge, 0.0);
  out.gradient.col(3).setZero();  // no angles
  out.gradient.col(7).setZero();
  return out;
}

/// Unit bend strain (0, c1, c2); zero when straight.
Vector3 direction(const Vector3& strain) {
  const Vector3 bend(0.0, strain[1], strain[2]);
  const double size = bend.norm();
  if (size < straight) return Vector3::Zero();
  return bend / size;
}

}  // namespace

MassSpringChain::MassSpringChain(std::shared_ptr<const NodalModel> model) : NodalRod(std::move(model)) {
  damped_.assign(static_cast<std::size_t>(count()), StrainRows::Zero());
  start();
}

void MassSpringChain::set_rest_curvature(const VectorX& rest) {
  for (Eigen::Index i = 0; i < rest.size(); i += 3) {
    require(rest[i] == 0.0, [&] {
      return "mass-spring chain: natural twist " + std::to_string(rest[i]) +
             " 1/m, expected none; points alone do not twist";
    });
  }
  NodalRod::set_rest_curvature(rest);
}

RodState MassSpringChain::shaped(const Pose& root, const Twist& root_velocity, const VectorX& curvature,
                                 const VectorX& curvature_rate) const {
  RodState out = NodalRod::shaped(root, root_velocity, curvature, curvature_rate);
  out.memory = memory_of(out);
  return out;
}

VectorX MassSpringChain::memory_of(const RodState& state) const {
  const Nodes nodes = nodes_of(state);
  VectorX out(memory_size());
  for (int i = 0; i <= count(); ++i) out.segment<3>(3 * i) = nodes[static_cast<std::size_t>(i)];
  if (clamped()) out.tail<3>() = state.root.frame.col(0);
  return out;
}

RodState MassSpringChain::advanced(const RodState& state, const Eigen::Ref<const VectorX>& v, double dt,
                                   const Pose& next_root, const Twist& root_velocity) const {
  require(v.size() == dof(), "advanced: velocities do not match the rod");
  check_sizes(state);
  RodState next{next_root, root_velocity, state.coordinates + dt * v, v, memory_of(state)};
  if (clamped()) return next;
  const Nodes nodes = nodes_of(next);
  const Matrix3& root = state.root.frame;
  const EdgeFrame first = carried_frame(nodes[1] - nodes[0], root.col(0), root.col(1));
  if (count() == 1) {
    set_free_root(first, 0.0, nullptr, next);
  } else {
    const BendStencil bend = stencil(first, carried_frame(nodes[2] - nodes[1], first.tangent, first.director_1));
    set_free_root(first, 0.0, &bend, next);
  }
  return next;
}

void MassSpringChain::update_frames() {
  EdgeFrame before = root_edge();
  for (int j = 0; j < count(); ++j) {
    frames_[j] = carried_frame(nodes_[j + 1] - nodes_[j], before.tangent, before.director_1);
    if (j >= first_joint()) stencils_[j] = stencil(before, frames_[j]);
    before = frames_[j];
  }
  if (!clamped()) set_free_root(frames_[0], 0.0, count() > 1 ? &stencils_[1] : nullptr, state_);
  if (made_.damping_time > 0.0) update_damping();
}

/// The bend is damped, d|kb| = (1 + |kb|^2 / 4) d(angle). To turn its plane is, for two edges, a rigid motion, which
/// must not be resisted; so close to straight the direction of what is changes fast. It is therefore that of the start
/// of the step, and D stays the same while a step is solved. What is straight there has no plane, and resists every
/// bend.
void MassSpringChain::update_damping() {
  const auto edge_before = [&](int j) -> Vector3 {
    if (j < 0) return state_.memory.tail<3>();
    return state_.memory.segment<3>(3 * j + 3) - state_.memory.segment<3>(3 * j);
  };
  for (int i = first_joint(); i < count(); ++i) {
    const Vector3 e = edge_before(i - 1), f = edge_before(i);
    const Vector3 t = e.normalized(), u = f.normalized();
    const Vector3 binormal = 2.0 / (1.0 + t.dot(u)) * t.cross(u);
    const double bend = binormal.norm();
    const double slope = 1.0 + 0.25 * bend * bend;
    const auto row = [&](int k, const Vector3& axis) {
      damped_[i].block<1, 3>(k, 0) = -slope / e.norm() * axis.cross(t).transpose();
      damped_[i].block<1, 3>(k, 4) = slope / f.norm() * axis.cross(u).transpose();
    };
    damped_[i].setZero();
    if (bend < straight) {
      const Vector3 across = t.unitOrthogonal();
      row(1, across);
      row(2, t.cross(across));
    } else {
      row(1, binormal / bend);
    }
  }
}

double MassSpringChain::joint_energy(int i) const {
  const double strain = stencils_[i].strain.tail<2>().norm() - rest_bend(i);
  return 0.5 * made_.joints[i].stiffness[1] * strain * strain;
}

/// The natural bend over the present one. A straight joint does not know which way to bend, and feels no force.
double MassSpringChain::rest_share(int i) const {
  const double bend = stencils_[i].strain.tail<2>().norm();
  return bend < straight ? 0.0 : rest_bend(i) / bend;
}

Vector3 MassSpringChain::joint_force(int i) const {
  return (1.0 - rest_share(i)) * made_.joints[i].stiffness.cwiseProduct(stencils_[i].strain);
}

Matrix8 MassSpringChain::joint_hessian(int i) const {
  const BendStencil& s = stencils_[i];
  const double share = rest_share(i);
  const Vector3 along = direction(s.strain);
  Matrix3 inner = share * along * along.transpose();
  inner.diagonal() += (1.0 - share) * Vector3(0.25 * s.strain.tail<2>().squaredNorm(), 1.0, 1.0);
  Matrix8 out = weighted_hessian(s, joint_force(i));
  for (const int angle : {3, 7}) {
    out.row(angle).setZero();
    out.col(angle).setZero();
  }
  out.noalias() += made_.joints[i].stiffness[1] * s.gradient.transpose() * inner * s.gradient;
  return out;
}

/// The bend in its plane; of a straight joint none.
Matrix3X MassSpringChain::free_strains(int i) const {
  const Vector3 along = direction(stencils_[i].strain);
  return along.isZero(0.0) ? Matrix3X(3, 0) : Matrix3X(along);
}

/// Not bent the other way.
bool MassSpringChain::may_rest_at(int i, const Vector3& strain) const {
  constexpr double rounding = 1e-12;  // [rad]
  return strain.dot(direction(stencils_[i].strain)) >= -rounding;
}

/// The natural bend in the plane of the present one.
Vector3 MassSpringChain::end_curvature(int i) const {
  const Vector3 rest = rest_.segment<3>(3 * (i - first_joint()));
  const Vector3 along = direction(stencils_[i].strain);
  return along.isZero(0.0) ? rest : Vector3(rest.norm() * along);
}

}  // namespace tresse::rods::detail
