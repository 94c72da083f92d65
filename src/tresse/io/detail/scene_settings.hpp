#pragma once

#include <string_view>

#include <tresse/io/detail/toml_document.hpp>
#include <tresse/io/scene_file.hpp>

namespace tresse::io::detail {

/// Writes those of `set` whose name has a dot, "solver.name", over the keys of the tables of settings (simulation,
/// contact, solver, output, statics), whether the file has them or not; returns the others, which are parameters.
/// Throws InvalidInput on any other table.
ParameterOverrides apply_settings(TomlNode& root, const ParameterOverrides& set);

}  // namespace tresse::io::detail
