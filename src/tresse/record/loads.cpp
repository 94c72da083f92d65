#include <tresse/record/loads.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fstream>
#include <map>

#include <fmt/format.h>

#include <tresse/base/errors.hpp>
#include <tresse/files/csv.hpp>

namespace tresse::record {
namespace {

/// @throws InvalidInput
double number_in(const std::filesystem::path& file, const std::string& text) {
  double out = 0.0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (error != std::errc() || end != text.data() + text.size())
    throw InvalidInput(fmt::format("{}: '{}' is no number; expected the table of a run", file.string(), text));
  return out;
}

}  // namespace

LoadTallies::LoadTallies(const std::vector<std::string>& names) {
  std::map<std::string, std::size_t> known;
  for (const std::string& name : names) {
    const auto [place, fresh] = known.try_emplace(name, tallies_.size());
    if (fresh) tallies_.emplace_back().name = name;
    tally_of_.push_back(place->second);
  }
  sums_.resize(tallies_.size());
}

void LoadTallies::add(double time, const std::vector<Vector3>& forces) {
  require(forces.size() == tally_of_.size(), "loads: needs one force a row");
  std::fill(sums_.begin(), sums_.end(), Vector3::Zero());
  for (std::size_t i = 0; i < forces.size(); ++i) sums_[tally_of_[i]] += forces[i];
  for (std::size_t i = 0; i < tallies_.size(); ++i) {
    LoadTally& tally = tallies_[i];
    const double size = sums_[i].norm();
    ++tally.steps;
    tally.sum += size;
    if (std::isnan(tally.largest) || size <= tally.largest) continue;  // a NaN, once there, stays the largest
    tally.largest = size;
    tally.largest_time = time;
  }
}

void LoadTallies::add_table(const std::filesystem::path& file, std::uint64_t length, int first) {
  if (tally_of_.empty()) return;
  std::ifstream in(file, std::ios::binary);
  std::string line;
  std::getline(in, line);
  std::uint64_t read = line.size() + 1;
  std::vector<Vector3> forces;
  while (read < length && std::getline(in, line)) {
    read += line.size() + 1;
    const std::vector<std::string> row = files::row_fields(line);
    if (row.size() < static_cast<std::size_t>(first) + 3)
      throw InvalidInput(fmt::format("{}: '{}' is no row of it; expected the table of a run", file.string(), line));
    Vector3& force = forces.emplace_back();
    for (int axis = 0; axis < 3; ++axis) force[axis] = number_in(file, row[static_cast<std::size_t>(first + axis)]);
    if (forces.size() < tally_of_.size()) continue;
    add(number_in(file, row.front()), forces);
    forces.clear();
  }
  if (read < length) throw SystemFailure(fmt::format("cannot read {}", file.string()));
}

}  // namespace tresse::record
