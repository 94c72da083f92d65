#pragma once

#include <memory>
#include <utility>
#include <vector>

#include <tresse/dynamics/detail/contact_finder.hpp>
#include <tresse/dynamics/detail/energy_books.hpp>
#include <tresse/dynamics/detail/fluid_forces.hpp>
#include <tresse/dynamics/detail/free_bodies.hpp>
#include <tresse/dynamics/detail/gradient_tape.hpp>
#include <tresse/dynamics/detail/grain_motion.hpp>
#include <tresse/dynamics/detail/held_points.hpp>
#include <tresse/dynamics/detail/momentum_books.hpp>
#include <tresse/dynamics/detail/part.hpp>
#include <tresse/dynamics/detail/pass.hpp>
#include <tresse/dynamics/detail/repairs.hpp>
#include <tresse/dynamics/detail/start_overlaps.hpp>
#include <tresse/dynamics/detail/surface_motion.hpp>
#include <tresse/dynamics/detail/tangent_motion.hpp>
#include <tresse/dynamics/detail/tree_motion.hpp>
#include <tresse/dynamics/stepper.hpp>

namespace tresse::dynamics::detail {

/// What Stepper is made of: the state, and the concerns of a step, each a class of its own. engine.cpp reads as a step
/// goes; engine_state.cpp is what happens between steps.
class Engine {
 public:
  Engine(assembly::World world, const StepOptions& options, SimulationState initial);
  Engine(const Engine&) = delete;  // its parts know where its world is
  Engine& operator=(const Engine&) = delete;
  Engine(Engine&&) = delete;
  Engine& operator=(Engine&&) = delete;
  ~Engine() = default;

  [[nodiscard]] StepReport step();

  void set_state(SimulationState state);
  void drive_obstacle(int obstacle, const Twist& velocity, double duration);
  void drive_root(int fibre, const Twist& velocity, double duration);

  double time() const { return static_cast<double>(state_.step) * options_.dt; }
  const SimulationState& state() const { return state_; }
  const SimulationState& previous_state() const { return previous_; }
  const rods::RodEnergies& energies() const { return energies_; }
  const assembly::World& world() const { return world_; }
  const assembly::Kinematics& kinematics() const { return part_.start; }
  const StepOptions& options() const { return options_; }
  const Configuration& here() const { return *here_; }
  void observe_problems(Stepper::ProblemObserver observer) { observer_ = std::move(observer); }
  void observe_kept_problems(Stepper::KeptObserver observer) { kept_observer_ = std::move(observer); }
  void differentiate(std::vector<Variation> variations);
  const TangentMotion* tangent() const { return tangent_.get(); }
  void keep_for_gradient();
  GradientTape* tape() { return tape_.get(); }
  const GradientTape* tape() const { return tape_.get(); }
  const grains::Flow* grains() const { return grains_.flow(); }
  const LastPart& last_part() const { return last_part_; }
  const std::vector<ContactReport>& contacts() const { return contacts_; }

 private:
  struct BestPass;  ///< of those that a part was tried with

  void restore(SimulationState& state);
  void stop_derivatives();
  KnownMatrices known_matrices() const;
  template <typename Visit>
  void each_recorder(const Visit& visit) {
    if (tangent_) visit(tangent_->recorder());
    if (tape_) visit(tape_->recorder());
  }
  rods::RodEnergies all_energies() const;
  bodies::Motion driven(const Pose& now, const Twist& velocity, double duration) const;

  StepReport take_step();
  SubstepResult attempt(const Span& span, StepReport& report);
  bool begin(const Span& span, StepReport& report);
  SubstepResult iterate(Pass pass, StepReport& report);
  Pass linearise(const SharedConfiguration& at, const Pass* previous, double tolerance, StepReport& report);
  void go_to_end(const Pass& pass);
  SharedConfiguration find_contacts_at_end(const Pass& pass);
  SubstepResult accept_unsound(Pass& pass, BestPass& best, StepReport& report);
  SubstepResult accept_earlier(BestPass& best, StepReport& report);
  SubstepResult accept(Pass& pass, SharedConfiguration end, StepReport& report);
  bool under_barrier() const;
  bool prove_way(const Configuration& end, StepReport& report);
  PartWorks works_of(const Pass& pass);
  SubstepResult settle_energy(Pass& pass, PartWorks& works, rods::RodEnergies& energies, StepReport& report,
                              bool& slowed);

  assembly::World world_;
  StepOptions options_;
  SimulationState state_;
  SimulationState previous_;
  SharedConfiguration here_;    ///< of state_
  bool astray_ = false;         ///< a step was left in its middle: the rods are anywhere
  bool redirected_ = false;     ///< something was given another motion since `here_` was found
  rods::RodEnergies energies_;  ///< of state_, surfaces included
  double error_ = 0.0;          ///< estimated of the last part that was tried [m]
  Stepper::ProblemObserver observer_;
  Stepper::KeptObserver kept_observer_;
  std::vector<ContactReport> contacts_;
  LastPart last_part_;

  Part part_;
  TreeMotion trees_;
  FreeBodies bodies_;
  FluidForces fluid_;
  HeldPoints holds_;
  StartOverlaps overlaps_;
  ContactFinder finder_;
  PassSolver passes_;
  Repairs repairs_;
  EnergyBooks energy_;
  MomentumBooks momentum_;
  SurfaceMotion surfaces_;
  GrainMotion grains_;
  std::unique_ptr<TangentMotion> tangent_;  ///< none: nothing is differentiated along variations
  std::unique_ptr<GradientTape> tape_;      ///< none: nothing is kept for a gradient
};

}  // namespace tresse::dynamics::detail
