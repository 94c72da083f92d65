#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>

#include <Eigen/Geometry>

#include <tresse/math/rotations.hpp>

#include "support/messages.hpp"
#include "support/worlds.hpp"

// Derivatives of runs, forward and backward, against differences of the same runs and against each other.
namespace tresse::dynamics {
namespace TRESSE_TEST_FILE {

bool printing() { return std::getenv("TRESSE_TEST_PRINT") != nullptr; }

/// What a world depends on, by name; 0 is the world itself.
using Change = std::map<std::string, double>;
double of(const Change& change, const std::string& name) {
  const auto found = change.find(name);
  return found == change.end() ? 0.0 : found->second;
}

struct Setting {
  bool clothoid = false;
  rods::RootCondition root = rods::RootCondition::clamped;
  int fibres = 1;
  std::vector<bodies::Obstacle> obstacles = {};
  double friction = 0.3;
  Vector3 root_speed = Vector3::Zero();
  int relinearisations = 1;
  int steps = 40;
  Vector3 curl = Vector3(4.0, 10.0, 6.0);
  bool hangs = false;        ///< from its root, down
  double shift_step = 1e-6;  ///< of differences by a shift of the root
  /// What a derivative backward may be off by from that forward, of the terms that add up to it.
  double transposed = 1e-12;
};

constexpr double radius = 1e-3, dt = 2e-3;
constexpr int elements = 5;

/// The natural curvatures of a fibre of which `natural` says how much one is changed.
VectorX natural_of(const Setting& setting, const Change& change) {
  VectorX out(3 * (elements + (setting.clothoid ? 1 : 0)));
  for (Eigen::Index i = 0; i < out.size(); i += 3) out.segment<3>(i) = setting.curl;
  out[4] += of(change, "natural");
  return out;
}

/// A direction in which all coordinates of the start differ.
VectorX mixed(Eigen::Index size) {
  return VectorX::NullaryExpr(size, [](Eigen::Index i) { return std::sin(1.0 + 2.3 * static_cast<double>(i)); });
}

assembly::Fibre made(const Setting& setting, const Change& change, int number) {
  const double scale = number == 0 ? 1.0 : 0.0;
  rods::Material material{.density = 1200.0, .young_modulus = 2e6, .poisson_ratio = 0.3, .damping_time = 4e-3};
  material.young_modulus *= 1.0 + scale * of(change, "stiffness");
  material.poisson_ratio = (1.0 + material.poisson_ratio) / (1.0 + scale * of(change, "twist")) - 1.0;
  material.density *= 1.0 + scale * of(change, "density");
  material.damping_time += scale * of(change, "damping");
  const auto section = rods::CrossSection::circle(radius);
  const double length = 0.15 / elements;
  assembly::Fibre out;
  const VectorX natural = natural_of(setting, number == 0 ? change : Change{});
  std::vector<Vector3> at;
  for (Eigen::Index i = 0; i < natural.size(); i += 3) at.emplace_back(natural.segment<3>(i));
  if (setting.clothoid) {
    out.model = rods::make_super_clothoid(std::vector<rods::SuperClothoidElement>(elements, {length, section}), at,
                                          material, setting.root)
                    ->model();
  } else {
    std::vector<rods::SuperHelixElement> parts;
    for (const Vector3& k : at) parts.push_back({length, section, k});
    out.model = rods::make_super_helix(parts, material, setting.root)->model();
  }
  out.root.position = number == 0 ? Vector3(Vector3::Zero()) : Vector3(0.06, -0.05, -2.05 * radius);
  if (setting.hangs) out.root.frame = math::rotation_exp(Vector3(0.0, 0.5 * M_PI, 0.0));
  if (number == 1) out.root.frame = math::rotation_exp(Vector3(0.0, 0.0, 0.5 * M_PI));
  if (number == 0) {
    out.root.position += of(change, "shift") * Vector3(0.1, 0.2, 0.3);
    out.root.frame = math::rotation_exp(of(change, "turn") * Vector3(0.3, -0.5, 0.4)) * out.root.frame;
    out.root_motion.velocity = setting.root_speed;
  }
  out.drag = 0.02 + scale * of(change, "drag");
  return out;
}

Stepper stepper_of(const Setting& setting, const Change& change) {
  assembly::World world;
  SimulationState state;
  for (int f = 0; f < setting.fibres; ++f) {
    test::add(world, state, made(setting, change, f));
    if (f > 0) continue;
    rods::RodState& own = state.rods.back();
    own.coordinates = natural_of(setting, {}) + of(change, "curvature") * mixed(own.coordinates.size());
    own.rates = of(change, "velocity") * mixed(own.rates.size());
    if (setting.root == rods::RootCondition::free)
      own.root_velocity = {Vector3(0.1, 0.2, 0.0), Vector3(3.0, 1.0, -2.0)};
  }
  for (const bodies::Obstacle& obstacle : setting.obstacles) test::add(world, obstacle);
  world.law =
      std::make_shared<assembly::Coulomb>(MatrixX::Constant(1, 1, setting.friction * (1.0 + of(change, "friction"))));
  assembly::set_load(world,
                     assembly::Gravity(Vector3(0.0, 0.0, -9.81) + of(change, "gravity") * Vector3(1.0, 0.5, 2.0)));
  assembly::set_load(world, assembly::Air(Vector3(0.5, 0.0, 0.0) + of(change, "wind") * Vector3(0.3, 1.0, 0.2)));
  StepOptions options = test::step_options(dt);
  options.margin = 0.05 * radius;
  // As many passes in every run: none more for what overlaps.
  options.overlap_tolerance = 0.5 * radius;
  options.halving_overlap = 0.5 * radius;
  options.relinearisations = setting.relinearisations;
  options.solver.tolerance = 1e-14;
  options.solver.max_iterations = 10000;
  return {std::move(world), options, std::move(state)};
}

/// All that is varied, and how a variation of the world says it.
Variation variation_of(const Setting& setting, const std::string& name) {
  Variation out;
  out.fibres.resize(static_cast<std::size_t>(setting.fibres));
  FibreVariation& own = out.fibres.front();
  const Eigen::Index m = natural_of(setting, {}).size();
  if (name == "stiffness") own.stiffness.setOnes();
  if (name == "twist") own.stiffness[0] = 1.0;
  if (name == "density") own.density = 1.0;
  if (name == "damping") own.damping_time = 1.0;
  if (name == "drag") own.drag = 1.0;
  if (name == "natural") own.natural = VectorX::Unit(m, 4);
  if (name == "curvature") own.curvature = mixed(m);
  if (name == "velocity") {
    own.velocity = VectorX::Zero(m + (setting.root == rods::RootCondition::free ? 6 : 0));
    own.velocity.tail(m) = mixed(m);
  }
  if (name == "shift") own.root.linear = Vector3(0.1, 0.2, 0.3);
  if (name == "turn") own.root.angular = Vector3(0.3, -0.5, 0.4);
  if (name == "gravity") out.gravity = Vector3(1.0, 0.5, 2.0);
  if (name == "wind") out.wind = Vector3(0.3, 1.0, 0.2);
  if (name == "friction") out.friction = 1.0;
  return out;
}

/// How far each is changed for a difference: so little that no contact opens or slides otherwise.
const std::map<std::string, double> steps{
    {"stiffness", 1e-4}, {"twist", 1e-3},     {"density", 1e-4}, {"damping", 1e-6}, {"drag", 5e-6},
    {"natural", 1e-3},   {"shift", 1e-6},     {"turn", 1e-5},    {"gravity", 1e-4}, {"wind", 1e-4},
    {"friction", 1e-4},  {"curvature", 1e-4}, {"velocity", 1e-3}};

/// Positions of points of all fibres, and the coordinates' rates.
VectorX outcome(const Stepper& stepper) {
  std::vector<double> out;
  for (std::size_t f = 0; f < stepper.world().fibres.size(); ++f) {
    const rods::Rod& rod = stepper.kinematics().rod(static_cast<int>(f));
    for (int k = 1; k <= 4; ++k) {
      const Vector3 at = rod.section(0.25 * k * rod.length()).position;
      out.insert(out.end(), at.data(), at.data() + 3);
    }
  }
  return Eigen::Map<const VectorX>(out.data(), static_cast<Eigen::Index>(out.size()));
}

std::vector<AxisPlace> quarters(const rods::Rod& rod) {
  std::vector<AxisPlace> out;
  for (int k = 1; k <= 4; ++k) {
    const double s = 0.25 * k * rod.length();
    int element = rod.piece_count() - 1;
    while (element > 0 && rod.piece_begin(element) > s) --element;
    out.push_back({element, s - rod.piece_begin(element)});
  }
  return out;
}

VectorX derivative(const Stepper& stepper, std::size_t variation) {
  std::vector<double> out;
  for (std::size_t f = 0; f < stepper.world().fibres.size(); ++f) {
    const rods::Rod& rod = stepper.kinematics().rod(static_cast<int>(f));
    const Matrix3X own = position_changes(rod, {&stepper.changes()[variation][f]}, quarters(rod)).front();
    out.insert(out.end(), own.data(), own.data() + own.size());
  }
  return Eigen::Map<const VectorX>(out.data(), static_cast<Eigen::Index>(out.size()));
}

void run(Stepper& stepper, int count) {
  for (int i = 0; i < count; ++i) ASSERT_TRUE(stepper.step().finite);
}

VectorX outcome_of(const Setting& setting, const Change& change) {
  Stepper stepper = stepper_of(setting, change);
  run(stepper, setting.steps);
  return outcome(stepper);
}

/// A derivative by the state, of an objective that depends on all of its shape, and on velocities of points: what one
/// rate alone does to the motion is far larger than itself, and its roundings with it.
std::vector<FibreChange> by_state(const Stepper& stepper, int seed) {
  std::vector<FibreChange> out;
  for (std::size_t f = 0; f < stepper.world().fibres.size(); ++f) {
    const rods::Rod& rod = stepper.kinematics().rod(static_cast<int>(f));
    FibreChange& own = out.emplace_back(by_positions(rod, mixed(12).reshaped(3, 4), quarters(rod)));
    own.velocity = own.displacement;
    if (rod.root_dof() == 0) own.velocity.head<6>().setZero();
    own.displacement = (1.0 + seed) * mixed(own.displacement.size());
  }
  return out;
}

/// What an objective with these derivatives by the state gains along a variation, and how large its terms are.
void add_gain(const Stepper& stepper, std::size_t variation, const std::vector<FibreChange>& by, double& gain,
              double& size) {
  for (std::size_t f = 0; f < by.size(); ++f) {
    const FibreChange& change = stepper.changes()[variation][f];
    gain += by[f].displacement.dot(change.displacement) + by[f].velocity.dot(change.velocity);
    size += by[f].displacement.cwiseProduct(change.displacement).lpNorm<1>() +
            by[f].velocity.cwiseProduct(change.velocity).lpNorm<1>();
  }
}

/// The gradient of positions at the end, each times its weight, from a run that is kept for it alone.
Variation gradient_of_end(const Setting& setting, const VectorX& weights) {
  Stepper stepper = stepper_of(setting, {});
  stepper.keep_for_gradient();
  run(stepper, setting.steps);
  std::vector<FibreChange> by;
  for (std::size_t f = 0; f < stepper.world().fibres.size(); ++f) {
    const rods::Rod& rod = stepper.kinematics().rod(static_cast<int>(f));
    const Matrix3X own = Eigen::Map<const Matrix3X>(weights.data() + 12 * f, 3, 4);
    by.push_back(by_positions(rod, own, quarters(rod)));
  }
  stepper.add_by_state(by);
  DerivativeReport report;
  Variation out = stepper.gradient(report);
  EXPECT_EQ(report.refused, "");
  return out;
}

/// Of the positions of two runs, as far as they are told apart. [m]
constexpr double roundings = 1e-14;

struct Seen {
  int stick = 0, slide = 0, open = 0;  ///< of contacts, over all steps
};

/// Compares all derivatives with differences of fourth order, to `tolerance` of each; and those backward with those
/// forward.
Seen compare(const Setting& setting, double tolerance) {
  Stepper stepper = stepper_of(setting, {});
  std::vector<std::string> names;
  std::vector<Variation> variations;
  for (const auto& [name, step] : steps) {
    if (name == "turn" && !setting.root_speed.isZero(0.0)) continue;
    names.push_back(name);
    variations.push_back(variation_of(setting, name));
  }
  stepper.differentiate(variations);
  Seen seen;
  stepper.observe_kept_problems([&](const Stepper::KeptProblem& kept) {
    for (Eigen::Index i = 0; i < kept.problem.mu.size(); ++i) {
      const Vector3 r = kept.solution.impulse.segment<3>(3 * i);
      const double tangential = std::hypot(r[1], r[2]), bound = kept.problem.mu[i] * r[0];
      ++(r[0] <= 0.0 ? seen.open : tangential < bound * (1.0 - 1e-6) ? seen.stick : seen.slide);
    }
  });
  stepper.keep_for_gradient();
  std::vector<double> gains(names.size(), 0.0), sizes(names.size(), 0.0);
  for (int step = 0; step <= setting.steps; ++step) {
    if (step > 0) run(stepper, 1);
    if (step != 0 && step != setting.steps / 2 && step != setting.steps) continue;
    const std::vector<FibreChange> by = by_state(stepper, step);
    stepper.add_by_state(by);
    for (std::size_t k = 0; k < names.size(); ++k) add_gain(stepper, k, by, gains[k], sizes[k]);
  }
  EXPECT_EQ(stepper.derivative_report().refused, "");
  DerivativeReport report;
  const Variation gradient = stepper.gradient(report);
  EXPECT_EQ(report.refused, "");
  EXPECT_EQ(report.nearest_kink, stepper.derivative_report().nearest_kink);
  const VectorX weights = mixed(outcome(stepper).size());
  const Variation of_end = gradient_of_end(setting, weights);
  if (printing())
    std::printf("%d stick, %d slide, %d open; nearest kink %.1e at %.3f s, %d changes\n", seen.stick, seen.slide,
                seen.open, stepper.derivative_report().nearest_kink, stepper.derivative_report().kink_time,
                stepper.derivative_report().changes);
  for (std::size_t k = 0; k < names.size(); ++k) {
    const double h = names[k] == "shift" ? setting.shift_step : steps.at(names[k]);
    const auto at = [&](double scale) { return outcome_of(setting, {{names[k], scale * h}}); };
    const VectorX expected = (8.0 * (at(1) - at(-1)) - (at(2) - at(-2))) / (12.0 * h);
    const VectorX found = derivative(stepper, k);
    const double off = (found - expected).norm();
    if (printing())
      std::printf("  %-10s %.3e, off by %.1e of it; backward by %.1e, of differences by %.1e\n", names[k].c_str(),
                  expected.norm(), off / expected.norm(), (along(gradient, variations[k]) - gains[k]) / sizes[k],
                  (along(of_end, variations[k]) - weights.dot(expected)) / (weights.norm() * expected.norm()));
    EXPECT_LT(off, tolerance * expected.norm() + roundings / h) << names[k];
    EXPECT_NEAR(along(gradient, variations[k]), gains[k], setting.transposed * sizes[k]) << names[k];
    EXPECT_NEAR(along(of_end, variations[k]), weights.dot(expected),
                weights.norm() * (tolerance * expected.norm() + roundings / h))
        << names[k];
  }
  return seen;
}

constexpr double smooth = 1e-7;  // what is asked; differences are good to 1e-9 here

TEST(Tangent, OfAFibreThatSwingsInTheAir) {
  compare({}, smooth);
  compare({.clothoid = true}, smooth);
}

TEST(Tangent, OfAMovedRoot) { compare({.root_speed = Vector3(0.3, -0.2, 0.1)}, smooth); }

/// Its turn about its own axis weighs next to nothing: solves for its velocities lose four digits more.
TEST(Tangent, OfAFreeFibre) { compare({.root = rods::RootCondition::free, .transposed = 1e-10}, smooth); }

bodies::Obstacle floor_at(double height) {
  bodies::Obstacle out;
  out.name = "floor";
  out.shape = bodies::Plane{.point = Vector3(0.0, 0.0, height), .normal = Vector3::UnitZ()};
  return out;
}

bodies::Obstacle bar_at(double height) {
  bodies::Obstacle out;
  out.name = "bar";
  out.shape = bodies::Cylinder{
      .center = Vector3(0.07, 0.0, height), .axis = Vector3(0.1, 1.0, 0.0).normalized(), .radius = 5e-3, .length = 0.3};
  return out;
}

TEST(Tangent, OfAFibreThatSlidesOverABar) {
  const Seen seen = compare(
      {.obstacles = {bar_at(-8e-3)}, .friction = 0.1, .root_speed = Vector3(0.2, 0.05, 0.0), .curl = Vector3::Zero()},
      smooth);
  EXPECT_GT(seen.slide, 10);
}

/// Pushes at the tip of a hanging fibre from below, and goes sideways.
bodies::Obstacle plate() {
  bodies::Obstacle out = floor_at(-0.1511);
  out.motion.velocity = Vector3(0.02, 0.01, 0.05);
  return out;
}

/// Along its axis the fibre is stiff: a shift of the root changes the steps at which its tip jumps.
TEST(Tangent, OfATipThatSticksAndJumps) {
  const Seen seen = compare(
      {.obstacles = {plate()}, .friction = 1.5, .curl = Vector3(0.0, 0.5, 0.0), .hangs = true, .shift_step = 1e-8},
      smooth);
  EXPECT_GE(seen.stick, 5);
  EXPECT_GE(seen.slide, 5);
  EXPECT_GE(seen.open, 5);
}

TEST(Tangent, OfATipThatSlides) {
  const Seen seen =
      compare({.obstacles = {plate()}, .friction = 0.05, .curl = Vector3(0.0, 0.5, 0.0), .hangs = true}, smooth);
  EXPECT_GT(seen.slide, 10);
}

TEST(Tangent, OfOnePass) {
  const Seen seen = compare(
      {.obstacles = {bar_at(-8e-3)}, .friction = 0.3, .relinearisations = 0, .steps = 30, .curl = Vector3::Zero()},
      smooth);
  EXPECT_GT(seen.stick + seen.slide, 5);
}

TEST(Tangent, OfFibresThatCross) {
  const Seen seen = compare({.fibres = 2, .friction = 0.3, .curl = Vector3::Zero()}, smooth);
  EXPECT_GT(seen.stick + seen.slide, 10);
}

TEST(Tangent, SaysWhatItDoesNotKnow) {
  const auto told = [](const std::function<void(assembly::World&, StepOptions&)>& change) {
    assembly::World world;
    SimulationState state;
    test::add(world, state, made({}, {}, 0));
    StepOptions options = test::step_options(dt);
    change(world, options);
    return test::error_of([&] { Stepper(std::move(world), options, std::move(state)).differentiate({}); });
  };
  EXPECT_EQ(told([](auto&, auto& options) { options.scheme = Scheme::semi_implicit; }),
            "gradients: another scheme than 'carried'; they know no other");
  EXPECT_EQ(told([](auto& world, auto&) { world.fibres[0].growth.final_scale = 2.0; }),
            "gradients: growth; expected none");
  Stepper stepper = stepper_of({}, {});
  EXPECT_EQ(test::error_of([&] {
              stepper.differentiate({{.fibres = {{}, {}}}});
            }),
            "gradients: a variation needs one entry a fibre");
  EXPECT_EQ(test::error_of([&] { stepper.differentiate({{.fibres = {{.natural = VectorX::Ones(2)}}}}); }),
            "gradients: a variation does not match its rod");
  DerivativeReport report;
  const std::string nothing_kept = "gradients: nothing is kept for one; call keep_for_gradient() before the steps";
  EXPECT_EQ(test::error_of([&] { stepper.add_by_state({}); }), nothing_kept);
  EXPECT_EQ(test::error_of([&] { static_cast<void>(stepper.gradient(report)); }), nothing_kept);
  stepper.keep_for_gradient();
  EXPECT_EQ(test::error_of([&] { stepper.add_by_state({}); }),
            "gradients: a derivative by a state needs one entry a fibre");
  EXPECT_EQ(test::error_of([&] {
              stepper.add_by_state({{VectorX::Zero(2), VectorX::Zero(2)}});
            }),
            "gradients: a derivative by a state does not match its rod");
  EXPECT_EQ(test::error_of([&] {
              along({.fibres = {{}, {}}}, {.fibres = {{}}});
            }),
            "gradients: a direction needs one entry a fibre");
  const rods::Rod& rod = stepper.kinematics().rod(0);
  EXPECT_EQ(test::error_of([&] {
              static_cast<void>(by_positions(rod, Matrix3X::Zero(3, 2), {{0, 0.0}}));
            }),
            "gradients: expected a derivative for each point");
}

}  // namespace TRESSE_TEST_FILE
}  // namespace tresse::dynamics
