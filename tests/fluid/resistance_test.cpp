#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include <Eigen/Geometry>

#include <tresse/base/errors.hpp>
#include <tresse/fluid/resistance.hpp>
#include <tresse/fluid/stokeslet_segments.hpp>

namespace tresse::fluid {
namespace TRESSE_TEST_FILE {

constexpr double epsilon = 1.02e-3;

Chains straight(int segments, double length) {
  Chains out{{}, {0, segments + 1}, {epsilon}};
  for (int i = 0; i <= segments; ++i) out.nodes.emplace_back(length * i / segments, 0.0, 0.0);
  return out;
}

/// Two wound bodies that come near each other.
Chains wound() {
  Chains out{{}, {0, 9, 18}, {epsilon, 2.0 * epsilon}};
  for (int i = 0; i < 18; ++i)
    out.nodes.emplace_back(5e-3 * (i % 9), 4e-3 * std::sin(0.7 * i), (i < 9 ? 0.0 : 8e-3) + 3e-3 * std::cos(0.9 * i));
  return out;
}

VectorX moving(const Chains& chains, const Vector3& velocity) {
  return velocity.replicate(static_cast<Eigen::Index>(chains.nodes.size()), 1);
}

VectorX force(const Chains& chains, double viscosity, Coupling coupling, const VectorX& velocities) {
  Resistance resistance(viscosity, coupling);
  resistance.place(chains);
  resistance.factor();
  VectorX densities = VectorX::Zero(velocities.size());
  const ResistanceResult result = resistance.solve(velocities, 1e-13, densities);
  EXPECT_LE(result.residual, 1e-13);
  return resistance.forces(densities);
}

Vector3 sum(const VectorX& force) {
  Vector3 out = Vector3::Zero();
  for (Eigen::Index i = 0; i < force.size(); i += 3) out += force.segment<3>(i);
  return out;
}

// Of a rod of 0.1 m, over viscosity and speed; worked out for the design of this.
TEST(Resistance, OfAStraightRod) {
  const struct {
    int segments;
    double along, across;
  } known[] = {{20, 0.15272, 0.24749}, {40, 0.15122, 0.24421}, {80, 0.15082, 0.24305}};
  for (const auto& [segments, along, across] : known) {
    const Chains rod = straight(segments, 0.1);
    const auto of = [&](const Vector3& u) { return sum(force(rod, 2.0, Coupling::collocation, moving(rod, u))); };
    EXPECT_NEAR(of(Vector3::UnitX()).x() / 2.0, along, 1e-5) << segments;
    EXPECT_NEAR(of(Vector3::UnitZ()).z() / 2.0, across, 1e-5) << segments;
  }
}

// The densities that are found make, segment by segment, the flow that was wanted: another way to sum it.
TEST(Resistance, FlowOfTheDensitiesCarriesTheNodes) {
  Chains chains = wound();
  chains.epsilon = {epsilon, epsilon};
  const auto n = static_cast<Eigen::Index>(chains.nodes.size());
  VectorX velocities(3 * n);
  for (Eigen::Index i = 0; i < velocities.size(); ++i) velocities[i] = std::sin(1.3 * static_cast<double>(i + 1));
  Resistance resistance(0.7, Coupling::collocation);
  resistance.place(chains);
  resistance.factor();
  VectorX densities = VectorX::Zero(3 * n);
  EXPECT_LE(resistance.solve(velocities, 1e-12, densities).residual, 1e-12);
  std::vector<Segment> segments;
  std::vector<Vector3> begin, end;
  for (const int i : {0, 1, 2, 3, 4, 5, 6, 7, 9, 10, 11, 12, 13, 14, 15, 16}) {
    segments.push_back({chains.nodes[static_cast<std::size_t>(i)], chains.nodes[static_cast<std::size_t>(i) + 1]});
    begin.emplace_back(densities.segment<3>(3 * i));
    end.emplace_back(densities.segment<3>(3 * i + 3));
  }
  const std::vector<Vector3> found = velocity(segments, begin, end, epsilon, 0.7, chains.nodes);
  for (Eigen::Index i = 0; i < n; ++i)
    EXPECT_LT((found[static_cast<std::size_t>(i)] - velocities.segment<3>(3 * i)).norm(), 1e-9);
}

// Nodes from near to sixty segments away, and in numbers that fill no pack, see the same influence.
TEST(Resistance, NumberOfNodesDoesNotMatter) {
  const Chains rod = straight(60, 0.3);
  const VectorX along = moving(rod, Vector3(1.0, 2.0, 0.5));
  const VectorX whole = force(rod, 1.0, Coupling::collocation, along);
  Chains reversed = rod;
  std::reverse(reversed.nodes.begin(), reversed.nodes.end());
  const VectorX other = force(reversed, 1.0, Coupling::collocation, along);
  for (Eigen::Index i = 0; i <= 60; ++i)
    EXPECT_LT((whole.segment<3>(3 * i) - other.segment<3>(3 * (60 - i))).norm(), 1e-10 * whole.norm());
}

TEST(Resistance, BothCouplingsAgreeAsSegmentsGetShort) {
  double before = 1.0;
  for (const int segments : {20, 40, 80}) {
    const Chains rod = straight(segments, 0.1);
    const VectorX across = moving(rod, Vector3::UnitZ());
    const double one = sum(force(rod, 1.0, Coupling::collocation, across)).z();
    const double other = sum(force(rod, 1.0, Coupling::symmetric, across)).z();
    const double off = std::abs(one / other - 1.0);
    EXPECT_LT(off, 0.7 * before);
    before = off;
  }
  EXPECT_LT(before, 5e-3);
}

// The symmetric one obeys reciprocity: the work of one motion's forces on another is that of the other on the first.
TEST(Resistance, IsReciprocalAndTakesWork) {
  const Chains bodies = wound();
  const auto n = static_cast<Eigen::Index>(3 * bodies.nodes.size());
  for (int seed = 1; seed < 6; ++seed) {
    VectorX u(n), v(n);
    for (Eigen::Index i = 0; i < n; ++i) {
      u[i] = std::sin(static_cast<double>(seed * (i + 1)) * 1.3);
      v[i] = std::cos(static_cast<double>(seed * (i + 2)) * 0.7);
    }
    const VectorX of_u = force(bodies, 1.0, Coupling::symmetric, u);
    const double one = v.dot(of_u), other = u.dot(force(bodies, 1.0, Coupling::symmetric, v));
    EXPECT_NEAR(one, other, 1e-10 * (std::abs(u.dot(of_u)) + std::abs(one)));
    EXPECT_GT(u.dot(of_u), 0.0);
  }
}

// What moves is the frame alone.
TEST(Resistance, TurnsWithTheBodies) {
  const Chains bodies = wound();
  const Matrix3 turn = Eigen::AngleAxisd(0.8, Vector3(1.0, -2.0, 0.5).normalized()).toRotationMatrix();
  Chains turned = bodies;
  for (Vector3& node : turned.nodes) node = turn * node + Vector3(0.3, -0.1, 0.2);
  VectorX u(54), v(54);
  for (Eigen::Index i = 0; i < 18; ++i) {
    const auto at = static_cast<double>(i);
    u.segment<3>(3 * i) = Vector3(std::sin(2.0 * at), std::cos(1.3 * at), std::sin(0.4 * at * at));
    v.segment<3>(3 * i) = turn * u.segment<3>(3 * i);
  }
  for (const Coupling coupling : {Coupling::collocation, Coupling::symmetric}) {
    const VectorX one = force(bodies, 1.0, coupling, u), other = force(turned, 1.0, coupling, v);
    for (Eigen::Index i = 0; i < 18; ++i)
      EXPECT_LT((turn * one.segment<3>(3 * i) - other.segment<3>(3 * i)).norm(), 1e-9 * one.norm());
  }
}

// Side by side in the same direction two take less than twice of what one does, in opposite ones more.
TEST(Resistance, ANearBodyIsDraggedAlong) {
  Chains two = straight(20, 0.1);
  const int half = static_cast<int>(two.nodes.size());
  for (int i = 0; i < half; ++i) two.nodes.push_back(two.nodes[static_cast<std::size_t>(i)] + Vector3(0.0, 0.0, 1e-2));
  two.begin = {0, half, 2 * half};
  two.epsilon = {epsilon, epsilon};
  const VectorX along = moving(two, Vector3::UnitX());
  const double one = sum(force(straight(20, 0.1), 1.0, Coupling::symmetric, along.head(3 * half))).x();
  const double pair = sum(force(two, 1.0, Coupling::symmetric, along)).x();
  VectorX against = along;
  against.tail(3 * half) *= -1.0;
  const double apart = sum(force(two, 1.0, Coupling::symmetric, against).head(3 * half)).x();
  EXPECT_LT(pair, 1.8 * one);
  EXPECT_GT(apart, 1.1 * one);
}

// Factors of another place, and of each chain alone, precondition as well: the densities are the same.
TEST(Resistance, OldFactorsLeadToTheSame) {
  const Chains bodies = wound();
  Chains elsewhere = bodies;
  for (Vector3& node : elsewhere.nodes) node += Vector3(0.0, 0.1 * node.x(), -0.2 * node.y());
  const VectorX u = moving(bodies, Vector3(0.3, 1.0, -0.4));
  Resistance resistance(1.0, Coupling::collocation);
  resistance.place(elsewhere);
  resistance.factor();
  resistance.place(bodies);
  VectorX densities = VectorX::Zero(u.size());
  const ResistanceResult result = resistance.solve(u, 1e-12, densities);
  EXPECT_LE(result.residual, 1e-12);
  EXPECT_LT(result.iterations, 40);
  const VectorX exact = force(bodies, 1.0, Coupling::collocation, u);
  EXPECT_LT((resistance.forces(densities) - exact).norm(), 1e-10 * exact.norm());
}

// More nodes than are factored at once: 1300 in 26 bodies.
TEST(Resistance, ManyBodiesAreFactoredOneByOne) {
  Chains many{{}, {0}, {}};
  std::mt19937 random(5);
  std::uniform_real_distribution<double> place(-0.1, 0.1);
  for (int body = 0; body < 26; ++body) {
    const Vector3 at(place(random), place(random), place(random));
    for (int i = 0; i < 50; ++i)
      many.nodes.push_back(at + Vector3(2e-3 * i, 4e-3 * std::sin(0.3 * i), 4e-3 * std::cos(0.3 * i)));
    many.begin.push_back(static_cast<int>(many.nodes.size()));
    many.epsilon.push_back(epsilon);
  }
  Resistance resistance(1.0, Coupling::collocation);
  resistance.place(many);
  resistance.factor();
  const VectorX u = moving(many, Vector3::UnitY());
  VectorX densities = VectorX::Zero(u.size());
  const ResistanceResult result = resistance.solve(u, 1e-8, densities);
  EXPECT_LE(result.residual, 1e-8);
  EXPECT_LT(result.iterations, 100);
}

TEST(Resistance, BadInputIsRefused) {
  Resistance resistance(1.0, Coupling::collocation);
  Chains rod = straight(4, 0.1);
  rod.epsilon = {0.0};
  EXPECT_THROW(resistance.place(rod), InvalidInput);
  EXPECT_THROW(resistance.place(Chains{{Vector3::Zero()}, {0, 1}, {epsilon}}), InvalidInput);
  EXPECT_THROW(Resistance(-1.0, Coupling::collocation), InvalidInput);
}

}  // namespace TRESSE_TEST_FILE
}  // namespace tresse::fluid
