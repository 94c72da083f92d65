#include <gtest/gtest.h>

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>

#include <tresse/base/errors.hpp>

#include "rods/rod_cases.hpp"

// M, A, G, drag, energies and the Hessian against quadrature of kinematics and differences, on tapered elliptic curly
// rods.
namespace tresse::rods {
namespace TRESSE_TEST_FILE {

using namespace rod_cases;

constexpr double quadrature_tolerance = 2e-13;  // our quadrature's error, 1e-13 of the scale, and rounding
constexpr double difference_tolerance = 1e-9;   // sixth-order differences with steps near 1e-3

const Vector3 gravity(1.0, -2.0, -9.0);

std::vector<Case> cases() {
  std::vector<Case> all;
  unsigned seed = 10;
  const std::array<int, 5> elements = {4, 3, 9, 6, 1};  // helices are taken four at a time
  for (const Model model : curvature_models) {
    for (const RootCondition root : {RootCondition::clamped, RootCondition::free}) {
      for (const double turn : {1e-6, 0.3, 1.4, 4.5, 9.0, 25.0}) {
        ++seed;
        all.push_back(make_case({.elements = elements[seed % elements.size()],
                                 .turn = turn,
                                 .root = root,
                                 .seed = seed,
                                 .model = model,
                                 .rotary_inertia = seed % 4 != 0}));
      }
    }
  }
  return all;
}

MatrixX mass_of(const Rod& rod) {
  MatrixX m(rod.dof(), rod.dof());
  rod.mass_matrix(m);
  return m;
}

VectorX force_of(const Rod& rod, const RodLoads& loads) {
  VectorX f(rod.dof());
  rod.inertial_and_external_force(loads, f);
  return f;
}

RodLoads loads_of(const Vector3& g) {
  RodLoads loads;
  loads.gravity = g;
  return loads;
}

/// int weight_i J^T f ds with f(piece, u).
template <typename F>
VectorX virtual_work(const Case& c, F&& f) {
  VectorX sum = VectorX::Zero(c.rod->dof());
  Matrix3X j(3, c.rod->dof());
  integrate(c, [&](int piece, double u, double weight) {
    const int n = c.rod->jacobian(piece, u, j);
    sum.head(n) += weight * j.leftCols(n).transpose() * f(piece, u);
  });
  return sum;
}

TEST(CurvatureRodsDynamics, MassAndDragMatricesAreTheGramMatricesOfTheJacobian) {
  double worst = 0.0;
  for (const Case& c : cases()) {
    const int n = c.rod->dof();
    MatrixX mass = MatrixX::Zero(n, n);
    MatrixX drag = MatrixX::Zero(n, n);
    Matrix3X j(3, n);
    integrate(c, [&](int piece, double u, double weight) {
      const int columns = c.rod->jacobian(piece, u, j);
      const MatrixX gram = weight * j.leftCols(columns).transpose() * j.leftCols(columns);
      mass.topLeftCorner(columns, columns) += c.densities[piece] * gram;
      drag.topLeftCorner(columns, columns) += 0.7 * gram;
    });
    for (const Disc& disc : discs_of(c)) {
      const Matrix3X turning = turning_of(*c.rod, disc);
      const MatrixX gram = turning.transpose() * inertia_of(*c.rod, disc) * turning;
      mass += gram;
      drag += 0.7 / c.densities[disc.piece] * gram;  // the air resists the turning of sections as it does their motion
    }
    const MatrixX found = mass_of(*c.rod);
    MatrixX found_drag = mass;  // drag is added to what is there
    c.rod->add_drag_matrix(0.7, found_drag);
    EXPECT_EQ((found - found.transpose()).norm(), 0.0);
    worst = std::max({worst, relative(found, mass), relative(found_drag, mass + drag)});
    // Blocks far smaller than the largest one too.
    for (int i = 0; i < n; i += 3) {
      const double scale = std::sqrt(mass.block<3, 3>(i, i).norm());
      for (int k = 0; k < n; k += 3) {
        const double block_scale = scale * std::sqrt(mass.block<3, 3>(k, k).norm());
        EXPECT_LT((found.block<3, 3>(i, k) - mass.block<3, 3>(i, k)).norm(), 1e-12 * block_scale);
      }
    }
  }
  if (printing()) std::printf("mass and drag matrices against quadrature: %.1e\n", worst);
  EXPECT_LT(worst, quadrature_tolerance);
}

// The fewest points for each turn: an element against itself cut in eight, whose parts have points to spare. Turns just
// below those at which the rule or the number of sub-intervals changes.
TEST(CurvatureRodsDynamics, QuadratureAtTheTopOfEachRange) {
  for (const double turn : {0.1, 0.99, 1.59, 2.99, 3.01, 3.99, 8.99, 9.01, 17.9, 53.9}) {
    const Vector3 curvature = turn * Vector3(0.48, -0.64, 0.6);
    // Discs stand elsewhere in an element that is cut.
    const Material material{.density = 1000.0, .young_modulus = 1e6, .poisson_ratio = 0.3, .rotary_inertia = false};
    const auto make = [&](int parts) {
      const SuperHelixElement e{
          .length = 1.0 / parts, .section = CrossSection::circle(1e-2), .rest_curvature = curvature};
      auto rod = make_super_helix(std::vector<SuperHelixElement>(parts, e), material, RootCondition::clamped);
      RodState state = rod->state();
      for (int i = 0; i < parts; ++i) state.rates.segment<3>(3 * i) = Vector3(1.0, 0.5, -0.7);
      rod->update(state);
      return rod;
    };
    const auto whole = make(1);
    const auto cut = make(8);
    MatrixX sum_of_parts(24, 3);
    for (int i = 0; i < 8; ++i) sum_of_parts.middleRows<3>(3 * i).setIdentity();
    const double mass_error = relative(mass_of(*whole), sum_of_parts.transpose() * mass_of(*cut) * sum_of_parts);
    const double force_error = relative(force_of(*whole, {}), sum_of_parts.transpose() * force_of(*cut, {}));
    if (printing())
      std::printf("turn %5.2f, one element against eight: M %.1e  A %.1e\n", turn, mass_error, force_error);
    // Second derivatives are sums of terms that outgrow them as the square of the turn.
    // Eight points up to a turn of 1.6 leave 3e-14 there (the rule's bound goes with its 16th power), within the 1e-13
    // that helix_shape.hpp states.
    const double rule = 3.5e-14 * std::pow(std::min(turn, 1.6) / 1.6, 16) * (turn <= 1.6 ? 1.0 : 0.0);
    const double tolerance = 1e-14 + rule + 4e-16 * turn * turn;
    EXPECT_LT(mass_error, tolerance) << turn;
    EXPECT_LT(force_error, tolerance) << turn;
  }
}

TEST(CurvatureRodsDynamics, MassIsSemidefiniteAndTheStepMatrixDefinite) {
  const Material material{.density = 1200.0, .young_modulus = 2e6, .poisson_ratio = 0.4, .rotary_inertia = false};
  const std::vector<SuperHelixElement> parts(6, {.length = 0.05, .section = CrossSection::circle(1e-3)});
  const auto rod = make_super_helix(parts, material, RootCondition::clamped);  // straight: no inertia in twist
  MatrixX m = mass_of(*rod);
  const VectorX values = Eigen::SelfAdjointEigenSolver<MatrixX>(m).eigenvalues();
  EXPECT_GT(values.minCoeff(), -1e-14 * values.maxCoeff());
  EXPECT_LT(values[5], 1e-14 * values.maxCoeff());
  rod->add_stiffness(1e-6, 0.0, m);
  EXPECT_EQ(Eigen::LLT<MatrixX>(m).info(), Eigen::Success);
  const auto free = make_super_helix(parts, material, RootCondition::free);
  MatrixX step = mass_of(*free);
  free->add_stiffness(1e-6, 0.0, step);
  EXPECT_EQ(Eigen::LLT<MatrixX>(step).info(), Eigen::Success);
  EXPECT_GT(Eigen::SelfAdjointEigenSolver<MatrixX>(step).eigenvalues().minCoeff(), 0.0);
  for (const Case& c : cases()) {
    const VectorX all = Eigen::SelfAdjointEigenSolver<MatrixX>(mass_of(*c.rod)).eigenvalues();
    EXPECT_GT(all.minCoeff(), -1e-13 * all.maxCoeff());
  }
}

// A: the acceleration of each point when the unknown accelerations vanish, by differences of the velocity along the
// motion.
TEST(CurvatureRodsDynamics, ConvectiveForceAgainstDifferencedVelocities) {
  double worst = 0.0;
  for (const auto& [turn, model] : std::vector<std::pair<double, Model>>{{0.2, Model::super_helix},
                                                                         {2.0, Model::super_helix},
                                                                         {7.0, Model::super_helix},
                                                                         {0.2, Model::super_clothoid},
                                                                         {2.0, Model::super_clothoid},
                                                                         {7.0, Model::super_clothoid}}) {
    for (const RootCondition root : {RootCondition::clamped, RootCondition::free}) {
      const int elements = root == RootCondition::clamped ? 6 : 3;
      const Case c =
          make_case({.elements = elements, .turn = turn, .rate = 1.0, .root = root, .seed = 21, .model = model});
      const VectorX v = generalised_velocity(*c.rod, c.state);
      const Twist& spin = c.state.root_velocity;
      Twist root_acceleration;
      if (root == RootCondition::clamped) root_acceleration = {Vector3(1, -2, 3), Vector3(0.5, 4, -2)};
      const auto moved = [&](double h) {
        RodState state = c.state;
        state.coordinates += h * c.state.rates;
        // Exact to the order the difference needs: dR/dt = [omega + t alpha]x R, by Magnus to fourth order around h =
        // 0.
        const Vector3& o = spin.angular;
        const Vector3& a = root_acceleration.angular;
        state.root.frame =
            math::rotation_exp(h * o + 0.5 * h * h * a - h * h * h / 12.0 * o.cross(a)) * state.root.frame;
        state.root.position += h * spin.linear + 0.5 * h * h * root_acceleration.linear;
        state.root_velocity = {spin.linear + h * root_acceleration.linear, o + h * a};
        auto rod = c.rod->clone();
        rod->update(state);
        return rod;
      };
      constexpr double h = 1e-3;
      std::array<std::unique_ptr<Rod>, 7> at;
      for (int k = -3; k <= 3; ++k) at[k + 3] = moved(k * h);
      VectorX expected = -virtual_work(c, [&](int piece, double u) -> Vector3 {
        const auto velocity = [&](double t) {
          return at[static_cast<int>(std::lround(t / h)) + 3]->velocity(piece, u, v);
        };
        return c.densities[piece] * difference(velocity, h);
      });
      for (const Disc& disc : discs_of(c)) {
        const auto momentum = [&](double t) -> Vector3 {
          const Rod& rod = *at[static_cast<int>(std::lround(t / h)) + 3];
          return inertia_of(rod, disc) * spin_of(rod, disc, v);
        };
        expected -= turning_of(*c.rod, disc).transpose() * difference(momentum, h);
      }
      RodLoads loads;
      loads.root_acceleration = root_acceleration;
      worst = std::max(worst, relative(force_of(*c.rod, loads), expected));
    }
  }
  if (printing()) std::printf("convective force against differences: %.1e\n", worst);
  EXPECT_LT(worst, difference_tolerance);
}

TEST(CurvatureRodsDynamics, GravityAndDragForcesAreVirtualWork) {
  for (const Case& c : cases()) {
    RodLoads loads = loads_of(gravity);
    const VectorX weight = force_of(*c.rod, loads) - force_of(*c.rod, {});
    const VectorX expected =
        virtual_work(c, [&](int piece, double) -> Vector3 { return c.densities[piece] * gravity; });
    EXPECT_LT(relative(weight, expected),
              1e-9);  // the difference of two forces, A being far larger than G on curly rods
    RodLoads windy;
    windy.drag = 0.3;
    windy.wind = Vector3(3.0, 1.0, -2.0);
    const VectorX drag = force_of(*c.rod, windy) - force_of(*c.rod, {});
    const VectorX at_rest = VectorX::Zero(c.rod->dof());
    VectorX drag_expected = virtual_work(c, [&](int piece, double u) -> Vector3 {
      return -windy.drag * (c.rod->velocity(piece, u, at_rest) - windy.wind);
    });
    for (const Disc& disc : discs_of(c)) {
      drag_expected -= windy.drag / c.densities[disc.piece] * turning_of(*c.rod, disc).transpose() *
                       inertia_of(*c.rod, disc) * spin_of(*c.rod, disc, at_rest);
    }
    EXPECT_LT(relative(drag, drag_expected), 1e-9);
  }
}

// A root in uniform acceleration is a fixed root under gravity g - a.
TEST(CurvatureRodsDynamics, AcceleratedRootIsGravity) {
  const Vector3 a(3.0, -1.0, 7.0);
  for (unsigned seed = 1; seed < 6; ++seed) {
    Case c = make_case({.elements = 5, .turn = 2.0, .seed = seed, .model = curvature_models[seed % 2]});
    RodLoads moving = loads_of(gravity);
    moving.root_acceleration.linear = a;
    const VectorX one = force_of(*c.rod, moving);
    EXPECT_LT(relative(one, force_of(*c.rod, loads_of(gravity - a))), 1e-15);
    RodState state = c.state;  // a uniform velocity of the root changes nothing
    state.root_velocity.linear += Vector3(10.0, 20.0, 30.0);
    state.root.position += Vector3(5.0, 6.0, 7.0);
    c.rod->update(state);
    EXPECT_LT(relative(one, force_of(*c.rod, moving)), 1e-15);
  }
}

TEST(CurvatureRodsDynamics, InvariantUnderRigidMotion) {
  const Matrix3 turn = math::rotation_exp({1.0, -0.7, 2.0});
  for (const RootCondition root : {RootCondition::clamped, RootCondition::free}) {
    Case c = make_case({.elements = 4, .turn = 1.5, .root = root, .seed = 8, .model = Model::super_clothoid});
    const MatrixX m = mass_of(*c.rod);
    const VectorX f = force_of(*c.rod, loads_of(gravity));
    const RodEnergies e = c.rod->energies(gravity);
    RodState state = c.state;
    state.root.frame = turn * state.root.frame;
    state.root.position = turn * state.root.position;
    state.root_velocity = {turn * state.root_velocity.linear, turn * state.root_velocity.angular};
    c.rod->update(state);
    MatrixX q = MatrixX::Identity(c.rod->dof(), c.rod->dof());  // turns the root's part of v
    if (root == RootCondition::free) {
      q.block<3, 3>(0, 0) = turn;
      q.block<3, 3>(3, 3) = turn;
    }
    EXPECT_LT(relative(mass_of(*c.rod), q * m * q.transpose()), 1e-14);
    EXPECT_LT(relative(force_of(*c.rod, loads_of(turn * gravity)), q * f), 1e-14);
    const RodEnergies found = c.rod->energies(turn * gravity);
    EXPECT_NEAR(found.kinetic, e.kinetic, 1e-14 * e.kinetic);
    EXPECT_NEAR(found.gravity, e.gravity, 1e-14);
  }
}

TEST(CurvatureRodsDynamics, EnergiesAndMomentumAgainstQuadrature) {
  for (const Case& c : cases()) {
    const VectorX v = generalised_velocity(*c.rod, c.state);
    const auto natural = c.rod->clone();
    natural->update(natural->shaped({}, {}, c.rod->rest_curvature(), c.state.rates));
    RodEnergies expected;
    Vector3 linear = Vector3::Zero();
    Vector3 angular = Vector3::Zero();
    double mass = 0.0;
    integrate(c, [&](int piece, double u, double weight) {
      const Vector3 velocity = c.rod->velocity(piece, u, v);
      const RodSection at = c.rod->section(c.rod->piece_begin(piece) + u);
      const double dm = weight * c.densities[piece];
      mass += dm;
      expected.kinetic += 0.5 * dm * velocity.squaredNorm();
      expected.gravity -= dm * gravity.dot(at.position);
      linear += dm * velocity;
      angular += dm * at.position.cross(velocity);
      const Vector3 strain = at.curvature - natural->section(c.rod->piece_begin(piece) + u).curvature;
      expected.elastic += 0.5 * weight * at.moment.dot(strain);
    });
    for (const Disc& disc : discs_of(c)) {
      const Vector3 spin = spin_of(*c.rod, disc, v);
      const Vector3 momentum = inertia_of(*c.rod, disc) * spin;
      expected.kinetic += 0.5 * spin.dot(momentum);
      angular += momentum;
    }
    const RodEnergies found = c.rod->energies(gravity);
    Vector3 found_linear;
    Vector3 found_angular;
    c.rod->momentum(found_linear, found_angular);
    EXPECT_NEAR(c.rod->mass(), mass, 1e-14 * mass);
    EXPECT_NEAR(found.kinetic, expected.kinetic, quadrature_tolerance * expected.kinetic);
    EXPECT_NEAR(found.elastic, expected.elastic, quadrature_tolerance * expected.elastic);
    EXPECT_NEAR(found.gravity, expected.gravity, quadrature_tolerance * mass * 10.0);
    EXPECT_LT((found_linear - linear).norm(), quadrature_tolerance * (mass + linear.norm()));
    EXPECT_LT((found_angular - angular).norm(), quadrature_tolerance * (mass + angular.norm()));
    if (c.rod->root_condition() == RootCondition::free) {
      EXPECT_NEAR(found.kinetic, 0.5 * v.dot(mass_of(*c.rod) * v), 1e-12 * found.kinetic);
    }
  }
}

// Potential gradient against differences of the energies, the root's coordinates included.
TEST(CurvatureRodsDynamics, GradientOfThePotential) {
  for (const Case& c : cases()) {
    VectorX gradient(c.rod->dof());
    c.rod->potential_gradient(gravity, gradient);
    VectorX elastic(c.rod->dof());
    c.rod->elastic_force(elastic);
    VectorX expected(c.rod->dof());
    for (int k = 0; k < c.rod->dof(); ++k) {
      const auto energy = [&](double h) {
        auto rod = c.rod->clone();
        rod->update(displaced(c, VectorX::Unit(c.rod->dof(), k), h));
        const RodEnergies e = rod->energies(gravity);
        return Eigen::Matrix<double, 1, 1>(e.gravity + e.elastic);
      };
      expected[k] = difference(energy, k < c.rod->root_dof() ? 1e-3 : 2e-2)[0];
    }
    EXPECT_LT(relative(gradient, expected), 1e-8);
    // The same number as minus the forces of a rod at rest.
    RodState rest = c.state;
    rest.rates.setZero();
    rest.root_velocity = {};
    auto still = c.rod->clone();
    still->update(rest);
    EXPECT_LT(relative(-(force_of(*still, loads_of(gravity)) + elastic), gradient), 1e-13);
  }
}

// Taylor remainder |grad(q + h d) - grad(q) - h H d| must fall as h^2.
TEST(CurvatureRodsDynamics, HessianOfThePotentialByTaylorRemainder) {
  std::mt19937 random(2);
  std::uniform_real_distribution<double> uniform(-1.0, 1.0);
  double worst = 10.0;
  for (const Case& c : cases()) {
    if (c.rod->root_condition() == RootCondition::free) continue;
    const int m = c.rod->dof();
    const Vector3 g = 1e4 * gravity;  // so that gravity weighs as much as elasticity
    MatrixX hessian(m, m);
    c.rod->potential_hessian(g, hessian);
    EXPECT_LT(relative(hessian, hessian.transpose()), 1e-14);
    VectorX d(m);
    for (double& x : d) x = uniform(random);
    VectorX start(m);
    c.rod->potential_gradient(g, start);
    const auto gradient = [&](double h) {
      auto rod = c.rod->clone();
      rod->update(displaced(c, d, h));
      VectorX out(m);
      rod->potential_gradient(g, out);
      return out;
    };
    std::vector<double> remainder;
    for (const double h : {0.8, 0.4, 0.2, 0.1}) {
      remainder.push_back((gradient(h) - start - h * (hessian * d)).norm());
    }
    for (std::size_t i = 0; i + 1 < remainder.size(); ++i) {
      const double slope = std::log2(remainder[i] / remainder[i + 1]);
      if (i > 0) worst = std::min(worst, slope);
    }
    EXPECT_LT(relative(hessian * d, difference(gradient, 0.05)), 1e-9);
  }
  if (printing()) std::printf("smallest slope of the Hessian's Taylor remainder: %.3f\n", worst);
  EXPECT_GT(worst, 1.9);
}

TEST(CurvatureRodsDynamics, StiffnessDampingAndElasticForce) {
  for (const Model model : curvature_models) {
    const Case c = make_case({.elements = 3, .root = RootCondition::free, .model = model});
    const int n = c.rod->dof();
    MatrixX k = MatrixX::Zero(n, n);
    c.rod->add_stiffness(1.0, 0.0, k);
    MatrixX both = k;
    c.rod->add_stiffness(2.0, 3.0, both);
    EXPECT_LT(relative(both, (3.0 + 3.0 * 0.01) * k), 1e-15);  // damping time 0.01 s
    EXPECT_EQ(k.topRows(6).norm(), 0.0);
    VectorX f(n);
    c.rod->elastic_force(f);
    EXPECT_LT(
        relative(f.tail(n - 6), -k.bottomRightCorner(n - 6, n - 6) * (c.state.coordinates - c.rod->rest_curvature())),
        1e-14);
    EXPECT_EQ(f.head(6).norm(), 0.0);
    VectorX times = VectorX::Ones(n);
    c.rod->add_stiffness_times(0.5, f, times);
    EXPECT_LT(relative(times, VectorX::Ones(n) + 0.5 * k * f), 1e-14);
    EXPECT_NEAR(c.rod->elastic_energy(), -0.5 * f.tail(n - 6).dot(c.state.coordinates - c.rod->rest_curvature()),
                1e-13 * c.rod->elastic_energy());
  }
}

// What a rod keeps of its last update is neither an earlier one's nor another rod's.
TEST(CurvatureRodsDynamics, AnswersAreOfTheLastUpdateOfTheRodAsked) {
  for (const Model model : curvature_models) {
    const auto made = [&](unsigned seed) {
      return make_case({.elements = 9, .root = RootCondition::free, .seed = seed, .model = model});
    };
    const auto expect_as_new = [&](const Rod& kept, unsigned seed, const RodState& state) {
      const Case fresh = made(seed);
      fresh.rod->update(state);
      EXPECT_EQ(force_of(kept, loads_of(gravity)), force_of(*fresh.rod, loads_of(gravity)));
      EXPECT_EQ(mass_of(kept), mass_of(*fresh.rod));
    };
    const Case a = made(1), b = made(2);
    const RodState first = a.rod->state(), second = b.rod->state();
    force_of(*a.rod, loads_of(gravity));
    a.rod->update(second);
    expect_as_new(*a.rod, 1, second);
    force_of(*b.rod, loads_of(gravity));
    expect_as_new(*a.rod, 1, second);
    const auto twin = b.rod->clone();
    twin->update(first);
    expect_as_new(*b.rod, 2, second);
    expect_as_new(*twin, 2, first);
  }
}

// A grown rod is one made longer.
TEST(CurvatureRodsDynamics, LengthScale) {
  const Material material{.density = 1200.0, .young_modulus = 2e6, .poisson_ratio = 0.4};
  const auto make = [&](Model model, double scale, RootCondition root) -> std::unique_ptr<Rod> {
    const CrossSection section{1e-3, 2e-3};
    const Vector3 k(3.0, -5.0, 8.0);
    if (model == Model::super_helix)
      return make_super_helix({{0.1 * scale, section, k}, {0.3 * scale, section, -k}}, material, root);
    return make_super_clothoid({{0.1 * scale, section}, {0.3 * scale, section}}, {k, -k, 2.0 * k}, material, root);
  };
  for (const Model model : curvature_models) {
    for (const RootCondition root : {RootCondition::clamped, RootCondition::free}) {
      const auto grown = make(model, 1.0, root);
      grown->set_length_scale(2.0);
      RodState state = grown->state();
      state.rates.setConstant(2.0);
      grown->update(state);
      const auto longer = make(model, 2.0, root);
      longer->update(state);
      EXPECT_EQ(grown->length(), longer->length());
      EXPECT_EQ(grown->piece_begin(1), longer->piece_begin(1));
      EXPECT_LT(relative(mass_of(*grown), mass_of(*longer)), 1e-14);
      EXPECT_LT(relative(force_of(*grown, loads_of(gravity)), force_of(*longer, loads_of(gravity))), 1e-14);
      EXPECT_NEAR(grown->energies(gravity).elastic, longer->energies(gravity).elastic, 1e-18);
      EXPECT_NEAR(grown->mass(), longer->mass(), 1e-18);
    }
  }
}

}  // namespace TRESSE_TEST_FILE
}  // namespace tresse::rods
