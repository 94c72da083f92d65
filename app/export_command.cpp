#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <tresse/base/errors.hpp>
#include <tresse/base/words.hpp>
#include <tresse/exporters/export.hpp>
#include <tresse/record/results_place.hpp>

#include "commands.hpp"
#include "messages.hpp"
#include "slow_work.hpp"
#include "view/html_page.hpp"
#include "view/page_assets.hpp"

namespace tresse::app {
namespace {

struct ExportArguments {
  std::vector<std::string> runs;
  std::string output;
  std::string frames = "::";
  bool no_contacts = false;
  bool no_obstacles = false;
  bool quiet = false;
  std::uint64_t largest_page = view::largest_page / 1'000'000;  // [MB]
  exporters::ExportOptions options;
};

constexpr const char* html = "html";
constexpr const char* endings[] = {".usda", ".pvd", ".vtkhdf", ".obj", ".glb", ".gltf", ".csv", ".html"};

/// What to write instead of a file that is not written.
std::string instead_of(std::string_view ending) {
  constexpr const char* usda = "USD is written as text; expected .usda, which usdcat turns into .usdc";
  constexpr const char* vtk = "expected .pvd or .vtkhdf, which ParaView reads";
  constexpr const char* picture = "tresse render draws pictures and videos, as .png and .mp4";
  constexpr std::pair<std::string_view, const char*> known[] = {
      {".usd", usda},
      {".usdc", usda},
      {".usdz", usda},
      {".vtk", vtk},
      {".vtu", vtk},
      {".vtp", vtk},
      {".xdmf", vtk},
      {".png", picture},
      {".jpg", picture},
      {".mp4", picture},
      {".gif", picture},
      {".webm", picture},
      {".abc", "Alembic is not written; expected .usda, which Blender and Houdini read and save as .abc"}};
  const auto found = std::ranges::find(known, ending, [](const auto& one) { return one.first; });
  if (found != std::end(known)) return found->second;
  return fmt::format("expected a name that ends in {}, or a folder and --format", fmt::join(endings, ", "));
}

void require_format(const ExportArguments& a) {
  if (!a.options.format.empty()) return;
  require(!a.output.empty(), "export: found neither -o nor --format; expected a file to write, such as -o run.usda");
  const std::string ending = std::filesystem::path(a.output).extension().string();
  require(std::ranges::find(endings, ending) != std::end(endings),
          [&] { return fmt::format("{}: {}", a.output, instead_of(ending)); });
}

bool is_html(const ExportArguments& a) {
  return a.options.format == html || (a.options.format.empty() && std::string_view(a.output).ends_with(".html"));
}

void export_page(const ExportArguments& a) {
  require(!a.no_contacts && !a.no_obstacles,
          "--no-contacts and --no-obstacles: not for html, whose page can hide them; expected neither");
  require(a.runs.size() <= 2,
          [&] { return fmt::format("{} runs; expected one, or two to see side by side", a.runs.size()); });
  require(a.runs.size() == 1 || !a.output.empty(), "-o: missing, expected the page for the two runs");
  SlowPiece slow(a.quiet, [&] { return fmt::format("frames of {} for {}", fmt::join(a.runs, ", "), a.output); });
  const view::PageReport report =
      view::write_html_page({a.runs.begin(), a.runs.end()}, a.output, exporters::read_frame_selection(a.frames),
                            view::find_assets(""), a.largest_page * 1'000'000);
  slow.ends();
  if (a.quiet) return;
  say("{} as {}: {}", counted(static_cast<std::int64_t>(report.frames), "frame"), html, report.file.string());
}

void export_frames(ExportArguments& a) {
  for (const std::string& run : a.runs)
    if (std::filesystem::path(run).extension() == ".toml")
      static_cast<void>(record::find_results(run, record::files_of_frames));  // says that it is a scene
  require_format(a);
  if (is_html(a)) return export_page(a);
  require(a.runs.size() == 1,
          [&] { return fmt::format("{} runs; expected one (html alone holds two)", a.runs.size()); });
  a.options.frames = exporters::read_frame_selection(a.frames);
  a.options.contacts = !a.no_contacts;
  a.options.obstacles = !a.no_obstacles;
  std::atomic<std::size_t> done = 0, all = 0;
  a.options.progress = [&](std::size_t frame, std::size_t frames) {
    done = frame;
    all = frames;
  };
  SlowPiece slow(a.quiet, [&] { return fmt::format("frame {} of {} of {}", done.load(), all.load(), a.runs.front()); });
  const exporters::ExportReport report = exporters::export_run(a.runs.front(), a.output, a.options);
  slow.ends();
  if (a.quiet) return;
  say("{} as {}: {}", counted(static_cast<std::int64_t>(report.frames), "frame"), report.format,
      report.files.front().string());
}

void add_options(CLI::App& command, ExportArguments& a) {
  std::vector<std::string> formats = exporters::export_formats();
  formats.emplace_back(html);
  command
      .add_option("DIR", a.runs,
                  "folder of a run, also one under way, or a trajectory.h5; html: two of them side by side")
      ->required();
  command
      .add_option("--format", a.options.format, "of the files (docs/guide/exports.md; default: by the ending of -o)")
      ->check(CLI::IsMember(formats));
  command.add_option("-o,--output", a.output,
                     fmt::format("file to write: {}; or a folder (default: DIR), for export.usda and so on",
                                 fmt::join(endings, ", ")));
  command.add_option("--frames", a.frames, "one, or FIRST:LAST:STRIDE; negative: from the end (default: all)");
  command.add_option("--fps", a.options.time_codes_per_second, "usda: time codes a second")->capture_default_str();
  command.add_option("--tubes", a.options.tube_sides, "gltf: fibres as tubes of so many sides instead of lines");
  command.add_flag("--polylines", a.options.polylines, "obj: a record a fibre, not one a segment");
  command.add_flag("--no-contacts", a.no_contacts, "without the contacts");
  command.add_flag("--no-obstacles", a.no_obstacles, "without the obstacles");
  command.add_option("--largest-page", a.largest_page, "html: in MB")->check(CLI::Range(1, 2000))->group("");
  command.add_flag("--quiet", a.quiet, "say nothing");
  command.footer(
      "Example: tresse export out -o comb.usda --frames ::4\n"
      "         tresse export out -o comb.pvd     # for ParaView\n"
      "         tresse export out -o comb.html    # the viewer and the run in one file\n"
      "         tresse export A B -o both.html     # two runs side by side in one file");
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
