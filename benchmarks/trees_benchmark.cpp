#include <optional>
#include <random>

#include <benchmark/benchmark.h>

#include <tresse/assembly/tree_matrix.hpp>
#include <tresse/math/rotations.hpp>
#include <tresse/rods/super_clothoid.hpp>
#include <tresse/rods/super_helix.hpp>

// The matrix of one tree, one core. Argument: number of elements, in rods of three: a third of the branches on the
// trunk, the rest on branches.
namespace {

using namespace tresse;
using assembly::TreeFactor;

const rods::Material wood{.density = 900.0, .young_modulus = 1e9, .poisson_ratio = 0.35, .damping_time = 0.01};
constexpr double element_length = 0.1;

std::unique_ptr<rods::Rod> make_rod(bool clothoid, rods::RootCondition root) {
  const rods::CrossSection section = rods::CrossSection::circle(2e-3);
  if (clothoid) {
    return rods::make_super_clothoid(std::vector<rods::SuperClothoidElement>(3, {element_length, section}),
                                     std::vector<Vector3>(4, {0, 0, 1.0}), wood, root);
  }
  return rods::make_super_helix(std::vector<rods::SuperHelixElement>(3, {element_length, section, {0, 0, 1.0}}), wood,
                                root);
}

struct Grown {
  assembly::World world;
  assembly::Forest forest;
  std::vector<rods::RodState> states;
  std::optional<assembly::Kinematics> at;

  Grown(int elements, bool clothoid) {
    std::mt19937 random(5);
    std::uniform_real_distribution<double> u(-1.0, 1.0);
    for (int f = 0; 3 * f < elements; ++f) {
      assembly::Fibre fibre;
      fibre.model = make_rod(clothoid, f == 0 ? rods::RootCondition::clamped : rods::RootCondition::carried)->model();
      if (f > 0) {
        const int parent = f % 3 == 1 ? 0 : std::max(0, f / 3);
        fibre.attachment = {parent, f % 3, 0.4 * element_length, {{}, math::rotation_exp({0.5 * f, 0.0, 0.8})}};
      }
      states.push_back(fibre.model->make_rod()->state());
      for (double& k : states.back().coordinates) k += 0.5 * u(random);
      world.fibres.push_back(std::move(fibre));
    }
    forest = assembly::make_forest(world);
    at.emplace(world);
    assembly::update_tree(*at, forest.trees[0], states);
  }
};

/// Update, root motions, momentum and factor, one solve, a contact at the last tip.
void tree_matrix(benchmark::State& state, bool clothoid, TreeFactor choice) {
  Grown grown(int(state.range(0)), clothoid);
  const assembly::Tree& tree = grown.forest.trees[0];
  assembly::TreeMatrix matrix(grown.world, tree, choice);
  std::vector<assembly::RootMotion> roots;
  const VectorX v = VectorX::Ones(tree.dof);
  VectorX x;
  MatrixX h;
  bool good = true;
  for (auto _ : state) {
    assembly::update_tree(*grown.at, tree, grown.states);
    assembly::root_motions(*grown.at, tree, {}, roots);
    good = matrix.factor(*grown.at, tree, roots, 1e-3, v, x) && good;
    matrix.solve(x);
    h.setZero(tree.dof, 3);
    h.bottomRows<3>().setOnes();
    matrix.whiten(h);
    benchmark::DoNotOptimize(x.data());
    benchmark::DoNotOptimize(h.data());
  }
  if (!good) state.SkipWithError("not positive definite");
}

void sizes(benchmark::internal::Benchmark* b) {
  for (const int n : {6, 9, 12, 24, 60, 243}) b->Arg(n);
}
BENCHMARK_CAPTURE(tree_matrix, helix_dense, false, TreeFactor::dense)->Apply(sizes);
BENCHMARK_CAPTURE(tree_matrix, helix_recursive, false, TreeFactor::recursive)->Apply(sizes);
BENCHMARK_CAPTURE(tree_matrix, clothoid_dense, true, TreeFactor::dense)->Apply(sizes);
BENCHMARK_CAPTURE(tree_matrix, clothoid_recursive, true, TreeFactor::recursive)->Apply(sizes);

}  // namespace
