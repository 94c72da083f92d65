#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <tresse/dynamics/stepper.hpp>
#include <tresse/scene/build.hpp>
#include <tresse/scene_file/scene_file.hpp>

// The line force along a line of contact, against closed forms: docs/theory/holding.md.
namespace tresse::dynamics {
namespace TRESSE_TEST_FILE {

Stepper stepper_of(const std::string& text) {
  scene::Case built = scene::build(scene_file::parse_scene(text, "line.toml"));
  return {std::move(built.world), built.options, std::move(built.state)};
}

/// The last of so many steps.
StepReport run(Stepper& stepper, int steps) {
  StepReport last;
  for (int i = 0; i < steps; ++i) last = stepper.step();
  EXPECT_TRUE(last.finite);
  return last;
}

/// A contact that presses: its arc length on a, its place, and its normal force.
struct Press {
  double s;
  Vector3 place;
  double force;
};
std::vector<Press> presses(const Stepper& stepper, const std::string& b) {
  std::vector<Press> out;
  for (const ContactReport& contact : stepper.contacts()) {
    const bool fibres = contact.b.body.is_fibre();
    if (fibres == (b == "fibre") && !contact.force.isZero(0.0))
      out.push_back({contact.a.s, contact.point_a, std::abs(contact.force.dot(contact.normal))});
  }
  std::sort(out.begin(), out.end(), [](const Press& x, const Press& y) { return x.s < y.s; });
  return out;
}

constexpr double length = 0.2, radius = 1e-3;

/// A rod that lies on another, which lies on a floor. The upper one's weight is a constant line force.
std::vector<Press> rod_on_rod(int elements, const std::string& model) {
  std::string text = R"(
simulation = { time_step = 1e-3, duration = 1 }
materials.rod = { density = 1000, young_modulus = 1e7, poisson_ratio = 0.5, damping_time = 5e-3 }
friction.default = 0.3
obstacles = [{ name = "floor", shape = "plane", point = [0, 0, 0], normal = [0, 0, 1] }]
)";
  for (const auto& [name, height] : {std::pair("lower", radius), std::pair("upper", 3.0 * radius)}) {
    text += fmt::format(R"(
[[fibres]]
name = "{}"
model = "{}"
material = "rod"
radius = {}
length = {}
elements = {}
root = {{ condition = "free", position = [0, 0, {}], tangent = [1, 0, 0], normal = [0, 0, 1] }}
)",
                        name, model, radius, length, elements, height);
  }
  Stepper stepper = stepper_of(text);
  run(stepper, 20);
  return presses(stepper, "fibre");
}

/// Of each contact the force over half the way to its neighbours, or to the end: the line force. [N/m]
std::vector<double> line_force(const std::vector<Press>& at, double begin, double end) {
  std::vector<double> out;
  for (std::size_t k = 0; k < at.size(); ++k) {
    const double from = k == 0 ? begin : 0.5 * (at[k - 1].s + at[k].s);
    const double to = k + 1 == at.size() ? end : 0.5 * (at[k].s + at[k + 1].s);
    out.push_back(at[k].force / (to - from));
  }
  return out;
}

TEST(LineForce, OfARodOnARodIsItsWeight) {
  const double weight = 1000.0 * 9.81 * M_PI * radius * radius;  // per length
  for (const std::string model : {"super-helix", "super-clothoid", "discrete-elastic-rod"}) {
    for (const int elements : {10, 20}) {
      const std::vector<Press> found = rod_on_rod(elements, model);
      ASSERT_GE(found.size(), static_cast<std::size_t>(elements)) << model;
      double sum = 0.0;
      for (const Press& press : found) sum += press.force;
      EXPECT_NEAR(sum / (weight * length), 1.0, 1e-4) << model << " " << elements;
      const std::vector<double> force = line_force(found, 0.0, length);
      // Splines give their ends less than half of the way to the next contact; that is gone three contacts on. What is
      // left of the fall, 20 steps old, is within 7 %.
      const bool polygon = model == "discrete-elastic-rod";
      for (std::size_t k = polygon ? 0 : 3; k < force.size() - (polygon ? 0 : 3); ++k)
        EXPECT_NEAR(force[k] / weight, 1.0, polygon ? 1e-9 : 0.07) << model << " " << elements << " " << k;
    }
  }
}

/// A straight rod that is pulled down on both sides of a smooth drum. Where it lies on the drum its moment is EI/R and
/// its tension T cos(phi), so that it presses with T cos(phi) / R. Beside it the pulled elastica has the first integral
/// EI k^2/2 = T (1 - cos(phi)), which gives the angle of T where it takes off, 1 - cos(phi) = EI / (2 T R^2), and the
/// point force there, T sin(phi).
TEST(LineForce, OfARodBentOverADrumIsConstantWithAPointForceAtEachEnd) {
  constexpr double bend = 51e-3, modulus = 3e9, tail = 0.1, wanted = 20.0;
  constexpr int around = 64, beside = 40;
  const double stiffness = modulus * M_PI * std::pow(radius, 4) / 4.0;
  const double arc = M_PI * bend, whole = arc + 2.0 * tail;
  std::string lengths, curvature;
  const auto add = [&](int count, double part, double bent) {
    for (int i = 0; i < count; ++i) {
      lengths += fmt::format("{}, ", part / count);
      curvature += fmt::format("[0, 0, {}], ", bent);
    }
  };
  add(beside, tail, 0.0);
  add(around, arc, 1.0 / bend);
  add(beside, tail, 0.0);
  // A hold gives as the rod would stretch up to it.
  const double down = 0.5 * wanted * whole / (modulus * M_PI * radius * radius);
  const std::string motion =
      fmt::format("keyframes = [{{ time = 0 }}, {{ time = 0.3, displacement = [0, 0, {}] }}]", -down);
  Stepper stepper =
      stepper_of(fmt::format(R"(
simulation = {{ time_step = 1e-3, duration = 1, gravity = 0.0 }}
materials.rod = {{ density = 1000, young_modulus = {}, poisson_ratio = 0.5, damping_time = 0.02 }}
contact.at = "centreline"
friction.default = 0
obstacles = [{{ name = "drum", shape = "cylinder", center = [0, 0, 0], axis = [0, 1, 0], radius = {}, length = 0.1 }}]
[[fibres]]
name = "rod"
material = "rod"
radius = {}
drag = 1.0
element_lengths = [{}]
natural_curvature = 0.0
initial_curvature = [{}]
root = {{ condition = "free", position = [{}, 0, {}], tangent = [0, 0, 1], normal = [1, 0, 0] }}
holds = [{{ at = 0, motion = {{ {} }} }}, {{ at = {}, motion = {{ {} }} }}]
)",
                             modulus, bend - radius, radius, lengths, curvature, -bend, -tail, motion, whole, motion));
  const StepReport report = run(stepper, 1000);
  const Vector3 pull = report.holds[0].force;
  const double tension = pull.norm();
  const double phi = std::acos(1.0 - stiffness / (2.0 * tension * bend * bend));
  const double pressure = tension * std::cos(phi) / bend;
  const std::vector<Press> found = presses(stepper, "drum");
  ASSERT_GE(found.size(), 40U);
  const std::vector<double> force = line_force(found, 0.0, whole);
  double varies = 0.0;
  for (std::size_t k = 8; k < force.size() - 8; ++k) {
    EXPECT_NEAR(force[k] / pressure, 1.0, 2e-3) << k;
    varies += std::abs(force[k] - force[k - 1]) / pressure;
  }
  EXPECT_LT(varies, 0.05);
  // From a take-off on: the angle of the drum up to which the rod touches it, as T is not quite vertical.
  const double wrap = 0.5 * M_PI - phi - std::atan2(pull.x(), pull.z());
  double sum = 0.0;
  for (std::size_t k = 0; k + 6 < found.size() / 2; ++k) {
    sum += found[k].force;
    const Vector3 middle = found[k].place + found[k + 1].place;
    const double angle = std::atan2(-middle.x(), middle.z());  // from the top
    if (k < 5) continue;
    EXPECT_NEAR(sum / (tension * std::sin(phi) + pressure * bend * (wrap - angle)), 1.0, 1e-3) << k;
  }
}

/// A limp rope in its natural shape, a helix around a drum with straight tails, is drawn along itself through air that
/// resists with `drag` per length. Where it slides, dT/ds = mu k T + drag: T = (T1 + drag/(mu k)) e^(mu k s) - drag/(mu
/// k).
double pull_over_capstan(double mu, double turns, int elements) {
  constexpr double bend = 51e-3, pitch = 4e-3, thin = 5e-6, behind = 0.3, ahead = 0.02, speed = 1e-2, pull = 1.0;
  constexpr double axial = 1e4;  // EA [N]: a hold gives as the rope would stretch
  const double rise = pitch / (2.0 * M_PI), way = std::hypot(bend, rise);
  const double curvature = bend / (way * way), twist = rise / (way * way);
  const double angle = 2.0 * M_PI * turns, wound = way * angle;
  const auto tangent = [&](double at) -> Vector3 {
    return Vector3(bend * std::sin(at), rise, bend * std::cos(at)) / way;
  };
  const double grows = std::exp(mu * curvature * wound), stretch = 1.0 / (mu * curvature);
  const double drag = pull / ((behind + stretch) * grows - stretch + ahead);
  const Vector3 start = Vector3(-bend, 0.0, 0.0) - behind * tangent(0.0);
  const Vector3 velocity = speed * tangent(angle);
  Stepper stepper = stepper_of(fmt::format(
      R"(
simulation = {{ time_step = 1e-3, duration = 1, gravity = 0.0 }}
materials.rope = {{ density = 1000, young_modulus = {}, poisson_ratio = 0.5 }}
contact = {{ at = "centreline", self_contact = false }}
friction.default = {}
obstacles = [{{ name = "drum", shape = "cylinder", center = [0, {}, 0], axis = [0, 1, 0], radius = {}, length = {} }}]
[[fibres]]
name = "rod"
material = "rope"
radius = {}
drag = {}
stretches = [{{ length = {}, elements = 2 }}, {{ length = {}, elements = {}, curvature = [{}, 0, {}] }},
             {{ length = {}, elements = 1 }}]
root = {{ condition = "free", position = [{}, {}, {}], tangent = [0, {}, {}], normal = [1, 0, 0] }}
holds = [{{ motion = {{ velocity = [{}, {}, {}] }} }}]
)",
      axial / (M_PI * thin * thin), mu, 0.5 * rise * angle, bend - thin, rise * angle + 0.1, thin, drag / speed, behind,
      wound, elements, twist, curvature, ahead, start.x(), start.y(), start.z(), tangent(0.0).y(), tangent(0.0).z(),
      velocity.x(), velocity.y(), velocity.z()));
  return run(stepper, 60).holds[0].force.norm() / pull;
}

TEST(LineForce, OfASlidingRopeGrowsAsTheCapstanLawSays) {
  const double coarse = pull_over_capstan(0.3, 0.5, 32), fine = pull_over_capstan(0.3, 0.5, 65);
  EXPECT_NEAR(pull_over_capstan(0.3, 0.5, 128), 1.0, 1e-3);
  EXPECT_NEAR(fine, 1.0, 3e-3);
  EXPECT_NEAR(coarse, 1.0, 1e-2);
  EXPECT_LT(std::abs(fine - 1.0), 0.5 * std::abs(coarse - 1.0)) << "the error falls with the elements";
}

}  // namespace TRESSE_TEST_FILE
}  // namespace tresse::dynamics
