#include "commands.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>

#include <tresse/assembly/pair_trace.hpp>
#include <tresse/base/interrupt.hpp>
#include <tresse/base/words.hpp>
#include <tresse/problem_files/distance_file.hpp>
#include <tresse/record/run.hpp>
#include <tresse/scene/build.hpp>
#include <tresse/scene/remarks.hpp>

#include "child_process.hpp"
#include "common_options.hpp"
#include "friction_dump.hpp"
#include "messages.hpp"
#include "progress_bar.hpp"
#include "run_gradient.hpp"
#include "scene_arguments.hpp"
#include "signals.hpp"
#include "slow_work.hpp"
#include "version.hpp"
#include "view/companion.hpp"

namespace tresse::app {
namespace {

struct RunArguments {
  SceneArguments scene;
  std::string folder;
  int threads = 0;  ///< 0: never given, all cores
  std::optional<double> until;
  bool resume = false;
  record::OverlapHelp overlaps;
  bool quiet = false;
  bool strict = false;
  bool view = false;
  std::string dump_folder;   ///< for friction problems; empty: none
  std::string dump_steps;    ///< which, as --dump-steps has it
  std::string record_pairs;  ///< file for the narrow phase's calls of the last step
  std::string targets;       ///< file of what a gradient is wanted of; empty: of nothing
};

record::RunPlan plan_run(const RunArguments& arguments) {
  record::RunPlan plan = record::plan_run(arguments.scene.file, arguments.scene.overrides());
  if (arguments.until) plan.last_step = record::step_at(plan.scene, *arguments.until, "--until");
  return plan;
}

/// What to do about a solve that went wrong.
std::string remedy(const dynamics::Stepper& stepper, const dynamics::StepReport& report) {
  const dynamics::HoldLoad* missed = nullptr;
  const assembly::World& world = stepper.world();
  std::string held;
  for (std::size_t i = 0; i < report.holds.size(); ++i) {
    const dynamics::HoldLoad& load = report.holds[i];
    const assembly::Hold& hold = world.holds[i];
    constexpr double off = 0.1;  // of the radius
    if (!(load.error > off * world.fibres[hold.fibre].model->contact_radius())) continue;
    if (missed != nullptr && !(load.error > missed->error)) continue;
    missed = &load;
    held = fmt::format("'{}' holds fibre {} {:.3g} m off its place; lead it to where the fibre can reach, more slowly",
                       hold.name, hold.fibre, load.error);
  }
  if (missed != nullptr) return held;
  constexpr const char* general = "try a smaller time_step or more solver.max_iterations";
  const auto& contacts = stepper.contacts();
  const auto hardest = std::max_element(contacts.begin(), contacts.end(), [](const auto& p, const auto& q) {
    return p.force.squaredNorm() < q.force.squaredNorm();
  });
  if (hardest == contacts.end()) return general;
  return fmt::format("hardest contact: {}, {:.3g} N; {}", observe::pair_name(*hardest, world), hardest->force.norm(),
                     general);
}

std::string what_missed(const dynamics::StepReport& report, const dynamics::Stepper& stepper,
                        const record::RunLimits& limits) {
  if (report.solver_status != Status::converged || !(report.residual <= limits.residual))
    return fmt::format("the {} stopped at {:.2g} ({}; tolerance {:.2g}); {}",
                       report.contacts > 0 || report.holds.empty() ? "contact solve" : "solve for the holds",
                       report.residual, to_string(report.solver_status), limits.residual, remedy(stepper, report));
  if (report.motion_status != Status::converged)
    return fmt::format("the motion without contact stopped after {} ({})",
                       counted(report.motion_iterations, "Newton step"), to_string(report.motion_status));
  for (const dynamics::ClothReport& cloth : report.cloths) {
    if (cloth.status == Status::converged && cloth.residual <= limits.cloth_residual) continue;
    return fmt::format(
        "the motion of a cloth stopped at {:.2g} after {} ({}; tolerance {:.2g}); try a smaller time_step or more "
        "surfaces.max_iterations",
        cloth.residual, counted(cloth.iterations, "Newton step"), to_string(cloth.status), limits.cloth_residual);
  }
  if (report.grains && report.nonlinear_residual <= limits.nonlinear_residual)
    return fmt::format(
        "the flow of the grains stopped at {:.2g} after {} ({}; tolerance {:.2g}); try fewer cells, a smaller "
        "time_step or more grains.max_iterations",
        report.grains->residual, counted(report.grains->iterations, "Newton step"), to_string(report.grains->status),
        limits.grain_residual);
  return fmt::format(
      "the nonlinear step stopped at {:.2g} (tolerance {:.2g}); try a smaller time_step or more "
      "max_nonlinear_iterations",
      report.nonlinear_residual, limits.nonlinear_residual);
}

/// Prints what a person wants to know, and keeps the friction problems that were asked for.
class Reporter : public record::RunObserver {
 public:
  Reporter(const RunArguments& arguments, const record::RunSettings& settings, const record::RunPlan& plan,
           FrictionDump& dump, RunGradient& gradient, dynamics::Stepper& stepper)
      : settings_(settings),
        dump_(dump),
        gradient_(gradient),
        stepper_(stepper),
        progress_(arguments.quiet),
        first_(stepper.state().step),
        last_(plan.last_step),
        time_step_(plan.scene.simulation.time_step),
        step_(first_),
        slow_step_(
            [this] {
              return fmt::format("step {}, {} so far, the last of {}; Ctrl-C keeps the state before it", step_ + 1,
                                 counted(problems_, "friction problem"), counted(contacts_, "contact"));
            },
            SlowWork::Seconds(5.0)) {
    dump_.follow(stepper);
    stepper.observe_problems([this](const friction::FactoredProblem& problem, const VectorX& /*guess*/) {
      ++problems_;
      contacts_ = static_cast<std::int64_t>(problem.contacts.size());
    });
  }

  bool stop() override { return stop_requested(); }
  void begins(const dynamics::Stepper& stepper) override {
    step_ = stepper.state().step;
    problems_ = 0;
    slow_step_.begins();
  }
  void stepped(const dynamics::Stepper& stepper, const dynamics::StepReport& report) override {
    slow_step_.ends();
    dump_.write(stepper, report);
    if (report.finite) gradient_.look(stepper_);
  }
  void remarked(const observe::Remark& remark) override {
    say("step {} (t = {:.6g} s): {}", remark.step, remark.time, remark.message);
  }
  void missed(const dynamics::Stepper& stepper, const dynamics::StepReport& report,
              const std::filesystem::path& kept) override {
    if (kept.empty()) return;
    say("step {} (t = {:.6g} s): {}; kept in {}", report.step, report.time,
        what_missed(report, stepper, settings_.limits), kept.string());
  }
  void failed(const dynamics::Stepper& stepper, const dynamics::StepReport& report) override {
    slow_step_.ends();
    say("step {} (t = {:.6g} s): the state is no longer finite, {} moved most before; the last good one, of "
        "step {}, is in {}; try a smaller time_step",
        report.step, report.time, observe::liveliest_fibre(stepper.kinematics()), stepper.state().step,
        (settings_.folder / "checkpoint.h5").string());
  }
  void recorded(const dynamics::Stepper& /*stepper*/, const dynamics::StepReport& report) override {
    progress_.update(static_cast<double>(report.step - first_), static_cast<double>(last_ - first_), [&] {
      const std::string contacts = counted(report.contacts, "contact");
      if (!progress_.lines_stay()) return fmt::format("t = {:.4f} s  {}", report.time, contacts);
      return fmt::format("t = {:.4g} of {:.4g} s, step {} of {}, {}", report.time,
                         static_cast<double>(last_) * time_step_, report.step, last_, contacts);
    });
  }

 private:
  const record::RunSettings& settings_;
  FrictionDump& dump_;
  RunGradient& gradient_;
  dynamics::Stepper& stepper_;
  ProgressBar progress_;
  std::int64_t first_, last_;
  double time_step_;
  std::atomic<std::int64_t> step_;          ///< before the one that is being computed
  std::atomic<std::int64_t> problems_ = 0;  ///< of friction, in that one
  std::atomic<std::int64_t> contacts_ = 0;  ///< in the last of them
  SlowWork slow_step_;
};

/// The narrow phase's calls where the run ended, its last step's contacts as their guesses.
void record_pairs(const std::string& file, const dynamics::Stepper& stepper) {
  std::vector<contact::Place> followed;
  for (const dynamics::WarmContact& contact : stepper.previous_state().warm) followed.push_back(contact.place);
  constexpr std::size_t most = 20000;
  problem_files::write_pair_trace(
      file, assembly::narrow_phase_trace(stepper.kinematics(), stepper.geometry(), followed, most));
}

/// To a person at a terminal: what can be done with the results, or how to go on.
void tell_next_step(const std::string& folder, record::Outcome outcome, const record::RunSettings& settings) {
  if (isatty(fileno(stderr)) != 1) return;
  const std::string words = shell_quoted(folder);
  if (outcome == record::Outcome::interrupted) {
    say("Next: the same command with --resume goes on; tresse view {} shows what there is.", words);
  } else if (outcome == record::Outcome::finished) {
    const bool loads = !settings.layout.obstacle_names.empty() || !settings.holds.empty() || !settings.roots.empty();
    say("Next: tresse view {} shows it{}.", words,
        loads ? fmt::format("; tresse plot {} -o forces.png draws its forces", words) : std::string());
  }
}

/// Of a run that was to go on and had nothing left to do.
void tell_done_before(const std::string& folder, const dynamics::Stepper& stepper, const record::RunPlan& plan) {
  if (stepper.state().step < plan.last_step) return;
  say("{}: the run had come to t = {:.6g} s before, and nothing was left to do; --resume --until T, a later time, goes "
      "on",
      folder, stepper.time());
}

/// What goes elsewhere than into the run's folder, where it may go too.
FrictionDump open_other_outputs(const RunArguments& arguments, const record::RunPlan& plan) {
  static_cast<void>(parse_step_choice(arguments.dump_steps));  // what is refused leaves no folder
  if (!arguments.record_pairs.empty()) {
    if (!arguments.resume) record::make_folder(arguments.folder);
    record::FileList taken = record::files_of_run(arguments.folder);
    taken.insert(taken.end(), plan.files.begin(), plan.files.end());
    record::require_outputs({arguments.record_pairs}, taken);
  }
  return {arguments.dump_folder, arguments.dump_steps, plan.scene.title};
}

int run(const RunArguments& arguments) {
  const ThreadLimit limit(arguments.threads);
  SlowPiece slow(arguments.quiet, [&] { return words_on_reading(arguments.scene.file); });
  record::RunPlan plan = plan_run(arguments);
  if (arguments.resume) record::leave_out_as(plan, arguments.folder);
  scene::Case built = scene::build(plan.scene);
  slow.ends();
  if (plan.start) scene::set_out_from(built, *plan.start);
  if (!plan.start && !arguments.resume)
    tell_left_out(say_line, record::settle_overlaps(plan, built, arguments.overlaps));

  const record::RunPlace place{arguments.folder, arguments.resume, limit.count(),
                               fmt::format("{} ({})", TRESSE_VERSION, TRESSE_COMMIT)};
  record::RunSettings settings = record::run_settings(plan, built.world, place);
  settings.replacing = [&](const std::string& what) {
    if (!arguments.quiet) say("{}: replaces {}", arguments.folder, what);
  };
  FrictionDump dump = open_other_outputs(arguments, plan);  // before anything of an earlier run goes
  RunGradient gradient(arguments.targets, plan, built);
  std::optional<dynamics::Stepper> made;  // refuses a state that cannot be
  if (!arguments.resume) made.emplace(std::move(built.world), built.options, std::move(built.state));
  if (made) gradient.begin(*made);  // refuses what has no derivatives
  obey_stop_signals(true);          // before, nothing is lost
  record::RunRecorder recorder(settings);
  tell_remarks(say_line, arguments.scene.file, scene::remarks(plan.scene));
  const bool fresh = !recorder.resumed_state();
  if (fresh && !arguments.quiet) tell_time_step(say_line, plan.scene.simulation.time_step, plan.time_step_reason);
  if (!made) {
    if (!fresh) built.state = *recorder.resumed_state();
    // Killed before its first checkpoint, it starts anew.
    if (fresh && !plan.start) record::settle_overlaps(plan, built, arguments.overlaps);
    made.emplace(std::move(built.world), built.options, std::move(built.state));
  }
  dynamics::Stepper& stepper = *made;
  if (fresh) record::record_start(plan, settings, stepper, recorder);
  if (!fresh && !arguments.quiet) tell_done_before(arguments.folder, stepper, plan);
  view::Companion viewer(arguments.view ? arguments.folder : "");
  record::Outcome outcome = record::Outcome::finished;
  {
    Reporter reporter(arguments, settings, plan, dump, gradient, stepper);
    outcome = record::record_steps(plan, settings, stepper, recorder, reporter);
  }
  clear_interrupt();
  if (!arguments.record_pairs.empty() && !stop_requested()) record_pairs(arguments.record_pairs, stepper);
  const std::string told = gradient.wanted() && stepper.state().step == plan.last_step
                               ? gradient.write(arguments.folder, stepper)
                               : std::string();
  const record::Verdict verdict = recorder.finish(outcome, stepper.state(), stepper.largest_overlap());
  if (!arguments.quiet || !verdict.findings.empty()) say("{}", verdict.sentence);
  if (!arguments.quiet && !told.empty()) say("{}", told);
  if (!arguments.quiet) tell_next_step(arguments.folder, outcome, settings);
  if (arguments.view && !stop_requested() && isatty(fileno(stderr)) == 1) {
    say("The viewer stays until Ctrl-C.");
    viewer.wait(stop_requested);
  }
  if (outcome == record::Outcome::failed) return not_finite;
  if (outcome == record::Outcome::interrupted && stop_requested()) return interrupted;
  return arguments.strict && recorder.tally().missed_steps > 0 ? missed_tolerance : done;
}

}  // namespace

void add_run_command(CLI::App& program, int& exit_status) {
  auto* command = program.add_subcommand("run", "Simulates a scene");
  command->footer("Example: tresse run scenes/comb.toml -o out/comb --set friction=0.2 --until 1");
  auto arguments = std::make_shared<RunArguments>();
  arguments->scene.add_to(*command);
  command->add_option("-o,--output", arguments->folder, "Folder for the results")->required();
  add_threads(*command, arguments->threads);
  command->add_option("--until", arguments->until, "Stop at this time [s]; --resume goes on from there");
  command->add_flag("--resume", arguments->resume, "Go on from the folder's last checkpoint");
  command
      ->add_option("--gradient", arguments->targets,
                   "Also write gradient.json: the squared distance of points from where these rows want them, and its "
                   "derivative by each number of materials, fibres, gravity, wind and friction")
      ->type_name("TARGETS.csv")
      ->excludes("--resume");
  command->add_flag("--push-out", arguments->overlaps.push_out,
                    "Move fibres that overlap at the start apart, rather than refuse");
  command->add_flag("--leave-out", arguments->overlaps.leave_out,
                    "Leave out fibres that overlap at the start, with --push-out those that still do, and name them");
  command
      ->add_option("--record-pairs", arguments->record_pairs,
                   "Also write the narrow phase's calls of the last step: a trace for tresse bench distance")
      ->type_name("PAIRS.json");
  command
      ->add_option("--dump-friction", arguments->dump_folder,
                   "Also write friction problems of steps as DIR/step-N.hdf5 (FCLIB), with guess and solution")
      ->type_name("DIR");
  command
      ->add_option("--dump-steps", arguments->dump_steps,
                   "Of which steps: 100, 100:200:10 (from 100 to 200, every tenth), several with commas, or all "
                   "(default). Example: --dump-friction problems --dump-steps 4100:4200:25")
      ->type_name("SPEC")
      ->needs("--dump-friction");
  command->add_flag("--view", arguments->view, "Show the run in the browser while it goes on; see tresse view");
  command->add_flag("--quiet", arguments->quiet, "No progress; a verdict only when it is not \"sound\"");
  command->add_flag("--strict", arguments->strict, "Exit status 3 when a step missed a solver's tolerance");
  command->callback([arguments, &exit_status] { exit_status = run(*arguments); });
}

}  // namespace tresse::app
