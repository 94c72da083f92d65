#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <concepts>
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

/// Rotations turn about the shape's own point unless told otherwise.
Vector3 natural_reference(const bodies::Shape& shape) {
  struct {
    Vector3 operator()(const bodies::Plane& s) const { return s.point; }
    Vector3 operator()(const bodies::Sphere& s) const { return s.center; }
    Vector3 operator()(const bodies::Capsule& s) const { return 0.5 * (s.from + s.to); }
    Vector3 operator()(const bodies::Cylinder& s) const { return s.center; }
    Vector3 operator()(const bodies::Comb& s) const { return s.base; }
    Vector3 operator()(const bodies::Mesh&) const { return Vector3::Zero(); }
  } visitor;
  return std::visit(visitor, shape);
}

/// A shape of the kind that has this index among the shapes, with the keys of the table.
template <std::size_t I = 0>
bodies::Shape read_shape_of(const TableReader& table, std::size_t index) {
  using Shape = std::variant_alternative_t<I, bodies::Shape>;
  if (index == I) {
    Shape out{};
    if constexpr (!std::same_as<Shape, bodies::Mesh>) table.read<Shape>(out);  // its files: read_mesh_obstacle()
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
      table.refuse(key, "is given for a plane, a comb or a mesh; expected a sphere, a capsule or a cylinder");
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
  const std::vector<std::string> words(scene::shape_words.begin(), scene::shape_words.end());
  const TomlNode& shape_node = require_member(context, node, place, "shape", files::alternatives(words));
  const std::string word = read_word(context, shape_node, place + ".shape", scene::shape_words);
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
  const bool mesh = std::holds_alternative<bodies::Mesh>(out.body.shape);
  if (mesh) read_mesh_obstacle(table, out);
  out.body.reference = mesh ? out.mesh.position : natural_reference(out.body.shape);
  out.body.material_name = out.body.name;
  table.read<scene::Obstacle>(out);
  read_free_body(table, out);
  return out;
}

}  // namespace tresse::scene_file::detail
