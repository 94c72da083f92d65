#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <variant>
#include <vector>

namespace tresse::exporters::detail {

/// A named array of points or cells; `components` numbers each.
struct VtkArray {
  std::string name;
  int components = 1;
  std::variant<std::vector<float>, std::vector<std::int32_t>> values;
};

/// One VTK data set whose cells are all of one kind.
struct VtkPiece {
  enum class Cell : std::uint8_t { vertex = 1, polyline = 4, triangle = 5 };  ///< VTK's numbers
  Cell cell = Cell::polyline;
  double time = 0.0;                       ///< [s]
  std::vector<float> points;               ///< (n, 3) [m]
  std::vector<std::int64_t> connectivity;  ///< points of the cells
  std::vector<std::int64_t> ends;          ///< (cells) of each in `connectivity`
  std::vector<VtkArray> point_data;
  std::vector<VtkArray> cell_data;
};

/// VTK XML PolyData with appended raw data.
void write_vtp(const std::filesystem::path& file, const VtkPiece& piece);

/// VTKHDF 1.0 UnstructuredGrid, what ParaView reads from 5.10 on.
void write_vtkhdf(const std::filesystem::path& file, const VtkPiece& piece);

}  // namespace tresse::exporters::detail
