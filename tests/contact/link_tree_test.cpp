#include <gtest/gtest.h>

#include <tresse/contact/detail/link_tree.hpp>
#include <tresse/geometry/capsule_chain.hpp>

#include "geometry/random_curves.hpp"
#include "support/tubes.hpp"

namespace tresse::contact::detail {
namespace {

/// Capsules of all kinds: points, parallel, collinear and crossing ones, and curly fibres; around `centre`.
Geometry mixed(unsigned seed, const Vector3& centre) {
  geometry::test::RandomCurves random(seed);
  test::Tubes tubes;
  for (int f = 0; f < 8; ++f) {
    const double curl = random.uniform(1.0, 900.0);
    tubes.fibre(test::chain({centre + random.vector(0.01), random.rotation()},
                            {{random.vector(curl), random.uniform(0.004, 0.015)}, {random.vector(curl), 0.01}}),
                5e-5);
  }
  const Vector3 along = random.vector(0.01);
  for (int k = 0; k < 20; ++k) {
    const Vector3 from = centre + random.vector(0.01);
    const Vector3 to = k % 4 == 0 ? from : k % 4 == 1 ? Vector3(from + along) : Vector3(centre + random.vector(0.01));
    tubes.capsule(from, to, 1e-3);
    if (k % 4 == 3) tubes.capsule(to, to + 0.5 * (to - from), 1e-3);
  }
  return tubes.scene;
}

/// Every capsule wanted is visited that is within reach, and a bound is one: below the distance, by rounding alone.
void check(const Vector3& centre, double rounding) {
  for (unsigned seed = 0; seed < 10; ++seed) {
    const Geometry scene = mixed(seed, centre);
    const int pieces = static_cast<int>(scene.pieces.size());
    constexpr double growth = 2e-3;
    constexpr double more = 1e-3;
    const LinkTree tree(scene, std::vector<double>(scene.pieces.size(), growth));
    for (int i = 0; i < pieces; ++i) {
      for (const Link* link = tree.begin(i); link != tree.end(i); ++link) {
        constexpr double never = 1.0;
        std::vector<double> least(scene.pieces.size(), never);
        tree.near(
            *link, more, [&](int j) { return j != i; },
            [&](int j, double bound) {
              ASSERT_NE(j, i);
              least[static_cast<std::size_t>(j)] = std::min(least[static_cast<std::size_t>(j)], bound);
            });
        for (int j = 0; j < pieces; ++j) {
          double distance = never;
          for (const Link* other = tree.begin(j); other != tree.end(j); ++other)
            distance = std::min(distance, geometry::segment_distance(link->from, link->to, other->from, other->to) -
                                              link->radius - other->radius);
          if (i == j || distance > 2.0 * growth + more) continue;
          const double found = least[static_cast<std::size_t>(j)];
          EXPECT_LE(found, distance) << seed << " " << i << " " << j;
          if (distance > 0.0) {
            EXPECT_GE(found, distance - rounding) << seed << " " << i << " " << j;
          }
        }
      }
    }
  }
}

TEST(LinkTree, bounds_are_below_the_distance_and_near_it) { check(Vector3::Zero(), 1e-6); }

TEST(LinkTree, place_does_not_matter) { check(Vector3(300.0, -200.0, 1000.0), 1e-6); }

}  // namespace
}  // namespace tresse::contact::detail
