#pragma once

#include <array>
#include <filesystem>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include <tresse/problem_files/friction_file.hpp>

/// What the two readers of friction problems share.
namespace tresse::problem_files::detail {

FrictionFile read_fclib(const std::filesystem::path& path);

/// Blocks (row, column) of d*d numbers, column-major, as 3x3 blocks; missing diagonal blocks are added as zero.
friction::BlockMatrix block_matrix(std::map<std::pair<int, int>, std::array<double, 9>> entries, int rows,
                                   int dimension);
/// The same of a matrix; every stored entry makes its block one, zero or not.
friction::BlockMatrix blocks_of(const Eigen::SparseMatrix<double>& W, int contacts, int dimension);
/// With M eliminated; nothing where it is singular, to working precision or altogether.
std::optional<FrictionFile> reduced(const GlobalFrictionProblem& global);
Matrix3 embedded_block(const double* numbers, int dimension, bool diagonal);
VectorX embedded_vector(const std::vector<double>& numbers, int dimension);

}  // namespace tresse::problem_files::detail
