#include <cmath>
#include <numbers>

#include <tresse/base/errors.hpp>
#include <tresse/rods/section.hpp>

namespace tresse::rods {

double area(const CrossSection& section) { return std::numbers::pi * section.half_axis_1 * section.half_axis_2; }

std::array<double, 2> mean_squares(const CrossSection& section) {
  return {section.half_axis_1 * section.half_axis_1 / 4.0, section.half_axis_2 * section.half_axis_2 / 4.0};
}

Vector3 bending_stiffness(const CrossSection& section, const Material& material) {
  const double a = section.half_axis_1;
  const double b = section.half_axis_2;
  const double shear_modulus = material.young_modulus / (2.0 * (1.0 + material.poisson_ratio));
  const double torsion = std::numbers::pi * a * a * a * b * b * b / (a * a + b * b);
  const double quarter = std::numbers::pi / 4.0;
  return {shear_modulus * torsion, material.young_modulus * quarter * a * b * b * b,
          material.young_modulus * quarter * a * a * a * b};
}

}  // namespace tresse::rods
