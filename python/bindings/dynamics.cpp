#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <exception>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <tresse/base/errors.hpp>
#include <tresse/base/interrupt.hpp>
#include <tresse/dynamics/stepper.hpp>
#include <tresse/observe/snapshot.hpp>
#include <tresse/record/run.hpp>

#include "bindings.hpp"
#include "contact_rows.hpp"
#include "version.hpp"

namespace tresse::python {
namespace {

/// While it lives, Ctrl-C leaves the step under way (Interrupted) and is passed on to Python. Of computations on
/// Python's main thread, the one that Python tells of signals, alone.
class CtrlC {
 public:
  CtrlC() {
    struct sigaction now {};
    if (gettid() != getpid() || sigaction(SIGINT, nullptr, &now) != 0) return;
    const bool python_hears =
        now.sa_handler != SIG_DFL && now.sa_handler != SIG_IGN && (now.sa_flags & SA_SIGINFO) == 0;
    if (!python_hears || now.sa_handler == pass_on) return;  // or a callback of a run runs another
    before = now;
    struct sigaction ours {};
    ours.sa_handler = pass_on;
    active_ = sigaction(SIGINT, &ours, nullptr) == 0;
  }
  ~CtrlC() {
    if (!active_) return;
    sigaction(SIGINT, &before, nullptr);
    clear_interrupt();
  }
  CtrlC(const CtrlC&) = delete;
  CtrlC& operator=(const CtrlC&) = delete;

 private:
  static void pass_on(int number) {
    request_interrupt();
    before.sa_handler(number);
  }
  static inline struct sigaction before {};
  bool active_ = false;
};

/// A scene under way. One thread at a time: what another asks for while a step is computed, without the GIL, is
/// refused.
class Simulation {
 public:
  Simulation(const scene_file::SceneDocument& document, std::optional<int> threads, const record::OverlapHelp& help)
      : threads_(threads) {
    const py::gil_scoped_release released;
    plan_ = record::plan_run(document);
    scene::Case built = scene::build(plan_.scene);
    threads_.run([&] {
      left_out_ = record::settle_overlaps(plan_, built, help);
      make_stepper(std::move(built));
    });
  }
  /// From a state that a run kept.
  Simulation(const std::filesystem::path& kept, std::optional<int> threads) : threads_(threads) {
    const py::gil_scoped_release released;
    plan_ = record::plan_run(kept);
    require(plan_.start.has_value(),
            [&] { return fmt::format("{}: is a scene, expected a state that a run kept (.h5)", kept.string()); });
    scene::Case built = scene::build(plan_.scene);
    scene::set_out_from(built, *plan_.start);
    threads_.run([&] { make_stepper(std::move(built)); });
  }

  const dynamics::Stepper& stepper() const {
    require(!computing_, "the simulation is computing a step in another thread; expected it at rest");
    return *stepper_;
  }
  dynamics::Stepper& idle_stepper() {
    static_cast<void>(stepper());
    return *stepper_;
  }
  const record::RunPlan& plan() const { return plan_; }
  const std::vector<std::string>& left_out() const { return left_out_; }
  const dynamics::StepReport& report() const {
    static_cast<void>(stepper());
    return report_;
  }
  std::int64_t step_of(double time) const { return record::step_at(plan_.scene, time, "until"); }

  void step() {
    const Busy busy(*this);
    const CtrlC ctrl_c;
    try {
      const py::gil_scoped_release released;
      const Computing computing(*this);
      threads_.run([&] { report_ = stepper_->step(); });
    } catch (const Interrupted&) {
      if (PyErr_CheckSignals() != 0) throw py::error_already_set();
      throw;
    }
  }

  /// Steps until `last_step`, or until asked to stop, or until the state stops being finite; how it went.
  py::dict advance(std::int64_t last_step, const py::object& callback);
  /// The same, with a run's files in `folder`.
  py::dict record(std::int64_t last_step, const py::object& callback, const std::filesystem::path& folder, bool resume);

 private:
  friend class Follower;
  /// No step within a step.
  struct Busy {
    explicit Busy(Simulation& owner) : simulation(owner) {
      require(!simulation.busy_, "the simulation is already running; expected no step or run within its callback");
      simulation.busy_ = true;
    }
    ~Busy() { simulation.busy_ = false; }
    Busy(const Busy&) = delete;
    Busy& operator=(const Busy&) = delete;
    Simulation& simulation;
  };
  /// While the GIL is released; under Busy.
  struct Computing {
    explicit Computing(Simulation& owner) : simulation(owner) { simulation.computing_ = true; }
    ~Computing() { simulation.computing_ = false; }
    Computing(const Computing&) = delete;
    Computing& operator=(const Computing&) = delete;
    Simulation& simulation;
  };

  void make_stepper(scene::Case built) {
    stepper_ = std::make_unique<dynamics::Stepper>(std::move(built.world), built.options, std::move(built.state));
    report_ = {};
    report_.obstacles.assign(stepper_->world().obstacles.size(), {});
  }

  Threads threads_;
  record::RunPlan plan_;
  std::vector<std::string> left_out_;  ///< a line about each fibre
  std::unique_ptr<dynamics::Stepper> stepper_;
  dynamics::StepReport report_;  ///< of the last step
  bool busy_ = false;
  std::atomic<bool> computing_ = false;
};

/// Between two steps: Ctrl-C, and the user's function, which stops the run when it returns False or throws.
class Follower : public record::RunObserver {
 public:
  Follower(Simulation& simulation, const py::object& callback) : simulation_(simulation), callback_(callback) {}

  bool stop() override {
    if (stopped_ || error_) return true;
    in_python([] {
      if (PyErr_CheckSignals() != 0) throw py::error_already_set();
    });
    return error_ != nullptr;
  }
  void stepped(const dynamics::Stepper& /*stepper*/, const dynamics::StepReport& report) override {
    simulation_.report_ = report;
  }
  void failed(const dynamics::Stepper& /*stepper*/, const dynamics::StepReport& report) override {
    simulation_.report_ = report;
  }
  void recorded(const dynamics::Stepper& /*stepper*/, const dynamics::StepReport& /*report*/) override {
    if (callback_.is_none()) return;
    in_python([this] { stopped_ = callback_().is(py::bool_(false)); });
  }
  /// What Python threw, once the GIL is held again.
  void rethrow() const {
    if (error_) std::rethrow_exception(error_);
  }

 private:
  template <typename Call>
  void in_python(const Call& call) {
    const py::gil_scoped_acquire held;
    simulation_.computing_ = false;
    try {
      call();
    } catch (...) {
      error_ = std::current_exception();
    }
    simulation_.computing_ = true;
  }

  Simulation& simulation_;
  const py::object& callback_;
  bool stopped_ = false;
  std::exception_ptr error_;
};

py::dict told(record::Outcome outcome, const record::Verdict& verdict) {
  py::dict out;
  out["outcome"] = outcome == record::Outcome::finished      ? "finished"
                   : outcome == record::Outcome::interrupted ? "interrupted"
                                                             : "failed";
  out["verdict"] = verdict.sentence;
  out["sound"] = verdict.findings.empty();
  out["severity"] = to_string(record::severity(verdict.findings));
  return out;
}

py::dict Simulation::advance(std::int64_t last_step, const py::object& callback) {
  const Busy busy(*this);
  const CtrlC ctrl_c;
  Follower follower(*this, callback);
  record::Outcome outcome = record::Outcome::interrupted;
  record::RunTally tally;
  const record::RunLimits limits = record::run_limits(plan_.scene, stepper_->world());
  {
    const py::gil_scoped_release released;
    const Computing computing(*this);
    threads_.run([&] {
      observe::Watch watch;
      record::begin(tally, stepper_->energies(), stepper_->state().work_external);
      try {
        while (stepper_->state().step < last_step && !follower.stop()) {
          report_ = stepper_->step();
          if (!report_.finite) {
            outcome = record::Outcome::failed;
            tally.not_finite_step = stepper_->state().step + 1;
            return;
          }
          record::add(tally, report_, limits);
          static_cast<void>(watch.look(record::watched(*stepper_, report_, tally, limits), tally.watch));
          follower.recorded(*stepper_, report_);
        }
      } catch (const Interrupted&) {
        static_cast<void>(follower.stop());
      }
      const std::int64_t all = plan_.start ? last_step : plan_.last_step;
      if (stepper_->state().step >= std::max(last_step, all)) outcome = record::Outcome::finished;
      record::add_overlap(tally, stepper_->largest_overlap(), stepper_->state().step);
    });
  }
  follower.rethrow();
  const std::vector<record::Finding> found = record::findings(tally, limits);
  return told(outcome, {found, record::sentence(tally, found)});
}

py::dict Simulation::record(std::int64_t last_step, const py::object& callback, const std::filesystem::path& folder,
                            bool resume) {
  const Busy busy(*this);
  const CtrlC ctrl_c;
  Follower follower(*this, callback);
  record::Outcome outcome = record::Outcome::finished;
  record::Verdict verdict;
  {
    const py::gil_scoped_release released;
    const Computing computing(*this);
    threads_.run([&] {
      record::RunPlan plan = plan_;
      plan.last_step = last_step;
      const record::RunPlace place{folder, resume, threads_.count(),
                                   fmt::format("{} ({})", TRESSE_VERSION, TRESSE_COMMIT)};
      const record::RunSettings settings = record::run_settings(plan, stepper_->world(), place);
      record::RunRecorder recorder(settings);
      if (recorder.resumed_state()) {
        scene::Case built = scene::build(plan.scene);
        built.state = *recorder.resumed_state();
        make_stepper(std::move(built));
      } else {
        record::record_start(plan, settings, *stepper_, recorder);
      }
      outcome = record::record_steps(plan, settings, *stepper_, recorder, follower);
      if (outcome == record::Outcome::interrupted) static_cast<void>(follower.stop());
      verdict = recorder.finish(outcome, stepper_->state(), stepper_->largest_overlap());
    });
  }
  follower.rethrow();
  return told(outcome, verdict);
}

std::size_t checked(int index, std::size_t count, const char* what) {
  require(index >= 0 && static_cast<std::size_t>(index) < count,
          [&] { return fmt::format("{}: found {}, expected 0 to {}", what, index, static_cast<long>(count) - 1); });
  return static_cast<std::size_t>(index);
}

const assembly::Fibre& fibre_at(const Simulation& simulation, int index) {
  const auto& fibres = simulation.stepper().world().fibres;
  return fibres[checked(index, fibres.size(), "fibre")];
}

const rods::Rod& rod_at(const Simulation& simulation, int index) {
  const dynamics::Stepper& stepper = simulation.stepper();
  return stepper.kinematics().rod(static_cast<int>(checked(index, stepper.world().fibres.size(), "fibre")));
}

py::tuple pose_tuple(const Pose& pose) { return py::make_tuple(pose.position, RowMatrix(pose.frame)); }

py::tuple twist_tuple(const Twist& twist) { return py::make_tuple(twist.linear, twist.angular); }

/// Centreline: `per_element` points an element, and the tip.
Points centreline(const Simulation& simulation, int fibre, int per_element) {
  require(per_element >= 1 && per_element <= 1000,
          [&] { return fmt::format("points_per_element: found {}, expected 1 to 1000", per_element); });
  const rods::Rod& rod = rod_at(simulation, fibre);
  Points out(rod.piece_count() * per_element + 1, 3);
  for (int piece = 0; piece < rod.piece_count(); ++piece) {
    const geometry::Curve curve = rod.piece(piece);
    const double end = geometry::domain(curve).end;
    for (int i = 0; i < per_element; ++i) {
      out.row(piece * per_element + i) = geometry::position(curve, end * i / per_element);
    }
    if (piece + 1 == rod.piece_count()) out.row(out.rows() - 1) = geometry::position(curve, end);
  }
  return out;
}

void set_fibre(Simulation& simulation, int fibre, const VectorX& curvature, const VectorX& rate) {
  dynamics::Stepper& stepper = simulation.idle_stepper();
  const rods::Rod& rod = rod_at(simulation, fibre);
  const Eigen::Index count = rod.rest_curvature().size();
  require(curvature.size() == count && rate.size() == count, [&] {
    return fmt::format("curvatures: found {} numbers and {} rates, expected {}", curvature.size(), rate.size(), count);
  });
  require(curvature.allFinite() && rate.allFinite(), "curvatures: expected finite numbers");
  dynamics::SimulationState state = stepper.state();
  rods::RodState& old = state.rods[static_cast<std::size_t>(fibre)];
  old = rod.shaped(old.root, old.root_velocity, curvature, rate);
  stepper.set_state(std::move(state));
}

void set_root(Simulation& simulation, int fibre, const Pose& pose, const Twist& velocity) {
  dynamics::Stepper& stepper = simulation.idle_stepper();
  const rods::Rod& rod = rod_at(simulation, fibre);
  require(rod.root_condition() == rods::RootCondition::free,
          "root: is not free; expected a free one (drive_root moves a clamped one)");
  dynamics::SimulationState state = stepper.state();
  rods::RodState& old = state.rods[static_cast<std::size_t>(fibre)];
  const rods::RodState moved = rod.shaped(pose, velocity, rod.curvature(), VectorX::Zero(rod.rest_curvature().size()));
  VectorX rates = old.rates;
  old = moved;
  if (rates.size() == old.rates.size() && old.memory.size() == 0) old.rates = rates;
  stepper.set_state(std::move(state));
}

/// From here to a pose by the end of the next step.
void drive_obstacle_to(Simulation& simulation, int obstacle, const Pose& target) {
  dynamics::Stepper& stepper = simulation.idle_stepper();
  checked(obstacle, stepper.world().obstacles.size(), "obstacle");
  const double dt = stepper.options().dt;
  const Pose now = assembly::obstacle_pose(stepper.kinematics(), obstacle, stepper.time());
  stepper.drive_obstacle(obstacle, assembly::mean_twist(now, target, dt), dt);
}

void drive_root_to(Simulation& simulation, int fibre, const Pose& target) {
  dynamics::Stepper& stepper = simulation.idle_stepper();
  const double dt = stepper.options().dt;
  const Pose now = assembly::root_pose(fibre_at(simulation, fibre), stepper.time());
  stepper.drive_root(fibre, assembly::mean_twist(now, target, dt), dt);
}

/// By name.
py::dict by_obstacle(const Simulation& simulation, Vector3 dynamics::ObstacleLoad::*which) {
  const std::vector<dynamics::ObstacleLoad>& loads = simulation.report().obstacles;
  py::dict out;
  for (std::size_t k = 0; k < loads.size(); ++k) {
    out[py::str(simulation.stepper().world().obstacles[k].name)] = py::array_t<double>(3, (loads[k].*which).data());
  }
  return out;
}

Points by_rows(const std::vector<Vector3>& vectors) {
  Points out(static_cast<Eigen::Index>(vectors.size()), 3);
  for (std::size_t i = 0; i < vectors.size(); ++i) out.row(static_cast<Eigen::Index>(i)) = vectors[i];
  return out;
}

/// (arc lengths, positions, forces, moments) of every fibre.
py::list internal_load_list(const Simulation& simulation) {
  py::list out;
  const auto loads = observe::internal_loads(simulation.plan().scene, simulation.stepper(), simulation.report());
  for (const observe::InternalLoads& own : loads) {
    const auto count = static_cast<py::ssize_t>(own.arc_length.size());
    out.append(py::make_tuple(py::array_t<double>(count, own.arc_length.data()), by_rows(own.position),
                              by_rows(own.force), by_rows(own.moment)));
  }
  return out;
}

/// (name, fibre, force, moment, error), in the order of the world's holds.
py::list hold_list(const Simulation& simulation) {
  const std::vector<assembly::Hold>& holds = simulation.stepper().world().holds;
  const std::vector<dynamics::HoldLoad>& loads = simulation.report().holds;
  py::list out;
  for (std::size_t k = 0; k < holds.size(); ++k) {
    const dynamics::HoldLoad load = k < loads.size() ? loads[k] : dynamics::HoldLoad{};
    out.append(py::make_tuple(holds[k].name, holds[k].fibre, py::array_t<double>(3, load.force.data()),
                              py::array_t<double>(3, load.torque.data()), load.error));
  }
  return out;
}

py::dict report_dict(const Simulation& simulation) {
  const dynamics::StepReport& report = simulation.report();
  py::dict out;
  out["step"] = report.step;
  out["time"] = report.time;
  out["contacts"] = report.contacts;
  out["parts"] = report.parts;
  out["iterations"] = report.iterations;
  out["residual"] = report.residual;
  out["solver_status"] = to_string(report.solver_status);
  out["max_penetration"] = report.max_penetration;
  out["largest_stick_drift"] = report.largest_stick_drift;
  out["evaluations"] = report.evaluations;
  out["linear_solves"] = report.linear_solves;
  out["least_step_length"] = report.least_step_length;
  out["least_gap"] = report.nearest;
  out["stiffness"] = report.stiffness;
  out["kinetic"] = report.energies.kinetic;
  out["elastic"] = report.energies.elastic;
  out["gravity"] = report.energies.gravity;
  out["work_external"] = report.work_external;
  out["t_detection"] = report.t_detection;
  out["t_assembly"] = report.t_assembly;
  out["t_solve"] = report.t_solve;
  out["t_step"] = report.t_step;
  out["finite"] = report.finite;
  return out;
}

/// One variation, of tables as Python gives them: a dict a fibre, or None, and what all share.
dynamics::Variation variation_from(const Simulation& simulation, const py::dict& given) {
  dynamics::Variation out;
  const auto take = [](const py::dict& from, const char* key, auto& into) {
    if (from.contains(key)) into = from[key].cast<std::decay_t<decltype(into)>>();
  };
  take(given, "gravity", out.gravity);
  take(given, "wind", out.wind);
  take(given, "friction", out.friction);
  if (!given.contains("fibres")) return out;
  out.fibres.resize(simulation.stepper().world().fibres.size());
  for (const auto& [index, table] : given["fibres"].cast<py::dict>()) {
    const auto of = table.cast<py::dict>();
    dynamics::FibreVariation& own = out.fibres[checked(index.cast<int>(), out.fibres.size(), "fibre")];
    take(of, "stiffness", own.stiffness);
    take(of, "density", own.density);
    take(of, "damping_time", own.damping_time);
    take(of, "drag", own.drag);
    take(of, "natural", own.natural);
    take(of, "curvature", own.curvature);
    take(of, "velocity", own.velocity);
    take(of, "root_shift", own.root.linear);
    take(of, "root_turn", own.root.angular);
  }
  return out;
}

void differentiate(Simulation& simulation, const py::list& variations) {
  std::vector<dynamics::Variation> all;
  for (const py::handle& one : variations) all.push_back(variation_from(simulation, one.cast<py::dict>()));
  simulation.idle_stepper().differentiate(std::move(all));
}

/// At these arc lengths, (n, 3).
Points positions(const Simulation& simulation, int fibre, const VectorX& arc_lengths) {
  const rods::Rod& rod = rod_at(simulation, fibre);
  Points out(arc_lengths.size(), 3);
  for (Eigen::Index i = 0; i < out.rows(); ++i) out.row(i) = rod.section(arc_lengths[i]).position;
  return out;
}

std::vector<dynamics::AxisPlace> places_at(const rods::Rod& rod, const VectorX& arc_lengths) {
  std::vector<dynamics::AxisPlace> out;
  for (const double s : arc_lengths) {
    const auto [element, u] = rods::piece_at(*rod.model(), s);
    out.push_back({element, u});
  }
  return out;
}

/// Of positions(), (variations, n, 3).
py::array_t<double> position_derivatives(const Simulation& simulation, int fibre, const VectorX& arc_lengths) {
  const rods::Rod& rod = rod_at(simulation, fibre);
  const std::vector<dynamics::AxisPlace> places = places_at(rod, arc_lengths);
  std::vector<const dynamics::FibreChange*> changes;
  for (const auto& of_variation : simulation.stepper().changes())
    changes.push_back(&of_variation[static_cast<std::size_t>(fibre)]);
  const std::vector<Matrix3X> found = dynamics::position_changes(rod, changes, places);
  py::array_t<double> out({found.size(), places.size(), std::size_t{3}});
  for (std::size_t k = 0; k < found.size(); ++k)
    Eigen::Map<Matrix3X>(out.mutable_data(static_cast<py::ssize_t>(k)), 3, found[k].cols()) = found[k];
  return out;
}

/// (refused, nearest kink, its time, changes)
py::tuple report_tuple(const dynamics::DerivativeReport& report) {
  return py::make_tuple(report.refused, report.nearest_kink, report.kink_time, report.changes);
}

py::tuple derivative_report(const Simulation& simulation) {
  return report_tuple(simulation.stepper().derivative_report());
}

/// Adds to an objective's derivative by the state that by positions(), (n, 3).
void add_by_positions(Simulation& simulation, int fibre, const VectorX& arc_lengths, const Points& by) {
  const rods::Rod& rod = rod_at(simulation, fibre);
  std::vector<dynamics::FibreChange> all;
  for (const assembly::Fibre& each : simulation.stepper().world().fibres) {
    const Eigen::Index size = 6 + each.model->coordinate_count();
    all.push_back({VectorX::Zero(size), VectorX::Zero(size)});
  }
  all[static_cast<std::size_t>(fibre)] = dynamics::by_positions(rod, by.transpose(), places_at(rod, arc_lengths));
  simulation.idle_stepper().add_by_state(all);
}

/// (derivatives of the objective along variations, report)
py::tuple gradient(Simulation& simulation, const py::list& variations) {
  dynamics::DerivativeReport report;
  const dynamics::Variation all = simulation.idle_stepper().gradient(report);
  VectorX out(static_cast<Eigen::Index>(variations.size()));
  for (Eigen::Index k = 0; k < out.size(); ++k)
    out[k] = along(all, variation_from(simulation, variations[static_cast<std::size_t>(k)].cast<py::dict>()));
  return py::make_tuple(out, report_tuple(report));
}

void bind_reading(py::class_<Simulation>& simulation) {
  simulation.def_property_readonly("time", [](const Simulation& s) { return s.stepper().time(); })
      .def_property_readonly("steps", [](const Simulation& s) { return s.stepper().state().step; })
      .def_property_readonly("time_step", [](const Simulation& s) { return s.stepper().options().dt; })
      .def_property_readonly("duration", [](const Simulation& s) { return s.plan().scene.simulation.duration; })
      .def_property_readonly("left_out", &Simulation::left_out)
      .def_property_readonly("resolved", [](const Simulation& s) { return s.plan().resolved; })
      .def_property_readonly("fibres", [](const Simulation& s) { return s.stepper().world().fibres.size(); })
      .def("obstacle_names",
           [](const Simulation& s) {
             std::vector<std::string> out;
             for (const bodies::Obstacle& obstacle : s.stepper().world().obstacles) out.push_back(obstacle.name);
             return out;
           })
      .def("group_of", [](const Simulation& s,
                          int f) { return s.plan().scene.fibres[static_cast<std::size_t>(fibre_at(s, f).group)].name; })
      .def("centreline", &centreline)
      .def("length", [](const Simulation& s, int f) { return rod_at(s, f).length(); })
      .def("curvature", [](const Simulation& s, int f) -> VectorX { return rod_at(s, f).curvature(); })
      .def("rates",
           [](const Simulation& s, int f) {
             static_cast<void>(rod_at(s, f));
             return s.stepper().state().rods[static_cast<std::size_t>(f)].rates;
           })
      .def("root",
           [](const Simulation& s, int f) {
             static_cast<void>(rod_at(s, f));
             return pose_tuple(s.stepper().state().rods[static_cast<std::size_t>(f)].root);
           })
      .def("root_velocity",
           [](const Simulation& s, int f) {
             static_cast<void>(rod_at(s, f));
             return twist_tuple(s.stepper().state().rods[static_cast<std::size_t>(f)].root_velocity);
           })
      .def("obstacle_pose",
           [](const Simulation& s, int k) {
             checked(k, s.stepper().world().obstacles.size(), "obstacle");
             return pose_tuple(assembly::obstacle_pose(s.stepper().kinematics(), k, s.stepper().time()));
           })
      .def("forces", [](const Simulation& s) { return by_obstacle(s, &dynamics::ObstacleLoad::force); })
      .def("torques", [](const Simulation& s) { return by_obstacle(s, &dynamics::ObstacleLoad::torque); })
      .def("holds", &hold_list)
      .def("internal_loads", &internal_load_list)
      .def("contacts", [](const Simulation& s) { return contact_rows(s.stepper().contacts()); })
      .def("report", &report_dict);
}

}  // namespace

void bind_dynamics(py::module_& module) {
  register_contact_row();
  py::class_<Simulation> simulation(module, "Simulation");
  simulation
      .def(py::init(
          [](const scene_file::SceneDocument& document, std::optional<int> threads, bool push_out, bool leave_out) {
            return std::make_unique<Simulation>(
                document, threads, record::OverlapHelp{push_out, leave_out, "", "push_out=True", "leave_out=True"});
          }))
      .def_static("from_state", [](const std::filesystem::path& kept,
                                   std::optional<int> threads) { return std::make_unique<Simulation>(kept, threads); })
      .def("step", &Simulation::step)
      .def("step_of", &Simulation::step_of)
      .def("advance", &Simulation::advance)
      .def("record", &Simulation::record)
      .def("set_fibre", &set_fibre)
      .def("set_root",
           [](Simulation& s, int f, const Vector3& position, const Matrix3& frame, const Vector3& linear,
              const Vector3& angular) {
             set_root(s, f, {position, frame}, {linear, angular});
           })
      .def("differentiate", &differentiate)
      .def("positions", &positions)
      .def("position_derivatives", &position_derivatives)
      .def("derivative_report", &derivative_report)
      .def("keep_for_gradient", [](Simulation& s) { s.idle_stepper().keep_for_gradient(); })
      .def("add_by_positions", &add_by_positions)
      .def("gradient", &gradient)
      .def("drive_obstacle",
           [](Simulation& s, int k, const Vector3& linear, const Vector3& angular, double duration) {
             s.idle_stepper().drive_obstacle(k, {linear, angular}, duration);
           })
      .def("drive_root",
           [](Simulation& s, int f, const Vector3& linear, const Vector3& angular, double duration) {
             s.idle_stepper().drive_root(f, {linear, angular}, duration);
           })
      .def("drive_obstacle_to",
           [](Simulation& s, int k, const Vector3& position, const Matrix3& frame) {
             drive_obstacle_to(s, k, {position, frame});
           })
      .def("drive_root_to", [](Simulation& s, int f, const Vector3& position, const Matrix3& frame) {
        drive_root_to(s, f, {position, frame});
      });
  bind_reading(simulation);
}

}  // namespace tresse::python
