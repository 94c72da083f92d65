#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <utility>
#include <vector>

#include <Eigen/Geometry>
#include <Eigen/LU>

#include <tresse/rods/discrete_elastic_rod.hpp>
#include <tresse/rods/super_clothoid.hpp>
#include <tresse/rods/super_helix.hpp>
#include <tresse/statics/world_equilibrium.hpp>

namespace tresse::statics {
namespace TRESSE_TEST_FILE {

enum class Model { helix, clothoid, nodes };

constexpr double kRadius = 2e-3;  // of a unit rod

/// Rod of unit length and unit EI, weight per length `gamma` under unit gravity.
std::unique_ptr<rods::Rod> unit_rod(Model model, int elements, double gamma, double radius = kRadius) {
  const double area = M_PI * radius * radius;
  const rods::Material material{
      .density = gamma / area, .young_modulus = 4.0 / (area * radius * radius), .poisson_ratio = 0.3};
  const auto section = rods::CrossSection::circle(radius);
  const auto count = static_cast<std::size_t>(elements);
  constexpr auto clamped = rods::RootCondition::clamped;
  if (model == Model::helix) {
    const rods::SuperHelixElement element{1.0 / elements, section, Vector3::Zero()};
    return rods::make_super_helix(std::vector<rods::SuperHelixElement>(count, element), material, clamped);
  }
  if (model == Model::clothoid) {
    return rods::make_super_clothoid(std::vector<rods::SuperClothoidElement>(count, {1.0 / elements, section}),
                                     std::vector<Vector3>(count + 1, Vector3::Zero()), material, clamped);
  }
  const rods::RodEdge edge{1.0 / elements, section, Vector3::Zero()};
  return rods::make_discrete_elastic_rod(std::vector<rods::RodEdge>(count, edge), material, clamped);
}

struct Scene {
  assembly::World world;
  std::vector<rods::RodState> start;

  Scene() { world.law = std::make_shared<assembly::Coulomb>(MatrixX::Zero(1, 1)); }
  void add(std::unique_ptr<rods::Rod> rod, const Pose& root) {
    assembly::Fibre fibre;
    const VectorX zero = VectorX::Zero(rod->rest_curvature().size());
    start.push_back(rod->shaped(root, {}, rod->rest_curvature(), zero));
    fibre.model = rod->model();
    fibre.root = root;
    world.fibres.push_back(std::move(fibre));
  }
  void add(const bodies::Shape& shape, const bodies::Motion& motion = {}) {
    bodies::Obstacle obstacle;
    obstacle.shape = shape;
    obstacle.motion = motion;
    world.obstacles.push_back(obstacle);
    world.obstacle_material.push_back(0);
  }
};

WorldEquilibriumOptions options() {
  WorldEquilibriumOptions out;
  out.margin = 0.05 * kRadius;
  out.broad_phase.self_contact = false;
  return out;
}

bool printing() { return std::getenv("TRESSE_TEST_PRINT") != nullptr; }

void print(const char* what, const WorldEquilibrium& found) {
  if (!printing()) return;
  std::printf("%s: %s, residual %.1e, %d iterations, overlap %.1e, stiffness %.3g, %zu contacts\n", what,
              to_string(found.status), found.residual, found.iterations, found.overlap, found.relative_stiffness,
              found.contacts.size());
  for (const assembly::ContactReport& c : found.contacts)
    std::printf("   s %.5f  force %.6g  gap %.1e\n", c.a.s, c.force.norm(), c.gap);
}

double total_force(const WorldEquilibrium& found) {
  double total = 0.0;
  for (const assembly::ContactReport& contact : found.contacts) total += contact.force.norm();
  return total;
}

/// A heavy elastica clamped horizontally at height `drop` above the flat part that lies on the ground: free from the
/// clamp to the lift-off point, where slope and curvature vanish. From there back to the clamp, sigma = l - s:
/// theta'' = -(R - w sigma) cos(theta), y' = -sin(theta).
struct Lying {
  double free_length = 0.0;
  double edge_force = 0.0;  ///< R, at the lift-off point
  double x = 0.0;           ///< of the lift-off point

  Eigen::Vector2d misses(double weight, double drop) {
    constexpr int steps = 2000;
    const double h = free_length / steps;
    std::array<double, 4> state{0, 0, 0, 0};  // theta, theta', rise, x
    const auto rate = [&](const std::array<double, 4>& y, double sigma) -> std::array<double, 4> {
      return {y[1], -(edge_force - weight * sigma) * std::cos(y[0]), -std::sin(y[0]), std::cos(y[0])};
    };
    for (int i = 0; i < steps; ++i) {
      const auto along = [&](const std::array<double, 4>& k, double step) {
        std::array<double, 4> out = state;
        for (std::size_t c = 0; c < 4; ++c) out[c] += step * k[c];
        return out;
      };
      const double sigma = i * h;
      const auto k1 = rate(state, sigma);
      const auto k2 = rate(along(k1, h / 2), sigma + h / 2);
      const auto k3 = rate(along(k2, h / 2), sigma + h / 2);
      const auto k4 = rate(along(k3, h), sigma + h);
      for (std::size_t c = 0; c < 4; ++c) state[c] += h / 6 * (k1[c] + 2 * k2[c] + 2 * k3[c] + k4[c]);
    }
    x = state[3];
    return {state[0], state[2] - drop};
  }

  static Lying solve(double weight, double drop) {
    Lying out;
    out.free_length = std::pow(72.0 * drop / weight, 0.25);  // of small slopes
    out.edge_force = weight * out.free_length / 3.0;
    for (int i = 0; i < 50; ++i) {
      const Eigen::Vector2d miss = out.misses(weight, drop);
      Eigen::Matrix2d jacobian;
      for (int c = 0; c < 2; ++c) {
        Lying other = out;
        double& value = c == 0 ? other.free_length : other.edge_force;
        const double h = 1e-6 * value;
        value += h;
        jacobian.col(c) = (other.misses(weight, drop) - miss) / h;
      }
      const Eigen::Vector2d change = jacobian.inverse() * miss;
      out.free_length -= change[0];
      out.edge_force -= change[1];
      if (change.norm() < 1e-13) break;
    }
    out.misses(weight, drop);
    return out;
  }
};

/// Root at the origin along +x, gravity along -y.
Scene rod_over_ground(Model model, int elements, double gamma, double drop) {
  Scene scene;
  assembly::set_load(scene.world, assembly::Gravity({0, -1, 0}));
  scene.add(unit_rod(model, elements, gamma), {});
  scene.add(bodies::Plane{Vector3(0, -drop - kRadius, 0), Vector3::UnitY()});
  return scene;
}

TEST(WorldEquilibrium, AHeavyRodLiesOnTheGroundAsTheElasticaDoes) {
  constexpr double gamma = 100.0;
  constexpr double drop = 0.1;
  const Lying exact = Lying::solve(gamma, drop);
  if (printing())
    std::printf("exact: free %.6f, edge force %.6f, total %.6f\n", exact.free_length, exact.edge_force,
                exact.edge_force + gamma * (1 - exact.free_length));
  for (const Model model : {Model::helix, Model::clothoid, Model::nodes}) {
    for (const int elements : {20, 40}) {
      Scene scene = rod_over_ground(model, elements, gamma, drop);
      assembly::Kinematics at(scene.world);
      const WorldEquilibrium found = solve_equilibrium(at, scene.start, options());
      print("lying", found);
      ASSERT_EQ(found.status, Status::converged);
      EXPECT_TRUE(found.stable());
      EXPECT_LE(found.residual, 1e-10);
      // The error of the shape, second order in an element; forces stand at most an element from where they would be.
      const double total = exact.edge_force + gamma * (1.0 - exact.free_length);
      EXPECT_NEAR(total_force(found) / total, 1.0, elements == 20 ? 0.01 : 0.004);
      const rods::Rod& rod = at.rod(0);
      const double error = (rod.section(exact.free_length).position - Vector3(exact.x, -drop, 0.0)).norm();
      EXPECT_LT(error, elements == 20 ? 2e-3 : 1e-3);
      double first = 1.0;
      for (const assembly::ContactReport& contact : found.contacts) first = std::min(first, contact.a.s);
      EXPECT_NEAR(first, exact.free_length, 1.0 / elements);
    }
  }
}

/// Generalised force of the contacts on a fibre, from the rods alone. (m)
VectorX contact_force_on(const assembly::Kinematics& at, const WorldEquilibrium& found, int fibre) {
  const rods::Rod& rod = at.rod(fibre);
  VectorX out = VectorX::Zero(rod.dof());
  const auto push = [&](double s, const Vector3& force) {
    int piece = 0;
    while (piece + 1 < rod.piece_count() && rod.piece_begin(piece + 1) <= s) ++piece;
    Matrix3X jacobian = Matrix3X::Zero(3, rod.dof());
    rod.jacobian(piece, s - rod.piece_begin(piece), jacobian);
    out += jacobian.transpose() * force;
  };
  for (const assembly::ContactReport& contact : found.contacts) {
    if (contact.a.body.fibre() == fibre) push(contact.a.s, -contact.force);
    if (contact.b.body.fibre() == fibre) push(contact.b.s, contact.force);
  }
  return out;
}

/// What elasticity, gravity and contact leave on a fibre, relative to the elastic force.
double unbalanced(const assembly::Kinematics& at, const WorldEquilibrium& found, int fibre) {
  const rods::Rod& rod = at.rod(fibre);
  VectorX gradient(rod.dof()), elastic(rod.dof());
  rod.potential_gradient(assembly::gravity_of(at.world()), gradient);
  rod.elastic_force(elastic);
  return (gradient - contact_force_on(at, found, fibre)).norm() / elastic.norm();
}
/// Nodes: the residual is measured in the K^-1 norm, where a force that stretches counts r / L times as much.
double unbalanced_at_most(Model model) { return model == Model::nodes ? 3e-5 : 1e-7; }

/// One clamped along x below, one along z that falls on it.
TEST(WorldEquilibrium, AFibreRestsOnAnotherAndEachCarriesItsShare) {
  for (const Model model : {Model::helix, Model::clothoid, Model::nodes}) {
    Scene scene;
    assembly::set_load(scene.world, assembly::Gravity({0, -1, 0}));
    scene.add(unit_rod(model, 12, 2.0), {});
    Pose above{Vector3(0.6, 0.05, -0.55), Matrix3::Identity()};
    above.frame << 0, 0, -1, 0, 1, 0, 1, 0, 0;  // tangent +z
    scene.add(unit_rod(model, 12, 6.0), above);
    assembly::Kinematics at(scene.world);
    const WorldEquilibrium found = solve_equilibrium(at, scene.start, options());
    print("crossed", found);
    ASSERT_EQ(found.status, Status::converged);
    EXPECT_TRUE(found.stable());
    EXPECT_LE(found.residual, 1e-10);
    ASSERT_EQ(found.contacts.size(), 1U);
    EXPECT_GT(found.contacts[0].force.norm(), 0.1);
    EXPECT_LT(std::abs(found.contacts[0].gap), 1e-10);
    for (int f = 0; f < 2; ++f) EXPECT_LT(unbalanced(at, found, f), unbalanced_at_most(model)) << f;
  }
}

// Through an eyelet that stands a little to the side: the fibre lies in its hollow, pushed off the lowest point by its
// own stiffness, and touches the circle itself.
TEST(WorldEquilibrium, AFibreLiesInAnEyelet) {
  for (const Model model : {Model::helix, Model::clothoid, Model::nodes}) {
    Scene scene;
    assembly::set_load(scene.world, assembly::Gravity({0, -1, 0}));
    scene.add(unit_rod(model, 12, 10.0), {});
    const Vector3 centre(0.6, -0.02, 0.01);
    scene.add(bodies::Ring{centre, Vector3::UnitX(), 0.05, 0.01});
    assembly::Kinematics at(scene.world);
    const WorldEquilibrium found = solve_equilibrium(at, scene.start, options());
    print("eyelet", found);
    ASSERT_EQ(found.status, Status::converged);
    EXPECT_TRUE(found.stable());
    EXPECT_LE(found.residual, 1e-10);
    ASSERT_EQ(found.contacts.size(), 1U);
    const auto& contact = found.contacts[0];
    EXPECT_LT(std::abs(contact.gap), 1e-10);
    const Vector3 out = contact.point_b - centre;
    EXPECT_NEAR(out.norm(), 0.05, 1e-10);
    EXPECT_NEAR(out.x(), 0.0, 1e-10);
    EXPECT_GT(std::abs(out.z()), 1e-4);
    // The force stands across the circle there.
    EXPECT_NEAR(contact.force.normalized().dot(out.cross(Vector3::UnitX()).normalized()), 0.0, 1e-6);
    EXPECT_LT(unbalanced(at, found, 0), unbalanced_at_most(model));
  }
}

/// Where nothing comes near anything the answer is that of the fibre alone, bit for bit.
TEST(WorldEquilibrium, WithoutContactsItIsThatOfTheFibreAlone) {
  Scene scene = rod_over_ground(Model::helix, 16, 10.0, 5.0);
  const auto alone = scene.world.fibres[0].model->make_rod();
  const Equilibrium expected = solve_equilibrium(*alone, scene.start[0], assembly::gravity_of(scene.world), {});
  assembly::Kinematics at(scene.world);
  const WorldEquilibrium found = solve_equilibrium(at, scene.start, options());
  EXPECT_FALSE(found.together);
  EXPECT_EQ(found.fibres[0].curvature, expected.curvature);
  EXPECT_EQ(found.iterations, expected.iterations);
  Scene nearer = rod_over_ground(Model::helix, 16, 10.0, 0.9);
  assembly::Kinematics nearby(nearer.world);
  const WorldEquilibrium open = solve_equilibrium(nearby, nearer.start, options());
  EXPECT_TRUE(open.together);
  EXPECT_TRUE(open.stable());
  EXPECT_LT((open.fibres[0].curvature - expected.curvature).norm(), 1e-8 * expected.curvature.norm());
  EXPECT_NEAR(open.relative_stiffness, expected.relative_stiffness, 1e-8);
  EXPECT_NEAR(open.smallest_eigenvalue / expected.smallest_eigenvalue, 1.0, 1e-8);
}

/// Whether an upright rod that starts straight ends up leaning.
bool leans(std::unique_ptr<rods::Rod> rod) {
  Pose root;
  root.frame = Eigen::AngleAxisd(-M_PI / 2, Vector3::UnitY()).toRotationMatrix();
  const VectorX zero = VectorX::Zero(rod->rest_curvature().size());
  const rods::RodState upright = rod->shaped(root, {}, rod->rest_curvature(), zero);
  const Equilibrium found = solve_equilibrium(*rod, upright, {0, 0, -1}, {});
  EXPECT_TRUE(found.stable());
  return rod->section(rod->length()).position.head<2>().norm() > 1e-3;
}

template <class Leans>
double bisect(double low, double high, Leans leaning) {
  for (int i = 0; i < 12; ++i) {
    const double middle = 0.5 * (low + high);
    (leaning(middle) ? high : low) = middle;
  }
  return 0.5 * (low + high);
}

TEST(Buckling, AnUprightClothoidLeansFromGreenhillsLoadOn) {
  const double load = bisect(7.0, 9.0, [](double gamma) { return leans(unit_rod(Model::clothoid, 10, gamma)); });
  EXPECT_NEAR(load / 7.837347438943484, 1.0, 0.01);
}

/// All its weight in a last short element, as wide as it takes.
TEST(Buckling, AColumnWithAHeavyTipLeansFromEulersLoadOn) {
  const auto column = [](double load) {
    constexpr double tip = 1e-3;  // length of the heavy element, whose middle is where the weight acts
    constexpr double wide = 3.0;  // its radius
    const double inertia = M_PI * std::pow(kRadius, 4) / 4.0;
    const rods::Material material{
        .density = load / (M_PI * wide * wide * tip), .young_modulus = 1.0 / inertia, .poisson_ratio = 0.3};
    std::vector<rods::SuperHelixElement> elements(20, {1.0 / 20, rods::CrossSection::circle(kRadius), Vector3::Zero()});
    elements.push_back({tip, rods::CrossSection::circle(wide), Vector3::Zero()});
    return rods::make_super_helix(elements, material, rods::RootCondition::clamped);
  };
  const double load = bisect(2.0, 3.0, [&](double weight) { return leans(column(weight)); });
  EXPECT_NEAR(load / (M_PI * M_PI / 4.0), 1.0, 0.01);
}

TEST(WorldEquilibrium, RefusesFreeRootsAndSaysWhereThereIsNoRoom) {
  Scene scene = rod_over_ground(Model::helix, 8, 10.0, 0.1);
  WorldEquilibriumOptions bad = options();
  bad.margin = 0.0;
  assembly::Kinematics at(scene.world);
  EXPECT_THROW(static_cast<void>(solve_equilibrium(at, scene.start, bad)), std::runtime_error);
  // Between two planes that are nearer than the rod is thick, away from its clamp.
  Scene caught = rod_over_ground(Model::helix, 8, 1.0, -0.2);
  caught.add(bodies::Plane{Vector3(0, 0.2 + 0.5 * kRadius, 0), -Vector3::UnitY()});
  WorldEquilibriumOptions few = options();
  few.search.max_iterations = 30;
  few.search.load_steps = 2;
  assembly::Kinematics tight(caught.world);
  const WorldEquilibrium found = solve_equilibrium(tight, caught.start, few);
  print("caught", found);
  EXPECT_NE(found.status, Status::converged);
  EXPECT_GT(found.overlap, 0.1 * kRadius);
  EXPECT_FALSE(found.stable());
}

}  // namespace TRESSE_TEST_FILE
}  // namespace tresse::statics
