#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <gtest/gtest.h>
#include <Eigen/Geometry>

#include <tresse/friction/detail/newton.hpp>
#include <tresse/friction/problem.hpp>

/// Newton's method converges quadratically where the derivative is regular: on a ball that rolls and slips on two rails
/// as in the double loop of Bertails-Descoubes et al. 2011, figure 9 (n = 2 contacts, six degrees of freedom).
namespace tresse::friction::detail {
namespace TRESSE_TEST_FILE {

struct Ball {
  double mass = 0.1;          // [kg]
  double radius = 0.02;       // [m]
  double spread = 0.8;        // angle of each rail from straight down [rad]
  double slope = 0.0;         // of the rails: gravity turns by it [rad]
  Vector3 velocity{0, 0, 0};  // [m/s]
  Vector3 spin{0, 60, 0};     // [rad/s]
  double mu = 0.3;
};

/// u = W r + q after a step of 1 ms; rails along x, contact frames (normal into the ball, along x, across).
struct Problem {
  MatrixX W = MatrixX::Zero(6, 6);
  VectorX q = VectorX::Zero(6);
  VectorX mu;
};

Problem problem_of(const Ball& ball) {
  constexpr double dt = 1e-3;
  const double inertia = 0.4 * ball.mass * ball.radius * ball.radius;
  Eigen::Matrix<double, 6, 6> H;  // rows: contacts, columns: velocity and spin
  for (int k = 0; k < 2; ++k) {
    const double angle = (k == 0 ? 1.0 : -1.0) * ball.spread;
    const Vector3 normal(0.0, std::sin(angle), std::cos(angle));
    const Vector3 along = Vector3::UnitX();
    const Vector3 arm = -ball.radius * normal;
    const Vector3 axes[] = {normal, along, normal.cross(along)};
    for (int a = 0; a < 3; ++a) {
      H.row(3 * k + a).head<3>() = axes[a].transpose();
      H.row(3 * k + a).tail<3>() = arm.cross(axes[a]).transpose();
    }
  }
  Eigen::Matrix<double, 6, 1> v, inverse_mass;
  const Vector3 pull = 9.81 * dt * Vector3(std::sin(ball.slope), 0.0, -std::cos(ball.slope));
  v.head<3>() = ball.velocity + pull;
  v.tail<3>() = ball.spin;
  inverse_mass.head<3>().setConstant(1.0 / ball.mass);
  inverse_mass.tail<3>().setConstant(1.0 / inertia);
  Problem out;
  out.W = H * inverse_mass.asDiagonal() * H.transpose();
  out.q = H * v;
  // Units in which the diagonal is about one and impulses are velocities, as where solvers work.
  const double unit = out.W.diagonal().mean();
  out.W /= unit;
  out.mu = VectorX::Constant(2, ball.mu);
  return out;
}

/// |f|^2 / |q|^2 from zero impulses on, f Alart and Curnier's function.
std::vector<double> squares(const Problem& p) {
  std::vector<double> out;
  const auto note = [&](const VectorX& r, const VectorX& u) {
    double sum = 0.0;
    for (int k = 0; k < 2; ++k)
      sum += alart_curnier(r.segment<3>(3 * k), u.segment<3>(3 * k), p.mu[k]).value.squaredNorm();
    out.push_back(sum / p.q.squaredNorm());
  };
  VectorX r = VectorX::Zero(6);
  note(r, p.q);
  NewtonSettings settings{.target = 1e-18 * p.q.norm(), .max_steps = 20};
  settings.watch = [&](const VectorX& at, const VectorX& u, int) {
    note(at, u);
    return out.back() < 1e-30;
  };
  controlled_newton(p.W, p.q, p.mu, settings, r);
  return out;
}

TEST(NewtonConvergence, a_ball_on_two_rails_takes_quadratic_steps) {
  int most = 0, quick = 0;
  for (const double mu : {0.0, 0.05, 0.3, 0.7}) {
    for (const double slope : {-0.5, 0.0, 0.5, 1.0}) {
      for (const double spin : {0.0, 0.1, 5.0, 60.0}) {
        Ball ball{.slope = slope, .spin = {0, spin, 0.1 * spin}, .mu = mu};
        const std::vector<double> f = squares(problem_of(ball));
        const int steps = static_cast<int>(f.size()) - 1;
        most = std::max(most, steps);
        EXPECT_LT(f.back(), 1e-30) << mu << " " << slope << " " << spin;
        EXPECT_LE(steps, 8) << mu << " " << slope << " " << spin;
        quick += steps < 6 ? 1 : 0;
        if (std::getenv("TRESSE_TEST_PRINT") != nullptr) {
          std::printf("mu %g slope %g spin %g:", mu, slope, spin);
          for (const double square : f) std::printf(" %.1e", square);
          std::printf("\n");
        }
        // Quadratic once it is near.
        for (std::size_t k = 1; k < f.size(); ++k) {
          if (f[k - 1] >= 1e-9) continue;
          EXPECT_LT(f[k], 1000.0 * f[k - 1] * f[k - 1] + 1e-30) << mu << " " << slope << " " << spin;
        }
      }
    }
  }
  EXPECT_GE(quick, 60);  // of 64: the others roll so slowly that a contact changes between rolling and slipping
  if (std::getenv("TRESSE_TEST_PRINT") != nullptr) std::printf("%d in under six steps, at most %d\n", quick, most);
}

}  // namespace TRESSE_TEST_FILE
}  // namespace tresse::friction::detail
