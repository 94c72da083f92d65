#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <tresse/base/errors.hpp>
#include <tresse/scene/scene.hpp>

namespace tresse::scene {
namespace TRESSE_TEST_FILE {

Scene sound() {
  Scene s;
  FibreGroup group;
  group.name = "hair";
  group.material = {.density = 1000.0, .young_modulus = 1e9, .poisson_ratio = 0.4, .damping_time = 0.0};
  group.element_lengths = {0.1, 0.1};
  group.sections.assign(2, rods::CrossSection::circle(1e-4));
  group.natural_curvature.assign(2, Vector3(0, 0, 1));
  group.initial_curvature = group.initial_curvature_rate = group.natural_curvature;
  s.fibres.push_back(group);
  Obstacle ball;
  ball.body.name = "ball";
  ball.body.shape = bodies::Sphere{Vector3::Zero(), 0.1};
  s.obstacles.push_back(ball);
  return s;
}

TEST(Validate, AcceptsASoundScene) { EXPECT_NO_THROW(validate(sound())); }

TEST(Validate, AFreeBodyNeedsNoFibres) {
  Scene s = sound();
  s.obstacles[0].body.mass = 2.0;
  s.obstacles[0].body.reference = Vector3::Zero();
  EXPECT_NO_THROW(validate(s));
  s.fibres.clear();
  EXPECT_NO_THROW(validate(s));
}

TEST(Validate, NamesTheFieldThatIsWrong) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  using Change = std::function<void(Scene&)>;
  const std::vector<std::pair<std::string, Change>> cases{
      {"simulation.time_step", [](Scene& s) { s.simulation.time_step = 0.0; }},
      {"simulation.duration", [&](Scene& s) { s.simulation.duration = nan; }},
      {"simulation.gravity[1]", [&](Scene& s) { s.simulation.gravity.y() = nan; }},
      {"simulation.scheme", [](Scene& s) { s.simulation.scheme = static_cast<dynamics::Scheme>(9); }},
      {"contact.detection", [](Scene& s) { s.contact.detection = static_cast<geometry::DetectionMethod>(9); }},
      {"contact.proxy_segments", [](Scene& s) { s.contact.proxy_segments = 0; }},
      {"contact.stations", [](Scene& s) { s.contact.stations = 17; }},
      {"friction.default", [](Scene& s) { s.friction.default_coefficient = -1.0; }},
      {"friction.pairs(a, b)",
       [](Scene& s) {
         s.friction.pairs[{"a", "b"}] = -1.0;
       }},
      {"restitution.default is 1.5", [](Scene& s) { s.restitution.default_coefficient = 1.5; }},
      {"restitution.pairs(a, b)",
       [](Scene& s) {
         s.restitution.pairs[{"a", "b"}] = -0.1;
       }},
      {"restitution.default or a pair is above 0; expected simulation.theta = 1",
       [](Scene& s) {
         s.restitution.default_coefficient = 0.5;
         s.simulation.scheme = dynamics::Scheme::nonlinear;
         s.simulation.theta = 0.5;
       }},
      {"friction_kinetic.default is -1", [](Scene& s) { s.friction_kinetic.default_coefficient = -1.0; }},
      {"friction_kinetic.pairs(a, b) is 0.4; expected at most the friction of the pair, 0.3",
       [](Scene& s) {
         s.friction.default_coefficient = 0.3;
         s.friction_kinetic.pairs[{"a", "b"}] = 0.4;
       }},
      {"fibres.hair.friction[0].friction is -1",
       [](Scene& s) {
         s.fibres[0].friction = {{{}, -1.0, {}}};
       }},
      {"fibres.hair.friction[0].friction_kinetic is 0.3; expected at most the friction, 0.2",
       [](Scene& s) {
         s.fibres[0].friction = {{{}, 0.2, 0.3}};
       }},
      {"fibres.hair.friction[0].to is missing",
       [](Scene& s) {
         s.fibres[0].friction = {{{}, 0.2, {}}, {0.1, 0.3, {}}};
       }},
      {"fibres.hair.friction[1].to is 0.05 m behind 0.1 m",
       [](Scene& s) {
         s.fibres[0].friction = {{0.1, 0.2, {}}, {0.05, 0.3, {}}};
       }},
      {"fibres.hair.friction goes to 0.3 m; expected at most the length of the fibre, 0.2 m",
       [](Scene& s) {
         s.fibres[0].friction = {{0.3, 0.2, {}}};
       }},
      {"solver.tolerance", [](Scene& s) { s.solver.tolerance = 0.0; }},
      {"output.every", [](Scene& s) { s.output.every = 0; }},
      {"statics.load_steps", [](Scene& s) { s.statics.load_steps = 0; }},
      {"scene.fibres is empty", [](Scene& s) { s.fibres.clear(); }},
      {"obstacles.ball.mass is", [&](Scene& s) { s.obstacles[0].body.mass = -1.0; }},
      {"obstacles.ball.mass is given for a plane",
       [](Scene& s) {
         s.obstacles[0].body.mass = 1.0;
         s.obstacles[0].body.shape = bodies::Plane{Vector3::Zero(), Vector3::UnitZ()};
       }},
      {"obstacles.ball.motion is given for a free body",
       [](Scene& s) {
         s.obstacles[0].body.mass = 1.0;
         s.obstacles[0].body.motion.velocity = {1, 0, 0};
       }},
      {"obstacles.ball.velocity[1]",
       [&](Scene& s) {
         s.obstacles[0].body.mass = 1.0;
         s.obstacles[0].body.velocity.linear.y() = nan;
       }},
      {"obstacles.ball.reference is not the centre",
       [](Scene& s) {
         s.obstacles[0].body.mass = 1.0;
         s.obstacles[0].body.reference = {0, 0, 1};
       }},
      {"holds \"hair\" twice", [](Scene& s) { s.fibres.push_back(s.fibres[0]); }},
      {"fibres.hair.model", [](Scene& s) { s.fibres[0].model = static_cast<RodModel>(9); }},
      {"fibres.hair.material.density", [](Scene& s) { s.fibres[0].material.density = 0.0; }},
      {"fibres.hair.material.poisson_ratio", [](Scene& s) { s.fibres[0].material.poisson_ratio = -1.0; }},
      {"fibres.hair.element_lengths has 0", [](Scene& s) { s.fibres[0].element_lengths.clear(); }},
      {"fibres.hair.element_lengths[1]", [](Scene& s) { s.fibres[0].element_lengths[1] = -1.0; }},
      {"fibres.hair.sections has 1", [](Scene& s) { s.fibres[0].sections.pop_back(); }},
      {"fibres.hair.sections[0].half_axis_2", [](Scene& s) { s.fibres[0].sections[0].half_axis_2 = 0.0; }},
      {"fibres.hair.natural_curvature[1][2]", [&](Scene& s) { s.fibres[0].natural_curvature[1].z() = nan; }},
      {"fibres.hair.root.frame", [](Scene& s) { s.fibres[0].root.frame(0, 0) = 2.0; }},
      {"fibres.hair.root.velocity", [](Scene& s) { s.fibres[0].root.velocity.x() = 1.0; }},
      {"fibres.hair.root.motion.stop", [](Scene& s) { s.fibres[0].root.motion.stop = -1.0; }},
      {"fibres.hair.grid.count", [](Scene& s) { s.fibres[0].grid.count = 0; }},
      {"fibres.hair.grid.spacing", [](Scene& s) { s.fibres[0].grid.count = 2; }},
      {"fibres.hair.cap.count is 0", [](Scene& s) { s.fibres[0].cap = Cap{.count = 0, .radius = 1.0}; }},
      {"fibres.hair.cap.count is given beside a grid",
       [](Scene& s) {
         s.fibres[0].grid = {.count = 2, .spacing = 1.0};
         s.fibres[0].cap = Cap{.radius = 1.0};
       }},
      {"fibres.hair.cap.radius", [](Scene& s) { s.fibres[0].cap = Cap{}; }},
      {"fibres.hair.cap.center[0]",
       [&](Scene& s) {
         s.fibres[0].cap = Cap{.radius = 1.0, .center = {nan, 0, 0}};
       }},
      {"fibres.hair.cap.axis",
       [](Scene& s) {
         s.fibres[0].cap = Cap{.radius = 1.0, .axis = {0, 0, 2}};
       }},
      {"fibres.hair.cap.angle", [](Scene& s) { s.fibres[0].cap = Cap{.radius = 1.0, .angle = 3.2}; }},
      {"fibres.hair.cap.jitter is 1", [](Scene& s) { s.fibres[0].cap = Cap{.radius = 1.0, .jitter = 1.0}; }},
      {"fibres.hair.cap.twist", [](Scene& s) { s.fibres[0].cap = Cap{.radius = 1.0, .twist = -1.0}; }},
      {"fibres.hair.root.reference[2]", [&](Scene& s) { s.fibres[0].root.reference = Vector3(0, 0, nan); }},
      {"fibres.hair.root.reference is given for a root that is not clamped",
       [](Scene& s) {
         s.fibres[0].root.condition = rods::RootCondition::free;
         s.fibres[0].root.reference = Vector3::Zero();
       }},
      {"holds \"ball\" twice", [](Scene& s) { s.obstacles.push_back(s.obstacles[0]); }},
      {"obstacles.ball.radius", [](Scene& s) { std::get<bodies::Sphere>(s.obstacles[0].body.shape).radius = 0.0; }},
      {"obstacles.ball.normal",
       [](Scene& s) {
         s.obstacles[0].body.shape = bodies::Plane{Vector3::Zero(), Vector3(0, 0, 2)};
       }},
      {"obstacles.ball.motion.keyframes[1].time", [](Scene& s) { s.obstacles[0].body.motion.keyframes.resize(2); }},
  };
  for (const auto& [field, change] : cases) {
    Scene s = sound();
    change(s);
    try {
      validate(s);
      ADD_FAILURE() << field << " was accepted";
    } catch (const InvalidInput& error) {
      EXPECT_THAT(error.what(), testing::HasSubstr(field));
    }
  }
}

}  // namespace TRESSE_TEST_FILE
}  // namespace tresse::scene
