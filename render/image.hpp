#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "render/sampling.hpp"

namespace tresse::render {

/// Linear RGB radiance, row by row from the top.
struct Image {
  int width = 0;   ///< [px]
  int height = 0;  ///< [px]
  std::vector<Color> pixels;

  Image(int w, int h) : width(w), height(h), pixels(static_cast<std::size_t>(w) * static_cast<std::size_t>(h)) {}
  Color& at(int x, int y) { return pixels[static_cast<std::size_t>(y) * static_cast<std::size_t>(width) + x]; }
  const Color& at(int x, int y) const {
    return pixels[static_cast<std::size_t>(y) * static_cast<std::size_t>(width) + x];
  }
};

/// Radiance to display values in [0, 1], sRGB-encoded: a film-like shoulder that keeps hue.
Color tone_map(const Color& radiance);

/// 8-bit sRGB samples, RGB interleaved, with a dither of one step against banding in soft gradients.
std::vector<std::uint8_t> encode(const Image& image);

/// Writes an 8-bit sRGB PNG; the file appears complete or not at all. Throws SystemFailure when it cannot be written.
void write_png(const Image& image, const std::filesystem::path& file);

}  // namespace tresse::render
