#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include <tresse/assembly/contact_report.hpp>
#include <tresse/base/status.hpp>
#include <tresse/base/types.hpp>
#include <tresse/bodies/rigid_body.hpp>
#include <tresse/grains/medium.hpp>
#include <tresse/rods/rod.hpp>
#include <tresse/surfaces/surface.hpp>

namespace tresse::dynamics {

using assembly::ContactReport;

/// What the fibres, free bodies, cloth and grains exert on one obstacle over a step.
struct ObstacleLoad {
  Vector3 force = Vector3::Zero();   ///< (3) world axes [N]
  Vector3 torque = Vector3::Zero();  ///< about the obstacle's moved reference point (3) world axes [N m]
  int contacts = 0;                  ///< with a force; of cloth vertices, of grains none
};

/// The last part of the last step, over which the contacts' forces act: the whole step unless it was cut.
struct LastPart {
  double dt = 0.0;                    ///< [s]; 0: there was no step
  std::vector<rods::RodState> start;  ///< (fibres) where it began
  std::vector<Matrix3X> fluid;        ///< (fibres) (3, nodes) of the fluid on each node; empty without one [N]
};

/// How the motion of a cloth was solved for over a step, and what it carries.
struct ClothReport {
  Status status = Status::converged;
  int iterations = 0;                   ///< Newton's steps, of all passes
  int passes = 0;                       ///< each with contacts found anew where vertices overlapped
  double residual = 0.0;                ///< friction::primal_error() of the pass that stood, computed anew [-]
  int contacts = 0;                     ///< vertices near an obstacle, in the problem
  int loaded = 0;                       ///< of these, with a force
  double penetration = 0.0;             ///< deepest of a vertex at the end of the step; >= 0 [m]
  surfaces::SurfaceEnergies energies;   ///< at the end
  double top_speed = 0.0;               ///< of a vertex at the end [m/s]
  Vector3 pin_force = Vector3::Zero();  ///< of the cloth on its pins, in all (3) [N]
  double work = 0.0;                    ///< done on it by obstacles, pins and the air over the step [J]
};

/// What a fibre exerts on what holds it over a step.
struct HoldLoad {
  Vector3 force = Vector3::Zero();   ///< (3) world axes [N]
  Vector3 torque = Vector3::Zero();  ///< of a clamped frame, about the held point (3) world axes [N m]
  double error = 0.0;                ///< assembly::hold_error() at the end [m]
};

/// What a fibre whose root is clamped, with all that grows on it, exerts on its clamp over a step.
struct RootLoad {
  Vector3 force = Vector3::Zero();   ///< (3) world axes [N]
  Vector3 torque = Vector3::Zero();  ///< about the root (3) world axes [N m]
};

/// What the fluid exerts on a fibre over a step.
struct FluidLoad {
  Vector3 force = Vector3::Zero();   ///< (3) world axes [N]
  Vector3 torque = Vector3::Zero();  ///< about its root (3) world axes [N m]
};

/// How the motion of a fibre without contact was solved for, where its elasticity is not linear.
struct FreeMotionResult {
  Status status = Status::max_iterations;
  int iterations = 0;  ///< Newton steps
};

struct StepReport {
  std::int64_t step = 0;  ///< 1 for the first
  double time = 0.0;      ///< at the end of the step [s]
  int contacts = 0;       ///< in the friction problem
  int parts = 0;          ///< that the step was cut into
  int iterations = 0;     ///< of the friction solver, all passes
  double residual = 0.0;  ///< scaled natural-map error of the pass that stood, worst of all parts [-]
  Status solver_status = Status::converged;
  int motion_iterations = 0;  ///< most Newton steps that a fibre's free motion took, where elasticity is not linear
  Status motion_status = Status::converged;  ///< of these, the first that did not converge
  double nonlinear_residual = 0.0;           ///< relative: of steps that are iterated, the fluid's included
  double fluid_residual = 0.0;               ///< of the fluid's force, relative, worst of all parts
  double step_error = 0.0;           ///< estimated, of the part where it is largest; StepOptions::step_error [m]
  double largest_stick_drift = 0.0;  ///< WarmContact::slip of the contacts that stick at the end of the step; >= 0 [m]
  int evaluations = 0;               ///< how often a part was linearised, first at its start
  int linear_solves = 0;             ///< of Newton's methods on contacts
  double least_step_length = 1.0;    ///< of the searches along their steps [-]
  /// Of the contacts within reach at the end of the step; infinite without any [m]
  double nearest = std::numeric_limits<double>::infinity();
  double stiffness = 0.0;        ///< largest of a contact under a penalty law [N/m]
  double max_penetration = 0.0;  ///< deepest in the configurations that the parts of the step started from; >= 0 [m]
  std::optional<ContactReport> deepest;  ///< which, without force and slip; none: no overlap
  int overlaps = 0;                      ///< contacts there that are at least half as deep
  /// Of two that may have gone through each other on the way of the shortest part of the step, where it began; without
  /// force and slip; none: proved that nothing did.
  std::optional<ContactReport> crossing;
  /// Under a barrier: of two that are not proved to keep a gap above zero on the way of the shortest part of the step;
  /// without force and slip; none: proved that no surface touched another.
  std::optional<ContactReport> touch;
  /// The deepest contact of the passes that stood which no force can open, and which is left out: a straight fibre that
  /// cannot stretch is pushed along its axis. Without force and slip.
  std::optional<ContactReport> jammed;
  rods::RodEnergies energies;  ///< summed over fibres, free bodies and surfaces, at the end of the step
  double work_external = 0.0;  ///< done on these by other obstacles, moving roots, air, growing natural curvature and
                               ///< the potential of a penalty law since the start [J]
  /// By how much kinetic + elastic + gravity energy, less all work done, stands above the lowest value that it has had:
  /// energy that came from nothing [J]
  double energy_excess = 0.0;
  /// No gap was smaller since the start, at any time of any step: proved, but for those of `crossing`; <= 0 [m]
  double least_gap = 0.0;
  double t_detection = 0.0;  ///< wall times [s]
  double t_assembly = 0.0;
  double t_solve = 0.0;
  double t_step = 0.0;
  bool finite = true;                         ///< the new state holds no NaN or infinity
  std::vector<ObstacleLoad> obstacles;        ///< in scene order
  std::vector<HoldLoad> holds;                ///< in the order of World::holds; zero once it let go
  std::vector<RootLoad> roots;                ///< (fibres) zero where no root is clamped
  std::vector<FluidLoad> fluid;               ///< (fibres) empty without a fluid
  std::vector<ClothReport> cloths;            ///< of World::surfaces that are cloth, in their order
  std::optional<grains::GrainReport> grains;  ///< none without grains
};

/// A contact that carried a load in the last step: followed into the next, and where its solve starts.
struct WarmContact {
  contact::Place place;
  Vector3 force;  ///< of a on b, world axes (3) [N]
  /// By how much the material of b moved over that of a since it began to stick, (3); none: it does not stick. [m]
  std::optional<Vector3> slip = std::nullopt;
  bool slides = false;  ///< whether it slid; only where what slides has another friction than what sticks
  std::optional<double> kept_gap = std::nullopt;  ///< of StepOptions::keep_gaps, until the pair has opened once [m]
};

/// What the fluid did, where the next part of a step goes on from. Empty: nothing yet, or there is no fluid.
struct FluidState {
  VectorX densities,
      densities_before;         ///< (3 nodes) on the fluid, at the ends of the last part and the one before [N/m]
  VectorX force, force_before;  ///< (dof of all fibres) on the fibres, beyond the drag of each point alone
  double dt = 0.0;              ///< how long the last part was [s]
  VectorX factored_at;          ///< (3 nodes) where the preconditioner of its resistance is of [m]
  int spent = 0;                ///< iterations since then that a younger one would have saved
};

/// All that a run needs to go on bit for bit.
struct SimulationState {
  std::int64_t step = 0;
  std::vector<rods::RodState> rods;
  std::vector<bodies::BodyState> bodies;         ///< (free bodies)
  std::vector<surfaces::SurfaceState> surfaces;  ///< (World::surfaces)
  std::vector<WarmContact> warm;
  /// (holds) of each on its fibre, what its compliance gives under; empty: none yet [N]
  std::vector<Vector3> hold_forces;
  FluidState fluid;
  grains::GrainState grains;   ///< empty without grains
  double work_external = 0.0;  ///< [J]
  double energy_excess = 0.0;  ///< StepReport::energy_excess [J]
  double least_gap = 0.0;      ///< StepReport::least_gap [m]
};

}  // namespace tresse::dynamics
