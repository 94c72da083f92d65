#pragma once

#include <optional>
#include <vector>

#include <tresse/assembly/free_motion.hpp>
#include <tresse/dynamics/stepper.hpp>

namespace tresse::dynamics::detail {

/// A part [begin, end] of the step.
struct Span {
  double begin = 0.0;     ///< [s]
  double end = 0.0;       ///< [s]
  bool shortest = false;  ///< cut only where bodies may have gone through each other
  bool last = false;      ///< not even then
};

/// What becomes of a part of the step.
enum class SubstepResult {
  accepted,
  cut,  ///< it is too long
  not_finite,
};

/// The part of a step under way: what it starts from, the motions that are prescribed over it, its motion without
/// contact, and the shapes that it goes through. Every concern of the step reads it. The world, the options and the
/// state must outlive it.
struct Part {
  Part(const assembly::World& of, const StepOptions& with, const SimulationState& from);

  const assembly::World& world;
  const StepOptions& options;
  const SimulationState& state;  ///< the part starts from it

  assembly::Kinematics start;       ///< of `state`, with the root velocities of this part
  assembly::Kinematics linearised;  ///< where a tree was linearised again after the first pass, or was sampled
  assembly::Kinematics end;         ///< where the last pass ends
  std::optional<assembly::Kinematics> trial;  ///< for searches of a shape; where there are such

  Span span;
  assembly::FreeMotion motion;
  /// (fibres) of what the fluid does beyond Fibre::fluid_drag, generalised (dof); empty without a fluid
  std::vector<VectorX> fluid_force;
  std::vector<Matrix3X> fluid_on_nodes;  ///< (fibres) (3, nodes) all that it does [N]
  Vector3 air = Vector3::Zero();         ///< its velocity (3) [m/s]
  double growth_work = 0.0;              ///< energy that the change of natural shape and length brought in [J]

  std::vector<rods::RodState> start_rods;  ///< (fibres) those of `state`, with the root velocities of this part
  std::vector<VectorX> start_velocities;   ///< (fibres) generalised velocities of these
  std::vector<rods::RodState> end_rods;    ///< (fibres) of `end`
  std::vector<Pose> stage_roots;           ///< (fibres) clamped roots at theta
  std::vector<Pose> next_roots;            ///< (fibres) clamped roots at the end
  std::vector<Twist> root_accelerations;   ///< (fibres)

  double stage() const { return motion.stage; }
  int tree_count() const { return static_cast<int>(motion.forest.trees.size()); }
  const assembly::Tree& tree(int t) const { return motion.forest.trees[static_cast<std::size_t>(t)]; }
  const assembly::Fibre& trunk(int t) const { return world.fibres[static_cast<std::size_t>(tree(t).fibres.front())]; }
  bool branched(int t) const { return tree(t).fibres.size() > 1; }
  /// Whether the elasticity of a tree is linear.
  bool linear(int t) const { return trunk(t).model->linear_elasticity(); }
  /// Whether the root of a tree is moved.
  bool driven(int t) const { return clamped(trunk(t)) && !trunk(t).root_motion.at_rest(); }
  /// Whether the velocity of a tree's material is carried from shape to shape.
  bool carries(int t) const { return options.scheme == Scheme::carried && linear(t); }
  /// Loads on a fibre that is a tree of its own.
  rods::RodLoads lone_loads(int f) const {
    return {assembly::gravity_of(world), root_accelerations[f], assembly::drag_of(world, f), air, {}};
  }
};

/// Gives the rods of all shapes the natural shapes and lengths of `time`; update them next.
void set_natural_shapes(Part& part, double time);
/// Brings the rods of the start to a state; the roots of branches in `states` follow their parents.
void update_start(Part& part, std::vector<rods::RodState>& states);
/// Begins a part: what is prescribed moves on, fibres grow, and the roots of the start take their velocities.
void begin_part(Part& part, const Span& span);

/// Notes how the roots of branches move in the shapes `at`, of all trees or of one.
void find_root_motions(Part& part, const assembly::Kinematics& at);
void find_root_motions(Part& part, const assembly::Kinematics& at, int tree);
/// Lets the roots of branches move by the same unknowns as find_root_motions() last saw them.
void take_root_motions(const Part& part, std::vector<VectorX>& velocities);

/// Moves the fibres to the end that `velocities` (fibres, then free bodies) lead to.
void move_fibres_to_end(Part& part, const std::vector<VectorX>& velocities);

/// Generalised velocities of a state of these shapes. (fibres, then free bodies)
std::vector<VectorX> velocities_of(const assembly::Kinematics& at, const std::vector<rods::RodState>& rods,
                                   const std::vector<bodies::BodyState>& bodies);
/// Whether a part with these velocities ends in a state worth going on from.
bool sound(const Part& part, const std::vector<VectorX>& velocities);
/// How far off the part puts a point: it goes on with v_m = theta v+ + (1 - theta) v, where (v+ + v) / 2 would be of
/// second order. [m]
double estimated_error(const Part& part, const std::vector<VectorX>& velocities);
/// |after - before| in the norm of the step matrix, relative to the larger of |after| and dt |M^-1 force|: the residual
/// of the implicit step at `before`, preconditioned.
double velocity_change(const Part& part, const std::vector<VectorX>& before, const std::vector<VectorX>& after);

}  // namespace tresse::dynamics::detail
