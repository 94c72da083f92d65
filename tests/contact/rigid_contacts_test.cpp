#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include <Eigen/Geometry>

#include <tresse/contact/contact_search.hpp>

namespace tresse::contact {
namespace {

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
    piece.body = static_cast<int>(scene.pieces.size());
    piece.id = {free ? BodyKind::rigid_body : BodyKind::obstacle, piece.body};
    scene.pieces.push_back(piece);
    scene.body_begin.push_back(static_cast<int>(scene.pieces.size()));
  }
  void plane(const Vector3& normal) {
    const int body = static_cast<int>(scene.body_begin.size()) - 1;
    scene.planes.push_back({Vector3::Zero(), normal.normalized(), {BodyKind::obstacle, body}, body});
    scene.body_begin.push_back(static_cast<int>(scene.pieces.size()));
  }
  std::vector<Contact> find() const { return ContactSearch({}, {}).find(scene, {}); }
};

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
    for (const Contact& contact : found) {
      EXPECT_NEAR((contact.point_b - contact.point_a).norm() - 2.0 * radius, contact.gap, 1e-15);
      EXPECT_NEAR(contact.frame.col(0).dot(contact.point_b - contact.point_a), contact.gap + 2.0 * radius, 1e-14);
    }
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

}  // namespace
}  // namespace tresse::contact
