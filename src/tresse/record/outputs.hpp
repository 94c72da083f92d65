#pragma once

#include <array>
#include <filesystem>
#include <string>
#include <vector>

/// What is checked before a command has its first effect: that its outputs can be written, and that they replace
/// nothing of the user's.
namespace tresse::record {

using FileList = std::vector<std::filesystem::path>;

/// @throws InvalidInput when an output is an input or another output, also by a link or a second name.
void require_apart(const FileList& outputs, const FileList& inputs);

/// The same, and tries to create each of the outputs, but leaves none. Devices and pipes are not tried. @throws
/// InvalidInput for a folder, SystemFailure when one cannot be created.
void require_outputs(const FileList& outputs, const FileList& inputs);

/// Of a run, in the order in which a new run removes those of an earlier one: the checkpoint first, the scene last, so
/// that whatever interrupts it, no checkpoint stands beside another run's files.
inline constexpr std::array run_files{
    "checkpoint.h5", "summary.json", "gradient.json", "trajectory.log", "trajectory.h5", "remarks.csv", "cloth.csv",
    "grains.csv",    "fluid.csv",    "roots.csv",     "holds.csv",      "forces.csv",    "steps.csv",   "scene.toml"};

/// Those of a run or of an equilibrium in its folder, there or not.
FileList files_of_run(const std::filesystem::path& folder);

/// Creates a folder when it is missing, and those above it. @throws SystemFailure.
void make_folder(const std::filesystem::path& folder);

/// @throws InvalidInput, with the name of one, for a folder that holds files although `tresse run` or `tresse static`
/// never wrote to it. Names that begin with a point do not count.
void require_folder_of_run(const std::filesystem::path& folder);

/// The same for a folder whose marks are known by their names.
void require_folder_of(const std::filesystem::path& folder, const char* whose,
                       bool (*is_mark)(const std::string& name));

}  // namespace tresse::record
