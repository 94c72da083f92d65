#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include <tresse/observe/snapshot.hpp>
#include <tresse/observe/watch.hpp>
#include <tresse/scene/build.hpp>
#include <tresse/scene_file/scene_file.hpp>

/// Whole runs of rods that stretch: none may end by itself, and what is reported lies on the rod.
namespace tresse::record {
namespace TRESSE_TEST_FILE {

struct Seen {
  Vector3 force = Vector3::Zero();  ///< on the obstacle in the last step [N]
  double penetration = 0.0;         ///< deepest [m]
  double largest_residual = 0.0;
  observe::WatchTally tally{};
  std::string remark;   ///< the last
  double lowest = 0.0;  ///< point of the fibre at the end, z [m]

  bool told(observe::Trouble kind) const { return tally[static_cast<std::size_t>(kind)].told > 0; }
};

/// Steps to the end, with all that a run looks at on the way.
Seen run(const std::string& name, const scene_file::ParameterOverrides& set = {}) {
  const scene::Scene scene = scene_file::read_scene(std::string(TRESSE_TEST_DATA) + "/stretched_rods/" + name, set);
  scene::Case built = scene::build(scene);
  const observe::TrajectoryLayout layout = observe::snapshot_layout(scene, built.world, "", "");
  const auto steps = std::lround(scene.simulation.duration / scene.simulation.time_step);
  dynamics::Stepper stepper(std::move(built.world), built.options, std::move(built.state));
  Seen out;
  observe::Watch watch;
  for (int i = 0; i < steps; ++i) {
    const dynamics::StepReport report = stepper.step();
    EXPECT_TRUE(report.finite) << i;
    if (!report.finite) return out;
    for (const observe::Remark& remark : watch.look({.report = report,
                                         .contacts = stepper.contacts(),
                                         .before = stepper.previous_state(),
                                         .at = stepper.kinematics(),
                                         .dt = scene.simulation.time_step},
                                                    out.tally))
      out.remark = remark.message;
    for (const dynamics::ContactReport& contact : stepper.contacts()) {
      EXPECT_GE(contact.a.s, 0.0);
      EXPECT_LE(contact.a.s, stepper.kinematics().rod(0).length());
    }
    out.penetration = std::max(out.penetration, report.max_penetration);
    out.largest_residual = std::max(out.largest_residual, report.residual);
    out.force = report.obstacles[0].force;
    if (i % 10 == 0 || i + 1 == steps) (void)observe::snapshot(scene, stepper, report, layout);
  }
  const rods::Rod& rod = stepper.kinematics().rod(0);
  for (int i = 0; i <= rod.piece_count(); ++i)
    out.lowest = std::min(out.lowest, rod.section(rod.piece_begin(i)).position.z());
  return out;
}

TEST(StretchedRods, EndOnTheFloorCarriesTheAxialForce) {
  for (const char* edges : {"5", "10", "20"}) {
    const Seen seen = run("end_on.toml", {{"model", "discrete-elastic-rod"}, {"elements", edges}});
    EXPECT_NEAR(-seen.force.z(), 678.6, 0.7) << edges;
    EXPECT_FALSE(seen.told(observe::Trouble::jammed));
    EXPECT_LT(seen.penetration, 1e-6);
  }
}

TEST(StretchedRods, EndOnAnInextensibleRodIsTold) {
  const Seen seen = run("end_on.toml");
  EXPECT_TRUE(seen.told(observe::Trouble::jammed));
  EXPECT_FALSE(seen.told(observe::Trouble::penetration)) << "with advice that would not help";
  EXPECT_FALSE(seen.told(observe::Trouble::cut_steps));
  EXPECT_NE(seen.remark.find("cannot give way along its axis"), std::string::npos) << seen.remark;
  EXPECT_LT(seen.largest_residual, 1e-9);
}

TEST(StretchedRods, ABarIsHeldAnywhereOnAString) {
  for (const char* x : {"0.28", "0.07", "0.31", "0.452", "0.55", "0.57", "0.59"}) {
    const Seen seen = run("stretched_string.toml", {{"x", x}});
    // The bar's axis ends 30 mm below the string's line.
    EXPECT_LT(seen.lowest, -0.015) << x;
    EXPECT_GT(seen.force.z(), 1e-3) << x << ": it went through";
    EXPECT_LT(seen.penetration, 1e-4) << x;
  }
}

TEST(StretchedRods, OneEdgeFoundBySegmentsRunsToItsEnd) {
  const Seen seen = run("segments_of_one_edge.toml");
  EXPECT_LT(seen.penetration, 1e-3);
}

}  // namespace TRESSE_TEST_FILE
}  // namespace tresse::record
