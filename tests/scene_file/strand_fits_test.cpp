#include <tresse/scene_file/detail/strand_fits.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace tresse::scene_file::detail {
namespace TRESSE_TEST_FILE {

std::vector<std::vector<Vector3>> wavy_rows() {
  std::vector<std::vector<Vector3>> out(3);
  for (int i = 0; i < 9; ++i) {
    for (int k = 0; k < 3; ++k) out[k].emplace_back(0.01 * i, 0.001 * std::sin(0.5 * i + k), 0.001 * k);
  }
  out[1].resize(1);  // refused
  return out;
}

TEST(StrandFits, ComeBackFromTheirBytesBitForBit) {
  const auto rows = wavy_rows();
  for (const bool polygon : {false, true}) {
    std::vector<StrandFit> fits = fit_strands({.rows = rows, .polygon = polygon, .options = {.elements = 3}});
    fits[0].curve.curvature[0] = {-0.0, std::numeric_limits<double>::denorm_min(), NAN};
    ASSERT_FALSE(fits[1].refused.empty());
    const std::string bytes = fit_bytes(fits);
    const std::optional<std::vector<StrandFit>> read = read_fit_bytes(bytes, fits.size());
    ASSERT_TRUE(read);
    EXPECT_EQ(fit_bytes(*read), bytes);
    EXPECT_EQ((*read)[1].refused, fits[1].refused);
    EXPECT_EQ((*read)[2].curve.lengths, fits[2].curve.lengths);
    EXPECT_EQ((*read)[2].curve.root.frame, fits[2].curve.root.frame);
    EXPECT_EQ((*read)[2].curve.curvature, fits[2].curve.curvature);
    EXPECT_EQ((*read)[2].curve.length_ratio, fits[2].curve.length_ratio);
    EXPECT_EQ((*read)[2].curve.status, fits[2].curve.status);
    EXPECT_FALSE(read_fit_bytes(bytes, fits.size() - 1));
    EXPECT_FALSE(read_fit_bytes(bytes, fits.size() + 1));
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      EXPECT_FALSE(read_fit_bytes(bytes.substr(0, i), fits.size()));
      std::string flipped = bytes;
      flipped[i] ^= static_cast<char>(0x80);
      static_cast<void>(read_fit_bytes(flipped, fits.size()));  // none, or others; never more memory than bytes
    }
  }
}

TEST(StrandFits, WhateverFitsDependOnIsInTheirOrder) {
  const auto rows = wavy_rows();
  auto moved = rows;
  moved[2][4].z() = std::nextafter(moved[2][4].z(), 1.0);
  auto apart = rows;
  apart[0].insert(apart[0].end(), apart[1].begin(), apart[1].end());
  apart[1].clear();
  const std::string order = order_bytes({.rows = rows, .polygon = false, .options = {.elements = 3}});
  for (const FitOrder& other :
       {FitOrder{.rows = rows, .polygon = true, .options = {.elements = 3}},
        FitOrder{.rows = rows, .polygon = false, .options = {.elements = 4}},
        FitOrder{.rows = rows, .polygon = false, .options = {.affine = true, .elements = 3}},
        FitOrder{.rows = rows, .polygon = false, .options = {.elements = 3, .tolerance = 1.0}},
        FitOrder{.rows = rows, .polygon = false, .options = {.elements = 3, .parts = {1.0}}},
        FitOrder{.rows = rows, .polygon = false, .options = {.elements = 3, .clamped_root = false}},
        FitOrder{.rows = rows, .polygon = false, .options = {.elements = 3, .max_iterations = 9}},
        FitOrder{.rows = moved, .polygon = false, .options = {.elements = 3}},
        FitOrder{.rows = apart, .polygon = false, .options = {.elements = 3}}}) {
    EXPECT_NE(order_bytes(other), order);
  }
}

}  // namespace TRESSE_TEST_FILE
}  // namespace tresse::scene_file::detail
