#include <cmath>
#include <cstdint>
#include <limits>

#include <fmt/format.h>

#include <tresse/base/errors.hpp>
#include <tresse/files/hdf5.hpp>
#include <tresse/problem_files/friction_file.hpp>

namespace tresse::problem_files {
namespace {

using Sparse = Eigen::SparseMatrix<double>;
using Integers = std::vector<std::int32_t>;

/// FCLIB's integers are vectors of one.
void put_integer(files::Hdf5Writer& out, const std::string& name, std::int32_t value) {
  out.write(name, Integers{value});
}

void put_vector(files::Hdf5Writer& out, const std::string& name, const VectorX& values) {
  out.write(name, values.data(), {static_cast<std::size_t>(values.size())});
}

/// With the final zero byte: FCLIB reads texts into memory of just the stored size, and prints them.
void put_text(files::Hdf5Writer& out, const std::string& name, const std::string& text) {
  if (!text.empty()) out.write_string(name, text + '\0');
}

/// By columns (nz = -1): the one storage that FCLIB's documents and its users understand alike. Their triplets differ
/// in which of p and i is the row.
struct Columns {
  int rows = 0;
  Integers begin{0};  // (columns + 1)
  Integers row;       // (entries)
  std::vector<double> value;
};

void put_matrix(files::Hdf5Writer& out, const std::string& group, const Columns& matrix) {
  put_integer(out, group + "/nzmax", static_cast<std::int32_t>(matrix.value.size()));
  put_integer(out, group + "/m", matrix.rows);
  put_integer(out, group + "/n", static_cast<std::int32_t>(matrix.begin.size()) - 1);
  put_integer(out, group + "/nz", -1);
  out.write(group + "/p", matrix.begin);
  out.write(group + "/i", matrix.row);
  out.write(group + "/x", matrix.value);
}

void require_count(std::size_t entries) {
  require(entries <= static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max()),
          "friction problem: more entries than FCLIB's 32-bit indices can count");
}

Columns columns_of(const Sparse& matrix) {
  Columns out{.rows = static_cast<int>(matrix.rows()), .begin = {0}, .row = {}, .value = {}};
  require_count(static_cast<std::size_t>(matrix.nonZeros()));
  for (Eigen::Index j = 0; j < matrix.outerSize(); ++j) {
    for (Sparse::InnerIterator entry(matrix, j); entry; ++entry) {
      out.row.push_back(static_cast<std::int32_t>(entry.row()));
      out.value.push_back(entry.value());
    }
    out.begin.push_back(static_cast<std::int32_t>(out.row.size()));
  }
  return out;
}

/// The d x d corner of every stored block, its zeros too: reading finds the same blocks.
Columns columns_of(const friction::BlockMatrix& W, int dimension) {
  require_count(W.block.size() * static_cast<std::size_t>(dimension * dimension));
  std::vector<std::vector<std::pair<int, const Matrix3*>>> by_column(static_cast<std::size_t>(W.rows));
  for (int i = 0; i < W.rows; ++i)
    for (int k = W.row_begin[static_cast<std::size_t>(i)]; k < W.row_begin[static_cast<std::size_t>(i) + 1]; ++k) {
      const auto at = static_cast<std::size_t>(k);
      by_column[static_cast<std::size_t>(W.column[at])].emplace_back(i, &W.block[at]);
    }
  Columns out{.rows = dimension * W.rows, .begin = {0}, .row = {}, .value = {}};
  for (const auto& blocks : by_column)
    for (int c = 0; c < dimension; ++c) {
      for (const auto& [i, block] : blocks)
        for (int r = 0; r < dimension; ++r) {
          out.row.push_back(dimension * i + r);
          out.value.push_back((*block)(r, c));
        }
      out.begin.push_back(static_cast<std::int32_t>(out.row.size()));
    }
  return out;
}

/// What in_file_dimension would drop must be what the reader adds.
void require_planar(const friction::FrictionProblem& problem) {
  const auto embedded = [&](int i, int k) {
    const auto at = static_cast<std::size_t>(k);
    const Matrix3& block = problem.W.block[at];
    const double corner = problem.W.column[at] == i ? 0.5 * (block(0, 0) + block(1, 1)) : 0.0;
    return block(0, 2) == 0.0 && block(1, 2) == 0.0 && block(2, 0) == 0.0 && block(2, 1) == 0.0 &&
           block(2, 2) == corner;
  };
  bool planar = true;
  for (int i = 0; i < problem.W.rows; ++i) {
    planar = planar && problem.q[3 * static_cast<Eigen::Index>(i) + 2] == 0.0;
    for (int k = problem.W.row_begin[static_cast<std::size_t>(i)];
         k < problem.W.row_begin[static_cast<std::size_t>(i) + 1]; ++k)
      planar = planar && embedded(i, k);
  }
  require(planar, "friction problem: the second tangent is coupled, expected an embedded planar problem");
}

void put_answer(files::Hdf5Writer& out, const std::string& group, const FrictionAnswer& answer) {
  if (answer.v.size() > 0) put_vector(out, group + "/v", answer.v);
  put_vector(out, group + "/u", answer.u);
  put_vector(out, group + "/r", answer.r);
}

/// `size`: of u and r, `velocities`: of v.
void require_answer(const FrictionAnswer& answer, Eigen::Index size, Eigen::Index velocities) {
  require(answer.u.size() == size && answer.r.size() == size && answer.v.size() == velocities,
          fmt::format("friction problem: a guess or solution has {}, {} and {} entries of v, u and r, expected {}, {} "
                      "and {}",
                      answer.v.size(), answer.u.size(), answer.r.size(), velocities, size, size));
  require(answer.v.allFinite() && answer.u.allFinite() && answer.r.allFinite(),
          "friction problem: a guess or solution holds a number that is not finite");
}

void require_notes(const FrictionNotes& notes, Eigen::Index size, Eigen::Index velocities) {
  for (const std::string* text : {&notes.title, &notes.description, &notes.math_info})
    require(text->find('\0') == std::string::npos, "friction problem: a text holds a zero byte");
  for (const FrictionAnswer& guess : notes.guesses) require_answer(guess, size, velocities);
  if (notes.solution) require_answer(*notes.solution, size, velocities);
}

void put_notes(files::Hdf5Writer& out, const std::string& group, const FrictionNotes& notes) {
  put_text(out, group + "/info/title", notes.title);
  put_text(out, group + "/info/description", notes.description);
  put_text(out, group + "/info/math_info", notes.math_info);
  if (!notes.guesses.empty()) put_integer(out, "guesses/number_of_guesses", static_cast<int>(notes.guesses.size()));
  for (std::size_t i = 0; i < notes.guesses.size(); ++i)
    put_answer(out, fmt::format("guesses/{}", i + 1), notes.guesses[i]);
  if (notes.solution) put_answer(out, "solution", *notes.solution);
}

void validate(const GlobalFrictionProblem& problem) {
  const Eigen::Index velocities = problem.M.rows();
  const Eigen::Index size = problem.dimension * problem.mu.size();
  require(problem.dimension == 2 || problem.dimension == 3, "friction problem: the dimension must be 2 or 3");
  require(problem.M.cols() == velocities && problem.H.rows() == velocities && problem.H.cols() == size &&
              problem.f.size() == velocities && problem.w.size() == size,
          "friction problem: sizes of M, H, f, w and mu disagree");
  const auto finite = [](const Sparse& matrix) {
    for (Eigen::Index j = 0; j < matrix.outerSize(); ++j)
      for (Sparse::InnerIterator entry(matrix, j); entry; ++entry)
        if (!std::isfinite(entry.value())) return false;
    return true;
  };
  require(finite(problem.M) && finite(problem.H) && problem.f.allFinite() && problem.w.allFinite(),
          "friction problem: M, H, f or w holds a number that is not finite");
  require(problem.mu.allFinite() && (problem.mu.array() >= 0.0).all(),
          "friction problem: a friction coefficient is not a finite number >= 0");
}

}  // namespace

GlobalFrictionProblem global_form(const friction::FactoredProblem& problem) {
  friction::validate(problem);
  const auto contacts = static_cast<int>(problem.contacts.size());
  const int velocities = problem.body_begin.empty() ? 0 : problem.body_begin.back();
  std::vector<Eigen::Triplet<double>> entries;
  for (int i = 0; i < contacts; ++i)
    for (const friction::ContactRows& side : problem.contacts[static_cast<std::size_t>(i)]) {
      if (side.body < 0) continue;
      const int begin = problem.body_begin[static_cast<std::size_t>(side.body)];
      for (int k = 0; k < 3 * side.columns; ++k)
        entries.emplace_back(begin + k % side.columns, 3 * i + k / side.columns,
                             problem.rows[static_cast<std::size_t>(side.offset + k)]);
    }
  GlobalFrictionProblem out;
  out.M.resize(velocities, velocities);
  out.M.setIdentity();
  out.H.resize(velocities, 3 * contacts);
  out.H.setFromTriplets(entries.begin(), entries.end());
  out.f = VectorX::Zero(velocities);
  out.w = problem.q;
  out.mu = problem.mu;
  return out;
}

void write_friction_problem(const std::filesystem::path& file, const friction::FrictionProblem& problem,
                            const FrictionNotes& notes, int dimension) {
  friction::validate(problem);
  require(dimension == 2 || dimension == 3, "friction problem: the dimension must be 2 or 3");
  if (dimension == 2) require_planar(problem);
  require_notes(notes, dimension * problem.mu.size(), 0);
  const FrictionFile shape{{}, dimension};
  files::write_hdf5(file, [&](files::Hdf5Writer& out) {
    put_integer(out, "fclib_local/spacedim", dimension);
    put_matrix(out, "fclib_local/W", columns_of(problem.W, dimension));
    put_vector(out, "fclib_local/vectors/q", in_file_dimension(shape, problem.q));
    put_vector(out, "fclib_local/vectors/mu", problem.mu);
    put_notes(out, "fclib_local", notes);
  });
}

void write_friction_problem(const std::filesystem::path& file, const GlobalFrictionProblem& problem,
                            const FrictionNotes& notes) {
  validate(problem);
  require_notes(notes, problem.w.size(), problem.f.size());
  files::write_hdf5(file, [&](files::Hdf5Writer& out) {
    put_integer(out, "fclib_global/spacedim", problem.dimension);
    put_matrix(out, "fclib_global/M", columns_of(problem.M));
    put_matrix(out, "fclib_global/H", columns_of(problem.H));
    put_vector(out, "fclib_global/vectors/f", problem.f);
    put_vector(out, "fclib_global/vectors/w", problem.w);
    put_vector(out, "fclib_global/vectors/mu", problem.mu);
    put_notes(out, "fclib_global", notes);
  });
}

}  // namespace tresse::problem_files
