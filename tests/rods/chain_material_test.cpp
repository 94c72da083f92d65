#include <gtest/gtest.h>

#include <Eigen/Cholesky>

#include "rods/rod_cases.hpp"

// The velocity of the material carried from one shape of a rod to another: against quadrature of the jacobians, and
// what makes it safe, that the nearest velocity field of the new shape has at most its energy.
namespace tresse::rods {
namespace TRESSE_TEST_FILE {

using namespace rod_cases;

constexpr double quadrature_tolerance = 1e-12;

std::vector<Case> cases() {
  std::vector<Case> all;
  unsigned seed = 40;
  for (const Model model : curvature_models) {
    for (const RootCondition root : {RootCondition::clamped, RootCondition::free}) {
      for (const double turn : {1e-6, 0.3, 1.4, 4.5, 9.0}) {
        ++seed;
        all.push_back(make_case({.elements = 1 + static_cast<int>(seed % 6),
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

/// The same rod after a motion that changes its shape and turns it.
Case moved(const Case& c, double h) {
  Case out;
  out.lengths = c.lengths;
  out.densities = c.densities;
  out.sections = c.sections;
  out.model = c.model;
  out.rotary_inertia = c.rotary_inertia;
  out.rod = c.rod->clone();
  out.state = c.state;
  out.state.coordinates += h * c.state.rates;
  out.state.root.position += Vector3(0.01, -0.02, 0.03);
  out.state.root.frame = math::rotation_exp(Vector3(0.2, -0.3, 0.1)) * c.state.root.frame;
  out.state.rates.setConstant(1e30);  // of no effect
  out.rod->update(out.state);
  return out;
}

VectorX carried(const Case& from, const Case& to, const RodLoads& loads = {}, double dt = 0.0) {
  MaterialMotion motion;
  from.rod->sample_motion(motion);
  VectorX out(to.rod->dof());
  to.rod->carried_momentum(motion, loads, dt, out);
  return out;
}

MatrixX mass_of(const Rod& rod) {
  MatrixX m(rod.dof(), rod.dof());
  rod.mass_matrix(m);
  return m;
}

/// Points of the mass matrix serve the momentum too where they are the same.
TEST(CarriedMomentum, IsTheSameToTheBitOnceTheMassMatrixIsKnown) {
  for (const Case& c : cases()) {
    const Case fresh = moved(c, 0.05), weighed = moved(c, 0.05);
    static_cast<void>(mass_of(*weighed.rod));
    EXPECT_EQ(carried(c, fresh), carried(c, weighed));
  }
}

TEST(CarriedMomentum, IsTheVirtualWorkOfTheOldVelocitiesOnTheNewShape) {
  RodLoads loads;
  loads.gravity = {1.0, -2.0, -9.0};
  loads.drag = 40.0;
  loads.wind = {3.0, 1.0, -2.0};
  constexpr double dt = 0.01;
  for (const Case& c : cases()) {
    const Case to = moved(c, 0.05);
    const bool clamped = c.rod->root_condition() == RootCondition::clamped;
    const Twist prescribed = clamped ? to.state.root_velocity : Twist{};
    const VectorX v = generalised_velocity(*c.rod, c.state);
    VectorX expected = VectorX::Zero(to.rod->dof());
    Matrix3X j(3, to.rod->dof());
    integrate(c, [&](int piece, double u, double weight) {
      const int n = to.rod->jacobian(piece, u, j);
      const Vector3 arm = to.rod->section(to.rod->piece_begin(piece) + u).position - to.state.root.position;
      const Vector3 fixed = prescribed.linear + prescribed.angular.cross(arm);
      const Vector3 gained = c.rod->velocity(piece, u, v) + dt * loads.gravity - fixed;
      const Vector3 blown = dt * loads.drag * (loads.wind - fixed);
      expected.head(n) += weight * j.leftCols(n).transpose() * (c.densities[piece] * gained + blown);
    });
    for (const Disc& disc : discs_of(c)) {
      const double s = c.rod->piece_begin(disc.piece) + disc.u;
      const Matrix3 old_axes = c.rod->section(s).frame, axes = to.rod->section(s).frame;
      const Vector3 spin = spin_of(*c.rod, disc, v);
      const double resisted = 1.0 + dt * loads.drag / c.densities[disc.piece];
      // What lies beside the centreline along n1 and n2.
      const Vector3 couple = disc.inertia[2] * axes.col(1).cross(spin.cross(old_axes.col(1))) +
                             disc.inertia[1] * axes.col(2).cross(spin.cross(old_axes.col(2))) -
                             resisted * inertia_of(*to.rod, disc) * prescribed.angular;
      expected += turning_of(*to.rod, disc).transpose() * couple;
    }
    EXPECT_LT(relative(carried(c, to, loads, dt), expected), quadrature_tolerance);
  }
}

TEST(CarriedMomentum, WhereNothingMovedIsTheMomentum) {
  for (const Case& c : cases()) {
    const VectorX v = generalised_velocity(*c.rod, c.state);
    EXPECT_LT(relative(carried(c, c), mass_of(*c.rod) * v), 1e-12);
    MaterialMotion motion;
    c.rod->sample_motion(motion);
    Vector3 linear, angular, same_linear, same_angular;
    c.rod->momentum(linear, angular);
    c.rod->material_momentum(motion, same_linear, same_angular);
    EXPECT_LT((same_linear - linear).norm(), 1e-12 * linear.norm());
    EXPECT_LT((same_angular - angular).norm(), 1e-12 * angular.norm());
  }
}

/// The energy of the nearest field is at most that of the old one, however far the rod moved; and a free rod keeps its
/// linear momentum.
TEST(CarriedMomentum, NearestFieldHasNoMoreEnergy) {
  for (const Case& c : cases()) {
    if (!c.rotary_inertia) continue;  // M may be singular
    for (const double h : {1e-3, 0.05, 1.0}) {
      Case to = moved(c, h);
      to.state.root_velocity = {};  // of a clamped root: the nearest field that the unknowns alone can follow
      to.rod->update(to.state);
      const VectorX momentum = carried(c, to);
      const double energy = 0.5 * momentum.dot(mass_of(*to.rod).ldlt().solve(momentum));
      EXPECT_LE(energy, c.rod->energies(Vector3::Zero()).kinetic * (1.0 + 1e-9)) << h;
      if (c.rod->root_condition() != RootCondition::free) continue;
      Vector3 linear, angular;
      c.rod->momentum(linear, angular);
      EXPECT_LT((momentum.head<3>() - linear).norm(), 1e-11 * (linear.norm() + c.rod->mass()));
    }
  }
}

}  // namespace TRESSE_TEST_FILE
}  // namespace tresse::rods
