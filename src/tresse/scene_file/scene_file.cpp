#include <tresse/scene_file/scene_file.hpp>

#include <fmt/format.h>

#include <algorithm>

#include <concepts>
#include <set>

#include <tresse/base/errors.hpp>
#include <tresse/files/atomic_file.hpp>
#include <tresse/files/text.hpp>
#include <tresse/scene/time_step.hpp>
#include <tresse/scene_file/detail/scene_mesh.hpp>
#include <tresse/scene_file/detail/scene_reader.hpp>
#include <tresse/scene_file/detail/scene_settings.hpp>

namespace tresse::scene_file {
namespace {

using namespace detail;
namespace limits = scene::limits;

/// The tables of settings, each with what its list shows. Returns whether the program is to choose the time step.
bool read_settings(const TableReader& table, scene::Scene& scene) {
  bool chosen = true;
  scene::for_each_settings_table(scene, [&]<class Settings>(Settings& settings) {
    const std::string_view name = scene::Table<Settings>::name;
    const TomlNode* node = table.find(name);
    if (node == nullptr) return;
    const TableReader own(table.context(), *node, std::string(name), description<Settings>());
    scene::Table<Settings>::fields(settings, own);
    if constexpr (std::same_as<Settings, scene::Simulation>) {
      // The carried scheme cannot take forces before the end of a step.
      if (!own.has("scheme") && settings.theta < 1.0) settings.scheme = dynamics::Scheme::semi_implicit;
      chosen = own.leaves("time_step");
    }
    own.check<Settings>(settings);
  });
  return chosen;
}

const TomlNode* array_of_tables(ReaderContext& context, const TomlNode& root, std::string_view key, int most) {
  const TomlNode* node = root.find(key);
  if (node == nullptr) return nullptr;
  if (!node->is(TomlNode::Kind::array)) {
    context.fail(*node,
                 fmt::format("\"{}\" is {}; expected tables [[{}]], in double brackets", key, describe(*node), key));
  }
  if (node->items.size() > static_cast<std::size_t>(most)) {
    context.fail(*node, fmt::format("{} tables [[{}]]; expected at most {}", node->items.size(), key, most));
  }
  return node;
}

void read_obstacles(ReaderContext& context, const TomlNode& root, scene::Scene& scene) {
  const TomlNode* node = array_of_tables(context, root, "obstacles", limits::obstacles);
  if (node == nullptr) return;
  std::set<std::string> names;
  for (std::size_t i = 0; i < node->items.size(); ++i) {
    scene.obstacles.push_back(read_obstacle(context, node->items[i], i));
    const std::string& name = scene.obstacles.back().body.name;
    if (!names.insert(name).second) {
      context.fail(*node->items[i].find("name"),
                   fmt::format("obstacles[{}].name is {}, the name of an obstacle above; expected a name of its own", i,
                               files::in_quotes(name, 40)));
    }
  }
}

void read_surfaces(ReaderContext& context, const TomlNode& root, Materials& materials, scene::Scene& scene) {
  const TomlNode* node = array_of_tables(context, root, "surfaces", limits::surfaces);
  if (node == nullptr) return;
  std::set<std::string> names;
  for (std::size_t i = 0; i < node->items.size(); ++i) {
    scene.surfaces.push_back(read_surface(context, node->items[i], i, materials));
    const std::string& name = scene.surfaces.back().name;
    if (!names.insert(name).second) {
      context.fail(*node->items[i].find("name"),
                   fmt::format("surfaces[{}].name is {}, the name of a surface above; expected a name of its own", i,
                               files::in_quotes(name, 40)));
    }
    materials.names.insert(scene.surfaces.back().material_name);
  }
}

/// Refuses a scene that no machine holds, before anything of its size is allocated.
void check_size(ReaderContext& context, const TomlNode& node, const std::vector<scene::FibreGroup>& groups,
                double& fibres, double& unknowns) {
  const scene::FibreGroup& group = groups.back();
  const double count = scene::fibre_counts(groups).back();
  if (!group.leave_out.empty() && group.leave_out.back() >= count) {
    context.fail(*node.find("leave_out"),
                 fmt::format("fibres.{}.leave_out names fibre {}; expected one of 0 to {}", one_line(group.name, 40),
                             group.leave_out.back(), files::number(count - 1.0)));
  }
  fibres += count;
  unknowns += scene::unknown_count(group, count);
  if (fibres > limits::fibres) {
    context.fail(node, fmt::format("fibres.{} makes {} fibres in all; expected at most {}", one_line(group.name, 40),
                                   files::number(fibres), limits::fibres));
  }
  if (unknowns > limits::unknowns) {
    context.fail(node,
                 fmt::format("fibres.{} makes {} unknowns in all ({} fibres of {} elements here); expected at most {}",
                             one_line(group.name, 40), files::number(unknowns), files::number(count),
                             group.element_lengths.size(), files::number(limits::unknowns)));
  }
}

void read_fibres(ReaderContext& context, const TomlNode& root, const Materials& materials, scene::Scene& scene) {
  const TomlNode* node = array_of_tables(context, root, "fibres", limits::groups);
  if (node == nullptr || node->items.empty()) {
    if (scene::has_free_bodies(scene) || root.find("surfaces") != nullptr || root.find("grains") != nullptr) return;
    context.fail(scene::Location{1, 1}, "the scene has no [[fibres]]; expected at least one");
  }
  std::set<std::string> names;
  double fibres = 0.0, unknowns = 0.0;
  for (std::size_t i = 0; i < node->items.size(); ++i) {
    scene.fibres.push_back(read_fibre_group(context, *node, scene.fibres, materials));
    const scene::FibreGroup& group = scene.fibres.back();
    if (!names.insert(group.name).second) {
      context.fail(*node->items[i].find("name"),
                   fmt::format("fibres[{}].name is {}, the name of fibres above; expected a name of its own", i,
                               files::in_quotes(group.name, 40)));
    }
    check_size(context, node->items[i], scene.fibres, fibres, unknowns);
  }
}

void refuse_nonlinear_holds(ReaderContext& context, const TomlNode& root, const scene::Scene& scene) {
  const bool held = std::any_of(scene.fibres.begin(), scene.fibres.end(),
                                [](const scene::FibreGroup& group) { return !group.holds.empty(); });
  if (!held || scene.simulation.scheme != dynamics::Scheme::nonlinear) return;
  context.fail(*root.find("simulation")->find("scheme"),
               "simulation.scheme is \"nonlinear\"; expected another scheme where points are held");
}

/// Roots stand in obstacles that the scene has and that do not move freely.
void check_embeddings(ReaderContext& context, const TomlNode& root, const scene::Scene& scene) {
  for (std::size_t i = 0; i < scene.fibres.size(); ++i) {
    const std::string& name = scene.fibres[i].root.embedded_in;
    if (name.empty()) continue;
    const auto found = std::find_if(scene.obstacles.begin(), scene.obstacles.end(),
                                    [&](const scene::Obstacle& obstacle) { return obstacle.body.name == name; });
    if (found != scene.obstacles.end() && found->body.mass == 0.0) continue;
    std::vector<std::string> known;
    for (const scene::Obstacle& obstacle : scene.obstacles) known.push_back(obstacle.body.name);
    const std::string hint = files::did_you_mean(name, known);
    const std::string wrong = found != scene.obstacles.end() ? "a free body; expected an obstacle without mass"
                              : hint.empty()                 ? "the name of no obstacle; expected one"
                                                             : "the name of no obstacle" + hint;
    context.fail(*root.find("fibres")->items[i].find("root")->find("embedded_in"),
                 fmt::format("fibres.{}.root.embedded_in is {}, {}", one_line(scene.fibres[i].name, 40),
                             files::in_quotes(name, 40), wrong));
  }
}

}  // namespace

std::string ParameterOverrides::shown(std::string_view name, std::string_view value) const {
  return fmt::format("{} {}={}", given_as, one_line(name, 60), one_line(value, 60));
}

void Import::add(const rods::FittedCurve& fit) {
  const auto elements = static_cast<int>(fit.lengths.size());
  least_elements = least_elements == 0 ? elements : std::min(least_elements, elements);
  most_elements = std::max(most_elements, elements);
  largest_distance = std::max(largest_distance, fit.largest_distance);
  ++strands;
  mean_distance += (fit.mean_distance - mean_distance) / static_cast<double>(strands);
}

namespace {

SceneDocument parse_document(std::string_view text, std::string_view file_name, const ParameterOverrides& set,
                             bool leave_meshes) {
  TomlNode root = parse_toml(text, file_name);
  const ParameterOverrides of_parameters = apply_settings(root, set);
  const Parameters parameters(root.find("parameters"), text, file_name, of_parameters);
  ReaderContext context{std::string(file_name), parameters, set, {}, {}, leave_meshes};
  const TableReader table(context, root, "the scene", description<scene::Scene>());
  SceneDocument out;
  scene::Scene& scene = out.scene;
  if (const TomlNode* title = table.find("title")) scene.title = read_text(context, *title, "title");
  const bool choose = read_settings(table, scene);
  Materials materials = read_materials(context, table.find("materials"));
  read_fabrics(context, table.find("fabrics"), materials);
  read_obstacles(context, root, scene);
  read_fibres(context, root, materials, scene);
  read_surfaces(context, root, materials, scene);
  if (const TomlNode* grains = table.find("grains")) scene.grains = read_grains(context, *grains, scene.obstacles);
  for (const scene::Obstacle& obstacle : scene.obstacles) materials.names.insert(obstacle.body.material_name);
  for (const scene::FibreGroup& group : scene.fibres) materials.names.insert(group.material_name);
  read_pairs(table, materials.names, scene.friction);
  read_pairs(table, materials.names, scene.friction_kinetic);
  read_pairs(table, materials.names, scene.restitution);
  refuse_nonlinear_holds(context, root, scene);
  check_embeddings(context, root, scene);
  try {
    scene::validate(scene);
    if (choose) {
      scene::TimeStepChoice choice = scene::choose_time_step(scene);
      scene.simulation.time_step = choice.step;
      out.time_step_reason = std::move(choice.reason);
    }
  } catch (const InvalidInput& error) {
    throw InvalidInput(at(file_name, {}, error.what()));
  }
  out.parameters = parameters.list();
  out.origins = std::move(context.origins);
  out.imports = std::move(context.imports);
  return out;
}

}  // namespace

SceneDocument parse_scene_document(std::string_view text, std::string_view file_name, const ParameterOverrides& set) {
  return parse_document(text, file_name, set, false);
}

namespace {

/// The text of a scene file.
std::string read_scene_text(const std::filesystem::path& file) {
  std::string text = files::read_file(file, "a scene file");
  require(!text.starts_with("\x89HDF\r\n"), [&] {
    return fmt::format(
        "{}: is an HDF5 file, such as a state that a run kept, which tresse run goes on from; expected a "
        "scene (.toml)",
        file.string());
  });
  return text;
}

}  // namespace

SceneDocument read_scene_document(const std::filesystem::path& file, const ParameterOverrides& set) {
  return parse_scene_document(read_scene_text(file), file.string(), set);
}

std::vector<Parameter> read_parameters(const std::filesystem::path& file, const ParameterOverrides& set) {
  const std::string name = file.string();
  const std::string text = read_scene_text(file);
  TomlNode root = parse_toml(text, name);
  const ParameterOverrides of_parameters = apply_settings(root, set);
  return Parameters(root.find("parameters"), text, name, of_parameters).list();
}

scene::Scene read_scene(const std::filesystem::path& file, const ParameterOverrides& set) {
  return read_scene_document(file, set).scene;
}
scene::Scene parse_scene(std::string_view text, std::string_view file_name, const ParameterOverrides& set) {
  return parse_scene_document(text, file_name, set).scene;
}

scene::Scene parse_scene_without_meshes(std::string_view text, std::string_view file_name) {
  return parse_document(text, file_name, {}, true).scene;
}

std::vector<std::filesystem::path> files_of(const std::filesystem::path& file, const SceneDocument& document) {
  std::vector<std::filesystem::path> out{file};
  for (const scene::Obstacle& obstacle : document.scene.obstacles) {
    const scene::MeshFile& mesh = obstacle.mesh;
    if (mesh.file.empty()) continue;
    for (int frame = mesh.first; frame <= (mesh.animated ? mesh.last : mesh.first); ++frame)
      out.push_back(detail::mesh_frame_file(mesh, frame));
  }
  for (const scene::Surface& surface : document.scene.surfaces) {
    if (scene::is_cloth(surface) && surface.cloth.mesh) out.emplace_back(surface.cloth.mesh->file);
  }
  for (const Import& import : document.imports) out.emplace_back(import.file);
  return out;
}

}  // namespace tresse::scene_file
