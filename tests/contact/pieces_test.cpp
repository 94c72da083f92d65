#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include <tresse/contact/pieces.hpp>

namespace tresse::contact {
namespace {

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
  EXPECT_GE(travel.extent, (bent.end - bent.middle).norm() + 1e-5);
}

TEST(Travel, of_anything_else_is_bounded_at_its_points) {
  ThreePoints moves = rigid(bent, Vector3(0, 0, 1e-4), Vector3(0.0, 0.0, 0.01));
  moves.end += Vector3(1e-5, -3e-5, 2e-5);
  const Travel travel = rigid_travel(bent, moves, 0.0, 1e-6);
  const auto left = [&](const Vector3& x, const Vector3& moved) {
    return (moved - travel.drift - travel.spin.cross(x - bent.middle)).norm();
  };
  EXPECT_GE(travel.reach, 1e-6 + std::max(left(bent.begin, moves.begin), left(bent.end, moves.end)) - 1e-16);
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

TEST(Travel, that_all_share_is_taken_off_and_kept) {
  Geometry scene;
  const Vector3 shift(1e-3, 0.0, 2e-3);
  const Vector3 spin(0.0, 0.1, 0.2);
  for (int f = 0; f < 5; ++f) {
    const Vector3 place(0.0, 1e-3 * f, 2e-3 * f * f);
    const ThreePoints at{bent.begin + place, bent.middle + place, bent.end + place};
    Piece piece;
    piece.travel = rigid_travel(at, rigid(at, shift, spin), 0.0, 1e-6);
    piece.fibre = f < 4;
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

}  // namespace
}  // namespace tresse::contact
