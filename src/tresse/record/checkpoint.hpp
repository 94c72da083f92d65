#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include <tresse/dynamics/report.hpp>
#include <tresse/record/summary.hpp>

/// checkpoint.h5 and failure/step-N.h5: one layout, listed in docs/reference/files.md.
namespace tresse::record {

/// How far the files that only grow had come. Rows rather than bytes, since the width of the timing columns varies from
/// run to run.
struct OutputPosition {
  std::int64_t step_rows = 0;   ///< of steps.csv
  std::int64_t force_rows = 0;  ///< of forces.csv
  std::int64_t frames = 0;      ///< of the trajectory
  std::int64_t log_bytes = 0;   ///< of trajectory.log
  std::int64_t remarks = 0;     ///< rows of remarks.csv
};

/// All that a run needs to go on as if it had never stopped.
struct Checkpoint {
  std::string scene;    ///< text of the resolved scene
  std::string version;  ///< of the program that wrote it
  dynamics::SimulationState state;
  RunTally tally;
  OutputPosition position;
};

/// Replaces `file` at once: whatever happens, it holds the old checkpoint or the new one.
void write_checkpoint(const std::filesystem::path& file, const Checkpoint& checkpoint);

/// The same, small: to start from, not to go on from bit for bit. Curvatures keep 30 bits, rates and places 16, forces
/// 10, and all is compressed.
void write_packed_checkpoint(const std::filesystem::path& file, const Checkpoint& checkpoint);

/// Bit for bit what was written. @throws InvalidInput when the file is damaged, for which a checksum covers every
/// number, and when one of them cannot be of a run: not finite, or a negative count.
Checkpoint read_checkpoint(const std::filesystem::path& file);

}  // namespace tresse::record
