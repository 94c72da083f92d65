#include <fmt/format.h>

#include <memory>
#include <string>

#include <tresse/io/export.hpp>

#include "commands.hpp"
#include "messages.hpp"

namespace tresse::app {
namespace {

struct ExportArguments {
  std::string folder;
  std::string output;
  std::string frames = "::";
  bool no_contacts = false;
  bool no_obstacles = false;
  bool quiet = false;
  io::ExportOptions options;
};

void export_frames(ExportArguments& a) {
  a.options.frames = io::read_frame_selection(a.frames);
  a.options.contacts = !a.no_contacts;
  a.options.obstacles = !a.no_obstacles;
  const io::ExportReport report = io::export_run(a.folder, a.output, a.options);
  if (a.quiet) return;
  say("{} frame{} as {}: {}", report.frames, report.frames == 1 ? "" : "s", report.format,
      report.files.front().string());
}

void add_options(CLI::App& command, ExportArguments& a) {
  command.add_option("DIR", a.folder, "folder of a run, also one under way, or a trajectory.h5")->required();
  command
      .add_option("--format", a.options.format, "of the files (docs/guide/exports.md; default: by the ending of -o)")
      ->check(CLI::IsMember(io::export_formats()));
  command.add_option("-o,--output", a.output,
                     "file to write: .usda, .pvd, .vtkhdf, .obj, .glb or .gltf, .csv; or a folder (default: DIR), for "
                     "export.usda and so on");
  command.add_option("--frames", a.frames, "one, or FIRST:LAST:STRIDE; negative: from the end (default: all)");
  command.add_option("--fps", a.options.time_codes_per_second, "usda: time codes a second")->capture_default_str();
  command.add_option("--tubes", a.options.tube_sides, "gltf: fibres as tubes of so many sides instead of lines");
  command.add_flag("--polylines", a.options.polylines, "obj: a record a fibre, not one a segment");
  command.add_flag("--no-contacts", a.no_contacts, "without the contacts");
  command.add_flag("--no-obstacles", a.no_obstacles, "without the obstacles");
  command.add_flag("--quiet", a.quiet, "say nothing");
  command.footer(
      "Example: tresse export out -o comb.usda --frames ::4\n"
      "         tresse export out -o comb.pvd     # for ParaView");
}

}  // namespace

void add_export_command(CLI::App& program, int& exit_status) {
  CLI::App* command = program.add_subcommand("export", "Write the frames of a run for other programs");
  const auto arguments = std::make_shared<ExportArguments>();
  add_options(*command, *arguments);
  command->callback([arguments, &exit_status] {
    export_frames(*arguments);
    exit_status = done;
  });
}

}  // namespace tresse::app
