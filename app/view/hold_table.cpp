#include "view/hold_table.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fstream>
#include <limits>
#include <optional>

#include <tresse/files/csv.hpp>
#include <tresse/record/tables.hpp>

namespace tresse::app::view {
namespace {

/// Times that differ by less belong to one step: they are the same number, written and read.
constexpr double same_time = 1e-12;

struct HoldRow {
  double time = 0.0;
  HeldPoint point;
  float force[3] = {};
};

template <class T>
bool read_number(const std::string& text, T& value) {
  return std::from_chars(text.data(), text.data() + text.size(), value).ec == std::errc();
}

/// The next line that is a row; none at the end, at a line that is not whole yet, or at one that is no row.
std::optional<HoldRow> next_row(std::ifstream& in) {
  std::string line;
  if (!std::getline(in, line) || in.eof()) return std::nullopt;
  const std::vector<std::string> fields = files::row_fields(line);
  HoldRow row;
  if (fields.size() < 6 || !read_number(fields[0], row.time) || !read_number(fields[2], row.point.fibre))
    return std::nullopt;
  row.point.name = fields[1];
  for (std::size_t i = 0; i < 3; ++i) {
    if (!read_number(fields[3 + i], row.force[i])) row.force[i] = std::numeric_limits<float>::quiet_NaN();
  }
  return row;
}

/// The first row that begins at or behind byte `from`, which is behind the header.
std::optional<HoldRow> row_from(std::ifstream& in, std::uint64_t from) {
  in.clear();
  in.seekg(static_cast<std::streamoff>(from) - 1);
  std::string rest;
  std::getline(in, rest);  // ends at once where a line begins at `from`
  return next_row(in);
}

}  // namespace

std::string hold_load_bytes(const std::filesystem::path& file, const std::vector<HeldPoint>& points, double time) {
  std::vector<float> loads(3 * points.size(), std::numeric_limits<float>::quiet_NaN());
  std::ifstream in(file, std::ios::binary | std::ios::ate);
  const auto size = static_cast<std::uint64_t>(std::max<std::streamoff>(in.tellg(), 0));
  const double least = time - same_time * std::abs(time);
  // All rows that begin before `low` are earlier than `time`, none that begins behind `high` is.
  std::uint64_t low = std::min<std::uint64_t>(record::holds_header.size(), size);
  std::uint64_t high = size;
  while (high > low) {
    const std::uint64_t middle = low + (high - low) / 2;
    const std::optional<HoldRow> row = row_from(in, middle);
    if (row && row->time < least) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  if (low == 0) return {};
  std::optional<HoldRow> row = row_from(in, low);
  for (; row && row->time <= time + same_time * std::abs(time); row = next_row(in)) {
    const auto at = std::find(points.begin(), points.end(), row->point);
    if (at != points.end()) std::copy_n(row->force, 3, loads.begin() + 3 * (at - points.begin()));
  }
  return {reinterpret_cast<const char*>(loads.data()), loads.size() * sizeof(float)};
}

}  // namespace tresse::app::view
