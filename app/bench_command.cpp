#include <memory>
#include <optional>
#include <string>

#include <fmt/format.h>

#include <tresse/base/errors.hpp>
#include <tresse/files/atomic_file.hpp>
#include <tresse/record/checkpoint.hpp>
#include <tresse/record/outputs.hpp>
#include <tresse/scene_file/scene_file.hpp>

#include "bench/bench.hpp"
#include "commands.hpp"
#include "common_options.hpp"
#include "scene_arguments.hpp"
#include "version.hpp"

namespace tresse::app {
namespace {

using Benchmark = nlohmann::ordered_json (*)(const bench::Arguments&);

void run(const bench::Arguments& arguments, Benchmark benchmark, const std::string& name) {
  record::require_outputs({arguments.output}, {arguments.trace});
  nlohmann::ordered_json out = {{"benchmark", name},
                                {"version", fmt::format("{} ({})", TRESSE_VERSION, TRESSE_COMMIT)},
                                {"quick", arguments.quick},
                                {"machine", bench::machine()}};
  out.update(benchmark(arguments));
  files::write_atomically(arguments.output, out.dump(1) + "\n");
}

struct StateArguments {
  std::string checkpoint;
  SceneArguments scene;
  int copies = 1;
  double apart = 0.0;
  std::optional<double> time;  ///< of the new state [s]
  std::string output;
};

/// Sets copies of the fibres and their contacts beside them along y, as many on either side.
void copy_beside(const StateArguments& arguments, scene::Scene& scene, dynamics::SimulationState& state) {
  const std::vector<scene::FibreGroup> groups = scene.fibres;
  const std::vector<rods::RodState> rods = state.rods;
  const std::vector<dynamics::WarmContact> warm = state.warm;
  const std::vector<Vector3> hold_forces = state.hold_forces;
  const auto fibres = static_cast<int>(rods.size());
  scene.fibres.clear();
  state.rods.clear();
  state.warm.clear();
  state.hold_forces.clear();
  for (int copy = 0; copy < arguments.copies; ++copy) {
    const int place = copy - arguments.copies / 2;
    const Vector3 shift = place * arguments.apart * Vector3::UnitY();
    for (scene::FibreGroup group : groups) {
      group.root.position += shift;
      for (scene::Strand& strand : group.strands) strand.position += shift;
      if (copy > 0) group.name += fmt::format("-{}", copy + 1);
      scene.fibres.push_back(group);
    }
    for (rods::RodState rod : rods) {
      rod.root.position += shift;
      state.rods.push_back(rod);
    }
    for (dynamics::WarmContact contact : warm) {
      for (int* body : {&contact.place.body_a, &contact.place.body_b})
        *body += *body < fibres ? copy * fibres : (arguments.copies - 1) * fibres;
      state.warm.push_back(contact);
    }
    state.hold_forces.insert(state.hold_forces.end(), hold_forces.begin(), hold_forces.end());
  }
}

/// A checkpoint's state, in a scene that may differ in all but its fibres, as a small file to start from.
void make_state(const StateArguments& arguments) {
  record::Checkpoint kept = record::read_checkpoint(arguments.checkpoint);
  const scene::Scene before = scene_file::parse_scene(kept.scene, arguments.checkpoint);
  scene_file::SceneDocument document =
      scene_file::read_scene_document(arguments.scene.file, arguments.scene.overrides());
  record::FileList inputs = scene_file::files_of(arguments.scene.file, document);
  inputs.emplace_back(arguments.checkpoint);
  record::require_outputs({arguments.output}, inputs);
  copy_beside(arguments, document.scene, kept.state);
  const scene::Case built = scene::build(document.scene);
  require(built.state.rods.size() == kept.state.rods.size(),
          fmt::format("{}: the scene has {} fibres, the checkpoint {}", arguments.scene.file, built.state.rods.size(),
                      kept.state.rods.size()));
  const double time = arguments.time.value_or(static_cast<double>(kept.state.step) * before.simulation.time_step);
  kept.state.step = std::llround(time / document.scene.simulation.time_step);
  kept.scene = scene_file::write_resolved(document);
  kept.tally = {};
  kept.position = {};
  record::write_packed_checkpoint(arguments.output, kept);
}

}  // namespace

void add_bench_command(CLI::App& program, int& exit_status) {
  CLI::App* command = program.add_subcommand("bench", "Benchmarks: each prints a table and writes JSON");
  command->footer("Example: tresse bench steps -o steps.json --quick");
  command->require_subcommand(1);
  const auto add = [&](const char* name, const char* about, Benchmark benchmark) {
    CLI::App* one = command->add_subcommand(name, about);
    const std::string problems = std::string(name) == "solvers" ? " --problems problems" : "";
    one->footer(fmt::format("Example: tresse bench {} -o {}.json --quick{}", name, name, problems));
    const auto arguments = std::make_shared<bench::Arguments>();
    one->add_option("-o,--output", arguments->output, "Where the figures go (JSON)")->required()->type_name("OUT.json");
    one->add_option("--states", arguments->states, "Folder of the starting states (those of the program)")
        ->type_name("DIR");
    one->add_flag("--quick", arguments->quick, "A minute rather than ten");
    one->callback([arguments, benchmark, name, &exit_status] {
      run(*arguments, benchmark, name);
      exit_status = done;
    });
    return std::pair(one, arguments);
  };
  const auto [distance, distance_arguments] =
      add("distance", "Closest points on a trace of the narrow phase", bench::distance);
  distance->add_option("--trace", distance_arguments->trace, "One that `tresse run --record-pairs` wrote")
      ->type_name("PAIRS.json");
  const auto [steps, steps_arguments] = add("steps", "Steps of five wisps in full combing contact", bench::steps);
  steps->add_option("--steps", steps_arguments->steps, "As many, whatever time they take")
      ->check(CLI::Range(1, 1000000))
      ->type_name("N");
  std::vector<std::string> wisps;
  for (const bench::State& state : bench::all_states) wisps.emplace_back(state.name);
  steps->add_option("--wisp", steps_arguments->wisp, "Only this one")->check(CLI::IsMember(wisps))->type_name("NAME");
  add_threads(*steps, steps_arguments->threads);
  const auto [friction, friction_arguments] =
      add("friction", "Friction problems of those steps, to 1e-6, 1e-9 and 1e-12", bench::friction);
  add_threads(*friction, friction_arguments->threads);
  const auto [solvers, solvers_arguments] =
      add("solvers", "Every friction solver on the problems of a folder, to 1e-10", bench::solvers);
  solvers->add_option("--problems", solvers_arguments->problems, "FCLIB HDF5 and Siconos text (.dat)")
      ->required()
      ->type_name("DIR");
  add_threads(*solvers, solvers_arguments->threads);
  add("scaling", "Steps of 100 to 8100 fibres on one and two threads", bench::scaling);

  add("rods", "Shapes of rods: integrators of a clothoid, equilibria by three models", bench::rods);

  CLI::App* state = command->add_subcommand("state", "Packs a checkpoint into a starting state");
  state->footer("Example: tresse bench state out/comb/checkpoint.h5 out/comb/scene.toml -o state.h5");
  const auto arguments = std::make_shared<StateArguments>();
  state->add_option("checkpoint", arguments->checkpoint, "Of a run (HDF5)")->required()->type_name("CHECKPOINT.h5");
  arguments->scene.add_to(*state);
  state
      ->add_option("--copies", arguments->copies,
                   "Wisps side by side along y, for benchmarks alone: a run would give them roots of their own (1)")
      ->check(CLI::Range(1, 10000));
  state->add_option("--time", arguments->time, "Set its clock [s], so that obstacles go on at another speed");
  state->add_option("--apart", arguments->apart, "Distance between their middles [m]");
  state->add_option("-o,--output", arguments->output, "The starting state")->required()->type_name("STATE.h5");
  state->callback([arguments, &exit_status] {
    make_state(*arguments);
    exit_status = done;
  });
}

}  // namespace tresse::app
