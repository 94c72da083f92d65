#include <random>
#include <vector>

#include <benchmark/benchmark.h>

#include <Eigen/Geometry>

#include <tresse/geometry/closest_points.hpp>
#include <tresse/geometry/detail/certified.hpp>

/// Queries between random helices of the size of hair: an element of 1 to 3 cm, curvature up to 150 1/m on each axis.

namespace {

using namespace tresse;            // NOLINT: a program of its own
using namespace tresse::geometry;  // NOLINT

struct Pair {
  PreparedCurve a, b;
  Interval ia, ib;
  double distance;
};

std::vector<Pair> random_pairs(int count) {
  std::mt19937 engine(1);
  std::uniform_real_distribution<double> unit(-1.0, 1.0);
  std::normal_distribution<double> normal;
  const auto vector = [&](double size) {
    return Vector3(size * unit(engine), size * unit(engine), size * unit(engine));
  };
  const auto helix = [&] {
    const Matrix3 frame = Eigen::Quaterniond(normal(engine), normal(engine), normal(engine), normal(engine))
                              .normalized()
                              .toRotationMatrix();
    return HelixArc{vector(0.01), frame, vector(150.0), 0.02 + 0.01 * unit(engine)};
  };
  std::vector<Pair> out;
  while (static_cast<int>(out.size()) < count) {
    const Curve a = helix(), b = helix();
    const ClosestPoints nearest = closest_points(a, domain(a), b, domain(b));
    if (nearest.distance > 1e-3) continue;  // the broad phase would have dropped the others
    out.push_back({prepare(a), prepare(b), domain(a), domain(b), nearest.distance});
  }
  return out;
}

/// Cycles through the pairs; `bound` gives the upper bound [m] from the distance.
template <typename Bound>
void run(benchmark::State& state, ClosestPointsOptions options, Bound bound) {
  static const std::vector<Pair> pairs = random_pairs(1000);
  std::size_t i = 0;
  double steps = 0.0;
  for (auto _ : state) {
    const Pair& p = pairs[i++ % pairs.size()];
    options.upper_bound = bound(p.distance);
    const ClosestPoints out = closest_points(p.a, p.ia, p.b, p.ib, options);
    steps += out.steps;
    benchmark::DoNotOptimize(out.distance);
  }
  state.counters["boxes"] = benchmark::Counter(steps, benchmark::Counter::kAvgIterations);
}

const auto colliding = [](double distance) { return distance + 1e-5; };
const auto near_miss = [](double distance) { return 0.5 * distance; };

void certified_colliding(benchmark::State& state) { run(state, {}, colliding); }
void certified_near_miss(benchmark::State& state) { run(state, {}, near_miss); }
void published_colliding(benchmark::State& state) {
  run(state, {.method = DetectionMethod::branch_and_bound, .tolerance = 1e-8}, colliding);
}
void published_near_miss(benchmark::State& state) {
  run(state, {.method = DetectionMethod::branch_and_bound, .tolerance = 1e-8}, near_miss);
}
void segments_colliding(benchmark::State& state) {
  run(state, {.method = DetectionMethod::segments, .tolerance = 1e-4}, colliding);
}

/// One box's distance bound, four at a time, as the certified method calls it; reported per box.
void segment_test(benchmark::State& state) {
  std::mt19937 engine(2);
  std::uniform_real_distribution<double> unit(-1.0, 1.0);
  const auto lanes = [&] { return detail::Lanes{unit(engine), unit(engine), unit(engine), unit(engine)}; };
  const auto vector = [&] { return detail::LaneVector{lanes(), lanes(), lanes()}; };
  std::vector<detail::Pieces> pieces(64);
  for (auto& p : pieces) {
    p.centre = p.remainder = detail::spread(0.0);
    p.half = detail::spread(0.1);
    p.offset = vector(), p.first = vector(), p.second = vector();
  }
  const Vector3 base(0.1, 0.2, 0.3);
  std::size_t i = 0;
  for (auto _ : state) {
    detail::BoxDistances out;
    detail::box_distances<false>(base, pieces[i % 64], pieces[(i + 7) % 64], 1e-16, {}, out);
    benchmark::DoNotOptimize(out);
    ++i;
  }
  state.SetItemsProcessed(4 * state.iterations());
}

BENCHMARK(certified_colliding);
BENCHMARK(certified_near_miss);
BENCHMARK(published_colliding);
BENCHMARK(published_near_miss);
BENCHMARK(segments_colliding);
BENCHMARK(segment_test);

}  // namespace
