#include <tresse/laws/penalty.hpp>

#include <cmath>
#include <limits>

#include <tresse/base/errors.hpp>

namespace tresse::laws {
namespace {

constexpr double sharpness = 15.0;  // of the softened ramp, over delta; of friction, over nu
constexpr double imc_scale = 1e8;   // with it a contact of radius 1 mm and delta 10 um gives way by less than delta

}  // namespace

Energy imc_energy(double distance, double touching, double delta) {
  const double x = touching - distance;
  if (x >= delta) return {x * x, -2.0 * x, 2.0};
  if (x <= -delta) return {};
  const double k = sharpness / delta;
  const double decay = std::exp(-std::abs(k * x));
  const double ramp = (std::max(k * x, 0.0) + std::log1p(decay)) / k;
  const double step = x >= 0.0 ? 1.0 / (1.0 + decay) : decay / (1.0 + decay);
  return {ramp * ramp, -2.0 * ramp * step, 2.0 * step * (step + ramp * k * (1.0 - step))};
}

Energy ipc_energy(double distance, double touching, double delta) {
  const double g = distance - touching;
  if (g >= delta) return {};
  constexpr double infinite = std::numeric_limits<double>::infinity();
  if (!(g > 0.0)) return {infinite, -infinite, infinite};
  const double under = g - delta;
  const double logarithm = std::log(g / delta);
  const double share = under / g;
  return {-under * under * logarithm, -2.0 * under * logarithm - under * share,
          -2.0 * logarithm - 4.0 * share + share * share};
}

Energy energy(Law law, double distance, double touching, double delta) {
  switch (law) {
    case Law::imc:
      return imc_energy(distance, touching, delta);
    case Law::ipc:
      return ipc_energy(distance, touching, delta);
    default:
      throw InvalidInput("law: found \"coulomb\", which has no potential; expected \"imc\" or \"ipc\"");
  }
}

double adaptive_stiffness(Law law, double load, double radius, double delta) {
  return law == Law::imc ? imc_scale * load / radius : load / delta;
}

double gap_under_load(Law law, double share, double radius, double delta) {
  // The force falls from the nearest gap to the farthest; the slope that is wanted, over the stiffness of a unit load.
  const double wanted = share / adaptive_stiffness(law, 1.0, radius, delta);
  double near = law == Law::ipc ? 0.0 : -0.5 * wanted - delta, far = delta;
  for (int k = 0; k < 200 && near < far; ++k) {
    const double middle = near + 0.5 * (far - near);
    if (middle == near || middle == far) break;
    (-energy(law, middle, 0.0, delta).slope > wanted ? near : far) = middle;
  }
  return far;
}

Force contact_force(const Energy& energy, double stiffness, const Vector3& velocity, const SmoothFriction& friction) {
  const double load = -stiffness * energy.slope;
  const double stiffening = -stiffness * energy.curvature;  // of the load, by the distance
  Force out;
  out.value[0] = load;
  out.by_distance[0] = stiffening;
  if (!(friction.mu > 0.0)) return out;
  const Eigen::Vector2d sliding = velocity.tail<2>();
  const double speed = sliding.norm();
  const double slope = 0.5 * sharpness / friction.slip_velocity;
  const double x = slope * speed;
  const double share = std::tanh(x);
  // share / speed, and the derivative of share by the speed beside it
  const double over_speed = x > 1e-4 ? share / speed : slope * (1.0 - x * x / 3.0);
  const double by_speed = slope * (1.0 - share * share);
  const Eigen::Vector2d direction = speed > 0.0 ? Eigen::Vector2d(sliding / speed) : Eigen::Vector2d::Zero();
  out.value.tail<2>() = -friction.mu * load * over_speed * sliding;
  out.by_distance.tail<2>() = -friction.mu * stiffening * over_speed * sliding;
  out.by_velocity.bottomRightCorner<2, 2>() =
      -friction.mu * load *
      (over_speed * Eigen::Matrix2d::Identity() + (by_speed - over_speed) * direction * direction.transpose());
  return out;
}

double creep_speed(double share, double slip_velocity) { return 2.0 * slip_velocity / sharpness * std::atanh(share); }

}  // namespace tresse::laws
