#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <tresse/base/errors.hpp>
#include <tresse/record/run.hpp>

#include "synthetic_run.hpp"

/// A run from its scene to its folder; that its bytes are those of `tresse run`, resumed or not, the Python tests
/// check.
namespace tresse::record {
namespace TRESSE_TEST_FILE {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

scene_file::SceneDocument hair(const std::string& more = "") {
  return scene_file::parse_scene_document(R"(
[simulation]
time_step = 1e-3
duration = 5e-3
[output]
every = 2
[[fibres]]
name = "hair"
material = "human-hair"
length = "5 cm"
elements = 3
radius = "50 um"
)" + more,
                                          "hair.toml");
}

/// Notes what it is told.
class Witness : public RunObserver {
 public:
  explicit Witness(std::int64_t stop_before) : stop_before_(stop_before) {}
  bool stop() override { return ++asked_ >= stop_before_; }
  void stepped(const dynamics::Stepper& /*stepper*/, const dynamics::StepReport& report) override {
    told.push_back("stepped " + std::to_string(report.step));
  }
  void recorded(const dynamics::Stepper& /*stepper*/, const dynamics::StepReport& report) override {
    told.push_back("recorded " + std::to_string(report.step));
  }
  std::vector<std::string> told;

 private:
  std::int64_t stop_before_;
  std::int64_t asked_ = 0;
};

class Run : public synthetic::FolderTest {
 protected:
  Outcome run(Witness& witness) {
    RunPlan plan = plan_run(hair());
    scene::Case built = scene::build(plan.scene);
    settle_overlaps(plan, built, {});
    const RunSettings settings = run_settings(plan, built.world, {folder, false, 1, "test"});
    RunRecorder recorder(settings);
    dynamics::Stepper stepper(std::move(built.world), built.options, std::move(built.state));
    record_start(plan, settings, stepper, recorder);
    const Outcome outcome = record_steps(plan, settings, stepper, recorder, witness);
    static_cast<void>(recorder.finish(outcome, stepper.state(), stepper.largest_overlap()));
    return outcome;
  }
};

TEST_F(Run, ToldStepByStep) {
  Witness witness(100);
  EXPECT_EQ(run(witness), Outcome::finished);
  EXPECT_EQ(witness.told.size(), 10U);
  EXPECT_EQ(witness.told.front(), "stepped 1");
  EXPECT_EQ(witness.told.back(), "recorded 5");
}

TEST_F(Run, StopsWhenAsked) {
  Witness witness(3);
  EXPECT_EQ(run(witness), Outcome::interrupted);
  EXPECT_THAT(witness.told, ElementsAre("stepped 1", "recorded 1", "stepped 2", "recorded 2"));
  // What was kept can be run by itself, one step of it.
  const RunPlan kept = plan_run(folder / "checkpoint.h5");
  ASSERT_TRUE(kept.start.has_value());
  EXPECT_EQ(kept.start->step, 2);
  EXPECT_EQ(kept.last_step, 3);
}

TEST(RunPlan, StepsOfATime) {
  const scene::Scene scene = hair().scene;
  EXPECT_EQ(step_at(scene, 0.01, "until"), 10);
  EXPECT_EQ(step_at(scene, 0.0, "until"), 0);
  for (const double time : {-1.0, std::numeric_limits<double>::quiet_NaN(), 1e300}) {
    EXPECT_THAT([&] { step_at(scene, time, "until"); }, ThrowsMessage<InvalidInput>(HasSubstr("until: found")));
  }
}

TEST(RunPlan, OverlapsAreRefusedPushedOutOrLeftOut) {
  RunPlan plan = plan_run(hair(R"(
[[obstacles]]
name = "bar"
shape = "cylinder"
center = ["4 cm", "-1 mm", 0]
axis = [0, 0, 1]
radius = "1 mm"
length = "2 cm"
[[fibres]]
name = "other"
material = "human-hair"
length = "1 cm"
elements = 1
radius = "50 um"
root = { position = [0, 0.1, 0] }
)"));
  scene::Case built = scene::build(plan.scene);
  EXPECT_THAT([&] { settle_overlaps(plan, built, {}); },
              ThrowsMessage<InvalidInput>(HasSubstr("at the start, the deepest of")));
  const std::string whole = plan.resolved;
  EXPECT_THAT(settle_overlaps(plan, built, {.push_out = true}), testing::IsEmpty());
  EXPECT_TRUE(scene::initial_overlaps(built).empty());
  EXPECT_EQ(plan.resolved, whole);
  built = scene::build(plan.scene);
  EXPECT_THAT(settle_overlaps(plan, built, {.leave_out = true}),
              ElementsAre(HasSubstr("fibre 0 of 'hair' is left out: at the start it overlaps obstacle 'bar'")));
  EXPECT_EQ(built.world.fibres.size(), 1U);
  EXPECT_THAT(plan.resolved, HasSubstr("\nleave_out = [0]\n"));
}

}  // namespace TRESSE_TEST_FILE
}  // namespace tresse::record
