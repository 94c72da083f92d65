#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>

#include <tresse/io/scene_file.hpp>

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
  io::ParameterOverrides overrides() const;
};

/// What is hardly meant in `scene`, of `file`: scene::remarks(), a line each to say_line or print_line.
void tell_remarks(void (*tell)(std::string_view), const std::string& file, const scene::Scene& scene);

}  // namespace tresse::app
