#include <gtest/gtest.h>

#include <cmath>

#include <tresse/base/errors.hpp>
#include <tresse/fluid/resistance.hpp>

namespace tresse::fluid {
namespace {

constexpr double epsilon = 1.02e-3;

Chains straight(int segments, double length) {
  Chains out{{}, {0, segments + 1}};
  for (int i = 0; i <= segments; ++i) out.nodes.emplace_back(length * i / segments, 0.0, 0.0);
  return out;
}

VectorX moving(const Chains& chains, const Vector3& velocity) {
  return velocity.replicate(static_cast<Eigen::Index>(chains.nodes.size()), 1);
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
    const Resistance resistance(rod, epsilon, 2.0, Coupling::collocation);
    EXPECT_NEAR(sum(resistance.force(moving(rod, Vector3::UnitX()))).x() / 2.0, along, 1e-5) << segments;
    EXPECT_NEAR(sum(resistance.force(moving(rod, Vector3::UnitZ()))).z() / 2.0, across, 1e-5) << segments;
  }
}

TEST(Resistance, BothCouplingsAgreeAsSegmentsGetShort) {
  double before = 1.0;
  for (const int segments : {20, 40, 80}) {
    const Chains rod = straight(segments, 0.1);
    const VectorX across = moving(rod, Vector3::UnitZ());
    const double one = sum(Resistance(rod, epsilon, 1.0, Coupling::collocation).force(across)).z();
    const double other = sum(Resistance(rod, epsilon, 1.0, Coupling::symmetric).force(across)).z();
    const double off = std::abs(one / other - 1.0);
    EXPECT_LT(off, 0.7 * before);
    before = off;
  }
  EXPECT_LT(before, 5e-3);
}

// The symmetric one obeys reciprocity: the work of one motion's forces on another is that of the other on the first.
TEST(Resistance, IsReciprocalAndTakesWork) {
  Chains bodies{{}, {0, 9, 18}};
  for (int i = 0; i < 18; ++i)
    bodies.nodes.emplace_back(5e-3 * (i % 9), 4e-3 * std::sin(0.7 * i),
                              (i < 9 ? 0.0 : 8e-3) + 3e-3 * std::cos(0.9 * i));
  const Resistance resistance(bodies, epsilon, 1.0, Coupling::symmetric);
  const auto n = static_cast<Eigen::Index>(3 * bodies.nodes.size());
  for (int seed = 1; seed < 6; ++seed) {
    VectorX u(n), v(n);
    for (Eigen::Index i = 0; i < n; ++i) {
      u[i] = std::sin(static_cast<double>(seed * (i + 1)) * 1.3);
      v[i] = std::cos(static_cast<double>(seed * (i + 2)) * 0.7);
    }
    const double one = v.dot(resistance.force(u)), other = u.dot(resistance.force(v));
    EXPECT_NEAR(one, other, 1e-10 * (std::abs(u.dot(resistance.force(u))) + std::abs(one)));
    EXPECT_GT(u.dot(resistance.force(u)), 0.0);
  }
}

// Force on the fluid makes the flow that carries the nodes: the flow of the densities at the nodes is their velocity.
TEST(Resistance, ANearBodyIsDraggedAlong) {
  Chains two = straight(20, 0.1);
  const int half = static_cast<int>(two.nodes.size());
  for (int i = 0; i < half; ++i) two.nodes.push_back(two.nodes[static_cast<std::size_t>(i)] + Vector3(0.0, 0.0, 1e-2));
  two.begin = {0, half, 2 * half};
  const Resistance alone(straight(20, 0.1), epsilon, 1.0, Coupling::symmetric);
  const Resistance both(two, epsilon, 1.0, Coupling::symmetric);
  const VectorX along = moving(two, Vector3::UnitX());
  // Side by side in the same direction two take less than twice of what one does, in opposite ones more.
  const double one = sum(alone.force(along.head(3 * half))).x();
  const double pair = sum(both.force(along)).x();
  VectorX against = along;
  against.tail(3 * half) *= -1.0;
  const double apart = sum(both.force(against).head(3 * half)).x();
  EXPECT_LT(pair, 1.8 * one);
  EXPECT_GT(apart, 1.1 * one);
}

TEST(Resistance, BadInputIsRefused) {
  EXPECT_THROW(Resistance(straight(4, 0.1), 0.0, 1.0, Coupling::collocation), InvalidInput);
  EXPECT_THROW(Resistance(straight(4, 0.1), epsilon, -1.0, Coupling::collocation), InvalidInput);
  EXPECT_THROW(Resistance(Chains{{Vector3::Zero()}, {0, 1}}, epsilon, 1.0, Coupling::collocation), InvalidInput);
}

}  // namespace
}  // namespace tresse::fluid
