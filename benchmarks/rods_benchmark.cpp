#include <random>

#include <benchmark/benchmark.h>

#include <tresse/rods/super_helix.hpp>

// One rod, one core: what a time step asks of a super-helix. Argument: number of elements.
namespace {

using namespace tresse;

struct Hair {
  std::unique_ptr<rods::Rod> rod;
  rods::RodState state;

  Hair(int elements, double turn, rods::RootCondition root) {
    const rods::Material material{.density = 1300.0, .young_modulus = 3e9, .poisson_ratio = 0.48, .damping_time = 0.0};
    const double l = 0.3 / elements;
    std::vector<rods::SuperHelixElement> parts(
        elements, {.length = l, .section = rods::CrossSection::circle(35e-6), .rest_curvature = {0, 0, turn / l}});
    rod = rods::make_super_helix(parts, material, root);
    std::mt19937 random(7);
    std::uniform_real_distribution<double> u(-1.0, 1.0);
    state = rod->state();
    for (double& k : state.coordinates) k += 0.2 * turn / l * u(random);
    for (double& k : state.rates) k = 10.0 * u(random);
  }
};

constexpr double gentle_turn = 0.8;  // [rad] an element, the series branch
constexpr double curly_turn = 4.0;   // [rad] an element, the trigonometric branch

void update(benchmark::State& state) {
  Hair hair(int(state.range(0)), gentle_turn, rods::RootCondition::clamped);
  for (auto _ : state) hair.rod->update(hair.state);
}

void mass_matrix(benchmark::State& state) {
  Hair hair(int(state.range(0)), gentle_turn, rods::RootCondition::clamped);
  MatrixX m(hair.rod->dof(), hair.rod->dof());
  for (auto _ : state) {
    hair.rod->update(hair.state);  // else the rod returns the matrix of the last call
    hair.rod->mass_matrix(m);
    benchmark::DoNotOptimize(m.data());
  }
}

void forces(benchmark::State& state) {
  Hair hair(int(state.range(0)), gentle_turn, rods::RootCondition::clamped);
  VectorX f(hair.rod->dof());
  const rods::RodLoads loads{.gravity = {0, 0, -9.81}, .root_acceleration = {}};
  for (auto _ : state) {
    hair.rod->inertial_and_external_force(loads, f);
    benchmark::DoNotOptimize(f.data());
  }
}

void assemble(benchmark::State& state, double turn, rods::RootCondition root) {
  Hair hair(int(state.range(0)), turn, root);
  MatrixX m(hair.rod->dof(), hair.rod->dof());
  VectorX f(hair.rod->dof());
  const rods::RodLoads loads{.gravity = {0, 0, -9.81}, .root_acceleration = {}};
  for (auto _ : state) {
    hair.rod->update(hair.state);
    hair.rod->mass_matrix(m);
    hair.rod->add_stiffness(1.0, 0.0, m);
    hair.rod->inertial_and_external_force(loads, f);
    benchmark::DoNotOptimize(m.data());
    benchmark::DoNotOptimize(f.data());
  }
}

void jacobian(benchmark::State& state) {
  const int n = int(state.range(0));
  Hair hair(n, gentle_turn, rods::RootCondition::clamped);
  Matrix3X j(3, hair.rod->dof());
  for (auto _ : state) {
    hair.rod->jacobian(n - 1, 0.2 / n, j);
    benchmark::DoNotOptimize(j.data());
  }
}

void potential_hessian(benchmark::State& state) {
  Hair hair(int(state.range(0)), gentle_turn, rods::RootCondition::clamped);
  MatrixX h(hair.rod->dof(), hair.rod->dof());
  for (auto _ : state) {
    hair.rod->potential_hessian({0, 0, -9.81}, h);
    benchmark::DoNotOptimize(h.data());
  }
}

BENCHMARK(update)->Arg(12)->Arg(20)->Arg(50);
BENCHMARK(mass_matrix)->Arg(12)->Arg(20)->Arg(50);
BENCHMARK(forces)->Arg(12)->Arg(20)->Arg(50);
BENCHMARK_CAPTURE(assemble, gentle, gentle_turn, rods::RootCondition::clamped)->Arg(12)->Arg(20)->Arg(50);
BENCHMARK_CAPTURE(assemble, curly, curly_turn, rods::RootCondition::clamped)->Arg(12);
BENCHMARK_CAPTURE(assemble, free_root, gentle_turn, rods::RootCondition::free)->Arg(12);
BENCHMARK(jacobian)->Arg(12)->Arg(20)->Arg(50);
BENCHMARK(potential_hessian)->Arg(12);

}  // namespace
