#pragma once

#include <filesystem>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

/// What tells runs of one scene apart: shapes, forces, gaps, creep, effort.
namespace tresse::app::compare {

/// How far a run's fibres are from those of the reference at one time.
struct Apart {
  double time = 0.0;     ///< [s]
  double mean = 0.0;     ///< over points at equal arc lengths, a share of the longest fibre [-]
  double largest = 0.0;  ///< [-]
};

/// The force on an obstacle, or the load on what holds fibres, over a run.
struct Load {
  std::string name;
  double mean = 0.0;             ///< of its size [N]
  std::optional<double> off_by;  ///< root mean square of the difference to the reference's, over its mean [-]
};

/// One run, measured against the first.
struct Measured {
  std::string name;     ///< "imc"
  std::string status;   ///< "finished", ...
  std::string verdict;  ///< "sound", or what was not
  int steps = 0;
  int steps_in_contact = 0;
  double evaluations = 0.0;             ///< a step [-]
  double evaluations_in_contact = 0.0;  ///< a step with a contact that bears something or might [-]
  double linear_solves = 0.0;           ///< a step [-]
  double least_gap = std::numeric_limits<double>::infinity();  ///< at the end of any step [m]
  double largest_overlap = 0.0;                                ///< [m]
  double largest_stick_drift = 0.0;                            ///< [m]
  double seconds = 0.0;                                        ///< wall time
  std::vector<Load> loads;
  std::vector<Apart> apart;      ///< (frames)
  std::optional<double> parted;  ///< when the mean distance first was a twentieth [s]
};

/// The runs in the folders `names` below `folder`, the first the reference. What is missing or cannot be compared, as a
/// run that was refused, has its status alone.
std::vector<Measured> measure(const std::filesystem::path& folder, const std::vector<std::string>& names,
                              const std::vector<std::string>& statuses);

/// compare.csv: a row a run and frame.
std::string table_of(const std::filesystem::path& folder, const std::string& compared,
                     const std::vector<Measured>& runs);
nlohmann::ordered_json json_of(const std::string& compared, const std::vector<Measured>& runs);

}  // namespace tresse::app::compare
