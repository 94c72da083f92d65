#pragma once

#include <array>
#include <filesystem>
#include <map>
#include <utility>
#include <vector>

#include <tresse/io/friction_file.hpp>

/// What the two readers of friction problems share.
namespace tresse::io::detail {

FrictionFile read_fclib(const std::filesystem::path& path);

/// Blocks (row, column) of d*d numbers, column-major, as 3x3 blocks; missing diagonal blocks are added as zero.
friction::BlockMatrix block_matrix(std::map<std::pair<int, int>, std::array<double, 9>> entries, int rows,
                                   int dimension);
Matrix3 embedded_block(const double* numbers, int dimension, bool diagonal);
VectorX embedded_vector(const std::vector<double>& numbers, int dimension);

}  // namespace tresse::io::detail
