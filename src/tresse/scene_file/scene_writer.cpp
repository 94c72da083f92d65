#include <fmt/format.h>

#include <algorithm>
#include <concepts>
#include <functional>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <tresse/files/text.hpp>
#include <tresse/scene_file/detail/scene_entries.hpp>
#include <tresse/scene_file/scene_file.hpp>

namespace tresse::scene_file {
namespace {

using namespace detail;

/// Appends lines of TOML.
class Writer {
 public:
  void comment(std::string_view text) { line("# {}", one_line(text, 2000)); }
  void blank() { out_ += '\n'; }
  void header(std::string_view name) { line("\n[{}]", name); }
  void element(std::string_view name) { line("\n[[{}]]", name); }
  void entry(std::string_view key, std::string_view value) { line("{} = {}", key, value); }
  void lines(const Entries& entries) { line("{}", entries.text()); }
  /// What the list shows of `x`, a line each.
  template <class List, class T>
  void entries(const T& x, std::vector<std::string_view> left_out = {}) {
    lines(Entries("\n", std::move(left_out)).add<List>(x));
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
  scene::for_each_settings_table(scene, [&]<class Settings>(const Settings& settings) {
    if constexpr (std::same_as<Settings, scene::Fluid>) {
      if (settings.viscosity == 0.0) return;
    }
    out.header(scene::Table<Settings>::name);
    std::vector<std::string_view> left_out;
    if constexpr (std::same_as<Settings, scene::FrictionSolver>) {
      if (!settings.facets) left_out = {"facets"};  // of another law, which is named only where it is asked for
    }
    if constexpr (std::same_as<Settings, scene::Contact>) {
      if (settings.law == laws::Law::coulomb) left_out = {"penalty"};
    }
    out.entries<Settings>(settings, left_out);
  });
}

template <class OfTable>
void write_pairs(Writer& out, const OfTable& table) {
  out.header(scene::Table<OfTable>::name);
  out.entries<OfTable>(table);
  std::string pairs;
  for (const auto& [names, coefficient] : table.pairs) {
    if (names.second < names.first) continue;  // both orders are in the table
    const scene::MaterialPair<OfTable> pair{{names.first, names.second}, coefficient};
    pairs += fmt::format("\n  {{ {} }},", Entries(", ").add<scene::MaterialPair<OfTable>>(pair).text());
  }
  if (!pairs.empty()) out.entry("pairs", "[" + pairs + "\n]");
}

/// One material a group: two groups may share a name with different constants only in scenes that no file made.
void write_materials(Writer& out, const scene::Scene& scene) {
  std::vector<std::string> written;
  const auto write = [&](const auto& body) {
    if (std::find(written.begin(), written.end(), body.material_name) != written.end()) return;
    written.push_back(body.material_name);
    out.header("materials." + quoted_text(body.material_name));
    out.entries<rods::Material>(body.material);
  };
  for (const scene::FibreGroup& group : scene.fibres) write(group);
  for (const scene::Surface& surface : scene.surfaces) {
    if (!scene::is_cloth(surface)) write(surface);
  }
}

void write_fabrics(Writer& out, const scene::Scene& scene) {
  std::vector<std::string> written;
  for (const scene::Surface& surface : scene.surfaces) {
    const std::string& name = surface.material_name;
    if (!scene::is_cloth(surface) || std::find(written.begin(), written.end(), name) != written.end()) continue;
    written.push_back(name);
    out.header("fabrics." + quoted_text(name));
    out.entries<scene::Fabric>(surface.cloth.fabric);
  }
}

/// One number where all are the same.
std::string lengths_text(const std::vector<double>& values) {
  if (std::adjacent_find(values.begin(), values.end(), std::not_equal_to<>()) == values.end())
    return number_text(values.front());
  return joined(values, number_text);
}

/// "length = l, elements = n" where that makes the same lengths, as it does of most files.
std::string elements_text(const std::vector<double>& lengths) {
  const auto count = static_cast<int>(lengths.size());
  const double length = count * lengths.front();
  if (std::all_of(lengths.begin(), lengths.end(), [&](double l) { return l == length / count; }))
    return fmt::format("length = {}, elements = {}", number_text(length), count);
  return "element_lengths = " + joined(lengths, number_text);
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

/// A group as its list has it. Sections are kept in another form, and strands have shapes and places of their own.
class GroupEntries : public Entries {
 public:
  explicit GroupEntries(const scene::FibreGroup& group) : Entries("\n"), group_(group) {
    scene::Table<scene::FibreGroup>::fields(group, *this);
  }

  template <class T>
  void operator()(const scene::Field& field, const T& value) {
    Entries::operator()(field, value);
  }
  void operator()(const scene::Field& field, const std::vector<double>& lengths) {
    if (group_.strands.empty()) Entries::operator()(field, lengths);
  }
  void operator()(const scene::Field& field, const std::vector<Vector3>& curvatures) {
    if (group_.strands.empty()) Entries::operator()(field, curvatures);
  }
  void operator()(const scene::Field& field, const scene::Unkept<int>&) {  // the number of elements
    if (group_.strands.empty()) entry(field.key, fmt::format("{}", group_.element_lengths.size()));
  }
  void operator()(const scene::Field& field, const scene::Unkept<scene::Ellipse>&) {
    if (!group_.strands.empty()) return;
    scene::Ellipse axes;
    for (const rods::CrossSection& section : group_.sections) {
      axes.half_axis_1.push_back(section.half_axis_1);
      axes.half_axis_2.push_back(section.half_axis_2);
    }
    Entries::operator()(field, axes);
  }
  void operator()(const scene::Field& field, const scene::Root& root) {
    entry(field.key, group_.strands.empty() ? root_text(root) : root_text(root, {"position", "frame"}));
  }
  void operator()(const scene::Field& field, const scene::Grid& grid) {
    const bool branches = group_.root.condition == rods::RootCondition::carried;
    if (group_.strands.empty() && !group_.cap && !group_.ring && !branches) Entries::operator()(field, grid);
  }
  void operator()(const scene::Field& field, const scene::Growth& growth) {
    if (growth.factor != 1.0) Entries::operator()(field, growth);
  }

 private:
  const scene::FibreGroup& group_;
};

void write_obstacle(Writer& out, const scene::Obstacle& obstacle) {
  const bodies::Obstacle& body = obstacle.body;
  out.element("obstacles");
  out.entry("name", quoted_text(body.name));
  out.entry("material", quoted_text(body.material_name));
  out.entry("shape", quoted_text(bodies::word(body.shape)));
  const auto write_shape = [&]<class Shape>(const Shape& shape) {
    if constexpr (!bodies::FromFile<Shape>)
      out.entries<Shape>(shape);
    else if (obstacle.mesh.animated)
      out.entries<Shape>(obstacle);
    else
      out.entries<Shape>(obstacle, {"first", "last", "rate"});
  };
  std::visit(write_shape, body.shape);
  if (body.mass > 0.0)
    out.entries<scene::FreeBody>(obstacle);
  else
    out.entries<scene::Obstacle>(obstacle, {"name", "material"});
}

}  // namespace

std::string detail::number_text(double value) {
  std::string out = fmt::format("{}", value);
  // TOML tells integers from floats: keep a float a float, beyond 2^63 it would not parse otherwise.
  if (out.find_first_of(".en") == std::string::npos) out += ".0";
  return out;
}

std::string detail::vector_text(const Vector3& v) {
  return fmt::format("[{}, {}, {}]", number_text(v.x()), number_text(v.y()), number_text(v.z()));
}

std::string detail::quoted_text(std::string_view text) {
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

std::string detail::strand_text(const scene::Strand& strand) {
  std::string out =
      fmt::format("\n  {{ position = {}, frame = [{}, {}, {}], {}, {}, natural_curvature = {}",
                  vector_text(strand.position), vector_text(strand.frame.col(0)), vector_text(strand.frame.col(1)),
                  vector_text(strand.frame.col(2)), elements_text(strand.element_lengths),
                  sections_text(strand.sections), joined(strand.natural_curvature, vector_text));
  if (strand.initial_curvature != strand.natural_curvature)
    out += ", initial_curvature = " + joined(strand.initial_curvature, vector_text);
  return out + " }";
}

std::string write_resolved(const scene::Scene& scene, const std::vector<Parameter>& parameters) {
  Writer out;
  out.comment("Scene as resolved: SI units, every default written out.");
  write_parameters(out, parameters);
  out.entry("title", quoted_text(scene.title));
  write_settings(out, scene);
  write_materials(out, scene);
  write_fabrics(out, scene);
  write_pairs(out, scene.friction);
  if (scene.friction_kinetic.default_coefficient || !scene.friction_kinetic.pairs.empty())
    write_pairs(out, scene.friction_kinetic);
  if (scene.restitution.default_coefficient > 0.0 || !scene.restitution.pairs.empty())
    write_pairs(out, scene.restitution);
  for (const scene::FibreGroup& group : scene.fibres) {
    out.element("fibres");
    out.lines(GroupEntries(group));
  }
  for (const scene::Obstacle& obstacle : scene.obstacles) write_obstacle(out, obstacle);
  for (const scene::Surface& surface : scene.surfaces) {
    out.element("surfaces");
    if (scene::is_cloth(surface))
      out.entries<scene::ClothSurface>(surface);
    else
      out.entries<scene::Surface>(surface);
  }
  if (scene.grains) {
    out.header("grains");
    out.entries<scene::Grains>(*scene.grains);
  }
  return out.take();
}

std::string write_resolved(const SceneDocument& document) {
  return write_resolved(document.scene, document.parameters);
}

}  // namespace tresse::scene_file
