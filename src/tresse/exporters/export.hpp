#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// The frames of a run in the formats of other programs. What stands in each file: docs/guide/exports.md.
namespace tresse::exporters {

/// Frames first, first + stride, ... up to `last`, which is included where it is met. Negative: from the end, -1 is the
/// last frame.
struct FrameSelection {
  long long first = 0;
  long long last = -1;
  long long stride = 1;  ///< >= 1
};

/// "a:b:n", "a:b", "a:", ":b", "::n", or one frame "a". @throws InvalidInput for any other text.
FrameSelection read_frame_selection(std::string_view text);

/// The frames chosen out of `count`, in order. @throws InvalidInput when one does not exist, or none is chosen.
std::vector<std::size_t> chosen_frames(const FrameSelection& selection, std::size_t count);

/// "usda", "vtk", "vtkhdf", "obj", "gltf", "csv".
const std::vector<std::string>& export_formats();

struct ExportOptions {
  std::string format;  ///< one of export_formats(); empty: by the ending of the output
  FrameSelection frames;
  bool contacts = true;                 ///< where the format has them: all but obj and gltf
  bool obstacles = true;                ///< where the format has them
  double time_codes_per_second = 24.0;  ///< usda: the rate at which programs play it; > 0, <= 1e9 [1/s]
  bool polylines = false;               ///< obj: a record a fibre; otherwise one a segment, which every program reads
  int tube_sides = 0;                   ///< gltf: fibres as tubes of so many sides, 3 to 64; 0: as lines
  /// Called with each chosen frame that is read, from 1, and their number; some formats read all of them twice.
  std::function<void(std::size_t frame, std::size_t frames)> progress{};
};

struct ExportReport {
  std::string format;  ///< one of export_formats()
  std::size_t frames = 0;
  std::vector<std::filesystem::path> files;  ///< the first is the one to open
};

/// Writes the frames of `run` (the folder of a run that ended, goes on or was killed, or a trajectory.h5) to the file
/// `output`; to export.usda and the like in a folder that is there; in the run's own when `output` is empty. A file
/// appears whole or not at all; of a sequence of files those before a failure stay. Memory: three frames, and 100
/// bytes a frame and obstacle; glTF also the square of the number of frames.
/// @throws InvalidInput for options out of range, a damaged run, numbers that are not finite or beyond single
/// precision, and what the format cannot hold; SystemFailure when writing is refused.
ExportReport export_run(const std::filesystem::path& run, const std::filesystem::path& output,
                        const ExportOptions& options);

}  // namespace tresse::exporters
