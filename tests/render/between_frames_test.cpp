#include "render/between_frames.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace TRESSE_TEST_FILE {

using tresse::Vector3;
using tresse::observe::Frame;
namespace render = tresse::render;

Frame frame(double time, double x, double angle) {
  Frame out;
  out.time = time;
  out.points = {x, 0, 0, x, 1, 0};
  out.obstacle_position = {0, x, 0};
  const double c = std::cos(angle);
  const double s = std::sin(angle);
  out.obstacle_frame = {c, -s, 0, s, c, 0, 0, 0, 1};
  out.contact_gap = {x};
  return out;
}

TEST(BetweenFrames, places_go_straight_and_attitudes_turn) {
  const Frame a = frame(1.0, 2.0, 0.0);
  const Frame b = frame(3.0, 6.0, 1.0);
  const Frame c = render::between(a, b, 0.25);
  EXPECT_DOUBLE_EQ(c.time, 1.5);
  EXPECT_DOUBLE_EQ(c.points[3], 3.0);
  EXPECT_DOUBLE_EQ(c.obstacle_position[1], 3.0);
  EXPECT_NEAR(c.obstacle_frame[3], std::sin(0.25), 1e-12);
  EXPECT_NEAR(c.obstacle_frame[0], std::cos(0.25), 1e-12);
  EXPECT_EQ(c.contact_gap, a.contact_gap);
  EXPECT_EQ(render::between(a, b, 0.75).contact_gap, b.contact_gap);
  EXPECT_NEAR(render::between(a, b, 0.75).points[0], 5.0, 1e-12);
  EXPECT_EQ(render::between(a, b, 0.0), a);
}

TEST(BetweenFrames, moments_are_as_far_apart_as_asked_whatever_the_frames_are) {
  const std::vector<double> times = {1.0, 1.1, 1.5, 2.0};
  const auto moments = render::moments(times, 0.25);
  ASSERT_EQ(moments.size(), 5U);  // 1, 1.25, 1.5, 1.75, 2
  for (std::size_t k = 0; k < moments.size(); ++k) {
    const auto& [before, weight] = moments[k];
    const double after = before + 1 < times.size() ? times[before + 1] : times[before];
    EXPECT_NEAR(times[before] + weight * (after - times[before]), 1.0 + 0.25 * static_cast<double>(k), 1e-12);
    EXPECT_LT(weight, 1.0);
  }
  EXPECT_EQ(render::moments({3.0}, 0.1).size(), 1U);
  EXPECT_EQ(render::moments({0.0, 0.3}, 0.1).size(), 4U) << "0.3 / 0.1 is less than 3 in floating point";
}

}  // namespace TRESSE_TEST_FILE
