#include <gtest/gtest.h>

#include <cstdlib>
#include <limits>
#include <new>
#include <vector>

#include <tresse/geometry/closest_points.hpp>

#include "geometry/random_curves.hpp"

// This program counts its allocations on the heap: a program of its own, so that other tests keep the standard
// library's operators. Sanitizers see the calls of malloc() and free() below.
namespace {

thread_local long allocations = 0;

void* counted(std::size_t size) {
  ++allocations;
  void* memory = std::malloc(size > 0 ? size : 1);
  if (!memory) throw std::bad_alloc();
  return memory;
}

void* counted(std::size_t size, std::align_val_t alignment) {
  ++allocations;
  const auto unit = static_cast<std::size_t>(alignment);
  void* memory = std::aligned_alloc(unit, (size + unit - 1) / unit * unit);
  if (!memory) throw std::bad_alloc();
  return memory;
}

}  // namespace

// The other forms of the standard library end in these.
void* operator new(std::size_t size) { return counted(size); }
void* operator new[](std::size_t size) { return counted(size); }
void* operator new(std::size_t size, std::align_val_t alignment) { return counted(size, alignment); }
void* operator new[](std::size_t size, std::align_val_t alignment) { return counted(size, alignment); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }

namespace tresse::geometry {
namespace {

struct Pair {
  PreparedCurve a, b;
  Interval part_a, part_b;
};

/// Pairs of all kinds of curves, some of them touching.
std::vector<Pair> random_pairs() {
  test::RandomCurves random(1);
  std::vector<Pair> out;
  for (int i = 0; i < 300; ++i) {
    const Curve a = random.any();
    Curve b = random.any();
    if (i % 3 == 0) b = test::moved(b, Matrix3::Identity(), position(a, 0.4 * domain(a).end) - position(b, 0.0));
    out.push_back({prepare(a), prepare(b), random.part(a), random.part(b)});
  }
  return out;
}

/// Allocations of all queries, and their distances into `distances`, which has room for them.
long count(const std::vector<Pair>& pairs, const ClosestPointsOptions& options, ClosestPointsMemory& memory,
           std::vector<double>& distances) {
  distances.clear();
  const long before = allocations;
  for (const Pair& pair : pairs) {
    distances.push_back(closest_points(pair.a, pair.part_a, pair.b, pair.part_b, options, memory).distance);
  }
  return allocations - before;
}

TEST(Allocation, TheCounterCounts) {
  const long before = allocations;
  std::vector<int> some(10);
  some.resize(1000);
  EXPECT_EQ(allocations - before, 2);
}

/// Memory grows on the first queries; the same ones again find it large enough.
TEST(Allocation, QueriesOfPreparedCurvesNeedNoHeapInMemoryThatWasThere) {
  const std::vector<Pair> pairs = random_pairs();
  std::vector<double> first, second;
  first.reserve(pairs.size());
  second.reserve(pairs.size());
  const ClosestPointsOptions certified;
  const ClosestPointsOptions near{.upper_bound = 1e-3};
  const ClosestPointsOptions halved{.method = DetectionMethod::branch_and_bound, .tolerance = 1e-3};
  const ClosestPointsOptions segments{.method = DetectionMethod::segments, .tolerance = 1e-2};
  for (const ClosestPointsOptions& options : {certified, near, halved, segments}) {
    ClosestPointsMemory memory;
    static_cast<void>(count(pairs, options, memory, first));
    EXPECT_EQ(count(pairs, options, memory, second), 0);
    EXPECT_EQ(first, second);
  }
}

/// What waits in most certified queries stands on the stack.
TEST(Allocation, MostCertifiedQueriesNeedNoHeapAtAll) {
  const std::vector<Pair> pairs = random_pairs();
  int without = 0;
  double sum = 0.0;
  for (const Pair& pair : pairs) {
    const long before = allocations;
    sum += closest_points(pair.a, pair.part_a, pair.b, pair.part_b).distance;
    if (allocations == before) ++without;
  }
  EXPECT_GT(without, static_cast<int>(pairs.size()) * 9 / 10);
  EXPECT_GT(sum, 0.0);
}

TEST(Allocation, LocalQueriesNeedNoHeap) {
  const std::vector<Pair> pairs = random_pairs();
  double sum = 0.0;
  const long before = allocations;
  for (const Pair& pair : pairs)
    sum += closest_points_near(pair.a, pair.part_a, pair.b, pair.part_b, {0.0, 0.0}).distance;
  EXPECT_EQ(allocations - before, 0);
  EXPECT_GT(sum, 0.0);
}

}  // namespace
}  // namespace tresse::geometry
