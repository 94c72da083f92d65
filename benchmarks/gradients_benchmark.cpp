#include <cstdlib>
#include <memory>

#include <benchmark/benchmark.h>

#include <tresse/dynamics/stepper.hpp>
#include <tresse/rods/super_helix.hpp>

// What derivatives of a run cost, one core: a fibre of 20 elements that falls onto a bar, 300 steps of 1 ms. `plain` is
// the run itself, `forward` with as many directions as its argument says, `backward` with a gradient by everything.
namespace {

using namespace tresse;

constexpr int elements = 20, steps = 300;

dynamics::Stepper falling_fibre() {
  assembly::World world;
  const rods::Material cable{.density = 1200.0, .young_modulus = 5e6, .poisson_ratio = 0.4, .damping_time = 4e-3};
  assembly::Fibre fibre;
  fibre.model =
      rods::make_super_helix(std::vector<rods::SuperHelixElement>(
                                 elements, {0.3 / elements, rods::CrossSection::circle(2e-3), Vector3(0, 1, 0)}),
                             cable, rods::RootCondition::clamped)
          ->model();
  fibre.drag = 0.01;
  dynamics::SimulationState state;
  state.rods.push_back(fibre.model->make_rod()->state());
  world.fibres.push_back(std::move(fibre));
  bodies::Obstacle bar;
  bar.name = "bar";
  bar.shape = bodies::Cylinder{
      .center = Vector3(0.15, 0.0, -0.03), .axis = Vector3(0.1, 1.0, 0.0).normalized(), .radius = 5e-3, .length = 0.3};
  world.obstacles.push_back(bar);
  world.obstacle_material.push_back(0);
  world.law = std::make_shared<assembly::Coulomb>(MatrixX::Constant(1, 1, 0.3));
  assembly::set_load(world, assembly::Gravity(Vector3(0.0, 0.0, -9.81)));
  dynamics::StepOptions options;
  options.dt = 1e-3;
  options.margin = 1e-4;
  options.solver.tolerance = 1e-10;
  return {std::move(world), options, std::move(state)};
}

/// Each varies the natural curvature of one element, or all that a material has.
std::vector<dynamics::Variation> directions(std::int64_t count) {
  std::vector<dynamics::Variation> out;
  for (std::int64_t k = 0; k < count; ++k) {
    dynamics::FibreVariation own;
    if (k == 0) own.stiffness.setOnes();
    if (k == 1) own.damping_time = 1.0;
    if (k == 2) own.density = 1.0;
    if (k > 2) own.natural = VectorX::Unit(3 * elements, k);
    out.push_back({.fibres = {own}});
  }
  return out;
}

void run(dynamics::Stepper& stepper) {
  for (int i = 0; i < steps; ++i) {
    if (!stepper.step().finite) std::abort();
  }
}

void plain(benchmark::State& state) {
  for (auto _ : state) {
    dynamics::Stepper stepper = falling_fibre();
    run(stepper);
  }
}

void forward(benchmark::State& state) {
  for (auto _ : state) {
    dynamics::Stepper stepper = falling_fibre();
    stepper.differentiate(directions(state.range(0)));
    run(stepper);
    if (!stepper.derivative_report().refused.empty()) state.SkipWithError(stepper.derivative_report().refused.c_str());
  }
}

/// Of the squared distance of the tip from a place, each ten steps.
void backward(benchmark::State& state) {
  for (auto _ : state) {
    dynamics::Stepper stepper = falling_fibre();
    stepper.keep_for_gradient();
    const std::vector<dynamics::AxisPlace> tip{{elements - 1, 0.3 / elements}};
    for (int i = 0; i < steps; ++i) {
      if (!stepper.step().finite) std::abort();
      if (i % 10 > 0) continue;
      const rods::Rod& rod = stepper.kinematics().rod(0);
      const Vector3 off = rod.section(rod.length()).position - Vector3(0.1, 0.0, -0.2);
      stepper.add_by_state({dynamics::by_positions(rod, 2.0 * off, tip)});
    }
    dynamics::DerivativeReport report;
    benchmark::DoNotOptimize(stepper.gradient(report));
    if (!report.refused.empty()) state.SkipWithError(report.refused.c_str());
  }
}

BENCHMARK(plain)->Unit(benchmark::kMillisecond);
BENCHMARK(forward)->Arg(1)->Arg(3)->Arg(20)->Unit(benchmark::kMillisecond);
BENCHMARK(backward)->Unit(benchmark::kMillisecond);

}  // namespace
