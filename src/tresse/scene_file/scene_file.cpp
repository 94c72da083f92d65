#include <tresse/scene_file/scene_file.hpp>

#include <fmt/format.h>

#include <algorithm>

#include <cmath>
#include <set>

#include <tresse/base/errors.hpp>
#include <tresse/files/atomic_file.hpp>
#include <tresse/files/text.hpp>
#include <tresse/friction/solver.hpp>
#include <tresse/scene_file/detail/scene_mesh.hpp>
#include <tresse/scene_file/detail/scene_reader.hpp>
#include <tresse/scene_file/detail/scene_settings.hpp>

namespace tresse::scene_file {
namespace {

using namespace detail;
namespace limits = scene::limits;

const Wanted wanted_tolerance{files::dimensions::ratio, limits::tolerance};

/// A plain number is a gravity along -z.
void read_gravity(const TableReader& table, Vector3& gravity) {
  const TomlNode* node = table.find("gravity");
  table.without("gravity", {gravity.x(), gravity.y(), gravity.z()});
  if (node == nullptr) return;
  const Wanted wanted{files::dimensions::acceleration, limits::acceleration};
  if (node->is(TomlNode::Kind::array)) {
    gravity = read_vector(table.context(), *node, table.path("gravity"), wanted);
  } else {
    gravity = Vector3(0.0, 0.0, -read_number(table.context(), *node, table.path("gravity"), wanted));
  }
}

/// A vector, or a table for gusts.
void read_wind(const TableReader& table, scene::Scene& scene) {
  const Wanted wanted{files::dimensions::velocity, limits::speed};
  const TomlNode* node = table.find("wind");
  if (node == nullptr || !node->is(TomlNode::Kind::table)) {
    table.read("wind", scene.wind, wanted);
    return;
  }
  const TableReader wind(table.context(), *node, table.path("wind"), {"mean", "gust", "period"});
  wind.read("mean", scene.wind, wanted);
  wind.require("gust", "the velocity that a gust adds at its height");
  wind.read("gust", scene.gust, wanted);
  scene.gust_period =
      wind.required("period", {files::dimensions::time, limits::gust_period}, "the time from one gust to the next");
}

void read_simulation(ReaderContext& context, const TomlNode* node, scene::Scene& scene) {
  if (node == nullptr) return;
  const TableReader table(context, *node, "simulation",
                          {"time_step", "duration", "gravity", "wind", "seed", "scheme", "theta", "step_error",
                           "nonlinear_tolerance", "max_nonlinear_iterations"});
  scene::Integrator& out = scene.integrator;
  table.read("time_step", out.time_step, {files::dimensions::time, limits::time_step});
  table.read("duration", out.duration, {files::dimensions::time, limits::time});
  if (out.duration / out.time_step > limits::steps) {
    table.fail("time_step", fmt::format("is {} s for a duration of {} s; expected at most {} steps",
                                        files::number(out.time_step), files::number(out.duration), limits::steps));
  }
  read_gravity(table, scene.gravity);
  read_wind(table, scene);
  table.without("seed", scene.seed);
  if (const TomlNode* seed = table.find("seed")) {
    double value = read_number(context, *seed, table.path("seed"), {files::dimensions::ratio, {0.0, limits::seed}});
    if (value != std::floor(value))
      table.fail("seed", fmt::format("is {}; expected a whole number", files::number(value)));
    scene.seed = static_cast<std::uint64_t>(value);
  }
  static const std::vector<std::string> schemes(scene::scheme_names.begin(), scene::scheme_names.end());
  table.read("theta", out.theta, {files::dimensions::ratio, scene::limits::theta});
  if (out.theta < 1.0) out.scheme = "semi-implicit";
  table.read("scheme", out.scheme, schemes);
  if (out.scheme == "carried" && out.theta < 1.0) {
    table.fail("theta",
               fmt::format("is {} in the scheme \"carried\"; expected 1, or another scheme", files::number(out.theta)));
  }
  table.read("step_error", out.step_error, {files::dimensions::length, limits::step_error});
  if (out.step_error > 0.0 && out.theta == 0.5) {
    table.fail("step_error", "is above 0 with a theta of 0.5; expected theta above 0.5: the estimate needs it");
  }
  table.read("nonlinear_tolerance", out.nonlinear_tolerance, wanted_tolerance);
  table.read("max_nonlinear_iterations", out.max_nonlinear_iterations, 1, limits::iterations);
}

void read_contact(ReaderContext& context, const TomlNode* node, scene::Contact& out) {
  if (node == nullptr) return;
  const TableReader table(context, *node, "contact",
                          {"detection", "tolerance", "proxy_segments", "margin", "push_out_speed", "self_contact",
                           "fibre_contact", "overlap", "relinearisations", "max_relinearisations", "max_halvings"});
  static const std::vector<std::string> methods{"certified", "branch-and-bound", "segments"};
  table.read("detection", out.detection, methods);
  // A size in parameter space for branch and bound, relative to the curves' length otherwise.
  const bool length = out.detection == "branch-and-bound";
  table.read("tolerance", out.tolerance,
             {length ? files::dimensions::length : files::dimensions::ratio, limits::tolerance});
  table.read("proxy_segments", out.proxy_segments, 1, limits::proxy_segments);
  table.read("margin", out.margin, {files::dimensions::length, limits::margin});
  table.read("push_out_speed", out.push_out_speed, {files::dimensions::velocity, limits::push_out_speed});
  table.read("self_contact", out.self_contact);
  table.read("fibre_contact", out.fibre_contact);
  table.read("overlap", out.overlap, {files::dimensions::ratio, limits::overlap});
  table.read("relinearisations", out.relinearisations, -1, limits::relinearisations);
  table.read("max_relinearisations", out.max_relinearisations, 0, limits::max_relinearisations);
  table.read("max_halvings", out.max_halvings, 0, limits::max_halvings);
}

void read_solver(ReaderContext& context, const TomlNode* node, scene::FrictionSolver& out) {
  if (node == nullptr) return;
  const TableReader table(context, *node, "solver", {"name", "facets", "tolerance", "max_iterations"});
  static const std::vector<std::string> names(friction::solver_names.begin(), friction::solver_names.end());
  table.read("name", out.name, names);
  table.read("facets", out.facets, 0, limits::facets);
  table.read("tolerance", out.tolerance, wanted_tolerance);
  table.read("max_iterations", out.max_iterations, 1, limits::iterations);
}

void read_output(ReaderContext& context, const TomlNode* node, scene::Output& out) {
  if (node == nullptr) return;
  const TableReader table(context, *node, "output", {"every", "checkpoint_every", "points_per_element"});
  table.read("every", out.every, 1, limits::iterations);
  table.read("checkpoint_every", out.checkpoint_every, 1, limits::iterations);
  table.read("points_per_element", out.points_per_element, 1, limits::points_per_element);
}

void read_statics(ReaderContext& context, const TomlNode* node, scene::Statics& out) {
  if (node == nullptr) return;
  const TableReader table(context, *node, "statics", {"tolerance", "max_iterations", "load_steps"});
  table.read("tolerance", out.tolerance, wanted_tolerance);
  table.read("max_iterations", out.max_iterations, 1, limits::iterations);
  table.read("load_steps", out.load_steps, 1, limits::iterations);
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
    if (scene::has_free_bodies(scene)) return;
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
  if (!held || scene.integrator.scheme != "nonlinear") return;
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

SceneDocument detail::parse_document(std::string_view text, std::string_view file_name, const ParameterOverrides& set,
                                     SceneRecorder* recorder, bool leave_meshes) {
  TomlNode root = parse_toml(text, file_name);
  const ParameterOverrides of_parameters = apply_settings(root, set);
  const Parameters parameters(root.find("parameters"), text, file_name, of_parameters);
  ReaderContext context{std::string(file_name), parameters, set, {}, {}, recorder, leave_meshes};
  const TableReader table(context, root, "the scene",
                          {"title", "parameters", "simulation", "materials", "friction", "contact", "solver", "output",
                           "statics", "fibres", "obstacles"});
  SceneDocument out;
  scene::Scene& scene = out.scene;
  if (const TomlNode* title = table.find("title")) scene.title = read_text(context, *title, "title");
  read_simulation(context, table.find("simulation"), scene);
  read_contact(context, table.find("contact"), scene.contact);
  read_solver(context, table.find("solver"), scene.solver);
  read_output(context, table.find("output"), scene.output);
  read_statics(context, table.find("statics"), scene.statics);
  Materials materials = read_materials(context, table.find("materials"));
  read_obstacles(context, root, scene);
  read_fibres(context, root, materials, scene);
  for (const scene::Obstacle& obstacle : scene.obstacles) materials.names.insert(obstacle.body.material_name);
  for (const scene::FibreGroup& group : scene.fibres) materials.names.insert(group.material_name);
  scene.friction = read_friction(context, table.find("friction"), materials.names);
  refuse_nonlinear_holds(context, root, scene);
  check_embeddings(context, root, scene);
  try {
    scene::validate(scene);
  } catch (const InvalidInput& error) {
    throw InvalidInput(at(file_name, {}, error.what()));
  }
  out.parameters = parameters.list();
  out.origins = std::move(context.origins);
  out.imports = std::move(context.imports);
  if (recorder != nullptr) recorder->close();
  return out;
}

SceneDocument parse_scene_document(std::string_view text, std::string_view file_name, const ParameterOverrides& set) {
  return detail::parse_document(text, file_name, set, nullptr);
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
  return detail::parse_document(text, file_name, {}, nullptr, true).scene;
}

std::vector<std::filesystem::path> files_of(const std::filesystem::path& file, const SceneDocument& document) {
  std::vector<std::filesystem::path> out{file};
  for (const scene::Obstacle& obstacle : document.scene.obstacles) {
    const scene::MeshFile& mesh = obstacle.mesh;
    if (mesh.file.empty()) continue;
    for (int frame = mesh.first; frame <= (mesh.animated ? mesh.last : mesh.first); ++frame)
      out.push_back(detail::mesh_frame_file(mesh, frame));
  }
  for (const Import& import : document.imports) out.emplace_back(import.file);
  return out;
}

}  // namespace tresse::scene_file
