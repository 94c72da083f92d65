#pragma once

#include <array>
#include <vector>

#include "render/image.hpp"

namespace tresse::render {

/// What stands in a pixel, apart from its light: albedo, normal (a fibre's tangent), distance, share of the picture's
/// background.
using Features = Eigen::Array<float, 6, 1>;

/// One way of light through the picture.
struct FilmSample {
  Color radiance = Color::Zero();
  Features features = Features::Zero();
};

/// Samples of a pixel in two halves, which know nothing of each other.
struct FilmPixel {
  std::array<Color, 2> sum = {Color::Zero(), Color::Zero()};
  Color square = Color::Zero();  ///< sum of both
  Features feature_sum = Features::Zero();
  Features feature_square = Features::Zero();
  int count = 0;  ///< even samples belong to the first half

  void add(const FilmSample& sample);
  Color mean() const { return (sum[0] + sum[1]) / static_cast<float>(count); }
};

struct Film {
  int width = 0;
  int height = 0;
  std::vector<FilmPixel> pixels;  ///< row by row from the top

  Film(int w, int h) : width(w), height(h), pixels(static_cast<std::size_t>(w) * static_cast<std::size_t>(h)) {}
  FilmPixel& at(int x, int y) { return pixels[static_cast<std::size_t>(y) * static_cast<std::size_t>(width) + x]; }
  const FilmPixel& at(int x, int y) const {
    return pixels[static_cast<std::size_t>(y) * static_cast<std::size_t>(width) + x];
  }
};

/// Standard error of the brightness of each pixel as shown (of 1), averaged over the squares of its neighbourhood: few
/// samples of one pixel alone say little of their own error. (width * height)
std::vector<float> shown_errors(const Film& film);

/// Averages over pixels around that look the same but for noise: those whose patches of light, and whose features,
/// differ by no more than the samples' variance explains. Weights of one half of the samples are used on the other, so
/// that noise is not taken for detail. Where samples are many, nothing changes. Pixels of background alone stay as
/// they are.
/// `strength`: differences in standard deviations that are taken for noise; 0: the means, as where a pixel has fewer
/// than four samples. @cite rousselle2012
Image developed(const Film& film, float strength);

}  // namespace tresse::render
