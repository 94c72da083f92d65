#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <tresse/files/units.hpp>

/// What the columns of a table of points hold, by the names that spreadsheets and programs give them.
namespace tresse::importers::detail {

struct CsvColumns {
  std::array<std::size_t, 3> place{};
  std::optional<std::size_t> fibre, group, frame, radius;
  bool diameter = false;                                 ///< the radius column holds twice the radius
  std::array<std::optional<files::Unit>, 3> place_unit;  ///< of x, y and z; all or none
  std::optional<files::Unit> radius_unit;                ///< where the places have one
  std::size_t count = 0;
  char separator = ',';
  std::vector<std::string> ignored;  ///< names of the other columns
};

/// The columns of a header line, whose separator is a comma, a semicolon, a tab or a bar. None where x, y or z is
/// missing; `missing` is then set to the one. @throws InvalidInput "name:number: ..." for units that fit nothing.
std::optional<CsvColumns> csv_columns(std::string_view line, const std::string& name, std::size_t number,
                                      char& missing);

/// Takes the units of x, y and z from a row of units below the header. False where the cells are something else.
bool read_csv_units(const std::vector<std::string_view>& cells, CsvColumns& columns);

}  // namespace tresse::importers::detail
