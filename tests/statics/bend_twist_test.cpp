#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>

#include <nlohmann/json.hpp>

#include <Eigen/Geometry>
#include <Eigen/LU>

#include <tresse/math/rotations.hpp>
#include <tresse/rods/super_clothoid.hpp>
#include <tresse/statics/equilibrium.hpp>

// Heavy super-clothoids that bend and twist, against shooting: tests/data/cantilever, and this file's own for elliptic
// sections and natural twist.
namespace tresse::statics {
namespace TRESSE_TEST_FILE {

using nlohmann::json;

constexpr double asked = 5e-3;

/// A rod of unit length, clamped at the origin with the frame I.
struct Case {
  rods::Material material;
  rods::CrossSection section;
  Vector3 natural;
  Vector3 gravity;
};

struct Shape {
  Vector3 tip;
  Matrix3 frame;        ///< at the tip
  Vector3 root_moment;  ///< material axes
};

/// E I1 times E I2 is 1, for an ellipse too; weight gamma per unit length under unit gravity.
Case unit_case(double gamma, double nu, const rods::CrossSection& section, const Vector3& natural,
               const Vector3& gravity) {
  const double a = section.half_axis_1, b = section.half_axis_2;
  return {{.density = gamma / (M_PI * a * b), .young_modulus = 4.0 / (M_PI * a * a * b * b), .poisson_ratio = nu},
          section,
          natural,
          gravity};
}

Shape clothoids(const Case& c, int n) {
  const auto count = static_cast<std::size_t>(n);
  const auto rod =
      rods::make_super_clothoid(std::vector<rods::SuperClothoidElement>(count, {1.0 / n, c.section}),
                                std::vector<Vector3>(count + 1, c.natural), c.material, rods::RootCondition::clamped);
  const rods::RodState start = rod->state();
  const Equilibrium found = solve_equilibrium(*rod, start, c.gravity, {});
  EXPECT_EQ(found.status, Status::converged);
  EXPECT_TRUE(found.stable());
  const rods::RodSection tip = rod->section(1.0);
  return {tip.position, tip.frame, rod->section(0.0).moment};
}

/// Forward from the root: r' = t, R' = R [kappa]x, m' = -kappa x m - e_x x R^T T with kappa = K3^-1 m + natural and
/// T = rho S g (1 - s), the weight beyond. Fourth-order Runge-Kutta.
class Shooting {
 public:
  explicit Shooting(const Case& c) : c_(c), stiffness_(rods::bending_stiffness(c.section, c.material)) {}

  /// Newton on the moment at the root until that at the tip vanishes, the weight turned on in steps.
  Shape solve() const {
    constexpr int loads = 10;
    Vector3 moment = Vector3::Zero();
    for (int load = 1; load <= loads; ++load) {
      const double weight = static_cast<double>(load) / loads;
      for (int i = 0; i < 8; ++i) {
        Matrix3 slope;
        constexpr double h = 1e-5;
        for (int k = 0; k < 3; ++k) {
          const Vector3 step = h * Vector3::Unit(k);
          slope.col(k) = (shoot(moment + step, weight).moment - shoot(moment - step, weight).moment) / (2.0 * h);
        }
        moment -= slope.inverse() * shoot(moment, weight).moment;
      }
    }
    const State end = shoot(moment, 1.0);
    EXPECT_LT(end.moment.norm(), 1e-10);
    return {end.position, end.frame, moment};
  }

 private:
  struct State {
    Vector3 position = Vector3::Zero();
    Matrix3 frame = Matrix3::Identity();
    Vector3 moment;
  };

  State rate(const State& x, double s, double weight) const {
    const Vector3 kappa = x.moment.cwiseQuotient(stiffness_) + c_.natural;
    const Vector3 tension = c_.material.density * area(c_.section) * (1.0 - s) * weight * c_.gravity;
    State out;
    out.position = x.frame.col(0);
    out.frame = x.frame * math::cross_matrix(kappa);
    out.moment = -kappa.cross(x.moment) - Vector3::UnitX().cross(x.frame.transpose() * tension);
    return out;
  }

  State shoot(const Vector3& moment, double weight) const {
    constexpr int steps = 400;
    constexpr double h = 1.0 / steps;
    const auto moved = [](const State& x, const State& by, double d) {
      State out;
      out.position = x.position + d * by.position;
      out.frame = x.frame + d * by.frame;
      out.moment = x.moment + d * by.moment;
      return out;
    };
    State x;
    x.moment = moment;
    for (int i = 0; i < steps; ++i) {
      const double s = i * h;
      const State a = rate(x, s, weight);
      const State b = rate(moved(x, a, 0.5 * h), s + 0.5 * h, weight);
      const State c = rate(moved(x, b, 0.5 * h), s + 0.5 * h, weight);
      const State d = rate(moved(x, c, h), s + h, weight);
      x = moved(moved(moved(moved(x, a, h / 6.0), b, h / 3.0), c, h / 3.0), d, h / 6.0);
    }
    return x;
  }

  const Case& c_;
  Vector3 stiffness_;
};

/// Tip over the length and frame there, the worse.
double shape_error(const Shape& found, const Shape& expected) {
  return std::max((found.tip - expected.tip).norm(), (found.frame - expected.frame).norm());
}

/// At the root. At a point a curvature is second order, where the shape, whose moments it is, is fourth.
double moment_error(const Shape& found, const Shape& expected) {
  return (found.root_moment - expected.root_moment).norm() / expected.root_moment.norm();
}

void expect_close(const Case& c, const Shape& expected, const char* name) {
  const Shape coarse = clothoids(c, 8), fine = clothoids(c, 16), finest = clothoids(c, 32);
  const double error = shape_error(coarse, expected), order = std::log2(error / shape_error(fine, expected));
  const double moment = moment_error(finest, expected), moment_order = std::log2(moment_error(fine, expected) / moment);
  if (std::getenv("TRESSE_TEST_PRINT") != nullptr) {
    std::printf("%s: shape of 8 clothoids %.1e, order %.1f; root moment of 32 %.1e, order %.1f\n", name, error, order,
                moment, moment_order);
  }
  EXPECT_LT(error, asked) << name;
  EXPECT_GT(order, 3.5) << name;
  EXPECT_LT(moment, asked) << name;
  EXPECT_GT(moment_order, 1.8) << name;
}

TEST(BendTwist, NaturallyCurvedRodsOfTheData) {
  std::ifstream file(TRESSE_TEST_DATA "/cantilever/cantilever.json");
  const json data = json::parse(file);
  const auto vector3 = [](const json& j) -> Vector3 {
    return {j[0].get<double>(), j[1].get<double>(), j[2].get<double>()};
  };
  ASSERT_EQ(data["bend_twist_3d"]["points"].size(), 2U);
  for (const json& p : data["bend_twist_3d"]["points"]) {
    const Case c = unit_case(p["Gamma"], p["nu"], rods::CrossSection::circle(1e-2), vector3(p["kappa_nat_times_L"]),
                             vector3(p["gravity_direction"]));
    Shape expected{vector3(p["tip_over_L"]), {}, vector3(p["m_root_times_L_over_EI"])};
    for (int i = 0; i < 3; ++i) expected.frame.row(i) = vector3(p["frame_tip"][i]);
    expect_close(c, expected, "data");
    const Shape own = Shooting(c).solve();
    EXPECT_LT(shape_error(own, expected), 1e-8);
    EXPECT_LT(moment_error(own, expected), 1e-8);
  }
}

TEST(BendTwist, EllipticSectionsAndNaturalTwist) {
  const Vector3 down = Vector3(0.1, -0.3, -1.0).normalized();
  const rods::CrossSection flat{6e-3, 1.5e-2}, upright{1.5e-2, 6e-3}, circle = rods::CrossSection::circle(1e-2);
  const Case straight = unit_case(2.0, 0.3, flat, {0, 0, 0}, down);
  expect_close(straight, Shooting(straight).solve(), "straight ellipse, skew weight");
  const Case twisted = unit_case(3.0, 0.3, upright, {3.0, 0, 0}, down);
  expect_close(twisted, Shooting(twisted).solve(), "twisted ellipse");
  const Case curled = unit_case(3.0, 0.4, flat, {1.0, 0.5, 2.0}, down);
  expect_close(curled, Shooting(curled).solve(), "curled ellipse");
  const Case helix = unit_case(5.0, 0.5, circle, {4.0, 0.0, 3.0}, down);
  expect_close(helix, Shooting(helix).solve(), "helix");
}

}  // namespace TRESSE_TEST_FILE
}  // namespace tresse::statics
