#include <tresse/rods/discrete_elastic_rod.hpp>

#include <tresse/base/errors.hpp>
#include <tresse/rods/detail/nodal_model.hpp>
#include <tresse/rods/detail/rod_input.hpp>

namespace tresse::rods {

std::unique_ptr<Rod> make_discrete_elastic_rod(const std::vector<RodEdge>& edges, const Material& material,
                                               RootCondition root_condition) {
  const detail::RodInput input("discrete elastic rod");
  require(!edges.empty(), "discrete elastic rod: no edge, expected at least one");
  require(root_condition != RootCondition::carried, "discrete elastic rod: cannot be a branch");
  input.check(material);
  for (std::size_t i = 0; i < edges.size(); ++i) {
    input.check("edge", i, edges[i].length, edges[i].section);
    input.check("edge", i, edges[i].rest_curvature);
  }
  return std::make_shared<const detail::NodalModel>(detail::NodalModel::Edge::angle_and_node, edges, material,
                                                    root_condition)
      ->make_rod();
}

}  // namespace tresse::rods
