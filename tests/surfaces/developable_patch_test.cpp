#include <tresse/surfaces/developable_patch.hpp>

#include <cmath>
#include <fstream>
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <Eigen/Cholesky>
#include <Eigen/Geometry>

#include <tresse/base/errors.hpp>

// The shape of a patch and its integrals: against the definition, arithmetic of 60 digits, and differences.
namespace tresse::surfaces {
namespace TRESSE_TEST_FILE {

constexpr double rounding = 1e-12;  // relative, of sums over 256 points

PatchMaterial square() {
  return {.length = 0.3, .width = 0.2, .area_density = 0.2, .rigidity = 2e-3, .poisson_ratio = 0.3};
}

PatchVector velocity(double k_rate, double t_rate) {
  PatchVector out = PatchVector::Zero();
  out[0] = k_rate;
  out[1] = t_rate;
  return out;
}

TEST(DevelopablePatch, IsIsometricAndItsCurvatureIsUniform) {
  constexpr double step = 1e-4;   // fourth order, so that 1e-8 is met in double precision
  constexpr double asked = 1e-8;  // of lengths of 1 and curvatures of 1
  const auto at = [](double a, double b) { return patch_point(a, b, 1.7, 0.4).x; };
  const Vector3 along(std::cos(0.4), std::sin(0.4), 0.0);
  for (const auto& [a, b] : {std::pair{0.1, 0.2}, {0.9, 0.3}, {0.5, 1.0}}) {
    const auto slope = [&](int axis, double x, double y) -> Vector3 {
      const auto p = [&](double s) { return axis == 0 ? at(x + s, y) : at(x, y + s); };
      return (8.0 * (p(step) - p(-step)) - (p(2 * step) - p(-2 * step))) / (12.0 * step);
    };
    const Vector3 x_a = slope(0, a, b), x_b = slope(1, a, b);
    EXPECT_NEAR(x_a.squaredNorm(), 1.0, asked);
    EXPECT_NEAR(x_b.squaredNorm(), 1.0, asked);
    EXPECT_NEAR(x_a.dot(x_b), 0.0, asked);
    const Vector3 normal = x_a.cross(x_b);
    constexpr double wide = 1e-3;
    const auto bend = [&, a = a, b = b](int i, int j) {
      const auto p = [&](double s) { return slope(i, a + (j == 0 ? s : 0.0), b + (j == 1 ? s : 0.0)); };
      return normal.dot(Vector3((8.0 * (p(wide) - p(-wide)) - (p(2 * wide) - p(-2 * wide))) / (12.0 * wide)));
    };
    for (int i = 0; i < 2; ++i) {
      for (int j = 0; j < 2; ++j) EXPECT_NEAR(bend(i, j), 1.7 * along[i] * along[j], 5.0 * asked);
    }
  }
}

/// Slope of the Taylor remainder of f about 0, over two halvings of the step; 2 where `df` is its derivative.
template <class F>
double remainder_slope(const F& f, const Vector3& df) {
  const auto off = [&](double h) { return (f(h) - f(0.0) - h * df).norm(); };
  return std::log2(off(2e-3) / off(1e-3));
}

TEST(DevelopablePatch, DerivativesOfAPointHaveTheTaylorRemainderOfDerivatives) {
  constexpr double second = 1.9;
  for (const double k : {-7.0, 1e-3, 0.4, 3.0}) {
    for (const double t : {0.3, 2.0}) {
      const double a = 0.8, b = 0.5;
      const PatchPoint p = patch_point(a, b, k, t);
      EXPECT_GT(remainder_slope([&](double h) { return patch_point(a, b, k + h, t).x; }, p.x_k), second);
      EXPECT_GT(remainder_slope([&](double h) { return patch_point(a, b, k, t + h).x; }, p.x_t), second);
      EXPECT_GT(remainder_slope([&](double h) { return patch_point(a, b, k + h, t).x_k; }, p.x_kk), second);
      EXPECT_GT(remainder_slope([&](double h) { return patch_point(a, b, k, t + h).x_k; }, p.x_kt), second);
      EXPECT_GT(remainder_slope([&](double h) { return patch_point(a, b, k, t + h).x_t; }, p.x_tt), second);
    }
  }
}

TEST(DevelopablePatch, IntegralsAreThoseOf60Digits) {
  std::ifstream file(std::string(TRESSE_TEST_DATA) + "/developable_patch/reference.json");
  int cases = 0;
  for (const auto& one : nlohmann::json::parse(file)) {
    PatchMaterial material = square();
    material.length = one["length"];
    material.width = one["width"];
    material.area_density = one["density"];
    const DevelopablePatch patch(material);
    const PatchIntegrals of = patch.integrals(one["k"], one["t"], velocity(one["k_rate"], one["t_rate"]));
    const double kk = one["kk"], tt = one["tt"], kt = one["kt"], a_k = one["inertia_k"], a_t = one["inertia_t"];
    EXPECT_NEAR(of.mass(0, 0), kk, rounding * kk);
    EXPECT_NEAR(of.mass(1, 1), tt, rounding * tt);
    EXPECT_NEAR(of.mass(0, 1), kt, rounding * std::sqrt(kk * tt));
    const double k_scale = std::abs(a_k) + std::sqrt(kk / tt) * std::abs(a_t);
    EXPECT_NEAR(of.inertia[0], a_k, rounding * k_scale);
    EXPECT_NEAR(of.inertia[1], a_t, rounding * std::sqrt(tt / kk) * k_scale);
    const double mass = material.area_density * material.length * material.width;
    for (int i = 0; i < 3; ++i)
      EXPECT_NEAR(of.first_moment[i], one["first_moment"][static_cast<std::size_t>(i)].get<double>(),
                  rounding * mass * patch.diagonal());
    ++cases;
  }
  EXPECT_EQ(cases, 4);
}

/// A = d(M v)/dt - dT/dq at constant v, of Lagrange's equations: the three integrals tell of each other.
TEST(DevelopablePatch, InertiaKineticSlopeAndMassBelongTogether) {
  const DevelopablePatch patch(square());
  const double k = 4.0, t = 0.7;
  const PatchVector v = velocity(3.0, -2.0);
  const PatchIntegrals of = patch.integrals(k, t, v);
  constexpr double h = 1e-5, off = 1e-8;  // central differences
  const PatchVector changes = (patch.integrals(k + h * v[0], t + h * v[1], v).mass * v -
                               patch.integrals(k - h * v[0], t - h * v[1], v).mass * v) /
                              (2.0 * h);
  for (int i = 0; i < 2; ++i)
    EXPECT_NEAR(of.inertia[i], changes[i] - of.kinetic_slope[i], off * of.inertia.head<2>().norm());
}

TEST(DevelopablePatch, ForcesOfTheEnergyAreItsSlope) {
  PatchMaterial material = square();
  material.natural_curvature = 5.0;
  material.natural_angle = 0.6;
  const DevelopablePatch patch(material);
  const auto energy = [&](double k, double t) { return patch.elastic_energy(k, t); };
  const auto off = [&](double h) {
    const Eigen::Vector2d g = patch.elastic_slope(3.0, 1.5);
    return std::abs(energy(3.0 + h, 1.5 - 2.0 * h) - energy(3.0, 1.5) - h * (g[0] - 2.0 * g[1]));
  };
  EXPECT_GT(std::log2(off(2e-3) / off(1e-3)), 1.9);
  // Of a curvature tensor, D/2 [(1 - nu) |B - B0|^2 + nu tr(B - B0)^2], written out.
  const auto tensor = [](double k, double t) -> Eigen::Matrix2d {
    const Eigen::Vector2d e(std::cos(t), std::sin(t));
    return k * e * e.transpose();
  };
  const Eigen::Matrix2d off_rest = tensor(3.0, 1.5) - tensor(5.0, 0.6);
  const double trace = off_rest.trace();
  const double wanted =
      0.5 * material.rigidity * material.length * material.width * (0.7 * off_rest.squaredNorm() + 0.3 * trace * trace);
  EXPECT_NEAR(energy(3.0, 1.5), wanted, rounding * wanted);
}

TEST(DevelopablePatch, AStripSwingsAtTheFrequencyOfOneElement) {
  const PatchMaterial material = square();
  const DevelopablePatch patch(material);
  const PatchIntegrals of = patch.integrals(0.0, 0.0, velocity(0.0, 0.0));
  const double stiffness = patch.elastic_slope(1.0, 0.0)[0];
  const double a = material.length;
  const double wanted = std::sqrt(20.0) * std::sqrt(material.rigidity / material.area_density) / (a * a);
  EXPECT_NEAR(std::sqrt(stiffness / of.mass(0, 0)), wanted, rounding * wanted);
}

TEST(DevelopablePatch, RefusesWhatIsOutOfRange) {
  const auto message = [](auto change) {
    PatchMaterial material = square();
    change(material);
    try {
      static_cast<void>(DevelopablePatch(material));
    } catch (const InvalidInput& error) {
      return std::string(error.what());
    }
    return std::string("nothing");
  };
  EXPECT_EQ(message([](auto& m) { m.length = 0.0; }), "developable patch: sides must be positive");
  EXPECT_EQ(message([](auto& m) { m.area_density = -1.0; }), "developable patch: mass per area must be positive");
  EXPECT_EQ(message([](auto& m) { m.rigidity = 0.0; }), "developable patch: rigidity must be positive");
  EXPECT_EQ(message([](auto& m) { m.poisson_ratio = 0.6; }),
            "developable patch: Poisson's ratio must be above -1 and at most 0.5");
  EXPECT_EQ(message([](auto& m) { m.damping_time = -1.0; }), "developable patch: damping time must be 0 or more");
  EXPECT_EQ(message([](auto& m) { m.natural_angle = NAN; }), "developable patch: natural shape must be finite");
}

}  // namespace TRESSE_TEST_FILE
}  // namespace tresse::surfaces
