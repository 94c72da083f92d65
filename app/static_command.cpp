#include "commands.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include <tresse/base/errors.hpp>
#include <tresse/base/words.hpp>
#include <tresse/files/atomic_file.hpp>
#include <tresse/observe/snapshot.hpp>
#include <tresse/record/outputs.hpp>
#include <tresse/record/trajectory.hpp>
#include <tresse/scene/build.hpp>
#include <tresse/scene/remarks.hpp>
#include <tresse/scene_file/scene_file.hpp>
#include <tresse/settle/push_out.hpp>
#include <tresse/statics/world_equilibrium.hpp>
#include <tresse/surfaces/developable_patch.hpp>

#include "child_process.hpp"
#include "common_options.hpp"
#include "messages.hpp"
#include "scene_arguments.hpp"
#include "slow_work.hpp"
#include "version.hpp"

namespace tresse::app {
namespace {

using nlohmann::ordered_json;

ordered_json as_json(const Vector3& v) { return {v[0], v[1], v[2]}; }

ordered_json contacts_json(const observe::RestContacts& rest) {
  ordered_json out = ordered_json::array();
  for (const dynamics::ContactReport& contact : rest.contacts) {
    out.push_back({{"fibre_a", contact.a.body.fibre()},
                   {"fibre_b", contact.b.body.fibre()},
                   {"obstacle_b", contact.b.body.obstacle()},
                   {"s_a", contact.a.s},
                   {"s_b", contact.b.s},
                   {"normal", as_json(contact.normal)},
                   {"force", contact.force.norm()},
                   {"gap", contact.gap}});
  }
  return out;
}

ordered_json obstacles_json(const scene::Case& built, const observe::RestContacts& rest) {
  ordered_json out = ordered_json::array();
  for (std::size_t k = 0; k < built.world.obstacles.size(); ++k) {
    const dynamics::ObstacleLoad& load = rest.obstacles[k];
    out.push_back({{"name", built.world.obstacles[k].name},
                   {"force", as_json(load.force)},
                   {"torque", as_json(load.torque)},
                   {"contacts", load.contacts}});
  }
  return out;
}

/// The whole, and each fibre.
ordered_json equilibrium_json(const scene::Case& built, const assembly::Kinematics& at,
                              const statics::WorldEquilibrium& found, const observe::RestContacts& rest) {
  ordered_json fibres = ordered_json::array();
  ordered_json tips = ordered_json::array();
  bool stable = found.stable();
  for (std::size_t f = 0; f < found.fibres.size(); ++f) {
    const statics::Equilibrium& own = found.fibres[f];
    const rods::Rod& rod = at.rod(static_cast<int>(f));
    const Vector3 tip = rod.section(rod.length()).position;
    stable = stable && own.stable();
    tips.push_back(as_json(tip));
    fibres.push_back({{"status", to_string(own.status)},
                      {"iterations", own.iterations},
                      {"residual", own.residual},
                      {"stable", own.stable()},
                      {"smallest_eigenvalue", own.smallest_eigenvalue},
                      {"relative_stiffness", own.relative_stiffness},
                      {"tip", as_json(tip)}});
  }
  return {{"converged", found.status == Status::converged},
          {"status", to_string(found.status)},
          {"residual", found.residual},
          {"stable", stable},
          {"smallest_eigenvalue", found.smallest_eigenvalue},
          {"relative_stiffness", found.relative_stiffness},
          {"iterations", found.iterations},
          {"frictionless", true},
          {"time", rest.time},
          {"overlap", found.overlap},
          {"contacts", contacts_json(rest)},
          {"obstacles", obstacles_json(built, rest)},
          {"tip", tips},
          {"fibres", fibres}};
}

/// shape.csv: the centreline, tangents, curvatures and internal forces of every fibre.
std::string shape_table(const assembly::Kinematics& at, const observe::TrajectoryLayout& layout,
                        const observe::Frame& frame) {
  std::string out = "fibre,s,x,y,z,tx,ty,tz,k0,k1,k2,tension,moment_twist,moment_1,moment_2\n";
  for (std::size_t f = 0; f < at.world().fibres.size(); ++f) {
    const rods::Rod& rod = at.rod(static_cast<int>(f));
    for (auto i = static_cast<std::size_t>(layout.point_offsets[f]);
         i < static_cast<std::size_t>(layout.point_offsets[f + 1]); ++i) {
      const rods::RodSection section = rod.section(layout.arc_length[i]);
      const Vector3 tangent = section.frame.col(0);
      out += fmt::format("{},{:.17g}", f, section.s);
      for (const Vector3& v : {section.position, tangent, section.curvature}) {
        out += fmt::format(",{:.17g},{:.17g},{:.17g}", v[0], v[1], v[2]);
      }
      out += fmt::format(",{:.17g},{:.17g},{:.17g},{:.17g}\n", frame.force[3 * i], section.moment[0], section.moment[1],
                         section.moment[2]);
    }
  }
  return out;
}

/// From the state of a case; the kinematics are left at the equilibrium.
statics::WorldEquilibrium find_equilibrium(const scene::Scene& scene, const scene::Case& built, double time,
                                           assembly::Kinematics& at) {
  if (time > 0.0) at.set_natural_shapes(time);
  statics::WorldEquilibriumOptions options;
  options.search = {scene.statics.tolerance, scene.statics.max_iterations, scene.statics.load_steps};
  options.time = time;
  options.margin = built.options.margin;
  options.broad_phase = built.options.broad_phase;
  options.detection = built.options.detection;
  return statics::solve_equilibrium(at, built.state.rods, options);
}

std::string verdict(const statics::WorldEquilibrium& found, bool stable) {
  if (found.status != Status::converged) {
    const std::string overlap =
        found.overlap > 0.0 ? fmt::format(", {:.2g} m of overlap left", found.overlap) : std::string();
    return fmt::format("No equilibrium: {}, residual {:.2g}{}", to_string(found.status), found.residual, overlap);
  }
  std::string out = fmt::format("Equilibrium: residual {:.2g}, {}", found.residual, stable ? "stable" : "not stable");
  if (!found.contacts.empty())
    out += ", " + counted(static_cast<std::int64_t>(found.contacts.size()), "frictionless contact");
  return out;
}

/// The equilibria of the surfaces, and where they stand in the results.
struct SurfaceRests {
  std::vector<surfaces::SurfaceState> states;
  ordered_json json = ordered_json::array();
  Status status = Status::converged;
  double residual = 0.0;
  bool stable = true;
};

SurfaceRests find_surface_rests(const scene::Case& built) {
  SurfaceRests out;
  for (std::size_t i = 0; i < built.world.surfaces.size(); ++i) {
    const auto& patch = dynamic_cast<const surfaces::DevelopablePatch&>(*built.world.surfaces[i].model);
    const surfaces::PatchRest rest =
        patch.rest(patch.patch_state(built.state.surfaces[i]), assembly::gravity_of(built.world));
    out.states.push_back(patch.state_of(rest.state));
    out.json.push_back({{"name", built.world.surfaces[i].name},
                        {"status", to_string(rest.status)},
                        {"iterations", rest.iterations},
                        {"residual", rest.residual},
                        {"stable", rest.stable()},
                        {"smallest_eigenvalue", rest.smallest_eigenvalue},
                        {"curvature", rest.state.curvature},
                        {"angle", rest.state.angle}});
    if (out.status == Status::converged) out.status = rest.status;
    out.residual = std::max(out.residual, rest.residual);
    out.stable = out.stable && rest.stable();
  }
  return out;
}

struct StaticOptions {
  std::string folder;
  int threads = 0;  ///< 0: never given, all cores
  bool quiet = false;
  bool strict = false;
  double time = 0.0;
};

int solve(const SceneArguments& arguments, const StaticOptions& options) {
  const ThreadLimit limit(options.threads);
  const scene_file::SceneDocument document = scene_file::read_scene_document(arguments.file, arguments.overrides());
  const scene::Scene& scene = document.scene;
  require(std::isfinite(options.time) && options.time >= 0.0, "--at: expects a time of 0 s or more");
  scene::Case built = scene::build(scene);
  require(built.world.free_bodies.empty(),
          fmt::format("{}: the scene has free bodies; tresse static expects none", arguments.file));
  for (const assembly::Fibre& fibre : built.world.fibres) {
    require(clamped(fibre), fmt::format("{}: fibres '{}' {}; tresse static expects clamped roots", arguments.file,
                                        scene.fibres[fibre.group].name,
                                        fibre.attachment.parent < 0 ? "have a free root" : "grow on others"));
  }
  require(!scene.grains,
          fmt::format("{}: the scene has grains, whose stress at rest is not unique; tresse static expects none",
                      arguments.file));
  for (const scene::Surface& surface : scene.surfaces) {
    require(!scene::is_cloth(surface),
            fmt::format("{}: surface '{}' is cloth, whose folds have many equilibria; tresse static expects none",
                        arguments.file, surface.name));
    require(surface.root.condition == rods::RootCondition::clamped,
            fmt::format("{}: surface '{}' has a free root; tresse static expects clamped roots", arguments.file,
                        surface.name));
  }
  const std::filesystem::path out(options.folder);
  record::require_apart(record::files_of_run(out), scene_file::files_of(arguments.file, document));
  record::make_folder(out);
  const files::FolderLock lock(out);
  record::require_folder_of_run(out);
  SlowPiece slow(options.quiet,
                 [] { return std::string("no equilibrium yet; Ctrl-C ends the search, nothing is written"); });
  if (!scene::initial_overlaps(built).empty()) static_cast<void>(settle::push_out(built));
  assembly::Kinematics at(built.world);
  statics::WorldEquilibrium found = find_equilibrium(scene, built, options.time, at);
  const SurfaceRests surface_rests = find_surface_rests(built);
  slow.ends();
  observe::RestContacts rest = observe::rest_contacts(built.world, found, options.time);
  rest.surfaces = surface_rests.states;
  if (found.status == Status::converged) found.status = surface_rests.status;
  found.residual = std::max(found.residual, surface_rests.residual);

  const std::string resolved = scene_file::write_resolved(document);
  const std::string version = fmt::format("{} ({})", TRESSE_VERSION, TRESSE_COMMIT);
  const observe::TrajectoryLayout layout =
      observe::snapshot_layout(scene, built.world, resolved, version, options.time);
  const observe::Frame frame = observe::snapshot_at_rest(scene, at, layout, rest);
  tell_remarks(say_line, arguments.file, scene::shape_remarks(scene));
  lock.check();
  files::write_atomically(out / "shape.csv", shape_table(at, layout, frame));
  files::write_atomically(out / "scene.toml", resolved);
  record::write_trajectory(out / "trajectory.h5", layout, {frame});
  ordered_json equilibrium = equilibrium_json(built, at, found, rest);
  if (!surface_rests.states.empty()) {
    equilibrium["surfaces"] = surface_rests.json;
    equilibrium["stable"] = equilibrium["stable"].get<bool>() && surface_rests.stable;
  }
  const ordered_json summary = {{"version", version}, {"equilibrium", equilibrium}};
  files::write_atomically(out / "summary.json", summary.dump(2) + "\n");

  const bool good = found.status == Status::converged && equilibrium["stable"].get<bool>();
  if (!options.quiet || !good) say("{}", verdict(found, equilibrium["stable"]));
  if (!options.quiet && isatty(fileno(stderr)) == 1) {
    const std::string words = shell_quoted(options.folder);
    say("Next: tresse plot {} -o shape.png draws what it carries; tresse render {} -o rest.png shows it.", words,
        words);
  }
  return found.status == Status::converged || !options.strict ? done : missed_tolerance;
}

}  // namespace

void add_static_command(CLI::App& program, int& exit_status) {
  auto* command = program.add_subcommand(
      "static", "Equilibrium under gravity with frictionless contacts, its residual and its stability");
  command->footer("Example: tresse static scenes/cantilever.toml -o out/cantilever --set length=0.2");
  auto arguments = std::make_shared<SceneArguments>();
  auto options = std::make_shared<StaticOptions>();
  arguments->add_to(*command);
  command->add_option("-o,--output", options->folder, "Folder for the results")->required();
  command->add_option("--at", options->time, "Time [s] to which obstacles and roots move first, slowly; 0 by default");
  add_threads(*command, options->threads);
  command->add_flag("--quiet", options->quiet, "A verdict only when no stable equilibrium was found");
  command->add_flag("--strict", options->strict, "Exit status 3 when no equilibrium was found");
  command->callback([arguments, options, &exit_status] { exit_status = solve(*arguments, *options); });
}

}  // namespace tresse::app
