#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include <Eigen/Geometry>

#include <tresse/inverse/framing.hpp>
#include <tresse/math/rotations.hpp>

#include "support/messages.hpp"

namespace tresse::inverse {
namespace TRESSE_TEST_FILE {

bool printing() { return std::getenv("TRESSE_TEST_PRINT") != nullptr; }

/// A smooth framed curve, integrated by small rotations of fourth order (Magnus).
using Curvature = std::function<Vector3(double)>;
std::vector<FramedPlace> framed(const Curvature& curvature, double length, int steps) {
  std::vector<FramedPlace> out{{0.0, Vector3::Zero(), Matrix3::Identity(), curvature(0.0)}};
  const double h = length / steps, gauss = std::sqrt(3.0) / 6.0;
  for (int i = 0; i < steps; ++i) {
    const FramedPlace& at = out.back();
    const Vector3 a = curvature(at.s + (0.5 - gauss) * h), b = curvature(at.s + (0.5 + gauss) * h);
    const Vector3 turn = 0.5 * h * (a + b) + std::sqrt(3.0) / 12.0 * h * h * a.cross(b);
    const Matrix3 frame = at.frame * math::rotation_exp(turn);
    const Matrix3 middle = at.frame * math::rotation_exp(0.5 * turn);
    const Vector3 position = at.position + h / 6.0 * (at.frame.col(0) + 4.0 * middle.col(0) + frame.col(0));
    out.push_back({(i + 1) * h, position, frame, curvature((i + 1) * h)});
  }
  return out;
}

Vector3 turned(const Vector3& k, double angle) {
  const double c = std::cos(angle), s = std::sin(angle);
  return {k[0], c * k[1] + s * k[2], c * k[2] - s * k[1]};
}

const Vector3 stiffness(0.8, 1.0, 4.0), load(0.3, -0.5, -2.0);
Vector3 curved(double s) { return {0.5, 2.0 + std::sin(3.0 * s), 1.5 * std::cos(2.0 * s)}; }
double angle(double s) { return 0.3 + 0.8 * s - 0.5 * s * s; }

/// A rod at rest in a known frame, made by property 4.2, tells that frame again by property 4.1.
TEST(Framing, OfARodAtRestIsRecovered) {
  // Reference: the frame turned back by a known angle.
  const ReferenceFrame reference{
      1.0, [](double s) { return Vector3(turned(curved(s), -angle(s)) - Vector3(0.8 - s, 0.0, 0.0)); }};
  const int fine = 2000;
  const std::vector<FramedPlace> places = framed(curved, 1.0, fine);
  const std::vector<Vector3> natural = natural_curvatures(places, stiffness, load);
  const auto between = [&](double s) {  // cubic through four places
    const int i = std::clamp(static_cast<int>(s * fine) - 1, 0, fine - 3);
    const double u = s * fine - i;
    const auto at = [&](int k) { return natural[static_cast<std::size_t>(i + k)]; };
    return Vector3(-(u - 1) * (u - 2) * (u - 3) / 6 * at(0) + u * (u - 2) * (u - 3) / 2 * at(1) -
                   u * (u - 1) * (u - 3) / 2 * at(2) + u * (u - 1) * (u - 2) / 6 * at(3));
  };
  double before = 0.0;
  for (const int elements : {16, 32, 64}) {
    const std::vector<Framing> found = framings(reference, {between, stiffness, angle(0.0)}, {.elements = elements});
    ASSERT_FALSE(found.empty());
    double worst = 1e9;
    for (const Framing& one : found) {
      EXPECT_LE(one.residual, 1e-12);
      double off = 0.0;
      for (int i = 0; i <= elements; ++i)
        off = std::max(off, std::abs(one.angle[i] - angle(static_cast<double>(i) / elements)));
      worst = std::min(worst, off);
    }
    if (printing()) std::printf("%d elements: %.1e rad, %zu solutions\n", elements, worst, found.size());
    if (before > 0.0) {
      EXPECT_GT(before / worst, 3.5);
    }
    if (elements == 64) {
      EXPECT_LT(worst, 1e-4);
    }
    before = worst;
  }
}

/// The differential equation (4.22), by differences.
TEST(NaturalCurvatures, SolveTheEquationOfTheProperty) {
  const int fine = 4000;
  const double h = 1.0 / fine;
  const std::vector<FramedPlace> places = framed(curved, 1.0, fine);
  const std::vector<Vector3> natural = natural_curvatures(places, stiffness, load);
  EXPECT_LT((natural.back() - places.back().curvature).norm(), 1e-15);
  for (int i = 100; i < fine; i += 300) {
    const auto at = [&](int k) { return static_cast<std::size_t>(i + k); };
    const auto slope = [&](const auto& value) {
      return Vector3((value(-2) - 8.0 * value(-1) + 8.0 * value(1) - value(2)) / (12.0 * h));
    };
    const Vector3& k = places[at(0)].curvature;
    const Vector3 moment = stiffness.cwiseProduct(k - natural[at(0)]);
    const Vector3 tension = (1.0 - places[at(0)].s) * (places[at(0)].frame.transpose() * load);
    const Vector3 rate =
        slope([&](int d) { return Vector3(stiffness.cwiseProduct(places[at(d)].curvature - natural[at(d)])); });
    EXPECT_LT((rate + k.cross(moment) + Vector3::UnitX().cross(tension)).norm(), 1e-7) << i;
  }
}

/// Round and straight by nature: the frame does not twist.
TEST(Framing, OfARoundStraightRodIsBishops) {
  const ReferenceFrame reference{1.0, [](double s) { return Vector3(2.0 * std::cos(3.0 * s), 4.0, 3.0 * s); }};
  const std::vector<Framing> found =
      framings(reference, {[](double) { return Vector3(Vector3::Zero()); }, Vector3(0.7, 1.0, 1.0), 0.2}, {});
  ASSERT_EQ(found.size(), 1u);
  for (int i = 0; i <= 64; ++i) EXPECT_NEAR(found[0].angle[i], 0.2 - 2.0 / 3.0 * std::sin(3.0 * i / 64.0), 1e-10) << i;
  EXPECT_NEAR(found[0].second_variation, 1.0, 1e-9);
}

/// A ring of a flat rod has two frames that balance, one of which is a saddle: with k = (0, 0, 1) and a natural bend
/// the other way the energy falls by turning over.
TEST(Framing, ToldApartByEnergyAndSecondVariation) {
  const ReferenceFrame reference{3.0, [](double) { return Vector3(0.0, 0.0, 2.0); }};
  const std::vector<Framing> found =
      framings(reference, {[](double) { return Vector3(0.0, 0.0, -2.0); }, Vector3(0.5, 1.0, 1.0), 0.0}, {});
  ASSERT_GE(found.size(), 3u);
  for (std::size_t i = 1; i < found.size(); ++i) EXPECT_GE(found[i].energy, found[i - 1].energy);
  EXPECT_GT(found.front().second_variation, 0.0);
  EXPECT_LT(found.back().second_variation, 0.0);
  EXPECT_NEAR(found.back().energy, 0.5 * 16.0 * 3.0, 1e-9);  // untwisted
  // The others obey the pendulum's equation, whose first integral is constant: G J a'^2 / 2 - 4 (1 + cos a).
  const VectorX& a = found.front().angle;
  const double h = 3.0 / 64;
  const auto first_integral = [&](int i) {
    const double slope = (a[i + 1] - a[i]) / h, middle = 0.5 * (a[i] + a[i + 1]);
    return 0.25 * slope * slope + 4.0 * std::cos(middle) * -1.0;
  };
  for (int i = 1; i < 64; ++i) EXPECT_NEAR(first_integral(i), first_integral(0), 2e-2) << i;
}

/// The natural shape is that of every frame where the bending stiffnesses are equal, and only there.
TEST(NaturalCurvatures, DependOnTheFrameUnlessTheSectionIsRound) {
  const auto tip = [](const Vector3& K, double twist) {
    const std::vector<FramedPlace> places =
        framed([&](double s) { return Vector3(turned(curved(s), twist * s) + Vector3(twist, 0.0, 0.0)); }, 1.0, 1000);
    const std::vector<Vector3> natural = natural_curvatures(places, K, load);
    const auto between = [&](double s) {
      const auto i = static_cast<std::size_t>(std::min(s * 1000.0, 999.0));
      const double u = s * 1000.0 - static_cast<double>(i);
      return Vector3((1.0 - u) * natural[i] + u * natural[i + 1]);
    };
    return framed(between, 1.0, 1000).back().position;
  };
  const Vector3 round(0.8, 1.0, 1.0), flat(0.8, 1.0, 4.0);
  EXPECT_LT((tip(round, 0.0) - tip(round, 2.0)).norm(), 1e-6);
  EXPECT_GT((tip(flat, 0.0) - tip(flat, 2.0)).norm(), 0.01);
}

/// The cosine of an amplitude over its delta, cn / dn, by descending Landen steps of the arithmetic-geometric mean
/// (Abramowitz and Stegun 16.4).
double jacobi_cd(double u, double k) {
  std::array<double, 12> a{1.0}, c{k};
  double b = std::sqrt(1.0 - k * k);
  std::size_t n = 0;
  while (n + 1 < a.size() && std::abs(c[n]) > 1e-17) {
    a[n + 1] = 0.5 * (a[n] + b);
    c[n + 1] = 0.5 * (a[n] - b);
    b = std::sqrt(a[n] * b);
    ++n;
  }
  double phi = std::ldexp(a[n] * u, static_cast<int>(n));
  for (; n > 0; --n) phi = 0.5 * (phi + std::asin(c[n] / a[n] * std::sin(phi)));
  return std::cos(phi) / std::sqrt(1.0 - k * k * std::sin(phi) * std::sin(phi));
}

/// A helical centreline and a uniform natural curvature: the angle between the bends of both is that of a pendulum,
/// which swings to rest at the free tip. Elliptic functions say where it is.
TEST(Framing, OfAHelixIsAPendulum) {
  const double GJ = 0.7, EI = 1.3, bend = 2.0, natural_bend = 1.7, length = 0.6, twist = 1.1, root = 1.9;
  const ReferenceFrame helix{length, [&](double) { return Vector3(twist, bend, 0.0); }};
  // G J theta'' = -E I bend natural_bend sin(theta): it hangs at zero, where the bends are opposite.
  const FramedRod rod{[&](double) { return Vector3(twist, -natural_bend, 0.0); }, Vector3(GJ, EI, EI), root};
  const double rate = std::sqrt(EI * bend * natural_bend / GJ);
  // At rest at the tip: sin(theta / 2) = k cd(rate (L - s), k).
  const auto hanging = [&](double s, double k) { return 2.0 * std::asin(k * jacobi_cd(rate * (length - s), k)); };
  double low = 0.0, high = 1.0;  // of k, which the angle at the root tells
  for (int i = 0; i < 200; ++i) {
    const double k = 0.5 * (low + high);
    (hanging(0.0, k) < root ? low : high) = k;
  }
  double before = 0.0;
  for (const int elements : {64, 128, 256}) {
    const std::vector<Framing> found = framings(helix, rod, {.elements = elements});
    double best = 1e9;
    for (const Framing& one : found) {
      double off = 0.0;
      for (int i = 0; i <= elements; ++i)
        off = std::max(off, std::abs(one.angle[i] - hanging(length * i / elements, low)));
      best = std::min(best, off);
    }
    if (printing()) std::printf("%d elements: %.1e rad from the pendulum, %zu found\n", elements, best, found.size());
    EXPECT_LT(best, 1e-4);
    if (before > 0.0) {
      EXPECT_GT(before / best, 3.5);  // second order
    }
    before = best;
  }
}

TEST(Framing, BadInputIsTold) {
  const ReferenceFrame straight{1.0, [](double) { return Vector3(Vector3::Zero()); }};
  const FramedRod rod{straight.curvature, Vector3::Ones(), 0.0};
  const auto told = [](const ReferenceFrame& curve, const FramedRod& of, const FramingOptions& options) {
    return test::error_of([&] { static_cast<void>(framings(curve, of, options)); });
  };
  EXPECT_EQ(told({0.0, straight.curvature}, rod, {}), "framing: length; expected above 0");
  EXPECT_EQ(told(straight, {straight.curvature, Vector3::Zero(), 0.0}, {}), "framing: stiffness; expected above 0");
  EXPECT_EQ(told(straight, {straight.curvature, Vector3::Ones(), std::nan("")}, {}),
            "framing: root_angle is not finite");
  EXPECT_EQ(told(straight, rod, {.elements = 1}), "framing: elements; expected 2 to 1000");
  EXPECT_EQ(told(straight, rod, {.tolerance = 0.0}),
            "framing: tolerance; expected above 0, and at least one iteration");
  std::vector<FramedPlace> places = framed(curved, 1.0, 2);
  const auto asked = [&](const Vector3& K) {
    return test::error_of([&] { static_cast<void>(natural_curvatures(places, K, load)); });
  };
  EXPECT_EQ(asked(Vector3::Zero()), "framing: stiffness; expected above 0");
  std::swap(places[0], places[1]);
  EXPECT_EQ(asked(stiffness), "framing: arc lengths; expected them to ascend");
  places.resize(1);
  EXPECT_EQ(asked(stiffness), "framing: fewer than two places");
}

}  // namespace TRESSE_TEST_FILE
}  // namespace tresse::inverse
