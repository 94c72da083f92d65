#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <string>
#include <tuple>
#include <vector>

#include <tresse/base/errors.hpp>
#include <tresse/scene_file/scene_file.hpp>

#include "scene_file/shipped_scenes.hpp"

namespace tresse::scene_file {
namespace TRESSE_TEST_FILE {

/// Every field, by the text that names every field: two scenes that write alike are alike.
void expect_round_trip(const SceneDocument& document) {
  const std::string written = write_resolved(document);
  const scene::Scene again = parse_scene(written, "written.toml");
  EXPECT_EQ(write_resolved(again, document.parameters), written);
  ASSERT_EQ(again.fibres.size(), document.scene.fibres.size());
  for (std::size_t i = 0; i < again.fibres.size(); ++i) {
    const scene::FibreGroup &a = again.fibres[i], &b = document.scene.fibres[i];
    EXPECT_EQ(a.element_lengths, b.element_lengths);
    EXPECT_EQ(a.natural_curvature, b.natural_curvature);
    EXPECT_EQ(a.initial_curvature, b.initial_curvature);
    EXPECT_EQ(a.root.frame, b.root.frame);
    EXPECT_EQ(a.root.at, b.root.at);
    EXPECT_EQ(a.root.roll_step, b.root.roll_step);
    EXPECT_EQ(a.grid.axis_1, b.grid.axis_1);
    EXPECT_EQ(a.cap.has_value(), b.cap.has_value());
    EXPECT_EQ(a.root.reference, b.root.reference);
    EXPECT_EQ(a.root.embedded_in, b.root.embedded_in);
    EXPECT_EQ(a.material.density, b.material.density);
  }
  EXPECT_EQ(again.friction.pairs, document.scene.friction.pairs);
  EXPECT_EQ(again.simulation.gravity, document.scene.simulation.gravity);
}

/// A scene that uses every key.
const std::string kEverything = R"(
title = "Everything, ${count} \"fibres\" é"
[parameters]
count = 5      # of fibres
length = "12.3 cm"
# Turns the root;
# in degrees.
angle = 17.3
kind = "smooth"
own = false    # self contact
[simulation]
time_step = "0.7 ms"
duration = "1 min / 7"
gravity = [0.1, "0.2 m/s^2", -9.7]
wind = { mean = [1, 0, 0], gust = [0, "3 m/s", 0.1], period = "1 s / 3" }
seed = 12345678901
scheme = "nonlinear"
theta = 0.75
nonlinear_tolerance = 1e-9
max_nonlinear_iterations = 7
[contact]
detection = "branch-and-bound"
tolerance = "1 nm"
proxy_segments = 33
stations = 2
margin = "3 um"
push_out_speed = "1 cm/s"
self_contact = "${own}"
fibre_contact = true
relinearisations = 2
[solver]
name = "cadoux"
tolerance = 1e-7
max_iterations = 17
[output]
every = 3
checkpoint_every = 4
points_per_element = 5
[statics]
tolerance = 1e-8
max_iterations = 9
load_steps = 4
[materials.'odd "name"']
preset = "wool"
damping_time = "1 ms"
[friction]
default = 0.2
pairs = [{ between = ['odd "name"', "steel"], coefficient = 0.3 }, { between = ["nylon", "steel"], coefficient = 0.4 }]
[[fibres]]
name = "ribbon"
model = "super-clothoid"
material = 'odd "name"'
element_lengths = ["${length}", "${length} / 3", 0.01]
section = { half_axis_1 = ["1 mm", "0.9 mm", "0.7 mm"], half_axis_2 = "0.1 mm" }
natural_curvature = [[0.1, 0.2, 0.3], [1, 2, 3], [0, "(1/3) 1/cm", 0]]
initial_curvature = [0, 0, 1]
initial_curvature_rate = 0.5
root = { position = [0, 1, 2], tangent = [1, 2, 3], normal = [0, 0.3, 1], pitch_deg = "${angle}", yaw_deg = 5, roll_deg = "0.1 rad", motion = { keyframes = [{ time = 0 }, { time = 1, displacement = [0.1, 0, 0], rotation_deg = [0, 0, 30] }], interpolation = "${kind}", velocity = [0, 0, "1 mm/s"], angular_velocity = ["1 turn/min", 0, 0], start = 0.5, stop = 2 } }
grid = { count = "${count}", spacing = "1 mm", jitter = "0.3 mm", twist_deg = 20, axis_1 = [1, 1, 0], axis_2 = [0, 1, 3] }
drag = "1 mN s/m^2"
leave_out = [0, "${count} - 2"]
[[fibres]]
name = "loose"
model = "discrete-elastic-rod"
material = "nylon"
length = 0.1
elements = 3
radius = [1e-3, 1e-3, 2e-3]
root = { condition = "free", velocity = [1, 2, 3], angular_velocity = [0, 0, 7] }
[[fibres]]
name = "head"
material = "nylon"
length = 0.1
elements = 2
radius = 1e-3
cap = { count = "${count} + 1", radius = "9 cm", center = [1, 2, 3], axis = [0, 1, 1], angle_deg = 70, jitter = "1 mm", twist_deg = 90 }
root = { position = ["1 mm", 0, 0], tangent = [1, 0.2, 0], reference = [1, "2 cm", 3], embedded_in = "ball", motion = { angular_velocity = [0, 0, 1] } }
[[fibres]]
name = "side \"1\""
material = "nylon"
length = 0.1
elements = 3
radius = 1e-3
root = { parent = "ribbon", at = [0, "${length} / 7", "${length} * 4 / 3 + 0.01"], position = [0, "1 mm", 0], tangent = [1, 2, 3], roll_deg = 33, roll_step_deg = 137.5 }
[[fibres]]
name = "twig"
model = "super-clothoid"
material = "nylon"
length = 0.1
elements = 2
radius = 1e-3
root = { parent = 'side "1"', at = 0.05, roll_step = 0.1 }
[[obstacles]]
name = "floor"
material = "steel"
shape = "plane"
point = [0, 0, -1]
normal = [0, 0.1, 1]
[[obstacles]]
name = "ball"
material = "steel"
shape = "sphere"
center = [0, 0, 0]
radius = 0.1
[[obstacles]]
name = "rod"
shape = "capsule"
from = [0, 0, 0]
to = [1, 0, 0]
radius = 0.1
reference = [1, 2, 3]
[[obstacles]]
name = "drum"
shape = "cylinder"
center = [0, 0, 0]
axis = [1, 1, 1]
radius = 0.1
length = 2
motion = { angular_velocity = [1, 1, 1] }
[[obstacles]]
name = "comb"
shape = "comb"
base = [0, 0, 0]
tooth_direction = [1, 0, 0]
row_direction = [0, 1, 0]
teeth = 3
tooth_diameter = 0.001
tooth_spacing = 0.002
tooth_length = 0.03
handle_diameter = 0.004
)";

TEST(SceneFile, ReadsEveryKey) {
  const scene::Scene s = parse_scene(kEverything, "everything.toml");
  EXPECT_EQ(s.title, "Everything, 5 \"fibres\" é");
  EXPECT_EQ(s.simulation.seed, 12345678901U);
  EXPECT_EQ(s.simulation.time_step, 7e-4);
  EXPECT_DOUBLE_EQ(s.simulation.duration, 60.0 / 7.0);
  EXPECT_EQ(s.simulation.scheme, dynamics::Scheme::nonlinear);
  EXPECT_EQ(s.simulation.theta, 0.75);
  EXPECT_EQ(s.contact.tolerance, 1e-9);
  EXPECT_FALSE(s.contact.self_contact);
  EXPECT_EQ(s.contact.relinearisations, 2);
  EXPECT_EQ(s.solver.name, friction::Solver::cadoux);
  EXPECT_EQ(s.statics.load_steps, 4);
  EXPECT_EQ(s.friction.coefficient("steel", "nylon"), 0.4);
  EXPECT_EQ(s.friction.coefficient("odd \"name\"", "steel"), 0.3);
  EXPECT_EQ(s.friction.coefficient("nylon", "rod"), 0.2);
  ASSERT_EQ(s.fibres.size(), 5U);
  const scene::FibreGroup& ribbon = s.fibres[0];
  EXPECT_EQ(ribbon.element_lengths[0], 0.123);
  EXPECT_EQ(ribbon.sections[1].half_axis_1, 0.9e-3);
  EXPECT_EQ(ribbon.leave_out, (std::vector<int>{0, 3}));
  EXPECT_EQ(ribbon.sections[2].half_axis_2, 0.1e-3);
  // Three triplets, one an element, for a super-clothoid: its nodes have the neighbours' means, weighted by length.
  ASSERT_EQ(ribbon.natural_curvature.size(), 4U);
  const double l1 = ribbon.element_lengths[1];
  const double l2 = ribbon.element_lengths[2];
  EXPECT_DOUBLE_EQ(ribbon.natural_curvature[2].y(), (l1 * 2.0 + l2 * 100.0 / 3.0) / (l1 + l2));
  EXPECT_DOUBLE_EQ(ribbon.natural_curvature[3].y(), 100.0 / 3.0);
  EXPECT_EQ(ribbon.initial_curvature[2], Vector3(0, 0, 1));
  EXPECT_EQ(ribbon.initial_curvature_rate[0], Vector3(0, 0, 0.5));
  EXPECT_EQ(ribbon.material.young_modulus, 3e9);
  EXPECT_EQ(ribbon.material.damping_time, 1e-3);
  EXPECT_EQ(ribbon.root.motion.interpolation, bodies::Motion::Interpolation::smooth);
  EXPECT_NEAR(ribbon.root.motion.keyframes[1].rotation.z(), std::acos(-1.0) / 6, 1e-15);
  EXPECT_EQ(ribbon.grid.count, 5);
  EXPECT_EQ(ribbon.drag, 1e-3);
  const scene::FibreGroup& loose = s.fibres[1];
  EXPECT_EQ(loose.root.condition, rods::RootCondition::free);
  EXPECT_EQ(loose.root.angular_velocity, Vector3(0, 0, 7));
  EXPECT_EQ(loose.sections[2].half_axis_1, 2e-3);
  const scene::FibreGroup& head = s.fibres[2];
  ASSERT_TRUE(head.cap.has_value());
  EXPECT_EQ(head.cap->count, 6);
  EXPECT_EQ(head.cap->center, Vector3(1, 2, 3));
  EXPECT_NEAR(head.cap->angle, 70.0 / 180 * std::acos(-1.0), 1e-15);
  EXPECT_EQ(head.root.reference, Vector3(1, 0.02, 3));
  const scene::Root& side = s.fibres[3].root;
  EXPECT_EQ(side.condition, rods::RootCondition::carried);
  EXPECT_EQ(side.parent, "ribbon");
  ASSERT_EQ(side.at.size(), 3U);
  EXPECT_DOUBLE_EQ(side.at[1], 0.123 / 7);
  EXPECT_EQ(side.position, Vector3(0, 1e-3, 0));
  EXPECT_NEAR(side.roll_step, 137.5 / 180 * std::acos(-1.0), 1e-15);
  EXPECT_EQ(scene::fibre_counts(s.fibres), (std::vector<double>{5, 1, 6, 15, 15}));
  EXPECT_EQ(s.simulation.wind.gust, Vector3(0, 3, 0.1));
  EXPECT_DOUBLE_EQ(s.simulation.wind.period, 1.0 / 3.0);
  EXPECT_EQ(s.obstacles.size(), 5U);
  EXPECT_EQ(obstacle(s, "rod").reference, Vector3(1, 2, 3));
  EXPECT_EQ(obstacle(s, "rod").material_name, "rod");
  EXPECT_EQ(std::get<bodies::Comb>(obstacle(s, "comb").shape).teeth, 3);
}

TEST(SceneFile, RoundTripsBitForBit) {
  expect_round_trip(parse_scene_document(kEverything, "everything.toml"));
  for (const char* name :
       {"three_point_bending", "comb", "cantilever", "inclined_plane", "willow", "swing", "curly_unwinding", "ribbon",
        "parchment", "long_rod", "twining_plant", "twining_plant_3d", "perversion", "head"}) {
    expect_round_trip(read_scene_document(kScenes / (std::string(name) + ".toml")));
  }
}

TEST(SceneFile, AMaterialWithoutANameRoundTrips) {
  expect_round_trip(parse_scene_document(R"(
[materials.""]
preset = "wool"
[friction]
pairs = [{ between = ["", ""], coefficient = 0.3 }]
[[fibres]]
name = "hair"
material = ""
length = 0.1
elements = 2
radius = 1e-3
)",
                                         "unnamed.toml"));
}

TEST(SceneFile, ReadsKindsOfFrictionAndWritesThem) {
  const auto document = [](const std::string& friction) {
    return parse_scene_document(R"(
[friction]
default = 0.5
pairs = [{ between = ["wool", "floor"], coefficient = 0.4 }]
[friction_kinetic]
default = 0.45
pairs = [{ between = ["wool", "wool"], coefficient = 0.1 }]
[restitution]
pairs = [{ between = ["wool", "floor"], coefficient = 0.3 }]
[contact]
restitution_threshold = "2 cm/s"
[[fibres]]
name = "hair"
material = "wool"
length = 0.1
elements = 2
radius = 1e-3
friction = )" + friction + R"(
[[obstacles]]
name = "floor"
shape = "plane"
point = [0, 0, -1]
normal = [0, 0, 1]
)",
                                "kinds.toml");
  };
  const SceneDocument regions =
      document("[{ to = \"8 cm\", friction = 0.2 }, { friction = 0.6, friction_kinetic = 0.5 }]");
  expect_round_trip(regions);
  const scene::Scene& s = regions.scene;
  EXPECT_EQ(s.friction_kinetic.coefficient("wool", "wool", 0.5), 0.1);
  EXPECT_EQ(s.friction_kinetic.coefficient("wool", "floor", 0.4), 0.4);  // never above what sticks
  EXPECT_EQ(s.friction_kinetic.coefficient("floor", "floor", 0.5), 0.45);
  EXPECT_EQ(s.restitution.coefficient("floor", "wool"), 0.3);
  EXPECT_EQ(s.restitution.coefficient("wool", "wool"), 0.0);
  EXPECT_EQ(s.contact.restitution_threshold, 0.02);
  ASSERT_EQ(s.fibres[0].friction.size(), 2U);
  EXPECT_EQ(s.fibres[0].friction[0].to, 0.08);
  EXPECT_EQ(s.fibres[0].friction[0].kinetic, std::nullopt);
  EXPECT_EQ(s.fibres[0].friction[1].to, std::nullopt);
  EXPECT_EQ(s.fibres[0].friction[1].kinetic, 0.5);
  const scene::Scene again = parse_scene(write_resolved(regions), "again.toml");
  EXPECT_EQ(again.friction_kinetic.pairs, s.friction_kinetic.pairs);
  EXPECT_EQ(again.restitution.pairs, s.restitution.pairs);
  EXPECT_EQ(again.fibres[0].friction[0].to, 0.08);
  const SceneDocument parts = document("[0.1, 0.2, 0.3]");
  expect_round_trip(parts);
  ASSERT_EQ(parts.scene.fibres[0].friction.size(), 3U);
  EXPECT_EQ(parts.scene.fibres[0].friction[2].friction, 0.3);
  try {
    document("0.3");
    ADD_FAILURE();
  } catch (const InvalidInput& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("fibres.hair.friction is 0.3; expected an array of coefficients"));
  }
}

TEST(SceneFile, ListsParametersWithTheirComments) {
  const SceneDocument document = parse_scene_document(kEverything, "everything.toml", {{"count", "7"}});
  ASSERT_EQ(document.parameters.size(), 5U);
  EXPECT_EQ(document.parameters[0].name, "count");
  EXPECT_EQ(document.parameters[0].value, "7");
  EXPECT_EQ(document.parameters[0].file_value, "5");
  EXPECT_TRUE(document.parameters[0].overridden);
  EXPECT_EQ(document.parameters[0].description, "of fibres");
  EXPECT_EQ(document.parameters[1].resolved, "0.123");
  EXPECT_EQ(document.parameters[1].unit, "m");
  EXPECT_EQ(document.parameters[2].description, "Turns the root; in degrees.");
}

TEST(SceneFile, SaysWhereANumberCameFrom) {
  const SceneDocument document = parse_scene_document(kEverything, "everything.toml");
  const auto found = std::find_if(document.origins.begin(), document.origins.end(), [](const Origin& origin) {
    return origin.path == "fibres.ribbon.element_lengths[1]";
  });
  ASSERT_NE(found, document.origins.end());
  EXPECT_EQ(found->written, "${length} / 3");
  EXPECT_EQ(found->unit, "m");
  EXPECT_DOUBLE_EQ(found->value, 0.041);
  EXPECT_GT(found->location.line, 1);
}

TEST(SceneFile, StretchesFollowEachOther) {
  const auto read = [](const std::string& model, const std::string& more) {
    return parse_scene_document(R"(
[parameters]
half = 4
[[fibres]]
name = "hook"
material = "nylon"
radius = [1e-3, 1e-3, 1e-3, 1e-3, 1e-3, 1e-3, 5e-4]
stretches = [
    { length = "10 cm", elements = 2 },
    { length = "20 cm", elements = "${half}", curvature = "5 1/m" },
    { length = "3 cm", elements = 1, curvature = [0.1, 0.2, "(1/10) 1/cm"] },
]
model = ")" + model + "\"\n" + more,
                                "hook.toml");
  };
  const SceneDocument document = read("super-helix", "");
  expect_round_trip(document);
  const scene::FibreGroup& hook = document.scene.fibres[0];
  EXPECT_EQ(hook.element_lengths, (std::vector<double>{0.05, 0.05, 0.05, 0.05, 0.05, 0.05, 0.03}));
  const Vector3 bend(0, 0, 5), last(0.1, 0.2, 10);
  EXPECT_EQ(hook.natural_curvature,
            (std::vector<Vector3>{Vector3::Zero(), Vector3::Zero(), bend, bend, bend, bend, last}));
  EXPECT_EQ(hook.initial_curvature, hook.natural_curvature);
  EXPECT_EQ(hook.sections[6].half_axis_1, 5e-4);
  EXPECT_EQ(write_resolved(document).find("stretches"), std::string::npos);

  // At the nodes of a super-clothoid, the neighbours' means, weighted by length.
  const SceneDocument clothoid = read("super-clothoid", "initial_curvature = 0\n");
  expect_round_trip(clothoid);
  const std::vector<Vector3>& nodes = clothoid.scene.fibres[0].natural_curvature;
  ASSERT_EQ(nodes.size(), 8U);
  EXPECT_EQ(nodes[2], 0.5 * bend);
  EXPECT_EQ(nodes[3], bend);
  EXPECT_LT((nodes[6] - (0.05 * bend + 0.03 * last) / 0.08).norm(), 1e-14);
  EXPECT_EQ(nodes[7], last);
  EXPECT_TRUE(clothoid.scene.fibres[0].initial_curvature[4].isZero(0.0));
}

TEST(SceneFile, OverridesTakePlainNumbersUnitsAndWords) {
  const auto read = [](const ParameterOverrides& set) { return parse_scene(kEverything, "everything.toml", set); };
  EXPECT_EQ(read({{"length", "0.2"}}).fibres[0].element_lengths[0], 0.2);
  EXPECT_EQ(read({{"length", "25 cm"}}).fibres[0].element_lengths[0], 0.25);
  EXPECT_EQ(read({{"length", "0.1"}, {"length", "\"26 cm\""}}).fibres[0].element_lengths[0], 0.26);
  EXPECT_EQ(read({{"length", "2 * 0.15"}}).fibres[0].element_lengths[0], 0.3);
  EXPECT_TRUE(read({{"own", "true"}}).contact.self_contact);
  EXPECT_EQ(read({{"kind", "linear"}}).fibres[0].root.motion.interpolation, bodies::Motion::Interpolation::linear);
  EXPECT_EQ(read({{"count", "1e3"}}).fibres[0].grid.count, 1000);
}

TEST(SceneFile, TheTimeStepIsChosenWhereItIsLeftToTheProgram) {
  const std::string hair = R"(
[parameters]
step = "auto"
[[fibres]]
name = "hair"
material = "human-hair"
length = "1 cm"
elements = 4
radius = "40 um"
root = { condition = "free" }
)";
  const auto read = [&](const std::string& line) {
    return parse_scene_document(hair + "[simulation]\n" + line + "\n", "hair.toml");
  };
  for (const char* line : {"", "time_step = \"auto\"", "time_step = \"${step}\""}) {
    const SceneDocument document = read(line);
    EXPECT_EQ(document.scene.simulation.time_step, 2e-4) << line;
    EXPECT_EQ(document.time_step_reason, "fibres 'hair' fall at up to 0.44 m/s: at most 0.1 mm a step") << line;
    expect_round_trip(document);
    const SceneDocument again = parse_scene_document(write_resolved(document), "resolved.toml");
    EXPECT_EQ(again.scene.simulation.time_step, 2e-4);
    EXPECT_EQ(again.time_step_reason, "");
  }
  EXPECT_EQ(parse_scene_document(hair, "hair.toml").scene.simulation.time_step, 2e-4);
  EXPECT_EQ(parse_scene_document(hair, "hair.toml", {{"step", "3 ms"}}).scene.simulation.time_step, 2e-4);
  EXPECT_EQ(read("time_step = \"1 ms\"").time_step_reason, "");
  EXPECT_EQ(read("time_step = \"1 ms\"").scene.simulation.time_step, 1e-3);
}

TEST(SceneFile, ATimeStepThatIsNoWordOfTheProgramIsRefused) {
  const auto message = [](const std::string& value) -> std::string {
    try {
      static_cast<void>(parse_scene("[simulation]\ntime_step = " + value + "\n[[fibres]]\n", "hair.toml"));
    } catch (const InvalidInput& error) {
      return error.what();
    }
    return "accepted";
  };
  const std::string expected = "; expected a time [s] from 1e-12 s to 1000 s, or \"auto\"";
  EXPECT_EQ(message("\"automatic\""),
            "hair.toml:2:14: simulation.time_step = \"automatic\": the word \"automatic\" where a number should be (a "
            "parameter is written \"${name}\")" +
                expected);
  EXPECT_EQ(message("true"), "hair.toml:2:13: simulation.time_step is true" + expected);
  EXPECT_EQ(message("0"), "hair.toml:2:13: simulation.time_step is 0" + expected);
}

TEST(SceneFile, ReadsTheSmallestSceneOfTheReference) {
  const scene::Scene s = parse_scene(
      "[[fibres]]\nname = \"hair\"\nmaterial = \"human-hair\"\nlength = \"10 cm\"\nelements = 10\nradius = \"40 um\"\n",
      "smallest.toml");
  EXPECT_EQ(s.fibres[0].material.density, 1320.0);
  EXPECT_EQ(s.fibres[0].root.frame, Matrix3::Identity());
}

TEST(SceneFile, FreeBodies) {
  const std::string text = R"(
[[obstacles]]
name = "ball"
shape = "sphere"
center = [1, 2, 3]
radius = "2 cm"
density = 1000
velocity = [1, 0, "2 mm/s"]
[[obstacles]]
name = "bar"
shape = "cylinder"
center = [0, 0, 1]
axis = [0, 1, 1]
radius = "1 cm"
length = "10 cm"
mass = "3 g"
angular_velocity = [0, "10 rad/s", 0]
)";
  const scene::Scene s = parse_scene(text, "free.toml");
  EXPECT_TRUE(s.fibres.empty());
  const bodies::Obstacle& ball = obstacle(s, "ball");
  EXPECT_NEAR(ball.mass, 1000.0 * 4.0 / 3.0 * std::acos(-1.0) * 8e-6, 1e-15);
  EXPECT_EQ(ball.velocity.linear, Vector3(1, 0, 2e-3));
  EXPECT_EQ(obstacle(s, "bar").mass, 3e-3);
  EXPECT_EQ(obstacle(s, "bar").velocity.angular, Vector3(0, 10, 0));
  // Written and read again: the same bits.
  const std::string resolved = write_resolved(s);
  const scene::Scene again = parse_scene(resolved, "again.toml");
  EXPECT_EQ(obstacle(again, "ball").mass, ball.mass);
  EXPECT_EQ(obstacle(again, "bar").reference, obstacle(s, "bar").reference);
  EXPECT_EQ(write_resolved(again), resolved);
}

TEST(SceneFile, Rings) {
  const std::string text = R"(
[[obstacles]]
name = "eyelet"
shape = "ring"
center = [0, 0, "1 cm"]
axis = [0, 0, 2]
radius = "2 cm"
tube_radius = "3 mm"
[[obstacles]]
name = "link"
shape = "ring"
center = ["2 cm", 0, "1 cm"]
axis = [0, 1, 1]
radius = "2 cm"
tube_radius = "3 mm"
density = 1000
)";
  const scene::Scene s = parse_scene(text, "rings.toml");
  const auto& eyelet = std::get<bodies::Ring>(obstacle(s, "eyelet").shape);
  EXPECT_EQ(eyelet.axis, Vector3(0, 0, 1));
  EXPECT_EQ(eyelet.tube_radius, 3e-3);
  EXPECT_EQ(obstacle(s, "eyelet").reference, Vector3(0, 0, 0.01));
  EXPECT_NEAR(obstacle(s, "link").mass, 2000.0 * std::pow(std::acos(-1.0), 2) * 0.02 * 9e-6, 1e-15);
  const std::string resolved = write_resolved(s);
  const scene::Scene again = parse_scene(resolved, "again.toml");
  EXPECT_EQ(std::get<bodies::Ring>(obstacle(again, "link").shape).axis,
            std::get<bodies::Ring>(obstacle(s, "link").shape).axis);
  EXPECT_EQ(write_resolved(again), resolved);
}

TEST(SceneFile, WhatIsWrongWithAFreeBody) {
  const auto message = [](const std::string& shape, const std::string& keys) -> std::string {
    try {
      (void)parse_scene("[[obstacles]]\nname = \"it\"\n" + shape + "\n" + keys + "\n", "x.toml");
    } catch (const InvalidInput& error) {
      return error.what();
    }
    return "read";
  };
  const std::string ball = "shape = \"sphere\"\ncenter = [0, 0, 0]\nradius = 1";
  const std::string plane = "shape = \"plane\"\npoint = [0, 0, 0]\nnormal = [0, 0, 1]";
  const std::vector<std::tuple<std::string, std::string, std::string>> cases{
      {ball, "mass = 1", "read"},
      {ball, "", "the scene has no [[fibres]]"},
      {ball, "mass = 0", "obstacles.it.mass is 0"},
      {ball, "mass = nan", "obstacles.it.mass is nan"},
      {ball, "mass = \"1 m\"", "expected a mass"},
      {ball, "density = -1", "obstacles.it.density is -1"},
      {ball, "mass = 1\ndensity = 1", "stands beside \"mass\""},
      {ball, "mass = 1\nmotion = { velocity = [1, 0, 0] }", "obstacles.it.motion stands beside \"mass\""},
      {ball, "mass = 1\nreference = [0, 0, 0]", "obstacles.it.reference stands beside \"mass\""},
      {ball, "velocity = [1, 0, 0]", "obstacles.it.velocity is given for a body that is not free"},
      {ball, "mass = 1\nvelocity = [1, 0]", "obstacles.it.velocity"},
      {plane, "mass = 1", "obstacles.it.mass is given for a plane, a comb or a mesh"},
      {"shape = \"ring\"\ncenter = [0, 0, 0]\naxis = [1, 0, 0]\nradius = 1\ntube_radius = 1", "",
       "obstacles.it.tube_radius is 1 m; expected less than the radius of the circle"},
  };
  for (const auto& [shape, keys, expected] : cases) EXPECT_THAT(message(shape, keys), testing::HasSubstr(expected));
}

}  // namespace TRESSE_TEST_FILE
}  // namespace tresse::scene_file
