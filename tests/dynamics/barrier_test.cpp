#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <random>

#include <support/worlds.hpp>
#include <tresse/geometry/capsule_chain.hpp>

/// Under a barrier nothing touches in any accepted part of a step, as sampling from outside confirms.
namespace TRESSE_TEST_FILE {

using namespace tresse;

constexpr double radius = 1e-3;
constexpr double touching = 2.0 * radius;
constexpr double length = 0.15;
constexpr int chords = 300;

/// An axis as chords, and how far the axis is from each.
struct Shape {
  std::vector<Vector3> points;
  std::vector<double> beside;  ///< [m]
};

Shape shape_of(const rods::Rod& rod) {
  const auto at = [&](double i) -> Vector3 { return rod.section(length * i / chords).position; };
  Shape out;
  for (int i = 0; i <= chords; ++i) out.points.push_back(at(i));
  for (int i = 0; i < chords; ++i) {
    const auto n = static_cast<std::size_t>(i);
    out.beside.push_back(1.05 * (at(i + 0.5) - 0.5 * (out.points[n] + out.points[n + 1])).norm());
  }
  return out;
}

/// A straight obstacle of one chord.
Shape bar() { return {{{0.0, -0.1, 0.0}, {0.0, 0.1, 0.0}}, {0.0}}; }

/// Two axes that go straight from shapes to shapes are certainly so near at some instant. [m]
double nearest(const std::array<Shape, 2>& from, const std::array<Shape, 2>& to) {
  constexpr int instants = 12;
  double out = 1.0;
  for (std::size_t i = 0; i + 1 < from[0].points.size(); ++i) {
    for (std::size_t j = 0; j + 1 < from[1].points.size(); ++j) {
      const auto at = [&](std::size_t k, std::size_t n, double time) -> Vector3 {
        return (1.0 - time) * from[k].points[n] + time * to[k].points[n];
      };
      const double way =
          std::max((at(0, i, 1.0) - at(0, i, 0.0)).norm(), (at(0, i + 1, 1.0) - at(0, i + 1, 0.0)).norm()) +
          std::max((at(1, j, 1.0) - at(1, j, 0.0)).norm(), (at(1, j + 1, 1.0) - at(1, j + 1, 0.0)).norm());
      const auto apart = [&](double time) {
        return geometry::segment_distance(at(0, i, time), at(0, i + 1, time), at(1, j, time), at(1, j + 1, time));
      };
      const double beside = std::max(from[0].beside[i], to[0].beside[i]) + std::max(from[1].beside[j], to[1].beside[j]);
      const double first = apart(0.0);
      if (first - way > 1.5 * touching) continue;
      out = std::min(out, first + beside);
      for (int k = 1; k <= instants; ++k) out = std::min(out, apart(static_cast<double>(k) / instants) + beside);
    }
  }
  return out;
}

struct Outcome {
  bool told = false;
  int parts = 0;
  double nearest = 1.0;  ///< of two axes, ever [m]
  double lowest = 1.0;   ///< of an axis over the floor, ever [m]
  double end = 1.0;      ///< the least gap at the end of a step [m]
  double proved = 0.0;   ///< StepReport::least_gap [m]
};

/// Two fibres thrown at each other, at a bar and at the floor below them.
Outcome thrown(unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<> unit(-1.0, 1.0);
  const auto any = [&](double size) -> Vector3 { return size * Vector3{unit(random), unit(random), unit(random)}; };
  const double speed = std::pow(10.0, 0.2 + 0.9 * unit(random));  // 0.2 to 13 m/s
  const rods::Material soft{.density = 1100.0, .young_modulus = 1e7, .poisson_ratio = 0.4, .damping_time = 1e-3};
  assembly::World world;
  dynamics::SimulationState state;
  world.law = std::make_shared<assembly::Coulomb>(MatrixX::Constant(1, 1, 0.3));
  assembly::set_load(world, assembly::Gravity({0.0, 0.0, -9.81}));
  for (int f = 0; f < 2; ++f) {
    const Matrix3 turn = Eigen::AngleAxisd(0.8 * f + 0.3 * unit(random), Vector3::UnitZ()).toRotationMatrix();
    const Vector3 root = Vector3(0.0, 0.0, 4e-3 + 6e-3 * f) - turn * Vector3(0.5 * length, 0.0, 0.0);
    test::add(world, state, test::fibre(5, length, radius, soft, {root, turn}, rods::RootCondition::free));
    rods::RodState& rod = state.rods.back();
    const Vector3 bend = any(4.0);
    for (Eigen::Index i = 0; i + 2 < rod.coordinates.size(); i += 3)
      rod.coordinates.segment<3>(i) = Vector3(0.0, 0.0, bend.z());
    rod.root_velocity = {any(speed) - Vector3(0.0, 0.0, (f + 0.5) * speed), any(10.0)};
  }
  bodies::Obstacle obstacle;
  obstacle.shape = bodies::Capsule{bar().points[0], bar().points[1], radius};
  test::add(world, obstacle);
  constexpr double floor = -8e-3;
  test::add(world, {"floor", "", bodies::Plane{{0.0, 0.0, floor}, Vector3::UnitZ()}, Vector3::Zero(), {}});
  dynamics::StepOptions options = test::step_options(1e-3);
  constexpr double delta = 1e-5;
  options.penalty = dynamics::PenaltyStep{{laws::Law::ipc, delta, 1e-4}, {}};
  options.margin = options.detection.softness = delta;
  dynamics::Stepper stepper(std::move(world), options, std::move(state));
  Outcome out;
  std::vector<Shape> before;
  const auto look = [&] {
    std::vector<Shape> now;
    for (int f = 0; f < 2; ++f) now.push_back(shape_of(stepper.kinematics().rod(f)));
    for (const Shape& shape : now) {
      for (const Vector3& point : shape.points) out.lowest = std::min(out.lowest, point.z() - floor);
    }
    if (before.empty()) before = now;
    out.nearest =
        std::min({out.nearest, nearest({before[0], before[1]}, {now[0], now[1]}),
                  nearest({before[0], bar()}, {now[0], bar()}), nearest({before[1], bar()}, {now[1], bar()})});
    before = std::move(now);
  };
  stepper.observe_kept_problems([&](const auto&) { look(); });  // each part, where it begins
  for (int i = 0; i < 12 && !out.told; ++i) {
    const dynamics::StepReport report = stepper.step();
    EXPECT_TRUE(report.finite) << "seed " << seed;
    out.told = report.touch || report.crossing;
    out.parts = std::max(out.parts, report.parts);
    out.end = std::min(out.end, report.nearest);
    out.proved = report.least_gap;
  }
  if (!out.told) look();
  return out;
}

TEST(Barrier, NothingTouchesInAnyPartOfFastEncounters) {
  int touched = 0, told = 0, cut = 0;
  constexpr unsigned throws = 40;
  for (unsigned seed = 0; seed < throws; ++seed) {
    const Outcome out = thrown(seed);
    told += out.told ? 1 : 0;
    if (out.told) continue;
    touched += out.end < 1e-5 ? 1 : 0;
    cut += out.parts > 1 ? 1 : 0;
    EXPECT_GT(out.nearest, touching) << "seed " << seed;
    EXPECT_GT(out.lowest, radius) << "seed " << seed;
    EXPECT_GT(out.end, 0.0) << "seed " << seed;
    EXPECT_EQ(out.proved, 0.0) << "seed " << seed;
  }
  std::printf("%u throws: %d came within the barrier, %d were cut, %d told of a touch\n", throws, touched, cut, told);
  EXPECT_GT(touched, 20);
  EXPECT_GT(cut, 5);
  EXPECT_LE(told, 4);
}

}  // namespace TRESSE_TEST_FILE
