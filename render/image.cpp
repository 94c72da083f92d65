#include "render/image.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <png.h>

#include <tresse/base/errors.hpp>
#include <tresse/files/atomic_file.hpp>

namespace tresse::render {
namespace {

float srgb(float x) { return x <= 0.0031308F ? 12.92F * x : 1.055F * std::pow(x, 1.0F / 2.4F) - 0.055F; }

/// Identity up to `knee`, then a shoulder that reaches 1 at infinity with the same slope.
float shoulder(float x) {
  constexpr float knee = 0.55F;
  if (x <= knee) return x;
  const float t = (x - knee) / (1.0F - knee);
  return knee + (1.0F - knee) * (1.0F - std::exp(-t));
}

std::vector<std::uint8_t> to_png(const Image& image) {
  const std::vector<std::uint8_t> samples = encode(image);
  png_image header = {};
  header.version = PNG_IMAGE_VERSION;
  header.width = static_cast<png_uint_32>(image.width);
  header.height = static_cast<png_uint_32>(image.height);
  header.format = PNG_FORMAT_RGB;
  png_alloc_size_t size = PNG_IMAGE_PNG_SIZE_MAX(header);
  std::vector<std::uint8_t> bytes(size);
  if (!png_image_write_to_memory(&header, bytes.data(), &size, 0, samples.data(), 0, nullptr)) {
    throw SystemFailure(fmt::format("the picture could not be encoded: {}", static_cast<const char*>(header.message)));
  }
  bytes.resize(size);
  return bytes;
}

}  // namespace

Color tone_map(const Color& radiance) {
  const Color c = radiance.max(0.0F);
  // Half the shoulder on the brightest channel, which keeps hue, half on each, which lets highlights go white.
  const float peak = c.maxCoeff();
  const Color hue = peak > 0.0F ? Color(c * (shoulder(peak) / peak)) : c;
  const Color each = c.unaryExpr([](float x) { return shoulder(x); });
  return (0.5F * hue + 0.5F * each).unaryExpr([](float x) { return srgb(std::clamp(x, 0.0F, 1.0F)); });
}

std::vector<std::uint8_t> encode(const Image& image) {
  std::vector<std::uint8_t> out;
  out.reserve(3 * image.pixels.size());
  for (std::size_t i = 0; i < image.pixels.size(); ++i) {
    const Color display = tone_map(image.pixels[i]);
    const float dither = to_unit(hash(static_cast<std::uint32_t>(i), 0x51edU));
    for (int k = 0; k < 3; ++k) {
      out.push_back(static_cast<std::uint8_t>(std::clamp(display[k] * 255.0F + dither, 0.0F, 255.0F)));
    }
  }
  return out;
}

void write_png(const Image& image, const std::filesystem::path& file) {
  const std::vector<std::uint8_t> bytes = to_png(image);
  files::write_atomically(file, {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

}  // namespace tresse::render
