#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "cases.hpp"

/// What a sweep found: one row a run.
namespace tresse::app::sweep {

/// Whether only a sweep writes a file or folder of this name.
bool is_mark(const std::string& name);

/// summary.json of a run; an empty object where there is none that can be read.
nlohmann::json read_summary(const std::filesystem::path& folder);

/// What stands in a row under a name.
struct Entry {
  std::string name;
  std::string text;
  std::string unit;  ///< SI; empty: none, or not known
};

/// A column of numbers, or of texts where a value is none.
struct Column {
  std::string name;
  std::string unit;                ///< SI; empty: none, or not known
  std::vector<std::string> texts;  ///< as written to the CSV; empty: not known
};

/// How a run of the sweep stands.
struct Row {
  std::string status;             ///< "finished", "interrupted", "failed", "refused", "missing"
  int exit_status = 0;            ///< of the program; -1: not run
  std::string message;            ///< its last line where it was refused
  std::vector<Entry> parameters;  ///< varied ones, resolved: SI numbers or words
};

/// The table of the runs below `folder`: parameters, status, the summary's figures, forces on obstacles (of a static
/// case its residual, stability and first tip).
std::vector<Column> gather(const std::filesystem::path& folder, const std::vector<Case>& cases,
                           const std::vector<Row>& rows);

/// sweep.csv, sweep_units.csv and sweep.h5; a column whose known values are all numbers is one of doubles there, nan
/// where not known.
void write_table(const std::filesystem::path& folder, const std::vector<Column>& columns);

}  // namespace tresse::app::sweep
