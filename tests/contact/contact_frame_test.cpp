#include <gtest/gtest.h>

#include <rapidcheck/gtest.h>

#include <Eigen/Geometry>

#include <tresse/contact/contact_frame.hpp>

namespace tresse::contact {
namespace TRESSE_TEST_FILE {

constexpr double rounding = 1e-14;

void expect_orthonormal(const Matrix3& frame) {
  EXPECT_LT((frame.transpose() * frame - Matrix3::Identity()).norm(), 10 * rounding);
  EXPECT_LT((frame.col(2) - frame.col(1).cross(frame.col(0))).norm(), rounding);  // t2 = t1 x n
}

TEST(ContactFrame, CrossingTubesMeetAlongTheCommonNormalFromAToB) {
  const ContactSide a{{0, 0, 0}, {1, 0, 0}};
  const ContactSide b{{0, 0, 2}, {0, 1, 0}};
  const Matrix3 frame = contact_frame(a, b);
  EXPECT_LT((frame.col(0) - Vector3::UnitZ()).norm(), rounding);
  EXPECT_LT((contact_frame(b, a).col(0) + Vector3::UnitZ()).norm(), rounding);
  EXPECT_LT((frame.col(1) - Vector3(1, 1, 0).normalized()).norm(), rounding);
  expect_orthonormal(frame);
}

TEST(ContactFrame, ParallelAndAntiparallelTubesMeetAlongTheGapAcrossThem) {
  for (const double sign : {1.0, -1.0}) {
    const Matrix3 frame = contact_frame({{0, 0, 0}, {1, 0, 0}}, {{0.3, 0, 2}, {sign, 0, 0}});
    EXPECT_LT((frame.col(0) - Vector3::UnitZ()).norm(), rounding);
    EXPECT_NEAR(std::abs(frame.col(1)[0]), 1.0, rounding);
    expect_orthonormal(frame);
  }
}

TEST(ContactFrame, ATipMeetsAlongTheGap) {
  const Matrix3 frame = contact_frame({{0, 0, 0}, {1, 0, 0}, true}, {{1, 0, 2}, {0, 1, 0}});
  EXPECT_LT((frame.col(0) - Vector3(1, 0, 2).normalized()).norm(), rounding);
  expect_orthonormal(frame);
}

TEST(ContactFrame, StaysOrthonormalWithoutAGapOrTangents) {
  expect_orthonormal(contact_frame({{0, 0, 0}, {1, 0, 0}}, {{0, 0, 0}, {1, 0, 0}}));
  expect_orthonormal(contact_frame({{0, 0, 0}, {0, 0, 0}, true}, {{0, 0, 0}, {0, 0, 0}, true}));
  expect_orthonormal(frame_from_normal(Vector3::UnitX(), Vector3::UnitX()));
}

/// For exact closest points inside both curves (gap orthogonal to both tangents) the two rules agree, so that the
/// normal is continuous where the angle between the tubes crosses the switch.
RC_GTEST_PROP(ContactFrame, rules_agree_across_the_switch, ()) {
  const double angle = static_cast<double>(*rc::gen::inRange(200, 3000)) * 1e-4;
  const Matrix3 rotation =
      Eigen::AngleAxisd(static_cast<double>(*rc::gen::inRange(0, 6000)) * 1e-3, Vector3(1, 2, 3).normalized())
          .toRotationMatrix();
  const Vector3 normal = rotation.col(2);
  const ContactSide a{Vector3::Zero(), rotation.col(0)};
  const ContactSide b{1e-4 * normal, rotation * Vector3(std::cos(angle), std::sin(angle), 0)};
  RC_ASSERT((contact_frame(a, b).col(0) - normal).norm() < 1e-13);
}

}  // namespace TRESSE_TEST_FILE
}  // namespace tresse::contact
