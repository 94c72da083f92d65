#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include <tresse/contact/detection.hpp>

#include "support/meshes.hpp"
#include "support/tubes.hpp"

// Lines of contact: docs/theory/holding.md.
namespace tresse::contact {
namespace TRESSE_TEST_FILE {

using test::Tubes;

constexpr double radius = 1e-3, length = 0.1;
constexpr int elements = 8;
constexpr double spacing = length / elements;

/// A straight or bent fibre along x, `height` up, its stations in the middles of its elements.
int fibre(Tubes& tubes, double height, double bend = 0.0, double aside = 0.0) {
  const Pose root{{0.0, aside, height}, Matrix3::Identity()};
  const std::vector<test::Arc> arcs(elements, {Vector3(0.0, bend, 0.0), spacing});
  const int body = tubes.fibre(test::chain(root, arcs), radius);
  for (Piece& piece : tubes.scene.pieces) piece.stations = 1;
  return body;
}

std::vector<Contact> contacts(const Tubes& tubes, const std::vector<Place>& followed = {}) {
  return detect(tubes.scene, candidate_pairs(tubes.scene, {}), {}, followed);
}

/// Arc lengths along a, in order.
std::vector<double> along(const Geometry& scene, const std::vector<Contact>& contacts) {
  std::vector<double> out;
  for (const Contact& contact : contacts) out.push_back(arc_length_at(scene.pieces[contact.a], contact.s_a));
  std::sort(out.begin(), out.end());
  return out;
}

/// The ends and the middles of all elements.
std::vector<double> stations() {
  std::vector<double> out{0.0};
  for (int i = 0; i < elements; ++i) out.push_back((i + 0.5) * spacing);
  out.push_back(length);
  return out;
}

void expect_at_stations(const Geometry& scene, const std::vector<Contact>& found) {
  const std::vector<double> at = along(scene, found);
  ASSERT_EQ(at.size(), stations().size());
  for (std::size_t i = 0; i < at.size(); ++i) EXPECT_NEAR(at[i], stations()[i], 1e-12) << i;
}

TEST(Lines, OnAPlaneAreAtTheStationsAndTheEnds) {
  Tubes tubes;
  fibre(tubes, radius + 1e-6);
  tubes.plane(Vector3::Zero(), Vector3::UnitZ());
  tubes.set_reach(1e-5);
  const std::vector<Contact> found = contacts(tubes);
  expect_at_stations(tubes.scene, found);
  for (const Contact& contact : found) EXPECT_NEAR(contact.gap, 1e-6, 1e-15);
}

// However its flat is cut into triangles.
TEST(Lines, OnAMeshAreAtTheStationsAndTheEnds) {
  for (const int cells : {1, 7, 40}) {
    Tubes tubes;
    fibre(tubes, radius + 1e-6, 0.0, 1e-4);
    tubes.mesh(test::surface_of(test::plate(0.15, cells)));
    tubes.set_reach(1e-5);
    const std::vector<Contact> found = contacts(tubes);
    expect_at_stations(tubes.scene, found);
    std::vector<Place> places;
    for (const Contact& contact : found) {
      EXPECT_NEAR(contact.gap, 1e-6, 1e-15);
      places.push_back(place_of(tubes.scene, contact));
    }
    expect_at_stations(tubes.scene, follow(tubes.scene, places));
  }
}

// Each side of a groove has a line of its own.
TEST(Lines, OnTheSidesOfAGrooveAreTwo) {
  test::Triangles groove = test::plate(0.15, 8);
  for (Vector3& vertex : groove.vertices) vertex[2] = std::abs(vertex[1]);
  Tubes tubes;
  fibre(tubes, std::sqrt(2.0) * (radius + 1e-6));
  tubes.mesh(test::surface_of(groove));
  tubes.set_reach(1e-5);
  std::vector<Contact> sides[2];
  for (const Contact& contact : contacts(tubes)) sides[contact.frame(1, 0) > 0.0].push_back(contact);
  for (const std::vector<Contact>& side : sides) expect_at_stations(tubes.scene, side);
}

TEST(Lines, AlongAnotherFibreAreAtTheStationsAndTheEnds) {
  Tubes tubes;
  fibre(tubes, 0.0);
  fibre(tubes, 2.0 * radius + 1e-6);
  tubes.set_reach(1e-5);
  expect_at_stations(tubes.scene, contacts(tubes));
}

TEST(Lines, AreNoneWhereOneFibreCrossesAnotherOrABentOneTouches) {
  Tubes crossing;
  fibre(crossing, 0.0);
  crossing.capsule({0.03, -0.02, 2.0 * radius}, {0.03, 0.02, 2.0 * radius}, radius);
  crossing.set_reach(1e-5);
  EXPECT_EQ(contacts(crossing).size(), 1U);

  Tubes bent;  // its lowest point is where it begins to rise
  fibre(bent, radius, -20.0);
  bent.plane(Vector3::Zero(), Vector3::UnitZ());
  bent.set_reach(1e-5);
  const std::vector<Contact> found = contacts(bent);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_NEAR(along(bent.scene, found)[0], 0.0, 1e-12);
}

// In a pass nothing new is looked for: whatever was followed stays, however near two contacts of a line are.
TEST(Lines, AreFollowedAllOfThem) {
  Tubes tubes;
  fibre(tubes, 0.0);
  fibre(tubes, 2.0 * radius);
  tubes.set_reach(1e-5);
  std::vector<Place> places;
  for (int i = 0; i < elements; ++i) {
    for (const double share : {0.0, 0.5}) places.push_back({0, i, 1, i, share * spacing, share * spacing, true});
  }
  EXPECT_EQ(follow(tubes.scene, places).size(), places.size());
}

// The ends of a fibre are stations, and those of an arch are far apart: they are followed as any other contact.
TEST(Lines, TheEndsOfAnArchAreFollowed) {
  for (const bool on_mesh : {false, true}) {
    Tubes tubes;
    constexpr double bend = 20.0, half = 0.5 * bend * length;
    const Pose root{{0.0, 0.0, radius}, Eigen::AngleAxisd(-half, Vector3::UnitY()).toRotationMatrix()};
    const std::vector<test::Arc> arcs(elements, {Vector3(0.0, bend, 0.0), spacing});
    tubes.fibre(test::chain(root, arcs), radius);
    for (Piece& piece : tubes.scene.pieces) piece.stations = 1;
    if (on_mesh)
      tubes.mesh(test::surface_of(test::plate(0.15, 7)));
    else
      tubes.plane(Vector3::Zero(), Vector3::UnitZ());
    tubes.set_reach(1e-5);
    const std::vector<Contact> found = contacts(tubes);
    ASSERT_EQ(found.size(), 2U);
    std::vector<Place> places;
    for (const Contact& contact : found) places.push_back(place_of(tubes.scene, contact));
    EXPECT_EQ(follow(tubes.scene, places).size(), 2U) << (on_mesh ? "mesh" : "plane");
  }
}

// What stayed from before and is no station is left out beside one, and kept between two that are far apart.
TEST(Lines, AreThinned) {
  Tubes tubes;
  fibre(tubes, 0.0);
  fibre(tubes, 2.0 * radius);
  tubes.set_reach(1e-5);
  const double beside = 0.6 * spacing;
  expect_at_stations(tubes.scene, contacts(tubes, {{0, 3, 1, 3, beside, beside}}));
}

/// A fibre over another one that has a hump of 4 mm in its middle, between two stations.
Tubes over_hump(double height) {
  constexpr double part = 1e-3;
  const double bend = height / (part * part);
  Tubes tubes;
  fibre(tubes, 2.0 * radius);
  tubes.fibre(test::chain({}, {{Vector3::Zero(), 0.5 * length - 2.0 * part},
                               {Vector3(0.0, -bend, 0.0), part},
                               {Vector3(0.0, bend, 0.0), 2.0 * part},
                               {Vector3(0.0, -bend, 0.0), part},
                               {Vector3::Zero(), 0.5 * length - 2.0 * part}}),
              radius);
  tubes.set_reach(1e-5);
  return tubes;
}

Contact deepest(const std::vector<Contact>& contacts) {
  return *std::min_element(contacts.begin(), contacts.end(),
                           [](const auto& x, const auto& y) { return x.gap < y.gap; });
}

constexpr double most = 1e-2 * radius;  // that a line may dent

// A hump between two stations has a contact of its own that bears nothing as it appears.
TEST(Lines, AHumpBetweenStationsHasSlack) {
  const std::vector<Contact> found = contacts(over_hump(0.7 * most));
  ASSERT_EQ(found.size(), stations().size() + 1);
  EXPECT_NEAR(deepest(found).gap, -0.7 * most, 1e-8);
  EXPECT_NEAR(deepest(found).slack, most, 1e-8) << "what is allowed, less the gap that the stations beside it tell";
  EXPECT_EQ(contacts(over_hump(0.3 * most)).size(), stations().size()) << "too low for a contact of its own";
}

// It stays where it was on the first fibre, with its slack: no contact more, and none without.
TEST(Lines, AHumpBetweenStationsStays) {
  const Tubes tubes = over_hump(0.7 * most);
  constexpr double aside = 1e-4;
  const Place place{0, elements / 2, 1, 2, aside, 1e-3 + aside};
  for (const bool searched : {true, false}) {
    std::vector<Place> places{place};
    if (!searched) {
      for (const Contact& contact : contacts(tubes)) {
        if (contact.fixed) places.push_back(place_of(tubes.scene, contact));
      }
    }
    const std::vector<Contact> found = searched ? contacts(tubes, places) : follow(tubes.scene, places);
    ASSERT_EQ(found.size(), stations().size() + 1);
    const Contact hump = deepest(found);
    EXPECT_NEAR(arc_length_at(tubes.scene.pieces[hump.a], hump.s_a), 0.5 * length + aside, 1e-12);
    EXPECT_NEAR(hump.slack, most, 1e-8);
    EXPECT_FALSE(hump.fixed);
  }
}

}  // namespace TRESSE_TEST_FILE
}  // namespace tresse::contact
