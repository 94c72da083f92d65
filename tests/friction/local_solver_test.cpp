#include <tresse/friction/local_solver.hpp>

#include <array>
#include <fstream>
#include <limits>
#include <random>
#include <vector>

#include <gtest/gtest.h>
#include <Eigen/LU>
#include <nlohmann/json.hpp>

#include <tresse/friction/coulomb.hpp>
#include <tresse/friction/detail/aligned_lanes.hpp>
#include <tresse/friction/residual.hpp>
#include <tresse/friction/solver.hpp>

#include "support/coulomb_law.hpp"

namespace TRESSE_TEST_FILE {

using namespace tresse::friction;
using tresse::Matrix3;
using tresse::Vector3;
using tresse_test::coulomb_violation;

struct OneContact {
  Matrix3 W;
  Vector3 q;
  double mu = 0.0;
  nlohmann::json data;
};

std::vector<OneContact> read(const char* list) {
  nlohmann::json file;
  std::ifstream(std::string(TRESSE_TEST_DATA) + "/coulomb_1contact/coulomb_1contact.json") >> file;
  std::vector<OneContact> out;
  for (const auto& p : file[list]) {
    OneContact c;
    for (int i = 0; i < 3; ++i) {
      c.q[i] = p["b"][static_cast<std::size_t>(i)];
      for (int j = 0; j < 3; ++j) c.W(i, j) = p["W"][static_cast<std::size_t>(i)][static_cast<std::size_t>(j)];
    }
    c.mu = p["mu"];
    c.data = p;
    out.push_back(c);
  }
  return out;
}

Vector3 vector(const nlohmann::json& v) { return Vector3(v[0].get<double>(), v[1].get<double>(), v[2].get<double>()); }

ContactCase case_of(const std::string& name) {
  return name == "takeoff" ? ContactCase::open : name == "stick" ? ContactCase::stick : ContactCase::slide;
}

/// Relative distance to the nearest listed solution; `named`: of the same case, unless a boundary is within 1e-12.
double distance_to_listed(const OneContact& c, const Vector3& r, const Vector3& u, ContactCase named) {
  double best = std::numeric_limits<double>::infinity();
  for (const auto& s : c.data["solutions"]) {
    const Vector3 rr = vector(s["r"]), uu = vector(s["u"]);
    const double size = c.q.norm();
    const bool boundary = s["margin"].get<double>() <= 1e-12 * std::max(size, rr.norm()) || c.mu == 0.0;
    if (!boundary && case_of(s["case"]) != named) continue;
    const double dr = rr.norm() > 0.0 ? (r - rr).norm() / rr.norm() : (r.norm() > 0.0 ? 1.0 : 0.0);
    best = std::min(best, std::max(dr, size > 0.0 ? (u - uu).norm() / size : 0.0));
  }
  return best;
}

constexpr double reference_tolerance = 1e-10;  // asked of every solver; the reference holds 16 digits

TEST(Enumerative, reference_set_with_the_case) {
  const auto problems = read("problems");
  ASSERT_EQ(problems.size(), 334U);
  for (const OneContact& c : problems) {
    const ContactSolutions all = enumerate_contact(c.W, c.q, c.mu);
    ASSERT_GT(all.count, 0) << c.data["id"];
    for (const ContactSolution& s : all)
      EXPECT_LE(distance_to_listed(c, s.impulse, s.velocity, s.state), reference_tolerance) << c.data["id"];
  }
}

TEST(Enumerative, every_separate_listed_solution_is_found) {
  for (const OneContact& c : read("problems")) {
    const ContactSolutions all = enumerate_contact(c.W, c.q, c.mu);
    for (const auto& s : c.data["solutions"]) {
      const Vector3 r = vector(s["r"]);
      double best = std::numeric_limits<double>::infinity();
      for (const ContactSolution& found : all) best = std::min(best, (found.impulse - r).norm());
      EXPECT_LE(best, 1e-9 * std::max(r.norm(), 1e-300)) << c.data["id"];
    }
  }
}

TEST(Enumerative, semidefinite_blocks_with_and_without_solution) {
  int without = 0;
  for (const OneContact& c : read("semidefinite_examples")) {
    const ContactSolutions all = enumerate_contact(c.W, c.q, c.mu);
    EXPECT_TRUE(all.proved);
    EXPECT_EQ(all.count > 0, c.data["has_solution"].get<bool>()) << c.data["why"];
    without += all.count == 0;
    for (const ContactSolution& s : all) {
      const double unit = std::max(c.W.trace() / 3.0, 1e-300);
      EXPECT_LE(coulomb_violation(c.W * s.impulse + c.q, unit * s.impulse, c.mu), 1e-11) << c.data["why"];
      if (c.data["unique_r"].get<bool>()) {
        EXPECT_LE((s.impulse - vector(c.data["solution"]["r"])).norm(), 1e-10 * s.impulse.norm()) << c.data["why"];
      }
    }
  }
  EXPECT_GT(without, 5);
}

/// Brute force over the angle: h changes sign at every simple slide.
TEST(Enumerative, nonsymmetric_blocks_against_a_scan_of_directions) {
  std::mt19937 generator(7);
  std::normal_distribution<double> normal;
  constexpr int directions = 20000;
  int several = 0;
  for (int trial = 0; trial < 60; ++trial) {
    Matrix3 W;
    for (double& x : W.reshaped()) x = normal(generator);
    W += 0.8 * Matrix3::Identity();
    const Vector3 q(-std::abs(normal(generator)) - 0.1, normal(generator), normal(generator));
    const double mu = 0.2 + 0.4 * (trial % 3);
    int expected = 0;
    double last = 0.0;
    for (int k = 0; k <= directions; ++k) {
      const double angle = 2.0 * 3.141592653589793 * (k + 0.37) / directions;
      const Vector3 ray(1.0, -mu * std::cos(angle), -mu * std::sin(angle));
      const double lift = (W * ray)[0];
      const Vector3 u = lift != 0.0 ? Vector3(W * ray * (-q[0] / lift) + q) : Vector3::Zero();
      const double across = (std::cos(angle) * u[2] - std::sin(angle) * u[1]) * lift;
      const double along = std::cos(angle) * u[1] + std::sin(angle) * u[2];
      if (k > 0 && (across > 0) != (last > 0) && along > 1e-3 && lift > 1e-3) ++expected;
      last = across;
    }
    const Vector3 stick = -W.inverse() * q;
    if (stick[0] > 0 && std::hypot(stick[1], stick[2]) < mu * stick[0]) ++expected;
    const ContactSolutions all = enumerate_contact(W, q, mu);
    EXPECT_GE(all.count, expected) << trial;
    several += all.count > 1;
    for (const ContactSolution& s : all)
      EXPECT_LE(coulomb_violation(W * s.impulse + q, s.impulse, mu), 1e-11 * (1.0 + s.impulse.norm())) << trial;
  }
  EXPECT_GT(several, 0);
}

TEST(Enumerative, says_when_the_data_are_not_numbers) {
  const ContactSolutions all = enumerate_contact(Matrix3::Identity(), Vector3(std::nan(""), 0, 0), 0.3);
  EXPECT_EQ(all.count, 0);
  EXPECT_FALSE(all.proved);
}

/// Problems with a well conditioned block; beyond, doubles cannot carry u to 1e-10.
bool ordinary(const OneContact& c) { return c.data["cond_W"].get<double>() < 1e4; }

TEST(Secular, reference_set) {
  int solved = 0;
  for (const OneContact& c : read("problems")) {
    const PreparedContact prepared = prepare_contact(c.W, c.mu);
    Vector3 r = Vector3::Zero();
    double alpha = 0.0;
    if (!solve_secular(prepared, c.q, alpha, r)) continue;
    ++solved;
    const double unit = c.W.trace() / 3.0;
    const double size = std::max(c.q.norm(), unit * r.norm());
    EXPECT_LE(coulomb_violation(c.W * r + c.q, unit * r, c.mu), 1e-13 * size) << c.data["id"];
  }
  EXPECT_EQ(solved, 334);
}

TEST(Secular, the_start_does_not_matter) {
  for (const OneContact& c : read("problems")) {
    if (!ordinary(c) || c.data["n_solutions"] != 1) continue;
    const PreparedContact prepared = prepare_contact(c.W, c.mu);
    Vector3 reference = Vector3::Zero();
    double alpha = 0.0;
    ASSERT_TRUE(solve_secular(prepared, c.q, alpha, reference));
    for (const double start : {1e-12, 1e-3, 1.0, 1e3, 1e12}) {
      Vector3 r = Vector3::Zero();
      double a = start * c.W.trace();
      ASSERT_TRUE(solve_secular(prepared, c.q, a, r)) << c.data["id"] << " " << start;
      EXPECT_LE((r - reference).norm(), 1e-10 * reference.norm()) << c.data["id"] << " " << start;
    }
  }
}

/// As sweeps do: one step from the last alpha, again and again, as the free velocity settles.
TEST(Secular, one_step_a_visit_ends_at_the_solution) {
  int slid = 0;
  for (const OneContact& c : read("problems")) {
    if (!ordinary(c) || c.data["n_solutions"] != 1) continue;
    const PreparedContact prepared = prepare_contact(c.W, c.mu);
    Vector3 reference = Vector3::Zero();
    double exact = 0.0;
    ASSERT_TRUE(solve_secular(prepared, c.q, exact, reference));
    Vector3 r = Vector3::Zero();
    double alpha = 0.0;
    double change = 1e-2;
    for (int visit = 0; visit < 40; ++visit, change = visit < 8 ? 0.1 * change : 0.0)
      ASSERT_TRUE(solve_secular(prepared, c.q + change * c.q.norm() * Vector3(0.3, -0.8, 0.5), alpha, r, 1e-3));
    EXPECT_LE((r - reference).norm(), 1e-9 * reference.norm()) << c.data["id"];
    slid += alpha > 0.0 ? 1 : 0;
  }
  EXPECT_GT(slid, 20);
}

struct ManyVisits {
  std::array<Vector3, 4> r;
  std::array<double, 4> alpha;
  bool all_solved = true;
};

/// As sweeps over a large island do: visit after visit, each from the velocity, which alone is known well.
ManyVisits visit_often(const std::array<const OneContact*, 4>& c, const std::array<AlignedContact, 4>& blocks) {
  using tresse::lanes::Doubles;
  const detail::AlignedLanes four(blocks[0], blocks[1], blocks[2], blocks[3]);
  Doubles r[3] = {}, alpha{};
  ManyVisits out;
  for (int visit = 0; visit < 40; ++visit) {
    Doubles u[3];
    for (int n = 0; n < 4; ++n) {
      const OneContact& contact = *c[static_cast<std::size_t>(n)];
      const Vector3 velocity = contact.W * Vector3(r[0][n], r[1][n], r[2][n]) + contact.q;
      for (int k = 0; k < 3; ++k) u[k][n] = velocity[k];
    }
    const tresse::lanes::Mask solved = four.solve(u, 1e-3, alpha, r);
    for (int n = 0; n < 4; ++n) out.all_solved = out.all_solved && solved[n] != 0;
  }
  for (int n = 0; n < 4; ++n) {
    out.r[static_cast<std::size_t>(n)] = {r[0][n], r[1][n], r[2][n]};
    out.alpha[static_cast<std::size_t>(n)] = alpha[n];
  }
  return out;
}

TEST(Secular, aligned_blocks_end_at_the_exact_solutions_whatever_is_next_to_them) {
  std::vector<OneContact> contacts;
  std::vector<AlignedContact> blocks;
  for (OneContact& c : read("problems")) {
    if (!ordinary(c) || c.data["n_solutions"] != 1 || !c.W.isApprox(c.W.transpose(), 1e-14)) continue;
    c.W /= c.W.trace() / 3.0;  // sweeps scale likewise
    const AlignedContact block = aligned(prepare_contact(c.W, c.mu));
    if (!(block.inverse_normal > 0.0)) continue;
    contacts.push_back(c);
    blocks.push_back(block);
  }
  int slid = 0, stuck = 0, open = 0;
  for (std::size_t i = 0; i + 4 <= contacts.size(); ++i) {
    const ManyVisits together = visit_often({&contacts[i], &contacts[i + 1], &contacts[i + 2], &contacts[i + 3]},
                                            {blocks[i], blocks[i + 1], blocks[i + 2], blocks[i + 3]});
    ASSERT_TRUE(together.all_solved);
    const OneContact& c = contacts[i];
    double exact = 0.0;
    Vector3 reference = Vector3::Zero();
    ASSERT_TRUE(solve_secular(prepare_contact(c.W, c.mu), c.q, exact, reference));
    EXPECT_LE((together.r[0] - reference).norm(), 1e-9 * reference.norm()) << c.data["id"];
    ++(reference.isZero(0.0) ? open : together.alpha[0] > 0.0 ? slid : stuck);
    const ManyVisits alone = visit_often({&c, &c, &c, &c}, {blocks[i], blocks[i], blocks[i], blocks[i]});
    for (std::size_t n = 0; n < 4; ++n) {
      EXPECT_EQ(alone.r[n], together.r[0]) << c.data["id"];
      EXPECT_EQ(alone.alpha[n], together.alpha[0]) << c.data["id"];
    }
  }
  EXPECT_GT(slid, 20);
  EXPECT_GT(stuck, 10);
  EXPECT_GT(open, 10);
}

TEST(Secular, a_block_that_is_not_fit_stays_as_it_is) {
  using tresse::lanes::Doubles;
  const Matrix3 W = Matrix3::Identity();
  const AlignedContact fit = aligned(prepare_contact(W, 0.5)), unfit;
  const detail::AlignedLanes four(fit, unfit, fit, unfit);
  const Doubles u[3] = {{-1.0, -1.0, 1.0, 1.0}, {}, {}};
  Doubles r[3] = {{0.0, 3.0, 0.0, 4.0}, {}, {}};
  Doubles alpha = {0.0, 0.25, 0.0, 0.5};
  const tresse::lanes::Mask solved = four.solve(u, 1e-3, alpha, r);
  const double expected_normal[] = {1.0, 3.0, 0.0, 4.0}, expected_alpha[] = {0.0, 0.25, 0.0, 0.5};
  for (int n = 0; n < 4; ++n) {
    EXPECT_EQ(solved[n] != 0, n % 2 == 0) << n;
    EXPECT_EQ(r[0][n], expected_normal[n]) << n;
    EXPECT_EQ(alpha[n], expected_alpha[n]) << n;
  }
}

TEST(FischerBurmeister, reference_set) {
  int tried = 0, solved = 0;
  for (const OneContact& c : read("problems")) {
    if (c.mu == 0.0 || !ordinary(c)) continue;
    ++tried;
    Vector3 r = Vector3::Zero();
    if (!solve_fischer_burmeister(c.W, c.q, c.mu, r)) continue;
    ++solved;
    const double unit = c.W.trace() / 3.0;
    EXPECT_LE(coulomb_violation(c.W * r + c.q, unit * r, c.mu), 1e-6 * c.q.norm()) << c.data["id"];
  }
  EXPECT_GE(solved, tried * 95 / 100);  // the rest is what enumeration is for
}

TEST(FischerBurmeister, derivative_by_taylor_remainders) {
  std::mt19937 generator(3);
  std::normal_distribution<double> normal;
  for (int trial = 0; trial < 50; ++trial) {
    Vector3 x, y, dx, dy;
    for (Vector3* v : {&x, &y, &dx, &dy}) *v = Vector3(normal(generator), normal(generator), normal(generator));
    const FischerBurmeister at = fischer_burmeister(x, y);
    const Vector3 slope = at.dx * dx + at.dy * dy;
    const auto remainder = [&](double h) {
      return (fischer_burmeister(x + h * dx, y + h * dy).value - at.value - h * slope).norm();
    };
    const double coarse = remainder(1e-4), fine = remainder(5e-5);
    if (coarse > 1e-11) {
      EXPECT_GE(std::log2(coarse / fine), 1.9) << trial;
    }
  }
}

TEST(LocalSolver, every_kind_solves_what_has_a_solution) {
  for (const OneContact& c : read("semidefinite_examples")) {
    for (const LocalSolver solver : {LocalSolver::hybrid, LocalSolver::fischer_burmeister, LocalSolver::enumerative}) {
      Vector3 r = Vector3::Zero();
      double alpha = 0.0;
      const bool found = solve_contact(prepare_contact(c.W, c.mu), c.q, solver, alpha, r);
      EXPECT_EQ(found, c.data["has_solution"].get<bool>()) << c.data["why"] << static_cast<int>(solver);
    }
  }
}

FrictionProblem single(const OneContact& c) {
  FrictionProblem p;
  p.W = block_matrix(c.W);
  p.q = c.q;
  p.mu = tresse::VectorX::Constant(1, c.mu);
  return p;
}

TEST(SingleContact, public_solve_on_the_reference_set) {
  for (const OneContact& c : read("problems")) {
    const auto solution = solve_gauss_seidel(single(c), Vector3::Zero(), {.tolerance = 1e-12});
    EXPECT_EQ(solution.status, tresse::Status::converged) << c.data["id"] << " " << solution.scaled_error;
    const Vector3 r = solution.impulse;
    double best = std::numeric_limits<double>::infinity();
    for (const auto& s : c.data["solutions"]) {
      const Vector3 rr = vector(s["r"]);
      best = std::min(best, rr.norm() > 0.0 ? (r - rr).norm() / rr.norm() : r.norm());
    }
    EXPECT_LE(best, reference_tolerance) << c.data["id"];
  }
}

TEST(SingleContact, public_solve_says_that_no_solution_exists) {
  for (const OneContact& c : read("semidefinite_examples")) {
    const auto solution = solve_gauss_seidel(single(c), Vector3::Zero(), {.tolerance = 1e-10});
    const bool has = c.data["has_solution"];
    EXPECT_EQ(solution.status, has ? tresse::Status::converged : tresse::Status::no_solution) << c.data["why"];
    EXPECT_EQ(solution.unsolvable.size(), has ? 0U : 1U);
  }
}

}  // namespace TRESSE_TEST_FILE
