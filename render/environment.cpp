#include "render/environment.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include <tresse/base/errors.hpp>

namespace tresse::render {
namespace {

/// Shares up to each of `weights`, all above zero, from 0 to 1. Returns their sum.
float accumulate(const std::vector<float>& weights, float* shares) {
  double sum = 0.0;
  for (const float weight : weights) sum += weight;
  double so_far = 0.0;
  shares[0] = 0.0F;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    so_far += weights[i] / sum;
    shares[i + 1] = static_cast<float>(so_far);
  }
  shares[weights.size()] = 1.0F;
  return static_cast<float>(sum);
}

/// The piece of [0, 1) that `u` falls on, and how far along it.
int pick(const float* shares, int count, float u, float& along) {
  const float* above = std::upper_bound(shares + 1, shares + count, u);
  const int i = static_cast<int>(above - shares) - 1;
  const float share = shares[i + 1] - shares[i];
  along = share > 0.0F ? std::clamp((u - shares[i]) / share, 0.0F, 1.0F) : 0.5F;
  return i;
}

}  // namespace

Environment::Environment(Image image, float brightness, float turn) : image_(std::move(image)), turn_(turn) {
  const auto width = static_cast<std::size_t>(image_.width);
  const auto height = static_cast<std::size_t>(image_.height);
  for (const Color& c : image_.pixels)
    require(c.allFinite() && c.minCoeff() >= 0.0F, "environment: holds light that is negative or not finite");
  std::vector<float> areas(height);  // of a pixel of the row, [sr]
  for (std::size_t y = 0; y < height; ++y) {
    const auto edge = [&](std::size_t row) {
      return std::cos(pi * static_cast<float>(row) / static_cast<float>(height));
    };
    areas[y] = (edge(y) - edge(y + 1)) * 2.0F * pi / static_cast<float>(width);
  }
  double total = 0.0;
  for (std::size_t i = 0; i < image_.pixels.size(); ++i) total += areas[i / width] * luminance(image_.pixels[i]);
  const double mean = total / (4.0 * pi);
  require(mean > 0.0 && std::isfinite(mean), "environment: is all black; expected light");
  for (Color& c : image_.pixels) c *= static_cast<float>(brightness / mean);

  // Light is blended between pixels: what a pixel has in all is a mean of its neighbours. A little more, where it is
  // least even.
  const float least = 0.05F * brightness;
  const auto blended = [&](int x, int y) {
    constexpr std::array<float, 3> share{0.125F, 0.75F, 0.125F};
    float sum = 0.0F;
    for (int i = -1; i <= 1; ++i) {
      for (int j = -1; j <= 1; ++j) {
        const Color& c = image_.at((x + j + image_.width) % image_.width, std::clamp(y + i, 0, image_.height - 1));
        sum += share[static_cast<std::size_t>(i + 1)] * share[static_cast<std::size_t>(j + 1)] * luminance(c);
      }
    }
    return sum;
  };
  columns_.resize(height * (width + 1));
  rows_.resize(height + 1);
  std::vector<float> row(height);
  std::vector<float> weights(width);
  for (std::size_t y = 0; y < height; ++y) {
    for (std::size_t x = 0; x < width; ++x)
      weights[x] = areas[y] * (blended(static_cast<int>(x), static_cast<int>(y)) + least);
    row[y] = accumulate(weights, columns_.data() + y * (width + 1));
  }
  accumulate(row, rows_.data());
}

/// In [0, 1): from the left, from the top.
Eigen::Vector2f Environment::place(const Vec3& direction) const {
  const float azimuth = std::atan2(direction.y(), direction.x()) - turn_;
  const float down = std::acos(std::clamp(direction.z(), -1.0F, 1.0F)) / pi;
  return {fraction(0.5F - azimuth / (2.0F * pi)), std::min(down, 0x1.fffffep-1F)};
}

Color Environment::radiance(const Vec3& direction) const {
  const Eigen::Vector2f at = place(direction);
  const float x = at[0] * static_cast<float>(image_.width) - 0.5F;
  const float y =
      std::clamp(at[1] * static_cast<float>(image_.height) - 0.5F, 0.0F, static_cast<float>(image_.height - 1));
  const int left = static_cast<int>(std::floor(x));
  const int top = std::min(static_cast<int>(y), image_.height - 1);
  const int bottom = std::min(top + 1, image_.height - 1);
  const auto pixel = [&](int column, int row) -> const Color& {
    return image_.at((column + image_.width) % image_.width, row);
  };
  const float across = x - static_cast<float>(left);
  const float down = y - static_cast<float>(top);
  return (1.0F - down) * ((1.0F - across) * pixel(left, top) + across * pixel(left + 1, top)) +
         down * ((1.0F - across) * pixel(left, bottom) + across * pixel(left + 1, bottom));
}

float Environment::density(const Vec3& direction) const {
  const Eigen::Vector2f at = place(direction);
  const int x = std::min(static_cast<int>(at[0] * static_cast<float>(image_.width)), image_.width - 1);
  const int y = std::min(static_cast<int>(at[1] * static_cast<float>(image_.height)), image_.height - 1);
  const float* columns = columns_.data() + static_cast<std::ptrdiff_t>(y) * (image_.width + 1);
  const float share = (rows_[y + 1] - rows_[y]) * (columns[x + 1] - columns[x]);
  const float sine = std::sqrt(std::max(1e-12F, 1.0F - direction.z() * direction.z()));
  // Even in both coordinates of the picture within a pixel.
  return share * static_cast<float>(image_.width) * static_cast<float>(image_.height) / (2.0F * pi * pi * sine);
}

Vec3 Environment::sample(const Eigen::Vector2f& u) const {
  float down = 0.0F;
  float across = 0.0F;
  const int y = pick(rows_.data(), image_.height, u[1], down);
  const int x = pick(columns_.data() + static_cast<std::ptrdiff_t>(y) * (image_.width + 1), image_.width, u[0], across);
  const float polar = pi * (static_cast<float>(y) + down) / static_cast<float>(image_.height);
  const float azimuth =
      2.0F * pi * (0.5F - (static_cast<float>(x) + across) / static_cast<float>(image_.width)) + turn_;
  return {std::sin(polar) * std::cos(azimuth), std::sin(polar) * std::sin(azimuth), std::cos(polar)};
}

}  // namespace tresse::render
