#include <tresse/problem_files/friction_file.hpp>

#include <array>
#include <fstream>

#include <fmt/format.h>

#include <tresse/files/atomic_file.hpp>
#include <tresse/files/regular_file.hpp>
#include <tresse/problem_files/detail/friction_blocks.hpp>

namespace tresse::problem_files {

FrictionFile read_friction_problem(const std::filesystem::path& file) {
  constexpr std::array<char, 8> signature = {'\x89', 'H', 'D', 'F', '\r', '\n', '\x1a', '\n'};
  constexpr const char* expected = "FCLIB HDF5 or Siconos text";
  files::require_regular_file(file, expected);
  {
    std::ifstream stream(file, std::ios::binary);
    std::array<char, 8> head{};
    stream.read(head.data(), head.size());
    if (stream.gcount() == 8 && head == signature) return detail::read_fclib(file);
  }
  return parse_friction_text(files::read_file(file, expected), file.string());
}

VectorX in_file_dimension(const FrictionFile& file, const VectorX& v) {
  if (file.dimension == 3) return v;
  VectorX out(v.size() / 3 * 2);
  for (Eigen::Index i = 0; 3 * i < v.size(); ++i) out.segment<2>(2 * i) = v.segment<2>(3 * i);
  return out;
}

namespace detail {

Matrix3 embedded_block(const double* numbers, int dimension, bool diagonal) {
  if (dimension == 3) return Eigen::Map<const Matrix3>(numbers);
  Matrix3 out = Matrix3::Zero();
  out.topLeftCorner<2, 2>() = Eigen::Map<const Eigen::Matrix2d>(numbers);
  // Keeps tr W_ii / 3 the mean of the plane's two entries, and the block well conditioned.
  if (diagonal) out(2, 2) = 0.5 * (out(0, 0) + out(1, 1));
  return out;
}

VectorX embedded_vector(const std::vector<double>& numbers, int dimension) {
  if (dimension == 3) return Eigen::Map<const VectorX>(numbers.data(), static_cast<Eigen::Index>(numbers.size()));
  VectorX out = VectorX::Zero(static_cast<Eigen::Index>(numbers.size() / 2 * 3));
  for (std::size_t i = 0; 2 * i < numbers.size(); ++i) {
    out[static_cast<Eigen::Index>(3 * i)] = numbers[2 * i];
    out[static_cast<Eigen::Index>(3 * i + 1)] = numbers[2 * i + 1];
  }
  return out;
}

friction::BlockMatrix block_matrix(std::map<std::pair<int, int>, std::array<double, 9>> entries, int rows,
                                   int dimension) {
  for (int i = 0; i < rows; ++i) entries.try_emplace({i, i}, std::array<double, 9>{});
  friction::BlockMatrix out;
  out.rows = rows;
  out.row_begin.assign(static_cast<std::size_t>(rows) + 1, 0);
  for (const auto& [place, numbers] : entries) {
    ++out.row_begin[static_cast<std::size_t>(place.first) + 1];
    out.column.push_back(place.second);
    out.block.push_back(embedded_block(numbers.data(), dimension, place.first == place.second));
  }
  for (std::size_t i = 1; i < out.row_begin.size(); ++i) out.row_begin[i] += out.row_begin[i - 1];
  return out;
}

}  // namespace detail
}  // namespace tresse::problem_files
