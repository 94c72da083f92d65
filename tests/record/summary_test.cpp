#include <tresse/record/summary.hpp>

#include <limits>
#include <nlohmann/json.hpp>

#include "record/synthetic_run.hpp"

namespace tresse::record {
namespace TRESSE_TEST_FILE {

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

/// Before the first step.
RunTally opened() {
  RunTally out;
  begin(out, sound_step(0).energies, 0.0);
  return out;
}

nlohmann::json written(const std::filesystem::path& folder, const RunTally& tally) {
  write_summary(folder / "summary.json", {.version = "1.2",
                                          .threads = 2,
                                          .time_step = 0.5,
                                          .status = "finished",
                                          .tally = tally,
                                          .obstacles = {{"comb", 4, 6.0, 2.5, 0.5}},
                                          .holds = {{"end", 2, 1.0, 0.75, 1.0}},
                                          .roots = {{"hair", 2, 3.0, 2.0, 0.5}},
                                          .timings = {.wall = 7.5, .solve = 2.5},
                                          .limits = limits,
                                          .failures = {}});
  return nlohmann::json::parse(bytes_of(folder / "summary.json"));
}

TEST_F(SummaryFile, sound_run) {
  RunTally tally = opened();
  for (int step = 1; step <= 4; ++step) add(tally, sound_step(step), limits);
  const auto json = written(folder, tally);
  EXPECT_EQ(json["verdict"], "sound");
  EXPECT_EQ(json["severity"], "none");
  EXPECT_EQ(json["version"], "1.2");
  EXPECT_EQ(json["threads"], 2);
  EXPECT_EQ(json["steps"], 4);
  EXPECT_EQ(json["time_step"], 0.5);
  EXPECT_EQ(json["simulated_seconds"], 2.0);
  EXPECT_EQ(json["wall_seconds"], 7.5);
  EXPECT_EQ(json["phases"]["solve"], 2.5);
  EXPECT_EQ(json["contacts"]["mean"], 2.5);
  EXPECT_EQ(json["contacts"]["max"], 4);
  EXPECT_EQ(json["obstacles"].dump(), R"([{"max_force":2.5,"max_force_time":0.5,"mean_force":1.5,"name":"comb"}])");
  EXPECT_EQ(json["roots"].dump(), R"([{"max_force":2.0,"max_force_time":0.5,"mean_force":1.5,"name":"hair"}])");
  EXPECT_EQ(json["holds"].dump(), R"([{"max_force":0.75,"max_force_time":1.0,"mean_force":0.5,"name":"end"}])");
  EXPECT_EQ(json["worst_residual"], 1e-12);
  EXPECT_EQ(json["missed_tolerance_steps"], 0);
  EXPECT_EQ(json["worst_penetration"], 1e-6);
  EXPECT_GT(json["peak_memory_bytes"], 1 << 20);
  EXPECT_EQ(
      sentence(tally, findings(tally, limits)),
      "Sound: 4 steps, every friction problem solved (worst residual 1e-12), deepest penetration 1e-06 m, nothing "
      "passed through (no gap below 0 m at any time).");
  EXPECT_EQ(read_timings(folder / "summary.json").wall, 7.5);
  EXPECT_EQ(read_timings(folder / "summary.json").solve, 2.5);
}

TEST_F(SummaryFile, every_flaw_is_listed_with_its_worst_step) {
  RunTally tally = opened();
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
  RunTally tally = opened();
  for (int step = 1; step <= 4; ++step) add(tally, sound_step(step), limits);
  EXPECT_TRUE(written(folder, tally)["remarks"].empty());
  tally.watch[static_cast<std::size_t>(observe::Trouble::contact_lost)] = {3, 2, 4, 1, 1, 5.5, 3};
  tally.watch[static_cast<std::size_t>(observe::Trouble::cut_steps)] = {1, 4, 4, 1, 0, 2.0, 4};  // nothing to tell yet
  const auto json = written(folder, tally);
  EXPECT_EQ(json["verdict"], "sound");
  EXPECT_EQ(json["remarks"].size(), 2U);
  EXPECT_EQ(json["remarks"]["contact-lost"],
            nlohmann::json({{"steps", 3}, {"first_step", 2}, {"last_step", 4}, {"worst", 5.5}, {"worst_step", 3}}));
  const std::string words = json["sentence"];
  EXPECT_TRUE(words.ends_with(" Remarked: contact-lost in 3 steps, the first 2; see remarks.csv.")) << words;
}

TEST_F(SummaryFile, a_held_point_that_is_off_is_not_sound) {
  RunTally tally = opened();
  for (int step = 1; step <= 4; ++step) add(tally, sound_step(step), limits);
  tally.watch[static_cast<std::size_t>(observe::Trouble::hold_missed)] = {2, 3, 4, 2, 1, 1.5, 4};
  const auto json = written(folder, tally);
  ASSERT_EQ(json["verdict"].size(), 1U);
  EXPECT_EQ(json["verdict"][0]["what"], "hold");
  EXPECT_EQ(json["verdict"][0]["step"], 4);
  EXPECT_EQ(json["verdict"][0]["steps"], 2);
  EXPECT_TRUE(sentence(tally, findings(tally, limits)).starts_with("Not sound: "));
}

TEST(SummaryEnergy, a_rise_is_new_in_the_step_that_raised_it) {
  RunTally tally = opened();
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
  RunTally tally = opened();
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

TEST(SummaryEnergy, the_first_step_has_what_was_there_before_it) {
  RunTally tally = opened();
  dynamics::StepReport report = sound_step(1);
  report.energies.kinetic = 14.6;
  add(tally, report, limits);
  ASSERT_EQ(findings(tally, limits).size(), 1U);
  EXPECT_EQ(findings(tally, limits)[0].what, "energy");
  EXPECT_EQ(findings(tally, limits)[0].step, 1);
}

TEST(SummaryEnergy, an_infinite_one_hides_no_rise) {
  RunTally tally = opened();
  dynamics::StepReport report = sound_step(1);
  report.energies.kinetic = std::numeric_limits<double>::infinity();
  add(tally, report, limits);
  add(tally, sound_step(2), limits);
  ASSERT_EQ(findings(tally, limits).size(), 1U);
  EXPECT_EQ(findings(tally, limits)[0].what, "energy");
  EXPECT_EQ(findings(tally, limits)[0].severity, Severity::serious);
}

TEST(SummaryEnergy, a_rise_of_next_to_nothing_is_none) {
  RunLimits of_bodies_at_rest = limits;
  of_bodies_at_rest.little_energy = 1e-6;
  RunTally tally;
  begin(tally, {.gravity = 3.0}, 0.0);
  dynamics::StepReport report = sound_step(1);
  report.energies = {.kinetic = 1e-13, .gravity = 3.0};
  report.energy_excess = 1e-13;
  add(tally, report, limits);
  EXPECT_EQ(findings(tally, limits).size(), 1U) << "without a floor";
  EXPECT_TRUE(findings(tally, of_bodies_at_rest).empty());
  EXPECT_EQ(new_energy_rise(tally, report, of_bodies_at_rest), 0.0);
}

TEST(SummaryEnergy, what_came_from_nothing_is_never_sound) {
  RunTally tally = opened();
  dynamics::StepReport report = sound_step(1);
  report.energy_excess = 2e-6;  // of an energy of 1 that falls all the same
  add(tally, report, limits);
  EXPECT_NEAR(new_energy_rise(tally, report, limits), 2e-6, 1e-12);
  add(tally, sound_step(2), limits);
  ASSERT_EQ(findings(tally, limits).size(), 1U);
  EXPECT_EQ(findings(tally, limits)[0].severity, Severity::slight);
  report.step = 3;
  report.energy_excess = 0.1;
  add(tally, report, limits);
  EXPECT_EQ(findings(tally, limits)[0].severity, Severity::serious);
}

TEST_F(SummaryFile, a_tolerance_just_missed_is_told_apart_from_a_ruin) {
  const auto judged = [&](auto change) {
    RunTally tally = opened();
    dynamics::StepReport report = sound_step(1);
    change(tally, report);
    add(tally, report, limits);
    const auto json = written(folder, tally);
    const std::string words = json["sentence"];
    return std::pair(json["severity"].get<std::string>(), words.substr(0, words.find(':')));
  };
  const std::pair<std::string, std::string> sound{"none", "Sound"}, slight{"slight", "Nearly sound"},
      serious{"serious", "Not sound"};
  const auto residual = [](double value) { return [value](RunTally&, auto& report) { report.residual = value; }; };
  EXPECT_EQ(judged(residual(1e-11)), sound);
  EXPECT_EQ(judged(residual(1e-9)), slight);
  EXPECT_EQ(judged(residual(1e-3)), serious);
  EXPECT_EQ(judged(residual(std::numeric_limits<double>::quiet_NaN())), serious);
  const auto overlap = [](double value) {
    return [value](RunTally&, auto& report) { report.max_penetration = value; };
  };
  EXPECT_EQ(judged(overlap(2e-5)), slight);
  EXPECT_EQ(judged(overlap(2e-4)), serious);
  const auto held = [](double worst) {
    return [worst](RunTally& tally, auto&) {
      tally.watch[static_cast<std::size_t>(observe::Trouble::hold_missed)] = {1, 1, 1, 1, 1, worst, 1};
    };
  };
  EXPECT_EQ(judged(held(0.2)), slight);
  EXPECT_EQ(judged(held(20.0)), serious);
  const auto unsolved = [](RunTally& tally, auto& report) {
    report.motion_status = Status::max_iterations;
    tally.watch[static_cast<std::size_t>(observe::Trouble::motion_unsolved)].steps = 1;
  };
  EXPECT_EQ(judged(unsolved), serious);
  const auto through = [](RunTally& tally, auto&) {
    tally.watch[static_cast<std::size_t>(observe::Trouble::passed_through)] = {1, 1, 1, 1, 1, 2.0, 1};
  };
  EXPECT_EQ(judged(through), serious);
  const auto touched = [](RunTally& tally, auto&) {
    tally.watch[static_cast<std::size_t>(observe::Trouble::touched)] = {1, 1, 1, 1, 1, 1.0, 1};
  };
  EXPECT_EQ(judged(touched), serious);
}

TEST(SummaryGrains, are_judged_apart_from_the_bodies) {
  RunLimits asked = limits;
  asked.grain_residual = 1e-9;
  RunTally tally = opened();
  const auto step = [&](std::int64_t number, double bodies, double grains, Status status = Status::converged) {
    dynamics::StepReport report = sound_step(number);
    report.residual = bodies;
    report.grains.emplace();
    report.grains->status = status;
    report.grains->residual = grains;
    add(tally, report, asked);
    return missed_tolerance(report, asked);
  };
  EXPECT_FALSE(step(1, 1e-11, 1e-10));
  EXPECT_TRUE(findings(tally, asked).empty());
  EXPECT_TRUE(step(2, 1e-11, 5e-8));
  EXPECT_TRUE(step(3, 1e-11, 5e-10, Status::stalled));
  ASSERT_EQ(findings(tally, asked).size(), 1U);
  const Finding found = findings(tally, asked)[0];
  EXPECT_EQ(found.what, "grains");
  EXPECT_EQ(found.step, 2);
  EXPECT_EQ(found.steps, 2);
  EXPECT_EQ(found.severity, Severity::slight);
  EXPECT_EQ(
      sentence(tally, findings(tally, asked)),
      "Nearly sound: 2 steps left the flow of the grains unsolved; worst residual 5e-08 at step 2 (limit 1e-09).");
  EXPECT_TRUE(step(4, 1e-9, 5e-6));
  ASSERT_EQ(findings(tally, asked).size(), 2U);
  EXPECT_EQ(findings(tally, asked)[0].what, "residual");
  EXPECT_EQ(findings(tally, asked)[0].steps, 1);
  EXPECT_EQ(findings(tally, asked)[1].steps, 3);
  EXPECT_EQ(findings(tally, asked)[1].severity, Severity::serious);
  EXPECT_EQ(tally.missed_steps, 3);
}

TEST(SummaryCloth, is_judged_apart_from_the_bodies) {
  RunLimits asked = limits;
  asked.cloth_residual = 1e-10;
  RunTally tally = opened();
  const auto step = [&](std::int64_t number, double bodies, double first, double second) {
    dynamics::StepReport report = sound_step(number);
    report.residual = bodies;
    report.cloths.resize(2);
    report.cloths[0].residual = first;
    report.cloths[1].residual = second;
    add(tally, report, asked);
    return missed_tolerance(report, asked);
  };
  EXPECT_FALSE(step(1, 1e-11, 1e-11, 9e-11));
  EXPECT_TRUE(findings(tally, asked).empty());
  EXPECT_NE(sentence(tally, {}).find("The motion of cloth was solved (worst residual 9e-11)."), std::string::npos);
  EXPECT_TRUE(step(2, 1e-11, 1e-11, 2e-9));
  ASSERT_EQ(findings(tally, asked).size(), 1U);
  EXPECT_EQ(findings(tally, asked)[0].severity, Severity::slight);
  EXPECT_EQ(sentence(tally, findings(tally, asked)),
            "Nearly sound: 1 step left the motion of a cloth unsolved; worst residual 2e-09 at step 2 (limit 1e-10).");
  EXPECT_TRUE(step(3, 1e-9, 1e-5, 1e-11));
  ASSERT_EQ(findings(tally, asked).size(), 2U);
  EXPECT_EQ(findings(tally, asked)[0].what, "residual");
  EXPECT_EQ(findings(tally, asked)[0].steps, 1);
  EXPECT_EQ(findings(tally, asked)[1].what, "cloth");
  EXPECT_EQ(findings(tally, asked)[1].steps, 2);
  EXPECT_EQ(findings(tally, asked)[1].severity, Severity::serious);
}

TEST_F(SummaryFile, a_run_under_way_has_no_verdict) {
  RunTally tally = opened();
  add(tally, sound_step(1), limits);
  write_summary(folder / "summary.json", {.version = "1",
                                          .threads = 1,
                                          .status = "running",
                                          .tally = tally,
                                          .obstacles = {},
                                          .holds = {},
                                          .roots = {},
                                          .timings = {},
                                          .limits = limits,
                                          .failures = {}});
  const auto json = nlohmann::json::parse(bytes_of(folder / "summary.json"));
  EXPECT_TRUE(json["verdict"].is_null());
  EXPECT_TRUE(json["severity"].is_null());
  EXPECT_EQ(json["sentence"], "Running: 1 step so far.");
}

TEST(SummaryEnergy, work_done_on_the_fibres_may_raise_it) {
  RunTally tally = opened();
  begin(tally, {.kinetic = 1.0, .gravity = 100.0}, 0.0);
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

}  // namespace TRESSE_TEST_FILE
}  // namespace tresse::record
