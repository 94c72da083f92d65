#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>
#include <vector>

#include <tresse/base/errors.hpp>

#include "commands.hpp"
#include "share_folder.hpp"

namespace tresse::app {
namespace {

struct PlotArguments {
  std::vector<std::string> folders;
  std::vector<std::string> labels;
  std::string output;
  std::string what = "forces";
  std::string compare = "auto";
  std::string title;
};

/// The folder that holds the Python package tresse_plot: beside the installed program, else in the sources.
std::filesystem::path package_folder() {
  std::error_code error;
  const std::filesystem::path installed = share_folder() / "python";
  for (const std::filesystem::path& folder : {installed, std::filesystem::path(TRESSE_PYTHON_FOLDER)}) {
    if (std::filesystem::exists(folder / "tresse_plot" / "__main__.py", error)) return folder;
  }
  throw SystemFailure(fmt::format("the plotting module is missing: expected {}/tresse_plot", installed.string()));
}

std::vector<std::string> command_line(const PlotArguments& arguments) {
  const std::string start =
      "import sys; sys.path.insert(0, sys.argv.pop(1)); sys.dont_write_bytecode = True; "
      "from tresse_plot.command import main; sys.exit(main(sys.argv[1:]))";
  std::vector<std::string> out = {TRESSE_PYTHON, "-E", "-s", "-c", start, package_folder().string()};
  out.insert(out.end(), {"--output=" + arguments.output, "--what=" + arguments.what, "--compare=" + arguments.compare});
  if (!arguments.title.empty()) out.push_back("--title=" + arguments.title);
  for (const std::string& label : arguments.labels) out.push_back("--label=" + label);
  out.emplace_back("--");
  out.insert(out.end(), arguments.folders.begin(), arguments.folders.end());
  return out;
}

/// Runs a program to its end and gives its exit status.
int run_program(const std::vector<std::string>& words) {
  std::vector<char*> argv;
  argv.reserve(words.size() + 1);
  for (const std::string& word : words) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  pid_t child = 0;
  if (const int error = posix_spawn(&child, argv[0], nullptr, nullptr, argv.data(), environ)) {
    throw SystemFailure(fmt::format("{}: {}; plots need Python 3 with matplotlib: install python3-matplotlib", words[0],
                                    std::strerror(error)));
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) throw SystemFailure("the plotting program got lost");
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int plot(const PlotArguments& arguments) {
  for (const std::string& folder : arguments.folders) {
    require(std::filesystem::is_directory(folder), fmt::format("{}: no such folder; expected that of a run", folder));
  }
  const int status = run_program(command_line(arguments));
  if (status != 0 && status != bad_input) {
    throw SystemFailure(fmt::format("{}: the plotting program failed with status {}", TRESSE_PYTHON, status));
  }
  return status;
}

void add_options(CLI::App& command, PlotArguments& a) {
  command.add_option("DIR", a.folders, "folders of runs; two are compared")->required();
  command.add_option("-o,--output", a.output, "figure to write: FILE.png, .svg or .pdf")->required();
  command.add_option("--what", a.what, "which table")
      ->check(CLI::IsMember({"forces", "energies", "solver"}))
      ->capture_default_str();
  command.add_option("--compare", a.compare, "with a zoom and the rough part of the force; auto: for two runs")
      ->check(CLI::IsMember({"auto", "yes", "no"}))
      ->capture_default_str();
  command.add_option("--title", a.title, "above the figure");
  command.add_option("--label", a.labels, "of each run in turn (default: its folder's name)")->allow_extra_args(false);
}

}  // namespace

void add_plot_command(CLI::App& program, int& exit_status) {
  CLI::App* command = program.add_subcommand("plot", "Draw the forces, energies or solver figures of runs");
  command->footer("Example: tresse plot out/comb -o forces.png");
  const auto arguments = std::make_shared<PlotArguments>();
  add_options(*command, *arguments);
  command->callback([arguments, &exit_status] { exit_status = plot(*arguments); });
}

}  // namespace tresse::app
