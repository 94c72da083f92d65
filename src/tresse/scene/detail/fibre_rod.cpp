#include <tresse/scene/detail/fibre_rod.hpp>

#include <algorithm>
#include <vector>

#include <tresse/rods/discrete_elastic_rod.hpp>
#include <tresse/rods/mass_spring.hpp>
#include <tresse/rods/super_clothoid.hpp>
#include <tresse/rods/super_helix.hpp>

namespace tresse::scene::detail {
namespace {

VectorX stacked(const std::vector<Vector3>& values) {
  VectorX out(3 * static_cast<Eigen::Index>(values.size()));
  for (std::size_t i = 0; i < values.size(); ++i) out.segment<3>(3 * static_cast<Eigen::Index>(i)) = values[i];
  return out;
}

/// A copy of entry `index` in front of it.
template <typename T>
void repeat(std::vector<T>& values, std::size_t index) {
  const T value = values[index];
  values.insert(values.begin() + static_cast<std::ptrdiff_t>(index), value);
}

}  // namespace

std::unique_ptr<rods::Rod> make_rod(const FibreGroup& group) {
  const std::size_t count = group.element_lengths.size();
  if (group.model == RodModel::super_clothoid) {
    std::vector<rods::SuperClothoidElement> elements(count);
    for (std::size_t i = 0; i < count; ++i) elements[i] = {group.element_lengths[i], group.sections[i]};
    return rods::make_super_clothoid(elements, group.natural_curvature, group.material, group.root.condition);
  }
  if (group.model == RodModel::discrete_elastic_rod || group.model == RodModel::mass_spring) {
    std::vector<rods::RodEdge> edges(count);
    for (std::size_t i = 0; i < count; ++i)
      edges[i] = {group.element_lengths[i], group.sections[i], group.natural_curvature[i]};
    if (group.model == RodModel::mass_spring)
      return rods::make_mass_spring(edges, group.material, group.root.condition);
    return rods::make_discrete_elastic_rod(edges, group.material, group.root.condition);
  }
  std::vector<rods::SuperHelixElement> elements(count);
  for (std::size_t i = 0; i < count; ++i) {
    elements[i] = {group.element_lengths[i], group.sections[i], group.natural_curvature[i]};
  }
  return rods::make_super_helix(elements, group.material, group.root.condition);
}

rods::RodState set_shape(const FibreGroup& group, const rods::Rod& rod, assembly::Fibre& fibre) {
  fibre.model = rod.model();
  const auto curvatures = [&](const std::vector<Vector3>& elements) {
    return rod.curvature_of_elements(stacked(elements));
  };
  if (group.natural_curvature_onset > 0.0) {
    fibre.first_rest_curvature = curvatures(group.initial_curvature);
    fibre.last_rest_curvature = curvatures(group.natural_curvature);
    fibre.rest_onset = group.natural_curvature_onset;
  }
  return rod.shaped(fibre.root, {group.root.velocity, group.root.angular_velocity}, curvatures(group.initial_curvature),
                    curvatures(group.initial_curvature_rate));
}

rods::RodState start_of(const Case& built, std::size_t f) {
  const assembly::Fibre& fibre = built.world.fibres[f];
  rods::RodState out = built.state.rods[f];
  if (clamped(fibre)) out.root = assembly::root_pose(fibre, 0.0);
  return out;
}

FibreGroup divided(FibreGroup group, std::size_t index, double length) {
  const double share = length / group.element_lengths[index];
  repeat(group.element_lengths, index);
  group.element_lengths[index] = length;
  group.element_lengths[index + 1] -= length;
  repeat(group.sections, index);
  for (std::vector<Vector3>* curvature :
       {&group.natural_curvature, &group.initial_curvature, &group.initial_curvature_rate}) {
    if (curvature_count(group.model, 1) == 1) {
      repeat(*curvature, index);
    } else {
      const Vector3 at = (*curvature)[index] + share * ((*curvature)[index + 1] - (*curvature)[index]);
      curvature->insert(curvature->begin() + static_cast<std::ptrdiff_t>(index) + 1, at);
    }
  }
  return group;
}

}  // namespace tresse::scene::detail
