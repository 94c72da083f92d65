#pragma once

#include <string_view>

#include <tresse/scene_file/detail/toml_document.hpp>
#include <tresse/scene_file/scene_file.hpp>

namespace tresse::scene_file::detail {

/// Writes those of `set` whose name has a dot, "solver.name", over the keys of the tables of settings (simulation,
/// contact, fluid, solver, output, statics), whether the file has them or not; returns the others, which are
/// parameters. Throws InvalidInput on any other table.
ParameterOverrides apply_settings(TomlNode& root, const ParameterOverrides& set);

}  // namespace tresse::scene_file::detail
