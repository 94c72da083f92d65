#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include <gtest/gtest.h>

#include <tresse/contact/contact_search.hpp>
#include <tresse/contact/detection.hpp>

#include "support/meshes.hpp"
#include "support/tubes.hpp"

namespace tresse::contact {
namespace TRESSE_TEST_FILE {

constexpr double rounding = 1e-12;  // [m]

std::vector<Contact> contacts_of(const Geometry& scene, const std::vector<Place>& followed = {}) {
  return detect(scene, candidate_pairs(scene, {}), {}, followed);
}

/// Distance of a point to a triangle, by another way than the library's: projections, one after the other.
double distance_to(const std::array<Vector3, 3>& t, const Vector3& p) {
  const auto to_segment = [&](const Vector3& a, const Vector3& b) {
    const double share = std::min(1.0, std::max(0.0, (p - a).dot(b - a) / (b - a).dot(b - a)));
    return (p - (a + share * (b - a))).norm();
  };
  double least = std::min({to_segment(t[0], t[1]), to_segment(t[1], t[2]), to_segment(t[2], t[0])});
  Matrix3 sides;
  sides << t[1] - t[0], t[2] - t[0], (t[1] - t[0]).cross(t[2] - t[0]).normalized();
  const Vector3 at = sides.inverse() * (p - t[0]);  // shares of two sides, and the height
  if (at[0] >= 0.0 && at[1] >= 0.0 && at[0] + at[1] <= 1.0) least = std::min(least, std::abs(at[2]));
  return least;
}

/// Of all faces, in the world; `beyond` where it is at least that.
double distance_to(const std::vector<std::array<Vector3, 3>>& faces, const Vector3& p, double beyond) {
  double least = beyond;
  for (const auto& t : faces) {
    const double size = std::max((t[1] - t[0]).norm(), (t[2] - t[0]).norm());
    if ((p - t[0]).norm() - size < least) least = std::min(least, distance_to(t, p));
  }
  return least;
}

std::vector<std::array<Vector3, 3>> faces_of(const Mesh& mesh) {
  std::vector<std::array<Vector3, 3>> out;
  for (int f = 0; f < static_cast<int>(mesh.surface->topology->faces().size()); ++f) out.push_back(mesh.corners(f));
  return out;
}

std::vector<geometry::HelixArc> random_chain(std::mt19937& random, double distance, double length) {
  std::uniform_real_distribution<double> unit(-1.0, 1.0);
  const auto vector = [&] { return Vector3(unit(random), unit(random), unit(random)); };
  Pose root;
  root.position = distance * vector().normalized();
  root.frame = Eigen::Quaterniond(unit(random), unit(random), unit(random), unit(random)).normalized();
  return test::chain(root, {{60.0 * vector(), 0.5 * length}, {60.0 * vector(), 0.5 * length}});
}

TEST(MeshContacts, APlateHasTheGapsOfAPlane) {
  std::mt19937 random(7);
  constexpr double radius = 1e-3;
  int cases = 0;
  for (const int n : {1, 10}) {
    for (int k = 0; k < 400; ++k) {
      Pose pose;
      pose.frame = Eigen::Quaterniond::UnitRandom().toRotationMatrix();
      pose.position = Vector3(0.1, -0.2, 0.3);
      auto arcs = random_chain(random, 0.0, 0.05);
      arcs = test::chain({Vector3(pose.position + pose.frame * Vector3(0.0, 0.0, 4e-3)), arcs[0].frame},
                         {{arcs[0].curvature, 0.025}, {arcs[1].curvature, 0.025}});
      bool above = true;
      for (int i = 0; i <= 500; ++i)
        above = above && pose.frame.col(2).dot(test::pose_on(arcs, 1e-4 * i).position - pose.position) > 1e-5;
      if (!above) continue;  // through a sheet
      ++cases;
      test::Tubes plane;
      plane.fibre(arcs, radius);
      plane.plane(pose.position, pose.frame.col(2));
      plane.set_reach(1e-3);
      test::Tubes plate;
      plate.fibre(arcs, radius);
      plate.mesh(test::surface_of(test::plate(0.1, n)), pose);
      plate.set_reach(1e-3);
      const auto expected = contacts_of(plane.scene);
      const auto found = contacts_of(plate.scene);
      for (const Contact& contact : expected) {
        const auto same = std::find_if(found.begin(), found.end(), [&](const Contact& other) {
          return std::abs(distance_along(plane.scene, contact, other)) < 1e-6 &&
                 std::abs(other.gap - contact.gap) < rounding;
        });
        EXPECT_NE(same, found.end()) << n << " " << k << " " << contact.gap;
      }
    }
  }
  EXPECT_GT(cases, 20);
}

/// Fibres near a lumpy ball: no local minimum of the distance is missed, and none is nearer than is true.
void expect_true_distances(const test::Triangles& triangles, bool convex, int cases, unsigned seed) {
  std::mt19937 random(seed);
  constexpr double radius = 5e-4;
  constexpr double reach = 4e-4;
  int contacts = 0;
  for (int k = 0; k < cases; ++k) {
    test::Tubes tubes;
    const auto arcs = random_chain(random, 0.0112, 0.02);
    tubes.fibre(arcs, radius);
    tubes.mesh(test::surface_of(triangles),
               {Vector3(1e-3, 0.0, 0.0), Eigen::Quaterniond(1.0, 0.2 * k, 0.3, 0.1).normalized().toRotationMatrix()});
    tubes.set_reach(reach);
    const Mesh& mesh = tubes.scene.meshes[0];
    constexpr double far = 0.1;
    const auto faces = faces_of(mesh);
    constexpr int samples = 800;
    std::vector<double> distance;
    bool inside = false;
    for (int i = 0; i <= samples; ++i) {
      const Vector3 x = test::pose_on(arcs, 0.02 * i / samples).position;
      distance.push_back(distance_to(faces, x, 2.0 * (radius + reach)));
      inside = inside || distance.back() < 1e-5 || (x - mesh.pose.position).norm() < 0.008;
    }
    if (inside) continue;
    const auto found = contacts_of(tubes.scene);
    contacts += static_cast<int>(found.size());
    for (const Contact& contact : found) {
      const double exact = distance_to(faces, contact.point_a, far) - radius;
      EXPECT_GE(contact.gap, exact - rounding) << k;
      if (convex) {
        EXPECT_NEAR(contact.gap, exact, rounding) << k;
      }
      EXPECT_NEAR((contact.point_a - contact.point_b).norm() - radius, contact.gap, rounding);
      EXPECT_NEAR((contact.frame.transpose() * contact.frame - Matrix3::Identity()).norm(), 0.0, 1e-12);
      const auto corners = mesh.corners(contact.face);
      EXPECT_NEAR((contact.weights[0] * corners[0] + contact.weights[1] * corners[1] + contact.weights[2] * corners[2] -
                   contact.point_b)
                      .norm(),
                  0.0, rounding);
    }
    for (int i = 0; i <= samples; ++i) {
      const bool lowest =
          (i == 0 || distance[i] <= distance[i - 1]) && (i == samples || distance[i] <= distance[i + 1]);
      if (!lowest || distance[i] > radius + reach - 1e-5) continue;
      // A deeper one within four radii, or the radius, may stand for it.
      const bool met = std::any_of(found.begin(), found.end(), [&](const Contact& contact) {
        const double s = arc_length_at(tubes.scene.pieces[contact.a], contact.s_a);
        return std::abs(s - 0.02 * i / samples) < 4.1 * radius && contact.gap <= distance[i] - radius + rounding;
      });
      EXPECT_TRUE(met) << k << " at " << i << " " << distance[i] - radius;
    }
  }
  EXPECT_GT(contacts, cases / 10);
}

TEST(MeshContacts, NoApproachToABallIsMissed) { expect_true_distances(test::ball(1, 0.01), true, 1000, 1); }

TEST(MeshContacts, NoApproachToAFineBallIsMissed) { expect_true_distances(test::ball(3, 0.01), true, 60, 2); }

TEST(MeshContacts, NoApproachToALumpyBallIsMissed) {
  expect_true_distances(test::ball(2,
                                   [](const Vector3& d) {
                                     return 0.0105 + 5e-4 * std::sin(9.0 * d.x() + 5.0 * d.y()) * std::cos(7.0 * d.z());
                                   }),
                        false, 300, 3);
}

TEST(MeshContacts, AFibreInAGrooveHasBothSides) {
  // Two flats that rise at 45 degrees to either side of the x axis.
  test::Triangles groove;
  groove.vertices = {{-1, 0, 0}, {1, 0, 0}, {-1, 1, 1}, {1, 1, 1}, {-1, -1, 1}, {1, -1, 1}};
  groove.faces = {{0, 1, 3}, {0, 3, 2}, {0, 5, 1}, {0, 4, 5}};
  test::Tubes tubes;
  constexpr double radius = 0.01;
  tubes.fibre(test::chain({Vector3(-0.05, 0.0, std::sqrt(2.0) * radius), Matrix3::Identity()}, {{{0, 0, 0}, 0.1}}),
              radius);
  tubes.mesh(test::surface_of(groove));
  tubes.set_reach(1e-4);
  const auto found = contacts_of(tubes.scene);
  int left = 0, right = 0;
  for (const Contact& contact : found) {
    EXPECT_NEAR(contact.gap, 0.0, rounding);
    (contact.frame(1, 0) > 0.0 ? left : right) += 1;
  }
  EXPECT_GE(left, 2);
  EXPECT_EQ(left, right);
  // Followed, the two sides stay two.
  std::vector<Place> places;
  for (const Contact& contact : found) places.push_back(place_of(tubes.scene, contact));
  const auto kept = follow(tubes.scene, places);
  EXPECT_EQ(kept.size(), found.size());
}

TEST(MeshContacts, AFollowedContactKeepsItsSide) {
  for (const bool thin_box : {false, true}) {
    const auto surface =
        test::surface_of(thin_box ? test::box({-0.1, -0.1, -1e-4}, {0.1, 0.1, 0.0}) : test::plate(0.1, 7));
    const auto at_height = [&](double z) {
      test::Tubes tubes;
      tubes.fibre(test::chain({Vector3(-0.02, 0.003, z), Matrix3::Identity()}, {{{0, 0, 5.0}, 0.04}}), 1e-3);
      tubes.mesh(surface);
      tubes.set_reach(1e-3);
      return tubes;
    };
    const auto above = at_height(1.5e-3);
    const auto found = contacts_of(above.scene);
    ASSERT_FALSE(found.empty());
    std::vector<Place> places;
    for (const Contact& contact : found) places.push_back(place_of(above.scene, contact));
    const auto below = at_height(-1.5e-3);  // through
    for (const Contact& contact : follow(below.scene, places)) {
      EXPECT_NEAR(contact.gap, contact.point_a.z() - 1e-3, rounding);
      EXPECT_NEAR(contact.frame(2, 0), -1.0, 1e-9);
    }
    // What is found anew on the wrong side gives way to it.
    for (const Contact& contact : contacts_of(below.scene, places)) EXPECT_LT(contact.gap, -2e-3);
  }
}

TEST(MeshContacts, ACornerIsTouchedOnce) {
  const Vector3 corner = Vector3::Constant(0.01);
  const Vector3 out = Vector3::Ones().normalized();
  const Vector3 along = Vector3(1.0, -1.0, 0.0).normalized();
  Matrix3 frame;
  frame << along, out, along.cross(out);
  test::Tubes tubes;
  tubes.fibre(test::chain({corner + (1e-3 + 1e-4) * out - 0.021 * along, frame}, {{{0, 0, 0.0}, 0.04}}), 1e-3);
  tubes.mesh(test::surface_of(test::box(-corner, corner)));
  tubes.set_reach(2e-4);
  const auto found = contacts_of(tubes.scene);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_NEAR(found[0].gap, 1e-4, rounding);
  EXPECT_NEAR(found[0].s_a, 0.021, 1e-9);
  EXPECT_NEAR((found[0].point_b - corner).norm(), 0.0, rounding);
  EXPECT_NEAR((found[0].frame.col(0) + out).norm(), 0.0, 1e-9);
}

TEST(MeshContacts, ThicknessIsAdded) {
  test::Tubes tubes;
  tubes.fibre(test::chain({Vector3(-0.02, 0.003, 2e-3), Matrix3::Identity()}, {{{0, 0, 0.0}, 0.04}}), 1e-3);
  tubes.mesh(test::surface_of(test::plate(0.1, 3)), {}, 5e-4);
  tubes.set_reach(1e-3);
  const auto found = contacts_of(tubes.scene);
  ASSERT_FALSE(found.empty());
  for (const Contact& contact : found) EXPECT_NEAR(contact.gap, 5e-4, rounding);
}

TEST(MeshContacts, MotionOfTheMeshWidensTheSearch) {
  test::Tubes tubes;
  tubes.fibre(test::chain({Vector3(-0.02, 0.003, 5e-3), Matrix3::Identity()}, {{{0, 0, 0.0}, 0.04}}), 1e-3);
  tubes.mesh(test::surface_of(test::plate(0.1, 3)));
  EXPECT_TRUE(contacts_of(tubes.scene).empty());
  tubes.scene.meshes[0].next.position.z() = 4.1e-3;
  EXPECT_FALSE(contacts_of(tubes.scene).empty());
  for (Piece& piece : tubes.scene.pieces) piece.travel.drift.z() = 4.1e-3;  // along with it
  EXPECT_TRUE(contacts_of(tubes.scene).empty());
}

TEST(MeshContacts, ACapsuleLiesOnAFlatWithBothEnds) {
  test::Tubes tubes;
  tubes.capsule({-0.02, 0.003, 1.01e-3}, {0.02, 0.001, 1.02e-3}, 1e-3);
  tubes.scene.pieces[0].id = {BodyKind::rigid_body, 0};
  tubes.mesh(test::surface_of(test::plate(0.1, 7)));
  tubes.set_reach(1e-4);
  const auto found = contacts_of(tubes.scene);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_NEAR(std::min(found[0].gap, found[1].gap), 1e-5, rounding);
  EXPECT_NEAR(std::max(found[0].gap, found[1].gap), 2e-5, rounding);
}

TEST(MeshContacts, ASearchFromStepToStepFindsTheSame) {
  std::mt19937 random(5);
  test::Tubes tubes;
  for (int k = 0; k < 80; ++k) tubes.fibre(random_chain(random, 0.011, 0.02), 3e-4);
  tubes.mesh(test::surface_of(test::ball(2, 0.01)));
  tubes.set_reach(3e-4);
  ASSERT_FALSE(few_pieces(tubes.scene));
  ContactSearch search({}, {});
  auto found = search.find(tubes.scene, {});
  auto expected = contacts_of(tubes.scene);
  for (auto* contacts : {&found, &expected}) {
    std::sort(contacts->begin(), contacts->end(), [](const Contact& x, const Contact& y) {
      return std::tie(x.a, x.b, x.s_a, x.face) < std::tie(y.a, y.b, y.s_a, y.face);
    });
  }
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    EXPECT_EQ(found[i].gap, expected[i].gap);
    EXPECT_EQ(found[i].face, expected[i].face);
  }
}

}  // namespace TRESSE_TEST_FILE
}  // namespace tresse::contact
