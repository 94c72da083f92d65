#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <memory>
#include <random>

#include <support/tubes.hpp>
#include <tresse/contact/touches.hpp>
#include <tresse/geometry/closest_points.hpp>

/// The proof that surfaces stay apart all the way. TRESSE_ENCOUNTERS=1000000 looks at as many
/// (docs/theory/touching.md).
namespace tresse::contact {
namespace TRESSE_TEST_FILE {

using geometry::ClothoidArc;
using geometry::Curve;
using geometry::HelixArc;
using geometry::LineSegment;

bool nowhere(const Crossing&) { return false; }

bool proved(const Geometry& begin, const Geometry& end) { return find_touches(begin, end, {}, nowhere).empty(); }

using Random = std::mt19937;

double unit(Random& random) { return std::uniform_real_distribution<>(-1.0, 1.0)(random); }
double power(Random& random, double from, double to) {
  return std::pow(10.0, std::uniform_real_distribution<>(from, to)(random));
}
Vector3 any(Random& random, double size) {
  const double x = unit(random), y = unit(random), z = unit(random);
  return size * Vector3(x, y, z);
}

/// A pose and a bend: all that a piece of 1 cm is made of.
struct Shape {
  int kind = 0;
  Pose pose;
  Vector3 bend, slope;

  Curve curve() const {
    constexpr double length = 0.01;
    if (kind == 0) return LineSegment{pose.position, pose.position + length * pose.frame.col(0)};
    if (kind == 1) return HelixArc{pose.position, pose.frame, bend, length};
    return ClothoidArc{pose.position, pose.frame, bend, slope, length};
  }
};

Shape any_shape(Random& random) {
  Shape out;
  out.kind = static_cast<int>(random() % 3);
  out.pose.frame =
      Eigen::Quaterniond(unit(random), unit(random), unit(random), unit(random) + 1.5).normalized().toRotationMatrix();
  out.pose.position = any(random, 2e-3) - 5e-3 * out.pose.frame.col(0);
  out.bend = any(random, power(random, 0.0, 2.3));
  out.slope = any(random, power(random, 1.0, 4.3));
  return out;
}

/// The shape after a motion by about `way`. [m]
Shape moved(const Shape& from, double way, Random& random) {
  Shape out = from;
  out.pose.position += any(random, way);
  const Vector3 spin = any(random, way / 0.01);
  if (spin.norm() > 0.0) out.pose.frame = Eigen::AngleAxisd(spin.norm(), spin.normalized()) * out.pose.frame;
  out.bend += any(random, way / 1e-4);
  out.slope += any(random, way / 1e-6);
  return out;
}

/// Both ends of the way of two curves, points going straight and evenly.
struct Encounter {
  std::array<geometry::PreparedCurve, 2> from, to;

  /// The least distance of the axes that dense sampling finds: a grid, then finer ones about its best place. Its place
  /// is that of a true pair of points. [m]
  double nearest() const {
    constexpr int instants = 13, points = 25, finer = 5, levels = 24;
    std::array<double, 3> at{0.5, 0.5, 0.5}, half{0.5, 0.5, 0.5};  // shares of a, of b and of the time
    double best = std::numeric_limits<double>::infinity();
    const auto sample = [&](int count, int times) {
      std::array<std::array<Vector3, points>, 4> x;
      const auto share = [&](std::size_t axis, int i, int of) {
        return std::clamp(at[axis] + half[axis] * (2.0 * i / (of - 1) - 1.0), 0.0, 1.0);
      };
      for (std::size_t k = 0; k < 2; ++k) {
        for (int i = 0; i < count; ++i) {
          const double s = share(k, i, count);
          x[k][static_cast<std::size_t>(i)] = geometry::position(from[k], s * geometry::domain(from[k]).end);
          x[k + 2][static_cast<std::size_t>(i)] = geometry::position(to[k], s * geometry::domain(to[k]).end);
        }
      }
      std::array<double, 3> place = at;
      for (int n = 0; n < times; ++n) {
        const double t = share(2, n, times);
        for (int i = 0; i < count; ++i) {
          for (int j = 0; j < count; ++j) {
            const auto u = static_cast<std::size_t>(i), v = static_cast<std::size_t>(j);
            const double apart = ((1.0 - t) * (x[0][u] - x[1][v]) + t * (x[2][u] - x[3][v])).norm();
            if (apart >= best) continue;
            best = apart;
            place = {share(0, i, count), share(1, j, count), t};
          }
        }
      }
      at = place;
    };
    sample(points, instants);
    half = {1.0 / (points - 1), 1.0 / (points - 1), 1.0 / (instants - 1)};
    for (int level = 0; level < levels; ++level) {
      sample(finer, finer);
      for (double& width : half) width *= 0.6;
    }
    return best;
  }
};

/// Encounters of two random pieces, from far slower to far faster than their gap. Of some the touching distance is next
/// to the least one on their way: there the proof is put to its limits.
TEST(Touches, WhatIsProvedIsNotFoundByDenseSampling) {
  const char* const wanted = std::getenv("TRESSE_ENCOUNTERS");
  const long count = wanted ? std::strtol(wanted, nullptr, 10) : 30000;
  struct Tally {
    long apart = 0, proved = 0;
  };
  std::array<Tally, 4> by_speed;  // the way over the gap at the begin: to 0.1, to 1, to 10, and beyond
  Tally close, all;
  long touched = 0;
  for (long n = 0; n < count; ++n) {
    Random random(static_cast<unsigned>(n));
    const std::array<Shape, 2> before{any_shape(random), any_shape(random)};
    const double gap = power(random, -8.0, -3.5), way = gap * power(random, -2.0, 3.0);
    if (way > 3e-3) continue;
    const std::array<Shape, 2> after{moved(before[0], way, random), moved(before[1], way, random)};
    const auto prepared = [](const std::array<Shape, 2>& shapes) -> std::array<geometry::PreparedCurve, 2> {
      return {geometry::prepare(shapes[0].curve()), geometry::prepare(shapes[1].curve())};
    };
    const Encounter on{prepared(before), prepared(after)};
    const double nearest = on.nearest();
    const double first =
        geometry::closest_points(on.from[0], geometry::domain(on.from[0]), on.from[1], geometry::domain(on.from[1]))
            .distance;
    const bool limits = n % 2 == 0;
    const double touching = limits ? nearest - gap * power(random, -4.0, 0.0) * (n % 8 == 0 ? -1.0 : 1.0) : first - gap;
    if (!(touching > 1e-5)) continue;
    const auto scene = [&](const std::array<Shape, 2>& shapes) {
      test::Tubes out;
      for (const Shape& shape : shapes) out.curve(shape.curve(), 0.5 * touching);
      return out.scene;
    };
    const bool is_proved = proved(scene(before), scene(after));
    if (nearest <= touching) {
      ++touched;
      EXPECT_FALSE(is_proved) << "encounter " << n << ": " << nearest - touching << " m";
      continue;
    }
    const double speed = way / gap;
    Tally& tally = limits ? close : by_speed[speed < 0.1 ? 0 : speed < 1.0 ? 1 : speed < 10.0 ? 2 : 3];
    for (Tally* of : {&tally, &all}) {
      ++of->apart;
      of->proved += is_proved ? 1 : 0;
    }
  }
  const auto share = [](const Tally& tally) {
    return static_cast<double>(tally.proved) / static_cast<double>(std::max(1L, tally.apart));
  };
  std::printf("%ld touched, none proved; %ld stayed apart, %.4f of them proved\n", touched, all.apart, share(all));
  std::printf("way below 0.1, 1, 10 gaps, beyond: %.4f %.4f %.4f %.4f; next to touching: %.4f\n", share(by_speed[0]),
              share(by_speed[1]), share(by_speed[2]), share(by_speed[3]), share(close));
  EXPECT_GT(touched, count / 20);
  EXPECT_GT(share(by_speed[0]), 0.99);
  EXPECT_GT(share(all), 0.8);
}

TEST(Touches, AnEndThatTouchesIsTold) {
  const auto scene = [](double z) {
    test::Tubes out;
    out.polyline({{-0.05, 0.0, z}, {0.05, 0.0, z}}, 1e-3);
    out.capsule({0.0, -0.1, 0.0}, {0.0, 0.1, 0.0}, 1e-3);
    return out.scene;
  };
  EXPECT_TRUE(proved(scene(3e-3), scene(2e-3 + 1e-9)));
  EXPECT_FALSE(proved(scene(3e-3), scene(2e-3)));
  EXPECT_FALSE(proved(scene(3e-3), scene(-3e-3))) << "through it";
  const std::vector<Touch> stays = find_touches(scene(2e-3), scene(3e-3), {}, nowhere);
  ASSERT_EQ(stays.size(), 1U);
  EXPECT_TRUE(stays[0].from_begin);
  const std::vector<Touch> comes = find_touches(scene(3e-3), scene(1.9e-3), {}, nowhere);
  ASSERT_EQ(comes.size(), 1U);
  EXPECT_FALSE(comes[0].from_begin);
  EXPECT_TRUE(find_touches(scene(3e-3), scene(1.9e-3), {}, [](const Crossing&) { return true; }).empty());
}

/// Slow sliding, rolling and lifting of what rests at a tenth of the barrier's distance is proved at once.
TEST(Touches, WhatRestsIsProved) {
  for (const double delta : {1e-5, 1e-7}) {
    const double gap = 0.1 * delta;
    for (const double curvature : {0.0, 20.0, 100.0}) {
      // A hump under a valley, crossed, at the middle of both.
      const auto scene = [&](double along, double lift, double turn) {
        test::Tubes out;
        const auto arc = [&](double top, double x, double angle, double bend) {
          constexpr double length = 0.01;
          const Matrix3 about = Eigen::AngleAxisd(angle, Vector3::UnitZ()).toRotationMatrix();
          const Matrix3 frame = about * Eigen::AngleAxisd(-0.5 * bend * length, Vector3::UnitY()).toRotationMatrix();
          const HelixArc at{Vector3::Zero(), frame, {0.0, bend, 0.0}, length};
          return HelixArc{Vector3(x, 0.0, top) - geometry::position(at, 0.5 * length), frame, at.curvature, length};
        };
        out.curve(arc(0.0, 0.0, 0.5, curvature), 1e-3);
        out.curve(arc(2e-3 + gap + lift, along, turn, -curvature), 1e-3);
        return out.scene;
      };
      const double slides = 0.2 * std::sqrt(8.0 * gap / std::max(curvature, 100.0));
      EXPECT_TRUE(proved(scene(0.0, 0.0, 0.0), scene(0.0, 0.0, 0.0))) << delta << ", " << curvature;
      EXPECT_TRUE(proved(scene(0.0, 0.0, 0.0), scene(slides, 0.0, 1e-3))) << delta << ", " << curvature;
      EXPECT_TRUE(proved(scene(0.0, 0.0, 0.0), scene(0.0, -0.5 * gap, 0.0))) << delta << ", " << curvature;
      EXPECT_FALSE(proved(scene(0.0, 0.0, 0.0), scene(0.0, -1.01 * gap, 0.0))) << delta << ", " << curvature;
    }
    // Alongside each other, bent alike, and sliding by many gaps.
    for (const double curvature : {0.0, 50.0}) {
      const auto scene = [&](double by) {
        test::Tubes out;
        const double inner = 1.0 / std::max(curvature, 1e-9), outer = inner + 2e-3 + gap;
        if (curvature == 0.0) {
          out.polyline({{0.0, 0.0, 0.0}, {0.01, 0.0, 0.0}}, 1e-3);
          out.polyline({{by, 2e-3 + gap, 0.0}, {by + 0.01, 2e-3 + gap, 0.0}}, 1e-3);
        } else {
          const auto ring = [&](double size, double angle) {
            const Matrix3 frame = Eigen::AngleAxisd(angle, Vector3::UnitZ()).toRotationMatrix();
            return HelixArc{frame * Vector3(0.0, -size, 0.0), frame, {0.0, 0.0, 1.0 / size}, 0.01};
          };
          out.curve(ring(inner, 0.0), 1e-3);
          out.curve(ring(outer, by / outer), 1e-3);
        }
        return out.scene;
      };
      const double cut = curvature == 0.0 ? 1e-4 : 0.5 * std::sqrt(8.0 * gap / curvature);  // what straight ways allow
      EXPECT_TRUE(proved(scene(0.0), scene(cut))) << delta << ", " << curvature << ", " << cut;
    }
  }
}

TEST(Touches, OverAPlaneBothEndsAreAbove) {
  for (const double curvature : {0.0, 100.0}) {
    const auto scene = [&](double z, double tilt) {
      test::Tubes out;
      const Matrix3 frame = Eigen::AngleAxisd(tilt, Vector3::UnitY()).toRotationMatrix();
      out.curve(HelixArc{{0.0, 0.0, z}, frame, {0.0, 0.0, curvature}, 0.01}, 1e-3);
      out.plane(Vector3::Zero(), Vector3::UnitZ());
      return out.scene;
    };
    EXPECT_TRUE(proved(scene(1e-3 + 1e-9, 0.0), scene(1e-3 + 1e-8, 0.0)));
    EXPECT_TRUE(proved(scene(5e-3, 0.0), scene(1e-3 + 1e-9, 0.0)));
    EXPECT_FALSE(proved(scene(5e-3, 0.0), scene(1e-3, 0.0)));
    EXPECT_FALSE(proved(scene(5e-3, 0.0), scene(1e-3 + 1e-9, 0.1))) << "its far end is below";
    EXPECT_FALSE(proved(scene(5e-3, 0.0), scene(-5e-3, 0.0)));
    const std::vector<Touch> rises = find_touches(scene(0.9e-3, 0.0), scene(2e-3, 0.0), {}, nowhere);
    ASSERT_EQ(rises.size(), 1U);
    EXPECT_TRUE(rises[0].from_begin);
    EXPECT_EQ(rises[0].at.b, -1);
  }
}

TEST(Touches, OverASheetOfTriangles) {
  const auto scene = [](double z, double x, double sheet) {
    test::Tubes out;
    out.curve(HelixArc{{x - 0.005, 0.001, z}, Matrix3::Identity(), {0.0, 0.0, 50.0}, 0.01}, 1e-3);
    const std::vector<geometry::Face> faces{{0, 1, 2}, {0, 2, 3}};
    const std::vector<Vector3> corners{{-0.03, -0.03, 0}, {0.03, -0.03, 0}, {0.03, 0.03, 0}, {-0.03, 0.03, 0}};
    auto topology = std::make_shared<const geometry::MeshTopology>(faces, corners);
    Pose pose;
    pose.position = {0.0, 0.0, sheet};
    out.mesh(std::make_shared<const geometry::TriangleMesh>(topology, corners), pose);
    return out.scene;
  };
  for (const double gap : {1e-6, 1e-8}) {
    EXPECT_TRUE(proved(scene(1e-3 + gap, 0.0, 0.0), scene(1e-3 + gap, 0.0, 0.0))) << gap;
    EXPECT_TRUE(proved(scene(1e-3 + gap, 0.0, 0.0), scene(1e-3 + gap, 1e-3, 0.0))) << "sliding, " << gap;
    EXPECT_TRUE(proved(scene(1e-3 + gap, 0.0, 0.0), scene(2e-3 + gap, 0.0, 1e-3))) << "together, " << gap;
    EXPECT_TRUE(proved(scene(-1e-3 - gap, 0.0, 0.0), scene(-1e-3 - 0.5 * gap, 0.0, 0.0))) << "below it, " << gap;
    EXPECT_FALSE(proved(scene(1e-3 + gap, 0.0, 0.0), scene(1e-3 - 0.01 * gap, 0.0, 0.0))) << gap;
    EXPECT_FALSE(proved(scene(1e-3 + gap, 0.0, 0.0), scene(-1e-3 - gap, 0.0, 0.0))) << "through it, " << gap;
  }
}

}  // namespace TRESSE_TEST_FILE
}  // namespace tresse::contact
