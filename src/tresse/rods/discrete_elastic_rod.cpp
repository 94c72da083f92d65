#include <tresse/rods/discrete_elastic_rod.hpp>

#include <cmath>
#include <string>

#include <tresse/base/errors.hpp>
#include <tresse/rods/detail/discrete_elastic_rod_model.hpp>

namespace tresse::rods {
namespace {

void require_positive(double value, const std::string& where, const char* what) {
  require(std::isfinite(value) && value > 0.0,
          where + ": " + what + " is " + std::to_string(value) + ", expected a positive number");
}

void validate(const std::vector<RodEdge>& edges, const Material& material) {
  const std::string name = "discrete elastic rod";
  require(!edges.empty(), name + ": no edge, expected at least one");
  require_positive(material.density, name + " material", "density");
  require_positive(material.young_modulus, name + " material", "Young's modulus");
  require(material.poisson_ratio > -1.0 && material.poisson_ratio <= 0.5,
          name + " material: Poisson's ratio is " + std::to_string(material.poisson_ratio) + ", expected (-1, 0.5]");
  require(std::isfinite(material.damping_time) && material.damping_time >= 0.0,
          name + " material: damping time is " + std::to_string(material.damping_time) + ", expected 0 or more");
  for (std::size_t i = 0; i < edges.size(); ++i) {
    const std::string where = name + " edge " + std::to_string(i);
    require_positive(edges[i].length, where, "length");
    require_positive(edges[i].section.half_axis_1, where, "half-axis 1");
    require_positive(edges[i].section.half_axis_2, where, "half-axis 2");
    require(edges[i].rest_curvature.allFinite(), where + ": rest curvature is not finite, expected three numbers");
  }
}

}  // namespace

std::unique_ptr<Rod> make_discrete_elastic_rod(const std::vector<RodEdge>& edges, const Material& material,
                                               RootCondition root_condition) {
  validate(edges, material);
  return std::make_unique<detail::DiscreteElasticRod>(edges, material, root_condition);
}

}  // namespace tresse::rods
