#include <gtest/gtest.h>

#include <limits>

#include <rods/articulated_cases.hpp>
#include <tresse/math/reverse_cholesky.hpp>
#include <tresse/rods/detail/dense_step_matrix.hpp>

namespace TRESSE_TEST_FILE {

using namespace tresse;
using namespace tresse::rods::rod_cases;
using rods::Matrix6;
using rods::RootCondition;
using rods::Vector6;
using rods::detail::ArticulatedMatrix;

constexpr double dt = 1e-3;

struct Setting {
  int elements;
  bool free;
};

template <int W>
struct Chain {
  ArticulatedMatrix<W> matrix;
  LongMatrix A;
  LongMatrix M;
};

/// With a drag that differs from element to element.
template <int W>
Chain<W> make_chain(const Setting& setting, unsigned seed) {
  Chain<W> out;
  if constexpr (W == 3) {
    const Case c = make_case({.elements = setting.elements,
                              .turn = 0.9,
                              .root = setting.free ? RootCondition::free : RootCondition::clamped,
                              .seed = seed});
    out.matrix.elements() = helix_elements(c, dt);
  } else {
    out.matrix.elements() = affine_elements(setting.elements, seed);
  }
  for (int e = 0; e < setting.elements; ++e) out.matrix.elements()[e].weight = 1.0 + 0.1 * (e % 3);
  out.A = written_out(out.matrix.elements(), setting.free, Terms::implicit);
  out.M = written_out(out.matrix.elements(), setting.free, Terms::mass);
  EXPECT_TRUE(out.matrix.factor(setting.free ? ChainRoot::free : ChainRoot::fixed));
  return out;
}

VectorX random_vector(Eigen::Index n, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> u(-1.0, 1.0);
  return VectorX::NullaryExpr(n, [&] { return u(random); });
}

const std::vector<Setting> settings{{1, false}, {1, true},   {2, false}, {2, true},  {7, false},
                                    {7, true},  {50, false}, {50, true}, {300, true}};

/// U from the recursion, (dof, dof).
template <int W>
MatrixX upper_factor(const ArticulatedMatrix<W>& matrix) {
  MatrixX transposed = MatrixX::Identity(matrix.dof(), matrix.dof());
  for (int k = 0; k < matrix.dof(); ++k) matrix.whitened_from_velocity(transposed.col(k));
  return transposed.transpose();
}

/// U itself against the long double factor. What rounding does to U grows with the condition of A: the dense factor in
/// double is the yardstick, the recursion may be `allowed` times worse where both are above 1e-12.
template <int W>
void factor_matches() {
  for (const Setting& setting : settings) {
    const Chain<W> chain = make_chain<W>(setting, 11);
    const int dof = chain.matrix.dof();
    ASSERT_EQ(dof, chain.A.rows());
    const MatrixX by_recursion = upper_factor(chain.matrix);
    const LongMatrix exact = long_reverse_cholesky(chain.A);
    math::ReverseCholesky dense;
    MatrixX by_dense = chain.A.template cast<double>();
    ASSERT_TRUE(dense.factor(by_dense));
    by_dense.template triangularView<Eigen::StrictlyLower>().setZero();
    const double mine = factor_error(by_recursion, exact);
    const double theirs = factor_error(by_dense, exact);
    if (printing()) {
      std::printf("U, W = %d, %3d elements, %s: recursion %.1e, dense %.1e\n", W, setting.elements,
                  setting.free ? "free   " : "clamped", mine, theirs);
    }
    EXPECT_LT(mine, std::max(1e-12, 10.0 * theirs)) << setting.elements;
    EXPECT_TRUE(by_recursion.isUpperTriangular(0.0));
  }
}

TEST(ArticulatedMatrix, FactorsLikeTheDenseReverseCholeskyOfHelices) { factor_matches<3>(); }
TEST(ArticulatedMatrix, FactorsLikeTheDenseReverseCholeskyOfAffineElements) { factor_matches<6>(); }

/// The rod's own matrices, which share no code with the quadrature that made the elements.
TEST(ArticulatedMatrix, ElementsOfAHelixGiveItsMassMatrix) {
  for (const auto root : {RootCondition::clamped, RootCondition::free}) {
    const Case c = make_case({.elements = 6, .turn = 1.3, .root = root, .seed = 5});
    MatrixX expected(c.rod->dof(), c.rod->dof());
    c.rod->mass_matrix(expected);
    const LongMatrix found = written_out(helix_elements(c, dt), root == RootCondition::free, Terms::mass);
    EXPECT_LT(relative(found.cast<double>(), expected), 1e-14);
  }
}

/// Each operation undone or done again through the long double matrices.
template <int W>
void operations_match() {
  for (const Setting& setting : settings) {
    Chain<W> chain = make_chain<W>(setting, 23);
    const int dof = chain.matrix.dof();
    const VectorX x = random_vector(dof, 3);
    const auto times = [](const LongMatrix& m, const VectorX& v) -> VectorX {
      return (m * v.cast<Long>()).template cast<double>();
    };

    const Long norm = x.cast<Long>().dot(chain.A * x.cast<Long>());
    EXPECT_NEAR(chain.matrix.squared_norm(x), double(norm), 1e-12 * double(norm));

    // Backward errors, against the sums of absolute values that rounding sees.
    const VectorX scale = (chain.A.cwiseAbs() * x.cwiseAbs().cast<Long>()).template cast<double>();
    VectorX solved = x;
    chain.matrix.solve(solved);
    const VectorX reach = (chain.A.cwiseAbs() * solved.cwiseAbs().cast<Long>()).template cast<double>();
    EXPECT_LT(((times(chain.A, solved) - x).array() / (reach + x.cwiseAbs()).array()).abs().maxCoeff(), 1e-12);

    VectorX velocity = x;
    chain.matrix.velocity_from_whitened(velocity);
    VectorX back = velocity;
    chain.matrix.whitened_from_velocity(back);
    EXPECT_LT(((back - x).array() / (upper_factor(chain.matrix).cwiseAbs().transpose() * velocity.cwiseAbs()).array())
                  .abs()
                  .maxCoeff(),
              1e-12);

    VectorX momentum(dof);
    chain.matrix.spread(x);
    chain.matrix.mass_times(x, momentum);
    EXPECT_LT(((momentum - times(chain.M, x)).array() / scale.array()).abs().maxCoeff(), 1e-12);
  }
}

TEST(ArticulatedMatrix, SolvesAndMultipliesHelices) { operations_match<3>(); }
TEST(ArticulatedMatrix, SolvesAndMultipliesAffineElements) { operations_match<6>(); }

/// Any number of columns and of leading blocks: the corner of U undoes it.
template <int W>
void whitening_matches() {
  for (const bool free : {false, true}) {
    const Chain<W> chain = make_chain<W>({9, free}, 31);
    const MatrixX U = upper_factor(chain.matrix);
    for (int leading = std::max(3, chain.matrix.root_dof()); leading <= chain.matrix.dof(); leading += 3) {
      const auto corner = U.topLeftCorner(leading, leading);
      for (const int columns : {1, 3, 5, 6}) {
        MatrixX h(leading, columns);
        h.reshaped() = random_vector(h.size(), 7 + unsigned(leading));
        MatrixX y = h;
        chain.matrix.whiten(Eigen::Ref<MatrixX>(y));
        const MatrixX sums = corner.cwiseAbs() * y.cwiseAbs() + h.cwiseAbs();
        EXPECT_LT(((corner * y - h).array() / sums.array()).abs().maxCoeff(), 1e-14);
      }
    }
  }
}

TEST(ArticulatedMatrix, WhitensLeadingEntriesOfHelices) { whitening_matches<3>(); }
TEST(ArticulatedMatrix, WhitensLeadingEntriesOfAffineElements) { whitening_matches<6>(); }

TEST(ArticulatedMatrix, SaysWhenTheMatrixIsNotPositiveDefinite) {
  const auto with = [](auto&& spoil) {
    ArticulatedMatrix<3> matrix;
    matrix.elements() = helix_elements(make_case({.elements = 5}), dt);
    spoil(matrix.elements());
    return matrix.factor(ChainRoot::fixed);
  };
  EXPECT_TRUE(with([](auto&) {}));
  EXPECT_FALSE(with([](auto& e) { e[2].local(1, 1) = -1.0; }));
  EXPECT_FALSE(with([](auto& e) { e[4].inertia(3, 3) = std::numeric_limits<double>::quiet_NaN(); }));
  EXPECT_FALSE(with([](auto& e) { e[0].own(0, 0) = std::numeric_limits<double>::infinity(); }));
}

/// Where nothing resists the turning of a free straight rod about its centreline, its matrix is singular.
TEST(ArticulatedMatrix, RefusesAFreeStraightRodWithoutRotaryInertia) {
  const auto factors = [](bool lumped_at_the_root) {
    Case c = make_case({.elements = 3, .root = RootCondition::free, .rotary_inertia = false});
    c.state.coordinates.setZero();
    c.state.root.frame.setIdentity();
    c.state.root.position.setZero();
    c.rod->update(c.state);
    ArticulatedMatrix<3> matrix;
    matrix.elements() = helix_elements(c, dt);
    if (!lumped_at_the_root) matrix.elements()[0].inertia(3, 3) = 0.0;  // about the centreline, along x
    return matrix.factor(ChainRoot::free);
  };
  EXPECT_FALSE(factors(false));
  EXPECT_TRUE(factors(true));
}

/// A branch carried by a parent's element, in one matrix: the parent's unknowns, then the branch's.
template <int W>
void branch_matches(bool free) {
  const auto trunk = affine_elements(6, 3);
  ArticulatedMatrix<6> parent;
  parent.elements() = trunk;
  ArticulatedMatrix<W> branch;
  if constexpr (W == 3) {
    branch.elements() = helix_elements(make_case({.elements = 4, .seed = 9}), dt);
  } else {
    branch.elements() = affine_elements(4, 9);
  }
  ASSERT_TRUE(branch.factor(ChainRoot::carried));
  const int element = 3;
  const Eigen::Matrix<double, 6, 6> reach = 0.6 * trunk[element].twist;
  parent.attachments().push_back({0, 0.3 * trunk[0].twist, Matrix6::Zero()});  // carries nothing
  parent.attachments().push_back({element, reach, branch.carried_inertia()});
  ASSERT_TRUE(parent.factor(free ? ChainRoot::free : ChainRoot::fixed));

  // Written out: the branch with a free root, its six unknowns replaced by those of the parent.
  const auto by_root = [&](Terms terms) { return written_out(branch.elements(), true, terms); };
  const int own = parent.dof();
  const int beyond = branch.dof();
  LongMatrix map = LongMatrix::Zero(6 + beyond, own + beyond);
  for (int e = 0; e < element; ++e) map.block(0, parent.root_dof() + 3 * e, 6, 6) += trunk[e].twist.cast<Long>();
  if (free) map.topLeftCorner(6, 6).setIdentity();
  map.block(0, parent.root_dof() + 3 * element, 6, 6) += reach.cast<Long>();
  map.bottomRightCorner(beyond, beyond).setIdentity();
  const auto whole = [&](Terms terms) {
    LongMatrix out = map.transpose() * by_root(terms) * map;
    out.topLeftCorner(own, own) += written_out(trunk, free, terms);
    return out;
  };
  const LongMatrix A = whole(Terms::implicit);
  const LongMatrix U = long_reverse_cholesky(A);

  std::vector<Vector6> twists(2);
  VectorX x = random_vector(own + beyond, 17);
  VectorX y = x;
  parent.velocity_from_whitened(y.head(own), Vector6::Zero(), twists);
  branch.velocity_from_whitened(y.tail(beyond), twists[1]);
  const VectorX back = (U.transpose() * y.cast<Long>()).cast<double>();
  const VectorX sums = (U.cwiseAbs().transpose() * y.cwiseAbs().cast<Long>()).cast<double>();
  EXPECT_LT(((back - x).array() / sums.array()).abs().maxCoeff(), 1e-13);
  EXPECT_LT((twists[1].cast<Long>() - map.topRows(6) * y.cast<Long>()).cwiseAbs().maxCoeff(),
            1e-13 * double((map.topRows(6).cwiseAbs() * y.cwiseAbs().cast<Long>()).maxCoeff()));

  y = x;
  std::vector<Vector6> wrenches(2, Vector6::Zero());
  wrenches[1] = branch.template whiten<1>(y.tail(beyond));
  parent.whiten<1>(y.head(own), wrenches);
  const VectorX h = (U * y.cast<Long>()).cast<double>();
  const VectorX reach_of_U = (U.cwiseAbs() * y.cwiseAbs().cast<Long>()).cast<double>();
  EXPECT_LT(((h - x).array() / reach_of_U.array()).abs().maxCoeff(), 1e-13);

  VectorX momentum(own + beyond);
  parent.spread(x.head(own), Vector6::Zero(), twists);
  branch.spread(x.tail(beyond), twists[1]);
  wrenches[1] = branch.mass_times(x.tail(beyond), momentum.tail(beyond));
  parent.mass_times(x.head(own), momentum.head(own), wrenches);
  const LongMatrix M = whole(Terms::mass);
  const VectorX expected = (M * x.cast<Long>()).cast<double>();
  const VectorX bound = (M.cwiseAbs() * x.cwiseAbs().cast<Long>()).cast<double>();
  EXPECT_LT(((momentum - expected).array() / bound.array()).abs().maxCoeff(), 1e-13);

  const double norm = parent.squared_norm(x.head(own)) + branch.squared_norm(x.tail(beyond), twists[1]);
  const double expected_norm = double(x.cast<Long>().dot(A * x.cast<Long>()));
  EXPECT_NEAR(norm, expected_norm, 1e-13 * expected_norm);
}

TEST(ArticulatedMatrix, CarriesABranchOfHelices) {
  branch_matches<3>(false);
  branch_matches<3>(true);
}
TEST(ArticulatedMatrix, CarriesABranchOfAffineElements) {
  branch_matches<6>(false);
  branch_matches<6>(true);
}

/// What a rod of many elements makes, against the dense matrix of the same rod: elliptic, tapered, with drag.
TEST(ArticulatedMatrix, IsWhatALongRodStepsWith) {
  for (const auto model : {Model::super_helix, Model::super_clothoid}) {
    for (const auto root : {RootCondition::clamped, RootCondition::free}) {
      const Case c = make_case({.elements = 20, .turn = 0.7, .root = root, .seed = 3, .model = model});
      const int dof = c.rod->dof();
      const auto recursive = c.rod->make_step_matrix();
      ASSERT_EQ(dynamic_cast<const rods::detail::DenseStepMatrix*>(recursive.get()), nullptr);
      rods::detail::DenseStepMatrix dense;
      const rods::StepTerms terms{1e-6, 1e-3, 1e-3 * 0.02};
      const VectorX v = random_vector(dof, 5);
      VectorX by_recursion, by_dense;
      ASSERT_TRUE(recursive->factor(*c.rod, terms, v, by_recursion));
      ASSERT_TRUE(dense.factor(*c.rod, terms, v, by_dense));
      EXPECT_LT(relative(by_recursion, by_dense), 1e-14);
      EXPECT_NEAR(recursive->squared_norm(v), dense.squared_norm(v), 1e-13 * dense.squared_norm(v));
      // Errors of solutions are the condition's; the residual says whether it is that.
      MatrixX all(dof, dof);
      c.rod->mass_matrix(all);
      c.rod->add_stiffness(terms.stiffness, terms.damping, all);
      c.rod->add_drag_matrix(terms.drag, all);
      VectorX x = v;
      recursive->solve(x);
      const VectorX bound = all.cwiseAbs() * x.cwiseAbs() + v.cwiseAbs();
      EXPECT_LT(((all * x - v).array() / bound.array()).abs().maxCoeff(), 1e-13);
      // Rows of a contact in the middle: W from either.
      MatrixX mine(c.rod->touched(9), 3);
      Matrix3X jacobian(3, dof);
      c.rod->jacobian(9, 0.3 * c.lengths[9], jacobian);
      mine = jacobian.leftCols(mine.rows()).transpose();
      MatrixX theirs = mine;
      recursive->whiten(mine);
      dense.whiten(theirs);
      EXPECT_LT(relative(mine.transpose() * mine, theirs.transpose() * theirs), 1e-10);
    }
  }
}

}  // namespace TRESSE_TEST_FILE
