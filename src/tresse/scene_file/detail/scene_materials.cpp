#include <fmt/format.h>

#include <tresse/files/text.hpp>
#include <tresse/scene_file/detail/scene_reader.hpp>

namespace tresse::scene_file::detail {
namespace {

namespace limits = scene::limits;

struct Preset {
  std::string name;
  rods::Material material;
};

/// Handbook values; docs/reference/scenes.md cites each. Damping is left at zero: it depends on what is to be damped.
const std::vector<Preset>& presets() {
  static const std::vector<Preset> table{
      {"human-hair", {.density = 1320.0, .young_modulus = 3.9e9, .poisson_ratio = 0.4, .damping_time = 0.0}},
      {"nylon", {.density = 1140.0, .young_modulus = 2.7e9, .poisson_ratio = 0.39, .damping_time = 0.0}},
      {"steel-wire", {.density = 7850.0, .young_modulus = 200e9, .poisson_ratio = 0.29, .damping_time = 0.0}},
      {"wool", {.density = 1310.0, .young_modulus = 3.0e9, .poisson_ratio = 0.4, .damping_time = 0.0}},
      {"flagellum", {.density = 1000.0, .young_modulus = 3e6, .poisson_ratio = 0.5, .damping_time = 0.0}},
  };
  return table;
}

}  // namespace

const std::vector<std::string>& material_presets() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> out;
    for (const Preset& preset : presets()) out.push_back(preset.name);
    return out;
  }();
  return names;
}

rods::Material material_preset(const std::string& name) {
  for (const Preset& preset : presets()) {
    if (preset.name == name) return preset.material;
  }
  return {};
}

Materials read_materials(ReaderContext& context, const TomlNode* node) {
  Materials out;
  if (node == nullptr) return out;
  if (!node->is(TomlNode::Kind::table)) {
    context.fail(*node, fmt::format("materials is {}; expected tables [materials.NAME]", describe(*node)));
  }
  for (const TomlMember& member : node->members) {
    const TableReader table(context, member.value, "materials." + one_line(member.key, 40),
                            {"preset", "density", "young_modulus", "poisson_ratio", "damping_time", "rotary_inertia"});
    rods::Material material;
    if (table.has("preset")) {
      std::string preset;
      table.read("preset", preset, material_presets());
      material = material_preset(preset);
    } else {
      for (const std::string_view key : {"density", "young_modulus", "poisson_ratio"}) {
        table.require(key, "it, or preset = " + files::alternatives(material_presets()));
      }
    }
    table.read("density", material.density, {files::dimensions::density, limits::density});
    table.read("young_modulus", material.young_modulus, {files::dimensions::pressure, limits::young_modulus});
    table.read("poisson_ratio", material.poisson_ratio, {files::dimensions::ratio, limits::poisson_ratio});
    table.read("damping_time", material.damping_time, {files::dimensions::time, limits::damping_time});
    table.read("rotary_inertia", material.rotary_inertia);
    out.table[member.key] = material;
    out.names.insert(member.key);
  }
  return out;
}

scene::FrictionTable read_friction(ReaderContext& context, const TomlNode* node, const std::set<std::string>& names) {
  scene::FrictionTable out;
  if (node == nullptr) return out;
  const TableReader table(context, *node, "friction", {"default", "pairs"});
  const Wanted coefficient{files::dimensions::ratio, limits::friction};
  table.read("default", out.default_coefficient, coefficient);
  const TomlNode* pairs = table.find("pairs");
  if (pairs == nullptr) return out;
  if (!pairs->is(TomlNode::Kind::array)) {
    context.fail(
        *pairs,
        fmt::format("friction.pairs is {}; expected an array of {{ between = [\"a\", \"b\"], coefficient = 0.3 }}",
                    describe(*pairs)));
  }
  const std::vector<std::string> known(names.begin(), names.end());
  for (std::size_t i = 0; i < pairs->items.size(); ++i) {
    const TableReader pair(context, pairs->items[i], fmt::format("friction.pairs[{}]", i), {"between", "coefficient"});
    const TomlNode& between = pair.require("between", "the names of two materials");
    if (!between.is(TomlNode::Kind::array) || between.items.size() != 2) {
      pair.fail("between", fmt::format("is {}; expected the names of two materials", describe(between)));
    }
    std::string material[2];
    for (std::size_t k = 0; k < 2; ++k) {
      material[k] = read_text(context, between.items[k], fmt::format("{}[{}]", pair.path("between"), k));
      if (names.contains(material[k])) continue;
      const std::string hint = files::did_you_mean(material[k], known);
      context.fail(between.items[k], fmt::format("{}[{}] is {}, the material of no fibre and no obstacle{}",
                                                 pair.path("between"), k, files::in_quotes(material[k], 40),
                                                 !hint.empty() ? hint : "; expected " + files::alternatives(known)));
    }
    if (out.pairs.contains({material[0], material[1]})) {
      context.fail(pairs->items[i],
                   fmt::format("friction.pairs[{}] gives the pair {}, {} a second time; expected it once", i,
                               files::in_quotes(material[0], 40), files::in_quotes(material[1], 40)));
    }
    const double value = pair.required("coefficient", coefficient, "a friction coefficient");
    out.pairs[{material[0], material[1]}] = value;
    out.pairs[{material[1], material[0]}] = value;
  }
  return out;
}

}  // namespace tresse::scene_file::detail
