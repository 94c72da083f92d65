#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <tresse/bodies/rigid_body.hpp>
#include <tresse/files/text.hpp>
#include <tresse/scene_file/detail/scene_mesh.hpp>
#include <tresse/scene_file/detail/scene_reader.hpp>

namespace tresse::scene_file::detail {
namespace {

namespace limits = scene::limits;

/// A shape of the kind that has this index among the shapes, with the keys of the table.
template <std::size_t I = 0>
bodies::Shape read_shape_of(const TableReader& table, std::size_t index) {
  using Shape = std::variant_alternative_t<I, bodies::Shape>;
  if (index == I) {
    Shape out{};
    if constexpr (!bodies::FromFile<Shape>) table.read<Shape>(out);
    return out;
  }
  if constexpr (I + 1 < std::variant_size_v<bodies::Shape>) return read_shape_of<I + 1>(table, index);
  return {};
}

constexpr std::array<std::string_view, 4> free_keys{"mass", "density", "velocity", "angular_velocity"};

/// The mass or density that frees a body, and how it starts.
void read_free_body(const TableReader& table, scene::Obstacle& out) {
  bodies::Obstacle& body = out.body;
  if (!bodies::can_be_free(body.shape)) {
    for (const char* key : {"mass", "density"})
      table.refuse(key, fmt::format("is given for {}; expected {}", bodies::fixed_kinds(), bodies::free_kinds()));
  }
  const bool by_mass = table.has("mass");
  if (!by_mass && !table.has("density")) {
    for (const char* key : {"velocity", "angular_velocity"})
      table.refuse(key, "is given for a body that is not free; expected a mass or a density too");
    return;
  }
  table.exclusive(by_mass ? "mass" : "density", {"motion", "reference"});
  table.exclusive("mass", {"density"});
  table.read<scene::FreeBody>(out);
  if (by_mass) return;
  body.mass = table.number("density", 0.0) * bodies::volume(body.shape);
  if (!limits::mass.contains(body.mass))
    table.fail("density", fmt::format("makes a mass of {} kg; expected {} to {}", files::number(body.mass),
                                      files::number(limits::mass.least), files::number(limits::mass.most)));
}

}  // namespace

void TableReader::operator()(const scene::Field& field, bodies::Motion& motion) const {
  const TomlNode* node = find(field);
  if (node == nullptr) return;
  const TableReader table(context_, *node, path(field.key), description<bodies::Motion>());
  if (const TomlNode* keys = table.find("keyframes")) {
    const std::string place = table.path("keyframes");
    if (!keys->is(TomlNode::Kind::array) || keys->items.empty() || keys->items.size() > limits::keyframes) {
      context_.fail(
          *keys, fmt::format("{} is {}; expected an array of 1 to {} tables {{ time, displacement, rotation }}", place,
                             describe(*keys), limits::keyframes));
    }
    for (std::size_t i = 0; i < keys->items.size(); ++i) {
      const TableReader key(context_, keys->items[i], fmt::format("{}[{}]", place, i), description<bodies::Keyframe>());
      key.read<bodies::Keyframe>(motion.keyframes.emplace_back());
    }
  }
  table.read<bodies::Motion>(motion);
}

scene::Obstacle read_obstacle(ReaderContext& context, const TomlNode& node, std::size_t index) {
  const std::string place = fmt::format("obstacles[{}]", index);
  if (!node.is(TomlNode::Kind::table))
    context.fail(node, fmt::format("{} is {}; expected a table", place, describe(node)));
  const std::vector<std::string> words(bodies::Kinds::words.begin(), bodies::Kinds::words.end());
  const TomlNode& shape_node = require_member(context, node, place, "shape", files::alternatives(words));
  const std::string word = read_word(context, shape_node, place + ".shape", bodies::Kinds::words);
  const auto shape = static_cast<std::size_t>(std::find(words.begin(), words.end(), word) - words.begin());
  const TomlNode& name_node = require_member(context, node, place, "name", "a name of its own");

  scene::Obstacle out;
  out.location = node.location;
  out.body.name = read_text(context, name_node, place + ".name");
  if (out.body.name.empty())
    context.fail(name_node, fmt::format("{}.name is empty; expected a name of its own", place));
  const TableReader table(context, node, "obstacles." + one_line(out.body.name, 40), obstacle_descriptions()[shape],
                          free_keys);
  out.body.shape = read_shape_of(table, shape);
  const bool from_file = bodies::is_from_file(out.body.shape);
  if (from_file) read_mesh_obstacle(table, out);
  out.body.reference = from_file ? out.mesh.position : bodies::own_point(out.body.shape);
  out.body.material_name = out.body.name;
  table.read<scene::Obstacle>(out);
  read_free_body(table, out);
  return out;
}

}  // namespace tresse::scene_file::detail
