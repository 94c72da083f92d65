#pragma once

#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include <tresse/assembly/kinematics.hpp>
#include <tresse/base/enum_words.hpp>
#include <tresse/contact/detection.hpp>
#include <tresse/dynamics/report.hpp>
#include <tresse/dynamics/sensitivity.hpp>
#include <tresse/friction/solver.hpp>
#include <tresse/grains/flow.hpp>
#include <tresse/laws/penalty_problem.hpp>

namespace tresse::dynamics {

namespace detail {
class Engine;
}

enum class Scheme {
  /// Elasticity implicit; the inertial force by the velocity of the material, which is carried to the shape at the end.
  /// Free motion gains no energy at any step. With theta 1
  carried,
  semi_implicit,  ///< elasticity implicit, the rest at the start of the step. bertails2018hdr eq. (2.10)
  linearised,     ///< the same, with the inertial force A linearised in the velocity about that of the start
  nonlinear,      ///< every term at the end of the step (at theta), iterated
};

/// Contact by a penalty law in place of the exact one: docs/theory/penalty.md.
struct PenaltyStep {
  laws::Penalty law;
  std::optional<double> stiffness;  ///< of every contact; none: taken anew in each part of a step; > 0 [N/m]
  double tolerance = 1e-6;          ///< on StepReport::nonlinear_residual; > 0
  int max_iterations = 30;          ///< passes of a part, each linearised where the last ended; >= 1
};

struct StepOptions {
  double dt = 1e-3;  ///< > 0 [s]
  Scheme scheme = Scheme::carried;
  /// Where in the step the forces are taken; 0.5 (trapezoidal; with Scheme::nonlinear the implicit midpoint rule) to 1
  /// (Euler). Below 1 an impact bounces and high frequencies ring on.
  double theta = 1.0;
  double nonlinear_tolerance = 1e-10;  ///< on StepReport::nonlinear_residual; > 0
  int max_nonlinear_iterations = 50;   ///< >= 1
  double motion_tolerance = 1e-10;  ///< on Newton's step of a free motion whose elasticity is not linear, relative; > 0
  int max_motion_iterations = 100;  ///< of it; >= 1
  int relinearisations = 1;         ///< passes that linearise contact again at the end of the step; >= 0
  int max_relinearisations = 4;     ///< more of them while the end of the step overlaps; >= 0
  double overlap_tolerance = 0.0;   ///< overlap beyond the wanted gap that is left alone; >= 0 [m]
  int max_halvings = 4;             ///< how often a step whose end still overlaps is cut in two; 0 to 20
  double halving_overlap = 0.0;     ///< the overlap that is worth it; >= 0 [m]
  /// How far off a point may come to be in a part of the step, as its first pass estimates, before that is cut, by
  /// max_halvings at most; none: any. Needs theta above 0.5. > 0 [m]
  std::optional<double> step_error;
  double margin = 0.0;  ///< contacts enter the problem below this gap plus dt |u_free|; > 0 [m]
  /// What meets more slowly doesn't bounce; none: four times what gravity does in a step. >= 0 [m/s]
  std::optional<double> restitution_threshold;
  /// Pairs that overlap or nearly touch when step 0 begins keep that gap as the wanted one until they have opened once.
  bool keep_gaps = false;
  double push_out_speed = 0.02;  ///< bound on the speed that corrects a penetration; > 0 [m/s]
  contact::BroadPhaseOptions broad_phase;
  contact::DetectionOptions detection;
  friction::SolverOptions solver;
  std::optional<PenaltyStep> penalty;  ///< none: the exact law
  double fluid_tolerance = 1e-5;       ///< on StepReport::fluid_residual; > 0
  double grain_tolerance = 1e-10;      ///< on GrainReport::residual; > 0
  double cloth_tolerance = 1e-10;      ///< on ClothReport::residual; > 0
  int max_cloth_iterations = 200;      ///< of Newton's method for cloth; >= 1
  int max_grain_iterations = 2000;     ///< of Newton's method for grains; >= 1
};

/// Advances a world step by step: free motion of every fibre, contacts, one discrete frictional contact problem, new
/// state. The equations are in docs/theory/dynamics.md. Same bits for any number of threads.
class Stepper {
 public:
  /// `initial` holds one state a fibre and one a free body, and that of the grains; throws InvalidInput when sizes or
  /// options are wrong.
  Stepper(assembly::World world, const StepOptions& options, SimulationState initial);
  Stepper(const Stepper&) = delete;
  Stepper& operator=(const Stepper&) = delete;
  Stepper(Stepper&&) noexcept;
  Stepper& operator=(Stepper&&) noexcept;
  ~Stepper();

  /// One step. When the new state is not finite the report says so and state() is still the last good one; so it is
  /// after an exception, such as Interrupted.
  [[nodiscard]] StepReport step();

  /// From now on carries the derivatives of the state along these variations from step to step, exactly:
  /// docs/theory/gradients.md. Throws InvalidInput where the world or the options have what they do not know.
  void differentiate(std::vector<Variation> variations);
  /// (variations) (fibres) How the state changes along each; empty unless it is differentiated.
  const std::vector<std::vector<FibreChange>>& changes() const;
  DerivativeReport derivative_report() const;
  /// From now on keeps what gradient() needs of each step, and forgets what was kept before. Throws InvalidInput as
  /// differentiate().
  void keep_for_gradient();
  /// Adds to the derivative of an objective that by the present state, one entry a fibre. Throws InvalidInput for sizes
  /// that do not fit, and where nothing is kept.
  void add_by_state(const std::vector<FibreChange>& by_state);
  /// The gradient of that objective by all that can be varied, for about the time of the steps that were kept, whatever
  /// their number: docs/theory/gradients.md, "Backward". Writes to `report` what it is worth. Throws InvalidInput where
  /// nothing is kept.
  Variation gradient(DerivativeReport& report) const;

  /// Goes on from another state of this world, contacts found anew, which is not differentiated any more. Throws
  /// InvalidInput when sizes are wrong.
  void set_state(SimulationState state);
  /// Replaces what an obstacle without mass, or a clamped root, was to do: from time() on it moves with this velocity
  /// for `duration` (> 0, maybe infinite) [s], then rests. Linear part: of the obstacle's moved reference point, of
  /// r(0). Throws InvalidInput for what is moved by forces or not there.
  void drive_obstacle(int obstacle, const Twist& velocity, double duration);
  void drive_root(int fibre, const Twist& velocity, double duration);

  double time() const;
  const SimulationState& state() const;
  /// Before the last step; state() before the first.
  const SimulationState& previous_state() const;
  /// Of state(), summed over fibres, free bodies and surfaces.
  const rods::RodEnergies& energies() const;
  const assembly::World& world() const;
  const assembly::Kinematics& kinematics() const;  ///< of state()
  const StepOptions& options() const;
  /// Of two bodies in state(), the deepest; >= 0 [m]
  double largest_overlap() const;
  /// What can touch, where the rods are.
  const contact::Geometry& geometry() const;
  /// Sees the friction problem of every pass before it is solved, with the impulses that the solve starts from; not
  /// what becomes of it by repairs.
  using ProblemObserver = std::function<void(const friction::FactoredProblem&, const VectorX& guess)>;
  void observe_problems(ProblemObserver observer);
  /// The friction problem behind a state that the step keeps: not of passes that were tried and dropped.
  struct KeptProblem {
    const friction::FactoredProblem& problem;
    const VectorX& guess;                        ///< where the solve started from (3n) [N s]
    const friction::FrictionSolution& solution;  ///< impulses of the stage: forces are theta dt times smaller
    double dt = 0.0;                             ///< of the step or its part [s]
  };
  using KeptObserver = std::function<void(const KeptProblem&)>;
  /// Sees one for every step, or every part if it is cut, in time's order.
  void observe_kept_problems(KeptObserver observer);
  /// The flow that steps the grains; nullptr without any.
  const grains::Flow* grains() const;
  const LastPart& last_part() const;
  /// Contacts of last_part(), with their forces.
  const std::vector<ContactReport>& contacts() const;

 private:
  std::unique_ptr<detail::Engine> engine_;
};

}  // namespace tresse::dynamics

namespace tresse {

template <>
struct Words<dynamics::Scheme> {
  static constexpr std::array<std::string_view, 4> list{"carried", "semi-implicit", "linearised", "nonlinear"};
};

}  // namespace tresse
