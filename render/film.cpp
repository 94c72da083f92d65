#include "render/film.hpp"

#include <algorithm>
#include <cmath>

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>
#include <tbb/partitioner.h>

namespace tresse::render {
namespace {

constexpr int reach = 6;  // of the window of pixels that are averaged

/// Numbers of one pixel, as the filter compares them. Light is compressed to [0, 1), so that rare bright samples do not
/// outweigh all else.
struct Compared {
  std::array<Color, 2> light;
  Color light_variance;  // of either half's mean
  Features features;
  Features feature_variance;
};

Color compressed(const Color& c) { return c / (1.0F + c); }

/// Of the mean of `count` samples.
template <class Values>
Values variance_of_mean(const Values& sum, const Values& square, int count) {
  if (count < 2) return Values::Constant(1.0F);
  const auto n = static_cast<float>(count);
  const Values mean = sum / n;
  return (square / n - mean * mean).max(0.0F) / (n - 1.0F);
}

int half_count(const FilmPixel& pixel, int half) { return (pixel.count + 1 - half) / 2; }

Color half_mean(const FilmPixel& pixel, int half) {
  return pixel.sum[half] / static_cast<float>(std::max(1, half_count(pixel, half)));
}

template <class F>
void for_rows(int height, const F& f) {
  tbb::parallel_for(
      tbb::blocked_range<int>(0, height, 8),
      [&](const tbb::blocked_range<int>& rows) {
        for (int y = rows.begin(); y < rows.end(); ++y) f(y);
      },
      tbb::simple_partitioner());
}

/// Mean over the pixels that are at most `radius` away in either direction.
template <class Value, class F>
Value box(const Film& film, int x, int y, int radius, const Value& zero, const F& at) {
  Value sum = zero;
  int count = 0;
  for (int j = std::max(0, y - radius); j <= std::min(film.height - 1, y + radius); ++j) {
    for (int i = std::max(0, x - radius); i <= std::min(film.width - 1, x + radius); ++i, ++count) sum += at(i, j);
  }
  return sum / static_cast<float>(count);
}

std::vector<Compared> compared(const Film& film) {
  std::vector<Color> variances(film.pixels.size());
  std::vector<Compared> out(film.pixels.size());
  const auto index = [&](int x, int y) { return static_cast<std::size_t>(y) * film.width + x; };
  for_rows(film.height, [&](int y) {
    for (int x = 0; x < film.width; ++x) {
      const FilmPixel& pixel = film.at(x, y);
      Compared& c = out[index(x, y)];
      for (int half = 0; half < 2; ++half) c.light[half] = compressed(half_mean(pixel, half));
      const Color slope = (1.0F + pixel.mean()).square().inverse();
      variances[index(x, y)] =
          2.0F * variance_of_mean<Color>(pixel.sum[0] + pixel.sum[1], pixel.square, pixel.count) * slope.square();
      c.features = pixel.feature_sum / static_cast<float>(pixel.count);
      c.feature_variance = variance_of_mean<Features>(pixel.feature_sum, pixel.feature_square, pixel.count);
    }
  });
  for_rows(film.height, [&](int y) {
    for (int x = 0; x < film.width; ++x)
      out[index(x, y)].light_variance =
          box<Color>(film, x, y, 1, Color::Zero(), [&](int i, int j) { return variances[index(i, j)]; });
  });
  return out;
}

/// Square of the difference beyond noise, in the variances that are taken for noise.
template <class Values>
Values distance(const Values& difference, const Values& variance, const Values& other, float strength, float least) {
  return (difference.square() - (variance + variance.min(other))) / (least + strength * strength * (variance + other));
}

class Filter {
 public:
  Filter(const Film& film, float strength) : film_(film), strength_(strength), compared_(compared(film)) {}

  Color pixel(int x, int y) const {
    std::array<Color, 2> sum = {Color::Zero(), Color::Zero()};
    std::array<float, 2> total = {0.0F, 0.0F};
    for (int j = std::max(0, y - reach); j <= std::min(film_.height - 1, y + reach); ++j) {
      for (int i = std::max(0, x - reach); i <= std::min(film_.width - 1, x + reach); ++i) {
        const float alike = alike_features(x, y, i, j);
        if (alike < 1e-3F) continue;
        const std::array<float, 2> patches = alike_patches(x, y, i, j);
        for (int half = 0; half < 2; ++half) {
          const float weight = std::min(alike, patches[1 - half]);
          sum[half] += weight * half_mean(film_.at(i, j), half);
          total[half] += weight;
        }
      }
    }
    // At least the pixel itself has the weight 1.
    return 0.5F * (sum[0] / total[0] + sum[1] / total[1]);
  }

 private:
  const Compared& at(int x, int y) const { return compared_[static_cast<std::size_t>(y) * film_.width + x]; }

  float alike_features(int x, int y, int i, int j) const {
    constexpr float least = 2e-3F;  // differences of features up to its root are those of smooth surfaces
    const Compared& a = at(x, y);
    const Compared& b = at(i, j);
    const Features far =
        distance<Features>(a.features - b.features, a.feature_variance, b.feature_variance, strength_, least);
    return std::exp(-std::max(0.0F, far.maxCoeff()));
  }

  /// By the light of each half.
  std::array<float, 2> alike_patches(int x, int y, int i, int j) const {
    constexpr float least = 1e-5F;
    std::array<float, 2> sum = {0.0F, 0.0F};
    int count = 0;
    for (int v = -1; v <= 1; ++v) {
      for (int u = -1; u <= 1; ++u) {
        if (std::min({x + u, y + v, i + u, j + v}) < 0 || std::max(x, i) + u >= film_.width ||
            std::max(y, j) + v >= film_.height)
          continue;
        ++count;
        const Compared& a = at(x + u, y + v);
        const Compared& b = at(i + u, j + v);
        for (int half = 0; half < 2; ++half)
          sum[half] +=
              distance<Color>(a.light[half] - b.light[half], a.light_variance, b.light_variance, strength_, least)
                  .mean();
      }
    }
    for (float& s : sum) s = std::exp(-std::max(0.0F, s / static_cast<float>(count)));
    return sum;
  }

  const Film& film_;
  float strength_;
  std::vector<Compared> compared_;
};

}  // namespace

void FilmPixel::add(const FilmSample& sample) {
  sum[count % 2] += sample.radiance;
  square += sample.radiance.square();
  feature_sum += sample.features;
  feature_square += sample.features.square();
  ++count;
}

std::vector<float> shown_errors(const Film& film) {
  std::vector<float> variances(film.pixels.size());
  for (std::size_t i = 0; i < variances.size(); ++i) {
    const FilmPixel& pixel = film.pixels[i];
    const Color mean = pixel.mean();
    const Color variance = variance_of_mean<Color>(pixel.sum[0] + pixel.sum[1], pixel.square, pixel.count);
    // The slope of the tone curve, by a step of the error itself: bright light is shown compressed.
    const Color step = variance.sqrt();
    variances[i] = std::pow(luminance(tone_map(mean + step)) - luminance(tone_map(mean)), 2.0F);
  }
  std::vector<float> out(film.pixels.size());
  for_rows(film.height, [&](int y) {
    for (int x = 0; x < film.width; ++x) {
      out[static_cast<std::size_t>(y) * film.width + x] = std::sqrt(box<float>(
          film, x, y, 2, 0.0F, [&](int i, int j) { return variances[static_cast<std::size_t>(j) * film.width + i]; }));
    }
  });
  return out;
}

Image developed(const Film& film, float strength) {
  Image out(film.width, film.height);
  constexpr int enough = 4;  // samples, for their variance to mean something
  const bool few = std::ranges::any_of(film.pixels, [](const FilmPixel& pixel) { return pixel.count < enough; });
  if (few || strength <= 0.0F) {
    for (std::size_t i = 0; i < out.pixels.size(); ++i) out.pixels[i] = film.pixels[i].mean();
    return out;
  }
  const Filter filter(film, strength);
  for_rows(film.height, [&](int y) {
    for (int x = 0; x < film.width; ++x) out.at(x, y) = filter.pixel(x, y);
  });
  return out;
}

}  // namespace tresse::render
