#include <gtest/gtest.h>

#include <cmath>

#include <tresse/math/anderson.hpp>

namespace tresse::math {
namespace TRESSE_TEST_FILE {

// On a linear map of n unknowns it is a Krylov method: it ends after n + 1 answers, though the map itself goes away
// from its fixed point.
TEST(AndersonMixing, SolvesALinearMapThatSwings) {
  constexpr Eigen::Index n = 4;
  MatrixX map = MatrixX::Zero(n, n);
  map.diagonal() << -1.5, 0.9, 0.2, -0.4;
  map(0, 3) = 0.7;
  const VectorX constant = VectorX::LinSpaced(n, 1.0, 2.0);
  const VectorX fixed = (MatrixX::Identity(n, n) - map).inverse() * constant;
  AndersonMixing mixing(n + 2);
  VectorX x = VectorX::Zero(n);
  for (Eigen::Index k = 0; k <= n; ++k) x = mixing.next(x, map * x + constant);
  EXPECT_LT((x - fixed).norm(), 1e-10 * fixed.norm());
}

TEST(AndersonMixing, TakesTheAnswerFirstAndAfterClear) {
  AndersonMixing mixing(3);
  const VectorX x = VectorX::Constant(2, 1.0), answer = VectorX::Constant(2, 3.0);
  EXPECT_EQ(mixing.next(x, answer), answer);
  static_cast<void>(mixing.next(answer, x));
  mixing.clear();
  EXPECT_EQ(mixing.next(x, answer), answer);
}

// Answers that differ from nothing leave no combination: what comes is finite.
TEST(AndersonMixing, StandsEqualAnswers) {
  AndersonMixing mixing(3);
  const VectorX x = VectorX::Constant(2, 1.0);
  EXPECT_EQ(mixing.next(x, x), x);
  EXPECT_EQ(mixing.next(x, x), x);
}

}  // namespace TRESSE_TEST_FILE
}  // namespace tresse::math
