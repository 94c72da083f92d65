#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <string_view>

#include <tresse/files/text.hpp>
#include <tresse/scene_file/scene_file.hpp>

namespace tresse::scene_file {
namespace {

/// Appends TOML; the shortest digits that read back as the same double.
class Writer {
 public:
  void comment(std::string_view text) { line("# {}", one_line(text, 2000)); }
  void blank() { out_ += '\n'; }
  void header(std::string_view name) { line("\n[{}]", name); }
  void element(std::string_view name) { line("\n[[{}]]", name); }
  void entry(std::string_view key, std::string_view value) { line("{} = {}", key, value); }
  void entry(std::string_view key, double value) { entry(key, number(value)); }
  void entry(std::string_view key, int value) { line("{} = {}", key, value); }
  void entry(std::string_view key, bool value) { entry(key, std::string_view(value ? "true" : "false")); }
  void entry(std::string_view key, const Vector3& value) { entry(key, vector(value)); }
  void text(std::string_view key, std::string_view value) { entry(key, quoted(value)); }
  template <typename Range, typename Format>
  void list(std::string_view key, const Range& values, Format&& format) {
    entry(key, joined(values, format));
  }

  static std::string number(double value) {
    std::string out = fmt::format("{}", value);
    // TOML tells integers from floats: keep a float a float, beyond 2^63 it would not parse otherwise.
    if (out.find_first_of(".en") == std::string::npos) out += ".0";
    return out;
  }
  static std::string vector(const Vector3& v) {
    return fmt::format("[{}, {}, {}]", number(v.x()), number(v.y()), number(v.z()));
  }
  /// A basic string; "${" must not be taken for a parameter, and no resolved text holds one that is meant.
  static std::string quoted(std::string_view text) {
    std::string out = "\"";
    for (const char c : text) {
      const auto byte = static_cast<unsigned char>(c);
      if (c == '"' || c == '\\') {
        out += '\\';
        out += c;
      } else if (byte < 0x20 || byte == 0x7f) {
        out += fmt::format("\\u{:04X}", byte);
      } else {
        out += c;
      }
    }
    return out + '"';
  }
  template <typename Range, typename Format>
  static std::string joined(const Range& values, Format&& format) {
    std::string out = "[";
    for (const auto& value : values) out += fmt::format("{}{}", out.size() > 1 ? ", " : "", format(value));
    return out + "]";
  }

  std::string take() { return std::move(out_); }

 private:
  template <typename... Arguments>
  void line(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    fmt::format_to(std::back_inserter(out_), format, std::forward<Arguments>(arguments)...);
    out_ += '\n';
  }
  std::string out_;
};

void write_parameters(Writer& out, const std::vector<Parameter>& parameters) {
  if (parameters.empty()) return;
  out.comment("Parameters, already substituted below:");
  for (const Parameter& parameter : parameters) {
    out.comment(
        fmt::format("  {} = {}{}{}{}", parameter.name, parameter.value,
                    parameter.overridden ? fmt::format(" (set; the scene itself has {})", parameter.file_value) : "",
                    parameter.description.empty() ? "" : "  # ", parameter.description));
  }
  out.blank();
}

void write_settings(Writer& out, const scene::Scene& scene) {
  out.header("simulation");
  out.entry("time_step", scene.integrator.time_step);
  out.entry("duration", scene.integrator.duration);
  out.entry("gravity", scene.gravity);
  if (scene.gust.isZero(0.0)) {
    out.entry("wind", scene.wind);
  } else {
    out.entry("wind",
              std::string_view(fmt::format("{{ mean = {}, gust = {}, period = {} }}", Writer::vector(scene.wind),
                                           Writer::vector(scene.gust), Writer::number(scene.gust_period))));
  }
  out.entry("seed", std::string_view(fmt::format("{}", scene.seed)));
  out.text("scheme", scene.integrator.scheme);
  out.entry("theta", scene.integrator.theta);
  out.entry("step_error", scene.integrator.step_error);
  out.entry("nonlinear_tolerance", scene.integrator.nonlinear_tolerance);
  out.entry("max_nonlinear_iterations", scene.integrator.max_nonlinear_iterations);
  out.header("contact");
  out.text("detection", scene.contact.detection);
  out.entry("tolerance", scene.contact.tolerance);
  out.entry("proxy_segments", scene.contact.proxy_segments);
  out.entry("margin", scene.contact.margin);
  out.entry("push_out_speed", scene.contact.push_out_speed);
  out.entry("self_contact", scene.contact.self_contact);
  out.entry("fibre_contact", scene.contact.fibre_contact);
  out.entry("overlap", scene.contact.overlap);
  out.entry("relinearisations", scene.contact.relinearisations);
  out.entry("max_relinearisations", scene.contact.max_relinearisations);
  out.entry("max_halvings", scene.contact.max_halvings);
  out.header("solver");
  out.text("name", scene.solver.name);
  if (scene.solver.facets > 0) out.entry("facets", scene.solver.facets);
  out.entry("tolerance", scene.solver.tolerance);
  out.entry("max_iterations", scene.solver.max_iterations);
  out.header("output");
  out.entry("every", scene.output.every);
  out.entry("checkpoint_every", scene.output.checkpoint_every);
  out.entry("points_per_element", scene.output.points_per_element);
  out.header("statics");
  out.entry("tolerance", scene.statics.tolerance);
  out.entry("max_iterations", scene.statics.max_iterations);
  out.entry("load_steps", scene.statics.load_steps);
}

void write_friction(Writer& out, const scene::FrictionTable& friction) {
  out.header("friction");
  out.entry("default", friction.default_coefficient);
  std::string pairs;
  for (const auto& [names, coefficient] : friction.pairs) {
    if (names.second < names.first) continue;  // both orders are in the table
    pairs += fmt::format("\n  {{ between = [{}, {}], coefficient = {} }},", Writer::quoted(names.first),
                         Writer::quoted(names.second), Writer::number(coefficient));
  }
  if (!pairs.empty()) out.entry("pairs", std::string_view("[" + pairs + "\n]"));
}

std::string motion_text(const bodies::Motion& motion) {
  std::string keys;
  for (const bodies::Keyframe& key : motion.keyframes) {
    keys += fmt::format("{}{{ time = {}, displacement = {}, rotation = {} }}", keys.empty() ? "" : ", ",
                        Writer::number(key.time), Writer::vector(key.displacement), Writer::vector(key.rotation));
  }
  return fmt::format("{{ {}interpolation = \"{}\", velocity = {}, angular_velocity = {}, start = {}, stop = {} }}",
                     keys.empty() ? "" : fmt::format("keyframes = [{}], ", keys),
                     motion.interpolation == bodies::Motion::Interpolation::smooth ? "smooth" : "linear",
                     Writer::vector(motion.velocity), Writer::vector(motion.angular_velocity),
                     Writer::number(motion.start), Writer::number(motion.stop));
}

/// One material a group: two groups may share a name with different constants only in scenes that no file made.
void write_materials(Writer& out, const scene::Scene& scene) {
  std::vector<std::string> written;
  for (const scene::FibreGroup& group : scene.fibres) {
    if (std::find(written.begin(), written.end(), group.material_name) != written.end()) continue;
    written.push_back(group.material_name);
    out.header("materials." + Writer::quoted(group.material_name));
    out.entry("density", group.material.density);
    out.entry("young_modulus", group.material.young_modulus);
    out.entry("poisson_ratio", group.material.poisson_ratio);
    out.entry("damping_time", group.material.damping_time);
    out.entry("rotary_inertia", group.material.rotary_inertia);
  }
}

std::string embedding_text(const scene::Root& root) {
  return root.embedded_in.empty() ? "" : ", embedded_in = " + Writer::quoted(root.embedded_in);
}

std::string root_text(const scene::Root& root) {
  const bool free = root.condition == rods::RootCondition::free;
  const std::string pose = fmt::format("position = {}, frame = [{}, {}, {}]", Writer::vector(root.position),
                                       Writer::vector(root.frame.col(0)), Writer::vector(root.frame.col(1)),
                                       Writer::vector(root.frame.col(2)));
  if (root.condition == rods::RootCondition::carried) {
    return fmt::format("{{ parent = {}, at = {}, {}, roll_step = {} }}", Writer::quoted(root.parent),
                       Writer::joined(root.at, Writer::number), pose, Writer::number(root.roll_step));
  }
  std::string out = fmt::format("{{ condition = \"{}\", {}", free ? "free" : "clamped", pose);
  if (free) {
    out += fmt::format(", velocity = {}, angular_velocity = {}", Writer::vector(root.velocity),
                       Writer::vector(root.angular_velocity));
  } else {
    out += ", motion = " + motion_text(root.motion);
    if (root.reference) out += ", reference = " + Writer::vector(*root.reference);
    out += embedding_text(root);
  }
  return out + " }";
}

std::string hold_text(const scene::Hold& hold) {
  std::string out = fmt::format("{{ name = {}, at = {}, clamp = {}", Writer::quoted(hold.name), Writer::number(hold.at),
                                hold.clamp ? "true" : "false");
  if (!hold.slide.isZero(0.0)) out += ", slide = " + Writer::vector(hold.slide);
  return out + fmt::format(", motion = {}, release = {} }}", motion_text(hold.motion), Writer::number(hold.release));
}

std::string cap_text(const scene::Cap& cap) {
  return fmt::format("{{ count = {}, radius = {}, center = {}, axis = {}, angle = {}, jitter = {}, twist = {} }}",
                     cap.count, Writer::number(cap.radius), Writer::vector(cap.center), Writer::vector(cap.axis),
                     Writer::number(cap.angle), Writer::number(cap.jitter), Writer::number(cap.twist));
}

/// One number where all are the same.
std::string lengths_text(const std::vector<double>& values) {
  if (std::adjacent_find(values.begin(), values.end(), std::not_equal_to<>()) == values.end())
    return Writer::number(values.front());
  return Writer::joined(values, Writer::number);
}

/// "length = l, elements = n" where that makes the same lengths, as it does of most files.
std::string elements_text(const std::vector<double>& lengths) {
  const auto count = static_cast<int>(lengths.size());
  const double length = count * lengths.front();
  if (std::all_of(lengths.begin(), lengths.end(), [&](double l) { return l == length / count; }))
    return fmt::format("length = {}, elements = {}", Writer::number(length), count);
  return "element_lengths = " + Writer::joined(lengths, Writer::number);
}

std::string sections_text(const std::vector<rods::CrossSection>& sections) {
  std::vector<double> first, second;
  for (const rods::CrossSection& section : sections) {
    first.push_back(section.half_axis_1);
    second.push_back(section.half_axis_2);
  }
  if (first == second) return "radius = " + lengths_text(first);
  return fmt::format("section = {{ half_axis_1 = {}, half_axis_2 = {} }}", lengths_text(first), lengths_text(second));
}

std::string strand_text(const scene::Strand& strand) {
  std::string out = fmt::format("\n  {{ position = {}, frame = [{}, {}, {}], {}, {}, natural_curvature = {}",
                                Writer::vector(strand.position), Writer::vector(strand.frame.col(0)),
                                Writer::vector(strand.frame.col(1)), Writer::vector(strand.frame.col(2)),
                                elements_text(strand.element_lengths), sections_text(strand.sections),
                                Writer::joined(strand.natural_curvature, Writer::vector));
  if (strand.initial_curvature != strand.natural_curvature)
    out += ", initial_curvature = " + Writer::joined(strand.initial_curvature, Writer::vector);
  return out + " }";
}

/// Condition and motion; strands have their own places.
std::string strands_root_text(const scene::Root& root) {
  if (root.condition == rods::RootCondition::clamped) {
    const std::string reference = root.reference ? ", reference = " + Writer::vector(*root.reference) : "";
    return fmt::format("{{ condition = \"clamped\", motion = {}{}{} }}", motion_text(root.motion), reference,
                       embedding_text(root));
  }
  return fmt::format("{{ condition = \"free\", velocity = {}, angular_velocity = {} }}", Writer::vector(root.velocity),
                     Writer::vector(root.angular_velocity));
}

void write_shape(Writer& out, const scene::FibreGroup& group) {
  out.entry("elements", static_cast<int>(group.element_lengths.size()));
  out.list("element_lengths", group.element_lengths, Writer::number);
  const auto axes = [&](double rods::CrossSection::*axis) {
    return Writer::joined(group.sections,
                          [&](const rods::CrossSection& section) { return Writer::number(section.*axis); });
  };
  out.entry("section", std::string_view(fmt::format("{{ half_axis_1 = {}, half_axis_2 = {} }}",
                                                    axes(&rods::CrossSection::half_axis_1),
                                                    axes(&rods::CrossSection::half_axis_2))));
  out.list("natural_curvature", group.natural_curvature, Writer::vector);
  out.list("initial_curvature", group.initial_curvature, Writer::vector);
  out.list("initial_curvature_rate", group.initial_curvature_rate, Writer::vector);
  out.entry("root", std::string_view(root_text(group.root)));
  if (!group.holds.empty()) out.list("holds", group.holds, hold_text);
  const scene::Grid& grid = group.grid;
  if (group.cap)
    out.entry("cap", std::string_view(cap_text(*group.cap)));
  else if (group.root.condition != rods::RootCondition::carried)
    out.entry("grid", std::string_view(fmt::format(
                          "{{ count = {}, axis_1 = {}, axis_2 = {}, spacing = {}, jitter = {}, twist = {} }}",
                          grid.count, Writer::vector(grid.axis_1), Writer::vector(grid.axis_2),
                          Writer::number(grid.spacing), Writer::number(grid.jitter), Writer::number(grid.twist))));
}

void write_group(Writer& out, const scene::FibreGroup& group) {
  out.element("fibres");
  out.text("name", group.name);
  out.text("model", group.model);
  out.text("material", group.material_name);
  if (group.strands.empty()) {
    write_shape(out, group);
  } else {
    out.entry("root", std::string_view(strands_root_text(group.root)));
    out.list("strands", group.strands, strand_text);
  }
  if (!group.leave_out.empty()) out.list("leave_out", group.leave_out, [](int i) { return fmt::format("{}", i); });
  out.entry("natural_curvature_onset", group.natural_curvature_onset);
  if (group.growth_factor != 1.0) {
    out.entry("growth", std::string_view(
                            fmt::format("{{ factor = {}, begin = {}, end = {} }}", Writer::number(group.growth_factor),
                                        Writer::number(group.growth_begin), Writer::number(group.growth_end))));
  }
  out.entry("drag", group.drag);
}

struct ShapeWriter {
  Writer& out;
  const scene::MeshFile& file;
  void operator()(const bodies::Plane& s) const {
    out.text("shape", "plane");
    out.entry("point", s.point);
    out.entry("normal", s.normal);
  }
  void operator()(const bodies::Sphere& s) const {
    out.text("shape", "sphere");
    out.entry("center", s.center);
    out.entry("radius", s.radius);
  }
  void operator()(const bodies::Capsule& s) const {
    out.text("shape", "capsule");
    out.entry("from", s.from);
    out.entry("to", s.to);
    out.entry("radius", s.radius);
  }
  void operator()(const bodies::Cylinder& s) const {
    out.text("shape", "cylinder");
    out.entry("center", s.center);
    out.entry("axis", s.axis);
    out.entry("radius", s.radius);
    out.entry("length", s.length);
  }
  void operator()(const bodies::Comb& s) const {
    out.text("shape", "comb");
    out.entry("base", s.base);
    out.entry("tooth_direction", s.tooth_direction);
    out.entry("row_direction", s.row_direction);
    out.entry("teeth", s.teeth);
    out.entry("tooth_diameter", s.tooth_diameter);
    out.entry("tooth_spacing", s.tooth_spacing);
    out.entry("tooth_length", s.tooth_length);
    out.entry("handle_diameter", s.handle_diameter);
  }
  void operator()(const bodies::Mesh& s) const {
    out.text("shape", "mesh");
    out.text("file", file.file);
    out.entry("unit", file.unit);
    out.text("up", file.up);
    out.entry("position", file.position);
    out.entry("thickness", s.thickness);
    if (file.animated) {
      out.entry("first", file.first);
      out.entry("last", file.last);
      out.entry("rate", file.rate);
    }
    out.text("checksum", file.checksum);
  }
};

void write_obstacle(Writer& out, const scene::Obstacle& described) {
  const bodies::Obstacle& obstacle = described.body;
  out.element("obstacles");
  out.text("name", obstacle.name);
  out.text("material", obstacle.material_name);
  std::visit(ShapeWriter{out, described.mesh}, obstacle.shape);
  if (obstacle.mass > 0.0) {
    out.entry("mass", obstacle.mass);
    out.entry("velocity", obstacle.velocity.linear);
    out.entry("angular_velocity", obstacle.velocity.angular);
    return;
  }
  out.entry("reference", obstacle.reference);
  out.entry("motion", std::string_view(motion_text(obstacle.motion)));
}

}  // namespace

std::string write_resolved(const scene::Scene& scene, const std::vector<Parameter>& parameters) {
  Writer out;
  out.comment("Scene as resolved: SI units, every default written out.");
  write_parameters(out, parameters);
  out.text("title", scene.title);
  write_settings(out, scene);
  write_materials(out, scene);
  write_friction(out, scene.friction);
  for (const scene::FibreGroup& group : scene.fibres) write_group(out, group);
  for (const scene::Obstacle& obstacle : scene.obstacles) write_obstacle(out, obstacle);
  return out.take();
}

std::string write_resolved(const SceneDocument& document) {
  return write_resolved(document.scene, document.parameters);
}

}  // namespace tresse::scene_file
