#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <vector>

#include <tresse/base/blocks.hpp>
#include <tresse/friction/detail/sweep_policy.hpp>
#include <tresse/friction/problem.hpp>

namespace tresse::friction::detail {

/// Contacts no two of which share a body: they are solved at once, as if one after the other.
struct SweepGroup {
  static constexpr int most = 4;
  int count = 0;
  std::array<int, most> contact{};
};

/// Contacts between the bodies of two stretches (or of one, twice the same), whose groups are visited in their order.
struct SweepCluster {
  int begin = 0, end = 0;  ///< of its groups
  std::array<int, 2> stretch{};
  std::array<int, 2> turn{};  ///< clusters of a schedule that come before it in each stretch
};

/// An order of an island's contacts for sweeps on several threads: cluster after cluster. Those that share no stretch
/// may run at the same time; the result is that of one after the other.
struct SweepSchedule {
  std::vector<SweepCluster> clusters;
  std::vector<SweepGroup> groups;
};

/// The schedule of all of an island's contacts, and what it takes to make one of a few.
struct IslandSchedule : SweepSchedule {
  std::vector<int> cluster_end;            ///< of each cluster's contacts, which follow those of the one before
  std::vector<std::array<int, 2>> bodies;  ///< of each contact, as the island numbers them; twice the same if one
};

constexpr std::size_t most_stretches = SweepPolicy::Schedule::most_stretches;

/// Puts an island's contacts in such an order. Bodies are numbered along the island (breadth first from one of its far
/// ends, @cite cuthill1969) and cut into stretches that hold about as many contacts each, most_stretches at most; a
/// cluster is the contacts of two stretches, most of them neighbours. Clusters that may run at the same time follow
/// each other. Doesn't depend on the number of threads.
IslandSchedule make_schedule(const FactoredProblem& problem, std::vector<int>& island);

/// The schedule of some of its contacts (ascending); of a few, which are visited sooner than threads wake up, in one
/// cluster.
SweepSchedule schedule_of(const IslandSchedule& all, const std::vector<int>& some);

/// Carries out schedules on all threads. Clusters are taken up in their order, each waits until its turn has come in
/// both its stretches: threads meet nowhere else, and one alone never waits.
class SweepTurns {
 public:
  /// `visit` doesn't throw.
  template <typename Visit>
  void run(const SweepSchedule& schedule, const Visit& visit) {
    const std::size_t workers = std::min({threads(), schedule.clusters.size(), most_stretches / 2});
    if (workers <= 1) {
      for (const SweepCluster& cluster : schedule.clusters) visit(cluster);
      return;
    }
    for (Stretch& stretch : stretches_) stretch.done.store(0, std::memory_order_relaxed);
    next_.store(0, std::memory_order_relaxed);
    for_blocks(workers, std::size_t{1}, [&](std::size_t, std::size_t, std::size_t) {
      for (;;) {
        const std::size_t k = next_.fetch_add(1, std::memory_order_relaxed);
        if (k >= schedule.clusters.size()) return;
        const SweepCluster& cluster = schedule.clusters[k];
        for (std::size_t side = 0; side < 2; ++side) wait(cluster.stretch[side], cluster.turn[side]);
        visit(cluster);
        leave(cluster);
      }
    });
  }

 private:
  static constexpr std::size_t cache_line = 64;
  struct alignas(cache_line) Stretch {
    std::atomic<int> done{0};  // clusters
  };

  std::atomic<int>& done(int stretch) { return stretches_[static_cast<std::size_t>(stretch)].done; }
  void wait(int stretch, int turn);
  void leave(const SweepCluster& cluster) {
    const auto [a, b] = cluster.stretch;
    done(a).store(cluster.turn[0] + 1, std::memory_order_release);
    // Not twice: the next one may have left by then.
    if (b != a) done(b).store(cluster.turn[1] + 1, std::memory_order_release);
  }

  std::array<Stretch, most_stretches> stretches_;
  alignas(cache_line) std::atomic<std::size_t> next_{0};
};

}  // namespace tresse::friction::detail
