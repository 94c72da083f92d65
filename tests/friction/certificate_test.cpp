#include <tresse/friction/certificate.hpp>

#include <random>

#include <gtest/gtest.h>
#include <Eigen/Geometry>

#include <tresse/friction/solver.hpp>

namespace TRESSE_TEST_FILE {

using namespace tresse::friction;
using tresse::Matrix3;
using tresse::MatrixX;
using tresse::Vector3;
using tresse::VectorX;

/// Contacts of one free body of unit mass at its centre, normals as given; walls come towards it at the given speeds.
FrictionProblem pressed(const std::vector<Vector3>& normals, const std::vector<double>& speeds, double mu) {
  const auto n = static_cast<Eigen::Index>(normals.size());
  MatrixX jacobian(3 * n, 3);
  VectorX q = VectorX::Zero(3 * n);
  for (Eigen::Index i = 0; i < n; ++i) {
    const Vector3 normal = normals[static_cast<std::size_t>(i)].normalized();
    const Vector3 tangent = normal.unitOrthogonal();
    jacobian.middleRows<3>(3 * i) << normal.transpose(), tangent.transpose(), normal.cross(tangent).transpose();
    q[3 * i] = -speeds[static_cast<std::size_t>(i)];
  }
  return {block_matrix(jacobian * jacobian.transpose()), q, VectorX::Constant(n, mu)};
}

const std::vector<Vector3> tetrahedron{{1, 1, 1}, {1, -1, -1}, {-1, 1, -1}, {-1, -1, 1}};

TEST(Certificate, of_a_body_that_walls_close_in_on_is_a_proof) {
  const FrictionProblem p = pressed(tetrahedron, {1.0, 2.0, 0.0, -0.5}, 0.4);  // the sum of speeds is above zero
  const Certificate found = certificate(p);
  ASSERT_TRUE(found.proves_none);
  EXPECT_GT(found.least_impulse, 1e8);
  EXPECT_NEAR(found.weights.norm(), 1.0, 1e-14);
  for (int i = 0; i < 4; ++i) EXPECT_NEAR(found.weights[i], 0.5, 1e-7);  // normals add up to zero
  EXPECT_NEAR(found.closing, 1.25, 1e-6);
  EXPECT_NE(solve(p, VectorX::Zero(12), {.max_iterations = 500}).scaled_error, 0.0);
}

TEST(Certificate, is_none_where_the_body_can_get_away) {
  for (const double fourth : {-3.0, -5.0}) {  // that wall recedes as fast as the others come, or faster
    const FrictionProblem p = pressed(tetrahedron, {1.0, 2.0, 0.0, fourth}, 0.4);
    EXPECT_FALSE(certificate(p).proves_none) << fourth;
    EXPECT_EQ(solve(p, VectorX::Zero(12), {.tolerance = 1e-10}).status, tresse::Status::converged);
  }
}

/// The bound holds of every solution found, whatever the problem.
TEST(Certificate, bounds_the_impulses_of_solvable_problems) {
  std::mt19937 generator(5);
  std::normal_distribution<double> normal;
  int said = 0;
  for (int trial = 0; trial < 100; ++trial) {
    std::vector<Vector3> normals;
    std::vector<double> speeds;
    for (int i = 0; i < 6; ++i) {
      const double x = normal(generator), y = normal(generator), z = normal(generator);
      normals.emplace_back(x, y, z + 1.0);
      speeds.push_back(normal(generator));
    }
    const FrictionProblem p = pressed(normals, speeds, 0.3);
    const FrictionSolution found = solve(p, VectorX::Zero(18), {.tolerance = 1e-10, .solver = Solver::automatic});
    const Certificate bound = certificate(p);
    said += bound.least_impulse > 0.0 ? 1 : 0;
    if (found.status != tresse::Status::converged || bound.proves_none) continue;
    EXPECT_GE(found.impulse.norm(), (1.0 - 1e-9) * bound.least_impulse) << trial;
  }
  EXPECT_GT(said, 50);
}

TEST(Certificate, says_nothing_where_nothing_moves) {
  FrictionProblem p = pressed(tetrahedron, {1.0, 1.0, 1.0, 1.0}, 0.4);
  for (Matrix3& block : p.W.block) block.setZero();
  EXPECT_EQ(certificate(p).least_impulse, 0.0);
}

}  // namespace TRESSE_TEST_FILE
