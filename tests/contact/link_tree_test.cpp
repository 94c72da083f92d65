#include <gtest/gtest.h>

#include <algorithm>

#include <tresse/contact/detail/link_tree.hpp>
#include <tresse/geometry/closest_points.hpp>

#include "geometry/random_curves.hpp"
#include "support/tubes.hpp"

namespace tresse::contact::detail {
namespace TRESSE_TEST_FILE {

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
  const Vector3 together = random.vector(0.02);
  for (Piece& piece : tubes.scene.pieces) {
    piece.travel.drift = together + random.vector(1e-3);
    piece.travel.reach = random.uniform(0.0, 1e-3);
  }
  return tubes.scene;
}

/// Every two pieces are visited that can meet, each with a bound of the distance that is one: below it, by rounding
/// alone.
void check(const Vector3& centre, double rounding) {
  int wanted = 0;
  for (unsigned seed = 0; seed < 10; ++seed) {
    const Geometry scene = mixed(seed, centre);
    const std::size_t pieces = scene.pieces.size();
    const LinkTree tree(scene);
    constexpr double never = 1.0;
    std::vector<double> least(pieces * pieces, never);
    for (std::size_t n = 0; n < tree.leaf_count(); ++n) {
      tree.join(n, [&](int i, int j, double bound) {
        ASSERT_NE(j, i);
        const auto [a, b] = std::minmax(i, j);
        double& of_both = least[static_cast<std::size_t>(a) * pieces + static_cast<std::size_t>(b)];
        of_both = std::min(of_both, bound);
      });
    }
    for (std::size_t i = 0; i < pieces; ++i) {
      for (std::size_t j = i + 1; j < pieces; ++j) {
        const Piece& a = scene.pieces[i];
        const Piece& b = scene.pieces[j];
        const double found = least[i * pieces + j];
        const double distance = geometry::closest_points(a.curve, a.interval, b.curve, b.interval, {}).distance;
        const Vector3 parted = a.travel.drift - b.travel.drift;  // nothing spins
        if (distance <= a.radius + b.radius + a.travel.reach + b.travel.reach + parted.norm()) {
          ++wanted;
          EXPECT_LE(found, distance) << seed << " " << i << " " << j;
        }
        // A chord is within the sagitta of its curve, on either side; of chords that cross there is none to be near.
        const double sagitta = (a.id.is_fibre() ? 1.5 * a.radius : 0.0) + (b.id.is_fibre() ? 1.5 * b.radius : 0.0);
        if (found < never && distance > sagitta + rounding) {
          EXPECT_GE(found, distance - 2.0 * sagitta - rounding) << seed << " " << i << " " << j;
        }
      }
    }
  }
  EXPECT_GT(wanted, 500);
}

TEST(LinkTree, bounds_are_below_the_distance_and_near_it) { check(Vector3::Zero(), 1e-6); }

TEST(LinkTree, place_does_not_matter) { check(Vector3(300.0, -200.0, 1000.0), 1e-6); }

}  // namespace TRESSE_TEST_FILE
}  // namespace tresse::contact::detail
