#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <tresse/base/types.hpp>

/// What a run says of the forces on its obstacles and on what holds its fibres: means and largest values.
namespace tresse::record {

/// Size of the force on one obstacle, or on what holds fibres at the points of one name, over the steps of a run.
struct LoadTally {
  std::string name;
  std::int64_t steps = 0;
  double sum = 0.0;           ///< over the steps [N]
  double largest = 0.0;       ///< [N]
  double largest_time = 0.0;  ///< end of the step where it was [s]

  double mean() const { return steps > 0 ? sum / static_cast<double>(steps) : 0.0; }  ///< [N]
};

/// The tallies of the rows that a step adds to forces.csv, holds.csv or roots.csv. Forces of rows with one name are
/// summed first.
class LoadTallies {
 public:
  /// `names`: of the rows of one step, in their order.
  explicit LoadTallies(const std::vector<std::string>& names);

  /// `forces`: of the rows of one step (3) each, world axes [N]
  void add(double time, const std::vector<Vector3>& forces);

  /// Adds the first `length` bytes of a table that append_force_rows(), append_hold_rows() or append_root_rows() wrote,
  /// header included. `first`: its column fx.
  /// @throws InvalidInput for a row that is damaged.
  void add_table(const std::filesystem::path& file, std::uint64_t length, int first);

  const std::vector<LoadTally>& all() const { return tallies_; }

 private:
  std::vector<std::size_t> tally_of_;  ///< (rows of a step)
  std::vector<LoadTally> tallies_;     ///< in the order in which the names first appear
  std::vector<Vector3> sums_;          ///< of one step, kept for its memory
};

}  // namespace tresse::record
