#include <algorithm>
#include <cmath>

#include <Eigen/Eigenvalues>
#include <Eigen/Geometry>

#include <tresse/base/assert.hpp>
#include <tresse/rods/detail/nodal_rod.hpp>

// Energies, forces and matrices. A joint's variables (e, theta^e, f, theta^f) come from the 11 coordinates (x_{i-1},
// theta_{i-1}, x_i, theta_i, x_{i+1}), which follow one another; those of a clamped root would have negative indices.
namespace tresse::rods::detail {

double NodalRod::edge_force(int edge) const {
  return made_.axial[edge] * (frames_[edge].length / made_.lengths[edge] - 1.0);
}

double NodalRod::elastic_energy() const {
  double sum = 0.0;
  for (int j = 0; j < count(); ++j) sum += 0.5 * edge_force(j) * (frames_[j].length - made_.lengths[j]);
  for (int i = first_joint(); i < count(); ++i) sum += joint_energy(i);
  return sum;
}

/// Adds a covector over the joint's 8 variables.
void NodalRod::add_joint(int i, const Vector8& y, Eigen::Ref<VectorX> into) const {
  if (i > 0 && has_angles()) into[angle_at(i - 1)] += y[3];
  if (has_angles()) into[angle_at(i)] += y[7];
  if (i > 0 && node_at(i - 1) >= 0) into.segment<3>(node_at(i - 1)) -= y.head<3>();
  if (node_at(i) >= 0)
    into.segment<3>(node_at(i)) += (i > 0 ? Vector3(y.head<3>()) : Vector3::Zero()) - y.segment<3>(4);
  into.segment<3>(node_at(i + 1)) += y.segment<3>(4);
}

/// Rates of the joint's 8 variables. With `prescribed`, those of a clamped root's motion alone, else those of `v`
/// alone.
Vector8 NodalRod::edge_rates(int i, const Eigen::Ref<const VectorX>& v, bool prescribed) const {
  const auto node = [&](int k) -> Vector3 {
    if (node_at(k) < 0) return prescribed ? state_.root_velocity.linear : Vector3::Zero();
    return prescribed ? Vector3::Zero() : Vector3(v.segment<3>(node_at(k)));
  };
  Vector8 y = Vector8::Zero();
  if (i > 0) {
    y.head<3>() = node(i) - node(i - 1);
    if (has_angles() && !prescribed) y[3] = v[angle_at(i - 1)];
  } else if (prescribed) {
    const Vector3& spin = state_.root_velocity.angular;
    y.head<3>() = spin.cross(state_.root.frame.col(0));
    y[3] = spin.dot(state_.root.frame.col(0));
  }
  y.segment<3>(4) = node(i + 1) - node(i);
  if (has_angles() && !prescribed) y[7] = v[angle_at(i)];
  return y;
}

/// -D v, or -D times the prescribed motion: viscous moments eta stiffness * (rate of bend and twist), which no rigid
/// motion has. Stretch has no viscosity: its rate along an edge's end direction, v being a chord, is not zero in a
/// turn, and times its stiffness would brake it.
void NodalRod::damping_force(const Eigen::Ref<const VectorX>& v, bool prescribed, Eigen::Ref<VectorX> into) const {
  if (made_.damping_time == 0.0) return;
  for (int i = first_joint(); i < count(); ++i) {
    const StrainRows strains = damped_strains(i);
    const Vector3 rate = strains * edge_rates(i, v, prescribed);
    add_joint(i, -made_.damping_time * (strains.transpose() * made_.joints[i].stiffness.cwiseProduct(rate)), into);
  }
}

void NodalRod::elastic_force(Eigen::Ref<VectorX> out) const {
  TRESSE_ASSERT(out.size() == dof());
  out.setZero();
  for (int j = 0; j < count(); ++j) {
    const Vector3 pull = edge_force(j) * frames_[j].tangent;
    if (node_at(j) >= 0) out.segment<3>(node_at(j)) += pull;
    out.segment<3>(node_at(j + 1)) -= pull;
  }
  for (int i = first_joint(); i < count(); ++i) {
    add_joint(i, -(stencils_[i].gradient.transpose() * joint_force(i)), out);
  }
}

Matrix3 NodalRod::stretch_hessian(int j) const {
  const Matrix3 along = frames_[j].tangent * frames_[j].tangent.transpose();
  double across = edge_force(j) / frames_[j].length;
  if (clamped_hessian_) across = std::max(across, 0.0);
  return made_.axial[j] / made_.lengths[j] * along + across * (Matrix3::Identity() - along);
}

const Matrix8& NodalRod::bend_hessian(int joint) const {
  if (!bent_) {
    for (int i = first_joint(); i < count(); ++i) {
      Matrix8& out = hessians_[i];
      out = joint_hessian(i);
      if (!clamped_hessian_ || !out.allFinite()) continue;
      const Eigen::SelfAdjointEigenSolver<Matrix8> eigen(out);
      if (eigen.eigenvalues()[0] >= 0.0) continue;
      const Vector8 values = eigen.eigenvalues().cwiseMax(0.0);
      out = eigen.eigenvectors() * values.asDiagonal() * eigen.eigenvectors().transpose();
    }
    bent_ = true;
  }
  return hessians_[joint];
}

void NodalRod::clamp_hessian() const {
  clamped_hessian_ = true;
  bent_ = false;
}

/// Calls add(row, column, value) for the upper entries, over the coordinates, of a block over the joint's variables.
template <typename Add>
void NodalRod::for_each_entry(int i, const Matrix8& block, const Add& add) const {
  const Eigen::Index begin = node_at(i - 1);
  // x_i belongs to both edges: 11 rows from 8, of which two are angles.
  Eigen::Matrix<double, 11, 8> rows;
  rows << -block.topRows<3>(), block.row(3), block.topRows<3>() - block.middleRows<3>(4), block.row(7),
      block.middleRows<3>(4);
  Eigen::Matrix<double, 11, 11> all;
  all << -rows.leftCols<3>(), rows.col(3), rows.leftCols<3>() - rows.middleCols<3>(4), rows.col(7),
      rows.middleCols<3>(4);
  const bool angles = has_angles();
  const auto place = [&](int k) { return static_cast<int>(begin) + (angles ? k : k - k / 4); };
  for (int c = 0; c < 11; ++c) {
    if (!angles && c % 4 == 3) continue;
    for (int r = 0; r <= c; ++r) {
      if (!angles && r % 4 == 3) continue;
      if (place(r) >= 0) add(place(r), place(c), all(r, c));
    }
  }
}

void NodalRod::add_mass(BandedReverseCholesky& into) const {
  for (int i = 0; i < dof(); ++i) into.at(i, i) += made_.inertia[i];
}

void NodalRod::add_step_terms(const StepTerms& terms, BandedReverseCholesky& into) const {
  const double viscous = terms.damping * made_.damping_time;
  for (int j = 0; j < count() && terms.stiffness != 0.0; ++j) {
    const Matrix3 block = terms.stiffness * stretch_hessian(j);
    const int from = static_cast<int>(node_at(j)), to = static_cast<int>(node_at(j + 1));
    for (int c = 0; c < 3; ++c) {
      for (int r = 0; r < 3; ++r) {
        if (r <= c) into.at(to + r, to + c) += block(r, c);
        if (from < 0) continue;
        if (r <= c) into.at(from + r, from + c) += block(r, c);
        into.at(from + r, to + c) -= block(r, c);
      }
    }
  }
  for (int i = first_joint(); i < count() && (terms.stiffness != 0.0 || viscous != 0.0); ++i) {
    Matrix8 block = Matrix8::Zero();
    if (terms.stiffness != 0.0) block += terms.stiffness * bend_hessian(i);
    if (viscous != 0.0) {
      const StrainRows strains = damped_strains(i);
      block += strains.transpose() * (viscous * made_.joints[i].stiffness).asDiagonal() * strains;
    }
    for_each_entry(i, block, [&](int r, int c, double value) { into.at(r, c) += value; });
  }
  if (terms.drag == 0.0) return;
  for (int k = 0; k <= count(); ++k) {
    const int at = static_cast<int>(node_at(k));
    for (int d = 0; at >= 0 && d < 3; ++d) into.at(at + d, at + d) += terms.drag * made_.node_length[k];
  }
}

void NodalRod::add_stiffness_times(double scale, const VectorX& x, Eigen::Ref<VectorX> into) const {
  for (int j = 0; j < count(); ++j) {
    const Vector3 from = node_at(j) >= 0 ? Vector3(x.segment<3>(node_at(j))) : Vector3::Zero();
    const Vector3 pull = scale * (stretch_hessian(j) * (x.segment<3>(node_at(j + 1)) - from));
    if (node_at(j) >= 0) into.segment<3>(node_at(j)) -= pull;
    into.segment<3>(node_at(j + 1)) += pull;
  }
  for (int i = first_joint(); i < count(); ++i) {
    add_joint(i, scale * (bend_hessian(i) * edge_rates(i, x, false)), into);
  }
}

void NodalRod::elastic_metric(Eigen::Ref<MatrixX> out) const {
  out.setZero();
  const auto add = [&](Eigen::Index r, Eigen::Index c, double value) {
    out(r, c) += value;
    if (r != c) out(c, r) += value;
  };
  for (int j = 0; j < count(); ++j) {
    const Matrix3 block = made_.axial[j] / made_.lengths[j] * frames_[j].tangent * frames_[j].tangent.transpose();
    const Eigen::Index from = node_at(j), to = node_at(j + 1);
    out.block<3, 3>(to, to) += block;
    if (from < 0) continue;
    out.block<3, 3>(from, from) += block;
    out.block<3, 3>(from, to) -= block;
    out.block<3, 3>(to, from) -= block;
  }
  for (int i = first_joint(); i < count(); ++i) {
    const auto& gradient = stencils_[i].gradient;
    for_each_entry(i, gradient.transpose() * made_.joints[i].stiffness.asDiagonal() * gradient, add);
  }
}

void NodalRod::resistance(double drag, const VectorX& v, Eigen::Ref<VectorX> out) const {
  out.setZero();
  damping_force(v, false, out);
  for (int k = clamped() ? 1 : 0; k <= count() && drag != 0.0; ++k) {
    out.segment<3>(node_at(k)) -= drag * made_.node_length[k] * v.segment<3>(node_at(k));
  }
}

void NodalRod::gravity_force(const Vector3& gravity, Eigen::Ref<VectorX> out) const {
  TRESSE_ASSERT(out.size() == dof());
  out.setZero();
  for (int k = clamped() ? 1 : 0; k <= count(); ++k) out.segment<3>(node_at(k)) = made_.node_mass[k] * gravity;
}

/// Gravity, wind, and the viscous stresses of a clamped root's motion.
void NodalRod::inertial_and_external_force(const RodLoads& loads, Eigen::Ref<VectorX> out) const {
  gravity_force(loads.gravity, out);
  for (int k = clamped() ? 1 : 0; k <= count() && loads.drag != 0.0; ++k) {
    out.segment<3>(node_at(k)) += loads.drag * made_.node_length[k] * loads.wind;
  }
  if (clamped()) damping_force(state_.rates, true, out);
}

RodEnergies NodalRod::energies(const Vector3& gravity) const {
  RodEnergies out;
  out.elastic = elastic_energy();
  for (int k = 0; k <= count(); ++k) {
    out.kinetic += 0.5 * made_.node_mass[k] * node_velocity(k, state_.rates).squaredNorm();
    out.gravity -= made_.node_mass[k] * gravity.dot(nodes_[k]);
  }
  return out;
}

RodMotion NodalRod::motion() const {
  RodMotion out;
  for (int k = 0; k <= count(); ++k) {
    const Vector3 v = node_velocity(k, state_.rates);
    const double l = made_.node_length[k];
    out.velocity += l * v;
    out.angular += l * nodes_[k].cross(v);
    out.position += l * nodes_[k];
    out.square += l * v.squaredNorm();
  }
  return out;
}

void NodalRod::momentum(Vector3& linear, Vector3& angular) const {
  linear.setZero();
  angular.setZero();
  for (int k = 0; k <= count(); ++k) {
    const Vector3 p = made_.node_mass[k] * node_velocity(k, state_.rates);
    linear += p;
    angular += nodes_[k].cross(p);
  }
}

void NodalRod::potential_hessian(const Vector3&, Eigen::Ref<MatrixX> out) const {
  out.setZero();
  add_stiffness(1.0, 0.0, out);
}

void NodalRod::potential_gradient(const Vector3& gravity, Eigen::Ref<VectorX> out) const {
  VectorX elastic(dof());
  elastic_force(elastic);
  gravity_force(gravity, out);
  out = -out - elastic;
}

}  // namespace tresse::rods::detail
