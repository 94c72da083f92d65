#pragma once

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <tresse/assembly/contact_problem.hpp>
#include <tresse/dynamics/detail/free_bodies.hpp>
#include <tresse/dynamics/detail/held_points.hpp>
#include <tresse/dynamics/detail/start_overlaps.hpp>
#include <tresse/dynamics/stepper.hpp>

namespace tresse::dynamics::detail {

/// What Stepper is made of: the state, and the workspace of the part of the step under way.
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
  const assembly::Kinematics& kinematics() const { return start_; }
  const StepOptions& options() const { return options_; }
  double largest_overlap() const;
  const contact::Geometry& geometry() const { return here_->geometry; }
  void observe_problems(Stepper::ProblemObserver observer) { observer_ = std::move(observer); }
  void observe_kept_problems(Stepper::KeptObserver observer) { kept_observer_ = std::move(observer); }
  const LastPart& last_part() const { return last_part_; }
  const std::vector<ContactReport>& contacts() const { return contact_reports_; }

 private:
  struct Pass;  ///< contacts and their solution at one linearisation

  /// A part [begin, end] of the step.
  struct Span {
    double begin = 0.0;  ///< [s]
    double end = 0.0;    ///< [s]
    bool shortest = false;
  };
  /// What becomes of a part of the step.
  enum class SubstepResult {
    accepted,
    cut,  ///< it is too long
    not_finite,
  };
  /// What was done on the fibres and free bodies over a part. [J]
  struct PartWorks {
    double contact = 0.0;     ///< by contacts on both of their sides: what sliding takes and push-out gives
    double push_out = 0.0;    ///< what undoing the overlaps of the start takes
    double given_back = 0.0;  ///< the most that contacts may give
    double obstacles = 0.0;   ///< by prescribed obstacles
    double holds = 0.0;
    double roots_and_air = 0.0;
    double growth = 0.0;
    double uncertain = 0.0;  ///< by how much these may be wrong: the books of some are of first order in the step
    /// From outside.
    double total() const { return obstacles + holds + roots_and_air + growth; }
  };
  /// What a fibre gained of momentum over a part, about the world origin, and what gravity and the air worked with.
  struct FibreBalance {
    rods::RodMotion motion;
    Vector3 first_moment = Vector3::Zero();  ///< int rho S r ds [kg m]
    Twist gained;                            ///< [kg m/s], [kg m^2/s]
    Twist carried;                           ///< beside that, as its velocity was carried to the end
  };
  /// How a tree moves whose root nothing drives.
  struct TreeMotion {
    bool free_to_slow = false;
    Vector3 mean = Vector3::Zero();  ///< velocity of a free tree's centre of mass [m/s]
    double kinetic = 0.0;            ///< energy of the motion beside that [J]
  };
  std::vector<VectorX> velocities_of(const std::vector<rods::RodState>& rods,
                                     const std::vector<bodies::BodyState>& bodies) const;
  void grow(int fibre, const Span& span);
  std::vector<assembly::Kinematics*> all_kinematics();
  bool grows(int fibre) const;
  void restore(SimulationState& state);
  void update_start(std::vector<rods::RodState>& states);
  bodies::Motion driven(const Pose& now, const Twist& velocity, double duration) const;
  void begin_span(const Span& span);
  double stage() const { return motion_.stage; }
  static bool branched(const assembly::Tree& tree);
  void find_root_motions(const assembly::Kinematics& at);
  void find_root_motions(const assembly::Kinematics& at, int tree);
  void take_root_motions(std::vector<VectorX>& velocities) const;
  void assemble_tree(int tree, const std::vector<VectorX>& v_at, bool at_end);
  void assemble_fibre(int fibre, int tree, const VectorX& v_at, bool at_end);
  void assemble_free_motion(int fibre, int tree);
  rods::RodLoads lone_loads(int fibre) const;
  void assemble_at_end(int tree, const Pass& pass);
  void assemble_carried(int tree, const std::vector<VectorX>* v_at);
  void add_elastic_impulse(int tree, const std::vector<VectorX>* v_at, VectorX& into) const;
  bool driven(int tree) const;
  void sample_material(int tree);
  bool linearised_at_start(int tree) const;
  void carried_momentum(const assembly::Kinematics& at, int tree, const std::vector<rods::MaterialMotion>& material,
                        double h, VectorX& out) const;
  void inertial_force(int tree, const VectorX& v, VectorX& out);
  FreeMotionResult linearise_inertia(int tree, VectorX& change);
  void linearise_free_motion(int tree);
  bool inertia_linearised(int tree) const { return options_.scheme == Scheme::linearised && linear(tree); }
  std::optional<ContactReport> find_crossing(const Configuration& end) const;
  double estimated_error(const std::vector<VectorX>& velocities) const;
  Pass linearise(const SharedConfiguration& at, const Pass* previous, double tolerance);
  bool linear(int tree) const;
  bool corrects_alone(int tree, bool slow) const;
  bool stop_lost(Pass& pass) const;
  void stand_still(int tree, Pass& pass) const;
  bool stand_still(Pass& pass) const;
  void solve(Pass& pass, double tolerance, int taken);
  void go_to_end(const Pass& pass);
  bool may_repair() const;
  SharedConfiguration find_turned(const Span& span, const Pass& pass);
  bool repair(const Configuration& end, double tolerance, Pass& pass, StepReport& report);
  SubstepResult mend(const Span& span, Pass& pass, StepReport& report);
  SharedConfiguration find_contacts_at_end(const Span& span, const Pass& pass);
  void assemble_at_start();
  void assemble_at_end(const Pass& pass, bool free, bool slow);
  std::vector<char> touched_trees(const Pass& pass) const;
  StepReport take_step();
  SubstepResult attempt(const Span& span, StepReport& report);
  SubstepResult accept(const Span& span, Pass& pass, SharedConfiguration end, StepReport& report);
  void sample_pass(int tree, const Pass& pass);
  void carry_to_end(const Pass& pass);
  void carry_to_end(int tree, const Pass& pass);
  rods::RodEnergies energies_of(const assembly::Kinematics& at) const;
  PartWorks works_of(const Pass& pass);
  double gain(const rods::RodEnergies& end, const PartWorks& works) const;
  SubstepResult settle_energy(const Span& span, Pass& pass, PartWorks& works, rods::RodEnergies& energies,
                              StepReport& report, bool& slowed);
  double allowed_excess(const rods::RodEnergies& end, const PartWorks& works) const;
  std::vector<TreeMotion> motions_of_trees() const;
  void damp(double surplus);
  /// Whether the velocity of a tree's material is carried from shape to shape.
  bool carries(int tree) const { return options_.scheme == Scheme::carried && linear(tree); }
  bool sound(const std::vector<VectorX>& velocities) const;
  double velocity_change(const Pass& before, const Pass& after) const;
  void report_overlap(StepReport& report) const;
  void describe_contacts(const Pass& pass);
  void report_contacts(const Pass& pass, StepReport& report);
  void report_holds(const Pass& pass, StepReport& report);
  void add_root_and_air_work(const Pass& pass, PartWorks& into);
  double root_work(int tree, const Pass& pass) const;
  bool rooted(int fibre) const;
  std::vector<Twist> momenta_of(const assembly::Kinematics& at) const;
  void report_roots(const Pass& pass, StepReport& report);
  FibreBalance balance_of(int fibre);
  void begin_balance(const assembly::Kinematics& at, int tree);
  void end_balance(int tree);
  rods::RodMotion mean_motion(int fibre);

  assembly::World world_;
  assembly::Kinematics start_;       ///< of state_; during a step in the shapes that its part starts from
  assembly::Kinematics linearised_;  ///< where the dynamics of a tree were linearised again after the first pass
  assembly::Kinematics end_;         ///< where the last pass ends
  std::optional<assembly::Kinematics> trial_;  ///< for searches of a shape; where there are such
  StepOptions options_;
  SimulationState state_;
  SimulationState previous_;
  ContactFinder finder_;
  SharedConfiguration here_;  ///< of state_
  bool astray_ = false;       ///< a step was left in its middle: the rods are anywhere
  bool redirected_ = false;   ///< something was given another motion since `here_` was found
  Stepper::ProblemObserver observer_;
  Stepper::KeptObserver kept_observer_;
  std::vector<ContactReport> contact_reports_;
  LastPart last_part_;

  rods::RodEnergies energies_;  ///< of state_, all fibres and free bodies
  double energy_floor_ = 0.0;   ///< what is little energy for this world, whatever moves in it [J]

  // Workspace of the part of the step under way.
  assembly::FreeMotion motion_;
  FreeBodies bodies_;
  HeldPoints holds_;
  StartOverlaps overlaps_;
  std::vector<rods::RodState> start_rods_;  ///< state_.rods, with the root velocities of this part
  std::vector<rods::RodState> end_rods_;
  std::vector<rods::RodState> stage_rods_;           ///< at theta < 1; where the start is seen with other velocities
  std::vector<rods::RodState> linearised_rods_;      ///< the shapes of the last pass; Scheme::carried only
  std::vector<Pose> stage_roots_;                    ///< (fibres) clamped roots at theta
  std::vector<VectorX> start_velocities_;            ///< (fibres) generalised velocity at the start
  std::vector<rods::MaterialMotion> material_;       ///< (fibres) at the start, once it is asked for
  std::vector<char> knows_material_;                 ///< (trees) whether it was
  std::vector<VectorX> pass_velocities_;             ///< (fibres) of the pass that was sampled last
  std::vector<rods::MaterialMotion> pass_material_;  ///< (fibres) their field, in the shape of the pass
  std::vector<char> knows_pass_;                     ///< (trees) whether it is that of linearised_rods_
  std::vector<assembly::TreeMatrix> masses_;         ///< (trees) of the shapes at the end; for the carried scheme
  std::vector<VectorX> end_velocities_;              ///< (fibres) carried there
  std::vector<Twist> momenta_;             ///< (fibres) of state_, about the world's origin, of those of clamped trees
  std::vector<FibreBalance> balances_;     ///< (fibres) of this part, of those in air or of a moved tree
  std::vector<FibreBalance> carried_;      ///< (fibres) of this part; Scheme::carried only
  std::vector<Pose> next_roots_;           ///< (fibres) clamped roots at the end
  std::vector<Twist> root_accelerations_;  ///< (fibres)
  std::vector<FreeMotionResult> free_results_;  ///< (fibres) of this part, where the free motion is iterated
  assembly::ContactWorkspace contact_workspace_;
  friction::FactoredProblem spare_;        ///< memory of the last problem
  std::vector<VectorX> spare_velocities_;  ///< and of the velocities after it
  double end_time_ = 0.0;                  ///< of this part of the step [s]
  Vector3 air_ = Vector3::Zero();          ///< velocity of the air in this part of the step [m/s]
  double error_ = 0.0;                     ///< estimated of this part [m]
  double growth_work_ = 0.0;               ///< energy that the change of natural shape and length brought in [J]
  StepReport timing_;                      ///< only its t_* fields are used
};

}  // namespace tresse::dynamics::detail
