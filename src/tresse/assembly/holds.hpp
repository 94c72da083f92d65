#pragma once

#include <vector>

#include <tresse/assembly/free_motion.hpp>

/// Prescribed points of fibres. Their velocities are equations J v = wanted among the unknowns of a tree, and kept
/// exactly: whitened vectors lose what moves a held point, so that friction solvers never see it.
/// docs/theory/dynamics.md, "Held points".
namespace tresse::assembly {

/// A hold's load on its fibre over a step. [N s], [N m s]
struct HoldImpulse {
  int hold = -1;
  Vector3 linear = Vector3::Zero();
  Vector3 angular = Vector3::Zero();
};

/// The trees that are held until `end`: only `holds` of each is set.
std::vector<TreeHold> find_holds(const World& world, const Forest& forest, double end);

/// Linearises what holds a tree where its rods are, with the matrix as it is; `time` is the end of the step.
void linearise_holds(const Kinematics& kinematics, FreeMotion& motion, int tree, double time);

/// Of a held point where its rod is at `time`, the start of a step, under `force` (3) [N] on the fibre. `share` is
/// undone until the end, or of `most` [m] where it is more than that.
HoldOffset hold_offset(const Kinematics& kinematics, int index, double time, const Vector3& force, double share,
                       double most);

/// Adds to the velocities of a tree what brings the held points at `time`, the end of the step, where they are wanted,
/// but for what of their offsets may be left.
/// `reached`: the rods are at the end that these velocities reach; none: they are at the start.
void keep_holds(const Kinematics& kinematics, FreeMotion& motion, int tree, double time,
                const std::vector<VectorX>* reached);

/// Velocity of a held point and its frame when its rod moves by `v`, what is prescribed included.
Twist held_velocity(const Kinematics& kinematics, const Hold& hold, const VectorX& v);

/// The mean velocity with which a hold is led from one time to a later one.
Twist led_velocity(const Hold& hold, double begin, double end);

/// Loads of the holds of a tree, as keep_holds() left them; `contact` is the generalised impulse of contacts on
/// it, (dof).
std::vector<HoldImpulse> hold_impulses(const World& world, const FreeMotion& motion, int tree, const VectorX& contact);

/// Distance of a held point, where the rods are, from where it is wanted at `time`, beyond what the compliance gives
/// under the impulse over `stage` and what may be left; of a clamped frame also the angle times the fibre's length. [m]
double hold_error(const Kinematics& kinematics, const HoldImpulse& impulse, double time, double stage,
                  const Vector3& left = Vector3::Zero());

}  // namespace tresse::assembly
