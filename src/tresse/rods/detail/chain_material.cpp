#include <algorithm>
#include <cmath>

#include <tresse/base/assert.hpp>
#include <tresse/math/rotations.hpp>
#include <tresse/rods/detail/chain_rod.hpp>

// The velocity of the material, carried from one shape of a chain to another: docs/theory/energy.md, "Carried
// velocity".
namespace tresse::rods::detail {
namespace {

using Lanes3 = Triple<NodeLanes>;

/// Sections keep the rates of their axes n1 and n2, which are the velocities of what lies beside the centreline.
constexpr std::size_t numbers_of_section = 6;
constexpr std::size_t numbers_of_batch = 3 * point_lanes;

void append(const Lanes3& v, std::vector<double>& out) {
  for (const NodeLanes& component : v.components)
    out.insert(out.end(), component.data(), component.data() + point_lanes);
}
void append(const Vector3& v, std::vector<double>& out) { out.insert(out.end(), v.data(), v.data() + 3); }

Lanes3 batch_at(const double* numbers) {
  return {Eigen::Map<const NodeLanes>(numbers), Eigen::Map<const NodeLanes>(numbers + point_lanes),
          Eigen::Map<const NodeLanes>(numbers + 2 * point_lanes)};
}

/// linear + spin x p
Lanes3 rigid(const Vector3& linear, const Vector3& spin, const Lanes3& p) {
  return {p[2] * spin[1] - p[1] * spin[2] + linear[0], p[0] * spin[2] - p[2] * spin[0] + linear[1],
          p[1] * spin[0] - p[0] * spin[1] + linear[2]};
}

}  // namespace

/// Parts of an element whose points integrate products of what moves there to rounding, for some change of its shape.
template <typename Shape>
int ChainRod<Shape>::parts(int i) const {
  constexpr double turn_of_part = 1.0, most = 1e4;  // [rad], [-]
  double turn = 0.0;
  for (int k = 0; k < width; k += 3)
    turn = std::max(turn, elements()[i].length * coordinates(i).template segment<3>(k).norm());
  return turn < most ? 1 + static_cast<int>(turn / turn_of_part) : static_cast<int>(most);
}

/// They stay for the next call at the same shape: a step ends where the next one begins.
template <typename Shape>
const typename ChainRod<Shape>::MaterialPoints& ChainRod<Shape>::material_points(int i, int parts) const {
  material_points_.resize(elements().size());
  MaterialPoints& out = material_points_[static_cast<std::size_t>(i)];
  if (out.parts != parts) shapes_[i].points(parts, out.batches, out.discs);
  out.parts = parts;
  return out;
}

template <typename Shape>
void ChainRod<Shape>::sample_motion(MaterialMotion& out) const {
  out.parts.clear();
  out.numbers.clear();
  Vector3 linear = state_.root_velocity.linear;
  Vector3 spin = state_.root_velocity.angular;
  for (int i = 0; i < count(); ++i) {
    const Joint& joint = joints_[i];
    const Matrix3& frame = joint.frame;
    const Local rate_i = rate(i);
    const Vector3 own_linear = frame.transpose() * linear, own_spin = frame.transpose() * spin;
    out.parts.push_back(parts(i));
    const MaterialPoints& points = material_points(i, out.parts.back());
    for (const PointBatch<width>& batch : points.batches) {
      Lanes3 v = rigid(own_linear, own_spin, batch.p);
      for (std::size_t r = 0; r < 3; ++r) {
        for (std::size_t k = 0; k < width; ++k) v[r] += batch.P[r][k] * rate_i[static_cast<int>(k)];
      }
      append(times(columns(frame), v), out.numbers);
    }
    const auto append_disc = [&](const SectionDisc<width>& disc) {
      const Matrix3 axes = frame * disc.frame;
      const Vector3 turning = disc.frame.transpose() * own_spin + disc.turning * rate_i;
      append(Vector3(axes * turning.cross(Vector3::UnitY())), out.numbers);
      append(Vector3(axes * turning.cross(Vector3::UnitZ())), out.numbers);
    };
    append_disc(disc_at_start(i));
    for (const SectionDisc<width>& disc : points.discs) append_disc(disc);
    linear += spin.cross(joints_[i + 1].offset - joint.offset) + frame * (shapes_[i].end_linear() * rate_i);
    spin += frame * (shapes_[i].end_angular() * rate_i);
  }
}

template <typename Shape>
void ChainRod<Shape>::carried_momentum(const MaterialMotion& motion, const RodLoads& loads, double dt,
                                       Eigen::Ref<VectorX> out) const {
  TRESSE_ASSERT(out.size() == dof());
  ForceMemory memory;
  const ElementForces forces = memory.template array<ElementForce<width>>(elements().size());
  press(motion, loads, prescribed_twist(loads), dt, forces);
  collect_forces(forces, out);
}

template <typename Shape>
void ChainRod<Shape>::material_momentum(const MaterialMotion& motion, Vector3& linear, Vector3& angular) const {
  ForceMemory memory;
  const ElementForces forces = memory.template array<ElementForce<width>>(elements().size());
  press(motion, {}, {}, 0.0, forces);
  linear.setZero();
  angular.setZero();
  for (int i = 0; i < count(); ++i) {
    const Joint& joint = joints_[i];
    const Vector3 own = joint.frame * forces[i].resultant;
    linear += own;
    angular += (state_.root.position + joint.offset).cross(own) + joint.frame * forces[i].torque;
  }
}

/// What carried_momentum() integrates, element by element.
template <typename Shape>
void ChainRod<Shape>::press(const MaterialMotion& motion, const RodLoads& loads, const Twist& prescribed, double dt,
                            ElementForces forces) const {
  TRESSE_ASSERT(motion.parts.size() == elements().size());
  const double drag = dt * loads.drag;
  const double* next = motion.numbers.data();
  for (int i = 0; i < count(); ++i) {
    const Joint& joint = joints_[i];
    const Matrix3 to_local = joint.frame.transpose();
    const double density = elements()[i].density, resisted = density + drag;
    const Vector3 linear = prescribed.linear + prescribed.angular.cross(joint.offset);
    const Vector3 constant = to_local * (density * dt * loads.gravity + drag * loads.wind - resisted * linear);
    const Vector3 spin = to_local * prescribed.angular;
    ElementForce<width>& force = forces[i];
    force = {Vector3::Zero(), Vector3::Zero(), Local::Zero()};
    const MaterialPoints& points = material_points(i, motion.parts[static_cast<std::size_t>(i)]);
    for (const PointBatch<width>& batch : points.batches) {
      const Lanes3 w = times(columns(to_local), batch_at(next));
      const Lanes3 fixed = rigid(constant, -resisted * spin, batch.p);
      next += numbers_of_batch;
      Lanes3 f;
      for (std::size_t r = 0; r < 3; ++r) f[r] = batch.weight * (density * w[r] + fixed[r]);
      force.resultant += sum(f);
      force.torque += sum(cross(batch.p, f));
      for (std::size_t k = 0; k < width; ++k) {
        force.generalised[static_cast<int>(k)] +=
            (batch.P[0][k] * f[0] + batch.P[1][k] * f[1] + batch.P[2][k] * f[2]).sum();
      }
    }
    const auto press_disc = [&](const SectionDisc<width>& disc) {
      const auto in_axes = [&](const double* numbers) -> Vector3 {
        return disc.frame.transpose() * (to_local * Eigen::Map<const Vector3>(numbers));
      };
      const Vector3 y = disc.inertia[2] * in_axes(next), z = disc.inertia[1] * in_axes(next + 3);
      next += numbers_of_section;
      const Vector3 couple = density * (Vector3::UnitY().cross(y) + Vector3::UnitZ().cross(z)) -
                             resisted * disc.inertia.cwiseProduct(disc.frame.transpose() * spin);
      force.torque += disc.frame * couple;
      force.generalised += disc.turning.transpose() * couple;
    };
    press_disc(disc_at_start(i));
    for (const SectionDisc<width>& disc : points.discs) press_disc(disc);
  }
}

template class ChainRod<HelixShape>;
template class ChainRod<ClothoidShape>;

}  // namespace tresse::rods::detail
