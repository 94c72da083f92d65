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

}  // namespace
}  // namespace tresse::contact
