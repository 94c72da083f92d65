#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include <Eigen/Geometry>

#include <tresse/bodies/motion.hpp>

namespace tresse::bodies {
namespace TRESSE_TEST_FILE {

constexpr double rounding = 1e-14;

TEST(Motion, WithoutKeysOrSpeedStaysPut) {
  const Motion motion;
  EXPECT_TRUE(motion.at_rest());
  EXPECT_EQ(displacement(motion, 3.0).position, Vector3::Zero());
  EXPECT_EQ(displacement(motion, 3.0).frame, Matrix3::Identity());
}

TEST(Motion, KeysAreMetAndHeldOutside) {
  Motion motion;
  motion.keyframes = {{1.0, {0, 0, 1}, {0, 0, 0}}, {3.0, {2, 0, 1}, {0, 0, 0.5}}};
  EXPECT_FALSE(motion.at_rest());
  EXPECT_EQ(displacement(motion, 0.0).position, Vector3(0, 0, 1));
  EXPECT_NEAR((displacement(motion, 2.0).position - Vector3(1, 0, 1)).norm(), 0.0, rounding);
  EXPECT_EQ(displacement(motion, 9.0).position, Vector3(2, 0, 1));
  const Matrix3 end = Eigen::AngleAxisd(0.5, Vector3::UnitZ()).toRotationMatrix();
  EXPECT_NEAR((displacement(motion, 3.0).frame - end).norm(), 0.0, rounding);
}

TEST(Motion, SmoothKeysStartAndEndWithoutSpeed) {
  Motion motion;
  motion.interpolation = Motion::Interpolation::smooth;
  motion.keyframes = {{0.0, {0, 0, 0}, {0, 0, 0}}, {1.0, {1, 0, 0}, {0, 0, 0}}};
  const double h = 1e-4;
  // A cubic with zero speed at the key moves by 3 h^2 - 2 h^3.
  EXPECT_NEAR(displacement(motion, h).position[0], 3 * h * h - 2 * h * h * h, 1e-16);
  EXPECT_NEAR(1.0 - displacement(motion, 1.0 - h).position[0], 3 * h * h - 2 * h * h * h, 1e-15);
}

TEST(Motion, VelocityActsBetweenStartAndStop) {
  Motion motion;
  motion.velocity = {0, 2, 0};
  motion.angular_velocity = {0, 0, std::numbers::pi};
  motion.start = 1.0;
  motion.stop = 2.0;
  EXPECT_EQ(displacement(motion, 0.5).position, Vector3::Zero());
  EXPECT_NEAR((displacement(motion, 1.5).position - Vector3(0, 1, 0)).norm(), 0.0, rounding);
  EXPECT_NEAR((displacement(motion, 1.5).frame * Vector3::UnitX() - Vector3::UnitY()).norm(), 0.0, rounding);
  EXPECT_NEAR((displacement(motion, 7.0).position - Vector3(0, 2, 0)).norm(), 0.0, rounding);
}

}  // namespace TRESSE_TEST_FILE
}  // namespace tresse::bodies
