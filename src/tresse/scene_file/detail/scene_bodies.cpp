#include <fmt/format.h>

#include <cmath>

#include <tresse/bodies/rigid_body.hpp>
#include <tresse/files/text.hpp>
#include <tresse/scene_file/detail/scene_mesh.hpp>
#include <tresse/scene_file/detail/scene_reader.hpp>

namespace tresse::scene_file::detail {
namespace {

namespace limits = scene::limits;

const Wanted wanted_time{files::dimensions::time, {-1e9, 1e9}};

Vector3 required_vector(const TableReader& table, std::string_view key) {
  return read_vector(table.context(), table.require(key, "a point, an array of 3 lengths"), table.path(key),
                     wanted_position);
}
Vector3 required_direction(const TableReader& table, std::string_view key) {
  return read_direction(table.context(), table.require(key, "a direction, an array of 3 numbers"), table.path(key));
}

bodies::Shape read_plane(const TableReader& table) {
  return bodies::Plane{required_vector(table, "point"), required_direction(table, "normal")};
}

bodies::Shape read_sphere(const TableReader& table) {
  return bodies::Sphere{required_vector(table, "center"),
                        table.required("radius", wanted_radius, "the sphere's radius")};
}

bodies::Shape read_capsule(const TableReader& table) {
  return bodies::Capsule{required_vector(table, "from"), required_vector(table, "to"),
                         table.required("radius", wanted_radius, "the capsule's radius")};
}

bodies::Shape read_cylinder(const TableReader& table) {
  return bodies::Cylinder{required_vector(table, "center"), required_direction(table, "axis"),
                          table.required("radius", wanted_radius, "the cylinder's radius"),
                          table.required("length", wanted_length, "the cylinder's length")};
}

bodies::Shape read_comb(const TableReader& table) {
  bodies::Comb comb;
  comb.base = required_vector(table, "base");
  comb.tooth_direction = required_direction(table, "tooth_direction");
  comb.row_direction = required_direction(table, "row_direction");
  if (std::abs(comb.tooth_direction.dot(comb.row_direction)) > limits::unit_error) {
    table.fail("row_direction", "is not at a right angle to tooth_direction; expected orthogonal directions");
  }
  table.read("teeth", comb.teeth, 1, limits::teeth);
  table.read("tooth_diameter", comb.tooth_diameter, wanted_radius);
  table.read("tooth_spacing", comb.tooth_spacing, wanted_radius);
  table.read("tooth_length", comb.tooth_length, wanted_length);
  table.read("handle_diameter", comb.handle_diameter, wanted_radius);
  return comb;
}

bodies::Shape read_mesh_shape(const TableReader&) { return bodies::Mesh{}; }  // its files: read_obstacle()

struct ShapeReader {
  std::string name;
  std::vector<std::string_view> keys;
  bodies::Shape (*read)(const TableReader&);
};

/// Of every obstacle.
std::vector<std::string_view> with_common(std::vector<std::string_view> own) {
  own.insert(own.begin(),
             {"name", "shape", "material", "motion", "reference", "mass", "density", "velocity", "angular_velocity"});
  return own;
}

const std::vector<ShapeReader>& shape_readers() {
  static const std::vector<ShapeReader> readers{
      {"plane", with_common({"point", "normal"}), read_plane},
      {"sphere", with_common({"center", "radius"}), read_sphere},
      {"capsule", with_common({"from", "to", "radius"}), read_capsule},
      {"cylinder", with_common({"center", "axis", "radius", "length"}), read_cylinder},
      {"comb",
       with_common({"base", "tooth_direction", "row_direction", "teeth", "tooth_diameter", "tooth_spacing",
                    "tooth_length", "handle_diameter"}),
       read_comb},
      {"mesh", with_common({"file", "unit", "up", "position", "thickness", "first", "last", "rate", "checksum"}),
       read_mesh_shape},
  };
  return readers;
}

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

/// The mass or density that frees a body, and how it starts.
void read_free_body(const TableReader& table, bodies::Obstacle& body) {
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
  const char* key = by_mass ? "mass" : "density";
  table.exclusive(key, {"motion", "reference"});
  if (by_mass) {
    table.exclusive("mass", {"density"});
    body.mass = table.required("mass", {files::dimensions::mass, limits::mass}, "the mass of a free body");
  } else {
    const double density = table.required("density", {files::dimensions::density, limits::density}, "of a free body");
    body.mass = density * bodies::volume(body.shape);
    if (!limits::mass.contains(body.mass))
      table.fail(key, fmt::format("makes a mass of {} kg; expected {} to {}", files::number(body.mass),
                                  files::number(limits::mass.least), files::number(limits::mass.most)));
  }
  table.read("velocity", body.velocity.linear, {files::dimensions::velocity, limits::speed});
  table.read("angular_velocity", body.velocity.angular, {files::dimensions::angular_velocity, limits::rotation});
}

bodies::Keyframe read_keyframe(ReaderContext& context, const TomlNode& node, const std::string& path) {
  const TableReader table(context, node, path, {"time", "displacement", "rotation", "rotation_deg"});
  bodies::Keyframe key;
  key.time = table.required("time", wanted_time, "the time of this keyframe");
  table.read("displacement", key.displacement, wanted_position);
  table.exclusive("rotation", {"rotation_deg"});
  table.read("rotation", key.rotation, {files::dimensions::angle, limits::rotation});
  table.read("rotation_deg", key.rotation, {files::dimensions::angle, limits::rotation, true});
  return key;
}

}  // namespace

bodies::Motion read_motion(ReaderContext& context, const TomlNode& node, const std::string& path) {
  const TableReader table(context, node, path,
                          {"keyframes", "interpolation", "velocity", "angular_velocity", "start", "stop"});
  bodies::Motion motion;
  if (const TomlNode* keys = table.find("keyframes")) {
    if (!keys->is(TomlNode::Kind::array) || keys->items.empty() || keys->items.size() > limits::keyframes) {
      context.fail(
          *keys,
          fmt::format("{}.keyframes is {}; expected an array of 1 to {} tables {{ time, displacement, rotation }}",
                      path, describe(*keys), limits::keyframes));
    }
    for (std::size_t i = 0; i < keys->items.size(); ++i) {
      motion.keyframes.push_back(read_keyframe(context, keys->items[i], fmt::format("{}.keyframes[{}]", path, i)));
      if (i > 0 && !(motion.keyframes[i].time > motion.keyframes[i - 1].time)) {
        context.fail(
            keys->items[i],
            fmt::format("{}.keyframes[{}].time is {} s; expected one after the keyframe before it, {} s", path, i,
                        files::number(motion.keyframes[i].time), files::number(motion.keyframes[i - 1].time)));
      }
    }
  }
  static const std::vector<std::string> interpolations{"linear", "smooth"};
  std::string interpolation = interpolations[0];
  table.read("interpolation", interpolation, interpolations);
  motion.interpolation =
      interpolation == "smooth" ? bodies::Motion::Interpolation::smooth : bodies::Motion::Interpolation::linear;
  table.read("velocity", motion.velocity, {files::dimensions::velocity, limits::speed});
  table.read("angular_velocity", motion.angular_velocity, {files::dimensions::angular_velocity, limits::rotation});
  table.read("start", motion.start, wanted_time);
  table.read("stop", motion.stop, {files::dimensions::time, {-1e9, 1e300}});
  if (!(motion.stop > motion.start)) {
    table.fail("stop", fmt::format("is {} s; expected a time after start, {} s", files::number(motion.stop),
                                   files::number(motion.start)));
  }
  return motion;
}

scene::Obstacle read_obstacle(ReaderContext& context, const TomlNode& node, std::size_t index) {
  const std::string place = fmt::format("obstacles[{}]", index);
  if (!node.is(TomlNode::Kind::table))
    context.fail(node, fmt::format("{} is {}; expected a table", place, describe(node)));
  std::vector<std::string> names;
  for (const ShapeReader& reader : shape_readers()) names.push_back(reader.name);
  const TomlNode& shape_node = require_member(context, node, place, "shape", files::alternatives(names));
  const std::string shape = read_word(context, shape_node, place + ".shape", names);
  const TomlNode& name_node = require_member(context, node, place, "name", "a name of its own");

  scene::Obstacle out;
  out.location = node.location;
  out.body.name = read_text(context, name_node, place + ".name");
  if (out.body.name.empty())
    context.fail(name_node, fmt::format("{}.name is empty; expected a name of its own", place));
  for (const ShapeReader& reader : shape_readers()) {
    if (reader.name != shape) continue;
    const TableReader table(context, node, "obstacles." + one_line(out.body.name, 40), reader.keys);
    out.body.shape = reader.read(table);
    if (shape == "mesh") read_mesh_obstacle(table, out);
    out.body.reference = shape == "mesh" ? out.mesh.position : natural_reference(out.body.shape);
    table.read("reference", out.body.reference, wanted_position);
    out.body.material_name = out.body.name;
    if (const TomlNode* material = table.find("material"))
      out.body.material_name = read_text(context, *material, table.path("material"));
    if (const TomlNode* motion = table.find("motion"))
      out.body.motion = read_motion(context, *motion, table.path("motion"));
    read_free_body(table, out.body);
  }
  return out;
}

}  // namespace tresse::scene_file::detail
