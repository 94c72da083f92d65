#pragma once

#include <memory>
#include <vector>

#include <tresse/assembly/free_motion.hpp>
#include <tresse/contact/detection.hpp>
#include <tresse/friction/problem.hpp>

namespace tresse::assembly {

/// Where obstacles stand when contacts were detected.
enum class Instant { begin, end };

/// Where an obstacle stands then.
const Pose& obstacle_place(const FreeMotion& motion, int obstacle, Instant instant);

/// Velocity over the step, relative and in the contact basis: (normal, t1, t2) of b minus a. [m/s]
Vector3 relative_velocity(const Kinematics& at, const contact::Geometry& geometry, const contact::Contact& contact,
                          const std::vector<VectorX>& velocities, const FreeMotion& motion, Instant instant);

/// Mean velocity over the step of the material point where a contact acts on an obstacle whose motion is prescribed; it
/// was found at `instant`. (3) [m/s]
Vector3 surface_velocity(const World& world, const contact::Geometry& geometry, const contact::Contact& contact,
                         const FreeMotion& motion, Instant instant);

/// Where a contact acts on its two sides, one point midway between their surfaces, so that what the two exert on each
/// other has no moment. Two points where fibres are farther apart, or deeper in each other, than the smallest radius:
/// neither lever arm is off its radius by more than half of that. On the centreline of a fibre that does not twist.
/// With ContactAt::centreline: on the centrelines of fibres, where a rigid body meets a fibre on its surface.
struct ActingPoints {
  Vector3 a, b;  ///< (3) [m]
};
ActingPoints acting_points(const World& world, const contact::Geometry& geometry, const contact::Contact& contact);

/// What the law says of a contact [-]. The friction of a region of a fibre takes the place of that of the materials;
/// of two regions the larger counts.
struct ContactCoefficients {
  double friction = 0.0;
  double kinetic = 0.0;  ///< of what slides; at most `friction`
  double restitution = 0.0;
};
ContactCoefficients coefficients(const Kinematics& at, const contact::Geometry& geometry,
                                 const contact::Contact& contact, const FreeMotion& motion, Instant instant);

/// Whether no force along the normal of a contact moves a fibre of it: straight ones that cannot stretch, pushed along
/// their axes. What rounding leaves of a motion would make the force any size. At the rods' last update.
bool cannot_open(const Kinematics& at, const contact::Geometry& geometry, const contact::Contact& contact,
                 const FreeMotion& motion, Instant instant);

/// Memory of contact_problem() and constrained_velocities(), kept from one problem to the next.
class ContactWorkspace {
 public:
  ContactWorkspace();
  ContactWorkspace(const ContactWorkspace&) = delete;
  ContactWorkspace& operator=(const ContactWorkspace&) = delete;
  ContactWorkspace(ContactWorkspace&& other) noexcept;
  ContactWorkspace& operator=(ContactWorkspace&& other) noexcept;
  ~ContactWorkspace();

  struct Arrays;
  Arrays& arrays() { return *arrays_; }

 private:
  std::unique_ptr<Arrays> arrays_;
};

/// The discrete frictional contact problem u = W r + q in whitened form, with u the relative velocity plus `bias` in
/// the contact basis: over dt, the open gap (or the wanted correction), and the slip that is to be taken back.
/// Jacobians are those of the rods' last update. Its bodies are the trees, then the free bodies. The memory of
/// `storage`, an earlier one, is used again. bertails2018hdr eq. (3.5)-(3.6)
friction::FactoredProblem contact_problem(const Kinematics& at, const contact::Geometry& geometry,
                                          const std::vector<contact::Contact>& contacts, const FreeMotion& motion,
                                          const std::vector<Vector3>& bias, Instant instant,
                                          ContactWorkspace& workspace, friction::FactoredProblem storage = {});

/// Generalised impulses sum J^T r on a tree, (dof), where the rods are; r of contact_problem(). Allocates.
VectorX contact_impulse(const Kinematics& at, const contact::Geometry& geometry,
                        const std::vector<contact::Contact>& contacts, const VectorX& impulse, const FreeMotion& motion,
                        int tree);

/// Generalised velocities after the impulses r of `problem`, v = v_free + U^-T X^T r. (fibres, free bodies) In the
/// memory of `storage`.
std::vector<VectorX> constrained_velocities(const World& world, const friction::FactoredProblem& problem,
                                            const VectorX& impulse, const FreeMotion& motion,
                                            ContactWorkspace& workspace, std::vector<VectorX> storage = {});

}  // namespace tresse::assembly
