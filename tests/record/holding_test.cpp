#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <tresse/dynamics/stepper.hpp>
#include <tresse/scene/build.hpp>
#include <tresse/scene_file/scene_file.hpp>

// What friction holds stays where it is: docs/theory/holding.md.
namespace tresse::dynamics {
namespace TRESSE_TEST_FILE {

constexpr double mu = 0.3, drum = 50e-3, radius = 1e-3, light = 0.15;

/// Where a limp rope over a drum, its light side `light` long, begins to slide: capstan law with the rope's own weight.
/// `halves`: half turns that it lies on the drum, an odd number.
double limit(int halves = 1) {
  const double grows = std::exp(mu * halves * M_PI);
  return grows * light + (drum + radius) * 2.0 * mu / (1.0 + mu * mu) * (grows + 1.0);
}

/// A rope whose natural shape is that in which it hangs: at rest whatever its stiffness, unless its heavy side is bent.
/// Its turns all lie in one plane, and do not touch each other.
Stepper rope_over_drum(double heavy, int wrap, const char* at, double bent = 0.0, int halves = 1) {
  std::string lengths, curvature;
  const auto add = [&](int count, double length, double bend) {
    for (int i = 0; i < count; ++i) {
      lengths += std::to_string(length / count) + ", ";
      curvature += "[0, 0, " + std::to_string(bend) + "], ";
    }
  };
  add(6, light, 0.0);
  add(wrap, halves * M_PI * (drum + radius), 1.0 / (drum + radius));
  add(10, heavy, bent);
  const std::string text = R"(
simulation = { time_step = 1e-3, duration = 2 }
materials.rope = { density = 1000, young_modulus = 3e5, poisson_ratio = 0.5, damping_time = 5e-3 }
friction.default = 0.3
contact.self_contact = false
contact.at = ")" + std::string(at) +
                           R"("
[[fibres]]
name = "rope"
material = "rope"
radius = 1e-3
element_lengths = [)" + lengths +
                           R"(]
natural_curvature = [)" + curvature +
                           R"(]
root = { condition = "free", position = [-0.051, 0, -0.15], tangent = [0, 0, 1], normal = [1, 0, 0] }
[[obstacles]]
name = "drum"
shape = "cylinder"
center = [0, 0, 0]
axis = [0, 1, 0]
radius = 0.05
length = 0.1
)";
  scene::Case built = scene::build(scene_file::parse_scene(text, "rope.toml"));
  return {std::move(built.world), built.options, std::move(built.state)};
}

void run(Stepper& stepper, int steps) {
  for (int i = 0; i < steps; ++i) ASSERT_TRUE(stepper.step().finite);
}

double height(const Stepper& stepper) { return stepper.state().rods[0].root.position.z(); }

TEST(Holding, ARopeOverADrumStaysUpToTheCapstanLaw) {
  for (const auto& [wrap, halves] : {std::pair(15, 1), std::pair(16, 1), std::pair(32, 1), std::pair(99, 3)}) {
    Stepper held = rope_over_drum(0.99 * limit(halves), wrap, "centreline", 0.0, halves);
    run(held, halves == 1 ? 1000 : 100);
    EXPECT_NEAR(height(held), -light, 1e-12) << wrap;

    Stepper sliding = rope_over_drum(1.01 * limit(halves), wrap, "centreline", 0.0, halves);
    // The longer rope is heavier by far, and goes as slowly at first.
    run(sliding, halves == 1 ? 500 : 200);
    EXPECT_GT(height(sliding) + light, halves == 1 ? 1e-3 : 1e-4) << wrap;
  }
}

TEST(Holding, ContactsOfALineAreAtPointsOfTheMaterial) {
  Stepper stepper = rope_over_drum(0.7 * limit(), 16, "surface");
  run(stepper, 20);
  const auto places = [&] {
    std::vector<double> out;
    for (const ContactReport& contact : stepper.contacts()) {
      if (!contact.force.isZero(0.0)) out.push_back(contact.a.s);
    }
    return out;
  };
  const std::vector<double> before = places();
  EXPECT_GE(before.size(), 15U);
  run(stepper, 200);
  EXPECT_EQ(places(), before) << "to the last bit";
}

TEST(Holding, TheStateHasTheSlipAndGoesOnWithTheSameBits) {
  Stepper stepper = rope_over_drum(0.9 * limit(), 16, "surface", 0.5);
  run(stepper, 30);
  const SimulationState between = stepper.state();
  double slip = 0.0;
  for (const WarmContact& contact : between.warm) slip = std::max(slip, contact.slip ? contact.slip->norm() : 0.0);
  EXPECT_GT(slip, 0.0);
  Stepper again(stepper.world(), stepper.options(), between);
  run(stepper, 30);
  run(again, 30);
  EXPECT_EQ(height(stepper), height(again));
}

}  // namespace TRESSE_TEST_FILE
}  // namespace tresse::dynamics
