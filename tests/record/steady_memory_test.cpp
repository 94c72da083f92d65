#include <malloc.h>

#include <gtest/gtest.h>

#include <tresse/observe/snapshot.hpp>
#include <tresse/record/run_recorder.hpp>
#include <tresse/scene/build.hpp>
#include <tresse/scene_file/scene_file.hpp>

#include "record/synthetic_run.hpp"

namespace tresse::record {
namespace TRESSE_TEST_FILE {

using namespace synthetic;

class SteadyMemory : public FolderTest {};

/// Bytes that the program holds of its heap.
double held() { return static_cast<double>(mallinfo2().uordblks + mallinfo2().hblkhd); }

/// A fibre that lies on a floor, run as the program runs it: nothing may be kept of a step, little of a frame.
TEST_F(SteadyMemory, nothing_grows_with_the_number_of_steps) {
  if (held() == 0.0) GTEST_SKIP() << "this build's allocator does not tell what it holds";
  const std::string text = R"(
simulation = { time_step = 1e-3, duration = 100 }
output = { every = 50, checkpoint_every = 100 }
[[fibres]]
name = "hair"
material = "nylon"
length = "2 cm"
elements = 2
radius = "0.1 mm"
root = { condition = "free" }
[[obstacles]]
name = "floor"
shape = "plane"
point = [0, 0, -0.000105]
normal = [0, 0, 1]
)";
  const scene::Scene scene = scene_file::parse_scene(text, "floor.toml", {});
  scene::Case built = scene::build(scene);
  RunSettings settings{
      .folder = folder, .layout = observe::snapshot_layout(scene, built.world, text, "test"), .output = scene.output};
  settings.limits.penetration = 1e-5;
  settings.checkpoint_pause = std::chrono::milliseconds(0);
  settings.checkpoint_share = 0;
  RunRecorder recorder(settings);
  dynamics::Stepper stepper(std::move(built.world), built.options, std::move(built.state));
  recorder.record_frame(snapshot(scene, stepper, {}, settings.layout));
  recorder.checkpoint(stepper.state());
  int contacts = 0;
  const auto advance = [&](int steps) {
    for (int i = 0; i < steps; ++i) {
      const dynamics::StepReport report = stepper.step();
      contacts += report.contacts;
      recorder.record(report);
      recorder.watch(stepper, report);
      if (recorder.frame_due(report.step)) recorder.record_frame(snapshot(scene, stepper, report, settings.layout));
      if (recorder.checkpoint_due(report.step)) recorder.checkpoint(stepper.state());
    }
  };
  advance(1000);
  const double before = held();
  constexpr int steps = 5000;
  advance(steps);
  const double growth = (held() - before) / steps;
  RecordProperty("bytes_a_step", std::to_string(growth));
  constexpr double least_leak = 4.0;  // half a number a step
  EXPECT_LT(growth, least_leak);
  EXPECT_GT(contacts, steps);
}

}  // namespace TRESSE_TEST_FILE
}  // namespace tresse::record
