#include "render/film.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace TRESSE_TEST_FILE {

namespace render = tresse::render;

constexpr int side = 32;

/// Of `samples` a pixel: light `left` or `right` of the middle, with noise that spreads evenly by its own size; the
/// features of the two sides differ by `step`.
render::Film noisy(int samples, float left, float right, float step = 0.0F) {
  render::Film film(side, side);
  for (int y = 0; y < side; ++y) {
    for (int x = 0; x < side; ++x) {
      const bool is_left = x < side / 2;
      render::Random random(render::hash(static_cast<unsigned>(x), static_cast<unsigned>(y)));
      for (int i = 0; i < samples; ++i) {
        render::FilmSample sample;
        sample.radiance.setConstant((is_left ? left : right) * 2.0F * random.next());
        if (!is_left) sample.features[0] = step;
        film.at(x, y).add(sample);
      }
    }
  }
  return film;
}

/// Root mean square of what `image` differs from the light without noise.
double error(const render::Image& image, float left, float right) {
  double sum = 0.0;
  for (int y = 0; y < side; ++y) {
    for (int x = 0; x < side; ++x) sum += std::pow(image.at(x, y)[1] - (x < side / 2 ? left : right), 2);
  }
  return std::sqrt(sum) / side;
}

TEST(Film, noise_goes_where_there_is_nothing_else) {
  const render::Film film = noisy(16, 0.4F, 0.4F);
  EXPECT_LT(error(render::developed(film, 0.6F), 0.4F, 0.4F), 0.25 * error(render::developed(film, 0.0F), 0.4F, 0.4F));
}

TEST(Film, an_edge_stays_where_light_or_features_show_it) {
  for (const auto& [right, step] : {std::pair(0.02F, 0.0F), std::pair(0.3F, 1.0F)}) {
    const render::Film film = noisy(32, 0.4F, right, step);
    const render::Image image = render::developed(film, 0.6F);
    EXPECT_LT(error(image, 0.4F, right), 0.5 * error(render::developed(film, 0.0F), 0.4F, right));
    double beside = 0.0;
    for (int y = 0; y < side; ++y) beside += image.at(side / 2, y)[0] / side;
    EXPECT_NEAR(beside, right, 0.05F * 0.4F) << "the first column on the right";
  }
}

TEST(Film, a_picture_without_noise_is_left_as_it_is) {
  render::Film film(side, side);
  for (int i = 0; i < side * side * 4; ++i) {
    const float light = render::to_unit(render::hash(static_cast<unsigned>(i / 4)));
    film.pixels[static_cast<std::size_t>(i / 4)].add({.radiance = render::Color::Constant(light)});
  }
  const render::Image sharp = render::developed(film, 0.6F);
  const render::Image means = render::developed(film, 0.0F);
  for (std::size_t i = 0; i < sharp.pixels.size(); ++i) EXPECT_NEAR(sharp.pixels[i][0], means.pixels[i][0], 5e-3F) << i;
}

TEST(Film, background_alone_is_left_as_it_is) {
  render::Film film = noisy(16, 0.4F, 0.3F);
  for (int y = 0; y < side; ++y) {
    for (int x = side / 2; x < side; ++x) film.at(x, y).feature_sum[5] = film.at(x, y).feature_square[5] = 16.0F;
  }
  const render::Image image = render::developed(film, 0.6F);
  const render::Image means = render::developed(film, 0.0F);
  for (int y = 0; y < side; ++y) {
    for (int x = 0; x < side; ++x) EXPECT_EQ(image.at(x, y)[1] == means.at(x, y)[1], x >= side / 2) << x << " " << y;
  }
}

TEST(Film, errors_are_those_of_neighbourhoods) {
  const std::vector<float> errors = render::shown_errors(noisy(64, 0.1F, 0.0F));
  // Spread evenly from 0 to 0.2: 0.058 a sample, an eighth of it for the mean; shown with the slope 1.75 of sRGB there.
  EXPECT_NEAR(errors[10 * side + 5], 0.058F / 8.0F * 1.75F, 2e-3F);
  EXPECT_GT(errors[10 * side + side / 2 + 1], 3e-3F) << "the dark side beside the light one";
  EXPECT_EQ(errors[10 * side + side / 2 + 5], 0.0F);
}

TEST(Random, first_numbers_of_a_family_fill_their_range_evenly) {
  for (int number = 0; number < 6; ++number) {
    std::array<int, 8> count = {};
    for (unsigned stream = 0; stream < 64; ++stream) {
      render::Random random(render::hash(9, stream), 9, stream);
      float x = 0.0F;
      for (int i = 0; i <= number; ++i) x = random.next();
      ASSERT_GE(x, 0.0F);
      ASSERT_LT(x, 1.0F);
      ++count[static_cast<std::size_t>(8.0F * x)];
    }
    for (const int n : count) EXPECT_NEAR(n, 8, 3) << "number " << number;
  }
}

}  // namespace TRESSE_TEST_FILE
