#include <algorithm>
#include <fstream>
#include <thread>

#include <fmt/format.h>

#include <tresse/base/errors.hpp>
#include <tresse/scene_file/scene_file.hpp>

#include "bench.hpp"
#include "share_folder.hpp"

namespace tresse::app::bench {
namespace {

/// Beside the installed program, else in the sources.
std::filesystem::path default_folder() {
  std::error_code error;
  const std::filesystem::path installed = share_folder() / "states";
  return std::filesystem::exists(installed, error) ? installed : std::filesystem::path(TRESSE_STATES_FOLDER);
}

std::string processor() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("model name")) return line.substr(std::min(line.size(), line.find(':') + 2));
  }
  return "unknown";
}

}  // namespace

StateCase load_state(const Arguments& arguments, const std::string& name) {
  const std::filesystem::path folder =
      arguments.states.empty() ? default_folder() : std::filesystem::path(arguments.states);
  const std::filesystem::path file = folder / (name + ".h5");
  require(std::filesystem::exists(file),
          fmt::format("{}: no such starting state; benchmarks/make_states makes them", file.string()));
  record::Checkpoint kept = record::read_checkpoint(file);
  StateCase out;
  out.scene = scene_file::parse_scene(kept.scene, file.string());
  out.built = scene::build(out.scene);
  scene::set_out_from(out.built, std::move(kept.state));
  return out;
}

nlohmann::ordered_json machine() {
  return {{"processor", processor()},
          {"cores", std::max(1U, std::thread::hardware_concurrency())},
          {"compiler", fmt::format("{} {}", TRESSE_COMPILER, __VERSION__)}};
}

int thread_count(const Arguments& arguments) {
  return arguments.threads > 0 ? arguments.threads
                               : static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace tresse::app::bench
