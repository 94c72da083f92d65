#include <fmt/format.h>

#include <tresse/files/text.hpp>
#include <tresse/scene_file/detail/scene_reader.hpp>

namespace tresse::scene_file::detail {
std::optional<rods::Material> material_preset(std::string_view name) {
  for (const scene::MaterialPreset& preset : scene::material_presets) {
    if (preset.name == name) return preset.material;
  }
  return std::nullopt;
}

Materials read_materials(ReaderContext& context, const TomlNode* node) {
  Materials out;
  if (node == nullptr) return out;
  if (!node->is(TomlNode::Kind::table)) {
    context.fail(*node, fmt::format("materials is {}; expected tables [materials.NAME]", describe(*node)));
  }
  for (const TomlMember& member : node->members) {
    const TableReader table(context, member.value, "materials." + one_line(member.key, 40),
                            description<rods::Material>());
    rods::Material material;
    if (const TomlNode* preset = table.find("preset")) {
      material = *material_preset(read_word(context, *preset, table.path("preset"), scene::material_preset_names));
    } else {
      for (const std::string_view key : {"density", "young_modulus", "poisson_ratio"})
        table.require(
            key, "it, or preset = " + files::alternatives(std::vector<std::string>(
                                          scene::material_preset_names.begin(), scene::material_preset_names.end())));
    }
    table.read<rods::Material>(material);
    out.table[member.key] = material;
    out.names.insert(member.key);
  }
  return out;
}

template <class OfTable>
void read_pairs(const TableReader& above, const std::set<std::string>& names, OfTable& out) {
  ReaderContext& context = above.context();
  const std::string name(scene::Table<OfTable>::name);
  const TomlNode* node = above.find(name);
  if (node == nullptr) return;
  const TableReader table(context, *node, name, description<OfTable>());
  table.read<OfTable>(out);
  const TomlNode* pairs = table.find("pairs");
  if (pairs == nullptr) return;
  if (!pairs->is(TomlNode::Kind::array)) {
    context.fail(*pairs,
                 fmt::format("{}.pairs is {}; expected an array of {{ between = [\"a\", \"b\"], coefficient = 0.3 }}",
                             name, describe(*pairs)));
  }
  const std::vector<std::string> known(names.begin(), names.end());
  for (std::size_t i = 0; i < pairs->items.size(); ++i) {
    const TableReader pair(context, pairs->items[i], fmt::format("{}.pairs[{}]", name, i),
                           description<scene::MaterialPair<OfTable>>());
    scene::MaterialPair<OfTable> read;
    const TomlNode& between = pair.require("between");
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
                   fmt::format("{}.pairs[{}] gives the pair {}, {} a second time; expected it once", name, i,
                               files::in_quotes(material[0], 40), files::in_quotes(material[1], 40)));
    }
    pair.read<scene::MaterialPair<OfTable>>(read);
    out.pairs[{material[0], material[1]}] = read.coefficient;
    out.pairs[{material[1], material[0]}] = read.coefficient;
  }
}

template void read_pairs(const TableReader&, const std::set<std::string>&, scene::FrictionTable&);
template void read_pairs(const TableReader&, const std::set<std::string>&, scene::KineticFrictionTable&);
template void read_pairs(const TableReader&, const std::set<std::string>&, scene::RestitutionTable&);

}  // namespace tresse::scene_file::detail
