#include <gtest/gtest.h>

#include <random>

#include <tresse/friction/convex.hpp>
#include <tresse/inverse/cone_forces.hpp>

namespace tresse::inverse {
namespace TRESSE_TEST_FILE {

/// Random rows of contacts between neighbours of a ring of bodies, several to a pair, and some with one body alone.
struct Sample {
  friction::FactoredProblem rows;
  VectorX b, mu;
  double gamma = 1e-4;
};

Sample sample(unsigned seed) {
  constexpr int bodies = 6, dof = 12, contacts = 30;
  std::mt19937 random(seed);
  const auto number = [&] { return 2.0 * static_cast<double>(random()) / std::mt19937::max() - 1.0; };
  Sample out;
  for (int f = 0; f <= bodies; ++f) out.rows.body_begin.push_back(f * dof);
  out.rows.contacts.resize(contacts);
  for (int i = 0; i < contacts; ++i) {
    const int a = i % bodies;
    out.rows.contacts[static_cast<std::size_t>(i)][0] = {a, 3 + 3 * (i % 4), 0};
    if (i % 5 != 0) out.rows.contacts[static_cast<std::size_t>(i)][1] = {(a + 1) % bodies, 12, 0};
  }
  out.rows.rows.resize(static_cast<std::size_t>(friction::lay_out_rows(out.rows.contacts)));
  for (double& x : out.rows.rows) x = number();
  out.b.resize(3 * contacts);
  for (double& x : out.b) x = number();
  out.mu.resize(contacts);
  for (int i = 0; i < contacts; ++i) out.mu[i] = i % 7 == 0 ? 0.0 : 0.3 + 0.2 * number();
  out.rows.q = out.b;
  out.rows.mu = out.mu;
  return out;
}

MatrixX dense(const Sample& of) {
  MatrixX X = MatrixX::Zero(of.b.size(), of.rows.body_begin.back());
  for (std::size_t i = 0; i < of.rows.contacts.size(); ++i) {
    for (const friction::ContactRows& side : of.rows.contacts[i]) {
      if (side.body < 0) continue;
      X.block(3 * static_cast<Eigen::Index>(i), of.rows.body_begin[static_cast<std::size_t>(side.body)], 3,
              side.columns) = friction::rows_of(of.rows, side);
    }
  }
  return X * X.transpose();
}

TEST(ContactCompliance, IsThatOfTheRows) {
  const Sample one = sample(1);
  const ContactCompliance compliance(one.rows);
  const MatrixX W = dense(one);
  const VectorX& s = compliance.scales();
  VectorX scaled = one.b;
  for (Eigen::Index i = 0; i < s.size(); ++i) scaled.segment<3>(3 * i) /= s[i];
  VectorX expected = W * scaled;
  for (Eigen::Index i = 0; i < s.size(); ++i) expected.segment<3>(3 * i) /= s[i];
  constexpr double rounding = 1e-13;
  EXPECT_LE((compliance.times(one.b) - expected).norm(), rounding * expected.norm());
}

TEST(ConeForces, ObeyTheConditionsWrittenOut) {
  for (unsigned seed = 1; seed <= 20; ++seed) {
    const Sample one = sample(seed);
    constexpr double tolerance = 1e-11;
    const ConeForces found = solve_cones(ContactCompliance(one.rows), one.b, one.mu, VectorX::Zero(one.b.size()),
                                         {.gamma = one.gamma, .tolerance = tolerance});
    EXPECT_EQ(found.status, Status::converged);
    EXPECT_LE(found.error, tolerance);
    const VectorX u = dense(one) * found.r + one.gamma * found.r + one.b;
    const double size = std::max({found.r.norm(), u.norm(), one.b.norm()});
    constexpr double room = 1e3 * tolerance;  // scales of contacts differ by less than a hundred, squared sums by ten
    int loaded = 0;
    for (Eigen::Index i = 0; i < one.mu.size(); ++i) {
      const Vector3 r = found.r.segment<3>(3 * i), v = u.segment<3>(3 * i);
      loaded += r.isZero(0.0) ? 0 : 1;
      EXPECT_LE(r.tail<2>().norm(), one.mu[i] * r[0] + room * size);
      EXPECT_GE(v[0], one.mu[i] * v.tail<2>().norm() - room * size);  // of the dual cone
      EXPECT_NEAR(r.dot(v), 0.0, room * size * size);
    }
    EXPECT_GT(loaded, 5);
    EXPECT_LT(loaded, one.mu.size());
  }
}

TEST(ConeForces, AreThoseOfTheGeneralSolver) {
  for (unsigned seed = 1; seed <= 5; ++seed) {
    const Sample one = sample(seed);
    constexpr double tolerance = 1e-11;
    const ConeForces found = solve_cones(ContactCompliance(one.rows), one.b, one.mu, VectorX::Zero(one.b.size()),
                                         {.gamma = one.gamma, .tolerance = tolerance});
    const MatrixX whole = dense(one) + one.gamma * MatrixX::Identity(one.b.size(), one.b.size());
    const auto other = friction::solve_convex(friction::FrictionProblem{friction::block_matrix(whole), one.b, one.mu},
                                              VectorX::Zero(one.b.size()), {.tolerance = tolerance});
    ASSERT_EQ(other.status, Status::converged);
    // The least curvature is gamma: forces may differ by tolerances over it.
    EXPECT_LE((found.r - other.impulse).norm(), 1e2 * tolerance / one.gamma * other.impulse.norm());
  }
}

TEST(ConeForces, SayWhatTheyMissed) {
  const Sample one = sample(1);
  const ConeForces found = solve_cones(ContactCompliance(one.rows), one.b, one.mu, VectorX::Zero(one.b.size()),
                                       {.gamma = one.gamma, .tolerance = 1e-12, .max_iterations = 1});
  EXPECT_EQ(found.status, Status::max_iterations);
  EXPECT_GT(found.error, 1e-12);
}

}  // namespace TRESSE_TEST_FILE
}  // namespace tresse::inverse
