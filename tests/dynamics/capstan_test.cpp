#include <gtest/gtest.h>

#include <cmath>

#include <Eigen/Geometry>

#include "support/worlds.hpp"

namespace tresse::dynamics {
namespace TRESSE_TEST_FILE {

constexpr double gravity = 9.81;
constexpr double bar_radius = 5e-3;
constexpr double fibre_radius = 5e-5;
constexpr double ring = bar_radius + fibre_radius;  // of the centreline on the bar
constexpr double pull_speed = 5e-3;

/// Elements of a soft fibre: up from the root, half a turn over a bar, down as a hanging tail.
struct Layout {
  std::vector<rods::SuperHelixElement> elements;
  std::vector<Vector3> curvature;
  double root_side = 0.0;
  double tail = 0.0;
};

Layout layout() {
  Layout out;
  const auto add = [&](int count, double length, double curvature) {
    for (int i = 0; i < count; ++i) {
      out.elements.push_back({length / count, rods::CrossSection::circle(fibre_radius), Vector3::Zero()});
      out.curvature.emplace_back(0, 0, curvature);
    }
  };
  out.root_side = 0.01;
  out.tail = 0.105;
  add(4, out.root_side, 0.0);
  add(24, M_PI * ring, 1.0 / ring);
  add(6, 0.005, 0.0);
  add(4, 0.1, 0.0);
  return out;
}

/// T2 of a heavy string sliding over a bar: dT/dphi = mu (T + w sin phi) + w cos phi, w the weight of a radian. Light:
/// the capstan law.
double pulled_tension(double tension, double mu, double radian_weight) {
  const auto slope = [&](double phi, double t) {
    return mu * (t + radian_weight * std::sin(phi)) + radian_weight * std::cos(phi);
  };
  const int steps = 1000;
  const double h = M_PI / steps;
  for (int i = 0; i < steps; ++i) {
    const double phi = h * i;
    const double k1 = slope(phi, tension);
    const double k2 = slope(phi + h / 2, tension + h / 2 * k1);
    const double k3 = slope(phi + h / 2, tension + h / 2 * k2);
    const double k4 = slope(phi + h, tension + h * k3);
    tension += h / 6 * (k1 + 2 * k2 + 2 * k3 + k4);
  }
  return tension;
}

TEST(Capstan, IntegratorOfTheReferenceGivesTheLawForALightString) {
  EXPECT_NEAR(pulled_tension(1.0, 0.3, 0.0), std::exp(0.3 * M_PI), 1e-10);
}

/// The exponent of the tension per angle, docs/theory/surface_contact.md "A rope on a drum".
double exponent(double mu, assembly::ContactAt at) {
  if (at == assembly::ContactAt::centreline) return mu;
  const double thickness = fibre_radius / ring;
  return (std::sqrt(1.0 + 4.0 * mu * mu * thickness * bar_radius / ring) - 1.0) / (2.0 * mu * thickness);
}

/// Pulls the root down at constant speed; returns the ratio of tensions that the bar's load tells, and the law's.
std::pair<double, double> measured_and_expected(double mu, assembly::ContactAt at) {
  const Layout built = layout();
  // Soft, so that bending carries next to nothing: EI / ring^2 is below a third of a per cent of the tension.
  const rods::Material soft{.density = 1000.0, .young_modulus = 1e5, .poisson_ratio = 0.48, .damping_time = 0.02};
  assembly::World world;
  SimulationState state;
  assembly::Fibre fibre;
  fibre.model = rods::make_super_helix(built.elements, soft, rods::RootCondition::clamped)->model();
  fibre.root.position = {-ring, -built.root_side, 0};
  // Tangent up; n2 = -z, so that a positive curvature about it turns over the bar to +x.
  fibre.root.frame << 0, 1, 0, 1, 0, 0, 0, 0, -1;
  fibre.root_motion.velocity = {0, -pull_speed, 0};
  VectorX curvature(3 * static_cast<Eigen::Index>(built.curvature.size()));
  for (std::size_t i = 0; i < built.curvature.size(); ++i) {
    curvature.segment<3>(3 * static_cast<Eigen::Index>(i)) = built.curvature[i];
  }
  state.rods.push_back({fibre.root, {}, curvature, VectorX::Zero(curvature.size()), {}});
  world.fibres.push_back(std::move(fibre));
  test::add(world, {"bar", "bar", bodies::Capsule{{0, 0, -0.02}, {0, 0, 0.02}, bar_radius}, Vector3::Zero(), {}});
  world.law = std::make_shared<assembly::Coulomb>(MatrixX::Constant(1, 1, mu));
  world.contact_at = at;
  assembly::set_load(world, assembly::Gravity({0, -gravity, 0}));

  StepOptions options = test::step_options(1e-3);
  dynamics::Stepper stepper(std::move(world), options, std::move(state));
  const int steps = 150;
  double load = 0.0;
  const int averaged = 50;
  for (int i = 0; i < steps; ++i) {
    const StepReport report = stepper.step();
    EXPECT_LE(report.residual, 1e-12);
    if (i >= steps - averaged) load -= report.obstacles[0].force[1] / averaged;
  }
  const double weight = 1000.0 * M_PI * fibre_radius * fibre_radius * gravity;  // of a metre
  const double moved = pull_speed * (stepper.time() - 0.5e-3 * averaged);
  const double tail_tension = weight * (built.tail - moved);
  const double pulled = load - tail_tension - weight * M_PI * ring;
  return {pulled / tail_tension, pulled_tension(tail_tension, exponent(mu, at), weight * ring) / tail_tension};
}

TEST(Capstan, AFibrePulledOverABarObeysTheLaw) {
  for (const double mu : {0.1, 0.3, 0.5}) {
    double ratio = 1.0;  // of what is measured to the law, at the surface to on the centreline
    for (const auto at : {assembly::ContactAt::centreline, assembly::ContactAt::surface}) {
      const auto [measured, expected] = measured_and_expected(mu, at);
      EXPECT_NEAR(measured / expected, 1.0, 0.02) << "mu " << mu << ": " << measured << " against " << expected;
      ratio = measured / expected / ratio;
      if (std::getenv("TRESSE_TEST_PRINT")) printf("mu %.1f: T2/T1 %.5f, law %.5f\n", mu, measured, expected);
    }
    EXPECT_NEAR(ratio, 1.0, 1e-3) << mu;  // the two laws differ by up to 2 %
  }
}

}  // namespace TRESSE_TEST_FILE
}  // namespace tresse::dynamics
