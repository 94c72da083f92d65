#include <tresse/rods/super_clothoid.hpp>

#include <string>

#include <tresse/base/errors.hpp>
#include <tresse/rods/detail/chain_rod.hpp>
#include <tresse/rods/detail/rod_input.hpp>

namespace tresse::rods {

std::unique_ptr<Rod> make_super_clothoid(const std::vector<SuperClothoidElement>& elements,
                                         const std::vector<Vector3>& rest_curvature, const Material& material,
                                         RootCondition root_condition) {
  const detail::RodInput input("super-clothoid");
  input.check(material);
  require(!elements.empty(), "super-clothoid: no element, expected at least one");
  require(rest_curvature.size() == elements.size() + 1, [&] {
    return "super-clothoid: " + std::to_string(rest_curvature.size()) + " rest curvatures, expected one a node, " +
           std::to_string(elements.size() + 1);
  });
  std::vector<detail::ChainElement> chain;
  chain.reserve(elements.size());
  for (std::size_t i = 0; i < elements.size(); ++i) {
    input.check("element", i, elements[i].length, elements[i].section);
    chain.push_back({elements[i].length, elements[i].section});
  }
  VectorX rest(3 * static_cast<Eigen::Index>(rest_curvature.size()));
  for (std::size_t i = 0; i < rest_curvature.size(); ++i) {
    input.check("node", i, rest_curvature[i]);
    rest.segment<3>(3 * static_cast<Eigen::Index>(i)) = rest_curvature[i];
  }
  return std::make_shared<const detail::ChainModel<detail::ClothoidShape>>(chain, rest, material, root_condition)
      ->make_rod();
}

}  // namespace tresse::rods
