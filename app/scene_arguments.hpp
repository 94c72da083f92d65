#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>

#include <tresse/scene_file/scene_file.hpp>

namespace tresse::app {

/// The arguments that every command about a scene shares: the file and `--set name=value`.
struct SceneArguments {
  std::string file;
  std::vector<std::string> set;

  void add_to(CLI::App& command) {
    command.add_option("scene", file, "Scene file (TOML)")->required();
    command.add_option("--set", set, "Replace a parameter: name=value")->allow_extra_args(false);
  }

  /// @throws InvalidInput when a --set has no '='.
  scene_file::ParameterOverrides overrides() const;
};

/// Of many things alike, such as overlaps, so many are told one by one, and the others are counted.
inline constexpr std::size_t told_one_by_one = 10;

/// What was said of the fibres that are left out, the first of many.
void tell_left_out(void (*tell)(std::string_view), const std::vector<std::string>& messages);

/// "time_step is 0.002 s, chosen by the program: ..."; tells nothing without a reason.
void tell_time_step(void (*tell)(std::string_view), double time_step, const std::string& reason);

/// Remarks on `file`, a line each to say_line or print_line.
void tell_remarks(void (*tell)(std::string_view), const std::string& file, const std::vector<scene::Remark>& remarks);

}  // namespace tresse::app
