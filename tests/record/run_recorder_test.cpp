#include <tresse/record/run_recorder.hpp>
#include <tresse/record/tables.hpp>

#include <sys/resource.h>
#include <sys/wait.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <sstream>

#include <tresse/base/errors.hpp>
#include <tresse/files/csv.hpp>
#include <tresse/record/trajectory.hpp>

#include "record/synthetic_run.hpp"

namespace tresse::record {
namespace TRESSE_TEST_FILE {

using namespace synthetic;
namespace fs = std::filesystem;

constexpr std::int64_t last_step = 600;

RunSettings settings(const fs::path& folder, bool resume) {
  RunSettings out{.folder = folder, .resume = resume, .layout = layout()};
  out.output = {.every = 7, .checkpoint_every = 25, .points_per_element = 1};
  out.limits = {.residual = 1e-12, .penetration = 1e-5, .energy = 1e9};
  out.checkpoint_pause = std::chrono::milliseconds(0);
  out.checkpoint_share = 0;
  return out;
}

double wall_clock() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// What the program does, on synthetic steps. `after_step` may throw or die.
Verdict run(const RunSettings& how, std::int64_t until = last_step, Outcome outcome = Outcome::finished,
            const std::function<void(const dynamics::SimulationState&)>& after_step = {}, double overlap = 0.0) {
  RunRecorder recorder(how);
  dynamics::SimulationState state;
  if (recorder.resumed_state()) {
    state = *recorder.resumed_state();
  } else {
    state = initial_state(how.layout);
    recorder.record_frame(frame(how.layout, 0, seed_of(state)));
    recorder.checkpoint(state);
  }
  while (state.step < until) {
    if (state.step == 100 || state.step == 400) recorder.write_failure(state);
    advance(state);
    recorder.record(report(how.layout, state, wall_clock()));
    if (recorder.frame_due(state.step)) recorder.record_frame(frame(how.layout, state.step, seed_of(state)));
    if (recorder.checkpoint_due(state.step)) recorder.checkpoint(state);
    if (after_step) after_step(state);
  }
  return recorder.finish(outcome, state, overlap);
}

/// Files of a folder by name, the wall-clock figures taken out.
std::map<std::string, std::string> contents(const fs::path& folder) {
  std::map<std::string, std::string> out;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (!entry.is_regular_file()) continue;
    const std::string name = fs::relative(entry.path(), folder).string();
    std::string text = bytes_of(entry.path());
    if (name == "steps.csv") {
      std::string kept;
      std::istringstream in(text);
      for (std::string line; std::getline(in, line);) {
        for (int i = 0; i < 4; ++i) line.erase(line.rfind(','));
        kept += line + "\n";
      }
      text = kept;
    }
    if (name == "summary.json") {
      auto json = nlohmann::json::parse(text);
      for (const char* key : {"wall_seconds", "phases", "peak_memory_bytes"}) json.erase(key);
      text = json.dump();
    }
    out[name] = text;
  }
  return out;
}

void expect_same_files(const fs::path& a, const fs::path& b) {
  const auto first = contents(a);
  const auto second = contents(b);
  std::vector<std::string> names;
  for (const auto& [name, text] : first) names.push_back(name);
  std::vector<std::string> others;
  for (const auto& [name, text] : second) others.push_back(name);
  EXPECT_EQ(names, others);
  for (const auto& [name, text] : first) EXPECT_TRUE(second.count(name) > 0 && second.at(name) == text) << name;
}

/// Runs `body` in a child process; its wait status.
int in_child(const std::function<void()>& body, double kill_after = -1.0) {
  const pid_t child = fork();
  if (child == 0) {
    try {
      body();
    } catch (const InvalidInput&) {
      _exit(2);
    } catch (const SystemFailure& error) {
      _exit(std::string(error.what()).find('\n') == std::string::npos ? 4 : 99);
    } catch (...) {
      _exit(99);
    }
    _exit(0);
  }
  if (kill_after >= 0.0) {
    usleep(static_cast<useconds_t>(1e6 * kill_after));
    kill(child, SIGKILL);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return status;
}

class Recorder : public FolderTest {
 protected:
  /// The uninterrupted run, once for all tests.
  static const fs::path& reference() {
    static const struct Whole {
      Whole() : path(scratch() / ("tresse_io.whole." + std::to_string(getpid()))) {
        fs::remove_all(path);
        const double begin = wall_clock();
        run(settings(path, false));
        seconds = wall_clock() - begin;
      }
      ~Whole() { fs::remove_all(path); }
      Whole(const Whole&) = delete;
      Whole& operator=(const Whole&) = delete;
      fs::path path;
      double seconds = 0.0;
    } whole;
    seconds_ = whole.seconds;
    return whole.path;
  }
  static double seconds_;
};
double Recorder::seconds_ = 0.0;

TEST_F(Recorder, leaves_the_files_of_the_contract) {
  std::vector<std::string> names;
  const auto files = contents(reference());
  for (const auto& [name, text] : files) names.push_back(name);
  EXPECT_EQ(names,
            (std::vector<std::string>{"checkpoint.h5", "failure/step-101.h5", "failure/step-401.h5", "forces.csv",
                                      "scene.toml", "steps.csv", "summary.json", "trajectory.h5"}));
  EXPECT_EQ(files.at("scene.toml"), layout().scene);
  const std::string& steps = files.at("steps.csv");
  EXPECT_EQ(std::count(steps.begin(), steps.end(), '\n'), 1 + last_step);
  const std::string& forces = files.at("forces.csv");
  EXPECT_EQ(std::count(forces.begin(), forces.end(), '\n'), 1 + 2 * last_step);
  EXPECT_EQ(forces.rfind(forces_header, 0), 0U);
  const TrajectoryReader trajectory(reference() / "trajectory.h5");
  ASSERT_EQ(trajectory.frame_count(), 1U + last_step / 7);
  EXPECT_EQ(trajectory.frame(85).step, 595);
  const auto summary = nlohmann::json::parse(bytes_of(reference() / "summary.json"));
  EXPECT_EQ(summary["status"], "finished");
  EXPECT_EQ(summary["verdict"], "sound");
  EXPECT_EQ(summary["steps"], last_step);
}

TEST_F(Recorder, killed_at_random_moments_and_resumed_leaves_the_same_bytes) {
  reference();
  std::mt19937 random(7);
  int kills = 0;
  for (int round = 0; round < 8; ++round) {
    const fs::path here = folder / std::to_string(round);
    bool resume = false;
    for (int attempt = 0;; ++attempt) {
      ASSERT_LT(attempt, 200);
      // Early kills catch the start and the first steps; later ones anything.
      const double kill_after = seconds_ * std::uniform_real_distribution<>(0.0, round % 2 == 0 ? 0.15 : 0.9)(random);
      const bool last = attempt > 5;
      const int status = in_child([&] { run(settings(here, resume)); }, last ? -1.0 : kill_after);
      if (WIFEXITED(status)) {
        ASSERT_EQ(WEXITSTATUS(status), 0);
        break;
      }
      ++kills;
      resume = fs::exists(here / "scene.toml");
    }
    expect_same_files(reference(), here);
  }
  EXPECT_GT(kills, 10);
}

TEST_F(Recorder, killed_after_any_step_and_resumed_leaves_the_same_bytes) {
  for (const std::int64_t step : {1, 24, 25, 26, 49, 50, 101, 449, 600}) {
    const fs::path here = folder / std::to_string(step);
    const int status = in_child([&] {
      run(settings(here, false), last_step, Outcome::finished, [&](const dynamics::SimulationState& state) {
        if (state.step == step) raise(SIGKILL);
      });
    });
    ASSERT_TRUE(WIFSIGNALED(status));
    run(settings(here, true));
    expect_same_files(reference(), here);
  }
}

TEST_F(Recorder, interrupted_or_ended_early_goes_on_to_the_same_bytes) {
  run(settings(folder / "a", false), 333, Outcome::interrupted);
  EXPECT_TRUE(fs::exists(folder / "a" / "trajectory.log"));
  EXPECT_EQ(TrajectoryReader(folder / "a" / "trajectory.h5").frame_count(), 1U + 333U / 7U);
  EXPECT_EQ(read_checkpoint(folder / "a" / "checkpoint.h5").state.step, 333);
  run(settings(folder / "a", true));
  expect_same_files(reference(), folder / "a");
  // An end by --until is a normal end: the log is gone and must come back.
  run(settings(folder / "b", false), 333);
  EXPECT_FALSE(fs::exists(folder / "b" / "trajectory.log"));
  run(settings(folder / "b", true));
  expect_same_files(reference(), folder / "b");
  run(settings(folder / "b", true));  // nothing left to do
  expect_same_files(reference(), folder / "b");
}

TEST_F(Recorder, the_overlap_of_the_last_state_is_in_the_verdict_and_not_in_what_goes_on_from_it) {
  const double deep = 1.0;
  const Verdict verdict = run(settings(folder / "a", false), 333, Outcome::finished, {}, deep);
  EXPECT_TRUE(std::any_of(verdict.findings.begin(), verdict.findings.end(), [&](const Finding& finding) {
    return finding.what == "penetration" && finding.step == 333 && finding.value == deep;
  }));
  run(settings(folder / "a", true));
  expect_same_files(reference(), folder / "a");
}

TEST_F(Recorder, wall_times_add_up_over_resumes) {
  run(settings(folder, false), 300, Outcome::interrupted);
  const double first = read_timings(folder / "summary.json").detection;
  run(settings(folder, true));
  const RunTimings both = read_timings(folder / "summary.json");
  EXPECT_GT(both.detection, 1.5 * first);
  EXPECT_GT(both.wall, 0.0);
}

TEST_F(Recorder, full_disk_costs_no_more_than_the_steps_since_the_checkpoint) {
  // A limit on the size of files stands for the disk; it hits different files at different sizes.
  for (const rlim_t limit : {2000, 12000, 20000, 40000, 70000, 150000, 250000}) {
    const fs::path here = folder / std::to_string(limit);
    const int status = in_child([&] {
      std::signal(SIGXFSZ, SIG_IGN);
      const rlimit sizes{limit, limit};
      setrlimit(RLIMIT_FSIZE, &sizes);
      run(settings(here, false));
    });
    ASSERT_TRUE(WIFEXITED(status)) << limit;
    ASSERT_EQ(WEXITSTATUS(status), 4) << limit;
    run(settings(here, true));
    expect_same_files(reference(), here);
  }
}

TEST_F(Recorder, new_run_removes_its_own_files_and_no_others) {
  run(settings(folder, false), 300);
  put_bytes(folder / "notes.txt", "mine");
  fs::create_directories(folder / "failure");
  put_bytes(folder / "failure" / "step-900.h5", "old");
  put_bytes(folder / "failure" / "step-x.h5", "mine");
  run(settings(folder, false));
  auto files = contents(folder);
  EXPECT_EQ(files["notes.txt"], "mine");
  EXPECT_EQ(files["failure/step-x.h5"], "mine");
  fs::remove(folder / "notes.txt");
  fs::remove(folder / "failure" / "step-x.h5");
  expect_same_files(reference(), folder);
}

TEST_F(Recorder, refuses_a_folder_that_is_not_a_runs) {
  fs::create_directories(folder / "mine");
  put_bytes(folder / "mine" / "scene.toml", "the only copy");
  EXPECT_EQ(message_of<InvalidInput>([&] { run(settings(folder / "mine", false)); }),
            (folder / "mine").string() +
                ": holds 'scene.toml' and nothing of a run of tresse; expected a new folder, an empty one or that of a "
                "run of tresse");
  EXPECT_EQ(bytes_of(folder / "mine" / "scene.toml"), "the only copy");
}

TEST_F(Recorder, an_earlier_run_stands_until_all_of_the_new_one_is_open) {
  const fs::path here = folder / "a";
  run(settings(here, false));
  fs::create_directories(here / "forces.csv.tmp");  // cannot be opened
  EXPECT_EQ(message_of<SystemFailure>([&] { run(settings(here, false)); }),
            (here / "forces.csv").string() + ": cannot create: Is a directory");
  fs::remove(here / "forces.csv.tmp");
  expect_same_files(reference(), here);
}

TEST_F(Recorder, stops_when_its_folder_is_another_one) {
  const fs::path here = folder / "a";
  const auto replace = [&](const dynamics::SimulationState& state) {
    if (state.step != 60) return;
    fs::rename(here, folder / "elsewhere");
    run(settings(here, false));
  };
  EXPECT_EQ(message_of<SystemFailure>([&] { run(settings(here, false), last_step, Outcome::finished, replace); }),
            here.string() + ": another folder bears this name now; the run stops");
  expect_same_files(reference(), here);
  const auto remove = [&](const dynamics::SimulationState& state) {
    if (state.step == 60) fs::remove_all(here);
  };
  EXPECT_EQ(message_of<SystemFailure>([&] { run(settings(here, false), last_step, Outcome::finished, remove); }),
            here.string() + ": cannot find the folder again: No such file or directory");
  EXPECT_FALSE(fs::exists(here));
}

TEST_F(Recorder, failed_run_keeps_its_last_checkpoint_and_a_state_to_replay) {
  run(settings(folder, false), 110, Outcome::failed);
  EXPECT_EQ(read_checkpoint(folder / "checkpoint.h5").state.step, 100);
  const Checkpoint bad = read_checkpoint(folder / "failure" / "step-101.h5");
  EXPECT_EQ(bad.state.step, 100);
  EXPECT_EQ(bad.scene, layout().scene);
  const auto summary = nlohmann::json::parse(bytes_of(folder / "summary.json"));
  EXPECT_EQ(summary["status"], "failed");
  EXPECT_EQ(summary["verdict"][0]["what"], "non-finite");
  EXPECT_EQ(summary["verdict"][0]["step"], 111);
  EXPECT_EQ(summary["failures"], nlohmann::json({"failure/step-101.h5"}));
}

TEST_F(Recorder, checkpoints_keep_to_their_share_of_the_time_and_come_even_when_steps_are_slow) {
  RunSettings how = settings(folder, false);
  how.checkpoint_share = 1000000;
  RunRecorder rare(how);
  EXPECT_TRUE(rare.checkpoint_due(25));
  rare.checkpoint(initial_state(how.layout));
  EXPECT_FALSE(rare.checkpoint_due(50)) << "a million times what a checkpoint took has not passed";
  how.folder = folder / "slow";
  how.checkpoint_share = 0;
  how.checkpoint_limit = std::chrono::seconds(0);
  EXPECT_TRUE(RunRecorder(how).checkpoint_due(26)) << "between the steps that are asked for";
  how.folder = folder / "usual";
  how.checkpoint_limit = std::chrono::seconds(600);
  EXPECT_FALSE(RunRecorder(how).checkpoint_due(26));
}

TEST_F(Recorder, at_most_eight_failures_are_kept) {
  RunRecorder recorder(settings(folder, false));
  dynamics::SimulationState state = initial_state(layout());
  for (state.step = 0; state.step < 8; ++state.step) EXPECT_FALSE(recorder.write_failure(state).empty());
  EXPECT_TRUE(recorder.write_failure(state).empty());
}

TEST_F(Recorder, refusals_name_the_folder_and_the_reason) {
  const std::string here = (folder / "a").string();
  EXPECT_EQ(message_of<InvalidInput>([&] { run(settings(here, true)); }),
            here + ": nothing to resume, no such folder; without --resume the run begins");
  EXPECT_FALSE(fs::exists(here)) << "nothing may be written";
  run(settings(here, false), 60, Outcome::interrupted);
  RunSettings other = settings(here, true);
  other.layout.scene = "title = \"synthetic\"\n[parameters]\nfriction = 0.5\n";
  EXPECT_EQ(message_of<InvalidInput>([&] { run(other); }),
            here +
                "/checkpoint.h5: made from another scene (line 3: 'friction = 0.3', now 'friction = 0.5'); resume "
                "with the same scene and parameters, or run anew");
  {
    const RunRecorder first(settings(here, true));
    EXPECT_EQ(message_of<InvalidInput>([&] { RunRecorder second(settings(here, true)); }),
              here + ": another run writes here; wait for it or choose another folder");
  }
  const std::string steps = bytes_of(here + "/steps.csv");
  put_bytes(here + "/steps.csv", steps.substr(0, steps.size() - 1));
  EXPECT_EQ(message_of<InvalidInput>([&] { run(settings(here, true)); }),
            here + "/steps.csv: 59 rows, expected at least 60");
  put_bytes(here + "/steps.csv", steps);
  run(settings(here, true));
  expect_same_files(reference(), here);
  put_bytes(folder / "file", "");
  EXPECT_EQ(message_of<SystemFailure>([&] { run(settings(folder / "file" / "b", false)); }),
            (folder / "file" / "b").string() + ": cannot create the folder: Not a directory");
}

TEST_F(Recorder, tells_what_a_new_run_replaces_before_it_does) {
  RunSettings how = settings(folder / "a", false);
  std::vector<std::string> told;
  how.replacing = [&](const std::string& what) {
    EXPECT_TRUE(fs::exists(how.folder / "checkpoint.h5"));
    told.push_back(what);
  };
  run(how, 60, Outcome::interrupted);
  how.resume = true;
  run(how, 61);
  EXPECT_TRUE(told.empty()) << "a first run, and one that is gone on with";
  how.resume = false;
  run(how, 1);
  ASSERT_EQ(told.size(), 1U);
  EXPECT_TRUE(told[0].starts_with("the results of an earlier run (finished: 61 steps, ")) << told[0];
  for (const char* damaged : {"", "[]", "{}", R"({"status": 1})", R"({"status": "finished", "steps": 1e300})"}) {
    put_bytes(how.folder / "summary.json", damaged);
    run(how, 1);
    EXPECT_EQ(told.back(), "the results of an earlier run") << damaged;
  }
}

/// Cost of what every step pays. Prints; the bound is ten times what a desktop needs, for slow machines under load.
TEST_F(Recorder, a_step_without_a_frame_costs_microseconds) {
  RunSettings how = settings(folder, false);
  RunRecorder recorder(how);
  dynamics::SimulationState state = initial_state(how.layout);
  advance(state);
  const dynamics::StepReport one = report(how.layout, state, 1.2345e-3);
  constexpr int steps = 20000;
  double begin = wall_clock();
  for (int i = 0; i < steps; ++i) recorder.record(one);
  const double microseconds = 1e6 * (wall_clock() - begin) / steps;
  begin = wall_clock();
  recorder.checkpoint(state);
  RecordProperty("record_us", std::to_string(microseconds));
  RecordProperty("checkpoint_ms", std::to_string(1e3 * (wall_clock() - begin)));
#ifdef NDEBUG
  constexpr double bound = 50.0;
  EXPECT_LT(microseconds, bound);
#endif
  if (std::getenv("TRESSE_PRINT_FIGURES") != nullptr) {
    std::printf("record: %.2f us, checkpoint: %.2f ms\n", microseconds, 1e3 * (wall_clock() - begin));
  }
}

}  // namespace TRESSE_TEST_FILE
}  // namespace tresse::record
