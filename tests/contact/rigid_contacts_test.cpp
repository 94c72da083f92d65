#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include <Eigen/Geometry>

#include <tresse/contact/contact_search.hpp>

namespace tresse::contact {
namespace TRESSE_TEST_FILE {

constexpr double radius = 0.01;
constexpr double reach = 2e-3;

/// Free capsules and a floor, each piece a body of its own.
struct Solids {
  Geometry scene;

  Solids() { scene.body_begin.push_back(0); }
  void capsule(const Vector3& from, const Vector3& to, double r = radius, bool free = true) {
    Piece piece;
    piece.curve = geometry::SegmentEvaluator({from, to});
    piece.interval = geometry::domain(piece.curve);
    piece.radius = r;
    piece.travel.reach = reach;
    piece.body = static_cast<int>(scene.body_begin.size()) - 1;
    piece.id = {free ? BodyKind::rigid_body : BodyKind::obstacle, piece.body};
    scene.pieces.push_back(piece);
    scene.body_begin.push_back(static_cast<int>(scene.pieces.size()));
  }
  /// A circle in three arcs, the first of which begins at `outwards`.
  void ring(const Vector3& center, const Vector3& axis, const Vector3& outwards, double size, double r = radius,
            bool free = true) {
    const int body = static_cast<int>(scene.body_begin.size()) - 1;
    const double third = 2.0 / 3.0 * std::numbers::pi;
    for (int i = 0; i < 3; ++i) {
      const Vector3 out = Eigen::AngleAxisd(third * i, axis) * outwards;
      geometry::HelixArc arc;
      arc.position = center + size * out;
      arc.frame << axis.cross(out), -out, axis;
      arc.curvature = {0.0, 0.0, 1.0 / size};
      arc.length = third * size;
      Piece piece;
      piece.curve = geometry::prepare(arc);
      piece.interval = geometry::domain(piece.curve);
      piece.radius = r;
      piece.curvature = 1.0 / size;
      piece.travel.reach = reach;
      piece.body = body;
      piece.id = {free ? BodyKind::rigid_body : BodyKind::obstacle, body};
      piece.element = i;
      piece.first = piece.last = false;
      piece.curve_begin = i * arc.length;
      piece.loop = 3.0 * arc.length;
      scene.pieces.push_back(piece);
    }
    scene.body_begin.push_back(static_cast<int>(scene.pieces.size()));
  }
  void plane(const Vector3& normal) {
    const int body = static_cast<int>(scene.body_begin.size()) - 1;
    scene.planes.push_back({Vector3::Zero(), normal.normalized(), {BodyKind::obstacle, body}, body});
    scene.body_begin.push_back(static_cast<int>(scene.pieces.size()));
  }
  std::vector<Contact> find() const { return ContactSearch({}, {}).find(scene, {}); }
};

/// Gap and normal are those of the two points.
void expect_along_gap(const Contact& contact) {
  EXPECT_NEAR((contact.point_b - contact.point_a).norm() - 2.0 * radius, contact.gap, 1e-15);
  EXPECT_NEAR(contact.frame.col(0).dot(contact.point_b - contact.point_a), contact.gap + 2.0 * radius, 1e-14);
}

double nearest_gap(const std::vector<Contact>& contacts) {
  return std::min_element(contacts.begin(), contacts.end(),
                          [](const Contact& x, const Contact& y) { return x.gap < y.gap; })
      ->gap;
}

TEST(RigidContacts, PrescribedOnesNeverMeet) {
  Solids s;
  s.capsule({0, 0, 0}, {0.1, 0, 0}, radius, false);
  s.capsule({0, 0, 0.01}, {0.1, 0, 0.01}, radius, false);
  s.plane({0, 0, 1});
  EXPECT_TRUE(s.find().empty());
}

TEST(RigidContacts, BallsTouchOnce) {
  Solids s;
  s.capsule({0, 0, 0}, {0, 0, 0});
  s.capsule({0, 0.012, 0.016}, {0, 0.012, 0.016}, radius, false);
  const std::vector<Contact> found = s.find();
  ASSERT_EQ(found.size(), 1U);
  EXPECT_NEAR(found[0].gap, 0.0, 1e-16);
  EXPECT_NEAR((found[0].frame.col(0) - Vector3(0, 0.6, 0.8)).norm(), 0.0, 1e-14);
  EXPECT_NEAR((found[0].frame.transpose() * found[0].frame - Matrix3::Identity()).norm(), 0.0, 1e-14);
}

// However it is tilted, both ends are there while they may reach the floor in the step.
TEST(RigidContacts, BothEndsMeetAPlane) {
  for (const double lift : {0.0, 1e-9, 1e-3, 3e-3}) {
    Solids s;
    s.capsule({0, 0, radius}, {0.004, 0, radius + lift});  // short: nearer than a radius along itself
    s.plane({0, 0, 1});
    const std::vector<Contact> found = s.find();
    ASSERT_EQ(found.size(), lift < reach ? 2U : 1U) << lift;
    EXPECT_NEAR(found[0].gap, 0.0, 1e-16);
    if (found.size() == 2) {
      EXPECT_NEAR(found[1].gap, lift, 1e-16);
    }
  }
}

TEST(RigidContacts, ParallelCapsulesTouchWhereTheirOverlapEnds) {
  Solids s;
  s.capsule({0, 0, 0}, {0.1, 0, 0});
  s.capsule({0.03, 0.02, 0}, {0.2, 0.02, 0});
  std::vector<Contact> found = s.find();
  ASSERT_EQ(found.size(), 2U);
  std::sort(found.begin(), found.end(), [](const Contact& x, const Contact& y) { return x.s_a < y.s_a; });
  EXPECT_NEAR(found[0].s_a, 0.03, 1e-15);
  EXPECT_NEAR(found[0].s_b, 0.0, 1e-15);
  EXPECT_NEAR(found[1].s_a, 0.1, 1e-15);
  EXPECT_NEAR(found[1].s_b, 0.07, 1e-15);
  for (const Contact& contact : found) EXPECT_NEAR(contact.gap, 0.0, 1e-16);
}

TEST(RigidContacts, CrossedCapsulesTouchInBetween) {
  Solids s;
  s.capsule({-0.1, 0, 0}, {0.1, 0, 0});
  s.capsule({0.02, -0.1, 0.0205}, {0.02, 0.05, 0.0205});
  const std::vector<Contact> found = s.find();
  ASSERT_EQ(found.size(), 1U);
  EXPECT_NEAR(found[0].gap, 0.0005, 1e-16);
  EXPECT_NEAR(found[0].s_a, 0.12, 1e-15);
  EXPECT_NEAR(found[0].s_b, 0.1, 1e-15);
}

// At any angle the least gap is that of the segments, here by brute force; none is said to be nearer than it is.
TEST(RigidContacts, TheNearestPointsAreAmongThem) {
  for (int i = 0; i < 200; ++i) {
    const auto number = [i](int k) { return std::sin(12.9898 * i + 78.233 * k); };
    const auto vector = [&](int k) { return Vector3(number(k), number(k + 1), number(k + 2)); };
    const Vector3 along = vector(0).normalized();
    const Vector3 other = (along + std::pow(10.0, -(i % 9)) * vector(3)).normalized();
    const Vector3 p = 0.02 * vector(6);
    const Vector3 side = along.cross(vector(9)).normalized() * (2.0 * radius + 1e-3 * number(12));
    Solids s;
    s.capsule(p, p + 0.1 * along);
    s.capsule(p + side + 0.03 * other, p + side + 0.12 * other);
    const std::vector<Contact> found = s.find();
    double least = 1.0;
    const auto& a = s.scene.pieces[0];
    const auto& b = s.scene.pieces[1];
    for (int k = 0; k <= 4000; ++k) {
      const Vector3 x = geometry::position(a.curve, a.interval.end * k / 4000);
      const Vector3 y = geometry::position(b.curve, 0.0);
      const double t = std::clamp(other.dot(x - y), 0.0, b.interval.end);
      least = std::min(least, (x - y - t * other).norm());
    }
    least -= 2.0 * radius;
    if (least > 2.0 * reach - 1e-5) continue;
    ASSERT_FALSE(found.empty()) << i;
    EXPECT_LE(nearest_gap(found), least + 1e-9) << i;
    EXPECT_GE(nearest_gap(found), least - 1e-6) << i;
    for (const Contact& contact : found) expect_along_gap(contact);
  }
}

// Flat it stands on the three places where its arcs meet, tilted on its lowest point.
TEST(RigidContacts, ARingOnAPlane) {
  constexpr double size = 0.05;
  Solids flat;
  flat.ring({0, 0, radius}, {0, 0, 1}, {1, 0, 0}, size);
  flat.plane({0, 0, 1});
  const std::vector<Contact> three = flat.find();
  ASSERT_EQ(three.size(), 3U);
  Vector3 sum = Vector3::Zero();
  for (const Contact& contact : three) {
    EXPECT_NEAR(contact.gap, 0.0, 1e-16);
    sum += contact.point_a;
  }
  EXPECT_NEAR((sum / 3.0 - Vector3(0, 0, radius)).norm(), 0.0, 1e-15);
  for (int i = 0; i < 60; ++i) {  // also over a place where arcs meet
    const double angle = 0.1 * i;
    const Vector3 lowest(0.6, 0, -0.8);  // of the circle, from its centre
    Solids tilted;
    tilted.ring({0, 0, radius + 0.8 * size}, {0.8, 0, 0.6},
                Eigen::AngleAxisd(angle, Vector3(0.8, 0, 0.6)) * Vector3(lowest), size);
    tilted.plane({0, 0, 1});
    const std::vector<Contact> found = tilted.find();
    ASSERT_GE(found.size(), 1U);
    const Contact& contact =
        *std::min_element(found.begin(), found.end(), [](const auto& x, const auto& y) { return x.gap < y.gap; });
    EXPECT_NEAR(contact.gap, 0.0, 1e-15) << angle;
    EXPECT_NEAR((contact.point_a - Vector3(0.6 * size, 0, radius)).norm(), 0.0, 1e-8) << angle;
    for (const Contact& one : found) {
      for (const Contact& other : found)
        EXPECT_TRUE(&one == &other || distance_along(tilted.scene, one, other) > 0.1 * radius) << angle;
    }
  }
}

// Its arcs bend enough to meet each other, and do where the last ends: that is no contact, also where fibres may touch
// themselves.
TEST(RigidContacts, ARingDoesNotTouchItself) {
  Solids s;
  s.ring({0, 0, 0}, {0, 0, 1}, {1, 0, 0}, 0.05);
  EXPECT_TRUE(ContactSearch({.self_contact = true}, {}).find(s.scene, {}).empty());
}

/// Of two circles, or of one and a segment, by brute force.
double nearest_of(const std::vector<Piece>& a, const std::vector<Piece>& b, int n = 160) {
  double least = 1.0;
  for (const Piece& p : a) {
    for (const Piece& q : b) {
      for (int i = 0; i <= n; ++i) {
        const Vector3 x = geometry::position(p.curve, p.interval.end * i / n);
        for (int j = 0; j <= n; ++j)
          least = std::min(least, (x - geometry::position(q.curve, q.interval.end * j / n)).norm());
      }
    }
  }
  return least;
}

// However two rings, or a ring and a bar, lie, the nearest points are among their contacts, and no two are at one
// place.
TEST(RigidContacts, RingsTouchWhereTheyAreNearest) {
  constexpr double size = 0.05;
  int touching = 0;
  for (int i = 0; i < 120; ++i) {
    const auto number = [i](int k) { return std::sin(12.9898 * i + 78.233 * k); };
    const auto vector = [&](int k) { return Vector3(number(k), number(k + 1), number(k + 2)); };
    const Vector3 axis = vector(0).normalized();
    const Vector3 other = (axis + (i % 4 == 0 ? 1e-3 : 1.0) * vector(3)).normalized();
    const bool bar = i % 3 == 0;
    const auto scene_at = [&](double lift) {
      Solids s;
      s.ring(Vector3::Zero(), axis, axis.unitOrthogonal(), size);
      const Vector3 at = 0.04 * vector(6) + lift * axis;
      if (bar)
        s.capsule(at - 0.04 * other, at + 0.04 * other, radius, false);
      else
        s.ring(at, other, Eigen::AngleAxisd(number(9), other) * other.unitOrthogonal(), 1.3 * size, radius, false);
      return s;
    };
    // Lifted until they touch, more or less.
    double lift = 0.2;
    const auto pieces = [&](const Solids& s, bool first) {
      return first ? std::vector<Piece>(s.scene.pieces.begin(), s.scene.pieces.begin() + 3)
                   : std::vector<Piece>(s.scene.pieces.begin() + 3, s.scene.pieces.end());
    };
    double least = 1.0;
    for (int round = 0; round < 40; ++round) {
      const Solids s = scene_at(lift);
      least = nearest_of(pieces(s, true), pieces(s, false), 30) - 2.0 * radius;
      if (least < 1e-3) break;
      lift -= 0.7 * least;
    }
    const Solids s = scene_at(lift);
    least = nearest_of(pieces(s, true), pieces(s, false)) - 2.0 * radius;
    if (!(least < 2.0 * reach - 1e-4) || least < -0.5 * radius) continue;
    ++touching;
    const std::vector<Contact> found = s.find();
    ASSERT_FALSE(found.empty()) << i;
    EXPECT_LE(nearest_gap(found), least + 1e-9) << i;
    EXPECT_GE(nearest_gap(found), least - 1e-5) << i;
    for (const Contact& contact : found) {
      expect_along_gap(contact);
      for (const Contact& twin : found)
        EXPECT_TRUE(&contact == &twin || distance_along(s.scene, contact, twin) > 0.1 * radius) << i;
    }
  }
  EXPECT_GT(touching, 40);
}

// A ring that lies on another one of its size has contacts on all sides, at most as many as their arcs have ends and
// middles.
TEST(RigidContacts, ARingLiesOnARing) {
  constexpr double size = 0.05;
  for (const double turn : {0.0, 0.3, 1.0}) {
    Solids s;
    s.ring({0, 0, 2.0 * radius}, {0, 0, 1}, {std::cos(turn), std::sin(turn), 0}, size);
    s.ring({0, 0, 0}, {0, 0, 1}, {1, 0, 0}, size, radius, false);
    const std::vector<Contact> found = s.find();
    ASSERT_GE(found.size(), 3U);
    EXPECT_LE(found.size(), 15U);
    std::vector<double> angles;
    for (const Contact& contact : found) {
      EXPECT_NEAR(contact.gap, 0.0, 1e-12);
      angles.push_back(std::atan2(contact.point_a.y(), contact.point_a.x()));
    }
    std::sort(angles.begin(), angles.end());
    angles.push_back(angles.front() + 2.0 * std::numbers::pi);
    for (std::size_t k = 1; k < angles.size(); ++k) EXPECT_LE(angles[k] - angles[k - 1], 2.2) << turn;
  }
}

// A bar across a ring touches it once on each side, however short the chord is and wherever the arcs meet.
TEST(RigidContacts, ABarOnARingTouchesItOnBothSides) {
  constexpr double size = 0.05;
  for (const double away : {0.0, 0.02, 0.035, 0.045}) {
    const double half = std::sqrt(size * size - away * away);
    for (int i = 0; i < 90; ++i) {
      const double turn = 2.0 * std::numbers::pi * i / 90;
      Solids s;
      s.capsule({-0.1, away, 2.0 * radius}, {0.1, away, 2.0 * radius});
      s.ring(Vector3::Zero(), {0, 0, 1}, {std::cos(turn), std::sin(turn), 0}, size, radius, false);
      for (Piece& piece : s.scene.pieces) piece.travel.reach = 1e-4;  // places nearer than what closes in are one
      const std::vector<Contact> found = s.find();
      for (const double side : {-1.0, 1.0}) {
        EXPECT_TRUE(std::any_of(found.begin(), found.end(),
                                [&](const Contact& contact) {
                                  return std::abs(contact.gap) < 1e-12 &&
                                         std::abs(contact.point_b.x() - side * half) < 1e-7;
                                }))
            << away << " " << i << " " << side;
      }
    }
  }
}

// A fibre across a ring touches it once on each side, also where two arcs meet.
TEST(RigidContacts, AFibreOnARingTouchesItOnBothSides) {
  constexpr double size = 0.05, fibre = 1e-3;
  for (int i = 0; i <= 90; ++i) {
    const double turn = 2.0 * std::numbers::pi * i / 90;
    Solids s;
    Piece piece;
    piece.curve = geometry::SegmentEvaluator({{-0.1, 0.02, radius + fibre}, {0.1, 0.02, radius + fibre}});
    piece.interval = geometry::domain(piece.curve);
    piece.radius = fibre;
    piece.travel.reach = 1e-4;
    s.scene.pieces.push_back(piece);
    s.scene.body_begin.push_back(1);
    s.ring(Vector3::Zero(), {0, 0, 1}, {std::cos(turn), std::sin(turn), 0}, size, radius, false);
    for (Piece& arc : s.scene.pieces) arc.travel.reach = 1e-4;
    std::vector<Contact> found = s.find();
    std::sort(found.begin(), found.end(), [](const Contact& x, const Contact& y) { return x.s_a < y.s_a; });
    ASSERT_EQ(found.size(), 2U) << i;
    const double half = std::sqrt(size * size - 0.02 * 0.02);
    for (int k = 0; k < 2; ++k) {
      EXPECT_NEAR(found[k].gap, 0.0, 1e-12) << i;
      EXPECT_NEAR(found[k].point_b.x(), (k == 0 ? -1.0 : 1.0) * half, 1e-8) << i;
      EXPECT_NEAR((found[k].frame.col(0) + Vector3::UnitZ()).norm(), 0.0, 1e-8) << i;
    }
    // Followed they stay the same two.
    std::vector<Place> places;
    for (const Contact& contact : found) places.push_back(place_of(s.scene, contact));
    EXPECT_EQ(follow(s.scene, places).size(), 2U) << i;
    EXPECT_EQ(ContactSearch({}, {}).find(s.scene, places).size(), 2U) << i;
  }
}

TEST(RigidContacts, FollowingFindsThemAll) {
  Solids s;
  s.capsule({0, 0, radius}, {0.1, 0, radius});
  s.capsule({0.03, 0.02, radius}, {0.2, 0.02, radius});
  s.plane({0, 0, 1});
  const std::vector<Contact> found = s.find();
  ASSERT_EQ(found.size(), 6U);
  std::vector<Place> places;
  for (const Contact& contact : found) places.push_back(place_of(s.scene, contact));
  const std::vector<Contact> followed = follow(s.scene, places);
  ASSERT_EQ(followed.size(), found.size());
  const std::vector<Contact> again = ContactSearch({}, {}).find(s.scene, places);
  EXPECT_EQ(again.size(), found.size());
}

// More than a hundred: the tree, against all pairs. They fly about each on its own.
TEST(RigidContacts, ManyAreFoundFromStepToStep) {
  ContactSearch search({}, {});
  const auto number = [](int i, int k) { return std::sin(12.9898 * i + 78.233 * k); };
  const auto vector = [&](int i, int k) { return Vector3(number(i, k), number(i, k + 1), number(i, k + 2)); };
  std::size_t contacts = 0;
  for (int step = 0; step < 40; ++step) {
    Solids s;
    for (int i = 0; i < 150; ++i) {
      const Vector3 at = 0.1 * vector(i, 0) + 1e-3 * step * vector(i, 3);
      const Vector3 half = (i % 3 == 0 ? 0.0 : 0.02) *
                           (Eigen::AngleAxisd(0.02 * step, vector(i, 6).normalized()) * vector(i, 9).normalized());
      s.capsule(at - half, at + half, 0.004 + 0.002 * number(i, 12), i < 120);
      s.scene.pieces.back().travel.drift = 1e-3 * vector(i, 3);
    }
    s.plane({0, 0, 1});
    const auto sorted = [](std::vector<Contact> list) {  // a search puts planes last
      std::stable_sort(list.begin(), list.end(), [](const Contact& x, const Contact& y) {
        return CandidatePair{x.a, x.b} < CandidatePair{y.a, y.b};
      });
      return list;
    };
    const std::vector<Contact> found = sorted(search.find(s.scene, {}));
    const std::vector<Contact> fresh = ContactSearch({}, {}).find(s.scene, {});
    std::vector<CandidatePair> all;
    for (int i = 0; i < 120; ++i) {
      all.push_back({i, -1});
      for (int j = i + 1; j < 150; ++j) all.push_back({i, j});
    }
    const auto near = [&](const CandidatePair& pair) {
      if (pair.b < 0) return true;
      const Piece& a = s.scene.pieces[static_cast<std::size_t>(pair.a)];
      const Piece& b = s.scene.pieces[static_cast<std::size_t>(pair.b)];
      return geometry::closest_points(a.curve, a.interval, b.curve, b.interval, {}).distance <= meeting_distance(a, b);
    };
    std::erase_if(all, [&](const CandidatePair& pair) { return !near(pair); });
    std::sort(all.begin(), all.end());
    const std::vector<Contact> brute = detect(s.scene, all, {});
    ASSERT_EQ(found.size(), brute.size()) << step;
    ASSERT_EQ(fresh.size(), brute.size()) << step;
    for (std::size_t k = 0; k < found.size(); ++k) {
      EXPECT_EQ(found[k].a, brute[k].a);
      EXPECT_EQ(found[k].b, brute[k].b);
      EXPECT_EQ(found[k].gap, brute[k].gap);
    }
    contacts += found.size();
  }
  EXPECT_GT(contacts, 1000U);
}

}  // namespace TRESSE_TEST_FILE
}  // namespace tresse::contact
