#include "commands.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>

#include <tresse/assembly/tree.hpp>
#include <tresse/base/errors.hpp>
#include <tresse/base/words.hpp>
#include <tresse/grains/flow.hpp>
#include <tresse/laws/penalty.hpp>
#include <tresse/rods/section.hpp>
#include <tresse/scene/build.hpp>
#include <tresse/scene/fluid_numbers.hpp>
#include <tresse/scene/remarks.hpp>
#include <tresse/scene_file/scene_file.hpp>
#include <tresse/settle/leave_out.hpp>
#include <tresse/settle/push_out.hpp>

#include "common_options.hpp"
#include "messages.hpp"
#include "scene_arguments.hpp"
#include "slow_work.hpp"

namespace tresse::app {
namespace {

void print_parameters(const scene_file::SceneDocument& document) {
  if (document.parameters.empty()) return;
  print("parameters");
  for (const scene_file::Parameter& parameter : document.parameters) {
    print("  {:<20} {:<16} {}{}", parameter.name, parameter.value, parameter.description,
          parameter.overridden ? fmt::format("  [set; file: {}]", parameter.file_value) : std::string());
  }
}

/// What the numbers of one fibre group mean, before anything runs.
void print_group(const scene::Scene& scene, const scene::FibreGroup& group, double count) {
  double length = 0.0;
  double mass = 0.0;
  double turn = 0.0;
  for (std::size_t i = 0; i < group.element_lengths.size(); ++i) {
    length += group.element_lengths[i];
    mass += group.element_lengths[i] * group.material.density * rods::area(group.sections[i]);
    const bool nodal = group.natural_curvature.size() > group.element_lengths.size();
    const Vector3 curvature = nodal ? Vector3(0.5 * (group.natural_curvature[i] + group.natural_curvature[i + 1]))
                                    : group.natural_curvature[i];
    turn += group.element_lengths[i] * curvature.norm();
  }
  const Vector3 stiffness = rods::bending_stiffness(group.sections.front(), group.material);
  const double bending = std::min(stiffness[1], stiffness[2]);
  const double weight = mass / length * scene.simulation.gravity.norm();
  print("fibres '{}': {} of {}, {}, material '{}'", group.name, count,
        counted(static_cast<std::int64_t>(group.element_lengths.size()), "element"), word(group.model),
        group.material_name);
  if (!group.root.parent.empty()) print("  branches of '{}', {} on each", group.root.parent, group.root.at.size());
  print("  length {:.6g} m, mass {:.6g} kg, natural turns {:.4g}", length, mass, turn / (2 * std::numbers::pi));
  print("  EI1 {:.6g} N m^2, EI2 {:.6g} N m^2, GJ {:.6g} N m^2 at the root", stiffness[1], stiffness[2], stiffness[0]);
  if (weight > 0.0) {
    print("  gravito-bending length {:.6g} m, number {:.6g}", std::cbrt(bending / weight),
          weight * std::pow(length, 3) / bending);
  }
  constexpr double first_clamped_free_root = 1.8751040687119611;
  const double frequency = std::pow(first_clamped_free_root, 2) / (2 * std::numbers::pi) *
                           std::sqrt(bending / (mass / length * std::pow(length, 4)));
  print("  first bending frequency {:.6g} Hz: {:.4g} time steps a period", frequency,
        1.0 / (frequency * scene.simulation.time_step));
}

/// What the numbers of a cloth mean: its mass, over what length it bends, and waves against the time step.
void print_cloth(const scene::Scene& scene, const scene::Surface& surface) {
  const scene::Cloth& of = surface.cloth;
  const surfaces::Cloth cloth(scene::cloth_shape(of), of.fabric);
  const double step = scene.simulation.time_step, gravity = scene.simulation.gravity.norm();
  print("surface '{}': {} of {}, {} vertices and {}, {:.4g} m thick", surface.name, word(surface.model),
        surface.material_name, cloth.vertex_count(), counted(static_cast<std::int64_t>(cloth.faces().size()), "face"),
        surface.thickness);
  print("  area {:.6g} m^2, mass {:.6g} kg, shortest edge {:.4g} m", cloth.area(), cloth.masses().sum(),
        cloth.shortest_edge());
  if (gravity > 0.0) {
    const double bends = scene::gravito_bending_length(of.fabric, gravity);
    print("  gravito-bending length {:.4g} m: {:.3g} edges", bends, bends / cloth.shortest_edge());
    print("  under its weight a strip of a metre stretches by {:.3g} %",
          50.0 * of.fabric.area_density * gravity / std::min(of.fabric.warp_stiffness, of.fabric.weft_stiffness));
  }
  const double wave = scene::stretch_wave_speed(of.fabric);
  print("  waves of stretch go at {:.4g} m/s, {:.3g} edges a time step: beyond 1 they are damped, not lost", wave,
        wave * step / cloth.shortest_edge());
  std::size_t pinned = 0;
  const VectorX places = scene::cloth_places(of, cloth.shape());
  for (const scene::ClothPin& pin : of.pins) pinned += scene::pinned_vertices(pin, places).size();
  if (pinned > 0) print("  {} of its vertices pinned", pinned);
}

/// What the numbers of a patch mean.
void print_patch(const scene::Scene& scene, const scene::Surface& surface) {
  const double rigidity = scene::bending_rigidity(surface);
  const double density = surface.material.density * surface.thickness;
  const double side = std::max(surface.length, surface.width), weight = density * scene.simulation.gravity.norm();
  print("surface '{}': {} of {:.4g} x {:.4g} m, {:.4g} m thick, {} root", surface.name, word(surface.model),
        surface.length, surface.width, surface.thickness, word(surface.root.condition));
  print("  D {:.6g} N m, {:.6g} kg/m^2, mass {:.6g} kg", rigidity, density, density * surface.length * surface.width);
  if (weight > 0.0)
    print("  gravito-bending length {:.6g} m, number {:.6g} of its longer side", std::cbrt(rigidity / weight),
          weight * std::pow(side, 3) / rigidity);
  const double frequency = scene::bending_frequency(surface) / (2.0 * std::numbers::pi);
  print("  bends along its longer side at {:.6g} Hz: {:.4g} time steps a period", frequency,
        1.0 / (frequency * scene.simulation.time_step));
}

/// What the numbers of grains mean: the depth is that of the domain along gravity.
void print_grains(const scene::Scene& scene, const scene::Case& built) {
  if (!built.world.grains) return;
  const grains::Medium& medium = *built.world.grains;
  const grains::Flow flow(medium);
  const auto cells = grains::cell_counts(medium);
  const Vector3 size = grains::cell_size(medium), gravity = scene.simulation.gravity;
  const auto solid = std::count_if(medium.solid.begin(), medium.solid.end(), [](int filler) { return filler >= 0; });
  const bool plane = std::count(medium.cells.begin(), medium.cells.end(), 0) > 0;
  print("grains: {}, {} x {} x {} cells of {:.4g} x {:.4g} x {:.4g} m{}, {} filled by obstacles",
        word(scene.grains->model), cells[0], cells[1], cells[2], size[0], size[1], size[2],
        plane ? ", a plane flow" : "", counted(solid, "cell"));
  const int stresses = grains::cell_count(medium) - static_cast<int>(solid);
  print("  {} velocities and {} stresses unknown; the factors of a step take {:.3g} MB", flow.unknown_count(),
        (plane ? 3 : 6) * stresses, 1e-6 * grains::factor_bytes(medium));
  print("  mass {:.6g} kg; friction {:.4g}: layers hold on slopes up to {:.4g} deg", flow.mass(), medium.friction,
        std::atan(medium.friction) * 180.0 / std::numbers::pi);
  if (gravity.isZero(0.0)) return;
  const double depth = (medium.high - medium.low).cwiseProduct(gravity.cwiseAbs()).maxCoeff() / gravity.norm();
  const double fall = std::sqrt(gravity.norm() * depth);
  const double pressure = medium.density * gravity.norm() * depth, viscous = medium.viscosity * fall / depth;
  print("  under {:.4g} m of grains the pressure is {:.4g} Pa; viscosity evens out speeds over that in {:.3g} s", depth,
        pressure, medium.density * depth * depth / medium.viscosity);
  print(
      "  at the speed {:.4g} m/s of a fall by half of that: Reynolds number {:.3g}, friction over viscous stress "
      "{:.3g}",
      fall, medium.density * fall * depth / medium.viscosity, medium.friction * pressure / viscous);
}

/// Of what is made of a surface.
void print_mesh(const bodies::Obstacle& body) {
  const bodies::Surface* surface = bodies::surface_of(body.shape);
  if (!surface) return;
  const geometry::MeshTopology& topology = *surface->topology;
  const geometry::Box& box = surface->first->boxes.front();
  const Vector3 size = box.upper - box.lower;
  std::string moves;
  if (surface->moves())
    moves = fmt::format(", {} over {:.4g} s", counted(static_cast<std::int64_t>(surface->frames.size()), "frame"),
                        surface->length());
  print("  mesh of {}, {} vertices, {:.4g} x {:.4g} x {:.4g} m, {}{}",
        counted(static_cast<std::int64_t>(topology.faces().size()), "face"), topology.vertex_count(), size.x(),
        size.y(), size.z(), topology.closed() ? "closed: solid" : "open: two sides", moves);
  if (topology.degenerate() > 0)
    print("  {} left out", counted(static_cast<std::int64_t>(topology.degenerate()), "degenerate face"));
  if (!topology.closed())
    print("  {} with one face, {} with more than two", counted(static_cast<std::int64_t>(topology.rim_edges()), "edge"),
          topology.several_edges());
}

void print_import(const scene_file::Import& import) {
  std::string elements = counted(import.most_elements, "element");
  if (import.least_elements != import.most_elements)
    elements = fmt::format("{} to {}", import.least_elements, elements);
  print(
      "fibres '{}' from {}: {}, {}{}; the file's points are {:.3g} m from the fitted fibres at most, {:.3g} m on "
      "average",
      import.group, import.file, counted(import.strands, "strand"), elements, import.strands == 1 ? "" : " each",
      import.largest_distance, import.mean_distance);
}

/// What a penalty law will do to contacts.
void print_law(const scene::Scene& scene) {
  const laws::Law law = scene.contact.law;
  if (law == laws::Law::coulomb) return;
  const scene::ContactPenalty& penalty = scene.contact.penalty;
  const double delta = penalty.distance_tolerance;
  std::string gaps = "what a contact keeps of it hangs on its load";
  if (!penalty.stiffness) {
    const auto gap = [&](double share) {
      return 1e6 * laws::gap_under_load(law, share, scene::smallest_radius(scene), delta);
    };
    gaps = fmt::format("a contact keeps {:.3g} um under the largest load, {:.3g} um under a hundredth of it", gap(1.0),
                       gap(0.01));
  }
  print("law '{}': felt below a gap of {:.3g} um; {}", word(law), 1e6 * delta, gaps);
  const auto creep = [&](double share) { return 1e6 * laws::creep_speed(share, penalty.slip_velocity); };
  print("  what holds by half of its friction creeps by {:.3g} um/s, by nine tenths {:.3g} um/s, by 0.99 {:.3g} um/s",
        creep(0.5), creep(0.9), creep(0.99));
}

/// What the fluid is to the fibres: its inertia is left out.
void print_fluid(const scene::Scene& scene, const scene::Case& built) {
  if (!built.world.fluid) return;
  const scene::FluidNumbers numbers = scene::fluid_numbers(scene, built);
  constexpr double slow = 0.1;
  print("fluid of {:.3g} Pa s, {}: Reynolds number {:.2g} at {:.3g} m/s{}", scene.fluid.viscosity,
        word(scene.fluid.coupling), numbers.reynolds, numbers.speed,
        numbers.reynolds > slow ? "; the fluid's inertia, which is left out, would count: expected below 0.1" : "");
  print("  its force is implicit: taken explicitly, a time step could be {:.3g} s at most", numbers.explicit_step);
}

/// Trees of more than one fibre.
void print_trees(const assembly::World& world) {
  std::size_t trees = 0;
  std::size_t fibres = 0;
  int elements = 0;
  int dof = 0;
  for (const assembly::Tree& tree : assembly::make_forest(world).trees) {
    if (tree.fibres.size() < 2) continue;
    ++trees;
    fibres += tree.fibres.size();
    dof += tree.dof;
    for (const int f : tree.fibres) elements += world.fibres[f].model->piece_count();
  }
  if (trees > 0)
    print("trees: {}, of {} fibres, {}, {} unknowns in all", trees, fibres, counted(elements, "element"), dof);
}

// Resident memory of runs, measured: docs/reference/files.md, "Memory". [bytes]
constexpr double program_bytes = 21e6;
constexpr double element_bytes = 10e3;  ///< kinematics, pieces for the search, frames on their way to the disk
constexpr double matrix_copies = 1.9;   ///< of a fibre's dense implicit matrix
constexpr double contact_bytes = 12e3;  ///< its rows in the passes of a step, the pairs near it

/// Before any contact. [bytes]
double expected_memory(const scene::Case& built) {
  double bytes = program_bytes;
  if (built.world.grains) bytes += grains::factor_bytes(*built.world.grains);
  for (const assembly::Fibre& fibre : built.world.fibres) {
    const double dof = fibre.model->dof();
    bytes += element_bytes * fibre.model->piece_count() + matrix_copies * 8.0 * dof * dof;
  }
  return bytes;
}

void print_memory(const scene::Case& built) {
  const std::size_t fibres = built.world.fibres.size();
  const double bare = expected_memory(built);
  print("memory: about {:.3g} MB", 1e-6 * bare);
  if (fibres > 1) {
    // Wisps of 2025 fibres settle at 10 (straight) to 42 (curly) contacts a fibre. @cite crespel2024 table 4
    const std::size_t few = 10 * fibres;
    const std::size_t many = 42 * fibres;
    const auto with = [&](std::size_t contacts) {
      return 1e-6 * (bare + contact_bytes * static_cast<double>(contacts));
    };
    print("in a tight wisp: {} to {} contacts, {:.3g} to {:.3g} MB", few, many, with(few), with(many));
  }
}

/// The deepest; of many also how many there are of what with what. Returns how many there are.
std::size_t print_overlaps(const scene::Scene& scene, const scene::Case& built, bool quiet) {
  const auto overlaps = scene::initial_overlaps(built);
  if (overlaps.empty() && !quiet) print("no body overlaps another at the start");
  for (std::size_t i = 0; i < std::min(told_one_by_one, overlaps.size()); ++i) {
    print("{}", scene::describe(overlaps[i], scene, built.world));
  }
  if (overlaps.size() > told_one_by_one)
    print("... and {}; of all {}: {}",
          counted(static_cast<std::int64_t>(overlaps.size() - told_one_by_one), "more overlap"), overlaps.size(),
          scene::describe_pairs(overlaps, scene, built.world));
  return overlaps.size();
}

void print_push_out(scene::Case& built) {
  const settle::PushOut found = settle::push_out(built);
  if (found.status == Status::converged) {
    print("push-out: apart after {}, no point moved more than {:.3g} m", counted(found.rounds, "round"),
          found.largest_move);
  } else {
    print("push-out: {} after {}, an overlap of {:.3g} m is left", to_string(found.status),
          counted(found.rounds, "round"), found.deepest);
  }
}

/// What run --leave-out would do.
void try_leaving_out(scene::Scene& scene, scene::Case& built, bool pushing) {
  std::vector<std::string> messages;
  for (settle::LeftOut& one : settle::leave_out(scene, built, pushing)) messages.push_back(std::move(one.message));
  tell_left_out(print_line, messages);
  if (messages.empty()) print("no fibre has to be left out");
}

struct CheckArguments {
  SceneArguments scene;
  bool origins = false;
  bool parameters = false;
  bool push_out = false;
  bool strict = false;
  bool leave_out = false;
  int threads = 0;  ///< 0: never given, all cores
  bool quiet = false;
};

void list_parameters(const SceneArguments& arguments) {
  for (const scene_file::Parameter& parameter : scene_file::read_parameters(arguments.file, arguments.overrides()))
    print("{}={}{}", parameter.name, parameter.value,
          parameter.description.empty() ? std::string() : "  # " + parameter.description);
}

void print_scene(const std::string& file, const scene_file::SceneDocument& document, const scene::Case& built) {
  const scene::Scene& scene = document.scene;
  print("{}", scene.title.empty() ? file : scene.title);
  print_parameters(document);
  std::vector<int> counts(scene.fibres.size(), 0);
  for (const assembly::Fibre& fibre : built.world.fibres) ++counts[static_cast<std::size_t>(fibre.group)];
  for (std::size_t i = 0; i < counts.size(); ++i) print_group(scene, scene.fibres[i], counts[i]);
  for (const scene_file::Import& import : document.imports) print_import(import);
  print_law(scene);
  print_fluid(scene, built);
  print_trees(built.world);
  for (const scene::Obstacle& obstacle : scene.obstacles) {
    const bodies::Obstacle& body = obstacle.body;
    print("obstacle '{}', material '{}', {}", body.name, body.material_name,
          body.mass > 0.0 ? fmt::format("free, {:.4g} kg", body.mass)
                          : std::string(body.motion.at_rest() ? "at rest" : "moving"));
    print_mesh(body);
  }
  for (const scene::Surface& surface : scene.surfaces) {
    if (scene::is_cloth(surface))
      print_cloth(scene, surface);
    else
      print_patch(scene, surface);
  }
  print_grains(scene, built);
  tell_time_step(print_line, scene.simulation.time_step, document.time_step_reason);
  print("{} of {:.6g} s, detection {}",
        counted(std::llround(scene.simulation.duration / scene.simulation.time_step), "step"),
        scene.simulation.time_step, word(scene.contact.detection));
  print_memory(built);
}

void print_origins(const std::string& file, const scene_file::SceneDocument& document) {
  for (const scene_file::Origin& origin : document.origins) {
    print("{}:{}: {} = {:.17g} {} ({})", file, std::max(origin.location.line, 0), origin.path, origin.value,
          origin.unit, origin.written);
  }
}

/// Of overlaps that are left: tells that a run with the same options would refuse them; that is bad_input with
/// --strict.
int status_of(const CheckArguments& arguments, std::size_t left) {
  if (left == 0) return done;
  const char* hint = arguments.leave_out  ? ""
                     : arguments.push_out ? "; --leave-out leaves fibres out"
                                          : "; --push-out moves fibres apart, --leave-out leaves them out";
  print("tresse run refuses {} at the start{}", counted(static_cast<std::int64_t>(left), "overlap"), hint);
  return arguments.strict ? bad_input : done;
}

int check(const CheckArguments& arguments) {
  if (arguments.parameters) {
    list_parameters(arguments.scene);
    return done;
  }
  const ThreadLimit limit(arguments.threads);
  const std::string& file = arguments.scene.file;
  SlowPiece slow(arguments.quiet, [&] { return words_on_reading(file); });
  const scene_file::SceneDocument document = scene_file::read_scene_document(file, arguments.scene.overrides());
  const scene::Scene& scene = document.scene;
  scene::Case built = scene::build(scene);
  slow.ends();
  if (!arguments.quiet) print_scene(file, document, built);
  std::size_t left = print_overlaps(scene, built, arguments.quiet);
  tell_remarks(print_line, file, scene::remarks(scene));
  if (arguments.leave_out) {
    scene::Scene kept = scene;
    try_leaving_out(kept, built, arguments.push_out);
  } else if (arguments.push_out) {
    print_push_out(built);
  }
  if (arguments.leave_out || arguments.push_out) left = scene::initial_overlaps(built).size();
  if (arguments.origins) print_origins(file, document);
  return status_of(arguments, left);
}

}  // namespace

void add_check_command(CLI::App& program, int& exit_status) {
  auto* command = program.add_subcommand("check", "Reads and validates a scene; prints what its numbers mean");
  command->footer("Example: tresse check scenes/comb.toml --set fibres=100");
  const auto a = std::make_shared<CheckArguments>();
  a->scene.add_to(*command);
  command->add_flag("--origins", a->origins, "List where every number of the scene came from");
  command->add_flag("--parameters", a->parameters, "List the parameters alone, NAME=VALUE  # what it is, and stop");
  command->add_flag("--push-out", a->push_out, "Try what run --push-out does about overlaps");
  command->add_flag("--leave-out", a->leave_out, "Say which fibres run --leave-out would leave out");
  add_threads(*command, a->threads);
  command->add_flag("--strict", a->strict, "End with status 2 where tresse run would refuse overlaps at the start");
  command->add_flag("--quiet", a->quiet, "Overlaps and remarks only");
  command->callback([a, &exit_status] { exit_status = check(*a); });
}

}  // namespace tresse::app
