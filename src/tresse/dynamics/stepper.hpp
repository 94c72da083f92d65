#pragma once

#include <vector>

#include <tresse/assembly/contact_problem.hpp>
#include <tresse/assembly/world.hpp>
#include <tresse/dynamics/report.hpp>
#include <tresse/friction/solver.hpp>

namespace tresse::dynamics {

enum class Scheme {
  semi_implicit,  ///< elasticity implicit, the rest at the start of the step. bertails2018hdr eq. (2.10)
  nonlinear,      ///< every term at the end of the step, iterated
};

struct StepOptions {
  double dt = 1e-3;  ///< > 0 [s]
  Scheme scheme = Scheme::semi_implicit;
  double nonlinear_tolerance = 1e-10;  ///< on StepReport::nonlinear_residual; > 0
  int max_nonlinear_iterations = 50;   ///< >= 1
  int relinearisations = 1;        ///< passes that linearise contact again at the end of the step, M and A frozen; >= 0
  int max_relinearisations = 4;    ///< more of them while the end of the step overlaps; none when relinearisations is 0
  double overlap_tolerance = 0.0;  ///< overlap beyond the wanted gap that is left alone; >= 0 [m]
  double margin = 0.0;             ///< contacts enter the problem below this gap plus dt |u_free|; > 0 [m]
  double push_out_speed = 0.02;    ///< bound on the speed that corrects a penetration; > 0 [m/s]
  contact::BroadPhaseOptions broad_phase;
  contact::DetectionOptions detection;
  friction::SolverOptions solver;
};

/// Advances a world step by step: free motion of every fibre, contacts, one discrete frictional contact problem, new
/// state. The equations are in docs/dynamics.md. Same bits for any number of threads.
class Stepper {
 public:
  /// `initial` holds one state a fibre; throws InvalidInput when sizes or options are wrong.
  Stepper(assembly::World world, const StepOptions& options, SimulationState initial);

  /// One step. When the new state is not finite the report says so and state() is still the last good one.
  [[nodiscard]] StepReport step();

  double time() const { return static_cast<double>(state_.step) * options_.dt; }
  const SimulationState& state() const { return state_; }
  /// Where the rods were before the last step; state().rods before the first.
  const std::vector<rods::RodState>& previous_rods() const { return previous_rods_; }
  /// The rods hold the kinematics of state().
  const assembly::World& world() const { return world_; }
  const StepOptions& options() const { return options_; }
  /// Contacts of the last step, with their forces.
  const std::vector<ContactReport>& contacts() const { return contact_reports_; }

 private:
  struct Pass;  ///< contacts and their solution at one linearisation

  void set_natural_shapes(double time);
  void begin_step();
  void assemble_fibre(int fibre, const rods::RodState& at, const VectorX& v_at, bool at_end);
  std::vector<rods::RodState> end_states(const std::vector<VectorX>& velocities) const;
  void set_reaches();
  Pass first_pass();
  Pass next_pass(const Pass& previous);
  void solve(Pass& pass);
  void relinearise(Pass& pass, StepReport& report);
  double velocity_change(const Pass& before, const Pass& after) const;
  void report_contacts(const Pass& pass, StepReport& report);
  double root_and_air_work();
  double air_work(const assembly::Fibre& fibre) const;
  double root_work(int fibre);

  assembly::World world_;
  StepOptions options_;
  SimulationState state_;
  std::vector<rods::RodState> previous_rods_;
  std::vector<ContactReport> contact_reports_;

  // Workspace of the step under way.
  assembly::FreeMotion motion_;
  std::vector<VectorX> start_velocities_;  ///< (fibres) generalised velocity at the start of the step
  std::vector<Pose> next_roots_;           ///< (fibres) clamped roots at the end of the step
  std::vector<Twist> root_twists_;         ///< (fibres) their mean velocity over it
  std::vector<Twist> root_accelerations_;  ///< (fibres)
  contact::Geometry geometry_;
  std::vector<contact::CandidatePair> pairs_;
  double obstacle_work_ = 0.0;  ///< of the obstacles on the fibres in this step [J]
  double growth_work_ = 0.0;    ///< elastic energy that the change of natural shape brought in this step [J]
  StepReport timing_;           ///< only its t_* fields are used
};

}  // namespace tresse::dynamics
