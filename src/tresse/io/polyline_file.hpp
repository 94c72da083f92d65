#pragma once

#include <cstddef>
#include <filesystem>
#include <string_view>
#include <vector>

#include <tresse/base/types.hpp>

namespace tresse::io {

/// Rows of points from a file, checked: every row has two points or more, all finite, consecutive ones apart.
struct Polylines {
  std::vector<std::vector<Vector3>> rows;  ///< in the file's unit, or in metres where it names one
  std::vector<std::vector<double>> radii;  ///< (rows)(points) where the file has thickness, else empty
  bool in_metres = false;                  ///< the file says how long its unit is
  bool y_up = false;                       ///< the file says that its y axis points up
};

/// Reads by the name's end: `.hair` (Cem Yuksel's binary format), `.obj` (line records; segments that follow each other
/// are one row), `.csv` (columns x, y, z; optional fibre or strand, frame, radius) or `.usda` (BasisCurves as text).
/// `frame`: of files that hold several, by its order; 0 is the first, -1 the last. What each may hold: docs/imports.md.
/// @throws InvalidInput with one line that names the place.
Polylines read_polylines(const std::filesystem::path& file, int frame = 0);
/// The same from the contents of a file of that name.
Polylines parse_polylines(std::string_view bytes, const std::filesystem::path& file, int frame = 0);

}  // namespace tresse::io
