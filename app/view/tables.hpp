#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "view/hold_table.hpp"

/// steps.csv, forces.csv and holds.csv as curves: the least and the greatest value of each column over stretches of
/// time, as many stretches as a screen has pixels whatever the number of steps. A table that grows is read where it was
/// left.
namespace tresse::app::view {

/// Columns over time in at most `most_stretches` stretches, each of 2^k rows; k rises as rows come.
class Curves {
 public:
  static constexpr std::size_t most_stretches = 2048;

  explicit Curves(std::size_t columns) : columns_(columns) {}

  /// The next row. A column that is not finite is left out of its stretch.
  void add(double time, const std::vector<double>& values);

  std::uint64_t rows() const { return rows_; }
  /// {"from": [...], "to": [...], "least": [[...] a column], "greatest": [[...] a column]}; null where nothing was
  /// finite.
  nlohmann::json json() const;

 private:
  struct Stretch {
    double from = 0.0;
    double to = 0.0;
    std::vector<double> least, greatest;  ///< (columns)
  };
  void merge_pairs();

  std::size_t columns_;
  std::uint64_t rows_ = 0;
  std::uint64_t rows_per_stretch_ = 1;
  std::vector<Stretch> stretches_;
};

/// The whole lines that were appended to a text file since the last look.
class Tail {
 public:
  explicit Tail(std::filesystem::path file) : file_(std::move(file)) {}

  /// At most 64 MiB a look. `restarted`: the file is another or shorter than what was read, so the lines begin anew.
  std::vector<std::string> read(bool& restarted);

 private:
  std::filesystem::path file_;
  std::uint64_t inode_ = 0;
  std::uint64_t offset_ = 0;
};

/// The tables of a run over time.
class Tables {
 public:
  /// Obstacles and held points beyond these have no curve.
  static constexpr std::size_t most_curves = 64;

  explicit Tables(const std::filesystem::path& folder);

  void update();                       ///< reads what was added
  nlohmann::json steps_json() const;   ///< {"columns": [names], "curves": ...}
  nlohmann::json forces_json() const;  ///< {"columns": [names], "obstacles": {name: curves}}
  /// {"columns": [names], "holds": [{"name", "fibre", "curves"}]}, in the order of the table.
  nlohmann::json holds_json() const;
  std::vector<HeldPoint> held_points() const;  ///< those of holds_json()

 private:
  void add_step(const std::string& line);
  void add_force(const std::string& line);
  void add_hold(const std::string& line);

  struct HeldCurves {
    HeldPoint point;
    Curves curves;
  };
  Tail steps_tail_, forces_tail_, holds_tail_;
  Curves steps_;
  std::map<std::string, Curves> forces_;
  std::vector<HeldCurves> holds_;
  std::map<HeldPoint, std::size_t> hold_index_;
};

}  // namespace tresse::app::view
