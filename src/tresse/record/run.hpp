#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <tresse/dynamics/stepper.hpp>
#include <tresse/record/outputs.hpp>
#include <tresse/record/run_recorder.hpp>
#include <tresse/scene/build.hpp>
#include <tresse/scene_file/scene_file.hpp>

/// A run from its scene to its folder: what `tresse run` and the Python module share.
namespace tresse::record {

/// What is to be run: a scene, or a state that an earlier run kept in it.
struct RunPlan {
  scene::Scene scene;
  std::vector<scene_file::Parameter> parameters;   ///< that `resolved` lists
  std::string resolved;                            ///< text of the scene as a run's folder keeps it
  std::optional<dynamics::SimulationState> start;  ///< instead of the scene's own
  std::int64_t last_step = 0;      ///< of the whole duration; of a state kept by a run the step after it
  FileList files{};                ///< that it was read from
  std::string time_step_reason{};  ///< why the program chose it; empty: it is given
};

RunPlan plan_run(const scene_file::SceneDocument& document);
/// Of a scene file, or of a checkpoint.h5 or failure/step-N.h5. Throws as the readers do.
RunPlan plan_run(const std::filesystem::path& file, const scene_file::ParameterOverrides& set = {});

/// The step that ends at `time` [s], to the nearest. Throws InvalidInput out of range, `where` in its message.
std::int64_t step_at(const scene::Scene& scene, double time, std::string_view where);

/// What is done about fibres that overlap something at the start.
struct OverlapHelp {
  bool push_out = false;   ///< they are moved apart
  bool leave_out = false;  ///< those that overlap, still if they were moved, are left out of the scene
  std::string_view lists = "tresse check lists them";  ///< what messages say about where all are listed; may be empty
  std::string_view push_out_word = "--push-out";       ///< what the caller writes to have the first, in messages
  std::string_view leave_out_word = "--leave-out";     ///< likewise
};

/// Throws InvalidInput, naming the deepest, when bodies overlap at the start and stay so. The fibres that are left out
/// are so in the plan, a line about each in the result.
std::vector<std::string> settle_overlaps(RunPlan& plan, scene::Case& built, const OverlapHelp& help);

/// Leaves out of a plan what the run in `folder` left out, so that it can go on. Nothing where no run is.
void leave_out_as(RunPlan& plan, const std::filesystem::path& folder);

/// Where a run's files go.
struct RunPlace {
  std::filesystem::path folder;
  bool resume = false;  ///< go on from the folder's last checkpoint
  int threads = 1;      ///< for summary.json
  std::string version;  ///< of the program
};

/// What a sound step of a scene keeps to.
RunLimits run_limits(const scene::Scene& scene, const assembly::World& world);

/// @throws InvalidInput when the run would write over a file that it was read from.
RunSettings run_settings(const RunPlan& plan, const assembly::World& world, const RunPlace& place);

/// Follows a run; every function may be left out.
class RunObserver {
 public:
  virtual ~RunObserver() = default;
  /// Asked before each step.
  virtual bool stop() { return false; }
  /// A step is about to be computed.
  virtual void begins(const dynamics::Stepper& /*stepper*/) {}
  /// The step is in the tables, its frame and checkpoint are not yet written.
  virtual void stepped(const dynamics::Stepper& /*stepper*/, const dynamics::StepReport& /*report*/) {}
  virtual void remarked(const observe::Remark& /*remark*/) {}
  /// A solver missed its tolerance; `kept`: file of the state before, empty when there are enough.
  virtual void missed(const dynamics::Stepper& /*stepper*/, const dynamics::StepReport& /*report*/,
                      const std::filesystem::path& /*kept*/) {}
  /// The state stopped being finite: the last good one is the stepper's, and in the checkpoint.
  virtual void failed(const dynamics::Stepper& /*stepper*/, const dynamics::StepReport& /*report*/) {}
  /// All of the step is written.
  virtual void recorded(const dynamics::Stepper& /*stepper*/, const dynamics::StepReport& /*report*/) {}
};

/// Frame and checkpoint of the start, for a run that is not resumed.
void record_start(const RunPlan& plan, const RunSettings& settings, const dynamics::Stepper& stepper,
                  RunRecorder& recorder);

/// Steps until plan.last_step, the observer's stop, an interrupt (poll_interrupt()) or a state that is no longer
/// finite, and records all of it; RunRecorder::finish() is left to the caller. A step that throws leaves a checkpoint
/// and a failure of the state before it.
Outcome record_steps(const RunPlan& plan, const RunSettings& settings, dynamics::Stepper& stepper,
                     RunRecorder& recorder, RunObserver& observer);

}  // namespace tresse::record
