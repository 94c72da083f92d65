#include <tresse/problem_files/friction_file.hpp>

#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <random>
#include <sstream>
#include <string>

#include <gtest/gtest.h>
#include <unistd.h>

#include <tresse/base/errors.hpp>
#include <tresse/files/hdf5.hpp>
#include <tresse/friction/solver.hpp>

#include "support/coulomb_law.hpp"
#include "support/messages.hpp"

namespace TRESSE_TEST_FILE {

using tresse::Matrix3;
using tresse::MatrixX;
using tresse::VectorX;
using tresse::test::expect_refused;
using namespace tresse::problem_files;
namespace files = tresse::files;

MatrixX dense(const tresse::friction::BlockMatrix& w) {
  MatrixX out = MatrixX::Zero(3 * w.rows, 3 * w.rows);
  for (int i = 0; i < w.rows; ++i)
    for (int k = w.row_begin[static_cast<std::size_t>(i)]; k < w.row_begin[static_cast<std::size_t>(i) + 1]; ++k)
      out.block<3, 3>(3 * i, 3 * w.column[static_cast<std::size_t>(k)]) = w.block[static_cast<std::size_t>(k)];
  return out;
}

const char* const one_contact = "3\n1\n0\n3\n3\n3 3\n1 2 3\n4 5 6\n7 8 9\n-1 0.5 0.25\n0.7\n";

TEST(FrictionText, dense_is_column_major_whatever_the_lines_show) {
  const FrictionFile file = parse_friction_text(one_contact, "a.dat");
  EXPECT_EQ(file.dimension, 3);
  EXPECT_EQ(dense(file.problem.W)(1, 0), 2.0);
  EXPECT_EQ(dense(file.problem.W)(0, 1), 4.0);
  EXPECT_EQ(file.problem.q[2], 0.25);
  EXPECT_EQ(file.problem.mu[0], 0.7);
}

/// Two contacts, blocks (0, 0), (0, 1), (1, 1): W is not even of symmetric pattern.
std::string sparse_text() {
  std::ostringstream out;
  out << "3 2 1 6 6\n3 2 2\n3 6\n3 6\n3 3\n0 2 3\n0 1 1\n";
  for (int block = 0; block < 3; ++block) {
    out << block << "\n";
    for (int e = 0; e < 9; ++e) out << (10 * block + e) << "\n";
  }
  out << "1 2 3 4 5 6\n0.1 0.2\n";
  return out.str();
}

TEST(FrictionText, sparse_blocks) {
  const FrictionFile file = parse_friction_text(sparse_text(), "a.dat");
  const MatrixX W = dense(file.problem.W);
  EXPECT_EQ(W(2, 0), 2.0);
  EXPECT_EQ(W(1, 3), 11.0);
  EXPECT_EQ(W(3, 4), 23.0);
  EXPECT_EQ(W(3, 0), 0.0);
  EXPECT_EQ(file.problem.mu[1], 0.2);
}

TEST(FrictionText, one_token_more_is_ignored_and_two_are_not) {
  EXPECT_NO_THROW(parse_friction_text(std::string(one_contact) + "1\n", "a.dat"));
  EXPECT_THROW(parse_friction_text(std::string(one_contact) + "1 2\n", "a.dat"), tresse::InvalidInput);
}

TEST(FrictionText, planar_problems_are_embedded) {
  const FrictionFile file = parse_friction_text("2 1 0 2 2 2 2  2 0.5 0.5 1  -1 3  0.5", "a.dat");
  EXPECT_EQ(file.dimension, 2);
  const auto solution = tresse::friction::solve_gauss_seidel(file.problem, VectorX::Zero(3), {.tolerance = 1e-12});
  ASSERT_EQ(solution.status, tresse::Status::converged);
  // Slides: u_N = 2 r_N - 0.25 r_N - 1 = 0, u_T = 0.5 r_N - 0.5 r_N + 3 = 3 > 0, r_T = -r_N / 2.
  const VectorX r = in_file_dimension(file, solution.impulse);
  ASSERT_EQ(r.size(), 2);
  EXPECT_NEAR(r[0], 1.0 / 1.75, 1e-14);
  EXPECT_NEAR(r[1], -0.5 / 1.75, 1e-14);
  EXPECT_NEAR(in_file_dimension(file, solution.velocity)[1], 3.0, 1e-14);
  EXPECT_EQ(solution.impulse[2], 0.0);
}

struct BadText {
  std::string text;
  std::string part;
};

TEST(FrictionText, bad_files_are_refused_with_their_place) {
  const std::string good = one_contact;
  const std::string sparse = sparse_text();
  const auto replaced = [](std::string text, const std::string& from, const std::string& to) {
    return text.replace(text.find(from), from.size(), to);
  };
  const std::vector<BadText> cases{
      {"", "a.dat:1:1: found the end of the file, expected the dimension"},
      {"4 1 0", "a.dat:1:1: found '4'"},
      {"3 -1 0", "a.dat:1:3: found '-1', expected the number of contacts"},
      {"3 1 3 3 3 0 0 0 0 0", "storage of W"},
      {"3 1 0 4 3 0 0 0 0 0", "found '3', expected the columns of W or M"},
      {"3 99999999 0 1 1", "expected 399999996 numbers"},
      {"3 99999999999999999999 0", "the number of contacts"},
      {replaced(good, "4 5 6", "4 nan 6"), "a.dat:8:3: found 'nan', expected an entry of W or M, a finite number"},
      {replaced(good, "4 5 6", "4 1e999 6"), "found '1e999'"},
      {replaced(good, "4 5 6", "4 5x 6"), "found '5x'"},
      {replaced(good, "0.7", "-0.7"), "a.dat:11:1: found '-0.7', expected a friction coefficient"},
      {replaced(good, "0.7", ""), "found the end of the file, expected a friction coefficient"},
      {replaced(good, "-1 0.5 0.25\n0.7\n", "-1"), "an entry of q"},
      {replaced(sparse, "6 6\n3 2 2", "6 6\n3 2 3"), "cumulative column end"},
      {replaced(sparse, "3 6\n3 6", "3 7\n3 6"), "cumulative row end"},
      {replaced(sparse, "0 2 3\n", "0 4 3\n"), "row pointer"},
      {replaced(sparse, "0 1 1\n", "0 2 1\n"), "a block's column"},
      {replaced(sparse, "0 1 1\n", "0 0 1\n"), "expected one block at row 0, column 0"},
      {replaced(sparse, "3 2 2\n", "999999999 2 2\n"), "filled2"},
  };
  for (const BadText& bad : cases)
    expect_refused([&] { static_cast<void>(parse_friction_text(bad.text, "a.dat")); }, bad.part);
}

TEST(FrictionText, truncation_anywhere_is_an_error_and_damage_never_crashes) {
  const std::string good = sparse_text();
  for (std::size_t size = 0; size + 8 < good.size(); ++size)
    EXPECT_THROW(parse_friction_text(good.substr(0, size), "a.dat"), tresse::InvalidInput) << size;
  std::mt19937 generator(5);
  for (int trial = 0; trial < 3000; ++trial) {
    std::string text = good;
    for (int k = 0; k < 3; ++k)
      text[generator() % text.size()] = static_cast<char>("0123456789-+.e \n\xff"[generator() % 17]);
    try {
      static_cast<void>(parse_friction_text(text, "a.dat"));
    } catch (const tresse::InvalidInput&) {
    }
  }
}

/// M = [2 1 0; 1 2 0; 0 0 4] and H = [1 0 2; 0 1 0; 0 0 1] by each storage of Siconos.
std::string stored(const std::string& which, int storage) {
  const bool of_m = which == "M";
  const std::string print = "CSparse Version 3.1.9, May 4, 2016.  Copyright (c) Timothy A. Davis, 2006-2016\n";
  switch (storage) {
    case 0:
      return "0\n3\n3\n3 3\n" + std::string(of_m ? "2 1 0 1 2 0 0 0 4\n" : "1 0 0 0 1 0 2 0 1\n");
    case 1:  // blocks of two and one
      return of_m ? "1\n3\n3\n2\n2\n2\n2 3\n2 3\n3\n2\n0 1 2\n0 1\n0\n2 1 1 2\n1\n4\n"
                  : "1\n3\n3\n3\n2\n2\n2 3\n2 3\n3\n3\n0 2 3\n0 1 1\n0\n1 0 0 1\n1\n2 0\n2\n1\n";
    case 2:
      return of_m ? "2\n3\n3\n1\n" + print +
                        "triplet: 3-by-3, nzmax: 8 nnz: 5\n    0 0 : 2\n    1 0 : 1\n    0 1 : 1\n    1 1 : 2\n"
                        "    2 2 : 4\n"
                  : "2\n3\n3\n1\n" + print +
                        "triplet: 3-by-3, nzmax: 4 nnz: 4\n    0 0 : 1\n    0 2 : 2\n    1 1 : 1\n    2 2 : 1\n";
    default:
      return of_m ? "2\n3\n3\n2\n" + print +
                        "3-by-3, nzmax: 5 nnz: 5, 1-norm: 4\n    col 0 : locations 0 to 1\n      0 : 2\n      1 : 1\n"
                        "    col 1 : locations 2 to 3\n      0 : 1\n      1 : 2\n    col 2 : locations 4 to 4\n"
                        "      2 : 4\n"
                  : "2\n3\n3\n2\n" + print +
                        "3-by-3, nzmax: 4 nnz: 4, 1-norm: 3\n    col 0 : locations 0 to 0\n      0 : 1\n"
                        "    col 1 : locations 1 to 1\n      1 : 1\n    col 2 : locations 2 to 3\n      0 : 2\n"
                        "      2 : 1\n";
  }
}

std::string global_text(int of_m, int of_h) {
  return "3\n1\n" + stored("M", of_m) + stored("H", of_h) + "1 -2 3\n-1 0.5 0.25\n0.5\n";
}

TEST(FrictionText, global_problems_are_reduced_from_every_storage) {
  Eigen::Matrix3d H;
  H << 1, 0, 2, 0, 1, 0, 0, 0, 1;
  Eigen::Matrix3d inverse;  // by hand
  inverse << 2.0 / 3, -1.0 / 3, 0, -1.0 / 3, 2.0 / 3, 0, 0, 0, 0.25;
  const Eigen::Vector3d q(1, -2, 3), b(-1, 0.5, 0.25);
  for (int of_m = 0; of_m < 4; ++of_m) {
    for (int of_h = 0; of_h < 4; ++of_h) {
      SCOPED_TRACE(testing::Message() << of_m << ", " << of_h);
      const FrictionFile read = parse_friction_text(global_text(of_m, of_h), "a.dat");
      EXPECT_LE((dense(read.problem.W) - H.transpose() * inverse * H).norm(), 1e-15);
      EXPECT_LE((read.problem.q - (H.transpose() * inverse * q + b)).norm(), 1e-15);
      EXPECT_EQ(read.problem.mu[0], 0.5);
    }
  }
}

TEST(FrictionText, local_problems_as_csparse_prints_them) {
  for (const int storage : {2, 3}) {
    const FrictionFile read = parse_friction_text("3\n1\n" + stored("M", storage) + "-1 0.5 0.25\n0.7\n", "a.dat");
    Eigen::Matrix3d W;
    W << 2, 1, 0, 1, 2, 0, 0, 0, 4;
    EXPECT_EQ(dense(read.problem.W), W);
    EXPECT_EQ(read.problem.q[1], 0.5);
  }
}

TEST(FrictionText, more_velocities_than_contacts_and_no_contact_at_all) {
  const FrictionFile read =
      parse_friction_text("2 1 0 3 3 3 3  1 0 0 0 2 0 0 0 4  0 3 2 3 2  1 0 0 0 0 1  1 2 3  0 0  0.5", "a.dat");
  EXPECT_EQ(read.dimension, 2);
  EXPECT_EQ(in_file_dimension(read, read.problem.q), Eigen::Vector2d(1.0, 0.75));
  EXPECT_EQ(dense(read.problem.W)(1, 1), 0.25);
  EXPECT_EQ(parse_friction_text("2 0 0 1 1 1 1 5  0 1 0 1 0  3", "a.dat").problem.mu.size(), 0);
  const FrictionFile without_velocities = parse_friction_text("2 1 0 0 0 0 0  0 0 2 0 2  1 -2  0.5", "a.dat");
  EXPECT_EQ(in_file_dimension(without_velocities, without_velocities.problem.q), Eigen::Vector2d(1.0, -2.0));
  EXPECT_EQ(dense(without_velocities.problem.W).norm(), 0.0);
  EXPECT_EQ(parse_friction_text("3 0 0 0 0 0 0  0 0 0 0 0  0", "a.dat").problem.mu.size(), 0);
}

TEST(FrictionText, bad_matrices_are_refused_with_their_place) {
  const auto damaged = [](int storage, const std::string& from, const std::string& to) {
    std::string text = global_text(storage, storage);
    return text.replace(text.find(from), from.size(), to);
  };
  const std::vector<BadText> cases{
      {damaged(0, "2 1 0 1 2 0 0 0 4", "1 1 0 1 1 0 0 0 4"), "a.dat: M is singular"},
      {damaged(2, "CSparse", "Sparse"), "a.dat:7:1: found 'Sparse', expected 'CSparse'"},
      {damaged(2, "triplet: 3-by-3,", "triplet: 3-by-4,"), "expected '3-by-3,'"},
      {damaged(2, "2 2 : 4", "3 2 : 4"), "expected a row"},
      {damaged(2, "nnz: 5", "nnz: 6"), "expected a column"},
      {damaged(3, "col 1", "col 2"), "the column's number"},
      {damaged(3, "locations 4 to 4", "locations 4 to 5"), "the column's last place"},
      {damaged(3, "locations 2 to 3", "locations 1 to 3"), "the column's first place"},
      {damaged(1, "\n2 3\n2 3\n3\n2\n", "\n2 4\n2 3\n3\n2\n"), "a cumulative row end"},
      {"3 1 1 200000000 200000000 0 0 0", "expected 200000000 numbers"},
      {"3 1 0 4 4 4 4  1 0 0 0 0 1 0 0 0 0 1 0 0 0 0 1  0 5", "found '5', expected the rows of H"},
  };
  for (const BadText& bad : cases)
    expect_refused([&] { static_cast<void>(parse_friction_text(bad.text, "a.dat")); }, bad.part);
  for (int storage = 0; storage < 4; ++storage) {
    const std::string good = global_text(storage, storage);
    for (std::size_t size = 0; size + 4 < good.size(); ++size) {
      try {
        // Cut a few numbers behind M it is a whole local problem.
        EXPECT_EQ(dense(parse_friction_text(good.substr(0, size), "a.dat").problem.W)(1, 1), 2.0) << storage << size;
      } catch (const tresse::InvalidInput&) {
      }
    }
  }
}

class FrictionFclib : public testing::Test {
 protected:
  FrictionFclib()
      : file_(std::filesystem::path(testing::TempDir()) / ("tresse_fclib_" + std::to_string(::getpid()) + ".hdf5")) {}
  ~FrictionFclib() override { std::filesystem::remove(file_); }

  static void matrix(files::Hdf5Writer& out, const std::string& group, int m, int n, int nz,
                     const std::vector<std::int32_t>& p, const std::vector<std::int32_t>& i,
                     const std::vector<double>& x) {
    out.write(group + "/m", std::vector<std::int32_t>{m});
    out.write(group + "/n", std::vector<std::int32_t>{n});
    out.write(group + "/nz", std::vector<std::int32_t>{nz});
    out.write(group + "/nzmax", std::vector<std::int32_t>{static_cast<std::int32_t>(x.size())});
    out.write(group + "/p", p);
    out.write(group + "/i", i);
    out.write(group + "/x", x);
  }

  /// W = [2 1 0; 0 3 0; 0 0 4], compressed as `nz` says.
  void write_local(int nz, double mu = 0.5, int m = 3) {
    files::Hdf5Writer out(file_);
    out.write("fclib_local/spacedim", std::vector<std::int32_t>{3});
    if (nz == -1) matrix(out, "fclib_local/W", m, 3, nz, {0, 1, 3, 4}, {0, 0, 1, 2}, {2, 1, 3, 4});
    if (nz == -2) matrix(out, "fclib_local/W", m, 3, nz, {0, 2, 3, 4}, {0, 1, 1, 2}, {2, 1, 3, 4});
    if (nz >= 0) matrix(out, "fclib_local/W", m, 3, nz, {0, 1, 1, 2}, {0, 0, 1, 2}, {2, 1, 3, 4});
    out.write("fclib_local/vectors/q", std::vector<double>{-1, 0.5, 0});
    out.write("fclib_local/vectors/mu", std::vector<double>{mu});
    out.close();
  }

  std::filesystem::path file_;
};

TEST_F(FrictionFclib, local_problems_in_every_storage) {
  MatrixX expected = MatrixX::Zero(3, 3);
  expected << 2, 1, 0, 0, 3, 0, 0, 0, 4;
  for (const int nz : {-2, -1, 4}) {
    write_local(nz);
    const FrictionFile read = read_friction_problem(file_);
    EXPECT_EQ(dense(read.problem.W), expected) << nz;
    EXPECT_EQ(read.problem.q[1], 0.5);
    EXPECT_EQ(read.problem.mu[0], 0.5);
  }
}

TEST_F(FrictionFclib, global_problems_are_reduced) {
  {
    files::Hdf5Writer out(file_);
    out.write("fclib_global/spacedim", std::vector<std::int32_t>{3});
    matrix(out, "fclib_global/M", 3, 3, 5, {0, 1, 2, 0, 1}, {0, 1, 2, 1, 0}, {2, 2, 4, 1, 1});
    matrix(out, "fclib_global/H", 3, 3, 4, {0, 1, 2, 2}, {0, 1, 2, 0}, {1, 1, 1, 2});
    out.write("fclib_global/vectors/f", std::vector<double>{1, -2, 3});
    out.write("fclib_global/vectors/w", std::vector<double>{-1, 0.5, 0.25});
    out.write("fclib_global/vectors/mu", std::vector<double>{0.5});
    out.close();
  }
  Eigen::Matrix3d M, H;
  M << 2, 1, 0, 1, 2, 0, 0, 0, 4;
  H << 1, 0, 2, 0, 1, 0, 0, 0, 1;
  Eigen::Matrix3d inverse;  // by hand
  inverse << 2.0 / 3, -1.0 / 3, 0, -1.0 / 3, 2.0 / 3, 0, 0, 0, 0.25;
  const FrictionFile read = read_friction_problem(file_);
  EXPECT_LE((dense(read.problem.W) - H.transpose() * inverse * H).norm(), 1e-15);
  const Eigen::Vector3d f(1, -2, 3), w(-1, 0.5, 0.25);
  EXPECT_LE((read.problem.q - (H.transpose() * inverse * f + w)).norm(), 1e-15);
}

TEST_F(FrictionFclib, bad_files_are_refused) {
  write_local(-1, -0.5);
  expect_refused([&] { static_cast<void>(read_friction_problem(file_)); }, "fclib_local/vectors/mu");
  write_local(-1, std::nan(""));
  expect_refused([&] { static_cast<void>(read_friction_problem(file_)); }, "finite");
  write_local(-1, 0.5, 4);
  expect_refused([&] { static_cast<void>(read_friction_problem(file_)); }, "is 4 by 3, expected 3 by 3");
  write_local(40);
  expect_refused([&] { static_cast<void>(read_friction_problem(file_)); }, "holds 4 numbers, expected 40");
  write_local(-1);
  const auto size = std::filesystem::file_size(file_);
  for (const double share : {0.05, 0.3, 0.6, 0.9, 0.99}) {
    write_local(-1);
    std::filesystem::resize_file(file_, static_cast<std::uintmax_t>(share * static_cast<double>(size)));
    EXPECT_THROW(read_friction_problem(file_), tresse::InvalidInput) << share;
  }
  expect_refused([] { static_cast<void>(read_friction_problem("/nowhere/at/all.dat")); }, "/nowhere/at/all.dat");
}

/// The largest violation of the law, contact by contact, impulses in units of velocity by the mean compliance.
double worst_violation(const tresse::friction::FrictionProblem& p, const VectorX& r) {
  const MatrixX W = dense(p.W);
  const VectorX u = W * r + p.q;
  double worst = 0.0;
  for (int i = 0; i < p.W.rows; ++i) {
    const double unit = W.block<3, 3>(3 * i, 3 * i).trace() / 3.0;
    worst = std::max(worst, tresse_test::coulomb_violation(u.segment<3>(3 * i), unit * r.segment<3>(3 * i), p.mu[i]));
  }
  return worst / std::max(p.q.norm(), u.norm());
}

/// Real problems, where a folder holds some: every one solved by every solver (but for a few, below) to 1e-10 and the
/// law checked contact by contact.
TEST(FrictionProblems, real_ones_reach_1e10_by_every_solver) {
  using tresse::friction::SolverOptions;
  const char* folder = std::getenv("TRESSE_FRICTION_PROBLEMS");
  if (folder == nullptr) GTEST_SKIP() << "TRESSE_FRICTION_PROBLEMS is unset: it names a folder of .dat and .hdf5 files";
  int solved = 0, stalled = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string kind = entry.path().extension();
    if (kind != ".dat" && kind != ".hdf5") continue;
    const FrictionFile file = read_friction_problem(entry.path());
    const auto& p = file.problem;
    for (std::size_t k = 0; k < tresse::friction::solver_names.size(); ++k) {
      const std::string name(tresse::friction::solver_names[k]);
      const SolverOptions options{.tolerance = 1e-10,
                                  .max_iterations = 10000,
                                  .measure = SolverOptions::Measure::natural_map,
                                  .solver = static_cast<tresse::friction::Solver>(k)};
      using tresse::friction::Solver;
      // Convex problems, or the path, of a tower of 570: most of a minute. A rock pile is for the path alone.
      const bool slow = options.solver == Solver::cadoux || options.solver == Solver::path_following;
      const bool rocks = entry.path().filename().string().starts_with("RockPile");
      if (rocks ? options.solver != Solver::automatic : slow && p.W.rows > 400) continue;
      const auto start = std::chrono::steady_clock::now();
      const auto found = tresse::friction::solve(p, VectorX::Zero(p.q.size()), options);
      const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
      const bool converged = found.status == tresse::Status::converged;
      // Two of the family stall on some of a larger collection.
      const bool may_stall = options.solver == Solver::cadoux || options.solver == Solver::fischer_burmeister_newton;
      if (!converged && may_stall) ++stalled;
      if (!converged && may_stall) continue;
      EXPECT_TRUE(converged) << entry.path() << " " << name << " " << found.natural_map_error;
      // The measure adds impulses to velocities; in units of velocity alone it may be a hundred times as much, and more
      // where impulses are large beside velocities, or compliances beside one.
      const double largest = std::max({p.q.norm(), found.impulse.norm(), found.velocity.norm()});
      double compliance = 1.0;
      for (const Matrix3& block : tresse::friction::diagonal_blocks(p))
        compliance = std::max(compliance, block.trace() / 3.0);
      const double limit = 1e-8 * std::max(1.0, compliance * largest / std::max(p.q.norm(), found.velocity.norm()));
      EXPECT_LE(worst_violation(p, found.impulse), limit) << entry.path() << " " << name;
      RecordProperty(entry.path().filename().string() + " " + name,
                     std::to_string(found.iterations) + " iterations, " + std::to_string(seconds) + " s");
    }
    ++solved;
  }
  EXPECT_GT(solved, 0) << folder;
  EXPECT_LE(stalled, solved / 4);
}

}  // namespace TRESSE_TEST_FILE
