#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <tresse/base/types.hpp>

namespace tresse::importers {

/// Rows of points from a file, checked: every row has two points or more, all finite, consecutive ones apart.
struct Polylines {
  std::vector<std::vector<Vector3>> rows;  ///< in the file's unit, or in metres where it names one
  /// (rows)(points) where the file has thickness, else empty. None is negative, and no two neighbours are 0.
  std::vector<std::vector<double>> radii;
  bool in_metres = false;                                  ///< the file says how long its unit is
  bool y_up = false;                                       ///< the file says that its y axis points up
  std::vector<std::size_t> numbers;                        ///< (rows) of each in the file, from 0
  std::string why_no_radii = "the file has no thickness";  ///< where `radii` are empty
  std::vector<std::string> remarks;                        ///< what was left out or not read, a sentence each
};

/// Reads by the name's end: `.hair` (Cem Yuksel's binary format), `.obj` (line records), `.csv` (a table with columns
/// x, y, z) or `.usda` (BasisCurves as text). A row that is no strand is left out and told in `remarks`.
/// `frame`: of files that hold several, by its order; 0 is the first, -1 the last. `radii`: whether the thickness is
/// wanted; rows whose thickness is none are then left out. What each format may hold: docs/guide/imports.md.
/// @throws InvalidInput with one line that names the place; also where no row is left.
Polylines read_polylines(const std::filesystem::path& file, int frame = 0, bool radii = true);
/// The same from the contents of a file of that name.
Polylines parse_polylines(std::string_view bytes, const std::filesystem::path& file, int frame = 0, bool radii = true);

}  // namespace tresse::importers
