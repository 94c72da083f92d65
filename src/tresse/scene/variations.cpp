#include <tresse/scene/variations.hpp>

#include <algorithm>
#include <array>
#include <utility>

namespace tresse::scene {
namespace {

/// A direction that varies the fibres of some groups alike.
template <typename Of>
dynamics::Variation varied(const assembly::World& world, const std::vector<char>& groups, const Of& of) {
  dynamics::Variation out;
  for (const assembly::Fibre& fibre : world.fibres) {
    dynamics::FibreVariation& own = out.fibres.emplace_back();
    if (groups[static_cast<std::size_t>(fibre.group)] != 0) of(fibre, own);
  }
  return out;
}

void add_materials(const Scene& scene, const assembly::World& world, std::vector<NamedVariation>& out) {
  std::vector<std::string> told;
  for (const FibreGroup& group : scene.fibres) {
    if (std::find(told.begin(), told.end(), group.material_name) != told.end()) continue;
    told.push_back(group.material_name);
    std::vector<char> groups;
    for (const FibreGroup& other : scene.fibres) groups.push_back(other.material_name == group.material_name ? 1 : 0);
    const rods::Material& material = group.material;
    const auto add = [&](const char* key, double value, const char* unit, const dynamics::FibreVariation& own) {
      out.push_back({"materials." + group.material_name + "." + key, value, unit,
                     varied(world, groups, [&](const assembly::Fibre&, auto& of) { of = own; })});
    };
    add("young_modulus", material.young_modulus, "Pa", {.stiffness = Vector3::Constant(1.0 / material.young_modulus)});
    add("poisson_ratio", material.poisson_ratio, "-",
        {.stiffness = Vector3(-1.0 / (1.0 + material.poisson_ratio), 0.0, 0.0)});
    add("density", material.density, "kg/m^3", {.density = 1.0 / material.density});
    add("damping_time", material.damping_time, "s", {.damping_time = 1.0});
  }
}

constexpr std::array<const char*, 3> components{".0", ".1", ".2"};

void add_groups(const Scene& scene, const assembly::World& world, std::vector<NamedVariation>& out) {
  for (std::size_t g = 0; g < scene.fibres.size(); ++g) {
    const FibreGroup& group = scene.fibres[g];
    std::vector<char> groups(scene.fibres.size(), 0);
    groups[g] = 1;
    const std::string name = "fibres." + group.name;
    out.push_back({name + ".drag", group.drag, "N s/m^2",
                   varied(world, groups, [](const assembly::Fibre&, auto& of) { of.drag = 1.0; })});
    for (int k = 0; k < 3; ++k) {
      const double mean = group.natural_curvature.empty() ? 0.0 : group.natural_curvature.front()[k];
      out.push_back({name + ".natural_curvature" + components[static_cast<std::size_t>(k)], mean, "1/m",
                     varied(world, groups, [&](const assembly::Fibre& fibre, auto& of) {
                       of.natural = VectorX::Zero(fibre.model->coordinate_count());
                       for (Eigen::Index i = k; i < of.natural.size(); i += 3) of.natural[i] = 1.0;
                     })});
    }
    for (int k = 0; k < 3; ++k)
      out.push_back({name + ".root" + components[static_cast<std::size_t>(k)], group.root.position[k], "m",
                     varied(world, groups, [&](const assembly::Fibre&, auto& of) { of.root.linear[k] = 1.0; })});
  }
}

}  // namespace

std::vector<NamedVariation> variations(const Scene& scene, const Case& built) {
  std::vector<NamedVariation> out;
  add_materials(scene, built.world, out);
  add_groups(scene, built.world, out);
  for (int k = 0; k < 3; ++k) {
    NamedVariation own{std::string("simulation.gravity") + components[static_cast<std::size_t>(k)],
                       scene.simulation.gravity[k], "m/s^2"};
    own.direction.gravity[k] = 1.0;
    out.push_back(std::move(own));
  }
  for (int k = 0; k < 3; ++k) {
    NamedVariation own{std::string("simulation.wind") + components[static_cast<std::size_t>(k)],
                       scene.simulation.wind.mean[k], "m/s"};
    own.direction.wind[k] = 1.0;
    out.push_back(std::move(own));
  }
  const bool regions = std::any_of(scene.fibres.begin(), scene.fibres.end(),
                                   [](const FibreGroup& group) { return !group.friction.empty(); });
  const double coefficient = scene.friction.default_coefficient;
  const bool kinetic = scene.friction_kinetic.default_coefficient || !scene.friction_kinetic.pairs.empty();
  const bool alone = scene.friction.pairs.empty() && !regions && !kinetic && coefficient > 0.0;
  NamedVariation friction{alone ? "friction.default" : "friction", alone ? coefficient : 1.0, alone ? "-" : "relative"};
  friction.direction.friction = alone ? 1.0 / coefficient : 1.0;
  out.push_back(std::move(friction));
  return out;
}

}  // namespace tresse::scene
