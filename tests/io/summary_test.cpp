#include <tresse/io/summary.hpp>

#include <limits>
#include <nlohmann/json.hpp>

#include "io/synthetic_run.hpp"

namespace tresse::io {
namespace {

using namespace synthetic;

class SummaryFile : public FolderTest {};

const RunLimits limits{.residual = 1e-10, .penetration = 1e-5, .energy = 0.05};

/// A step that is sound: energy falls a little.
dynamics::StepReport sound_step(std::int64_t step) {
  dynamics::StepReport out;
  out.step = step;
  out.time = 0.5 * static_cast<double>(step);
  out.contacts = static_cast<int>(step);
  out.residual = 1e-12;
  out.max_penetration = 1e-6;
  out.energies.kinetic = 1.0 - 0.01 * static_cast<double>(step);
  return out;
}

nlohmann::json written(const std::filesystem::path& folder, const RunTally& tally) {
  write_summary(folder / "summary.json", {.version = "1.2",
                                          .threads = 2,
                                          .status = "finished",
                                          .tally = tally,
                                          .timings = {.wall = 7.5, .solve = 2.5},
                                          .limits = limits,
                                          .failures = {}});
  return nlohmann::json::parse(bytes_of(folder / "summary.json"));
}

TEST_F(SummaryFile, sound_run) {
  RunTally tally;
  for (int step = 1; step <= 4; ++step) add(tally, sound_step(step), limits);
  const auto json = written(folder, tally);
  EXPECT_EQ(json["verdict"], "sound");
  EXPECT_EQ(json["version"], "1.2");
  EXPECT_EQ(json["threads"], 2);
  EXPECT_EQ(json["steps"], 4);
  EXPECT_EQ(json["simulated_seconds"], 2.0);
  EXPECT_EQ(json["wall_seconds"], 7.5);
  EXPECT_EQ(json["phases"]["solve"], 2.5);
  EXPECT_EQ(json["contacts"]["mean"], 2.5);
  EXPECT_EQ(json["contacts"]["max"], 4);
  EXPECT_EQ(json["worst_residual"], 1e-12);
  EXPECT_EQ(json["missed_tolerance_steps"], 0);
  EXPECT_EQ(json["worst_penetration"], 1e-6);
  EXPECT_GT(json["peak_memory_bytes"], 1 << 20);
  EXPECT_EQ(sentence(tally, findings(tally, limits)),
            "Sound: 4 steps, every friction problem solved (worst residual 1e-12), deepest penetration 1e-06 m.");
  EXPECT_EQ(read_timings(folder / "summary.json").wall, 7.5);
  EXPECT_EQ(read_timings(folder / "summary.json").solve, 2.5);
}

TEST_F(SummaryFile, every_flaw_is_listed_with_its_worst_step) {
  RunTally tally;
  for (int step = 1; step <= 9; ++step) {
    dynamics::StepReport report = sound_step(step);
    if (step == 3) report.residual = 1e-8;
    if (step == 4) report.residual = 1e-9;
    if (step == 5) report.solver_status = Status::max_iterations;
    if (step == 6) report.max_penetration = 2e-5;
    if (step == 7) report.energies.elastic = 0.1;
    if (step == 9) report.finite = false;
    add(tally, report, limits);
  }
  const auto json = written(folder, tally);
  ASSERT_EQ(json["verdict"].size(), 4U);
  EXPECT_EQ(json["verdict"][0]["what"], "non-finite");
  EXPECT_EQ(json["verdict"][0]["step"], 9);
  EXPECT_EQ(json["verdict"][1]["what"], "residual");
  EXPECT_EQ(json["verdict"][1]["step"], 3);
  EXPECT_EQ(json["verdict"][1]["steps"], 3);
  EXPECT_EQ(json["missed_tolerance_steps"], 3);
  EXPECT_EQ(json["verdict"][2]["what"], "penetration");
  EXPECT_EQ(json["verdict"][2]["step"], 6);
  EXPECT_EQ(json["verdict"][3]["what"], "energy");
  EXPECT_EQ(json["verdict"][3]["step"], 7);
  const std::string words = sentence(tally, findings(tally, limits));
  EXPECT_EQ(words.find('\n'), std::string::npos);
  EXPECT_EQ(words.rfind("Not sound: the state stopped being finite at step 9; 3 steps missed", 0), 0U) << words;
}

TEST_F(SummaryFile, remarks_are_counted_and_leave_the_verdict_alone) {
  RunTally tally;
  for (int step = 1; step <= 4; ++step) add(tally, sound_step(step), limits);
  EXPECT_TRUE(written(folder, tally)["remarks"].empty());
  tally.watch[static_cast<std::size_t>(Trouble::contact_lost)] = {3, 2, 4, 1, 1, 5.5, 3};
  tally.watch[static_cast<std::size_t>(Trouble::cut_steps)] = {1, 4, 4, 1, 0, 2.0, 4};  // nothing to tell yet
  const auto json = written(folder, tally);
  EXPECT_EQ(json["verdict"], "sound");
  EXPECT_EQ(json["remarks"].size(), 2U);
  EXPECT_EQ(json["remarks"]["contact-lost"],
            nlohmann::json({{"steps", 3}, {"first_step", 2}, {"last_step", 4}, {"worst", 5.5}, {"worst_step", 3}}));
  const std::string words = json["sentence"];
  EXPECT_TRUE(words.ends_with(" Remarked: contact-lost in 3 steps, the first 2; see remarks.csv.")) << words;
}

TEST_F(SummaryFile, a_held_point_that_is_off_is_not_sound) {
  RunTally tally;
  for (int step = 1; step <= 4; ++step) add(tally, sound_step(step), limits);
  tally.watch[static_cast<std::size_t>(Trouble::hold_missed)] = {2, 3, 4, 2, 1, 1.5, 4};
  const auto json = written(folder, tally);
  ASSERT_EQ(json["verdict"].size(), 1U);
  EXPECT_EQ(json["verdict"][0]["what"], "hold");
  EXPECT_EQ(json["verdict"][0]["step"], 4);
  EXPECT_EQ(json["verdict"][0]["steps"], 2);
  EXPECT_TRUE(sentence(tally, findings(tally, limits)).starts_with("Not sound: "));
}

TEST(SummaryEnergy, a_rise_is_new_in_the_step_that_raised_it) {
  RunTally tally;
  dynamics::StepReport report = sound_step(1);
  add(tally, report, limits);
  EXPECT_EQ(new_energy_rise(tally, report, limits), 0.0);
  report = sound_step(2);
  report.energies.elastic = 0.5;
  add(tally, report, limits);
  EXPECT_NEAR(new_energy_rise(tally, report, limits), 0.49 / 1.48, 1e-12);
  report.step = 3;
  add(tally, report, limits);
  EXPECT_EQ(new_energy_rise(tally, report, limits), 0.0);
}

TEST(Summary, a_step_misses_its_tolerance_by_either_solver_or_by_its_status) {
  RunLimits nonlinear = limits;
  nonlinear.nonlinear_residual = 1e-9;
  EXPECT_FALSE(missed_tolerance(sound_step(1), nonlinear));
  dynamics::StepReport report = sound_step(1);
  report.residual = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(missed_tolerance(report, limits));
  report = sound_step(1);
  report.solver_status = Status::stalled;
  EXPECT_TRUE(missed_tolerance(report, limits));
  report = sound_step(1);
  report.motion_status = Status::max_iterations;
  EXPECT_TRUE(missed_tolerance(report, limits)) << "a free motion that Newton did not solve";
  report = sound_step(1);
  report.nonlinear_residual = 1e-8;
  EXPECT_TRUE(missed_tolerance(report, nonlinear));
  EXPECT_FALSE(missed_tolerance(report, limits)) << "the semi-implicit scheme does not iterate on it";
}

TEST_F(SummaryFile, a_nan_stays_the_worst) {
  RunTally tally;
  for (int step = 1; step <= 3; ++step) {
    dynamics::StepReport report = sound_step(step);
    if (step == 2) report.residual = report.max_penetration = std::numeric_limits<double>::quiet_NaN();
    add(tally, report, limits);
  }
  EXPECT_EQ(tally.worst_residual_step, 2);
  EXPECT_EQ(tally.worst_penetration_step, 2);
  EXPECT_EQ(findings(tally, limits).size(), 2U);
  EXPECT_TRUE(written(folder, tally)["worst_residual"].is_null());
}

TEST(SummaryEnergy, work_done_on_the_fibres_may_raise_it) {
  RunTally tally;
  for (int step = 1; step <= 20; ++step) {
    dynamics::StepReport report = sound_step(step);
    report.work_external = 0.2 * step;
    report.energies.elastic = 0.19 * step;
    report.energies.gravity = 100.0;  // its zero is anyone's choice
    add(tally, report, limits);
  }
  EXPECT_TRUE(findings(tally, limits).empty());
  EXPECT_LT(tally.energy_scale, 10.0);
}

TEST_F(SummaryFile, missing_or_damaged_timings_count_as_zero) {
  EXPECT_EQ(read_timings(folder / "none.json").wall, 0.0);
  for (const char* text : {"", "{", "[]", "{\"wall_seconds\": \"x\", \"phases\": 3}", "7"}) {
    put_bytes(folder / "a.json", text);
    EXPECT_EQ(read_timings(folder / "a.json").wall, 0.0);
    EXPECT_EQ(read_timings(folder / "a.json").solve, 0.0);
  }
}

}  // namespace
}  // namespace tresse::io
