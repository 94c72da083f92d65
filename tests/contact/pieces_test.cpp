#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include <tresse/contact/pieces.hpp>

#include "geometry/random_curves.hpp"

namespace tresse::contact {
namespace TRESSE_TEST_FILE {

TEST(Pieces, AreAtMostFortyFiveHundredthsOfATurn) {
  EXPECT_EQ(pieces_per_element(0.0, 1.0), 1);
  for (const double turns : {0.1, 0.44, 0.46, 1.0, 7.3}) {
    const int count = pieces_per_element(2 * std::numbers::pi * turns, 1.0);
    EXPECT_LE(turns / count, 0.45);
    EXPECT_GT(turns / std::max(1, count - 1), count > 1 ? 0.45 : 0.0);
  }
}

/// On a circle the bound is sharp: the tube meets itself when the remaining chord is a diameter.
TEST(Pieces, FreeLengthIsSharpOnACircle) {
  const double k = 50.0;
  const double r = 1e-3;
  const double margin = 2e-4;
  const double length = self_contact_free_length(k, r, margin);
  const double chord = 2.0 / k * std::sin(0.5 * k * length);
  EXPECT_NEAR(chord, 2 * r + margin, 1e-15);
  EXPECT_GT(length, std::numbers::pi / k);
  EXPECT_TRUE(std::isinf(self_contact_free_length(0.0, r, margin)));
}

/// A rigid motion of three points of a bent piece.
ThreePoints rigid(const ThreePoints& at, const Vector3& shift, const Vector3& spin) {
  const auto moves = [&](const Vector3& x) -> Vector3 { return shift + spin.cross(x); };
  return {moves(at.begin), moves(at.middle), moves(at.end)};
}

const ThreePoints bent{Vector3(0.01, 0.0, 0.0), Vector3(0.0, 0.004, 0.001), Vector3(-0.01, 0.0, 0.002)};

TEST(Travel, of_a_rigid_motion_is_that_motion) {
  const Vector3 shift(1e-4, -2e-4, 5e-5);
  const Vector3 spin(0.01, -0.02, 0.03);
  const Travel travel = rigid_travel(bent, rigid(bent, shift, spin), 1e-5, 1e-6);
  EXPECT_NEAR((travel.spin - spin).norm(), 0.0, 1e-14);
  EXPECT_NEAR((travel.drift - shift - spin.cross(bent.middle)).norm(), 0.0, 1e-17);
  EXPECT_NEAR(travel.reach, 1e-6, 1e-15);
  EXPECT_GE(travel.extent(), (bent.end - bent.middle).norm() + 1e-5);
}

TEST(Travel, of_anything_else_is_bounded_at_its_points) {
  ThreePoints moves = rigid(bent, Vector3(0, 0, 1e-4), Vector3(0.0, 0.0, 0.01));
  moves.end += Vector3(1e-5, -3e-5, 2e-5);
  const Travel travel = rigid_travel(bent, moves, 0.0, 1e-6);
  const auto left = [&](const Vector3& x, const Vector3& moved) {
    return (moved - travel.drift - travel.spin.cross(x - bent.middle)).norm();
  };
  EXPECT_GE(travel.reach, 1e-6 + std::max(left(bent.begin, moves.begin), left(bent.end, moves.end)) - 1e-16);
  EXPECT_GE(travel.reach, 1e-6 + left(bent.middle, moves.middle) - 1e-16);
  EXPECT_LE(travel.reach, 1e-6 + 5e-5);
  EXPECT_GE(travel.farthest(), moves.end.norm());
}

/// Neighbours that swing together do not close in; with a motion of its own one does, by no more than that.
TEST(Travel, of_neighbours_closes_in_by_their_difference) {
  const ThreePoints beside{bent.begin + Vector3(0, 0, 1e-4), bent.middle + Vector3(0, 0, 1e-4),
                           bent.end + Vector3(0, 0, 1e-4)};
  const Vector3 shift(1e-3, 0.0, 2e-3);
  const Vector3 spin(0.0, 0.1, 0.2);
  const Travel a = rigid_travel(bent, rigid(bent, shift, spin), 0.0, 0.0);
  const Travel b = rigid_travel(beside, rigid(beside, shift, spin), 0.0, 0.0);
  EXPECT_LT(closing(a, b), 1e-14);
  const Travel c = rigid_travel(beside, rigid(beside, shift + Vector3(0, 0, -3e-5), spin), 0.0, 0.0);
  EXPECT_NEAR(closing(a, c), 3e-5, 1e-12);
  const Travel d = rigid_travel(beside, rigid(beside, shift, spin + Vector3(0, 0, 1e-3)), 0.0, 0.0);
  EXPECT_GE(closing(a, d), 1e-3 * 0.01);
  EXPECT_LE(closing(a, d), 3e-3 * 0.02);
}

/// Points of an arc, and the same when its travel was taken.
struct Samples {
  Matrix3X before, after;
};

Samples moved(const geometry::HelixArc& arc, const Travel& travel) {
  constexpr int count = 200;
  const geometry::PreparedCurve curve = geometry::prepare(arc);
  Samples out{Matrix3X(3, count + 1), Matrix3X(3, count + 1)};
  for (int i = 0; i <= count; ++i) {
    const Vector3 x = geometry::position(curve, arc.length * i / count);
    out.before.col(i) = x;
    out.after.col(i) = x + travel.drift + travel.spin.cross(x - travel.middle);
  }
  return out;
}

double distance(const Matrix3X& a, const Matrix3X& b) {
  double least = INFINITY;
  for (int i = 0; i < a.cols(); ++i) least = std::min(least, (b.colwise() - a.col(i)).colwise().norm().minCoeff());
  return least;
}

/// What two arcs that drift and spin close in by, against samples of both: never more, and no more than the fastest
/// point travels beside the other's motion.
/// The middle moves beside both ends by as much: half of it is left to each.
TEST(Travel, of_what_bends_is_left_to_ends_and_middle_alike) {
  ThreePoints moves = rigid(bent, Vector3(0, 0, 1e-4), Vector3(0.0, 0.0, 0.01));
  // Across the plane of the three points, or a spin about the chord would take it.
  const Vector3 across = (bent.middle - bent.begin).cross(bent.end - bent.begin).normalized();
  const Vector3 chord = (bent.end - bent.begin).normalized();
  const Vector3 beside = 1e-5 * across.cross(chord);
  moves.begin += beside;
  moves.end += beside;
  EXPECT_NEAR(rigid_travel(bent, moves, 0.0, 0.0).reach, 0.5e-5, 1e-12);
}

TEST(Travel, of_arcs_closes_in_by_what_their_fastest_point_does) {
  geometry::test::RandomCurves random(3);
  double most_share = 0.0;
  for (int k = 0; k < 300; ++k) {
    const geometry::HelixArc arcs[] = {random.helix(2e-3, 60.0), random.helix(2e-3, 60.0)};
    const double common = random.uniform(0.0, 1e-4);
    const Vector3 together = random.vector(common), swing = random.vector(100.0 * common);
    std::array<Travel, 2> travel;
    for (int i = 0; i < 2; ++i) {
      const geometry::PreparedCurve curve = geometry::prepare(arcs[i]);
      const double length = arcs[i].length;
      const ThreePoints at{geometry::position(curve, 0.0), geometry::position(curve, 0.5 * length),
                           geometry::position(curve, length)};
      const double bend = geometry::second_derivative_bound(curve, geometry::domain(curve));
      travel[i] = rigid_travel(at, rigid(at, together + random.vector(1e-6), swing + random.vector(1e-4)),
                               bend * length * length / 32.0, 0.0);
    }
    const Samples a = moved(arcs[0], travel[0]);
    const Samples b = moved(arcs[1], travel[1]);
    const double bound = closing(travel[0], travel[1]);
    EXPECT_LE(distance(a.before, b.before) - distance(a.after, b.after), bound + 1e-12) << k;
    double fastest = 0.0;
    for (int i = 0; i < b.before.cols(); ++i) {
      const Vector3 x = b.before.col(i);
      const Vector3 with_a = travel[0].drift + travel[0].spin.cross(x - travel[0].middle);
      fastest = std::max(fastest, (b.after.col(i) - x - with_a).norm());
    }
    const double beside = (travel[1].spin - travel[0].spin).norm() * travel[1].sagitta;
    EXPECT_LE(bound, fastest + beside + travel[0].reach + travel[1].reach + 1e-12) << k;
    most_share = std::max(most_share, fastest / bound);
  }
  EXPECT_GT(most_share, 0.9);
}

TEST(Travel, that_all_share_is_taken_off_and_kept) {
  Geometry scene;
  const Vector3 shift(1e-3, 0.0, 2e-3);
  const Vector3 spin(0.0, 0.1, 0.2);
  for (int f = 0; f < 5; ++f) {
    const Vector3 place(0.0, 1e-3 * f, 2e-3 * f * f);
    const ThreePoints at{bent.begin + place, bent.middle + place, bent.end + place};
    Piece piece;
    piece.travel = rigid_travel(at, rigid(at, shift, spin), 0.0, 1e-6);
    piece.id = {f < 4 ? BodyKind::fibre : BodyKind::obstacle, f};
    scene.pieces.push_back(piece);
  }
  const std::vector<Piece> before = scene.pieces;
  take_off_common_travel(scene);
  for (std::size_t i = 0; i < before.size(); ++i) {
    const Travel& left = scene.pieces[i].travel;
    EXPECT_LT(left.farthest(), 1.01e-6 + 1e-5 * 1e-3) << i;
    const Vector3 together =
        left.drift + scene.common.drift + scene.common.spin.cross(left.middle - scene.common.middle);
    EXPECT_NEAR((together - before[i].travel.drift).norm(), 0.0, 1e-16);
    EXPECT_NEAR((left.spin + scene.common.spin - before[i].travel.spin).norm(), 0.0, 1e-15);
  }
  Geometry empty;
  take_off_common_travel(empty);
  EXPECT_EQ(empty.common.drift.norm(), 0.0);
}

}  // namespace TRESSE_TEST_FILE
}  // namespace tresse::contact
