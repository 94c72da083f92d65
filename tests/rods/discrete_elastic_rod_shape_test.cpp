#include <fstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>

#include <tresse/rods/discrete_elastic_rod.hpp>

#include "rods/rod_cases.hpp"

// The discrete elastic rod against the continuum: shapes, frequencies, buckling, and the super-helix.
namespace tresse::rods {
namespace TRESSE_TEST_FILE {

using namespace rod_cases;
using nlohmann::json;

struct Unit {
  double radius = 1e-2;
  double gamma = 0.0;  ///< weight per unit length under unit gravity
  double poisson_ratio = 0.3;
  Vector3 natural = Vector3::Zero();
  RootCondition root = RootCondition::clamped;
};

Material unit_material(const Unit& u) {
  return {.density = (u.gamma > 0.0 ? u.gamma : 1.0) / (M_PI * u.radius * u.radius),
          .young_modulus = 4.0 / (M_PI * std::pow(u.radius, 4)),
          .poisson_ratio = u.poisson_ratio};
}

/// Rod of length 1 with EI = 1, GJ = 1 / (1 + nu).
std::unique_ptr<Rod> unit_rod(int edges, const Unit& u) {
  const std::vector<RodEdge> parts(edges, {1.0 / edges, CrossSection::circle(u.radius), u.natural});
  return make_discrete_elastic_rod(parts, unit_material(u), u.root);
}

std::unique_ptr<Rod> unit_super_helix(int elements, const Unit& u) {
  const std::vector<SuperHelixElement> parts(elements, {1.0 / elements, CrossSection::circle(u.radius), u.natural});
  return make_super_helix(parts, unit_material(u), u.root);
}

TEST(DiscreteElasticRodShape, NaturalCurvatureBendsTheWayOfTheSuperHelix) {
  // Shape and, for another curvature than the natural one, energy; both of second order.
  const Unit unit{.natural = {3.0, -2.0, 4.0}};
  const Vector3 other(1.0, 1.5, -2.5);
  const auto exact = unit_super_helix(1, unit);
  double previous_tip = 0.0, previous_energy = 0.0, previous_frame = 0.0;
  for (const int edges : {20, 40, 80}) {
    const auto rod = unit_rod(edges, unit);
    EXPECT_LT(rod->elastic_energy(), 1e-20);
    EXPECT_LT(relative(rod->curvature(), rod->rest_curvature()), 1e-12);
    VectorX force(rod->dof());
    rod->elastic_force(force);
    EXPECT_LT(force.norm(), 1e-8);  // E A is 4e4, rounding of edges of 1/80
    const double tip = (rod->section(1.0).position - exact->section(1.0).position).norm();
    const VectorX curvature = rod->curvature_of_elements(other.replicate(edges, 1));
    const auto bent = rod->clone();
    bent->update(rod->shaped({}, {}, curvature, VectorX::Zero(curvature.size())));
    // The half edge before a free end has no node that bends.
    const Vector3 strain = other - unit.natural;
    const double continuum = 0.5 * (1.0 - 0.5 / edges) * strain.cwiseAbs2().dot(Vector3(1.0 / 1.3, 1.0, 1.0));
    const double energy = std::abs(bent->elastic_energy() / continuum - 1.0);
    // The frame of an edge is that of its middle.
    const double frame = (rod->section(1.0).frame - exact->section(1.0 - 0.5 / edges).frame).norm();
    if (printing()) std::printf("edges %d: tip %.2e energy %.2e frame %.2e\n", edges, tip, energy, frame);
    if (edges > 20) {
      EXPECT_NEAR(std::log2(previous_tip / tip), 2.0, 0.1);
      EXPECT_NEAR(std::log2(previous_frame / frame), 2.0, 0.1);
      EXPECT_NEAR(std::log2(previous_energy / energy), 2.0, 0.1);
    }
    previous_tip = tip;
    previous_energy = energy;
    previous_frame = frame;
  }
  EXPECT_LT(previous_tip, 2e-3);
}

TEST(DiscreteElasticRodShape, AFreeRodStartsAsAClampedOneDoes) {
  // The root is at s = 0, half an edge before the middle of the first edge.
  const Unit circle{.natural = {0.0, 0.0, 2.0}, .root = RootCondition::free};
  EXPECT_LT(
      (unit_rod(50, circle)->section(1.0).position - Vector3(0.5 * std::sin(2.0), std::sin(1.0) * std::sin(1.0), 0))
          .norm(),
      1e-4);
  const Unit unit{.natural = {3.0, -2.0, 4.0}, .root = RootCondition::free};
  const auto exact = unit_super_helix(1, unit);
  double previous = 0.0;
  for (const int edges : {20, 40, 80}) {
    const double tip = (unit_rod(edges, unit)->section(1.0).position - exact->section(1.0).position).norm();
    if (edges > 20) {
      EXPECT_NEAR(std::log2(previous / tip), 2.0, 0.1);
    }
    previous = tip;
  }
  EXPECT_LT(previous, 2e-3);
}

TEST(DiscreteElasticRodShape, RatesOfAShapeAreItsDerivative) {
  for (const RootCondition root : {RootCondition::clamped, RootCondition::free}) {
    const auto rod = unit_rod(6, {.root = root});
    std::mt19937 random(3);
    std::uniform_real_distribution<double> u(-1.0, 1.0);
    const Eigen::Index k = rod->rest_curvature().size();
    const VectorX curvature = VectorX::NullaryExpr(k, [&] { return 8.0 * u(random); });
    const VectorX rate = VectorX::NullaryExpr(k, [&] { return 5.0 * u(random); });
    const Pose pose{{0.1, 0.2, 0.3}, math::rotation_exp({1.0, -0.5, 0.7})};
    const Twist motion{{0.5, -0.2, 0.4}, {1.0, 2.0, -1.5}};
    const RodState state = rod->shaped(pose, motion, curvature, rate);
    const auto nodes = [&](double h) -> VectorX {
      const Pose moved{pose.position + h * motion.linear, math::rotation_exp(h * motion.angular) * pose.frame};
      const RodState at = rod->shaped(moved, motion, curvature + h * rate, rate);
      rod->update(at);
      VectorX out(3 * 7);
      for (int i = 0; i <= 6; ++i) out.segment<3>(3 * i) = rod->section(rod->piece_begin(i)).position;
      return out;
    };
    const VectorX found = difference(nodes, 1e-3);
    rod->update(state);
    Matrix3X ends(3, 7);
    rod->end_velocities(state.rates, ends);
    EXPECT_LT((found - ends.reshaped()).norm(), 1e-10);
    EXPECT_LT(relative(rod->curvature(), curvature), 1e-12);
    // The curvatures change at their rate: twist angles too.
    const auto curvatures = [&](double h) -> VectorX {
      Pose next = pose;
      next.position += h * motion.linear;
      next.frame = math::rotation_exp(h * motion.angular) * pose.frame;
      rod->update(rod->advanced(state, state.rates, h, next, motion));
      return rod->curvature();
    };
    EXPECT_LT((difference(curvatures, 1e-4) - rate).norm(), 1e-7);
    if (root == RootCondition::free) {
      const RodState free = rod->advanced(state, state.rates, 0.0, {}, {});
      EXPECT_LT((free.root.frame - pose.frame).norm(), 1e-13);
      EXPECT_LT((free.root.position - pose.position).norm(), 1e-14);
      EXPECT_LT((free.root_velocity.linear - motion.linear).norm(), 1e-14);
      EXPECT_LT((free.root_velocity.angular - motion.angular).norm(), 1e-12);
    }
  }
}

/// Smallest angular frequencies of small vibrations about the natural shape.
VectorX frequencies(const Rod& rod) {
  const int n = rod.dof();
  MatrixX mass(n, n), stiffness = MatrixX::Zero(n, n);
  rod.mass_matrix(mass);
  rod.add_stiffness(1.0, 0.0, stiffness);
  return Eigen::GeneralizedSelfAdjointEigenSolver<MatrixX>(stiffness, mass).eigenvalues().cwiseMax(0.0).cwiseSqrt();
}

TEST(DiscreteElasticRodShape, CantileverVibratesAtTheFrequenciesOfTheBeam) {
  // rho S = L = EI = 1. First two bending modes (roots of cos x cosh x = -1); the first of twist,
  // (pi/2) sqrt(G/rho); of stretch (pi/2) sqrt(E/rho).
  const double radius = 1e-2;
  const double first = 1.875104068711961 * 1.875104068711961, second = 4.694091132974175 * 4.694091132974175;
  const double twist = 0.5 * M_PI * std::sqrt(1.0 / 1.3) / std::sqrt(0.5 * radius * radius);
  const double stretch = 0.5 * M_PI * std::sqrt(4.0) / radius;
  double previous = 0.0;
  for (const int edges : {20, 40}) {
    const VectorX found = frequencies(*unit_rod(edges, {.radius = radius}));
    const auto nearest = [&](double wanted) { return (found.array() - wanted).abs().minCoeff() / wanted; };
    const double error = std::abs(found[0] / first - 1.0);
    if (printing()) {
      std::printf("edges %d: bending %.2e %.2e, twist %.2e, stretch %.2e\n", edges, error,
                  std::abs(found[2] / second - 1.0), nearest(twist), nearest(stretch));
    }
    EXPECT_NEAR(found[1] / found[0], 1.0, 1e-8);  // two planes
    EXPECT_LT(std::abs(found[2] / second - 1.0), 20.0 / (edges * edges));
    EXPECT_LT(nearest(twist), 1.0 / (edges * edges));
    EXPECT_LT(nearest(stretch), 1.0 / (edges * edges));
    if (edges > 20) {
      EXPECT_NEAR(std::log2(previous / error), 2.0, 0.1);
    }
    previous = error;
  }
  EXPECT_LT(previous, 2e-3);
}

TEST(DiscreteElasticRodShape, AnEllipticSectionIsStifferAcrossItsLongAxis) {
  const Material material{.density = 1000.0, .young_modulus = 1e9, .poisson_ratio = 0.3};
  const CrossSection section{1e-3, 2e-3};
  const std::vector<RodEdge> parts(30, {0.01, section, Vector3::Zero()});
  const auto rod = make_discrete_elastic_rod(parts, material, RootCondition::clamped);
  const VectorX found = frequencies(*rod);
  const Vector3 stiffness = bending_stiffness(section, material);
  const double factor = 1.875104068711961 * 1.875104068711961 / (0.3 * 0.3) / std::sqrt(1000.0 * area(section));
  EXPECT_NEAR(found[0] / (factor * std::sqrt(stiffness[2])), 1.0, 2e-3);
  EXPECT_NEAR(found[1] / (factor * std::sqrt(stiffness[1])), 1.0, 2e-3);
}

/// Newton on the potential with the weight turned on in steps. Returns |gradient|.
double equilibrium(Rod& rod, const Vector3& gravity, int loads) {
  const int n = rod.dof();
  VectorX gradient(n);
  MatrixX hessian(n, n);
  for (int load = 1; load <= loads; ++load) {
    for (int iteration = 0; iteration < (load == loads ? 12 : 4); ++iteration) {
      rod.potential_gradient(gravity * load / loads, gradient);
      rod.potential_hessian(gravity * load / loads, hessian);
      const RodState state = rod.state();
      rod.update(rod.advanced(state, -Eigen::LDLT<MatrixX>(hessian).solve(gradient), 1.0, state.root, {}));
    }
  }
  rod.potential_gradient(gravity, gradient);
  return gradient.norm();
}

TEST(DiscreteElasticRodShape, HeavyCurvedRodsInSpaceConvergeToTheContinuum) {
  std::ifstream file(std::string(TRESSE_TEST_DATA) + "/cantilever/cantilever.json");
  const auto vector3 = [](const json& j) -> Vector3 {
    return {j[0].get<double>(), j[1].get<double>(), j[2].get<double>()};
  };
  const json data = json::parse(file);
  for (const json& p : data["bend_twist_3d"]["points"]) {
    const Vector3 exact = vector3(p["tip_over_L"]);
    double previous = 0.0;
    for (const int edges : {16, 32, 64}) {
      const auto rod = unit_rod(
          edges,
          {.radius = 1e-4, .gamma = p["Gamma"], .poisson_ratio = p["nu"], .natural = vector3(p["kappa_nat_times_L"])});
      equilibrium(*rod, vector3(p["gravity_direction"]), 40);
      const double error = (rod->section(1.0).position - exact).norm();
      if (printing()) std::printf("edges %d: tip %.2e of the length\n", edges, error);
      if (edges > 16) {
        EXPECT_NEAR(std::log2(previous / error), 2.0, 0.15);
      }
      previous = error;
    }
    EXPECT_LT(previous, 2e-3);
  }
}

TEST(DiscreteElasticRodShape, BucklesAtEulersLoad) {
  // Weight instead of a dead load: an upright rod of EI = L = 1 loses stability at 7.8373 per unit length (Greenhill).
  const double exact = 7.837347438943;
  double previous = 0.0;
  for (const int edges : {20, 40}) {
    const auto rod = unit_rod(edges, {.radius = 1e-3, .gamma = 1.0});
    const auto softest = [&](double weight) {
      // Equilibrium of the upright rod: compressed edges.
      const Pose upright{{0, 0, 0}, math::rotation_exp({0, -M_PI / 2, 0})};
      const VectorX zero = VectorX::Zero(rod->rest_curvature().size());
      rod->update(rod->shaped(upright, {}, zero, zero));
      equilibrium(*rod, {0, 0, -weight}, 1);
      MatrixX hessian(rod->dof(), rod->dof());
      rod->potential_hessian({0, 0, -weight}, hessian);
      return Eigen::SelfAdjointEigenSolver<MatrixX>(hessian).eigenvalues()[0];
    };
    double low = 6.0, high = 9.0;
    ASSERT_GT(softest(low), 0.0);
    ASSERT_LT(softest(high), 0.0);
    for (int i = 0; i < 40; ++i) (softest(0.5 * (low + high)) > 0.0 ? low : high) = 0.5 * (low + high);
    const double error = std::abs(low / exact - 1.0);
    if (printing()) std::printf("edges %d: buckling load off by %.2e\n", edges, error);
    if (edges > 20) {
      EXPECT_NEAR(std::log2(previous / error), 2.0, 0.1);
    }
    previous = error;
  }
  EXPECT_LT(previous, 1e-3);
}

TEST(DiscreteElasticRodShape, TwistIsContinuousOverManyTurns) {
  // A bent rod whose last edge is turned five times about itself, then carried around its own end (writhe): the twist
  // follows, and undone the rod is as before.
  const auto rod = unit_rod(4, {.natural = {0.0, 1.0, 2.0}});
  const RodState start = rod->state();
  RodState state = start;
  VectorX spin = VectorX::Zero(rod->dof());
  spin[12] = 1.0;
  constexpr int steps = 40;
  for (int i = 0; i < steps; ++i) state = rod->advanced(state, spin, 10.0 * M_PI / steps, state.root, {});
  rod->update(state);
  EXPECT_NEAR(rod->curvature()[9] * 0.25 - start.memory[15], 10.0 * M_PI, 1e-12);
  // The root spins by five turns about its tangent: all the nodes' frames stay, the root's node winds back.
  RodState wound = start;
  for (int i = 0; i < steps; ++i) {
    Pose next = wound.root;
    next.frame = math::rotation_exp(10.0 * M_PI / steps * wound.root.frame.col(0)) * wound.root.frame;
    wound = rod->advanced(wound, VectorX::Zero(rod->dof()), 1.0, next, {});
  }
  EXPECT_NEAR(wound.memory[12] - start.memory[12], -10.0 * M_PI, 1e-12);
  // The tangent of the last edge goes round a cone of half-angle a about the one before: what the reference director
  // turns by is the area within the cone on the sphere, 2 pi (1 - cos a), every time.
  const auto straight = unit_rod(2, {});
  RodState cone = straight->state();
  const double a = 0.8;
  const auto place = [&](double angle) -> Vector3 {
    return Vector3(0.5, 0, 0) +
           0.5 * Vector3(std::cos(a), std::sin(a) * std::cos(angle), std::sin(a) * std::sin(angle));
  };
  constexpr int rounds = 5, points = 4000;
  for (int i = 0; i <= rounds * points; ++i) {
    VectorX step = VectorX::Zero(straight->dof());
    step.tail<3>() = place(2.0 * M_PI * i / points) - cone.coordinates.tail<3>();
    cone = straight->advanced(cone, step, 1.0, cone.root, {});
  }
  EXPECT_NEAR(std::abs(cone.memory[7]), rounds * 2.0 * M_PI * (1.0 - std::cos(a)), 1e-4);
}

}  // namespace TRESSE_TEST_FILE
}  // namespace tresse::rods
