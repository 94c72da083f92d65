#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <numeric>
#include <set>
#include <vector>

#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/task_arena.h>

#include <tresse/friction/detail/sweep_schedule.hpp>

#include "support/friction_cases.hpp"

namespace tresse::friction::detail {
namespace {

struct Island {
  FactoredProblem problem;
  std::vector<int> contacts;
  SweepSchedule schedule;

  explicit Island(int count)
      : problem(tresse_test::tangle(count / 8 + 2, count, 3, 0.3, 7)), contacts(static_cast<std::size_t>(count)) {
    std::iota(contacts.begin(), contacts.end(), 0);
    schedule = make_schedule(problem, contacts);
  }

  std::set<int> bodies_of(const SweepCluster& cluster) const {
    std::set<int> out;
    for (int k = cluster.begin; k < cluster.end; ++k)
      for (const ContactRows& side : problem.contacts[static_cast<std::size_t>(contacts[static_cast<std::size_t>(k)])])
        if (side.body >= 0) out.insert(side.body);
    return out;
  }
};

bool share_a_stretch(const SweepCluster& a, const SweepCluster& b) {
  return std::any_of(a.stretch.begin(), a.stretch.end(), [&](int s) { return s == b.stretch[0] || s == b.stretch[1]; });
}

/// Every turn is the number of clusters before that share the stretch.
void expect_turns(const SweepSchedule& schedule) {
  for (std::size_t k = 0; k < schedule.size(); ++k)
    for (std::size_t side = 0; side < 2; ++side) {
      const int stretch = schedule[k].stretch[side];
      const auto before =
          std::count_if(schedule.begin(), schedule.begin() + static_cast<std::ptrdiff_t>(k),
                        [&](const SweepCluster& c) { return c.stretch[0] == stretch || c.stretch[1] == stretch; });
      ASSERT_EQ(schedule[k].turn[side], before) << "cluster " << k;
    }
}

class Schedule : public testing::TestWithParam<int> {};

TEST_P(Schedule, keeps_every_contact_once_and_bodies_apart_where_stretches_are) {
  const Island island(GetParam());
  const SweepSchedule& schedule = island.schedule;
  std::vector<int> sorted = island.contacts;
  std::sort(sorted.begin(), sorted.end());
  for (int k = 0; k < GetParam(); ++k) ASSERT_EQ(sorted[static_cast<std::size_t>(k)], k);
  int at = 0;
  for (const SweepCluster& cluster : schedule) {
    EXPECT_EQ(cluster.begin, at);
    EXPECT_LT(cluster.begin, cluster.end);
    at = cluster.end;
  }
  EXPECT_EQ(at, GetParam());
  expect_turns(schedule);
  for (const SweepCluster& a : schedule)
    for (const SweepCluster& b : schedule) {
      if (share_a_stretch(a, b)) continue;
      const std::set<int> mine = island.bodies_of(a);
      for (const int body : island.bodies_of(b)) ASSERT_FALSE(mine.contains(body)) << "body " << body;
    }
}

TEST_P(Schedule, lets_threads_share_what_is_large) {
  const Island island(GetParam());
  int at_once = 0;  // clusters from the first on that need not wait for each other
  for (const SweepCluster& cluster : island.schedule) at_once += cluster.turn == std::array{0, 0} ? 1 : 0;
  EXPECT_GE(at_once, GetParam() >= 2000 ? 6 : 1);
}

TEST_P(Schedule, of_some_contacts_visits_these_in_the_same_order) {
  const Island island(GetParam());
  std::vector<int> some;
  for (int k = GetParam() / 3; k < GetParam(); k += 7) some.push_back(k);
  const SweepSchedule part = schedule_of(island.schedule, some);
  int at = 0;
  for (const SweepCluster& cluster : part) {
    EXPECT_EQ(cluster.begin, at);
    ASSERT_LT(cluster.begin, cluster.end);
    at = cluster.end;
    const auto whole = std::find_if(island.schedule.begin(), island.schedule.end(), [&](const SweepCluster& c) {
      return c.begin <= some[static_cast<std::size_t>(cluster.begin)] &&
             some[static_cast<std::size_t>(cluster.end - 1)] < c.end;
    });
    ASSERT_NE(whole, island.schedule.end());
    EXPECT_EQ(whole->stretch, cluster.stretch);
  }
  EXPECT_EQ(at, static_cast<int>(some.size()));
  expect_turns(part);
}

/// Each stretch sees its clusters in the order of the schedule, whichever threads they are on.
TEST_P(Schedule, on_several_threads_ends_like_one_cluster_after_the_other) {
  const Island island(GetParam());
  using Order = std::vector<std::vector<int>>;  // of each stretch, the clusters that came by
  const auto order_by = [&](const auto& run) {
    Order order(most_stretches);
    std::atomic<int> work = 0;
    run([&](const SweepCluster& cluster) {
      for (std::size_t side = 0; side < 2; ++side)
        order[static_cast<std::size_t>(cluster.stretch[side])].push_back(cluster.begin);
      for (int k = 0; k < 20 * (cluster.end - cluster.begin); ++k) ++work;  // time for others to come by too soon
    });
    return order;
  };
  const Order expected = order_by([&](const auto& visit) {
    for (const SweepCluster& cluster : island.schedule) visit(cluster);
  });
  const tbb::global_control control(tbb::global_control::max_allowed_parallelism, 4);
  tbb::task_arena arena(4);
  SweepTurns turns;
  for (int k = 0; k < 1000; ++k)
    arena.execute(
        [&] { ASSERT_EQ(order_by([&](const auto& visit) { turns.run(island.schedule, visit); }), expected); });
}

INSTANTIATE_TEST_SUITE_P(Contacts, Schedule, testing::Values(1, 2, 10, 149, 300, 2000, 20000));

}  // namespace
}  // namespace tresse::friction::detail
