#pragma once

#include <filesystem>
#include <span>

namespace tresse::record {

/// Files that hold the frames of a run, one or the other.
inline constexpr const char* files_of_frames[] = {"trajectory.log", "trajectory.h5"};

/// Finds out where results are: the first of `files` in the folder `place`. @throws InvalidInput where there is none,
/// with what is there instead, such as a scene, a sweep or folders that hold results, or whose name is near.
std::filesystem::path find_results(const std::filesystem::path& place, std::span<const char* const> files);

}  // namespace tresse::record
