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
  bool is_near_something = true;  // some way through the pixel or one beside it has met something
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

/// Of rows `first` up to `last`, some at a time.
template <class F>
void for_bands(int height, const F& f) {
  tbb::parallel_for(
      tbb::blocked_range<int>(0, height, 8), [&](const tbb::blocked_range<int>& rows) { f(rows.begin(), rows.end()); },
      tbb::simple_partitioner());
}

template <class F>
void for_rows(int height, const F& f) {
  for_bands(height, [&](int first, int last) {
    for (int y = first; y < last; ++y) f(y);
  });
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

/// Every way through it has met nothing: it shows the background, which has no noise.
bool is_background(const FilmPixel& pixel) { return pixel.feature_sum[5] == static_cast<float>(pixel.count); }

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
    for (int x = 0; x < film.width; ++x) {
      Compared& c = out[index(x, y)];
      c.light_variance = box<Color>(film, x, y, 1, Color::Zero(), [&](int i, int j) { return variances[index(i, j)]; });
      c.is_near_something = box<float>(film, x, y, 1, 0.0F,
                                       [&](int i, int j) { return is_background(film.at(i, j)) ? 0.0F : 1.0F; }) > 0.0F;
    }
  });
  return out;
}

/// Weight of a square of a difference beyond noise.
float weight(float beyond) { return beyond > 0.0F ? std::exp(-beyond) : 1.0F; }

/// Square of the difference beyond noise, in the variances that are taken for noise.
template <class Values>
Values distance(const Values& difference, const Values& variance, const Values& other, float strength, float least) {
  return (difference.square() - (variance + variance.min(other))) / (least + strength * strength * (variance + other));
}

/// The filter for some rows. One way to a neighbour at a time for all pixels, so that a difference of two pixels serves
/// all patches that it is in.
class Filter {
 public:
  Filter(const Film& film, const std::vector<Compared>& all, float strength, int first, int last)
      : film_(film),
        compared_(all),
        strength_(strength),
        first_(first),
        last_(last),
        far_(static_cast<std::size_t>(last - first + 2) * film.width),
        averages_(static_cast<std::size_t>(last - first) * film.width) {}

  void into(Image& out) {
    for (int j = -reach; j <= reach; ++j) {
      for (int i = -reach; i <= reach; ++i) add(i, j);
    }
    for (int y = first_; y < last_; ++y) {
      for (int x = 0; x < film_.width; ++x) {
        if (is_background(film_.at(x, y))) {
          out.at(x, y) = film_.at(x, y).mean();
          continue;
        }
        // At least the pixel itself has the weight 1.
        const Average& a = averages_[static_cast<std::size_t>(y - first_) * film_.width + x];
        out.at(x, y) = 0.5F * (a.sum[0] / a.total[0] + a.sum[1] / a.total[1]);
      }
    }
  }

 private:
  using Halves = std::array<float, 2>;
  struct Average {
    std::array<Color, 2> sum = {Color::Zero(), Color::Zero()};
    Halves total = {0.0F, 0.0F};
  };

  const Compared& at(int x, int y) const { return compared_[static_cast<std::size_t>(y) * film_.width + x]; }

  /// How far light is from that at a neighbour, for pixels of which that neighbour is in the picture.
  Halves& far(int x, int y) { return far_[static_cast<std::size_t>(y - first_ + 1) * film_.width + x]; }

  /// The pixels that are `i`, `j` away.
  void add(int i, int j) {
    // Pixels whose neighbour is in the picture.
    const int left = std::max(0, -i);
    const int right = std::min(film_.width, film_.width - i);
    const int top = std::max(0, -j);
    const int bottom = std::min(film_.height, film_.height - j);
    for (int y = std::max(top, first_ - 1); y < std::min(bottom, last_ + 1); ++y) {
      for (int x = left; x < right; ++x) {
        if (at(x, y).is_near_something) far(x, y) = light_distance(at(x, y), at(x + i, y + j));
      }
    }
    for (int y = std::max(top, first_); y < std::min(bottom, last_); ++y) {
      for (int x = left; x < right; ++x) {
        if (is_background(film_.at(x, y))) continue;
        const float alike = alike_features(at(x, y), at(x + i, y + j));
        if (alike < 1e-3F) continue;
        Halves sum = {0.0F, 0.0F};
        int count = 0;
        for (int v = std::max(top, y - 1); v < std::min(bottom, y + 2); ++v) {
          for (int u = std::max(left, x - 1); u < std::min(right, x + 2); ++u, ++count) {
            for (int half = 0; half < 2; ++half) sum[half] += far(u, v)[half];
          }
        }
        Average& average = averages_[static_cast<std::size_t>(y - first_) * film_.width + x];
        for (int half = 0; half < 2; ++half) {
          const float w = std::min(alike, weight(sum[1 - half] / static_cast<float>(count)));
          average.sum[half] += w * half_mean(film_.at(x + i, y + j), half);
          average.total[half] += w;
        }
      }
    }
  }

  float alike_features(const Compared& a, const Compared& b) const {
    constexpr float least = 2e-3F;  // differences of features up to its root are those of smooth surfaces
    const Features far =
        distance<Features>(a.features - b.features, a.feature_variance, b.feature_variance, strength_, least);
    return weight(far.maxCoeff());
  }

  Halves light_distance(const Compared& a, const Compared& b) const {
    constexpr float least = 1e-5F;
    Halves out = {};
    for (int half = 0; half < 2; ++half)
      out[half] =
          distance<Color>(a.light[half] - b.light[half], a.light_variance, b.light_variance, strength_, least).mean();
    return out;
  }

  const Film& film_;
  const std::vector<Compared>& compared_;
  float strength_;
  int first_;
  int last_;
  std::vector<Halves> far_;
  std::vector<Average> averages_;
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
  const std::vector<Compared> all = compared(film);
  for_bands(film.height, [&](int first, int last) { Filter(film, all, strength, first, last).into(out); });
  return out;
}

}  // namespace tresse::render
