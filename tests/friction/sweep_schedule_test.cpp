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
namespace TRESSE_TEST_FILE {

struct Island {
  FactoredProblem problem;
  std::vector<int> contacts;
  IslandSchedule schedule;

  explicit Island(int count)
      : problem(tresse_test::tangle(count / 8 + 2, count, 3, 0.3, 7)), contacts(static_cast<std::size_t>(count)) {
    std::iota(contacts.begin(), contacts.end(), 0);
    schedule = make_schedule(problem, contacts);
  }

  std::set<int> bodies_of(int contact) const {
    std::set<int> out;
    for (const ContactRows& side :
         problem.contacts[static_cast<std::size_t>(contacts[static_cast<std::size_t>(contact)])])
      if (side.body >= 0) out.insert(side.body);
    return out;
  }
};

std::vector<int> contacts_of(const SweepSchedule& schedule, const SweepCluster& cluster) {
  std::vector<int> out;
  for (int g = cluster.begin; g < cluster.end; ++g) {
    const SweepGroup& group = schedule.groups[static_cast<std::size_t>(g)];
    out.insert(out.end(), group.contact.begin(), group.contact.begin() + group.count);
  }
  return out;
}

/// Clusters follow each other, none is empty, and no two contacts of a group share a body.
void expect_sound(const Island& island, const SweepSchedule& schedule) {
  int at = 0;
  for (const SweepCluster& cluster : schedule.clusters) {
    EXPECT_EQ(cluster.begin, at);
    EXPECT_LT(cluster.begin, cluster.end);
    at = cluster.end;
  }
  EXPECT_EQ(at, static_cast<int>(schedule.groups.size()));
  for (const SweepGroup& group : schedule.groups) {
    ASSERT_GE(group.count, 1);
    ASSERT_LE(group.count, SweepGroup::most);
    std::set<int> together;
    std::size_t alone = 0;
    for (int k = 0; k < group.count; ++k) {
      const std::set<int> own = island.bodies_of(group.contact[static_cast<std::size_t>(k)]);
      together.insert(own.begin(), own.end());
      alone += own.size();
    }
    ASSERT_EQ(together.size(), alone);
  }
}

bool share_a_stretch(const SweepCluster& a, const SweepCluster& b) {
  return std::any_of(a.stretch.begin(), a.stretch.end(), [&](int s) { return s == b.stretch[0] || s == b.stretch[1]; });
}

/// Every turn is the number of clusters before that share the stretch.
void expect_turns(const std::vector<SweepCluster>& schedule) {
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
  std::vector<int> sorted = island.contacts;
  std::sort(sorted.begin(), sorted.end());
  for (int k = 0; k < GetParam(); ++k) ASSERT_EQ(sorted[static_cast<std::size_t>(k)], k);
  expect_sound(island, island.schedule);
  expect_turns(island.schedule.clusters);
  int at = 0;  // contacts are numbered as they are visited
  for (const SweepCluster& cluster : island.schedule.clusters)
    for (const int contact : contacts_of(island.schedule, cluster)) ASSERT_EQ(contact, at++);
  EXPECT_EQ(at, GetParam());
  std::vector<std::set<int>> bodies;  // of each cluster
  for (const SweepCluster& cluster : island.schedule.clusters) {
    std::set<int>& own = bodies.emplace_back();
    for (const int contact : contacts_of(island.schedule, cluster)) own.merge(island.bodies_of(contact));
  }
  for (std::size_t a = 0; a < bodies.size(); ++a)
    for (std::size_t b = 0; b < bodies.size(); ++b) {
      if (share_a_stretch(island.schedule.clusters[a], island.schedule.clusters[b])) continue;
      for (const int body : bodies[b]) ASSERT_FALSE(bodies[a].contains(body)) << "body " << body;
    }
}

TEST_P(Schedule, lets_threads_share_and_lanes_be_filled_where_much_is_to_do) {
  const Island island(GetParam());
  int at_once = 0;  // clusters from the first on that need not wait for each other
  for (const SweepCluster& cluster : island.schedule.clusters) at_once += cluster.turn == std::array{0, 0} ? 1 : 0;
  // Six stretches of 2000 contacts make three pairs.
  EXPECT_GE(at_once, GetParam() >= 20000 ? 6 : GetParam() >= 2000 ? 3 : 1);
  const double filled = GetParam() / static_cast<double>(island.schedule.groups.size());
  EXPECT_GE(filled, GetParam() >= 2000 ? 3.0 : 1.0);
}

TEST_P(Schedule, of_some_contacts_visits_these_once_cluster_by_cluster) {
  const Island island(GetParam());
  std::vector<int> some;
  for (int k = GetParam() / 3; k < GetParam(); k += 7) some.push_back(k);
  const SweepSchedule part = schedule_of(island.schedule, some);
  expect_sound(island, part);
  expect_turns(part.clusters);
  std::vector<int> visited;
  for (const SweepCluster& cluster : part.clusters) {
    const std::vector<int> own = contacts_of(part, cluster);
    visited.insert(visited.end(), own.begin(), own.end());
    if (part.clusters.size() == 1) continue;  // a few contacts: of all clusters
    const auto whole = std::find_if(island.schedule.clusters.begin(), island.schedule.clusters.end(),
                                    [&](const SweepCluster& c) { return c.stretch == cluster.stretch; });
    ASSERT_NE(whole, island.schedule.clusters.end());
    const std::vector<int> all = contacts_of(island.schedule, *whole);
    for (const int contact : own) ASSERT_TRUE(std::find(all.begin(), all.end(), contact) != all.end());
  }
  std::sort(visited.begin(), visited.end());
  EXPECT_EQ(visited, some);
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
    for (const SweepCluster& cluster : island.schedule.clusters) visit(cluster);
  });
  const tbb::global_control control(tbb::global_control::max_allowed_parallelism, 4);
  tbb::task_arena arena(4);
  SweepTurns turns;
  for (int k = 0; k < 1000; ++k)
    arena.execute(
        [&] { ASSERT_EQ(order_by([&](const auto& visit) { turns.run(island.schedule, visit); }), expected); });
}

INSTANTIATE_TEST_SUITE_P(Contacts, Schedule, testing::Values(1, 2, 10, 149, 300, 2000, 20000));

}  // namespace TRESSE_TEST_FILE
}  // namespace tresse::friction::detail
