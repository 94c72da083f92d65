#include <tresse/problem_files/friction_file.hpp>

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>

#include <gtest/gtest.h>
#include <unistd.h>

#include <tresse/base/errors.hpp>
#include <tresse/files/hdf5.hpp>
#include <tresse/friction/solver.hpp>

namespace TRESSE_TEST_FILE {

using tresse::Matrix3;
using tresse::MatrixX;
using tresse::VectorX;
using tresse::friction::BlockMatrix;
using tresse::friction::FrictionProblem;
using namespace tresse::problem_files;
namespace files = tresse::files;

/// Equal bit for bit: -0 is not 0.
void expect_same(const VectorX& a, const VectorX& b) {
  ASSERT_EQ(a.size(), b.size());
  if (a.size() == 0) return;
  EXPECT_EQ(std::memcmp(a.data(), b.data(), static_cast<std::size_t>(a.size()) * sizeof(double)), 0);
}

void expect_same(const FrictionProblem& a, const FrictionProblem& b) {
  ASSERT_EQ(a.W.rows, b.W.rows);
  ASSERT_EQ(a.W.row_begin, b.W.row_begin);
  ASSERT_EQ(a.W.column, b.W.column);
  for (std::size_t k = 0; k < a.W.block.size(); ++k)
    ASSERT_EQ(std::memcmp(a.W.block[k].data(), b.W.block[k].data(), 9 * sizeof(double)), 0) << k;
  expect_same(a.q, b.q);
  expect_same(a.mu, b.mu);
}

void expect_same(const Eigen::SparseMatrix<double>& a, const Eigen::SparseMatrix<double>& b) {
  ASSERT_EQ(a.rows(), b.rows());
  ASSERT_EQ(a.cols(), b.cols());
  ASSERT_EQ(a.nonZeros(), b.nonZeros());
  for (Eigen::Index j = 0; j < a.outerSize(); ++j)
    for (Eigen::SparseMatrix<double>::InnerIterator x(a, j), y(b, j); x; ++x, ++y) {
      ASSERT_EQ(x.row(), y.row());
      ASSERT_EQ(std::memcmp(&x.value(), &y.value(), sizeof(double)), 0);
    }
}

class FrictionWriter : public testing::Test {
 protected:
  FrictionWriter()
      : folder_(std::filesystem::path(testing::TempDir()) / ("tresse_writer_" + std::to_string(::getpid()))),
        file_(folder_ / "a.hdf5") {
    std::filesystem::create_directories(folder_);
  }
  ~FrictionWriter() override { std::filesystem::remove_all(folder_); }

  double number() {  // over sixty decades, with zeros of both signs
    const auto pick = generator_() % 8;
    if (pick < 2) return pick == 0 ? 0.0 : -0.0;
    return std::ldexp(std::uniform_real_distribution<double>(-1.0, 1.0)(generator_),
                      static_cast<int>(generator_() % 200) - 100);
  }
  VectorX vector(Eigen::Index size) {
    return VectorX::NullaryExpr(size, [&](Eigen::Index) { return number(); });
  }
  /// Not symmetric, nor is its pattern; some blocks are stored and zero.
  FrictionProblem block_problem(int contacts) {
    FrictionProblem out;
    out.W.rows = contacts;
    out.W.row_begin = {0};
    for (int i = 0; i < contacts; ++i) {
      for (int j = 0; j < contacts; ++j) {
        if (i != j && generator_() % 3 != 0) continue;
        out.W.column.push_back(j);
        Matrix3 block = Matrix3::Zero();
        if (generator_() % 5 != 0)
          for (double& x : block.reshaped()) x = number();
        out.W.block.push_back(block);
      }
      out.W.row_begin.push_back(static_cast<int>(out.W.column.size()));
    }
    out.q = vector(3 * contacts);
    out.mu = vector(contacts).cwiseAbs();
    return out;
  }

  std::mt19937 generator_{7};
  std::filesystem::path folder_, file_;
};

TEST_F(FrictionWriter, blocks_come_back_bit_for_bit) {
  for (const int contacts : {0, 1, 2, 7, 23}) {
    const FrictionProblem problem = block_problem(contacts);
    write_friction_problem(file_, problem);
    const FrictionFile read = read_friction_problem(file_);
    EXPECT_EQ(read.dimension, 3);
    expect_same(problem, read.problem);
  }
}

TEST_F(FrictionWriter, dense_made_problems_come_back_bit_for_bit) {
  MatrixX W = MatrixX::Random(15, 15);
  W.block<3, 6>(3, 9).setZero();
  W.block<3, 3>(6, 6).setZero();
  const FrictionProblem problem{tresse::friction::block_matrix(W), vector(15), vector(5).cwiseAbs()};
  write_friction_problem(file_, problem);
  expect_same(problem, read_friction_problem(file_).problem);
}

TEST_F(FrictionWriter, planar_problems_go_back_to_the_plane) {
  const FrictionFile planar =
      parse_friction_text("2 2 0 4 4 4 4  2 0.5 -1 0  0.5 1 0 0  0.25 0 3 0.5  0 0 0.5 2  -1 3 0.5 0  0.5 0.25", "a");
  write_friction_problem(file_, planar.problem, {}, 2);
  EXPECT_EQ(files::Hdf5Reader(file_).shape("fclib_local/vectors/q"), files::Shape{4});
  const FrictionFile read = read_friction_problem(file_);
  EXPECT_EQ(read.dimension, 2);
  expect_same(planar.problem, read.problem);
  FrictionProblem spatial = planar.problem;
  spatial.W.block[0](2, 0) = 1e-300;
  EXPECT_THROW(write_friction_problem(file_, spatial, {}, 2), tresse::InvalidInput);
  spatial = planar.problem;
  spatial.q[2] = 1.0;
  EXPECT_THROW(write_friction_problem(file_, spatial, {}, 2), tresse::InvalidInput);
}

TEST_F(FrictionWriter, names_types_and_shapes_are_those_of_fclib) {
  FrictionProblem problem = block_problem(2);
  problem.W = tresse::friction::block_matrix(MatrixX::Constant(6, 6, 2.0));
  FrictionNotes notes{"A title", "Said of it", "", {{{}, vector(6), vector(6)}}, {}};
  notes.solution = notes.guesses.front();
  write_friction_problem(file_, problem, notes);
  const files::Hdf5Reader file(file_);
  EXPECT_EQ(file.children("/"), (std::vector<std::string>{"fclib_local", "guesses", "solution"}));
  EXPECT_EQ(file.children("fclib_local"), (std::vector<std::string>{"W", "info", "spacedim", "vectors"}));
  EXPECT_EQ(file.children("fclib_local/W"), (std::vector<std::string>{"i", "m", "n", "nz", "nzmax", "p", "x"}));
  EXPECT_EQ(file.children("fclib_local/info"), (std::vector<std::string>{"description", "title"}));
  EXPECT_EQ(file.children("guesses"), (std::vector<std::string>{"1", "number_of_guesses"}));
  EXPECT_EQ(file.children("solution"), (std::vector<std::string>{"r", "u"}));
  for (const char* one : {"fclib_local/spacedim", "fclib_local/W/m", "fclib_local/W/nz", "guesses/number_of_guesses"})
    EXPECT_EQ(file.shape(one), files::Shape{1}) << one;
  EXPECT_EQ(file.read_scalar<std::int32_t>("fclib_local/W/nz"), -1);
  EXPECT_EQ(file.read_scalar<std::int32_t>("fclib_local/W/nzmax"), 36);
  EXPECT_EQ(file.read<std::int32_t>("fclib_local/W/p"), (std::vector<std::int32_t>{0, 6, 12, 18, 24, 30, 36}));
  EXPECT_EQ(file.shape("fclib_local/info/title"), files::Shape{});
}

TEST_F(FrictionWriter, notes_guesses_and_solution_come_back) {
  FrictionNotes notes{"A title", "Two lines\nof text", "unique", {}, {}};
  for (int i = 0; i < 12; ++i) notes.guesses.push_back({{}, vector(9), vector(9)});
  notes.solution = FrictionAnswer{{}, vector(9), vector(9)};
  write_friction_problem(file_, block_problem(3), notes);
  const FrictionNotes read = read_friction_notes(file_);
  EXPECT_EQ(read.title, notes.title);
  EXPECT_EQ(read.description, notes.description);
  EXPECT_EQ(read.math_info, notes.math_info);
  ASSERT_EQ(read.guesses.size(), notes.guesses.size());
  for (std::size_t i = 0; i < 12; ++i) expect_same(read.guesses[i].r, notes.guesses[i].r);
  ASSERT_TRUE(read.solution);
  expect_same(read.solution->u, notes.solution->u);
  EXPECT_EQ(read.solution->v.size(), 0);
  write_friction_problem(file_, block_problem(3));
  EXPECT_TRUE(read_friction_notes(file_).title.empty());
  EXPECT_FALSE(read_friction_notes(file_).solution);
}

/// Two bodies of 4 and 5 velocities, three contacts: between them, with what can't move, of one with itself.
tresse::friction::FactoredProblem factored_problem() {
  tresse::friction::FactoredProblem out;
  out.body_begin = {0, 4, 9};
  out.contacts = {{{{0, 3, 0}, {1, 5, 9}}}, {{{1, 2, 24}, {-1, 0, 0}}}, {{{0, 4, 30}, {-1, 0, 0}}}};
  const VectorX rows = VectorX::Random(42);
  out.rows.assign(rows.data(), rows.data() + rows.size());
  out.q = VectorX::Random(9);
  out.mu = VectorX::Constant(3, 0.4);
  return out;
}

TEST_F(FrictionWriter, global_problems_come_back_bit_for_bit) {
  GlobalFrictionProblem problem = global_form(factored_problem());
  problem.M.coeffRef(0, 3) = -0.0;
  problem.M.coeffRef(2, 1) = 0.125;
  problem.f = vector(9);
  FrictionNotes notes{"g", "", "", {}, FrictionAnswer{vector(9), vector(9), vector(9)}};
  write_friction_problem(file_, problem, notes);
  const GlobalFrictionProblem read = read_global_friction_problem(file_);
  expect_same(problem.M, read.M);
  expect_same(problem.H, read.H);
  expect_same(problem.f, read.f);
  expect_same(problem.w, read.w);
  expect_same(problem.mu, read.mu);
  expect_same(read_friction_notes(file_).solution->v, notes.solution->v);
}

TEST_F(FrictionWriter, the_global_form_of_a_factored_problem_is_the_same_problem) {
  const auto factored = factored_problem();
  write_friction_problem(file_, global_form(factored));
  const FrictionProblem read = read_friction_problem(file_).problem;
  const FrictionProblem expected = tresse::friction::assembled(factored);
  for (int trial = 0; trial < 3; ++trial) {
    const VectorX r = VectorX::Random(9);
    const VectorX u = tresse::friction::velocity(factored, r);  // from the rows, without W
    EXPECT_LE((tresse::friction::velocity(read, r) - u).norm(), 1e-15 * 30.0);
    EXPECT_LE((tresse::friction::velocity(expected, r) - u).norm(), 1e-15 * 30.0);
  }
  EXPECT_EQ(expected.W.column, (std::vector<int>{0, 1, 2, 0, 1, 0, 2}));
}

TEST_F(FrictionWriter, bad_problems_and_places_leave_nothing_behind) {
  const FrictionProblem good = block_problem(2);
  FrictionProblem bad = good;
  bad.q[1] = NAN;
  EXPECT_THROW(write_friction_problem(file_, bad), tresse::InvalidInput);
  bad = good;
  bad.mu[0] = -1.0;
  EXPECT_THROW(write_friction_problem(file_, bad), tresse::InvalidInput);
  EXPECT_THROW(write_friction_problem(file_, good, {}, 4), tresse::InvalidInput);
  EXPECT_THROW(write_friction_problem(file_, good, {"", "", "", {{{}, vector(6), vector(5)}}, {}}),
               tresse::InvalidInput);
  EXPECT_THROW(write_friction_problem(file_, good, {std::string("a\0b", 3), "", "", {}, {}}), tresse::InvalidInput);
  GlobalFrictionProblem global = global_form(factored_problem());
  global.f.resize(8);
  EXPECT_THROW(write_friction_problem(file_, global), tresse::InvalidInput);
  EXPECT_THROW(write_friction_problem(folder_ / "missing" / "a.hdf5", good), tresse::SystemFailure);
  EXPECT_TRUE(std::filesystem::is_empty(folder_));
  write_friction_problem(file_, good);
  EXPECT_THROW(read_global_friction_problem(file_), tresse::InvalidInput);
}

/// Real problems, where a folder holds some: written and read again, bit for bit; global ones in both forms.
TEST_F(FrictionWriter, real_problems_come_back_bit_for_bit) {
  const char* folder = std::getenv("TRESSE_FRICTION_PROBLEMS");
  if (folder == nullptr) GTEST_SKIP() << "TRESSE_FRICTION_PROBLEMS is unset: it names a folder of .dat and .hdf5 files";
  int seen = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string kind = entry.path().extension();
    if (kind != ".dat" && kind != ".hdf5") continue;
    const FrictionFile original = read_friction_problem(entry.path());
    write_friction_problem(file_, original.problem, {}, original.dimension);
    const FrictionFile again = read_friction_problem(file_);
    EXPECT_EQ(again.dimension, original.dimension);
    expect_same(original.problem, again.problem);
    ++seen;
    if (kind != ".hdf5" || !files::Hdf5Reader(entry.path()).contains("fclib_global")) continue;
    const GlobalFrictionProblem global = read_global_friction_problem(entry.path());
    write_friction_problem(file_, global, read_friction_notes(entry.path()));
    expect_same(global.M, read_global_friction_problem(file_).M);
    expect_same(global.H, read_global_friction_problem(file_).H);
    expect_same(original.problem, read_friction_problem(file_).problem);
    expect_same(read_friction_notes(entry.path()).solution->v, read_friction_notes(file_).solution->v);
  }
  EXPECT_GT(seen, 0) << folder;
}

}  // namespace TRESSE_TEST_FILE
