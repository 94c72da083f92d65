#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <tuple>

#include <tresse/contact/overlaps.hpp>

#include "geometry/random_curves.hpp"
#include "support/tubes.hpp"

namespace tresse::contact {
namespace TRESSE_TEST_FILE {

constexpr double radius = 2e-4;

/// Curls that go through each other, a bar, a ball and a plane.
Geometry tangle(unsigned seed) {
  geometry::test::RandomCurves random(seed);
  test::Tubes tubes;
  for (int f = 0; f < 12; ++f) {
    std::vector<test::Arc> arcs;
    for (int e = 0; e < 4; ++e) arcs.push_back({Vector3(20.0, 0.0, 120.0) + random.vector(60.0), 0.006});
    tubes.fibre(test::chain({random.vector(4e-3), random.rotation()}, arcs), radius);
  }
  tubes.capsule(random.vector(4e-3), random.vector(4e-3), 5e-4);
  const Vector3 ball = random.vector(4e-3);
  tubes.capsule(ball, ball, 1e-3);
  tubes.plane(random.vector(3e-3), random.rotation().col(0));
  tubes.set_reach(random.uniform(0.0, radius));
  return tubes.scene;
}

/// But for where Newton's method started from.
bool same(const Contact& x, const Contact& y) {
  constexpr double abscissa_error = 1e-8, distance_error = 1e-13;
  return std::tie(x.a, x.b) == std::tie(y.a, y.b) && std::abs(x.s_a - y.s_a) < abscissa_error &&
         std::abs(x.s_b - y.s_b) < abscissa_error && std::abs(x.gap - y.gap) < distance_error;
}

TEST(Overlaps, are_the_contacts_of_detect_that_are_as_deep) {
  int deep = 0, shallow = 0;
  for (unsigned seed = 0; seed < 80; ++seed) {
    const Geometry scene = tangle(seed);
    const std::vector<CandidatePair> pairs = candidate_pairs(scene, {});
    for (const double depth : {0.0, 0.1 * radius, 0.8 * radius}) {
      const auto among = [depth](std::vector<Contact> contacts) {
        std::erase_if(contacts, [depth](const Contact& contact) { return contact.gap >= -depth; });
        return contacts;
      };
      const std::vector<Contact> all = detect(scene, pairs, {});
      const std::vector<Contact> wanted = among(all);
      const std::vector<Contact> found = among(overlaps(scene, pairs, depth, {}));
      ASSERT_EQ(found.size(), wanted.size()) << seed << " " << depth;
      for (std::size_t i = 0; i < found.size(); ++i) EXPECT_TRUE(same(found[i], wanted[i])) << seed << " " << depth;
      deep += static_cast<int>(wanted.size());
      shallow += static_cast<int>(all.size() - wanted.size());
    }
  }
  EXPECT_GT(deep, 1000);
  EXPECT_GT(shallow, 500);
}

}  // namespace TRESSE_TEST_FILE
}  // namespace tresse::contact
