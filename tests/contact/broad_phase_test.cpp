#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <utility>

#include <tresse/contact/broad_phase.hpp>

#include "geometry/random_curves.hpp"
#include "support/tubes.hpp"

namespace tresse::contact {
namespace TRESSE_TEST_FILE {

using geometry::test::RandomCurves;
using Pairs = std::set<std::pair<int, int>>;

constexpr int samples = 20;

/// Points of a piece at equal steps of arc length.
Matrix3X points_of(const Piece& piece) {
  Matrix3X out(3, samples + 1);
  const auto [begin, end] = piece.interval;
  for (int i = 0; i <= samples; ++i) out.col(i) = geometry::position(piece.curve, begin + (end - begin) * i / samples);
  return out;
}

/// Curly fibres that touch themselves and each other, capsules and a plane among them, all on the move. Every sixth is
/// large enough for a tree.
Geometry crowd(unsigned seed) {
  RandomCurves random(seed);
  test::Tubes tubes;
  const int fibres = seed % 6 == 0 ? 20 : 3;
  for (int f = 0; f < fibres; ++f) {
    std::vector<test::Arc> arcs;
    const double curl = random.uniform(200.0, 900.0);
    for (int e = 0; e < 3; ++e) {
      arcs.push_back({Vector3(0.2 * curl, 0, curl) + random.vector(0.2 * curl), random.uniform(0.004, 0.015)});
    }
    tubes.fibre(test::chain({random.vector(0.004), random.rotation()}, arcs), random.uniform(5e-5, 2e-4));
  }
  for (int k = 0; k < 3; ++k) {
    const Vector3 from = random.vector(0.006);
    tubes.capsule(from, k == 0 ? from : random.vector(0.006), random.uniform(1e-4, 2e-3));
  }
  tubes.plane(random.vector(0.005), random.rotation().col(0));
  for (Piece& piece : tubes.scene.pieces) {
    piece.travel.drift = random.vector(1e-3);
    piece.travel.reach = random.uniform(0.0, 2e-4);
  }
  return tubes.scene;
}

/// Smallest distance of two points of which b's moves relative to a's by `travel` in a straight line.
double closest_approach(const Vector3& from_a_to_b, const Vector3& travel) {
  const double size = travel.squaredNorm();
  const double t = size > 0.0 ? std::clamp(-from_a_to_b.dot(travel) / size, 0.0, 1.0) : 0.0;
  return (from_a_to_b + t * travel).norm();
}

/// Whether samples of two pieces meet during the step, each point up to the reach beside its drift.
bool meet(const Piece& a, const Piece& b, const Matrix3X& on_a, const Matrix3X& on_b) {
  const double near = a.radius + b.radius + a.travel.reach + b.travel.reach;
  for (int i = 0; i <= samples; ++i)
    for (int j = 0; j <= samples; ++j)
      if (closest_approach(on_b.col(j) - on_a.col(i), b.travel.drift - a.travel.drift) <= near) return true;
  return false;
}

/// Whether two pieces of one fibre, i before j, meet after the fibre between them has left the neighbourhood: it was
/// farther than 1.6 of the meeting distance (pi/2 is the arc of a chord at most) from a's point.
bool come_back(const Geometry& scene, const std::vector<Matrix3X>& points, int i, int j) {
  const Piece& a = scene.pieces[i];
  const Piece& b = scene.pieces[j];
  const double near = a.radius + b.radius + a.travel.reach + b.travel.reach + (b.travel.drift - a.travel.drift).norm();
  for (int p = 0; p <= samples; ++p) {
    const Vector3 from = points[i].col(p);
    double farthest = 0.0;
    for (int k = i; k <= j; ++k) {
      for (int q = k == i ? p : 0; q <= samples; ++q) {
        const Vector3 away = points[k].col(q) - from;
        farthest = std::max(farthest, away.norm());
        const bool meets = closest_approach(away, b.travel.drift - a.travel.drift) <=
                           a.radius + b.radius + a.travel.reach + b.travel.reach;
        if (k == j && meets && farthest > 1.6 * near) return true;
      }
    }
  }
  return false;
}

struct Wanted {
  Pairs pairs;
  int of_one_fibre = 0;
  int with_plane = 0;
};

/// Every pair that must be found, by samples of all pairs.
Wanted brute_force(const Geometry& scene) {
  Wanted out;
  std::vector<Matrix3X> points;
  for (const Piece& piece : scene.pieces) points.push_back(points_of(piece));
  const int count = static_cast<int>(scene.pieces.size());
  for (int i = 0; i < count; ++i) {
    const Piece& a = scene.pieces[i];
    for (int j = i + 1; j < count; ++j) {
      const Piece& b = scene.pieces[j];
      if (!a.id.is_fibre() && !b.id.is_fibre()) continue;
      // Neighbours on a fibre never pair up, docs/theory/contact.md: only a travel of the size of the curl would bring
      // them together.
      const bool wanted = a.body != b.body || (j > i + 1 && come_back(scene, points, i, j));
      if (wanted && meet(a, b, points[i], points[j])) {
        out.pairs.insert({i, j});
        out.of_one_fibre += a.body == b.body ? 1 : 0;
      }
    }
    for (int k = 0; a.id.is_fibre() && k < static_cast<int>(scene.planes.size()); ++k) {
      const HalfSpace& plane = scene.planes[k];
      const double lowest = (plane.normal.transpose() * (points[i].colwise() - plane.point)).minCoeff();
      if (lowest + std::min(0.0, plane.normal.dot(a.travel.drift)) > a.radius + a.travel.reach) continue;
      out.pairs.insert({i, -1 - k});
      ++out.with_plane;
    }
  }
  return out;
}

Pairs listed(const Geometry& scene, const BroadPhaseOptions& options) {
  const std::vector<CandidatePair> pairs = candidate_pairs(scene, options);
  Pairs out;
  for (const CandidatePair& pair : pairs) out.insert({pair.a, pair.b});
  EXPECT_EQ(out.size(), pairs.size()) << "a pair twice";
  EXPECT_TRUE(std::is_sorted(pairs.begin(), pairs.end(), [](const CandidatePair& p, const CandidatePair& q) {
    return std::pair(p.a, p.b) < std::pair(q.a, q.b);
  }));
  return out;
}

TEST(BroadPhase, ListsEveryPairThatBruteForceSeesMeet) {
  int of_one_fibre = 0;
  int with_plane = 0;
  int others = 0;
  for (unsigned seed = 0; seed < 60; ++seed) {
    const Geometry scene = crowd(seed);
    EXPECT_EQ(few_pieces(scene), seed % 6 != 0);
    const Wanted wanted = brute_force(scene);
    const Pairs found = listed(scene, {});
    for (const auto& [a, b] : wanted.pairs) EXPECT_TRUE(found.contains({a, b})) << seed << ": " << a << ", " << b;
    of_one_fibre += wanted.of_one_fibre;
    with_plane += wanted.with_plane;
    others += static_cast<int>(wanted.pairs.size()) - wanted.of_one_fibre - wanted.with_plane;
  }
  // The crowds are what they were made for.
  EXPECT_GT(of_one_fibre, 50);
  EXPECT_GT(with_plane, 100);
  EXPECT_GT(others, 200);
}

TEST(BroadPhase, ListsNothingThatIsFarApartOrUnwanted) {
  for (unsigned seed = 0; seed < 40; ++seed) {
    const Geometry scene = crowd(seed);
    for (const auto& [a, b] : listed(scene, {})) {
      EXPECT_TRUE(scene.pieces[a].id.is_fibre());
      if (b < 0) continue;
      EXPECT_LT(a, b);
      // A box is about as wide as its piece is long; a tree's is shorter.
      const Piece& x = scene.pieces[a];
      const Piece& y = scene.pieces[b];
      const double lengths = x.interval.end - x.interval.begin + y.interval.end - y.interval.begin;
      const Matrix3X on_a = points_of(x);
      const Matrix3X on_b = points_of(y);
      double apart = INFINITY;
      for (int i = 0; i <= samples; ++i)
        apart = std::min(apart, (on_b.colwise() - on_a.col(i)).colwise().norm().minCoeff());
      EXPECT_LE(apart, meeting_distance(x, y) + lengths) << seed;
      EXPECT_TRUE(x.body != y.body || b - a > 1) << "neighbours on a fibre";
    }
  }
}

/// What an option switches off is absent, and all else is as before.
TEST(BroadPhase, LeavesOutTheKindsThatAreSwitchedOff) {
  for (unsigned seed = 0; seed < 20; ++seed) {
    const Geometry scene = crowd(seed);
    const auto kept = [&](bool self, bool fibres) {
      Pairs out;
      for (const auto& [a, b] : listed(scene, {})) {
        const bool both = b >= 0 && scene.pieces[b].id.is_fibre();
        const bool same = both && scene.pieces[a].body == scene.pieces[b].body;
        if (!both || (same ? self : fibres)) out.insert({a, b});
      }
      return out;
    };
    for (const bool self : {false, true})
      for (const bool fibres : {false, true}) EXPECT_EQ(listed(scene, {self, fibres}), kept(self, fibres)) << seed;
  }
}

/// Neighbours in a wisp: what both travel together brings no pair, what one travels towards the other does.
TEST(BroadPhase, CountsOnlyTheTravelOfOnePieceTowardsTheOther) {
  test::Tubes tubes;
  tubes.fibre(test::chain({}, {{Vector3::Zero(), 0.01}}), 1e-4);
  tubes.fibre(test::chain({Vector3(0, 1e-3, 0), Matrix3::Identity()}, {{Vector3::Zero(), 0.01}}), 1e-4);
  Geometry& scene = tubes.scene;
  EXPECT_TRUE(candidate_pairs(scene, {}).empty());
  scene.pieces[0].travel.drift = scene.pieces[1].travel.drift = Vector3(0, 5e-3, 0);
  EXPECT_TRUE(candidate_pairs(scene, {}).empty());
  scene.pieces[1].travel.drift = Vector3(0, 4.1e-3, 0);  // closes 0.9 of the millimetre; the radii are the rest
  EXPECT_EQ(candidate_pairs(scene, {}).size(), 1U);
}

TEST(BroadPhase, OfNothingIsNothing) {
  EXPECT_TRUE(candidate_pairs({{}, {}, {0}, {}}, {}).empty());
  test::Tubes tubes;
  tubes.plane(Vector3::Zero(), Vector3::UnitZ());
  tubes.capsule(Vector3::Zero(), Vector3::UnitX(), 1e-3);
  EXPECT_TRUE(candidate_pairs(tubes.scene, {}).empty());
}

}  // namespace TRESSE_TEST_FILE
}  // namespace tresse::contact
