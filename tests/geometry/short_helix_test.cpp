#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>

#include <Eigen/Geometry>

#include <tresse/geometry/short_helix.hpp>

namespace tresse::geometry {
namespace TRESSE_TEST_FILE {

using LongVector = Eigen::Matrix<long double, 3, 1>;

bool printing() { return std::getenv("TRESSE_TEST_PRINT") != nullptr; }

/// Where a helix ends and along what, by the textbook's axis, radius and pitch in long double.
struct End {
  LongVector chord, tangent;
};
End end_of(const ShortHelix& helix, const Vector3& t0) {
  const LongVector w = helix.darboux.cast<long double>(), t = t0.cast<long double>();
  const long double length = helix.length, rate = w.norm(), turn = rate * length;
  if (turn == 0.0L) return {length * t, t};
  const LongVector e = w / rate;
  const LongVector along = e * e.dot(t), across = t - along, side = e.cross(t);
  // sin x / x and (1 - cos x) / x by their half angles.
  const long double half = turn / 2, sine = std::sin(half);
  return {length * along + std::sin(turn) / rate * across + 2 * sine * sine / rate * side,
          along + std::cos(turn) * across + std::sin(turn) * side};
}

class Random {
 public:
  explicit Random(unsigned seed) : engine_(seed) {}
  double uniform(double low, double high) { return std::uniform_real_distribution<double>(low, high)(engine_); }
  Vector3 direction() {
    std::normal_distribution<double> normal;
    return Vector3(normal(engine_), normal(engine_), normal(engine_)).normalized();
  }

 private:
  std::mt19937 engine_;
};

/// A chord in the plane of the tangents' change, rounded from long double, so that the condition of theorem 4.1 holds
/// to rounding whatever the angles.
struct Pair {
  Vector3 chord, t0, t1;
};
Pair pair_of(const Vector3& a, const Vector3& across, long double eta, long double psi, long double size) {
  const LongVector x = a.cast<long double>().normalized();
  const LongVector z = (across.cast<long double>() - x.dot(across.cast<long double>()) * x).normalized();
  const LongVector b = z.cross(x);
  const LongVector t0 = std::cos(eta) * x - std::sin(eta) * z, t1 = std::cos(eta) * x + std::sin(eta) * z;
  const LongVector d = size * (std::cos(psi) * x + std::sin(psi) * b);
  return {d.cast<double>(), t0.cast<double>(), t1.cast<double>()};
}

/// The chord's in units of the length: a helix of almost a full turn ends near its start, as near as its length rounds.
struct Errors {
  double chord = 0.0, tangent = 0.0, beyond = 0.0;
  void add(const Pair& pair) {
    const std::optional<ShortHelix> found = short_helix(pair.chord, pair.t0, pair.t1);
    ASSERT_TRUE(found.has_value());
    const End end = end_of(*found, pair.t0);
    chord = std::max(chord, static_cast<double>((end.chord - pair.chord.cast<long double>()).norm()) / found->length);
    tangent = std::max(tangent, static_cast<double>((end.tangent - pair.t1.cast<long double>()).norm()));
    const double eta = std::atan2((pair.t1 - pair.t0).norm(), (pair.t0 + pair.t1).norm());
    beyond = std::max({beyond, 2.0 * eta - found->turn, found->turn - (2.0 * M_PI - 2.0 * eta)});
  }
};

TEST(ShortHelix, EndsWhereItShouldOnAMillionRandomPairs) {
  constexpr double asked = 1e-13;
  Random random(1);
  Errors errors;
  for (int i = 0; i < 1'000'000; ++i) {
    const double eta = 0.5 * std::acos(random.uniform(-1.0, 1.0));
    errors.add(
        pair_of(random.direction(), random.direction(), eta, random.uniform(-M_PI, M_PI), random.uniform(0.1, 10)));
    if (HasFatalFailure()) return;
  }
  if (printing()) std::printf("chord %.1e, tangent %.1e\n", errors.chord, errors.tangent);
  EXPECT_LT(errors.chord, asked);
  EXPECT_LT(errors.tangent, asked);
  EXPECT_LT(errors.beyond, asked);
}

TEST(ShortHelix, NothingCancelsWhereAnglesAreSmallOrNearlyPi) {
  constexpr double asked = 1e-13;
  Random random(2);
  Errors errors;
  const auto small = [&] { return std::pow(10.0, random.uniform(-12.0, 0.0)); };
  for (int i = 0; i < 200'000; ++i) {
    const double eta = i % 2 == 0 ? small() : 0.5 * M_PI - small();
    const double psi = i % 3 == 0 ? random.uniform(0.0, M_PI) : i % 3 == 1 ? small() : M_PI - small();
    if (eta <= 0.0) continue;
    errors.add(pair_of(random.direction(), random.direction(), eta, psi, small()));
    if (HasFatalFailure()) return;
  }
  if (printing()) std::printf("chord %.1e, tangent %.1e\n", errors.chord, errors.tangent);
  EXPECT_LT(errors.chord, asked);
  EXPECT_LT(errors.tangent, asked);
  EXPECT_LT(errors.beyond, asked);
}

TEST(ShortHelix, IsTheOneThatTheEndsWereTakenFrom) {
  Random random(3);
  for (int i = 0; i < 10'000; ++i) {
    const double turn = random.uniform(0.3, 5.0), length = random.uniform(0.5, 2.0);
    const Vector3 w = turn / length * random.direction(), t0 = random.direction();
    const End end = end_of({w, length, turn}, t0);
    const Vector3 t1 = end.tangent.cast<double>();
    const double eta = 0.5 * std::acos(std::clamp(t0.dot(t1), -1.0, 1.0));
    if (turn > 2.0 * M_PI - 2.0 * eta - 0.05 || w.normalized().cross(t0).norm() < 0.2) continue;
    const auto found = short_helix(end.chord.cast<double>(), t0, t1);
    ASSERT_TRUE(found.has_value());
    EXPECT_LT((found->darboux - w).norm(), 1e-11 * w.norm()) << turn;
    EXPECT_NEAR(found->length, length, 1e-11);
  }
}

TEST(ShortHelix, OfTangentsInAPlaneIsAnArc) {
  const double angle = 0.7;
  const Vector3 t0(1, 0, 0), t1(std::cos(angle), std::sin(angle), 0);
  const auto found = short_helix(2.0 * (t0 + t1), t0, t1);
  ASSERT_TRUE(found.has_value());
  EXPECT_NEAR(found->turn, angle, 1e-15);
  EXPECT_LT((found->darboux / found->darboux.norm() - Vector3::UnitZ()).norm(), 4e-15);
  EXPECT_NEAR(found->length, 4.0 * std::cos(angle / 2) * (angle / 2) / std::sin(angle / 2), 1e-14);
}

TEST(ShortHelix, OfEqualTangentsIsStraightOrNone) {
  const Vector3 t(0, 0, 1);
  const auto found = short_helix(3.0 * t, t, t);
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->length, 3.0);
  EXPECT_TRUE(found->darboux.isZero(0.0));
  EXPECT_FALSE(short_helix(Vector3(0, 0.1, 3), t, t).has_value());
  EXPECT_FALSE(short_helix(-t, t, t).has_value());
}

TEST(ShortHelix, OfOppositeTangentsIsHalfACircle) {
  const Vector3 t(0, 0, 1);
  const auto found = short_helix(Vector3(2, 0, 0), t, -t);
  ASSERT_TRUE(found.has_value());
  EXPECT_NEAR(found->length, M_PI, 1e-15);
  EXPECT_LT((found->darboux - Vector3(0, 1, 0)).norm(), 1e-15);
}

TEST(ShortHelix, DoesNotExistWhereTheChordLeavesThePlane) {
  const Vector3 t0(1, 0, 0), t1(0, 1, 0);
  EXPECT_FALSE(short_helix(Vector3(1, 1.1, 0.3), t0, t1).has_value());
  EXPECT_FALSE(short_helix(Vector3::Zero(), t0, t1).has_value());
  EXPECT_TRUE(short_helix(Vector3(1, 1, 0.3), t0, t1).has_value());
}

}  // namespace TRESSE_TEST_FILE
}  // namespace tresse::geometry
