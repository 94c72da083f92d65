#include <string>

#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>

#include <tresse/base/errors.hpp>
#include <tresse/rods/detail/banded_step_matrix.hpp>
#include <tresse/rods/detail/dense_step_matrix.hpp>
#include <tresse/rods/discrete_elastic_rod.hpp>
#include <tresse/rods/mass_spring.hpp>

#include "rods/rod_cases.hpp"

// Derivatives, matrices and invariance of both rods of nodes in random, strongly deformed states.
namespace tresse::rods {
namespace TRESSE_TEST_FILE {

using namespace rod_cases;

/// A rod of nodes with angles (the discrete elastic rod) or without (the mass-spring chain).
struct Nodal {
  bool angles;
  RootCondition root;

  int stride() const { return angles ? 4 : 3; }
  bool clamped() const { return root == RootCondition::clamped; }
  int angle_at(int edge) const { return (clamped() ? 0 : 3) + 4 * edge; }
  int node_at(int node) const { return (clamped() ? 0 : 3) + stride() * node - 3; }
  bool is_angle(Eigen::Index i) const { return angles && i >= angle_at(0) && (i - angle_at(0)) % 4 == 0; }
};

struct NodalOptions {
  int elements = 4;
  double turn = 1.0;  ///< [rad] typical of an element
  unsigned seed = 1;
};

Case nodal_case(const Nodal& nodal, const NodalOptions& options, double damping_time = 0.01) {
  std::mt19937 random(options.seed);
  std::uniform_real_distribution<double> u(-1.0, 1.0);
  const auto vector = [&](double scale) { return Vector3(scale * Vector3(u(random), u(random), u(random))); };
  const Material material{.density = 1200.0, .young_modulus = 2e6, .poisson_ratio = 0.4, .damping_time = damping_time};
  Case out;
  std::vector<RodEdge> edges;
  for (int i = 0; i < options.elements; ++i) {
    const double length = 0.05 * (1.0 + 0.5 * u(random));
    const double taper = 1.0 / (1.0 + 0.1 * i);
    edges.push_back({length, {1e-2 * taper, 1.5e-2 * taper}, vector(options.turn / length)});
    if (!nodal.angles) {
      edges.back().section = CrossSection::circle(1.2e-2 * taper);
      edges.back().rest_curvature[0] = 0.0;
    }
    out.lengths.push_back(length);
    out.densities.push_back(material.density * area(edges.back().section));
  }
  out.rod = nodal.angles ? make_discrete_elastic_rod(edges, material, nodal.root)
                         : make_mass_spring(edges, material, nodal.root);
  const Eigen::Index k = out.rod->rest_curvature().size();
  const double turn = options.turn / 0.05;
  VectorX shape = turn * VectorX::NullaryExpr(k, [&] { return u(random); });
  // The energy of a naturally curved joint has a kink where it is straight: away from there.
  for (Eigen::Index i = 1; i < k && !nodal.angles; i += 3) shape[i] = turn * (1.2 + 0.3 * u(random));
  out.state = out.rod->shaped({vector(0.3), math::rotation_exp(vector(2.0))}, {vector(0.4), vector(3.0)}, shape,
                              VectorX::Zero(k));
  // Stretched, with angles and references that differ from the section's axes.
  const VectorX away = VectorX::NullaryExpr(out.rod->dof(), [&] { return u(random); });
  out.state = out.rod->advanced(out.state, away, 3e-3, out.state.root, out.state.root_velocity);
  for (int j = 0; j < options.elements; ++j) {
    if (nodal.angles) {
      out.state.coordinates[nodal.angle_at(j)] += u(random);
      out.state.rates[nodal.angle_at(j)] = 10.0 * u(random);
    }
    out.state.rates.segment<3>(nodal.node_at(j + 1)) = vector(0.5);
  }
  // The start of the step that damping refers to is here.
  if (!nodal.angles)
    out.state = out.rod->advanced(out.state, out.state.rates, 0.0, out.state.root, out.state.root_velocity);
  out.rod->update(out.state);
  out.state = out.rod->state();
  return out;
}

double energy_at(const Case& c, const VectorX& v, double h) {
  const auto rod = c.rod->clone();
  rod->update(displaced(c, v, h));
  return rod->elastic_energy();
}

class NodalRods : public ::testing::TestWithParam<Nodal> {};
INSTANTIATE_TEST_SUITE_P(Models, NodalRods,
                         ::testing::Values(Nodal{true, RootCondition::clamped}, Nodal{true, RootCondition::free},
                                           Nodal{false, RootCondition::clamped}, Nodal{false, RootCondition::free}),
                         [](const auto& tested) {
                           return std::string(tested.param.angles ? "DiscreteElasticRod" : "MassSpringChain") +
                                  (tested.param.clamped() ? "Clamped" : "Free");
                         });

/// Lengths and angles of like effect: strains of order one for a unit step.
VectorX random_step(const Nodal& nodal, const Case& c, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> u(-1.0, 1.0);
  VectorX v(c.rod->dof());
  for (Eigen::Index i = 0; i < v.size(); ++i) v[i] = (nodal.is_angle(i) ? 1.0 : 0.02) * u(random);
  return v;
}

TEST_P(NodalRods, ForceIsTheGradientOfTheEnergy) {
  for (unsigned seed = 1; seed <= 5; ++seed) {
    const Case c = nodal_case(GetParam(), {.elements = 5, .turn = 0.8, .seed = seed});
    VectorX force(c.rod->dof());
    c.rod->elastic_force(force);
    double worst = 0.0;
    for (Eigen::Index i = 0; i < force.size(); ++i) {
      const VectorX unit = VectorX::Unit(force.size(), i);
      const auto energy = [&](double h) { return VectorX::Constant(1, energy_at(c, unit, h)); };
      const double h = GetParam().is_angle(i) ? 1e-2 : 2e-4;
      worst = std::max(worst, std::abs(difference(energy, h)[0] + force[i]));
    }
    if (printing()) std::printf("gradient against differences %.1e\n", worst / force.cwiseAbs().maxCoeff());
    EXPECT_LT(worst, 1e-8 * force.cwiseAbs().maxCoeff());  // sixth-order differences: rounding, 1e-16 E / h
  }
}

TEST_P(NodalRods, APointOfTheSurfaceMovesWithItsSection) {
  constexpr double tolerance = 1e-9;  // sixth-order differences
  for (unsigned seed = 1; seed <= 5; ++seed) {
    const Case c = nodal_case(GetParam(), {.elements = 4, .turn = 0.8, .seed = seed});
    EXPECT_EQ(c.rod->model()->twists(), GetParam().angles);
    const VectorX v = random_step(GetParam(), c, seed);
    const VectorX at_rest = VectorX::Zero(v.size());
    for (const int piece : {0, 1, 3}) {
      if (!GetParam().angles) {
        EXPECT_EQ(c.rod->angular_velocity(piece, 0.0, v), Vector3(0, 0, 0));
        continue;
      }
      for (const double share : {1e-12, 0.4, 1.0 - 1e-12})
        EXPECT_LT(surface_point_error(c, piece, share, Vector3(0.01, -0.02, 0.015), v, 1e-2), tolerance);
      Matrix6X twist = Matrix6X::Zero(6, v.size());
      c.rod->twist_jacobian(piece, 0.0, twist);
      const Vector3 turning = c.rod->angular_velocity(piece, 0.0, v);
      EXPECT_LT((twist.bottomRows<3>() * v + c.rod->angular_velocity(piece, 0.0, at_rest) - turning).norm(),
                1e-13 * turning.norm());
    }
  }
}

TEST_P(NodalRods, HessianAgainstSecondDifferencesOfTheEnergy) {
  for (unsigned seed = 1; seed <= 3; ++seed) {
    const Case c = nodal_case(GetParam(), {.elements = 4, .turn = 0.8, .seed = seed});
    const int n = c.rod->dof();
    MatrixX hessian = MatrixX::Zero(n, n);
    c.rod->add_stiffness(1.0, 0.0, hessian);
    EXPECT_EQ(hessian, hessian.transpose());
    const double e0 = c.rod->elastic_energy();
    // Fourth-order second difference along a direction; off-diagonal entries by polarisation.
    const auto second = [&](const VectorX& v, double h) {
      return (16.0 * (energy_at(c, v, h) + energy_at(c, v, -h)) - energy_at(c, v, 2 * h) - energy_at(c, v, -2 * h) -
              30.0 * e0) /
             (12.0 * h * h);
    };
    double worst = 0.0;
    const double step = 2e-3;
    for (int i = 0; i < 40; ++i) {
      const VectorX v = random_step(GetParam(), c, 100 + static_cast<unsigned>(i));
      const VectorX w = random_step(GetParam(), c, 200 + static_cast<unsigned>(i));
      const double found = 0.25 * (second(v + w, step) - second(v - w, step));
      const double size = std::sqrt(v.dot(hessian * v) * v.dot(hessian * v) + 1.0);
      worst = std::max(
          {worst, std::abs(found - v.dot(hessian * w)) / size, std::abs(second(v, step) - v.dot(hessian * v)) / size});
    }
    if (printing()) std::printf("Hessian against second differences %.1e\n", worst);
    EXPECT_LT(worst, 1e-7);
  }
}

TEST_P(NodalRods, TaylorRemaindersHaveTheirOrder) {
  const Case c = nodal_case(GetParam(), {.elements = 6, .turn = 0.7, .seed = 9});
  const int n = c.rod->dof();
  const VectorX v = random_step(GetParam(), c, 3);
  VectorX force(n);
  c.rod->elastic_force(force);
  VectorX bent = VectorX::Zero(n);
  c.rod->add_stiffness_times(1.0, v, bent);
  const auto remainder = [&](double h, double of_second) {
    return std::abs(energy_at(c, v, h) - c.rod->elastic_energy() + h * force.dot(v) -
                    0.5 * of_second * h * h * v.dot(bent));
  };
  for (const double h : {0.02, 0.01}) {
    EXPECT_NEAR(std::log2(remainder(h, 0.0) / remainder(0.5 * h, 0.0)), 2.0, 0.1);
    EXPECT_NEAR(std::log2(remainder(h, 1.0) / remainder(0.5 * h, 1.0)), 3.0, 0.15);
  }
}

TEST_P(NodalRods, RigidMotionsChangeNothing) {
  const Case c = nodal_case(GetParam(), {.elements = 5, .turn = 0.8, .seed = 4});
  const Matrix3 turn = math::rotation_exp({0.7, -1.1, 0.4});
  const Vector3 shift(0.3, 0.1, -0.2);
  RodState moved = c.state;
  const Nodal& nodal = GetParam();
  moved.root.position = turn * c.state.root.position + shift;
  moved.root.frame = turn * c.state.root.frame;
  for (int j = 0; j < 5; ++j) {
    const int at = nodal.node_at(j + 1);
    moved.coordinates.segment<3>(at) = turn * c.state.coordinates.segment<3>(at) + shift;
    if (nodal.angles) moved.memory.segment<3>(3 * j) = turn * c.state.memory.segment<3>(3 * j);
  }
  if (!nodal.clamped()) moved.coordinates.head<3>() = turn * c.state.coordinates.head<3>() + shift;
  const auto rod = c.rod->clone();
  rod->update(moved);
  EXPECT_NEAR(rod->elastic_energy() / c.rod->elastic_energy(), 1.0, 1e-13);
  if (nodal.clamped()) return;
  // No net force; the torque of the node forces is what the edges' own twisting torques leave.
  VectorX force(rod->dof());
  c.rod->elastic_force(force);
  Vector3 resultant = force.head<3>();
  Vector3 torque = c.state.coordinates.head<3>().cross(force.head<3>());
  for (int j = 0; j < 5; ++j) {
    const Vector3 f = force.segment<3>(nodal.node_at(j + 1));
    const Vector3 x = c.state.coordinates.segment<3>(nodal.node_at(j + 1));
    resultant += f;
    torque += x.cross(f);
    if (nodal.angles)
      torque += force[nodal.angle_at(j)] * (x - c.rod->section(c.rod->piece_begin(j)).position).normalized();
  }
  const double size = force.cwiseAbs().maxCoeff();
  EXPECT_LT(resultant.norm(), 1e-13 * size);
  EXPECT_LT(torque.norm(), 1e-13 * size);
}

TEST_P(NodalRods, DampingSparesRigidMotionsAndIsPositive) {
  const Case c = nodal_case(GetParam(), {.elements = 5, .turn = 0.8, .seed = 6});
  const int n = c.rod->dof();
  MatrixX damping = MatrixX::Zero(n, n);
  c.rod->add_stiffness(0.0, 1.0, damping);
  const Eigen::SelfAdjointEigenSolver<MatrixX> eigen(damping);
  const double largest = eigen.eigenvalues()[n - 1];
  EXPECT_GT(eigen.eigenvalues()[0], -1e-13 * largest);
  // v: the whole rod moves rigidly, root included.
  RodState state = c.state;
  const Vector3 spin(0.7, -0.4, 1.1), drift(0.1, 0.2, 0.3);
  const Nodal& nodal = GetParam();
  const bool clamped = nodal.clamped();
  state.root_velocity = {drift + spin.cross(state.root.position), spin};
  const auto velocity = [&](const Vector3& x) -> Vector3 { return drift + spin.cross(x); };
  if (!clamped) state.rates.head<3>() = velocity(state.coordinates.head<3>());
  for (int j = 0; j < 5; ++j) {
    const Vector3 x = state.coordinates.segment<3>(nodal.node_at(j + 1));
    state.rates.segment<3>(nodal.node_at(j + 1)) = velocity(x);
    if (nodal.angles)
      state.rates[nodal.angle_at(j)] = spin.dot((x - c.rod->section(c.rod->piece_begin(j)).position).normalized());
  }
  const auto rod = c.rod->clone();
  rod->update(state);
  VectorX unknown(n), prescribed(n), inertial(n);
  rod->resistance(0.0, state.rates, unknown);
  EXPECT_LT((unknown + damping * state.rates).norm(), 1e-12 * (damping * state.rates).norm() + 1e-12 * largest);
  rod->inertial_and_external_force({}, prescribed);
  const Case undamped = nodal_case(GetParam(), {.elements = 5, .turn = 0.8, .seed = 6}, 0.0);
  undamped.rod->update(state);
  undamped.rod->inertial_and_external_force({}, inertial);
  if (clamped) {
    EXPECT_LT((unknown + prescribed - inertial).norm(), 1e-9 * unknown.norm());
  } else {
    EXPECT_LT(unknown.norm(), 1e-12 * largest);
  }
}

/// The same shape with every edge stretched or compressed by a factor of its own.
void stretch(Case& c, const Nodal& nodal, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> factor(0.2, 4.0);
  Vector3 shift = Vector3::Zero();
  for (int j = 0; j < c.rod->piece_count(); ++j) {
    const auto edge = std::get<geometry::LineSegment>(c.rod->piece(j));
    shift += (factor(random) - 1.0) * (edge.to - edge.from);
    c.state.coordinates.segment<3>(nodal.node_at(j + 1)) += shift;
  }
  c.rod->update(c.state);
}

TEST_P(NodalRods, AbscissaeAreOfTheMaterial) {
  for (unsigned seed = 0; seed < 20; ++seed) {
    Case c = nodal_case(GetParam(), {.elements = 5, .turn = 0.5, .seed = seed});
    stretch(c, GetParam(), seed);
    for (int piece = 0; piece < 5; ++piece) {
      const auto edge = std::get<geometry::LineSegment>(c.rod->piece(piece));
      const geometry::MaterialSpan span = c.rod->span(piece);
      EXPECT_EQ(span.rest, c.lengths[static_cast<std::size_t>(piece)]);
      for (const double part : {0.0, 0.2, 0.7, 1.0}) {
        const Vector3 expected = edge.from + part * (edge.to - edge.from);
        const double u = part * span.rest;
        EXPECT_LT((geometry::position(edge, span.on_curve(u)) - expected).norm(), 1e-15);
        const RodSection section = c.rod->section(c.rod->piece_begin(piece) + u);
        EXPECT_LT((section.position - expected).norm(), 1e-14);
        if (part == 0.2) {
          EXPECT_NEAR(section.stretch, (edge.to - edge.from).norm() / span.rest, 1e-13);
        }
      }
    }
    // What lies beyond an end is that end.
    EXPECT_EQ(c.rod->section(-1.0).position, c.rod->section(0.0).position);
    EXPECT_LT((c.rod->section(10.0).position - c.rod->section(c.rod->length()).position).norm(), 1e-15);
  }
}

TEST_P(NodalRods, JacobianIsTheVelocity) {
  Case c = nodal_case(GetParam(), {.elements = 4, .turn = 0.8, .seed = 2});
  stretch(c, GetParam(), 2);
  Matrix3X columns(3, c.rod->dof());
  Matrix3X ends(3, 5);
  c.rod->end_velocities(c.state.rates, ends);
  const EndsOff off = ends_off(*c.rod, c.state.rates);
  EXPECT_LT(off.places, 1e-14);
  EXPECT_LT(off.work, 1e-12);
  for (int piece = 0; piece < 4; ++piece) {
    const double length = c.lengths[static_cast<std::size_t>(piece)];
    for (const double part : {0.0, 0.3, 1.0}) {
      const int touched = c.rod->jacobian(piece, part * length, columns);
      const auto rod = c.rod->clone();
      const auto position = [&](double h) -> Vector3 {
        Pose root = c.state.root;
        root.position += h * c.state.root_velocity.linear;
        rod->update(c.rod->advanced(c.state, c.state.rates, h, root, c.state.root_velocity));
        const auto segment = std::get<geometry::LineSegment>(rod->piece(piece));
        return segment.from + part * (segment.to - segment.from);
      };
      const Vector3 velocity = c.rod->velocity(piece, part * length, c.state.rates);
      EXPECT_LT((difference(position, 1e-3) - velocity).norm(), 1e-11);
      Vector3 found = columns.leftCols(touched) * c.state.rates.head(touched);
      if (GetParam().clamped() && piece == 0) found += (1.0 - part) * c.state.root_velocity.linear;
      EXPECT_LT((found - velocity).norm(), 1e-14);
    }
    EXPECT_EQ(ends.col(piece), c.rod->velocity(piece, 0.0, c.state.rates));
  }
}

TEST_P(NodalRods, BandedStepMatrixIsTheDenseOne) {
  for (const int elements : {1, 2, 7, 60}) {
    const Case c = nodal_case(GetParam(), {.elements = elements, .turn = 0.3, .seed = 5});
    const int n = c.rod->dof();
    detail::BandedStepMatrix banded;
    detail::DenseStepMatrix dense;
    const StepTerms terms{1e-10, 1e-5, 0.3};  // small enough for the exact Hessian
    VectorX momentum(n), expected(n);
    const VectorX x = random_step(GetParam(), c, 8);
    ASSERT_TRUE(banded.factor(*c.rod, terms, x, momentum));
    ASSERT_TRUE(dense.factor(*c.rod, terms, x, expected));
    EXPECT_LT(relative(momentum, expected), 1e-14);
    VectorX a = x, b = x;
    banded.solve(a);
    dense.solve(b);
    EXPECT_LT(relative(a, b), 1e-11);
    EXPECT_NEAR(banded.squared_norm(x) / dense.squared_norm(x), 1.0, 1e-13);
    a = b = x;
    banded.velocity_from_whitened(a);
    dense.velocity_from_whitened(b);
    EXPECT_LT(relative(a, b), 1e-11);
    for (const int leading : {std::min(4, n), n}) {
      MatrixX columns(leading, 3);
      for (int k = 0; k < 3; ++k)
        columns.col(k) = random_step(GetParam(), c, 20 + static_cast<unsigned>(k)).head(leading);
      MatrixX same = columns;
      banded.whiten(columns);
      dense.whiten(same);
      EXPECT_LT(relative(columns, same), 1e-11);
    }
  }
}

TEST_P(NodalRods, AnIndefiniteHessianIsClampedAndUsedThroughout) {
  const Case c = nodal_case(GetParam(), {.elements = 6, .turn = 0.9, .seed = 3});
  const int n = c.rod->dof();
  MatrixX exact = MatrixX::Zero(n, n);
  c.rod->update(c.state);  // a free rod's frame turns by a rounding error at each update with its own state
  c.rod->add_stiffness(1.0, 0.0, exact);
  ASSERT_LT(Eigen::SelfAdjointEigenSolver<MatrixX>(exact).eigenvalues()[0], 0.0);
  const auto matrix = c.rod->make_step_matrix();
  VectorX momentum(n);
  const double stiffness = 1e4;  // inertia does not help
  ASSERT_TRUE(matrix->factor(*c.rod, {.stiffness = stiffness}, VectorX::Zero(n), momentum));
  MatrixX used = MatrixX::Zero(n, n);
  c.rod->add_stiffness(1.0, 0.0, used);
  const auto values = Eigen::SelfAdjointEigenSolver<MatrixX>(used).eigenvalues();
  EXPECT_GT(values[0], -1e-13 * values[n - 1]);
  const VectorX x = random_step(GetParam(), c, 7);
  VectorX product = VectorX::Zero(n);
  c.rod->add_stiffness_times(stiffness, x, product);
  MatrixX mass(n, n);
  c.rod->mass_matrix(mass);
  EXPECT_NEAR((x.dot(product) + x.dot(mass * x)) / matrix->squared_norm(x), 1.0, 1e-12);
  c.rod->update(c.state);
  MatrixX again = MatrixX::Zero(n, n);
  c.rod->add_stiffness(1.0, 0.0, again);
  EXPECT_EQ(again, exact);
}

TEST(DiscreteElasticRod, BadInputIsNamed) {
  const Material material{.density = 1000.0, .young_modulus = 1e6};
  const RodEdge edge{0.1, CrossSection::circle(1e-3), Vector3::Zero()};
  EXPECT_THROW(make_discrete_elastic_rod({}, material, RootCondition::clamped), InvalidInput);
  RodEdge bad = edge;
  bad.length = 0.0;
  EXPECT_THROW(make_discrete_elastic_rod({bad}, material, RootCondition::clamped), InvalidInput);
  bad = edge;
  bad.rest_curvature = {0.0, 0.0, 100.0};  // 5 rad at the root, 10 beyond
  EXPECT_THROW(make_discrete_elastic_rod({bad, bad}, material, RootCondition::clamped), InvalidInput);
  const auto rod = make_discrete_elastic_rod({edge, edge}, material, RootCondition::clamped);
  EXPECT_THROW(rod->update({{}, {}, VectorX::Zero(8), VectorX::Zero(8), {}}), InvalidInput);
  EXPECT_THROW(rod->set_rest_curvature(VectorX::Zero(3)), InvalidInput);
  EXPECT_EQ(rod->section(0.3).position, rod->section(rod->length()).position) << "beyond its end: the end";
}

}  // namespace TRESSE_TEST_FILE
}  // namespace tresse::rods
