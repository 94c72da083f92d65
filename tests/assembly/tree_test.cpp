#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <random>

#include <tresse/assembly/tree_matrix.hpp>
#include <tresse/base/errors.hpp>
#include <tresse/math/rotations.hpp>
#include <tresse/rods/super_clothoid.hpp>
#include <tresse/rods/super_helix.hpp>

namespace TRESSE_TEST_FILE {

using namespace tresse;
using rods::RootCondition;

const rods::Material willow{.density = 900.0, .young_modulus = 5e7, .poisson_ratio = 0.4, .damping_time = 0.02};

bool printing() { return std::getenv("TRESSE_TEST_PRINT") != nullptr; }

VectorX random_vector(Eigen::Index n, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> u(-1.0, 1.0);
  return VectorX::NullaryExpr(n, [&] { return u(random); });
}

rods::SuperHelixElement element(int i) {
  return {0.03 + 0.004 * (i % 3), {1e-3 / (1.0 + 0.1 * i), 1.4e-3 / (1.0 + 0.1 * i)}, {0.0, 2.0, 5.0}};
}

std::vector<rods::SuperHelixElement> elements(int first, int last) {
  std::vector<rods::SuperHelixElement> out;
  for (int i = first; i < last; ++i) out.push_back(element(i));
  return out;
}

/// A tree and its state as one vector of unknown velocities; root of the trunk apart.
struct Grown {
  assembly::World world;
  assembly::Forest forest;
  std::vector<rods::RodState> states;
  Twist root_acceleration;
  std::optional<assembly::Kinematics> at{};  ///< of the states, once settle() was called

  const assembly::Tree& tree() const { return forest.trees[0]; }
  int dof() const { return tree().dof; }
  VectorX velocity() const {
    VectorX v(dof());
    for (std::size_t k = 0; k < states.size(); ++k) {
      const VectorX own = rods::generalised_velocity(at->rod(static_cast<int>(k)), states[k]);
      const int n =
          forest.trees[0].begin.size() > k + 1 ? tree().begin[k + 1] - tree().begin[k] : dof() - tree().begin[k];
      v.segment(tree().begin[k], n) = own.tail(n);
    }
    return v;
  }
  /// Coordinates moved by h v, rates those of v; a free trunk's root by the exponential map.
  void move(const std::vector<rods::RodState>& from, const VectorX& v, double h) {
    for (std::size_t k = 0; k < states.size(); ++k) {
      const rods::Rod& rod = at->rod(static_cast<int>(k));
      VectorX own(rod.dof());
      const int n = k == 0 ? rod.dof() : rod.coordinate_count();
      own.setZero();
      own.tail(n) = v.segment(tree().begin[k], n);
      states[k] = rod.advanced(from[k], own, h, from[k].root, from[k].root_velocity);
    }
    assembly::update_tree(*at, tree(), states);
  }
  std::vector<assembly::RootMotion> roots() const {
    std::vector<assembly::RootMotion> out;
    assembly::root_motions(*at, tree(), root_acceleration, out);
    return out;
  }
  VectorX force() {
    VectorX out = VectorX::Zero(dof());
    const auto motions = roots();
    for (int k = 0; k < int(states.size()); ++k) {
      VectorX own(world.fibres[k].model->dof());
      at->rod(k).inertial_and_external_force(
          assembly::rod_loads(world, tree(), motions, k, assembly::wind_at(world, 0.0)), own);
      assembly::add_rod_force(world, tree(), motions, k, own, out);
    }
    return out;
  }
  /// M v, and A factored.
  VectorX momentum(const VectorX& v, double dt, assembly::TreeMatrix& matrix) const {
    VectorX out;
    EXPECT_TRUE(matrix.factor(*at, tree(), roots(), dt, v, out));
    return out;
  }
  VectorX momentum(const VectorX& v) const {
    assembly::TreeMatrix matrix(world, tree());
    return momentum(v, 1e-2, matrix);
  }
  double kinetic() const {
    double sum = 0.0;
    for (int f = 0; f < int(states.size()); ++f) sum += at->rod(f).energies(Vector3::Zero()).kinetic;
    return sum;
  }
};

assembly::Fibre rod_of(const std::vector<rods::SuperHelixElement>& elements, RootCondition condition) {
  assembly::Fibre out;
  out.model = rods::make_super_helix(elements, willow, condition)->model();
  return out;
}

assembly::Fibre clothoid_of(const std::vector<rods::SuperHelixElement>& elements, RootCondition condition) {
  std::vector<rods::SuperClothoidElement> parts;
  std::vector<Vector3> rest(1, Vector3(0.0, 2.0, 5.0));
  for (const auto& e : elements) {
    parts.push_back({e.length, e.section});
    rest.push_back(rest.back() + Vector3(0.5, 1.0, -1.0));
  }
  assembly::Fibre out;
  out.model = rods::make_super_clothoid(parts, rest, willow, condition)->model();
  return out;
}

void grow(Grown& to, assembly::Fibre fibre, unsigned seed) {
  rods::RodState state = fibre.model->make_rod()->state();
  const Eigen::Index m = state.coordinates.size();
  state.coordinates += 15.0 * random_vector(m, seed);
  state.rates = 40.0 * random_vector(m, seed + 1);
  to.world.fibres.push_back(std::move(fibre));
  to.states.push_back(std::move(state));
}

void settle(Grown& tree) {
  tree.forest = assembly::make_forest(tree.world);
  tree.at.emplace(tree.world);
  assembly::update_tree(*tree.at, tree.tree(), tree.states);
}

void set_root(Grown& tree, const Twist& velocity) {
  tree.states[0].root.position = {0.1, -0.2, 0.3};
  tree.states[0].root.frame = math::rotation_exp({0.4, -0.9, 1.1});
  tree.states[0].root_velocity = velocity;
}

const Twist moving{{0.3, -0.2, 0.5}, {2.0, -1.0, 3.0}};

/// A trunk, two branches on it, one of them within an element and off its centreline, and a twig on that branch. Of
/// helices, or with clothoids for the trunk and the branch that has the twig.
std::unique_ptr<Grown> bush(RootCondition trunk, const Twist& root_velocity, bool clothoids) {
  const auto make = clothoids ? clothoid_of : rod_of;
  auto grown = std::make_unique<Grown>();  // its kinematics know where its world is
  Grown& out = *grown;
  grow(out, make(elements(0, 3), trunk), 1);
  assembly::Fibre side = make(elements(2, 4), RootCondition::carried);
  side.attachment = {0, 1, 0.4 * element(1).length, {{0.0, 1e-3, 2e-3}, math::rotation_exp({0.3, 0.8, -0.5})}};
  grow(out, std::move(side), 3);
  assembly::Fibre tip = rod_of(elements(4, 5), RootCondition::carried);
  tip.attachment = {0, 2, element(2).length, {{0.0, 0.0, 0.0}, math::rotation_exp({-0.3, 0.1, 0.6})}};
  grow(out, std::move(tip), 5);
  assembly::Fibre twig = rod_of(elements(5, 7), RootCondition::carried);
  twig.attachment = {1, 1, 0.7 * element(3).length, {{1e-3, -1e-3, 0.0}, math::rotation_exp({0.0, -0.7, 0.2})}};
  grow(out, std::move(twig), 7);
  set_root(out, root_velocity);
  settle(out);
  return grown;
}

/// f at 0, sixth order.
template <typename F>
auto difference(F&& f, double h) {
  return ((45.0 * (f(h) - f(-h)) - 9.0 * (f(2 * h) - f(-2 * h)) + (f(3 * h) - f(-3 * h))) / (60.0 * h)).eval();
}

double relative(const MatrixX& found, const MatrixX& expected) {
  return (found - expected).cwiseAbs().maxCoeff() / expected.cwiseAbs().maxCoeff();
}

struct CutCase {
  RootCondition trunk;
  double drag;
};

/// The same rod whole and cut in two, the second part a branch at the tip of the first.
void cut_matches(const CutCase& with) {
  const auto surroundings = [&](assembly::World& world) {
    assembly::set_load(world, assembly::Gravity({0.0, 3.0, -9.81}));
    assembly::set_load(world, assembly::Air({1.0, 2.0, -0.5}));
    for (auto& fibre : world.fibres) fibre.drag = with.drag;
  };
  Grown whole;
  grow(whole, rod_of(elements(0, 8), with.trunk), 11);
  Grown cut;
  for (const auto& [first, last] : {std::pair(0, 3), std::pair(3, 6), std::pair(6, 8)}) {
    assembly::Fibre part = rod_of(elements(first, last), first == 0 ? with.trunk : RootCondition::carried);
    if (first > 0) part.attachment = {int(cut.states.size()) - 1, 2, element(first - 1).length, {}};
    rods::RodState state = part.model->make_rod()->state();
    state.coordinates = whole.states[0].coordinates.segment(3 * first, 3 * (last - first));
    state.rates = whole.states[0].rates.segment(3 * first, 3 * (last - first));
    cut.world.fibres.push_back(std::move(part));
    cut.states.push_back(std::move(state));
  }
  for (Grown* tree : {&whole, &cut}) {
    surroundings(tree->world);
    set_root(*tree, moving);
    tree->root_acceleration = {{4.0, -3.0, 2.0}, {10.0, 20.0, -15.0}};
    settle(*tree);
  }
  ASSERT_EQ(cut.dof(), whole.dof());
  const auto part = whole.at->rod(0).section(whole.at->rod(0).piece_begin(6));
  EXPECT_LT((cut.states[2].root.position - part.position).norm(), 1e-15);
  EXPECT_LT((cut.states[2].root.frame - part.frame).norm(), 1e-14);

  const VectorX v = whole.velocity();
  EXPECT_EQ(cut.velocity(), v);
  const double momentum = relative(cut.momentum(v), whole.momentum(v));
  const double force = relative(cut.force(), whole.force());
  double step = 0.0;
  if (with.trunk == RootCondition::clamped) {
    assembly::TreeMatrix one(whole.world, whole.tree());
    assembly::TreeMatrix many(cut.world, cut.tree());
    whole.momentum(v, 5e-3, one);
    cut.momentum(v, 5e-3, many);
    VectorX x = random_vector(v.size(), 5);
    VectorX y = x;
    one.solve(x);
    many.solve(y);
    step = relative(y, x);
    MatrixX rows = random_vector(12 * 3, 9).reshaped(12, 3);
    MatrixX same = rows;
    one.whiten(rows);
    many.whiten(same);
    EXPECT_LT(relative(same, rows), 1e-11);
  }
  if (printing()) std::printf("cut in three: M v %.1e, forces %.1e, A^-1 %.1e\n", momentum, force, step);
  EXPECT_LT(momentum, 1e-12);
  EXPECT_LT(force, 1e-12);
  EXPECT_LT(step, 1e-11);
}

TEST(Tree, ARodCutInThreeIsTheRod) {
  cut_matches({RootCondition::clamped, 0.0});
  cut_matches({RootCondition::clamped, 0.05});
  cut_matches({RootCondition::free, 0.0});
  cut_matches({RootCondition::free, 0.05});
}

/// Both factors of one tree: everything that they answer.
double recursion_error(const Grown& tree) {
  assembly::TreeMatrix dense(tree.world, tree.tree(), assembly::TreeFactor::dense);
  assembly::TreeMatrix recursive(tree.world, tree.tree(), assembly::TreeFactor::recursive);
  const VectorX v = tree.velocity();
  double worst = relative(tree.momentum(v, 5e-3, recursive), tree.momentum(v, 5e-3, dense));
  const auto compare = [&](auto&& answer) { worst = std::max(worst, relative(answer(recursive), answer(dense))); };
  compare([&](const assembly::TreeMatrix& a) {
    VectorX x = random_vector(v.size(), 61);
    a.solve(x);
    return x;
  });
  compare([&](const assembly::TreeMatrix& a) {
    VectorX x = random_vector(v.size(), 62);
    a.velocity_from_whitened(x);
    return x;
  });
  compare([&](const assembly::TreeMatrix& a) { return MatrixX::Constant(1, 1, a.squared_norm(v)); });
  // Rows of contacts end with a piece of some rod, and hold nothing of the siblings between.
  for (std::size_t k = 0; k < tree.states.size(); ++k) {
    const rods::Rod& rod = tree.at->rod(static_cast<int>(k));
    for (int piece = 0; piece < rod.piece_count(); ++piece) {
      const int leading = tree.tree().begin[k] + rod.touched(piece) - (k > 0 ? 6 : 0);
      MatrixX rows = random_vector(Eigen::Index{4} * leading, 70 + unsigned(piece)).reshaped(leading, 4);
      if (k == 3) rows.middleRows(tree.tree().begin[2], tree.tree().begin[3] - tree.tree().begin[2]).setZero();
      compare([&](const assembly::TreeMatrix& a) {
        MatrixX out = rows;
        a.whiten(out);
        return out;
      });
    }
  }
  return worst;
}

TEST(Tree, TheRecursionIsTheDenseFactor) {
  for (const bool clothoids : {false, true}) {
    for (const auto trunk : {RootCondition::clamped, RootCondition::free}) {
      const auto grown = bush(trunk, trunk == RootCondition::free ? moving : Twist{}, clothoids);
      Grown& tree = *grown;
      for (std::size_t k = 0; k < tree.states.size(); ++k) tree.world.fibres[k].drag = 0.01 * double(k);
      const double error = recursion_error(tree);
      if (printing()) std::printf("recursion against dense: %.1e\n", error);
      EXPECT_LT(error, 1e-12);  // rounding times a small condition; 4e-15 found
    }
  }
}

TEST(Tree, TheRecursionRefusesWhatIsNotFinite) {
  const auto grown = bush(RootCondition::clamped, {}, true);
  Grown& tree = *grown;
  for (const auto factor : {assembly::TreeFactor::dense, assembly::TreeFactor::recursive}) {
    assembly::TreeMatrix matrix(tree.world, tree.tree(), factor);
    VectorX momentum;
    EXPECT_FALSE(matrix.factor(*tree.at, tree.tree(), tree.roots(), std::nan(""), tree.velocity(), momentum));
  }
}

/// Twists, prescribed parts and biases of the branches' roots against differences along the motion.
TEST(Tree, RootsOfBranchesMoveWithTheirParents) {
  for (const auto& [trunk, clothoids] :
       {std::pair(RootCondition::clamped, false), std::pair(RootCondition::free, false),
        std::pair(RootCondition::clamped, true), std::pair(RootCondition::free, true)}) {
    const auto grown = bush(trunk, trunk == RootCondition::free ? moving : Twist{}, clothoids);
    Grown& tree = *grown;
    const auto start = tree.states;
    const VectorX v = tree.velocity();
    const auto motions = tree.roots();
    for (std::size_t k = 1; k < tree.states.size(); ++k) {
      const auto at = [&](double h) {
        tree.move(start, v, h);
        return tree.states[k];
      };
      const Eigen::Matrix<double, 6, 1> twist = motions[k].twist * v.head(motions[k].twist.cols());
      const Vector3 linear = difference([&](double h) { return at(h).root.position; }, 1e-3);
      const Matrix3 turning = difference([&](double h) { return at(h).root.frame; }, 1e-3);
      const Matrix3 expected = math::cross_matrix(twist.tail<3>()) * start[k].root.frame;
      EXPECT_LT((linear - twist.head<3>()).norm(), 1e-10 * twist.head<3>().norm());
      EXPECT_LT((turning - expected).norm(), 1e-10 * expected.norm());
      const Vector3 bias = difference([&](double h) { return at(h).root_velocity.linear; }, 1e-3);
      const Vector3 spin = difference([&](double h) { return at(h).root_velocity.angular; }, 1e-3);
      EXPECT_LT((bias - motions[k].bias.linear).norm(), 1e-9 * bias.norm());
      EXPECT_LT((spin - motions[k].bias.angular).norm(), 1e-9 * spin.norm());
      tree.move(start, v, 0.0);
    }
  }
}

/// Lagrange's equations of the whole tree, by differences of its kinetic energy: with T = v . M v / 2 and constant v,
/// d/dt (M v) - dT/dq is what the velocity-product terms must balance. The trunk is clamped and still: all unknowns are
/// rates of coordinates.
void obeys_lagrange(bool clothoids) {
  const auto grown = bush(RootCondition::clamped, {}, clothoids);
  Grown& tree = *grown;
  const auto start = tree.states;
  const VectorX v = tree.velocity();
  EXPECT_NEAR(0.5 * v.dot(tree.momentum(v)), tree.kinetic(), 1e-13 * tree.kinetic());
  // M is symmetric and gives the kinetic energy of any velocity.
  const VectorX w = 50.0 * random_vector(v.size(), 41);
  EXPECT_NEAR(w.dot(tree.momentum(v)), v.dot(tree.momentum(w)), 1e-13 * std::abs(w.dot(tree.momentum(v))));
  tree.move(start, w, 0.0);
  EXPECT_NEAR(0.5 * w.dot(tree.momentum(w)), tree.kinetic(), 1e-13 * tree.kinetic());

  const VectorX change = difference(
      [&](double h) {
        tree.move(start, v, h);
        return tree.momentum(v);
      },
      1e-3);
  VectorX slope(v.size());
  for (Eigen::Index i = 0; i < v.size(); ++i) {
    const auto energy = [&](double h) {
      std::vector<rods::RodState> bent = start;
      tree.move(start, VectorX::Unit(v.size(), i), h);  // sets rates too: put back below
      for (std::size_t k = 0; k < bent.size(); ++k) tree.states[k].rates = start[k].rates;
      assembly::update_tree(*tree.at, tree.tree(), tree.states);
      return Eigen::Matrix<double, 1, 1>(tree.kinetic());
    };
    slope[i] = difference(energy, 0.02)[0];
  }
  tree.move(start, v, 0.0);
  assembly::set_load(tree.world, assembly::Gravity(Vector3::Zero()));
  const double error = relative(-tree.force(), change - slope);
  if (printing()) std::printf("Lagrange's equations of a bush: %.1e\n", error);
  EXPECT_LT(error, 1e-9);
}

TEST(Tree, ObeysLagrangesEquations) {
  obeys_lagrange(false);
  obeys_lagrange(true);
}

TEST(Tree, WeightIsTheSlopeOfThePotential) {
  const auto grown = bush(RootCondition::clamped, {}, true);
  Grown& tree = *grown;
  const Vector3 gravity(1.0, -2.0, -9.81);
  for (auto& state : tree.states) state.rates.setZero();
  const auto start = tree.states;
  VectorX slope(tree.dof());
  for (int i = 0; i < tree.dof(); ++i) {
    const auto energy = [&](double h) {
      tree.move(start, VectorX::Unit(tree.dof(), i), h);
      double sum = 0.0;
      for (int f = 0; f < int(tree.states.size()); ++f) sum += tree.at->rod(f).energies(gravity).gravity;
      return Eigen::Matrix<double, 1, 1>(sum);
    };
    slope[i] = difference(energy, 0.05)[0];
  }
  tree.move(start, VectorX::Zero(tree.dof()), 0.0);
  assembly::set_load(tree.world, assembly::Gravity(gravity));
  EXPECT_LT(relative(-tree.force(), slope), 1e-9);
}

TEST(Tree, RefusesWhatDoesNotGrow) {
  const auto forest = [](const assembly::Attachment& attachment, RootCondition condition) {
    assembly::World world;
    world.fibres.push_back(rod_of(elements(0, 2), RootCondition::clamped));
    world.fibres.push_back(rod_of(elements(0, 2), condition));
    world.fibres.back().attachment = attachment;
    return assembly::make_forest(world);
  };
  EXPECT_EQ(forest({0, 1, 0.01, {}}, RootCondition::carried).trees.size(), 1u);
  EXPECT_EQ(forest({}, RootCondition::free).trees.size(), 2u);
  EXPECT_THROW(forest({}, RootCondition::carried), InvalidInput);
  EXPECT_THROW(forest({0, 1, 0.01, {}}, RootCondition::free), InvalidInput);
  EXPECT_THROW(forest({1, 1, 0.01, {}}, RootCondition::carried), InvalidInput);
  EXPECT_THROW(forest({0, 2, 0.01, {}}, RootCondition::carried), InvalidInput);
  EXPECT_THROW(forest({0, 1, 0.5, {}}, RootCondition::carried), InvalidInput);
  EXPECT_THROW(forest({0, 1, 0.01, {Vector3::Zero(), 2.0 * Matrix3::Identity()}}, RootCondition::carried),
               InvalidInput);
}

}  // namespace TRESSE_TEST_FILE
