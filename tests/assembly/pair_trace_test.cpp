#include <gtest/gtest.h>

#include <optional>

#include <tresse/assembly/pair_trace.hpp>
#include <tresse/contact/contact_search.hpp>

#include "support/worlds.hpp"

namespace tresse::assembly {
namespace TRESSE_TEST_FILE {

constexpr double radius = 5e-5;
const rods::Material hair{.density = 1000.0, .young_modulus = 1e9, .poisson_ratio = 0.48};

/// A row of curled fibres that touch their neighbours, and a cylinder in their way.
struct Row {
  World world;
  dynamics::SimulationState state;
  std::optional<Kinematics> at;
  contact::Geometry geometry;

  explicit Row(int fibres) {
    world.law = std::make_shared<assembly::Coulomb>(MatrixX::Zero(1, 1));
    for (int f = 0; f < fibres; ++f) {
      const Pose root{Vector3(1.9 * radius * f, 0.0, 0.0), Matrix3::Identity()};
      test::add(world, state, test::fibre(3, 0.03, radius, hair, root, rods::RootCondition::clamped));
      VectorX& curvature = state.rods.back().coordinates;
      for (Eigen::Index i = 0; i < curvature.size(); ++i)
        curvature[i] = 40.0 + 7.0 * static_cast<double>(f % 3) + static_cast<double>(i);
    }
    bodies::Obstacle bar;
    bar.shape = bodies::Capsule{Vector3(0.01, -0.01, 0.001), Vector3(0.01, 0.01, 0.001), 5e-4};
    test::add(world, bar);
    at.emplace(world);
    for (int f = 0; f < fibres; ++f) at->rod(f).update(state.rods[static_cast<std::size_t>(f)]);
    contact_geometry(*at, 0.0, geometry);
    for (contact::Piece& piece : geometry.pieces) piece.travel.reach = 1e-5;
  }
};

double minimum(const PairQuery& query) {
  const geometry::ClosestPoints found =
      geometry::closest_points(query.a, geometry::domain(query.a), query.b, geometry::domain(query.b));
  return found.distance;
}

TEST(PairTrace, holds_every_pair_that_meets) {
  const Row row(12);
  const std::vector<PairQuery> trace = narrow_phase_trace(*row.at, row.geometry, {}, 1000000);
  std::size_t meeting = 0;
  for (const PairQuery& query : trace) meeting += minimum(query) < query.upper_bound ? 1 : 0;
  std::size_t expected = 0;
  const auto& pieces = row.geometry.pieces;
  for (int i = 0; i < static_cast<int>(pieces.size()); ++i) {
    for (int j = i + 1; j < static_cast<int>(pieces.size()); ++j) {
      const contact::Piece& a = pieces[static_cast<std::size_t>(i)];
      const contact::Piece& b = pieces[static_cast<std::size_t>(j)];
      if (!a.id.is_fibre() || (a.body == b.body && !contact::can_touch_itself(row.geometry, i, j))) continue;
      const auto found = geometry::closest_points(a.curve, a.interval, b.curve, b.interval);
      expected += found.distance < contact::meeting_distance(a, b) ? 1 : 0;
    }
  }
  EXPECT_GT(expected, 20U);
  EXPECT_EQ(meeting, expected);
  EXPECT_GT(trace.size(), meeting);
}

TEST(PairTrace, guesses_where_the_contact_was) {
  const Row row(6);
  const std::vector<contact::Contact> contacts = contact::ContactSearch({}, {}).find(row.geometry, {});
  ASSERT_FALSE(contacts.empty());
  std::vector<contact::Place> places;
  for (const contact::Contact& contact : contacts) places.push_back(contact::place_of(row.geometry, contact));
  std::size_t guessed = 0;
  for (const PairQuery& query : narrow_phase_trace(*row.at, row.geometry, places, 1000000)) {
    if (!query.guess) continue;
    ++guessed;
    const double there =
        (geometry::position(query.a, query.guess->s_a) - geometry::position(query.b, query.guess->s_b)).norm();
    EXPECT_LT(there, query.upper_bound);
  }
  EXPECT_GT(guessed, 0U);
}

TEST(PairTrace, keeps_every_kth_of_many) {
  const Row row(12);
  const std::size_t all = narrow_phase_trace(*row.at, row.geometry, {}, 1000000).size();
  const std::size_t some = narrow_phase_trace(*row.at, row.geometry, {}, 50).size();
  EXPECT_LE(some, 50U);
  EXPECT_GE(some, std::min<std::size_t>(all, 50) / 2);
}

}  // namespace TRESSE_TEST_FILE
}  // namespace tresse::assembly
