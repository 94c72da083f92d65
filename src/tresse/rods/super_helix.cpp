#include <tresse/rods/super_helix.hpp>

#include <tresse/base/errors.hpp>
#include <tresse/rods/detail/chain_rod.hpp>
#include <tresse/rods/detail/rod_input.hpp>

namespace tresse::rods {

std::unique_ptr<Rod> make_super_helix(const std::vector<SuperHelixElement>& elements, const Material& material,
                                      RootCondition root_condition) {
  const detail::RodInput input("super-helix");
  require(!elements.empty(), "super-helix: no element, expected at least one");
  input.check(material);
  std::vector<detail::ChainElement> chain;
  chain.reserve(elements.size());
  VectorX rest(3 * static_cast<Eigen::Index>(elements.size()));
  for (std::size_t i = 0; i < elements.size(); ++i) {
    input.check("element", i, elements[i].length, elements[i].section);
    input.check("element", i, elements[i].rest_curvature);
    chain.push_back({elements[i].length, elements[i].section});
    rest.segment<3>(3 * static_cast<Eigen::Index>(i)) = elements[i].rest_curvature;
  }
  return std::make_shared<const detail::ChainModel<detail::HelixShape>>(chain, rest, material, root_condition)
      ->make_rod();
}

}  // namespace tresse::rods
