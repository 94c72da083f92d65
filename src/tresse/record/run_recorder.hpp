#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <tresse/dynamics/stepper.hpp>
#include <tresse/files/atomic_file.hpp>
#include <tresse/observe/frame.hpp>
#include <tresse/record/checkpoint.hpp>
#include <tresse/record/loads.hpp>
#include <tresse/record/summary.hpp>
#include <tresse/record/trajectory_log.hpp>
#include <tresse/scene/scene.hpp>

namespace tresse::record {

/// The fibres of one group whose roots are clamped.
struct RootGroup {
  int group = 0;  ///< of the scene
  std::string name;
  int count = 0;
};

/// Of all groups that have any, in the scene's order.
std::vector<RootGroup> clamped_roots(const scene::Scene& scene, const assembly::World& world);

/// What a run writes and where.
struct RunSettings {
  std::filesystem::path folder;         ///< created when missing
  bool resume = false;                  ///< go on from the folder's last checkpoint
  int threads = 1;                      ///< for summary.json
  observe::TrajectoryLayout layout{};   ///< with the resolved scene's text and the program's version
  std::vector<assembly::Hold> holds{};  ///< of the world
  std::vector<RootGroup> roots{};       ///< likewise
  bool fluid = false;                   ///< whether there is one
  bool grains = false;                  ///< whether there are any
  std::vector<std::string> cloth{};     ///< names of the surfaces that are cloth, in their order
  scene::Output output{};
  double time_step = 0.0;  ///< for summary.json [s]
  RunLimits limits{};
  std::chrono::milliseconds checkpoint_pause{1000};  ///< least wall time between checkpoints: syncing costs more than
                                                     ///< many a step
  int checkpoint_share = 100;                        ///< checkpoints take this share of the time at most: 1 / 100; >= 0
  std::chrono::seconds checkpoint_limit{600};        ///< most wall time between checkpoints, steps being slow
  /// Told what of an earlier run a new one replaces, before anything is removed; may be empty.
  std::function<void(const std::string&)> replacing{};
};

enum class Outcome {
  finished,     ///< the whole duration, or --until
  interrupted,  ///< asked to stop: resumable
  failed,       ///< the state stopped being finite
};

/// How a run went.
struct Verdict {
  std::vector<Finding> findings;  ///< empty: sound
  std::string sentence;           ///< the run's last line
};

/// A step for Watch::look(), after add() of it.
observe::WatchedStep watched(const dynamics::Stepper& stepper, const dynamics::StepReport& report,
                             const RunTally& tally, const RunLimits& limits);

/// Writes a run's folder so that a kill at any moment costs no more than the steps since the last checkpoint, and so
/// that a run which was killed and resumed leaves the same bytes as one that was not, wall-clock figures apart. In
/// order: for a new run, the frame and the checkpoint of step 0; then for every step record(), watch(), record_frame()
/// if frame_due(), checkpoint() if checkpoint_due(); finish() at the end. Messages: InvalidInput for a folder that is
/// in use or does not fit, SystemFailure when the system refuses; the last checkpoint stays good. A full disk may raise
/// SIGXFSZ under a file size limit: the program ignores that signal.
class RunRecorder {
 public:
  /// New run: replaces the files of an earlier run in the folder, and no others; refuses a folder that holds anything
  /// but was never a run's. Resuming: cuts them to the last checkpoint; a run that was killed before its first
  /// checkpoint starts anew.
  explicit RunRecorder(RunSettings settings);

  /// State to go on from; empty for a new run.
  const std::optional<dynamics::SimulationState>& resumed_state() const { return resumed_; }

  bool frame_due(std::int64_t step) const { return step % settings_.output.every == 0; }
  /// Every output.checkpoint_every steps or checkpoint_limit, whichever comes first; but not twice within
  /// checkpoint_pause, nor so often that checkpoints would take more than their share of the time.
  bool checkpoint_due(std::int64_t step) const {
    const Clock::duration since = Clock::now() - last_checkpoint_;
    return (step % settings_.output.checkpoint_every == 0 || since >= settings_.checkpoint_limit) &&
           since >= settings_.checkpoint_pause && since >= settings_.checkpoint_share * checkpoint_time_;
  }

  /// Opens the books of a new run, before its first step.
  void begin(const dynamics::Stepper& stepper);
  void record(const dynamics::StepReport& report);
  void record_frame(const observe::Frame& frame);

  /// After record(report): what there is to say about the step. Kept in remarks.csv, which is there from the first
  /// remark on.
  std::vector<observe::Remark> watch(const dynamics::Stepper& stepper, const dynamics::StepReport& report);

  /// `state` is the state after the last recorded step. Rebuilds trajectory.h5 too when it grew by half since it was
  /// built.
  void checkpoint(const dynamics::SimulationState& state);

  /// Keeps the state before a bad step in failure/step-N.h5, N = state.step + 1, for the first eight bad steps of a
  /// run. Returns the file's path; empty when there are eight.
  std::filesystem::path write_failure(const dynamics::SimulationState& before);

  /// Last call. A failed run is never sound and keeps its last checkpoint, the others write one of `state`. The log is
  /// removed when finished, trajectory.h5 having been read back. `overlap`: the deepest of `state` [m]. It counts in
  /// the verdict, not in the checkpoint: a run that goes on finds it at the start of its next step.
  Verdict finish(Outcome outcome, const dynamics::SimulationState& state, double overlap);

  const RunTally& tally() const { return tally_; }
  std::filesystem::path file(const char* name) const { return settings_.folder / name; }

 private:
  using Clock = std::chrono::steady_clock;
  void start();
  std::string earlier_results() const;
  void resume();
  void open_log(const OutputPosition& position);
  void build_trajectory();
  void sync_all();
  void close_all();
  void record_roots(const dynamics::StepReport& report);
  void save(const dynamics::SimulationState& state);
  void write_summary_as(const char* status);
  RunTimings timings() const;

  /// A table that not every run has, of as many rows a step.
  struct SomeTable {
    const char* file;
    std::string_view header;
    std::size_t rows;  ///< 0: the run does not have it
    std::optional<files::AppendFile> out{};
  };
  std::uint64_t length_so_far(const SomeTable& table, const OutputPosition& position) const;
  std::array<SomeTable*, 5> some_tables() { return {&holds_, &roots_, &fluid_, &grains_, &cloth_}; }

  RunSettings settings_;
  std::optional<files::FolderLock> lock_;
  std::optional<dynamics::SimulationState> resumed_;
  std::vector<std::string> obstacle_names_;  ///< as the CSV writes them
  std::vector<std::string> hold_names_;      ///< name and fibre of each, likewise
  std::vector<std::string> root_names_;      ///< name and number of roots of each group, likewise
  files::AppendFile steps_;
  files::AppendFile forces_;
  SomeTable holds_;  ///< where points are held
  SomeTable roots_;  ///< where roots are clamped
  SomeTable fluid_;  ///< in a fluid
  SomeTable grains_;
  SomeTable cloth_;
  std::optional<files::AppendFile> remarks_;
  observe::Watch watch_;
  std::optional<TrajectoryLogWriter> log_;
  OutputPosition position_;
  RunTally tally_;
  LoadTallies obstacle_loads_;
  LoadTallies hold_loads_;
  LoadTallies root_loads_;
  std::vector<Vector3> forces_of_step_;  ///< kept for its memory
  RunTimings before_;                    ///< of the parts before this one
  RunTimings timings_;                   ///< of this part, wall apart
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  Clock::time_point last_build_ = Clock::now();
  Clock::time_point last_checkpoint_ = Clock::now();
  Clock::duration build_time_ = Clock::duration::zero();
  Clock::duration checkpoint_time_ = Clock::duration::zero();  ///< of the last
  std::uint64_t built_bytes_ = 0;                              ///< of the log, when trajectory.h5 was last built
  std::vector<std::string> failures_;
  std::string row_;  ///< kept for its memory
};

}  // namespace tresse::record
