#include <tresse/scene/surface.hpp>

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include <tresse/scene/scene_fields.hpp>

namespace tresse::scene {

double bending_rigidity(const Surface& surface) {
  const rods::Material& m = surface.material;
  return m.young_modulus * std::pow(surface.thickness, 3) / (12.0 * (1.0 - m.poisson_ratio * m.poisson_ratio));
}

double bending_frequency(const Surface& surface) {
  const double side = std::max(surface.length, surface.width);
  return std::sqrt(20.0 * bending_rigidity(surface) / (surface.material.density * surface.thickness)) / (side * side);
}

void check_surface_name(const Surface& x, const Complain& complain) {
  constexpr std::string_view plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_";
  if (x.name.empty() || x.name.find_first_not_of(plain) != std::string::npos)
    complain("name", "is not made of letters, digits, - and _; expected these: a data set of the results has it");
}

void Table<Surface>::check(const Surface& x, const Complain& complain) {
  check_surface_name(x, complain);
  const double diagonal = std::hypot(x.length, x.width);
  if (!(x.thickness <= 0.5 * std::min(x.length, x.width)))
    complain("thickness", fmt::format("is {} m; expected at most half of the shorter side, {} m", x.thickness,
                                      0.5 * std::min(x.length, x.width)));
  constexpr double rolled = 13.0;  // more than two turns, which the integrals do not resolve
  for (const auto& [key, curvature] : {std::pair{"natural_curvature", x.natural_curvature},
                                       std::pair{"initial_curvature", x.initial_curvature.value_or(0.0)}}) {
    if (!(std::abs(curvature) * diagonal <= rolled))
      complain(key, fmt::format("is {} 1/m; expected at most {} 1/m, two turns of the diagonal", curvature,
                                rolled / diagonal));
  }
  if (x.root.condition == rods::RootCondition::clamped &&
      !(x.root.velocity.isZero(0.0) && x.root.angular_velocity.isZero(0.0)))
    complain("root.velocity", "is given for a clamped root; expected condition = \"free\"");
}

}  // namespace tresse::scene
