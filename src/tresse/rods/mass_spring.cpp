#include <tresse/rods/mass_spring.hpp>

#include <cmath>
#include <string>

#include <tresse/base/errors.hpp>
#include <tresse/rods/detail/nodal_model.hpp>
#include <tresse/rods/detail/rod_input.hpp>

namespace tresse::rods {

std::unique_ptr<Rod> make_mass_spring(const std::vector<RodEdge>& edges, const Material& material,
                                      RootCondition root_condition) {
  const detail::RodInput input("mass-spring chain");
  require(!edges.empty(), "mass-spring chain: no edge, expected at least one");
  require(root_condition != RootCondition::carried, "mass-spring chain: cannot be a branch");
  input.check(material);
  for (std::size_t i = 0; i < edges.size(); ++i) {
    const CrossSection& section = edges[i].section;
    input.check("edge", i, edges[i].length, section);
    input.check("edge", i, edges[i].rest_curvature);
    require(section.half_axis_1 == section.half_axis_2,
            [&] { return "mass-spring chain edge " + std::to_string(i) + ": elliptic section, expected a round one"; });
  }
  return std::make_shared<const detail::NodalModel>(detail::NodalModel::Edge::node, edges, material, root_condition)
      ->make_rod();
}

}  // namespace tresse::rods
