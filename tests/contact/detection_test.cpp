#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <numbers>

#include <oneapi/tbb/global_control.h>

#include <tresse/contact/detection.hpp>

#include "geometry/random_curves.hpp"
#include "support/tubes.hpp"

namespace tresse::contact {
namespace TRESSE_TEST_FILE {

using test::Arc;
using test::Tubes;

constexpr double radius = 1e-4;      // of the fibres
constexpr double bar_radius = 5e-4;  // of the capsules
// Contacts are found up to twice this gap: the bar's are, and nothing four radii beside them, where a junction's
// contact would be kept.
constexpr double reach = 3e-5;
// Distances are found to 1e-12 of the length (DetectionOptions::tolerance); references are refined as far as their
// quadratic minimum lets them be.
constexpr double distance_error = 1e-13;
constexpr double abscissa_error = 1e-8;

/// Tangents join smoothly, curvatures jump; the fifth element winds so much that it is cut into two pieces.
std::vector<geometry::HelixArc> curl(const Pose& root = {}) {
  return test::chain(root, {{Vector3(20, 10, 150), 0.004},
                            {Vector3(-30, 20, 100), 0.003},
                            {Vector3(10, 0, 220), 0.004},
                            {Vector3(60, -20, 180), 0.004},
                            {Vector3(90, 0, 600), 0.006},
                            {Vector3(0, 10, 160), 0.004}});
}

/// Minimum of a function of one variable around the best of dense samples, by golden sections.
double refined_minimum(const std::function<double(double)>& f, double begin, double end, int samples) {
  const double step = (end - begin) / samples;
  int best = 0;
  double least = INFINITY;
  for (int i = 0; i <= samples; ++i) {
    const double value = f(begin + i * step);
    if (value < least) {
      least = value;
      best = i;
    }
  }
  double low = std::max(begin, begin + (best - 1) * step);
  double high = std::min(end, begin + (best + 1) * step);
  constexpr double golden = 0.6180339887498949;
  for (int i = 0; i < 60; ++i) {
    const double x = high - golden * (high - low);
    const double y = low + golden * (high - low);
    (f(x) < f(y) ? high : low) = f(x) < f(y) ? y : x;
  }
  return 0.5 * (low + high);
}

double distance_to_segment(const Vector3& point, const Vector3& from, const Vector3& to) {
  const Vector3 along = to - from;
  const double t = std::clamp((point - from).dot(along) / along.squaredNorm(), 0.0, 1.0);
  return (point - from - t * along).norm();
}

struct Bar {
  Vector3 from;
  Vector3 to;
};

/// A bar on the outside of the curl (its centre of curvature is along n1) at arc length s, askew, `gap` away.
Bar bar_beside(const std::vector<geometry::HelixArc>& fibre, double s, double gap) {
  const Pose at = test::pose_on(fibre, s);
  const Vector3 middle = at.position - (radius + bar_radius + gap) * at.frame.col(1);
  const Vector3 axis = (at.frame.col(2) + 0.3 * at.frame.col(0)).normalized();
  return {middle - 8e-4 * axis, middle + 1e-3 * axis};
}

Tubes curl_and_bar(const std::vector<geometry::HelixArc>& fibre, const Bar& bar) {
  Tubes tubes;
  tubes.fibre(fibre, radius);
  tubes.capsule(bar.from, bar.to, bar_radius);
  tubes.set_reach(reach);
  return tubes;
}

std::vector<Contact> contacts_of(const Geometry& scene) { return detect(scene, candidate_pairs(scene, {}), {}); }

/// Arc length from the root of a contact's place on a.
double arc_length(const Geometry& scene, const Contact& contact) {
  return arc_length_at(scene.pieces[contact.a], contact.s_a);
}

std::vector<Place> places_of(const Geometry& scene, const std::vector<Contact>& contacts) {
  std::vector<Place> out;
  for (const Contact& contact : contacts) out.push_back(place_of(scene, contact));
  return out;
}

TEST(Detection, ABarThatSlidesAlongASmoothFibreKeepsOneContactAcrossEveryJunction) {
  const auto fibre = curl();
  const double length = test::length_of(fibre);
  const double step = 0.5 * radius;
  double before = NAN;
  Bar last{};
  for (double s = 5e-4; s < length - 5e-4; s += step) {
    // The gap changes along the way, from apart to overlapping.
    const Bar bar = bar_beside(fibre, s, 4e-5 * std::sin(2e3 * s));
    const Tubes tubes = curl_and_bar(fibre, bar);
    const std::vector<Contact> contacts = contacts_of(tubes.scene);
    ASSERT_EQ(contacts.size(), 1U) << s;
    const auto distance = [&](double x) {
      return distance_to_segment(test::pose_on(fibre, x).position, bar.from, bar.to);
    };
    const double nearest = refined_minimum(distance, 0.0, length, 400);
    ASSERT_NEAR(contacts[0].gap, distance(nearest) - radius - bar_radius, distance_error) << s;
    ASSERT_NEAR(arc_length(tubes.scene, contacts[0]), nearest, abscissa_error) << s;
    // No faster than the bar.
    if (std::isfinite(before)) {
      const double moved = std::max((bar.from - last.from).norm(), (bar.to - last.to).norm());
      ASSERT_LE(std::abs(contacts[0].gap - before), moved + distance_error) << s;
    }
    before = contacts[0].gap;
    last = bar;
  }
}

TEST(Detection, ABarIsAtTheTipsOfTheFibreWhenItLiesBeyondThem) {
  const auto fibre = curl();
  const double length = test::length_of(fibre);
  for (const bool tip : {false, true}) {
    const Pose end = test::pose_on(fibre, tip ? length : 0.0);
    const Vector3 outward = tip ? Vector3(end.frame.col(0)) : Vector3(-end.frame.col(0));
    const Vector3 middle = end.position + (radius + bar_radius + 3e-5) * outward;
    const Bar bar{middle - 1e-3 * end.frame.col(2), middle + 1e-3 * end.frame.col(2)};
    const Tubes tubes = curl_and_bar(fibre, bar);
    const std::vector<Contact> contacts = contacts_of(tubes.scene);
    ASSERT_EQ(contacts.size(), 1U);
    EXPECT_NEAR(contacts[0].gap, 3e-5, distance_error);
    EXPECT_NEAR(arc_length(tubes.scene, contacts[0]), tip ? length : 0.0, abscissa_error);
    EXPECT_LT((contacts[0].frame.col(0) - outward).norm(), 1e-9);
  }
}

/// Where the pair's nearest points are not all: an arc in one plane, a straight bar over a chord of it, level or tilted
/// so that either place is the nearer one.
TEST(Detection, ABarOverTwoPlacesOfOneElementTouchesAtBoth) {
  constexpr double bend = 5e-3;  // radius of the arc
  constexpr double turn = 0.8 * M_PI;
  const auto fibre = test::chain({Vector3(0, -bend, 0), Matrix3::Identity()}, {{Vector3(0, 0, 1 / bend), turn * bend}});
  // A chord across 80 degrees, askew to that of the whole arc: pieces whose chords are parallel count as running along
  // each other.
  constexpr double half = 2 * M_PI / 9;
  const std::array<double, 2> angle = {0.5 * turn - 0.3 - half, 0.5 * turn - 0.3 + half};
  const auto at = [](double x) { return Vector3(bend * std::sin(x), -bend * std::cos(x), 0); };
  for (const double tilt : {0.0, 1e-6, -1e-6}) {
    const std::array<double, 2> gap = {1e-6, 1e-6 + tilt};
    const auto over = [&](int i) { return Vector3(at(angle[i]) + (radius + bar_radius + gap[i]) * Vector3::UnitZ()); };
    const Vector3 along = over(1) - over(0);
    const Tubes tubes = curl_and_bar(fibre, {over(0) - along, over(1) + along});
    ASSERT_EQ(tubes.scene.pieces.size(), 2U) << "one piece and the bar";
    std::vector<Contact> contacts = contacts_of(tubes.scene);
    ASSERT_EQ(contacts.size(), 2U) << tilt;
    std::sort(contacts.begin(), contacts.end(), [](const Contact& x, const Contact& y) { return x.s_a < y.s_a; });
    for (const int i : {0, 1}) {
      // The tilt is a slope of 2e-4: that of the shortest way across moves it by as much of the radii.
      EXPECT_NEAR(contacts[i].gap, gap[i], 1e-10);
      EXPECT_NEAR(contacts[i].s_a, bend * angle[i], 1e-6);
      EXPECT_LT((contacts[i].frame.col(0) - Vector3::UnitZ()).norm(), 1e-3);
    }
  }
}

/// Followed through a small motion, contacts are where a new search finds them; a bar passes every junction.
TEST(Detection, AFollowedBarIsWhereANewSearchFindsIt) {
  const auto fibre = curl();
  const double length = test::length_of(fibre);
  std::vector<Place> places;
  int last = 0;
  int crossings = 0;
  for (double s = 5e-4; s < length - 5e-4; s += 0.7 * radius) {
    const Tubes tubes = curl_and_bar(fibre, bar_beside(fibre, s, 2e-5 * std::sin(2e3 * s)));
    const std::vector<Contact> fresh = contacts_of(tubes.scene);
    if (!places.empty()) {
      const std::vector<Contact> followed = follow(tubes.scene, places);
      ASSERT_EQ(followed.size(), fresh.size()) << s;
      EXPECT_NEAR(followed[0].gap, fresh[0].gap, distance_error) << s;
      EXPECT_NEAR(arc_length(tubes.scene, followed[0]), arc_length(tubes.scene, fresh[0]), abscissa_error) << s;
      EXPECT_LT((followed[0].frame.col(0) - fresh[0].frame.col(0)).norm(), 1e-6) << s;
      // A new search that is told of them finds nothing twice.
      EXPECT_EQ(detect(tubes.scene, candidate_pairs(tubes.scene, {}), {}, places).size(), fresh.size()) << s;
    }
    places = places_of(tubes.scene, fresh);
    crossings += places[0].element_a != last ? 1 : 0;
    last = places[0].element_a;
  }
  EXPECT_EQ(crossings, 5);
}

/// Two curls cross back to back; one glides so that the contact passes junctions of both, once of both at a time.
TEST(Detection, FollowedContactsOfTwoFibresCrossJunctionsOfBoth) {
  const auto fibre = curl();
  // Where the contact is on the two: (s on a, s on b), from one place to the next.
  const std::vector<std::pair<double, double>> route = {
      {0.0030, 0.0060}, {0.0050, 0.0062}, {0.0060, 0.0080}, {0.0080, 0.0120}, {0.0130, 0.0090}};
  for (std::size_t leg = 0; leg + 1 < route.size(); ++leg) {
    std::vector<Place> places;
    const int steps = 60;
    for (int i = 0; i <= steps; ++i) {
      const double x = static_cast<double>(i) / steps;
      const double s_a = (1 - x) * route[leg].first + x * route[leg + 1].first;
      const double s_b = (1 - x) * route[leg].second + x * route[leg + 1].second;
      const Pose on_a = test::pose_on(fibre, s_a);
      // b is a copy of a, turned half about the tangent and a quarter about the normal, back to back.
      Matrix3 wanted;
      wanted.col(0) = on_a.frame.col(2);
      wanted.col(1) = -on_a.frame.col(1);
      wanted.col(2) = on_a.frame.col(0);
      const Pose on_b = test::pose_on(fibre, s_b);
      Pose root;
      root.frame = wanted * on_b.frame.transpose();
      root.position = on_a.position - 2.1 * radius * on_a.frame.col(1) - root.frame * on_b.position;
      Tubes tubes;
      tubes.fibre(fibre, radius);
      tubes.fibre(curl(root), radius);
      tubes.set_reach(0.5 * radius);
      std::vector<Contact> fresh = contacts_of(tubes.scene);
      std::erase_if(fresh, [&](const Contact& contact) {
        return std::abs(arc_length(tubes.scene, contact) - s_a) > 10 * radius || contact.b < 0 ||
               tubes.scene.pieces[contact.a].body == tubes.scene.pieces[contact.b].body;
      });
      ASSERT_EQ(fresh.size(), 1U) << leg << ", " << i;
      EXPECT_NEAR(fresh[0].gap, 0.1 * radius, distance_error) << leg << ", " << i;
      EXPECT_NEAR(arc_length(tubes.scene, fresh[0]), s_a, abscissa_error) << leg << ", " << i;
      if (!places.empty()) {
        const std::vector<Contact> followed = follow(tubes.scene, places);
        ASSERT_EQ(followed.size(), 1U);
        EXPECT_NEAR(followed[0].gap, fresh[0].gap, distance_error) << leg << ", " << i;
        EXPECT_LT(distance_along(tubes.scene, followed[0], fresh[0]), abscissa_error) << leg << ", " << i;
      }
      places = places_of(tubes.scene, fresh);
    }
  }
}

/// A loop that is drawn tight, or out: a contact of the fibre with itself that is followed must not end where both of
/// its places are one.
TEST(Follow, a_fibre_touches_itself_only_where_it_comes_back) {
  const auto loop = [](double curvature) {
    Tubes tubes;
    const std::vector<Arc> arcs(5, Arc{Vector3(20.0, 0.0, curvature), 0.01});
    tubes.fibre(test::chain({}, arcs), 1e-3);
    tubes.set_reach(1e-3);
    return tubes.scene;
  };
  const Geometry closed = loop(200.0);
  const std::vector<Contact> contacts = contacts_of(closed);
  ASSERT_GT(contacts.size(), 0U);
  const std::vector<Place> places = places_of(closed, contacts);
  EXPECT_GT(follow(closed, places).size(), 0U);  // of the joint's contacts rounding decides which are told apart
  for (const double curvature : {100.0, 50.0, 10.0, 0.0}) {
    const Geometry open = loop(curvature);
    EXPECT_EQ(follow(open, places).size(), 0U) << curvature;
    EXPECT_EQ(detect(open, candidate_pairs(open, {}), {}, places).size(), contacts_of(open).size()) << curvature;
  }
  std::vector<Place> beside = places;
  for (Place& place : beside) place = {0, 1, 0, 2, 0.01, 1e-5};
  EXPECT_EQ(follow(closed, beside).size(), 0U);
}

/// A coil whose axis slopes over a plane, in elements of `turns` turns.
std::vector<geometry::HelixArc> coil(double turns, int elements, double phase) {
  const Vector3 curvature(300, 0, 900);
  const double element = turns * 2 * M_PI / curvature.norm();
  const Matrix3 slope = (Eigen::AngleAxisd(0.02, Vector3(0.3, 1, 0).normalized()) *
                         Eigen::AngleAxisd(phase, Vector3(1, 0, 3).normalized()))
                            .toRotationMatrix();
  return test::chain({Vector3(1e-3, -2e-3, 3e-3), slope}, std::vector<Arc>(elements, Arc{curvature, element}));
}

/// Every local minimum of the height, ends included, is one contact. Any other contact is at a junction, where the
/// fibre goes on falling, and far from every lower one.
void expect_minima(const std::vector<geometry::HelixArc>& fibre, const Vector3& normal, double lowest_to_plane) {
  const double length = test::length_of(fibre);
  const auto height = [&](double s) { return normal.dot(test::pose_on(fibre, s).position); };
  constexpr int samples = 20000;
  std::vector<double> h(samples + 1);
  for (int i = 0; i <= samples; ++i) h[i] = height(length * i / samples);
  const double ground = *std::min_element(h.begin(), h.end()) - lowest_to_plane;
  Tubes tubes;
  tubes.fibre(fibre, radius);
  tubes.plane(ground * normal, normal);
  tubes.set_reach(1.5e-3);  // some of the coils, not all
  std::vector<Contact> contacts = contacts_of(tubes.scene);
  std::erase_if(contacts, [](const Contact& contact) { return contact.b >= 0; });
  const double bound = radius + 1.5e-3;
  std::vector<int> hits(contacts.size(), 0);
  int minima = 0;
  for (int i = 0; i <= samples; ++i) {
    const bool low = (i == 0 || h[i] < h[i - 1]) && (i == samples || h[i] <= h[i + 1]);
    if (!low || h[i] - ground > bound - 1e-6) continue;
    ++minima;
    int here = 0;
    for (std::size_t c = 0; c < contacts.size(); ++c) {
      if (std::abs(arc_length(tubes.scene, contacts[c]) - length * i / samples) > 1.5 * length / samples) continue;
      ++here;
      ++hits[c];
      EXPECT_NEAR(contacts[c].gap, h[i] - ground - radius, 1e-6 * length) << "sagitta of the samples";
    }
    EXPECT_EQ(here, 1) << "minimum at " << length * i / samples;
  }
  EXPECT_GE(minima, 3);
  EXPECT_LT(minima, static_cast<int>(2.0 + length / 3e-3)) << "some are out of reach";
  for (std::size_t c = 0; c < contacts.size(); ++c) {
    EXPECT_NEAR(contacts[c].gap, height(arc_length(tubes.scene, contacts[c])) - ground - radius, 1e-15);
    EXPECT_LT((contacts[c].frame.col(0) + normal).norm(), 1e-15);
    EXPECT_NEAR(normal.dot(contacts[c].point_b), ground, 1e-15);
    if (hits[c] > 0) continue;
    const Piece& piece = tubes.scene.pieces[contacts[c].a];
    EXPECT_TRUE(contacts[c].s_a == piece.interval.begin || contacts[c].s_a == piece.interval.end);
    for (const Contact& other : contacts) {
      if (other.gap >= contacts[c].gap) continue;
      EXPECT_GE(distance_along(tubes.scene, contacts[c], other), 4 * radius);
    }
  }
}

TEST(Detection, ACoilOverAPlaneTouchesOnceAtEachLowestPoint) {
  // The coil's axis lies along (1, 0, 3), a few degrees off the plane.
  const Vector3 normal = Vector3(0.05, 1, -0.05).normalized();
  for (const double turns : {0.31, 0.5, 1.7}) {
    for (const double phase : {0.0, 1.0, 2.5, 4.0}) {
      SCOPED_TRACE(testing::Message() << turns << " turns an element, phase " << phase);
      expect_minima(coil(turns, static_cast<int>(std::round(6 / turns)), phase), normal, 0.5 * radius);
    }
  }
}

/// The lowest point is the junction itself, or a little beside it: one contact, not one of each piece.
TEST(Detection, AJunctionAtTheLowestPointTouchesAPlaneOnce) {
  // An arc in the vertical plane x-z that bends upwards about y; frames are (tangent, n1, n2) = (x, z, -y).
  Matrix3 frame;
  frame << 1, 0, 0, 0, 0, -1, 0, 1, 0;
  const double k = 200.0;
  for (const double beside : {0.0, 1e-13, 1e-9, 1e-5, -1e-5, 3e-4}) {
    const Matrix3 start = frame * Eigen::AngleAxisd(-k * (0.004 + beside), Vector3::UnitZ()).toRotationMatrix();
    const auto fibre =
        test::chain({Vector3(0, 0, 0.01), start}, {{Vector3(0, 0, k), 0.004}, {Vector3(0, 0, k), 0.004}});
    const double lowest = test::pose_on(fibre, 0.004 + beside).position.z();
    Tubes tubes;
    tubes.fibre(fibre, radius);
    tubes.plane(Vector3(0, 0, lowest - radius), Vector3::UnitZ());
    tubes.set_reach(0.1 * radius);
    const std::vector<Contact> contacts = contacts_of(tubes.scene);
    ASSERT_EQ(contacts.size(), 1U) << beside;
    EXPECT_NEAR(contacts[0].gap, 0.0, 1e-16);
    EXPECT_NEAR(arc_length(tubes.scene, contacts[0]), 0.004 + beside, 1e-9);
  }
}

/// Turns of a ring about an axis along z through `center`, from an angle on, in elements of half a turn.
std::vector<geometry::HelixArc> ring(const Vector3& center, double ring_radius, double angle, int turns) {
  const Vector3 outwards(std::cos(angle), std::sin(angle), 0);
  Pose start{center + ring_radius * outwards, {}};
  start.frame << Vector3::UnitZ().cross(outwards), -outwards, Vector3::UnitZ();
  const Vector3 curvature(0.04, 0, 1 / ring_radius);  // climbs a micrometre a turn
  return test::chain(start, std::vector<Arc>(2 * turns, Arc{curvature, std::numbers::pi / curvature.norm()}));
}

/// Two rings cross at 60 degrees on either side of the line between their centres, every turn of one every turn of the
/// other: so many contacts of two bodies that they are thinned by another way than a few. One crossing is a junction.
TEST(Detection, EveryTurnOfTwoRingsThatCrossTouchesEveryOtherTwice) {
  const double ring_radius = 2e-3;
  for (const int turns : {2, 12}) {
    Tubes tubes;
    tubes.fibre(ring(Vector3::Zero(), ring_radius, std::numbers::pi * 4 / 3, turns), radius);
    tubes.fibre(ring(Vector3(ring_radius, 0, 1.5 * radius), ring_radius, 0.3, turns), radius);
    tubes.set_reach(reach);
    const std::vector<Contact> contacts = contacts_of(tubes.scene);
    const auto between = std::count_if(contacts.begin(), contacts.end(), [&](const Contact& contact) {
      return tubes.scene.pieces[contact.a].body != tubes.scene.pieces[contact.b].body;
    });
    EXPECT_EQ(between, 2 * turns * turns);
  }
}

/// Points every centimetre along a line.
std::vector<Vector3> points_along(const Vector3& from, const Vector3& direction, int count) {
  std::vector<Vector3> out;
  for (int i = 0; i < count; ++i) out.push_back(from + 0.01 * i * direction);
  return out;
}

/// Wherever two chains lie on each other, the ends of what two straight pieces share, and no more: from both chains'
/// nodes, one where these coincide.
TEST(Detection, StraightPiecesAlongEachOtherTouchAtTheEndsOfWhatTheyShare) {
  for (const double shift : {0.0, 0.003, 0.00995, -0.013}) {
    Tubes tubes;
    tubes.polyline(points_along(Vector3::Zero(), Vector3::UnitX(), 6), radius);
    tubes.polyline(points_along({shift, 0, 2.0 * radius}, Vector3::UnitX(), 6), radius);
    tubes.set_reach(0.2 * radius);
    std::vector<double> wanted, found;
    for (int i = 0; i < 6; ++i)
      for (const double s : {0.01 * i, 0.01 * i + shift})
        if (s >= 0.0 && s <= 0.05 && s >= shift && s <= 0.05 + shift) wanted.push_back(s);
    for (const Contact& contact : contacts_of(tubes.scene)) {
      found.push_back(arc_length(tubes.scene, contact));
      EXPECT_NEAR(contact.gap, 0.0, 1e-15);
      EXPECT_NEAR(contact.point_b.x(), contact.point_a.x(), 1e-12);
    }
    std::sort(wanted.begin(), wanted.end());
    std::sort(found.begin(), found.end());
    const auto merged = [](double x, double y) { return y - x < radius; };
    wanted.erase(std::unique(wanted.begin(), wanted.end(), merged), wanted.end());
    ASSERT_EQ(found.size(), wanted.size()) << shift;
    for (std::size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], wanted[i], radius) << shift;
  }
}

/// However the pieces cross, the place where the two chains are nearest is among their contacts.
TEST(Detection, StraightPiecesThatCrossTouchWhereTheyAreNearest) {
  for (const double angle : {1e-4, 1e-3, 0.01, 0.06, 0.3}) {
    for (const double lift : {-0.5, 0.0, 0.3}) {
      const Vector3 direction = Vector3(std::cos(angle), std::sin(angle), lift * angle).normalized();
      const Vector3 begin = Vector3(0.0237, 0, 2.2 * radius) - 0.0263 * direction;
      Tubes tubes;
      tubes.polyline(points_along(Vector3::Zero(), Vector3::UnitX(), 6), radius);
      tubes.polyline(points_along(begin, direction, 6), radius);
      tubes.set_reach(2.0 * radius);
      double gap = INFINITY;
      for (const Contact& contact : contacts_of(tubes.scene)) gap = std::min(gap, contact.gap);
      const auto distance = [&](double s) {
        return distance_to_segment({s, 0, 0}, begin, begin + 0.05 * direction) - 2.0 * radius;
      };
      const double nearest = distance(refined_minimum(distance, 0.0, 0.05, 400));
      EXPECT_NEAR(gap, nearest, 1e-3 * radius) << angle << " " << lift;  // shallower minima stay out
    }
  }
}

// A bar in the kink of a polygon is as near to both edges. The contact does not jump from one to the other in turn.
TEST(Detection, ABarInAKinkStaysOnTheEdgeThatItWasOn) {
  for (const int edge : {0, 1}) {
    for (const double shift : {-1e-9, 0.0, 1e-9}) {
      constexpr double rise = 1e-4, half = 0.01;
      test::Tubes tubes;
      tubes.polyline({{-half, 0.0, rise}, {0.0, 0.0, 0.0}, {half, 0.0, rise}}, radius);
      tubes.capsule({shift, -0.01, radius + bar_radius}, {shift, 0.01, radius + bar_radius}, bar_radius);
      tubes.set_reach(reach);
      const double aside = (radius + bar_radius) * rise / half;
      const Place place{0, edge, 1, 0, edge == 0 ? std::hypot(half, rise) - aside : aside, 0.01};
      const std::vector<Contact> found = detect(tubes.scene, candidate_pairs(tubes.scene, {}), {}, {place});
      ASSERT_EQ(found.size(), 1U);
      EXPECT_EQ(tubes.scene.pieces[found[0].a].element, edge) << shift;
    }
  }
}

TEST(Detection, GivesTheSameBitsOnOneThreadAndTwo) {
  geometry::test::RandomCurves random(1);
  Tubes tubes;
  for (int f = 0; f < 40; ++f) tubes.fibre(curl({random.vector(3e-3), random.rotation()}), radius);
  tubes.set_reach(reach);
  const std::vector<CandidatePair> pairs = candidate_pairs(tubes.scene, {});
  ASSERT_GT(pairs.size(), 64U) << "few enough to be searched on one thread";
  const auto run = [&](std::size_t threads) {
    const oneapi::tbb::global_control limit(oneapi::tbb::global_control::max_allowed_parallelism, threads);
    return detect(tubes.scene, pairs, {});
  };
  const std::vector<Contact> one = run(1);
  const std::vector<Contact> two = run(2);
  ASSERT_EQ(one.size(), two.size());
  EXPECT_GT(one.size(), 10U);
  for (std::size_t i = 0; i < one.size(); ++i) {
    EXPECT_EQ(std::tie(one[i].a, one[i].b, one[i].s_a, one[i].s_b, one[i].gap),
              std::tie(two[i].a, two[i].b, two[i].s_a, two[i].s_b, two[i].gap));
    EXPECT_EQ(one[i].frame, two[i].frame);
  }
}

/// A rod of nodes in one of its shapes, over a plane and under a bar: `rest` are the lengths of its edges as made, and
/// each is stretched or compressed by a factor of its own.
Tubes stretched_rod(const std::vector<double>& rest, std::mt19937& random) {
  std::uniform_real_distribution<double> factor(0.2, 4.0);
  std::uniform_real_distribution<double> slope(-0.3, 0.3);
  std::vector<Vector3> points{Vector3::Zero()};
  for (const double length : rest)
    points.push_back(points.back() + factor(random) * length * Vector3(1.0, slope(random), slope(random)).normalized());
  double lowest = 0.0, highest = 0.0;
  for (const Vector3& x : points) {
    lowest = std::min(lowest, x.z());
    highest = std::max(highest, x.z());
  }
  Tubes tubes;
  tubes.polyline(points, radius);
  double begin = 0.0;
  for (std::size_t i = 0; i < rest.size(); ++i) {
    Piece& piece = tubes.scene.pieces[i];
    piece.span = {rest[i], piece.interval.end};
    piece.material_begin = begin;
    begin += rest[i];
  }
  const double x = 0.6 * points.back().x();
  tubes.capsule({x, -1.0, highest + radius + bar_radius}, {x, 1.0, highest + radius + bar_radius}, bar_radius);
  tubes.plane({0, 0, lowest - radius}, {0, 0, 1});
  tubes.set_reach(0.3 * begin);
  return tubes;
}

TEST(Detection, PlacesAreOfTheMaterialOfARodThatStretches) {
  std::mt19937 random(5);
  std::uniform_real_distribution<double> length(1e-3, 5e-3);
  int found = 0;
  for (int k = 0; k < 200; ++k) {
    std::vector<double> rest(static_cast<std::size_t>(1 + k % 6));
    for (double& l : rest) l = length(random);
    const Geometry scene = stretched_rod(rest, random).scene;
    const std::vector<Contact> contacts = detect(scene, candidate_pairs(scene, {}), {});
    std::vector<Place> places;
    for (const Contact& contact : contacts) {
      const Place place = place_of(scene, contact);
      const OnPiece at = piece_at(scene, place.body_a, place.element_a, place.s_a);
      EXPECT_LT((geometry::position(scene.pieces[at.piece].curve, at.s) - contact.point_a).norm(), 1e-15);
      EXPECT_NEAR(material_at(scene.pieces[contact.a], contact.s_a), scene.pieces[at.piece].material_begin + place.s_a,
                  1e-17);
      places.push_back(place);
    }
    found += static_cast<int>(contacts.size());
    // In another shape, at the same material where nothing lets it slide, and on the rod in any case.
    const Geometry other = stretched_rod(rest, random).scene;
    for (const Contact& contact : follow(other, places)) {
      const Piece& a = other.pieces[contact.a];
      EXPECT_GE(contact.s_a, 0.0);
      EXPECT_LE(contact.s_a, a.interval.end);
      const bool known = std::any_of(places.begin(), places.end(), [&](const Place& place) {
        return place.element_a == a.element && std::abs(a.span.in_material(contact.s_a) - place.s_a) < 1e-15;
      });
      EXPECT_TRUE(known || contact.b >= 0) << k;
    }
  }
  EXPECT_GT(found, 400);
}

}  // namespace TRESSE_TEST_FILE
}  // namespace tresse::contact
