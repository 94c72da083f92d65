#include <tresse/importers/detail/csv_header.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <span>
#include <utility>

#include <tresse/files/csv.hpp>
#include <tresse/files/text.hpp>

namespace tresse::importers::detail {
namespace {

using Words = std::span<const std::string_view>;

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

/// In lower case, without what stands between words: "Strand_ID" and "strand id" are one name.
std::string bare(std::string_view text) {
  std::string out;
  for (const char c : lower(text)) {
    if (std::string_view("_-. :,").find(c) == std::string_view::npos) out += c;
  }
  return out;
}

bool one_of(std::string_view word, Words words) { return std::ranges::find(words, word) != words.end(); }

std::optional<files::Unit> length_unit(std::string_view text) {
  const std::string word(files::trimmed(text));
  for (const std::string& candidate : {word, lower(word)}) {
    const std::optional<files::Unit> found = files::find_unit(candidate);
    if (found && found->dimension.same_units(files::dimensions::length)) return found;
  }
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 6> spelled{
      {{"met", "m"}, {"millimet", "mm"}, {"centimet", "cm"}, {"micromet", "um"}, {"nanomet", "nm"}, {"inch", "in"}}};
  const std::string small = lower(word);
  for (const auto& [begin, symbol] : spelled) {
    std::string_view rest = small;
    if (!rest.starts_with(begin)) continue;
    rest.remove_prefix(begin.size());
    static constexpr std::array<std::string_view, 6> ends{"", "er", "re", "ers", "res", "es"};
    if (one_of(rest, ends)) return files::find_unit(symbol);
  }
  return std::nullopt;
}

/// A column's name apart from the unit behind it: "x [mm]", "x (mm)", "x/mm", "x_mm", "x in mm".
struct Heading {
  std::string name;        ///< bare()
  std::string unit;        ///< as written
  bool bracketed = false;  ///< the unit can be nothing else
};

std::vector<Heading> readings(std::string_view text) {
  text = files::trimmed(text);
  std::vector<Heading> out{{bare(text), "", false}};
  if (text.ends_with(']') || text.ends_with(')')) {
    const std::size_t open = text.rfind(text.back() == ']' ? '[' : '(');
    if (open != std::string_view::npos && open > 0) {
      std::string_view name = files::trimmed(text.substr(0, open));
      if (name.ends_with(" in")) name.remove_suffix(3);
      out.push_back({bare(name), std::string(files::trimmed(text.substr(open + 1, text.size() - open - 2))), true});
    }
    return out;
  }
  const std::size_t mark = text.find_last_of("/_ ");
  if (mark != std::string_view::npos && mark > 0) {
    std::string_view name = files::trimmed(text.substr(0, mark));
    if (name.ends_with(" in")) name.remove_suffix(3);
    out.push_back({bare(name), std::string(files::trimmed(text.substr(mark + 1))), false});
  }
  return out;
}

bool names_fibre(std::string_view name) {
  static constexpr std::array<std::string_view, 12> things{"fibre",    "fiber", "strand", "hair",  "curve", "polyline",
                                                           "filament", "line",  "yarn",   "cable", "wire",  "rod"};
  static constexpr std::array<std::string_view, 9> ends{"", "s", "id", "index", "idx", "number", "no", "nr", "name"};
  return std::ranges::any_of(things, [&](std::string_view thing) {
    return name.starts_with(thing) && one_of(name.substr(thing.size()), ends);
  });
}

bool names_place(std::string_view name, std::size_t axis) {
  static constexpr std::array<std::string_view, 9> before{"",      "pos",    "position", "p",         "coord",
                                                          "point", "points", "node",     "coordinate"};
  static constexpr std::array<std::string_view, 5> behind{"", "pos", "position", "coord", "coordinate"};
  const std::string letter(1, "xyz"[axis]), digit(1, "012"[axis]);
  if (name == "points" + digit || name == "position" + digit) return true;
  for (const std::string_view word : before) {
    if (name == std::string(word) + letter) return true;
  }
  return std::ranges::any_of(behind, [&](std::string_view word) { return name == letter + std::string(word); });
}

/// Assigns the columns of one split of a header.
class HeaderReader {
 public:
  HeaderReader(std::vector<std::string> fields, char separator, const std::string& name, std::size_t number)
      : fields_(std::move(fields)), name_(name), number_(number) {
    out_.separator = separator;
    out_.count = fields_.size();
    taken_.assign(fields_.size(), false);
    for (const std::string& field : fields_) readings_.push_back(readings(field));
  }

  /// The columns, or the first of x, y and z that is missing.
  std::optional<CsvColumns> read(char& missing) {
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const auto [column, unit] = place(axis);
      if (!column) {
        missing = "xyz"[axis];
        return std::nullopt;
      }
      out_.place.at(axis) = *column;
      out_.place_unit.at(axis) = unit;
    }
    check_units();
    out_.fibre = plain(names_fibre);
    out_.group =
        plain([](std::string_view word) { return word == "group" || word == "groupid" || word == "groupname"; });
    out_.frame =
        plain([](std::string_view word) { return word == "frame" || word == "frameid" || word == "framenumber"; });
    if (!out_.frame)
      out_.frame = plain([](std::string_view word) {
        return word == "time" || word == "times" || word == "timestep" || word == "step";
      });
    read_radius();
    for (std::size_t c = 0; c < fields_.size(); ++c) {
      if (!taken_[c] && !files::trimmed(fields_[c]).empty())
        out_.ignored.push_back(one_line(files::trimmed(fields_[c]), 40));
    }
    return out_;
  }

 private:
  struct Found {
    std::optional<std::size_t> column;
    std::optional<files::Unit> unit;
  };

  /// The first column whose name fits, with the unit behind it; the plain name before one that has a unit.
  template <class Fits>
  Found find(const Fits& fits) {
    for (const std::size_t reading : {std::size_t{0}, std::size_t{1}}) {
      for (std::size_t c = 0; c < fields_.size(); ++c) {
        if (taken_[c] || reading >= readings_[c].size()) continue;
        const Heading& heading = readings_[c][reading];
        if (!fits(heading.name)) continue;
        std::optional<files::Unit> unit;
        if (reading > 0) {
          unit = length_unit(heading.unit);
          if (!unit && !heading.bracketed) continue;
          if (!unit) {
            files::fail(
                name_, number_,
                fmt::format("column {} has the unit {}; expected one of length, as in \"x [mm]\"",
                            files::in_quotes(files::trimmed(fields_[c]), 40), files::in_quotes(heading.unit, 20)));
          }
        }
        taken_[c] = true;
        return {c, unit};
      }
    }
    return {};
  }

  Found place(std::size_t axis) {
    const std::string letter(1, "xyz"[axis]);
    const Found found = find([&](std::string_view word) { return word == letter; });
    return found.column ? found : find([&](std::string_view word) { return names_place(word, axis); });
  }

  template <class Fits>
  std::optional<std::size_t> plain(const Fits& fits) {
    for (std::size_t c = 0; c < fields_.size(); ++c) {
      const bool matches =
          std::ranges::any_of(readings_[c], [&](const Heading& heading) { return fits(heading.name); });
      if (taken_[c] || !matches) continue;
      taken_[c] = true;
      return c;
    }
    return std::nullopt;
  }

  void check_units() const {
    const auto with = std::ranges::count_if(out_.place_unit, [](const auto& unit) { return unit.has_value(); });
    if (with != 0 && with != 3)
      files::fail(name_, number_, "only some of the columns x, y and z have a unit; expected one for all or for none");
  }

  void read_radius() {
    Found found = find([](std::string_view word) { return word == "radius"; });
    if (!found.column) {
      found = find([](std::string_view word) {
        return word == "diameter" || word == "thickness" || word == "width" || word == "widths";
      });
      out_.diameter = found.column.has_value();
    }
    out_.radius = found.column;
    if (!found.column) return;
    if (found.unit && !out_.place_unit[0]) {
      files::fail(name_, number_,
                  fmt::format("column {} has a unit and x, y and z have none; expected one for all or for none",
                              files::in_quotes(files::trimmed(fields_[*found.column]), 40)));
    }
    out_.radius_unit = found.unit ? found.unit : out_.place_unit[0];
  }

  std::vector<std::string> fields_;
  const std::string& name_;
  std::size_t number_;
  std::vector<std::vector<Heading>> readings_;
  std::vector<bool> taken_;
  CsvColumns out_;
};

}  // namespace

std::optional<CsvColumns> csv_columns(std::string_view line, const std::string& name, std::size_t number,
                                      char& missing) {
  line = files::trimmed(line);
  while (line.starts_with('#')) line = files::trimmed(line.substr(1));
  missing = 'x';
  for (const char separator : {',', ';', '\t', '|'}) {
    if (line.find(separator) == std::string_view::npos) continue;
    char here = 'x';
    if (auto found = HeaderReader(files::row_fields(line, separator), separator, name, number).read(here)) return found;
    missing = std::max(missing, here);
  }
  return std::nullopt;
}

bool read_csv_units(const std::vector<std::string_view>& cells, CsvColumns& columns) {
  if (columns.place_unit[0]) return false;
  const auto unit_in = [&](std::size_t column) {
    std::string_view text = column < cells.size() ? files::trimmed(cells[column]) : std::string_view();
    if (text.size() > 2 && (text.starts_with('[') || text.starts_with('('))) text = text.substr(1, text.size() - 2);
    return length_unit(text);
  };
  std::array<std::optional<files::Unit>, 3> found;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    found.at(axis) = unit_in(columns.place.at(axis));
    if (!found.at(axis)) return false;
  }
  columns.place_unit = found;
  if (columns.radius) {
    columns.radius_unit = unit_in(*columns.radius);
    if (!columns.radius_unit) columns.radius_unit = found[0];
  }
  return true;
}

}  // namespace tresse::importers::detail
