#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>
#include <vector>

#include <tresse/base/errors.hpp>
#include <tresse/record/outputs.hpp>
#include <tresse/record/results_place.hpp>

#include "child_process.hpp"
#include "commands.hpp"
#include "messages.hpp"

namespace tresse::app {
namespace {

struct PlotArguments {
  std::vector<std::string> places;
  std::vector<std::string> labels;
  std::string output;
  std::string what = "auto";
  std::string x;
  std::vector<std::string> y;
  std::string compare = "auto";
  std::string title;
  bool quiet = false;
};

std::vector<std::string> options_of(const PlotArguments& arguments) {
  std::vector<std::string> out = {"--output=" + arguments.output, "--what=" + arguments.what,
                                  "--compare=" + arguments.compare};
  if (!arguments.x.empty()) out.push_back("--x=" + arguments.x);
  for (const std::string& column : arguments.y) out.push_back("--y=" + column);
  if (!arguments.title.empty()) out.push_back("--title=" + arguments.title);
  for (const std::string& label : arguments.labels) out.push_back("--label=" + label);
  if (arguments.quiet) out.emplace_back("--quiet");
  return out;
}

bool is_figure(const std::string& file) {
  std::string ending = std::filesystem::path(file).extension().string();
  std::ranges::transform(ending, ending.begin(), [](unsigned char c) { return std::tolower(c); });
  return ending == ".png" || ending == ".svg" || ending == ".pdf";
}

int plot(const PlotArguments& arguments) {
  require(is_figure(arguments.output),
          fmt::format("{}: expected a name that ends in .png, .svg or .pdf", arguments.output));
  for (const std::string& place : arguments.places) {
    if (arguments.what == "convergence") {
      require(std::filesystem::is_regular_file(place),
              fmt::format("{}: no such file; expected what tresse friction wrote", place));
    } else {
      static_cast<void>(record::find_results(
          place, {{"sweep.csv", "compare.json", "shape.csv", "holds.csv", "steps.csv", "forces.csv"}}));
    }
  }
  record::FileList inputs;
  for (const std::string& place : arguments.places) {
    inputs.emplace_back(place);
    const record::FileList own = record::files_of_run(place);
    inputs.insert(inputs.end(), own.begin(), own.end());
  }
  record::require_outputs({arguments.output}, inputs);
  const int status = run_plot(options_of(arguments), arguments.places);
  if (status != 0 && status != bad_input) {
    throw SystemFailure(fmt::format("the plotting program failed with status {}", status));
  }
  if (status == 0 && !arguments.quiet) say("{}: plot of {}", arguments.output, fmt::join(arguments.places, ", "));
  return status;
}

void add_options(CLI::App& command, PlotArguments& a) {
  command.add_option("DIR", a.places, "folders of runs; two are compared")->required();
  command.add_option("-o,--output", a.output, "figure to write: FILE.png, .svg or .pdf")->required();
  command
      .add_option(
          "--what", a.what,
          "auto: what suits DIR: forces, loads of holds or of clamped roots where there are no obstacles, what a sweep "
          "found, what the fibres of an equilibrium carry (shape), speed and pressure of grains; convergence: DIRs are "
          "files of tresse friction")
      ->check(CLI::IsMember({"auto", "forces", "holds", "roots", "energies", "solver", "shape", "grains", "sweep",
                             "comparison", "convergence"}))
      ->capture_default_str();
  command
      .add_option("--y", a.y,
                  "draw this column, several times for several: of steps.csv or sweep.csv, force_OBSTACLE, "
                  "load_HOLD, root_GROUP, or a part of these, such as force_comb_z")
      ->type_name("COLUMN")
      ->allow_extra_args(false);
  command.add_option("--x", a.x, "against this column (default: time; of a sweep its first parameter)")
      ->type_name("COLUMN");
  command
      .add_option("--compare", a.compare,
                  "what all runs have in one plot, a zoom and the rough part of the force; auto: for two runs")
      ->check(CLI::IsMember({"auto", "yes", "no"}))
      ->capture_default_str();
  command.add_option("--title", a.title, "above the figure");
  command.add_option("--label", a.labels, "of a run; give it once for each run, in turn (default: its folder's name)")
      ->allow_extra_args(false);
  command.add_flag("--quiet", a.quiet, "say nothing");
}

}  // namespace

void add_plot_command(CLI::App& program, int& exit_status) {
  CLI::App* command =
      program.add_subcommand("plot", "Draw the forces, loads, energies, solver figures or any columns of runs");
  command->footer("Example: tresse plot out/comb -o forces.png");
  const auto arguments = std::make_shared<PlotArguments>();
  add_options(*command, *arguments);
  command->callback([arguments, &exit_status] { exit_status = plot(*arguments); });
}

}  // namespace tresse::app
