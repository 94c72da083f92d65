#include <algorithm>
#include <cmath>
#include <string>

#include <tresse/base/errors.hpp>
#include <tresse/math/rotations.hpp>
#include <tresse/rods/detail/super_helix_rod.hpp>
#include <tresse/rods/super_helix.hpp>

namespace tresse::rods {
namespace {

void require_positive(double value, const std::string& where, const char* what) {
  require(std::isfinite(value) && value > 0.0,
          where + ": " + what + " is " + std::to_string(value) + ", expected a positive number");
}

void validate(const std::vector<SuperHelixElement>& elements, const Material& material) {
  require(!elements.empty(), "super-helix: no element, expected at least one");
  require_positive(material.density, "super-helix material", "density");
  require_positive(material.young_modulus, "super-helix material", "Young's modulus");
  require(
      material.poisson_ratio > -1.0 && material.poisson_ratio <= 0.5,
      "super-helix material: Poisson's ratio is " + std::to_string(material.poisson_ratio) + ", expected (-1, 0.5]");
  require(std::isfinite(material.damping_time) && material.damping_time >= 0.0,
          "super-helix material: damping time is " + std::to_string(material.damping_time) + ", expected 0 or more");
  for (std::size_t i = 0; i < elements.size(); ++i) {
    const std::string where = "super-helix element " + std::to_string(i);
    require_positive(elements[i].length, where, "length");
    require_positive(elements[i].section.half_axis_1, where, "half-axis 1");
    require_positive(elements[i].section.half_axis_2, where, "half-axis 2");
    require(elements[i].rest_curvature.allFinite(), where + ": rest curvature is not finite, expected three numbers");
  }
}

}  // namespace

std::unique_ptr<Rod> make_super_helix(const std::vector<SuperHelixElement>& elements, const Material& material,
                                      RootCondition root_condition) {
  validate(elements, material);
  return std::make_unique<detail::SuperHelixRod>(elements, material, root_condition);
}

}  // namespace tresse::rods
