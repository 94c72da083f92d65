#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <tresse/importers/polyline_file.hpp>

/// One reader a format. `name` is that of the file, for messages. What makes a file unreadable is thrown; what spoils a
/// single row is told as its flaw, so that the others are read.
namespace tresse::importers::detail {

/// The rows of a file before those that are no strands are left out.
struct RawPolylines {
  Polylines lines;                           ///< `numbers` are not filled in
  std::vector<std::size_t> places;           ///< (rows) line where each begins, from 1; empty: the file has no lines
  std::map<std::size_t, std::string> flaws;  ///< by row: why it is no strand, as the rest of a sentence about it

  std::map<std::size_t, std::string> thickness_flaws;  ///< the same, where the thickness is wanted

  /// The first flaw of a row is kept.
  void flaw(std::size_t row, std::string text) { flaws.emplace(row, std::move(text)); }
};

RawPolylines read_hair(std::string_view bytes, const std::string& name);
RawPolylines read_obj_lines(std::string_view text);
RawPolylines read_csv_lines(std::string_view text, const std::string& name, int frame);
RawPolylines read_usda_curves(std::string_view text, const std::string& name, int frame);

/// Up to three of the texts and how many more there are: "a, b, c and 4 more".
std::string few_of(const std::vector<std::string>& texts, std::string_view between = ", ");

/// The number that the word of a text is. @throws InvalidInput "name:line: ...".
double read_number(std::string_view word, const std::string& name, std::size_t line);

/// Place of `frame` among `count`, negative ones from the end. @throws InvalidInput where there is none.
std::size_t frame_index(int frame, std::size_t count, const std::string& name);

}  // namespace tresse::importers::detail
