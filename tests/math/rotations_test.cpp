#include <cmath>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <Eigen/Geometry>

#include <tresse/math/gauss_legendre.hpp>
#include <tresse/math/rotations.hpp>

namespace tresse::math {
namespace TRESSE_TEST_FILE {

constexpr double rounding = 1e-14;

/// Any rotation vector, from tiny to several turns.
Vector3 rotation_vector() {
  const auto unit = [] { return *rc::gen::inRange(-1000, 1001) / 1000.0; };
  const double scale = std::pow(10.0, *rc::gen::inRange(-90, 11) / 10.0);
  return scale * Vector3(unit(), unit(), unit());
}

RC_GTEST_PROP(Rotations, ExponentialIsTheAxisAngleRotation, ()) {
  const Vector3 v = rotation_vector();
  const double angle = v.norm();
  const Matrix3 r = rotation_exp(v);
  RC_ASSERT(orthonormality_defect(r) < rounding);
  RC_ASSERT(r.determinant() > 0.0);
  if (angle > 0.0) {
    const Matrix3 expected = Eigen::AngleAxisd(angle, v / angle).toRotationMatrix();
    RC_ASSERT((r - expected).cwiseAbs().maxCoeff() < rounding * (1.0 + angle));
  }
  RC_ASSERT((rotation_exp(-v) - r.transpose()).cwiseAbs().maxCoeff() < rounding);
}

RC_GTEST_PROP(Rotations, TheRotationBetweenTwoDirectionsIsTheSmallest, ()) {
  const Vector3 from = rotation_vector() + Vector3(0, 0, 1e-6);
  // Any direction, and those close to the same and to the opposite one.
  const Vector3 aside = rotation_vector();
  const double turned = *rc::gen::element(-1.0, 0.0, 1.0);
  const Vector3 to = (turned * from + aside).norm() > 0.0 ? Vector3(turned * from + aside) : Vector3(from);
  const Matrix3 r = rotation_between(from, to);
  RC_ASSERT(orthonormality_defect(r) < rounding);
  RC_ASSERT(r.determinant() > 0.0);
  RC_ASSERT((r * from.normalized() - to.normalized()).norm() < rounding);
  const double angle = std::atan2(from.cross(to).norm(), from.dot(to));
  RC_ASSERT(std::abs(rotation_log(r).norm() - angle) < rounding);
}

TEST(Rotations, BetweenOppositeDirectionsIsAHalfTurn) {
  const Vector3 from(0.3, -0.2, 0.9);
  const Matrix3 r = rotation_between(from, -from);
  EXPECT_LT((r * from + from).norm(), rounding);
  EXPECT_NEAR(r.trace(), -1.0, rounding);
  EXPECT_LT((rotation_between(from, 2.0 * from) - Matrix3::Identity()).norm(), rounding);
}

RC_GTEST_PROP(Rotations, LogarithmUndoesTheExponential, ()) {
  const Vector3 v = rotation_vector();
  const Vector3 back = rotation_log(rotation_exp(v));
  RC_ASSERT(back.norm() < M_PI * (1.0 + 1e-15));
  RC_ASSERT((rotation_exp(back) - rotation_exp(v)).cwiseAbs().maxCoeff() < rounding);
  if (v.norm() < 3.0) RC_ASSERT((back - v).norm() <= rounding * v.norm() + 1e-300);
}

RC_GTEST_PROP(Rotations, IntegralOfTheExponential, ()) {
  const Vector3 v = rotation_vector();
  const GaussRule& rule = gauss_legendre(48);
  Matrix3 expected = Matrix3::Zero();
  for (std::size_t i = 0; i < rule.nodes.size(); ++i) expected += rule.weights[i] * rotation_exp(rule.nodes[i] * v);
  RC_ASSERT((rotation_exp_integral(v) - expected).cwiseAbs().maxCoeff() < 4.0 * rounding);
}

// d exp([v]x) = [V(v) dv]x exp([v]x), by a sixth-order difference.
RC_GTEST_PROP(Rotations, IntegralIsTheLeftJacobian, ()) {
  const Vector3 v = rotation_vector();
  const Vector3 d(0.3, -0.5, 0.7);
  constexpr double h = 5e-3;
  const auto at = [&](double t) { return rotation_exp(v + t * d); };
  const Matrix3 slope =
      (45.0 * (at(h) - at(-h)) - 9.0 * (at(2 * h) - at(-2 * h)) + (at(3 * h) - at(-3 * h))) / (60.0 * h);
  const Matrix3 expected = cross_matrix(rotation_exp_integral(v) * d) * rotation_exp(v);
  RC_ASSERT((slope - expected).cwiseAbs().maxCoeff() < 1e-11);
}

TEST(Rotations, LogarithmAtHalfATurn) {
  for (const Vector3& axis : {Vector3(1, 0, 0), Vector3(0, 1, 0), Vector3(0.6, 0, -0.8), Vector3(-0.48, 0.64, 0.6)}) {
    const Matrix3 r = 2.0 * axis * axis.transpose() - Matrix3::Identity();
    const Vector3 v = rotation_log(r);
    EXPECT_NEAR(v.norm(), M_PI, 1e-14);
    EXPECT_LT(v.cross(axis).norm(), 1e-14);
  }
  EXPECT_EQ(rotation_log(Matrix3::Identity()), Vector3(Vector3::Zero()));
}

RC_GTEST_PROP(Rotations, OrthonormalisedIsTheNearestRotation, ()) {
  const Matrix3 r = rotation_exp(rotation_vector());
  Matrix3 stretch = Matrix3::Identity();  // symmetric: the polar factor of stretch * r is r itself
  stretch(0, 1) = stretch(1, 0) = *rc::gen::inRange(-50, 51) / 1000.0;
  stretch(2, 2) += *rc::gen::inRange(-50, 51) / 1000.0;
  const Matrix3 found = orthonormalised(stretch * r);
  RC_ASSERT((found - r).cwiseAbs().maxCoeff() < rounding);
  RC_ASSERT(orthonormality_defect(found) < 1e-15);
  RC_ASSERT((orthonormalised_once(r) - r).cwiseAbs().maxCoeff() < 1e-15);
}

}  // namespace TRESSE_TEST_FILE
}  // namespace tresse::math
