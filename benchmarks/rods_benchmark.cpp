#include <random>

#include <benchmark/benchmark.h>

#include <tresse/math/reverse_cholesky.hpp>
#include <tresse/math/rotations.hpp>
#include <tresse/rods/detail/articulated_step_matrix.hpp>
#include <tresse/rods/detail/dense_step_matrix.hpp>
#include <tresse/rods/super_clothoid.hpp>
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

/// Data of a clamped chain like a hair of `n` elements of length l, each of their own mass at five points.
template <int W>
std::vector<rods::detail::ArticulatedElement<W>> chain(int n) {
  const double l = 0.3 / n;
  constexpr double density = 5e-6;  // [kg/m]
  std::vector<rods::detail::ArticulatedElement<W>> out(n);
  Vector3 d = Vector3::Zero();
  for (auto& e : out) {
    const Matrix3 frame = math::rotation_exp(d / 0.1);
    const auto gradient = [&](double s) -> Eigen::Matrix<double, 3, W> {
      const Matrix3 bend = 0.5 * s * s * frame * math::cross_matrix(-Vector3::UnitX());
      if constexpr (W == 3) return bend;
      return (Eigen::Matrix<double, 3, W>() << bend * (1.0 - s / (3.0 * l)), bend * s / (3.0 * l)).finished();
    };
    e.inertia.setZero();
    e.coupling.setZero();
    e.own.setZero();
    for (const double s : {0.1 * l, 0.3 * l, 0.5 * l, 0.7 * l, 0.9 * l}) {
      const Vector3 at = d + s * frame.col(0);
      Eigen::Matrix<double, 3, 6> rigid;
      rigid << Matrix3::Identity(), -math::cross_matrix(at);
      const double mass = 0.2 * density * l;
      e.inertia += mass * rigid.transpose() * rigid;
      e.coupling += mass * rigid.transpose() * gradient(s);
      e.own += mass * gradient(s).transpose() * gradient(s);
    }
    d += l * frame.col(0);
    e.twist.template bottomRows<3>() = l * 3.0 / W * frame.template replicate<1, W / 3>();
    e.twist.template topRows<3>() = gradient(l) + math::cross_matrix(d) * e.twist.template bottomRows<3>();
    e.local = 1e-6 * 3e-9 * l * Eigen::Matrix<double, W, W>::Identity();
  }
  return out;
}

/// Factor, solve once, whiten a contact at the tip.
template <int W>
void articulated_step(benchmark::State& state) {
  rods::detail::ArticulatedMatrix<W> matrix;
  matrix.elements() = chain<W>(int(state.range(0)));
  bool good = matrix.factor(rods::detail::ChainRoot::fixed);
  VectorX x = VectorX::Ones(matrix.dof());
  MatrixX h = MatrixX::Ones(matrix.dof(), 3);
  for (auto _ : state) {
    good = good && matrix.factor(rods::detail::ChainRoot::fixed);
    matrix.solve(x = VectorX::Ones(matrix.dof()));
    h.setOnes();
    matrix.whiten(Eigen::Ref<MatrixX>(h));
    benchmark::DoNotOptimize(x.data());
    benchmark::DoNotOptimize(h.data());
  }
  if (!good) state.SkipWithError("not positive definite");
}

/// The same with a dense factor of the same matrix, which is copied, not assembled.
template <int W>
void dense_step(benchmark::State& state) {
  const auto elements = chain<W>(int(state.range(0)));
  const int dof = W - 3 + 3 * int(elements.size());
  MatrixX all = MatrixX::Zero(dof, dof);
  rods::Matrix6 beyond = rods::Matrix6::Zero();
  for (int j = int(elements.size()) - 1; j >= 0; --j) {
    const auto& e = elements[j];
    const auto wrench = (e.coupling + beyond * e.twist).eval();
    for (int i = 0; i < j; ++i) {
      all.block<W, W>(3 * i, 3 * j) += elements[i].twist.transpose() * wrench;
      all.block<W, W>(3 * j, 3 * i) += wrench.transpose() * elements[i].twist;
    }
    all.block<W, W>(3 * j, 3 * j) += e.twist.transpose() * beyond * e.twist + e.own + e.local;
    beyond += e.inertia;
  }
  math::ReverseCholesky matrix;
  bool good = true;
  VectorX x = VectorX::Ones(dof);
  MatrixX h = MatrixX::Ones(dof, 3);
  for (auto _ : state) {
    MatrixX upper = all;
    good = good && matrix.factor(upper);
    matrix.solve(x = VectorX::Ones(dof));
    h.setOnes();
    matrix.whiten(h);
    benchmark::DoNotOptimize(x.data());
    benchmark::DoNotOptimize(h.data());
  }
  if (!good) state.SkipWithError("not positive definite");
}

/// What a step asks of a rod's matrix: update, mass, factor, one solve, a contact at the tip.
template <typename Matrix>
void implicit_matrix(benchmark::State& state, bool clothoid) {
  Hair hair(int(state.range(0)), 9.6 / double(state.range(0)), rods::RootCondition::clamped);
  std::unique_ptr<rods::Rod> rod = hair.rod->clone();
  rods::RodState bent = hair.state;
  if (clothoid) {
    const int n = rod->piece_count();
    rod = rods::make_super_clothoid(
        std::vector<rods::SuperClothoidElement>(n, {0.3 / n, rods::CrossSection::circle(35e-6)}),
        std::vector<Vector3>(n + 1, {0, 0, 32.0}),
        {.density = 1300.0, .young_modulus = 3e9, .poisson_ratio = 0.48, .damping_time = 0.0},
        rods::RootCondition::clamped);
    bent = rod->state();
    for (int i = 0; i < bent.coordinates.size(); ++i) bent.coordinates[i] += std::sin(double(i));
  }
  Matrix matrix;
  const VectorX v = VectorX::Ones(rod->dof());
  VectorX x;
  MatrixX h;
  bool good = true;
  for (auto _ : state) {
    rod->update(bent);
    good = matrix.factor(*rod, {1e-6, 1e-3, 0.0}, v, x) && good;
    matrix.solve(x);
    h.setOnes(rod->dof(), 3);
    matrix.whiten(h);
    benchmark::DoNotOptimize(x.data());
    benchmark::DoNotOptimize(h.data());
  }
  if (!good) state.SkipWithError("not positive definite");
}

void step_matrix_sizes(benchmark::internal::Benchmark* b) {
  for (const int n : {6, 8, 10, 12, 16, 24, 60, 300}) b->Arg(n);
}
using Dense = rods::detail::DenseStepMatrix;
void helix_dense(benchmark::State& state) { implicit_matrix<Dense>(state, false); }
void clothoid_dense(benchmark::State& state) { implicit_matrix<Dense>(state, true); }
void helix_recursive(benchmark::State& state) {
  implicit_matrix<rods::detail::ArticulatedStepMatrix<rods::detail::HelixShape>>(state, false);
}
void clothoid_recursive(benchmark::State& state) {
  implicit_matrix<rods::detail::ArticulatedStepMatrix<rods::detail::ClothoidShape>>(state, true);
}
BENCHMARK(helix_dense)->Apply(step_matrix_sizes);
BENCHMARK(helix_recursive)->Apply(step_matrix_sizes);
BENCHMARK(clothoid_dense)->Apply(step_matrix_sizes);
BENCHMARK(clothoid_recursive)->Apply(step_matrix_sizes);
BENCHMARK(articulated_step<3>)->Arg(4)->Arg(8)->Arg(12)->Arg(16)->Arg(24)->Arg(60)->Arg(300);
BENCHMARK(dense_step<3>)->Arg(4)->Arg(8)->Arg(12)->Arg(16)->Arg(24)->Arg(60)->Arg(300);
BENCHMARK(articulated_step<6>)->Arg(4)->Arg(8)->Arg(12)->Arg(16)->Arg(24)->Arg(60)->Arg(300);
BENCHMARK(dense_step<6>)->Arg(4)->Arg(8)->Arg(12)->Arg(16)->Arg(24)->Arg(60)->Arg(300);
BENCHMARK(update)->Arg(12)->Arg(20)->Arg(50);
BENCHMARK(mass_matrix)->Arg(12)->Arg(20)->Arg(50);
BENCHMARK(forces)->Arg(12)->Arg(20)->Arg(50);
BENCHMARK_CAPTURE(assemble, gentle, gentle_turn, rods::RootCondition::clamped)->Arg(12)->Arg(20)->Arg(50);
BENCHMARK_CAPTURE(assemble, curly, curly_turn, rods::RootCondition::clamped)->Arg(12);
BENCHMARK_CAPTURE(assemble, free_root, gentle_turn, rods::RootCondition::free)->Arg(12);
BENCHMARK(jacobian)->Arg(12)->Arg(20)->Arg(50);
BENCHMARK(potential_hessian)->Arg(12);

}  // namespace
