#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>

#include <Eigen/Geometry>

#include <tresse/inverse/rest_shape.hpp>
#include <tresse/rods/discrete_elastic_rod.hpp>
#include <tresse/rods/mass_spring.hpp>
#include <tresse/rods/super_clothoid.hpp>
#include <tresse/rods/super_helix.hpp>

#include "support/messages.hpp"

namespace tresse::inverse {
namespace TRESSE_TEST_FILE {

using rods::CrossSection;
using rods::RootCondition;

bool printing() { return std::getenv("TRESSE_TEST_PRINT") != nullptr; }

constexpr rods::Material hair{.density = 1300.0, .young_modulus = 3e9, .poisson_ratio = 0.3};

enum class Model { helix, clothoid, discrete, springs };

class Random {
 public:
  explicit Random(unsigned seed) : engine_(seed) {}
  double uniform(double low, double high) { return std::uniform_real_distribution<double>(low, high)(engine_); }
  Vector3 vector(double size) { return {uniform(-size, size), uniform(-size, size), uniform(-size, size)}; }

 private:
  std::mt19937 engine_;
};

/// A rod of elements of different lengths and sections, those of springs round, in a random shape.
std::unique_ptr<rods::Rod> random_rod(Model model, int elements, RootCondition root, Random& random) {
  std::vector<rods::SuperHelixElement> helices;
  std::vector<rods::SuperClothoidElement> clothoids;
  std::vector<rods::RodEdge> edges;
  for (int i = 0; i < elements; ++i) {
    const double length = random.uniform(0.01, 0.02), radius = random.uniform(3e-5, 6e-5);
    const CrossSection section =
        model == Model::springs ? CrossSection::circle(radius) : CrossSection{radius, 0.7 * radius};
    helices.push_back({length, section, Vector3::Zero()});
    clothoids.push_back({length, section});
    edges.push_back({length, section, Vector3::Zero()});
  }
  std::unique_ptr<rods::Rod> out;
  switch (model) {
    case Model::helix:
      out = make_super_helix(helices, hair, root);
      break;
    case Model::clothoid:
      out = make_super_clothoid(clothoids, std::vector<Vector3>(elements + 1, Vector3::Zero()), hair, root);
      break;
    case Model::discrete:
      out = make_discrete_elastic_rod(edges, hair, root);
      break;
    case Model::springs:
      out = make_mass_spring(edges, hair, root);
      break;
  }
  VectorX shape(out->rest_curvature().size());
  for (Eigen::Index i = 0; i < shape.size(); ++i) shape[i] = random.uniform(-40.0, 40.0);
  if (model == Model::springs) {
    // In the plane of gravity, bent upwards.
    for (Eigen::Index i = 0; i < shape.size(); i += 3)
      shape.segment<3>(i) = Vector3(0.0, -random.uniform(5.0, 20.0), 0.0);
  }
  out->update(out->shaped({}, {}, shape, VectorX::Zero(shape.size())));
  return out;
}

/// Elastic energy, that of the weight, and that of forces at points, after a move along unit `k` of the unknowns.
double energy(rods::Rod& rod, const rods::RodState& from, const Loads& loads, Eigen::Index k, double step) {
  VectorX v = VectorX::Zero(rod.dof());
  v[k] = step;
  rods::RodState there = rod.advanced(from, v, 1.0, from.root, {});
  there.rates.setZero();
  there.root_velocity = {};
  rod.update(there);
  const rods::RodEnergies parts = rod.energies(loads.gravity);
  double out = parts.elastic + parts.gravity;
  for (const PointLoad& load : loads.points)
    out -= load.force.dot(rod.section(rod.piece_begin(load.piece) + load.u).position);
  return out;
}

/// The largest slope of the energy over the coordinates, by central differences with one extrapolation, over the
/// largest load.
double imbalance(const rods::RodModel& model, const rods::RodState& state, const Loads& loads, double step) {
  const std::unique_ptr<rods::Rod> rod = model.make_rod();
  rods::RodState still = state;
  still.rates.setZero();
  rod->update(still);
  double worst = 0.0;
  const VectorX load = generalised_load(*rod, loads);
  for (Eigen::Index k = rod->root_dof(); k < rod->dof(); ++k) {
    const auto slope = [&](double h) {
      return (energy(*rod, still, loads, k, h) - energy(*rod, still, loads, k, -h)) / (2.0 * h);
    };
    worst = std::max(worst, std::abs(4.0 * slope(0.5 * step) - slope(step)) / 3.0);
  }
  return worst / load.tail(rod->coordinate_count()).lpNorm<Eigen::Infinity>();
}

class RestShape : public ::testing::TestWithParam<Model> {};
std::string name_of(const ::testing::TestParamInfo<Model>& tested) {
  constexpr const char* names[] = {"helix", "clothoid", "discrete", "springs"};
  return names[tested.index];
}
INSTANTIATE_TEST_SUITE_P(Models, RestShape,
                         ::testing::Values(Model::helix, Model::clothoid, Model::discrete, Model::springs), name_of);

TEST_P(RestShape, NoStepAwayFromItChangesTheEnergy) {
  Random random(1);
  const bool nodal = GetParam() == Model::discrete || GetParam() == Model::springs;
  for (int trial = 0; trial < 5; ++trial) {
    const auto rod = random_rod(GetParam(), 5, RootCondition::clamped, random);
    const Loads loads{.gravity = {0.0, 0.0, -9.81}};
    const RestingRod found = resting_rod(*rod, loads);
    EXPECT_EQ(found.status, Status::converged);
    EXPECT_LT(found.residual, nodal ? 1e-7 : 1e-12) << trial;  // a stretch rounds, and EA is large
    const double step = nodal ? 1e-7 : 1e-2;
    EXPECT_LT(imbalance(*found.model, rod->state(), loads, step), nodal ? 1e-4 : 1e-7) << trial;
    EXPECT_GT(imbalance(*rod->model(), rod->state(), loads, step), 1.0) << trial;  // it is told apart
  }
}

TEST_P(RestShape, BalancesForcesAtPointsToo) {
  if (GetParam() == Model::springs) return;  // a force of any direction is more than they can hold
  Random random(2);
  const bool nodal = GetParam() == Model::discrete;
  for (int trial = 0; trial < 5; ++trial) {
    const auto rod = random_rod(GetParam(), 5, RootCondition::clamped, random);
    const double weight = rod->mass() * 9.81;
    const Loads loads{.gravity = random.vector(9.81),
                      .points = {{1, 0.004, random.vector(weight)}, {4, 0.007, random.vector(weight)}}};
    const RestingRod found = resting_rod(*rod, loads);
    EXPECT_LT(imbalance(*found.model, rod->state(), loads, nodal ? 1e-7 : 1e-2), nodal ? 1e-4 : 1e-7) << trial;
  }
}

TEST_P(RestShape, OfNothingThatActsIsTheShape) {
  Random random(3);
  const auto rod = random_rod(GetParam(), 6, RootCondition::clamped, random);
  const RestingRod found = resting_rod(*rod, {});
  EXPECT_LT((found.model->rest_curvature() - rod->curvature()).norm(), 1e-12 * rod->curvature().norm());
}

/// A couple at the tip bends and twists all sections alike: M = K3 (k - k_nat).
TEST(RestCurvature, UnderACoupleAtTheTipIsThatOfEverySection) {
  const double radius = 1e-4, length = 0.2;
  const int elements = 8;
  auto rod = rods::make_super_helix(
      std::vector<rods::SuperHelixElement>(elements, {length / elements, {radius, 0.5 * radius}, Vector3::Zero()}),
      hair, RootCondition::clamped);
  const Vector3 couple(1e-8, -2e-8, 3e-8);
  const VectorX found = rest_curvature(*rod, {.points = {{elements - 1, length / elements, Vector3::Zero(), couple}}});
  const Vector3 stiffness = rods::bending_stiffness({radius, 0.5 * radius}, hair);
  for (int i = 0; i < elements; ++i)
    EXPECT_LT((found.segment<3>(3 * i) + couple.cwiseQuotient(stiffness)).norm(), 1e-12 * found.norm()) << i;
}

/// A rod that is to lie level must be made curved: the moment of its weight is w (L - s)^2 / 2, which elements feel in
/// the mean.
TEST(RestCurvature, OfALevelCantileverIsTheMomentOfItsWeight) {
  const double radius = 1e-4, length = 0.2;
  const int elements = 7;
  const CrossSection section = CrossSection::circle(radius);
  auto rod = rods::make_super_helix(
      std::vector<rods::SuperHelixElement>(elements, {length / elements, section, Vector3::Zero()}), hair,
      RootCondition::clamped);
  const VectorX found = rest_curvature(*rod, {.gravity = {0.0, 0.0, -9.81}});
  const double weight = hair.density * rods::area(section) * 9.81;
  const double bending = rods::bending_stiffness(section, hair)[1];
  for (int i = 0; i < elements; ++i) {
    const double a = length * (elements - i) / elements, b = length * (elements - i - 1) / elements;
    const double mean = weight / 6.0 * (a * a * a - b * b * b) / (a - b) / bending;
    // k1 bends about n1, downwards where it is above zero.
    EXPECT_LT((found.segment<3>(3 * i) - Vector3(0.0, -mean, 0.0)).norm(), 1e-12 * mean) << i;
  }
}

/// k_nat = k - K3^-1 R^T M of the curve itself, as the number of elements grows.
TEST(RestCurvature, TendsToThatOfTheContinuum) {
  const double length = 0.2;
  const CrossSection section{1e-4, 6e-5};
  const Vector3 gravity(1.0, 2.0, -9.0), shape(5.0, 20.0, -12.0);
  const double density = hair.density * rods::area(section);
  double before = 0.0;
  for (const int elements : {8, 16, 32}) {
    auto rod =
        rods::make_super_clothoid(std::vector<rods::SuperClothoidElement>(elements, {length / elements, section}),
                                  std::vector<Vector3>(elements + 1, Vector3::Zero()), hair, RootCondition::clamped);
    VectorX q(3 * (elements + 1));
    for (int i = 0; i <= elements; ++i) q.segment<3>(3 * i) = shape;
    rod->update(rod->shaped({}, {}, q, VectorX::Zero(q.size())));
    const VectorX found = rest_curvature(*rod, {.gravity = gravity});
    // The moment of what lies beyond a node, by the trapezium rule with one extrapolation.
    const auto moment = [&](double s, int cuts) {
      const Vector3 at = rod->section(s).position;
      Vector3 sum = Vector3::Zero();
      for (int k = 0; k <= cuts; ++k) {
        const double weight = (k == 0 || k == cuts ? 0.5 : 1.0) * (length - s) / cuts;
        sum += weight * (rod->section(s + (length - s) * k / cuts).position - at);
      }
      return Vector3(density * sum.cross(gravity));
    };
    double worst = 0.0;
    for (int i = 0; i <= elements; ++i) {
      const double s = length * i / elements;
      const Vector3 M = (4.0 * moment(s, 400) - moment(s, 200)) / 3.0;
      const Vector3 exact =
          shape - (rod->section(s).frame.transpose() * M).cwiseQuotient(rods::bending_stiffness(section, hair));
      worst = std::max(worst, (found.segment<3>(3 * i) - exact).norm());
    }
    if (printing()) std::printf("%d elements: %.2e of %.2e 1/m\n", elements, worst, (found - q).norm());
    if (before > 0.0) {
      EXPECT_GT(before / worst, 3.5) << elements;
    }
    before = worst;
  }
}

TEST(RestCurvature, OfAFreeRodAsksForBalance) {
  Random random(5);
  for (const Model model : {Model::helix, Model::clothoid, Model::discrete}) {
    SCOPED_TRACE(static_cast<int>(model));
    auto rod = random_rod(model, 4, RootCondition::free, random);
    test::expect_refused(
        [&] {
          static_cast<void>(resting_rod(*rod, {.gravity = {0, 0, -9.81}}));
        },
        "the loads on a free rod do not balance; no natural shape holds it");
    // Two pulls that face each other keep it where it is.
    const Vector3 a = rod->section(0.0).position, b = rod->section(rod->length()).position;
    const Vector3 pull = 1e-6 * (b - a).normalized();
    const double end = rod->span(3).rest;
    const Loads loads{.points = {{0, 0.0, -pull}, {3, end, pull}}};
    RestingRod found;
    ASSERT_NO_THROW(found = resting_rod(*rod, loads));
    EXPECT_LT(found.residual, 1e-7);
    const Loads again{.points = {{0, 0.0, -pull}, {3, found.model->make_rod()->span(3).rest, pull}}};
    EXPECT_LT(imbalance(*found.model, rod->state(), again, model == Model::discrete ? 1e-7 : 1e-2),
              model == Model::discrete ? 1e-4 : 1e-7);
  }
}

std::unique_ptr<rods::Rod> springs(const Vector3& curvature) {
  const rods::RodEdge edge{0.02, CrossSection::circle(5e-5), Vector3::Zero()};
  auto out = rods::make_mass_spring(std::vector<rods::RodEdge>(5, edge), hair, RootCondition::clamped);
  VectorX shape(15);
  for (int i = 0; i < 5; ++i) shape.segment<3>(3 * i) = curvature;
  out->update(out->shaped({}, {}, shape, VectorX::Zero(15)));
  return out;
}

TEST(RestShapeOfSprings, IsRefusedWherePointsCannotHoldTheLoad) {
  const auto rests = [](const rods::Rod& rod, const Vector3& gravity) {
    static_cast<void>(resting_rod(rod, {.gravity = gravity}));
  };
  const auto bent = springs({0.0, 0.0, 10.0}), straight = springs(Vector3::Zero());
  test::expect_refused(
      [&] {
        rests(*bent, {0, 0, -9.81});
      },
      "does not hold its load: the moment there is not in the plane of its bend, or it is straight");
  test::expect_refused([&] { rests(*straight, {0, 0, -9.81}); }, "does not hold its load");
  rests(*straight, {9.81, 0, 0});  // it hangs
  rests(*bent, {0, -9.81, 0});
  // Its weight alone bends it more than this.
  test::expect_refused(
      [&] {
        rests(*springs({0.0, 0.0, -0.5}), {0, -200, 0});
      },
      "would have to bend the other way at rest, which points do not tell");
}

TEST(RestShapeInput, IsCheckedAndTold) {
  Random random(6);
  const auto rod = random_rod(Model::helix, 3, RootCondition::clamped, random);
  const auto chain = springs({0.0, 0.0, 10.0});
  const auto told = [&](const rods::Rod& of, const Loads& loads) {
    return test::error_of([&] { static_cast<void>(resting_rod(of, loads)); });
  };
  const double nan = std::nan("");
  EXPECT_EQ(told(*rod, {.gravity = {0, nan, 0}}), "inverse: gravity is not finite");
  EXPECT_EQ(told(*rod, {.points = {{3, 0.0}}}), "inverse: load 0 is at element 3; expected one of the rod");
  EXPECT_EQ(told(*rod, {.points = {{0, 1.0}}}), "inverse: load 0 is at 1.000000 m; expected a place on its element");
  EXPECT_EQ(told(*rod, {.points = {{0, 0.0, {nan, 0, 0}, Vector3::Zero()}}}), "inverse: load 0 is not finite");
  EXPECT_EQ(told(*chain, {.points = {{0, 0.0, Vector3::Zero(), {1, 0, 0}}}}),
            "inverse: load 0 has a moment, which a mass-spring chain cannot take");
  EXPECT_EQ(test::error_of([&] { static_cast<void>(rest_curvature(*chain, {})); }),
            "inverse: a rod that stretches has natural lengths too; expected a super-helix or a super-clothoid");
  EXPECT_EQ(test::error_of([&] {
              static_cast<void>(rod->model()->with_lengths({1.0, 1.0, 1.0}));
            }),
            "this rod's model does not stretch; expected a discrete elastic rod or a mass-spring chain");
}

}  // namespace TRESSE_TEST_FILE
}  // namespace tresse::inverse
