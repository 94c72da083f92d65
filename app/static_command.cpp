#include "commands.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include <tresse/base/errors.hpp>
#include <tresse/io/atomic_file.hpp>
#include <tresse/io/scene_file.hpp>
#include <tresse/io/snapshot.hpp>
#include <tresse/io/trajectory.hpp>
#include <tresse/scene/build.hpp>
#include <tresse/statics/equilibrium.hpp>

#include "scene_arguments.hpp"
#include "version.hpp"

namespace tresse::app {
namespace {

using nlohmann::ordered_json;

ordered_json as_json(const Vector3& v) { return {v[0], v[1], v[2]}; }

/// The worst of all fibres, and each fibre's tip.
ordered_json equilibrium_json(const scene::Case& built, const std::vector<statics::Equilibrium>& found) {
  ordered_json fibres = ordered_json::array();
  ordered_json tips = ordered_json::array();
  double residual = 0.0;
  double smallest = INFINITY;
  bool stable = true;
  bool converged = true;
  for (std::size_t f = 0; f < found.size(); ++f) {
    const rods::Rod& rod = *built.world.fibres[f].rod;
    const Vector3 tip = rod.section(rod.length()).position;
    residual = std::max(residual, found[f].residual);
    smallest = std::min(smallest, found[f].smallest_eigenvalue);
    stable = stable && found[f].stable();
    converged = converged && found[f].status == Status::converged;
    tips.push_back(as_json(tip));
    fibres.push_back({{"status", to_string(found[f].status)},
                      {"iterations", found[f].iterations},
                      {"residual", found[f].residual},
                      {"stable", found[f].stable()},
                      {"smallest_eigenvalue", found[f].smallest_eigenvalue},
                      {"relative_stiffness", found[f].relative_stiffness},
                      {"tip", as_json(tip)}});
  }
  return {{"converged", converged},          {"residual", residual}, {"stable", stable},
          {"smallest_eigenvalue", smallest}, {"tip", tips},          {"fibres", fibres}};
}

/// shape.csv: the centreline, tangents, curvatures and internal forces of every fibre.
std::string shape_table(const scene::Case& built, const io::TrajectoryLayout& layout, const io::Frame& frame) {
  std::string out = "fibre,s,x,y,z,tx,ty,tz,k0,k1,k2,tension,moment_twist,moment_1,moment_2\n";
  for (std::size_t f = 0; f < built.world.fibres.size(); ++f) {
    const rods::Rod& rod = *built.world.fibres[f].rod;
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

int solve(const SceneArguments& arguments, const std::string& folder, bool strict) {
  const io::SceneDocument document = io::read_scene_document(arguments.file, arguments.overrides());
  const scene::Scene& scene = document.scene;
  scene::Case built = scene::build(scene);
  std::vector<statics::Equilibrium> found;
  for (std::size_t f = 0; f < built.world.fibres.size(); ++f) {
    assembly::Fibre& fibre = built.world.fibres[f];
    require(fibre.rod->root_condition() == rods::RootCondition::clamped,
            fmt::format("{}: fibres '{}' {}; tresse static expects clamped roots", arguments.file,
                        scene.fibres[fibre.group].name,
                        fibre.attachment.parent < 0 ? "have a free root" : "grow on others"));
    rods::RodState start = built.state.rods[f];
    start.root = assembly::root_pose(fibre, 0.0);
    found.push_back(
        statics::solve_equilibrium(*fibre.rod, start, scene.gravity,
                                   {scene.statics.tolerance, scene.statics.max_iterations, scene.statics.load_steps}));
    built.state.rods[f] = fibre.rod->state();
  }
  // Contacts are not part of this equilibrium; say so where there would be some.
  const auto overlaps = scene::initial_overlaps(built);

  const std::string resolved = io::write_resolved(document);
  const std::string version = fmt::format("{} ({})", TRESSE_VERSION, TRESSE_COMMIT);
  const io::TrajectoryLayout layout = io::snapshot_layout(scene, built.world, resolved, version);
  const io::Frame frame = io::snapshot_at_rest(scene, built.world, layout);
  const std::filesystem::path out(folder);
  std::error_code error;
  std::filesystem::create_directories(out, error);
  require(!error, fmt::format("{}: cannot be made a folder: {}", folder, error.message()));
  io::write_atomically(out / "scene.toml", resolved);
  io::write_atomically(out / "shape.csv", shape_table(built, layout, frame));
  io::write_trajectory(out / "trajectory.h5", layout, {frame});
  const ordered_json equilibrium = equilibrium_json(built, found);
  ordered_json summary = {{"version", version}, {"equilibrium", equilibrium}, {"overlaps_ignored", overlaps.size()}};
  io::write_atomically(out / "summary.json", summary.dump(2) + "\n");

  const bool converged = equilibrium["converged"];
  fmt::print(stderr, "{}: residual {:.2g}, {}{}\n", converged ? "Equilibrium" : "No equilibrium",
             equilibrium["residual"].get<double>(), equilibrium["stable"].get<bool>() ? "stable" : "not stable",
             overlaps.empty() ? ""
                              : fmt::format("; {} contacts are not part of it, {}", overlaps.size(),
                                            scene::describe(overlaps.front(), scene, built.world)));
  return converged || !strict ? done : missed_tolerance;
}

}  // namespace

void add_static_command(CLI::App& program, int& exit_status) {
  auto* command = program.add_subcommand("static", "Equilibrium under gravity, its residual and its stability");
  auto arguments = std::make_shared<SceneArguments>();
  auto folder = std::make_shared<std::string>();
  auto strict = std::make_shared<bool>(false);
  arguments->add_to(*command);
  command->add_option("-o,--output", *folder, "Folder for the results")->required();
  command->add_flag("--strict", *strict, "Exit status 3 when no equilibrium was found");
  command->callback([arguments, folder, strict, &exit_status] { exit_status = solve(*arguments, *folder, *strict); });
}

}  // namespace tresse::app
