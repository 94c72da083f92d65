#include <tresse/scene/scene.hpp>

#include <algorithm>

namespace tresse::scene {

double PairTable::coefficient(const std::string& a, const std::string& b) const {
  const auto found = pairs.find({a, b});
  return found == pairs.end() ? default_coefficient : found->second;
}

double KineticFrictionTable::coefficient(const std::string& a, const std::string& b, double friction) const {
  const auto found = pairs.find({a, b});
  return std::min(friction, found == pairs.end() ? default_coefficient.value_or(friction) : found->second);
}

const std::vector<rods::CrossSection>& sections(const FibreGroup& group, int member) {
  return group.strands.empty() ? group.sections : group.strands[static_cast<std::size_t>(member)].sections;
}

FibreGroup strand_group(const FibreGroup& group, std::size_t index) {
  const Strand& strand = group.strands[index];
  FibreGroup out;
  out.name = group.name;
  out.model = group.model;
  out.material_name = group.material_name;
  out.material = group.material;
  out.natural_curvature_onset = group.natural_curvature_onset;
  out.growth = group.growth;
  out.root = group.root;
  out.drag = group.drag;
  out.friction = group.friction;
  out.location = group.location;
  out.element_lengths = strand.element_lengths;
  out.sections = strand.sections;
  out.natural_curvature = strand.natural_curvature;
  out.initial_curvature = strand.initial_curvature;
  out.initial_curvature_rate.assign(strand.initial_curvature.size(), Vector3::Zero());
  out.root.position = strand.position;
  out.root.frame = strand.frame;
  return out;
}

}  // namespace tresse::scene
