#include <cmath>
#include <cstdint>
#include <limits>

#include <fmt/format.h>

#include <Eigen/SparseCore>

#include <tresse/base/errors.hpp>
#include <tresse/files/hdf5.hpp>
#include <tresse/problem_files/detail/friction_blocks.hpp>

namespace tresse::problem_files::detail {
namespace {

using Sparse = Eigen::SparseMatrix<double>;
using Triplets = std::vector<Eigen::Triplet<double>>;

[[noreturn]] void refuse(const files::Hdf5Reader& file, const std::string& dataset, const std::string& what) {
  throw InvalidInput(fmt::format("{}: dataset '{}': {}", file.path().string(), dataset, what));
}

int read_count(const files::Hdf5Reader& file, const std::string& name, int least = 0) {
  const auto value = file.read_scalar<std::int64_t>(name);
  if (value < least || value > std::numeric_limits<int>::max())
    refuse(file, name, fmt::format("found {}, expected an integer >= {}", value, least));
  return static_cast<int>(value);
}

std::vector<double> read_finite(const files::Hdf5Reader& file, const std::string& name, std::size_t size) {
  std::vector<double> values = file.read<double>(name);
  if (values.size() != size) refuse(file, name, fmt::format("holds {} numbers, expected {}", values.size(), size));
  for (std::size_t i = 0; i < size; ++i)
    if (!std::isfinite(values[i]))
      refuse(file, name, fmt::format("entry {} is {}, expected a finite number", i, values[i]));
  return values;
}

/// Indices in 0..limit - 1, exactly or at least `count` of them.
std::vector<std::int64_t> read_indices(const files::Hdf5Reader& file, const std::string& name, std::size_t count,
                                       int limit) {
  std::vector<std::int64_t> values = file.read<std::int64_t>(name);
  if (values.size() < count) refuse(file, name, fmt::format("holds {} indices, expected {}", values.size(), count));
  values.resize(count);
  for (const std::int64_t v : values)
    if (v < 0 || v >= limit) refuse(file, name, fmt::format("found index {}, expected 0..{}", v, limit - 1));
  return values;
}

/// fclib_matrix: nz = -1 columns compressed, -2 rows compressed, >= 0 triplets (p columns, i rows).
Sparse read_matrix(const files::Hdf5Reader& file, const std::string& group) {
  const int rows = read_count(file, group + "/m");
  const int columns = read_count(file, group + "/n");
  const auto nz = file.read_scalar<std::int64_t>(group + "/nz");
  if (nz < -2) refuse(file, group + "/nz", fmt::format("found {}, expected -2, -1 or a count", nz));
  Triplets triplets;
  if (nz >= 0) {
    const auto count = static_cast<std::size_t>(nz);
    const std::vector<double> x = read_finite(file, group + "/x", count);
    const auto i = read_indices(file, group + "/i", count, rows);
    const auto p = read_indices(file, group + "/p", count, columns);
    for (std::size_t k = 0; k < count; ++k) triplets.emplace_back(static_cast<int>(i[k]), static_cast<int>(p[k]), x[k]);
  } else {
    const bool by_column = nz == -1;
    const int lines = by_column ? columns : rows;
    const std::size_t stored = file.read<double>(group + "/x").size();
    const auto p =
        read_indices(file, group + "/p", static_cast<std::size_t>(lines) + 1, std::numeric_limits<int>::max());
    const auto count = static_cast<std::size_t>(p.back());
    if (p.front() != 0 || count > stored)
      refuse(file, group + "/p", fmt::format("runs from {} to {}, expected 0 to at most {}", p.front(), count, stored));
    const std::vector<double> x = read_finite(file, group + "/x", stored);
    const auto i = read_indices(file, group + "/i", count, by_column ? rows : columns);
    for (int line = 0; line < lines; ++line) {
      const auto begin = static_cast<std::size_t>(p[static_cast<std::size_t>(line)]);
      const auto end = static_cast<std::size_t>(p[static_cast<std::size_t>(line) + 1]);
      if (begin > end || end > count) refuse(file, group + "/p", "must not descend");
      for (std::size_t k = begin; k < end; ++k)
        by_column ? triplets.emplace_back(static_cast<int>(i[k]), line, x[k])
                  : triplets.emplace_back(line, static_cast<int>(i[k]), x[k]);
    }
  }
  Sparse out(rows, columns);
  out.setFromTriplets(triplets.begin(), triplets.end());
  return out;
}

void require_shape(const files::Hdf5Reader& file, const std::string& group, const Sparse& matrix, Eigen::Index rows,
                   Eigen::Index columns) {
  if (matrix.rows() == rows && matrix.cols() == columns) return;
  refuse(file, group, fmt::format("is {} by {}, expected {} by {}", matrix.rows(), matrix.cols(), rows, columns));
}

VectorX read_vector(const files::Hdf5Reader& file, const std::string& name, Eigen::Index size) {
  const std::vector<double> values = read_finite(file, name, static_cast<std::size_t>(size));
  return Eigen::Map<const VectorX>(values.data(), size);
}

int read_dimension(const files::Hdf5Reader& file, const std::string& group) {
  const int dimension = read_count(file, group + "/spacedim", 2);
  if (dimension > 3) refuse(file, group + "/spacedim", fmt::format("found {}, expected 2 or 3", dimension));
  for (const char* equality : {"/G", "/V", "/R", "/vectors/b", "/vectors/s"})
    if (file.contains(group + equality))
      refuse(file, group + equality, "equality constraints are not supported: eliminate them first");
  return dimension;
}

VectorX read_coefficients(const files::Hdf5Reader& file, const std::string& name) {
  const files::Shape shape = file.shape(name);
  VectorX mu = read_vector(file, name, shape.empty() ? 1 : static_cast<Eigen::Index>(shape.front()));
  for (Eigen::Index i = 0; i < mu.size(); ++i)
    if (mu[i] < 0.0) refuse(file, name, fmt::format("entry {} is {}, expected a number >= 0", i, mu[i]));
  return mu;
}

GlobalFrictionProblem read_global(const files::Hdf5Reader& file) {
  GlobalFrictionProblem out;
  out.dimension = read_dimension(file, "fclib_global");
  out.mu = read_coefficients(file, "fclib_global/vectors/mu");
  const Eigen::Index size = out.dimension * out.mu.size();
  out.H = read_matrix(file, "fclib_global/H");
  out.M = read_matrix(file, "fclib_global/M");
  require_shape(file, "fclib_global/H", out.H, out.M.rows(), size);
  require_shape(file, "fclib_global/M", out.M, out.M.rows(), out.M.rows());
  out.f = read_vector(file, "fclib_global/vectors/f", out.M.rows());
  out.w = read_vector(file, "fclib_global/vectors/w", size);
  return out;
}

FrictionFile reduced_or_refused(const files::Hdf5Reader& file, const GlobalFrictionProblem& global) {
  std::optional<FrictionFile> out = reduced(global);
  if (!out) refuse(file, "fclib_global/M", "is singular, or so to working precision");
  return *std::move(out);
}

FrictionFile read_local(const files::Hdf5Reader& file) {
  FrictionFile out;
  out.dimension = read_dimension(file, "fclib_local");
  out.problem.mu = read_coefficients(file, "fclib_local/vectors/mu");
  const auto contacts = static_cast<int>(out.problem.mu.size());
  const int size = out.dimension * contacts;
  const Sparse W = read_matrix(file, "fclib_local/W");
  require_shape(file, "fclib_local/W", W, size, size);
  out.problem.W = blocks_of(W, contacts, out.dimension);
  out.problem.q =
      embedded_vector(read_finite(file, "fclib_local/vectors/q", static_cast<std::size_t>(size)), out.dimension);
  return out;
}

std::string group_of(const files::Hdf5Reader& file) {
  for (const char* group : {"fclib_local", "fclib_global"})
    if (file.contains(group)) return group;
  throw InvalidInput(
      fmt::format("{}: found neither group 'fclib_local' nor 'fclib_global', expected one", file.path().string()));
}

/// `size`: of u and r, `velocities`: of v, zero in local problems.
FrictionAnswer read_answer(const files::Hdf5Reader& file, const std::string& group, Eigen::Index size,
                           Eigen::Index velocities) {
  FrictionAnswer out;
  if (velocities > 0) out.v = read_vector(file, group + "/v", velocities);
  out.u = read_vector(file, group + "/u", size);
  out.r = read_vector(file, group + "/r", size);
  return out;
}

}  // namespace

FrictionFile read_fclib(const std::filesystem::path& path) {
  const files::Hdf5Reader file(path);
  FrictionFile out = group_of(file) == "fclib_local" ? read_local(file) : reduced_or_refused(file, read_global(file));
  friction::validate(out.problem);
  return out;
}

}  // namespace tresse::problem_files::detail

namespace tresse::problem_files {

GlobalFrictionProblem read_global_friction_problem(const std::filesystem::path& path) {
  const files::Hdf5Reader file(path);
  if (!file.contains("fclib_global"))
    throw InvalidInput(fmt::format("{}: found no group 'fclib_global', expected one", path.string()));
  return detail::read_global(file);
}

FrictionNotes read_friction_notes(const std::filesystem::path& path) {
  const files::Hdf5Reader file(path);
  const std::string group = detail::group_of(file);
  const bool local = group == "fclib_local";
  const auto text = [&](const std::string& name) {
    return file.contains(group + "/info/" + name) ? file.read_string(group + "/info/" + name) : std::string();
  };
  FrictionNotes out{text("title"), text("description"), text("math_info"), {}, {}};
  const int size = detail::read_count(file, group + (local ? "/W/n" : "/H/n"));
  const int velocities = local ? 0 : detail::read_count(file, group + "/M/n");
  if (file.contains("guesses/number_of_guesses")) {
    const int guesses = detail::read_count(file, "guesses/number_of_guesses");
    for (int i = 1; i <= guesses; ++i)
      out.guesses.push_back(detail::read_answer(file, fmt::format("guesses/{}", i), size, velocities));
  }
  if (file.contains("solution")) out.solution = detail::read_answer(file, "solution", size, velocities);
  return out;
}

}  // namespace tresse::problem_files
