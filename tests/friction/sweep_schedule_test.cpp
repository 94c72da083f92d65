#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>

#include <tresse/friction/detail/sweep_schedule.hpp>

#include "support/friction_cases.hpp"

namespace tresse::friction::detail {
namespace {

std::set<int> bodies_of(const FactoredProblem& problem, const std::vector<int>& island, int begin, int end) {
  std::set<int> out;
  for (int k = begin; k < end; ++k)
    for (const ContactRows& side : problem.contacts[static_cast<std::size_t>(island[static_cast<std::size_t>(k)])])
      if (side.body >= 0) out.insert(side.body);
  return out;
}

class Schedule : public testing::TestWithParam<int> {};

TEST_P(Schedule, keeps_every_contact_once_and_no_body_twice_in_a_colour) {
  const FactoredProblem problem = tresse_test::tangle(GetParam() / 8 + 2, GetParam(), 3, 0.3, 7);
  std::vector<int> island(static_cast<std::size_t>(GetParam()));
  std::iota(island.begin(), island.end(), 0);
  const std::vector<int> before = island;
  const SweepSchedule schedule = make_schedule(problem, island);
  std::vector<int> sorted = island;
  std::sort(sorted.begin(), sorted.end());
  EXPECT_EQ(sorted, before);
  ASSERT_EQ(schedule.cluster_begin.front(), 0);
  ASSERT_EQ(schedule.cluster_begin.back(), GetParam());
  ASSERT_EQ(schedule.colour_begin.back() + 1, static_cast<int>(schedule.cluster_begin.size()));
  std::size_t widest = 0;
  for (std::size_t c = 0; c + 1 < schedule.colour_begin.size(); ++c) {
    std::set<int> met;
    const int first = schedule.colour_begin[c];
    const int last = schedule.colour_begin[c + 1];
    EXPECT_LT(first, last);
    for (int k = first; k < last; ++k) {
      const auto cluster = static_cast<std::size_t>(k);
      EXPECT_LT(schedule.cluster_begin[cluster], schedule.cluster_begin[cluster + 1]);
      for (const int body :
           bodies_of(problem, island, schedule.cluster_begin[cluster], schedule.cluster_begin[cluster + 1]))
        EXPECT_TRUE(met.insert(body).second) << "body " << body << " twice in colour " << c;
    }
    widest = std::max(widest, static_cast<std::size_t>(last - first));
  }
  if (GetParam() >= 2000) {
    EXPECT_GE(widest, 6U) << "nothing for threads to share";
  }
}

INSTANTIATE_TEST_SUITE_P(Contacts, Schedule, testing::Values(1, 2, 10, 149, 300, 2000, 20000));

}  // namespace
}  // namespace tresse::friction::detail
