#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <tresse/base/words.hpp>
#include <tresse/files/lines.hpp>
#include <tresse/files/text.hpp>
#include <tresse/importers/detail/csv_header.hpp>
#include <tresse/importers/detail/polyline_readers.hpp>

/// Tables of points, one a line, as tresse, spreadsheets and scripts write them.
namespace tresse::importers::detail {
namespace {

/// The cells of a line. One that begins with a quote ends with a quote; elsewhere a quote is a character.
class Cells {
 public:
  /// False where the line ends within quotes.
  bool split(std::string_view line, char separator) {
    cells_.clear();
    unpacked_.clear();
    for (;;) {
      std::size_t begin = 0;
      if (line.starts_with('"')) {
        begin = end_of_quoted(line);
        if (begin == std::string_view::npos) return false;
        add_quoted(line.substr(1, begin - 2));
      }
      const std::size_t end = line.find(separator, begin);
      if (begin == 0) cells_.push_back(line.substr(0, end));
      if (end == std::string_view::npos) return true;
      line.remove_prefix(end + 1);
    }
  }
  const std::vector<std::string_view>& cells() const { return cells_; }

 private:
  /// Behind the quote that closes the one at the front; two in a row close nothing.
  static std::size_t end_of_quoted(std::string_view line) {
    for (std::size_t at = line.find('"', 1); at != std::string_view::npos; at = line.find('"', at + 2)) {
      if (at + 1 >= line.size() || line[at + 1] != '"') return at + 1;
    }
    return std::string_view::npos;
  }

  void add_quoted(std::string_view inner) {
    if (inner.find('"') == std::string_view::npos) {
      cells_.push_back(inner);
      return;
    }
    std::string& out = unpacked_.emplace_back();
    for (std::size_t i = 0; i < inner.size(); i += inner[i] == '"' ? 2 : 1) out += inner[i];
    cells_.push_back(out);
  }

  std::vector<std::string_view> cells_;
  std::deque<std::string> unpacked_;  ///< of cells with quotes in them
};

/// A number, with a decimal comma where the locale of a spreadsheet wants one.
std::optional<double> cell_number(std::string_view cell) {
  if (const auto value = files::real_in(cell)) return value;
  const std::size_t comma = cell.find(',');
  if (comma == std::string_view::npos || cell.find('.') != std::string_view::npos) return std::nullopt;
  std::string with_point(cell);
  with_point[comma] = '.';
  return files::real_in(with_point);
}

/// The rows of one frame.
struct CsvFrame {
  RawPolylines raw;
  std::vector<std::string> ids;  ///< (rows) of the fibres
};

class CsvReader {
 public:
  CsvReader(std::string_view text, const std::string& name) : lines_(text), name_(name) {}

  RawPolylines read(int frame) {
    read_header();
    bool first = true;
    while (lines_.next()) {
      const std::string_view line = trimmed_end(lines_.line());
      if (blank(line)) {
        apart_ = apart_ || (!columns_.fibre && !columns_.group);
        continue;
      }
      if (line.starts_with('#')) continue;
      split(line);
      if (!std::exchange(first, false) || !read_csv_units(cells_.cells(), columns_)) add_point(cells_.cells());
    }
    if (frames_.empty()) files::fail(name_, "has no row below its header; expected points");
    CsvFrame& chosen = frames_.at(frame_index(frame, frames_.size(), name_));
    gather(chosen);
    chosen.raw.lines.in_metres = columns_.place_unit[0].has_value();
    if (!columns_.ignored.empty())
      remarks_.push_back(fmt::format("{} not read: {}",
                                     columns_.ignored.size() == 1 ? "this column is" : "these columns are",
                                     few_of(columns_.ignored)));
    for (std::string& remark : remarks_) chosen.raw.lines.remarks.push_back(std::move(remark));
    return std::move(chosen.raw);
  }

 private:
  /// Splits a line, together with those behind it that a cell in quotes goes on in.
  void split(std::string_view line) {
    constexpr int most = 100;
    if (cells_.split(line, columns_.separator)) return;
    files::Lines ahead = lines_;
    for (int k = 0; k < most && ahead.next(); ++k) {
      const std::string_view last = ahead.line();
      const auto size = static_cast<std::size_t>(last.data() + last.size() - line.data());
      if (!cells_.split(std::string_view(line.data(), size), columns_.separator)) continue;
      lines_ = ahead;
      return;
    }
    cells_.split(line, columns_.separator);  // what stands before the quote
  }

  /// Blanks at the end are no cell; a tab may be.
  std::string_view trimmed_end(std::string_view line) const {
    while (line.ends_with(' ')) line.remove_suffix(1);
    return line;
  }
  bool blank(std::string_view line) const {
    return std::ranges::all_of(line, [&](char c) { return c == ' ' || c == '\t' || c == columns_.separator; });
  }

  /// Titles and remarks may stand before the header.
  void read_header() {
    constexpr int most = 20;
    std::size_t first = 0, before = 0;
    char first_missing = 'x';
    for (int looked = 0; looked < most && lines_.next(); ++looked) {
      const std::string_view line = files::trimmed(lines_.line());
      if (line.empty() || line.starts_with("sep=")) continue;
      char missing = 'x';
      if (auto found = csv_columns(lines_.line(), name_, lines_.number(), missing)) {
        columns_ = *std::move(found);
        least_ = 1 + *std::ranges::max_element(columns_.place);
        if (before > 0) {
          remarks_.push_back(fmt::format("{} before the header in line {} {} not read",
                                         counted(static_cast<std::int64_t>(before), "line"), lines_.number(),
                                         before == 1 ? "is" : "are"));
        }
        return;
      }
      if (first == 0) {
        first = lines_.number();
        first_missing = missing;
      }
      if (!line.starts_with('#')) ++before;
    }
    if (first == 0) files::fail(name_, 1, "is empty; expected a header with x, y and z");
    files::fail(name_, first, fmt::format("has no column {}; expected a header with x, y and z", first_missing));
  }

  std::string_view cell(const std::vector<std::string_view>& cells, std::optional<std::size_t> column) const {
    return column && *column < cells.size() ? files::trimmed(cells[*column]) : std::string_view();
  }

  void begin_row(std::string_view fibre, std::string_view group) {
    CsvFrame& into = frames_.back();
    into.raw.lines.rows.emplace_back();
    if (columns_.radius) into.raw.lines.radii.emplace_back();
    into.raw.places.push_back(lines_.number());
    into.ids.push_back(group.empty() ? std::string(fibre) : fmt::format("{} of {}", fibre, group));
  }

  void add_point(const std::vector<std::string_view>& cells) {
    const std::string_view frame = cell(cells, columns_.frame);
    const std::string_view fibre = cell(cells, columns_.fibre), group = cell(cells, columns_.group);
    const bool new_frame = frames_.empty() || frame != frame_;
    if (new_frame) {
      frames_.emplace_back();
      frame_ = frame;
    }
    if (new_frame || apart_ || fibre != fibre_ || group != group_) {
      begin_row(fibre, group);
      fibre_ = fibre;
      group_ = group;
      apart_ = false;
    }
    RawPolylines& into = frames_.back().raw;
    const std::size_t row = into.lines.rows.size() - 1;
    check_count(cells, row);
    Vector3& x = into.lines.rows.back().emplace_back();
    for (std::size_t axis = 0; axis < 3; ++axis)
      x[static_cast<int>(axis)] = number(cells, columns_.place.at(axis), columns_.place_unit.at(axis), into.flaws, row);
    if (!columns_.radius) return;
    const double thickness = number(cells, *columns_.radius, columns_.radius_unit, into.thickness_flaws, row);
    into.lines.radii.back().push_back(columns_.diameter ? 0.5 * thickness : thickness);
  }

  void check_count(const std::vector<std::string_view>& cells, std::size_t row) {
    std::size_t count = cells.size();
    while (count > columns_.count && files::trimmed(cells[count - 1]).empty()) --count;
    if (count <= columns_.count && cells.size() >= least_) return;
    frames_.back().raw.flaw(
        row, fmt::format("has {} in line {}; expected {}, as many as the header has",
                         counted(static_cast<std::int64_t>(count), "value"), lines_.number(), columns_.count));
  }

  double number(const std::vector<std::string_view>& cells, std::size_t column, const std::optional<files::Unit>& unit,
                std::map<std::size_t, std::string>& flaws, std::size_t row) const {
    const std::string_view text = cell(cells, column);
    const std::optional<double> value = cell_number(text);
    if (value) return unit ? unit->to_si(*value) : *value;
    flaws.emplace(row,
                  fmt::format("has {} in line {}; expected a number", files::in_quotes(text, 40), lines_.number()));
    return std::numeric_limits<double>::quiet_NaN();
  }

  /// Where every row is one point, a file lists the points of all fibres in turn: they are put together by the name of
  /// their fibre. Elsewhere a name that comes again is another fibre.
  void gather(CsvFrame& frame) {
    RawPolylines& raw = frame.raw;
    std::unordered_map<std::string, std::size_t> first;
    std::vector<std::size_t> into;
    std::size_t again = 0, where = 0;
    bool single = true;
    for (std::size_t i = 0; i < frame.ids.size(); ++i) {
      single = single && raw.lines.rows[i].size() == 1;
      const auto [found, fresh] = first.emplace(frame.ids[i], first.size());
      into.push_back(found->second);
      if (fresh || frame.ids[i].empty()) continue;
      if (again++ == 0) where = i;
    }
    if (again == 0) return;
    if (!single) {
      remarks_.push_back(fmt::format("fibre {} comes again in line {} and is read as another one{}",
                                     files::in_quotes(frame.ids[where], 40), raw.places[where],
                                     again > 1 ? fmt::format(", as are {} more", again - 1) : ""));
      return;
    }
    RawPolylines out;
    out.lines.rows.resize(first.size());
    if (columns_.radius) out.lines.radii.resize(first.size());
    out.places.assign(first.size(), 0);
    for (std::size_t i = 0; i < into.size(); ++i) {
      const std::size_t to = into[i];
      if (out.places[to] == 0) out.places[to] = raw.places[i];
      out.lines.rows[to].push_back(raw.lines.rows[i].front());
      if (columns_.radius) out.lines.radii[to].push_back(raw.lines.radii[i].front());
      if (const auto flaw = raw.flaws.find(i); flaw != raw.flaws.end()) out.flaw(to, flaw->second);
      if (const auto flaw = raw.thickness_flaws.find(i); flaw != raw.thickness_flaws.end())
        out.thickness_flaws.emplace(to, flaw->second);
    }
    raw = std::move(out);
  }

  files::Lines lines_;
  const std::string& name_;
  CsvColumns columns_;
  std::size_t least_ = 0;  ///< as many cells a row needs
  Cells cells_;
  std::vector<CsvFrame> frames_;
  std::string frame_, fibre_, group_;  ///< of the point before
  bool apart_ = false;                 ///< a blank line stands before the next point
  std::vector<std::string> remarks_;
};

}  // namespace

RawPolylines read_csv_lines(std::string_view text, const std::string& name, int frame) {
  return CsvReader(text, name).read(frame);
}

}  // namespace tresse::importers::detail
