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

/// The proof that surfaces stay apart all the way. TRESSE_ENCOUNTERS=1000000 looks at as many (docs/theory/penalty.md).
namespace tresse::contact {
namespace {

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

}  // namespace
}  // namespace tresse::contact
