#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

#include <tresse/base/errors.hpp>
#include <tresse/files/regular_file.hpp>

#include "render/environment.hpp"

// Radiance's pictures: G. Ward, Real pixels, Graphics Gems II, 1991. Read here because Debian 12's stb_image does not
// end on one that is cut short.
namespace tresse::render {
namespace {

constexpr int most_pixels = 32768;  // a side

using Rgbe = std::array<std::uint8_t, 4>;

class HdrReader {
 public:
  explicit HdrReader(const std::filesystem::path& file) : name_(file.string()) {
    files::require_regular_file(file, "a picture (.hdr)");
    in_.open(file, std::ios::binary);
    std::error_code error;
    size_ = std::filesystem::file_size(file, error);
    if (!in_ || error) throw SystemFailure(fmt::format("{}: cannot be opened", name_));
  }

  Image read() {
    read_header();
    std::vector<Rgbe> row(static_cast<std::size_t>(width_));
    Image image(width_, height_);
    for (int y = 0; y < height_; ++y) {
      read_row(row);
      for (int x = 0; x < width_; ++x) {
        const Rgbe& p = row[static_cast<std::size_t>(x)];
        const float scale = p[3] == 0 ? 0.0F : std::ldexp(1.0F, p[3] - 136);
        image.at(x, y) = scale * Color(p[0], p[1], p[2]);
      }
    }
    return image;
  }

 private:
  [[noreturn]] void fail(const std::string& what) const { throw InvalidInput(name_ + ": " + what); }

  std::string line() {
    constexpr std::size_t longest = 4096;
    std::string out;
    for (char c = 0; in_.get(c) && c != '\n';) {
      out.push_back(c);
      if (out.size() > longest) fail("is no Radiance picture: a line of its header does not end");
    }
    if (!in_) fail("is cut short in its header; expected a Radiance picture, .hdr");
    return out;
  }

  void read_header() {
    const std::string first = line();
    if (!first.starts_with("#?")) fail("does not begin with \"#?\"; expected a Radiance picture, .hdr");
    bool known = false;
    for (std::string text = line(); !text.empty(); text = line()) known |= text == "FORMAT=32-bit_rle_rgbe";
    if (!known) fail("has no line \"FORMAT=32-bit_rle_rgbe\"; expected colours in RGBE");
    const std::string size = line();
    char rest = 0;
    // NOLINTNEXTLINE(cert-err34-c): the count of numbers is checked, and then their range
    if (std::sscanf(size.c_str(), "-Y %d +X %d%c", &height_, &width_, &rest) != 2)
      fail(fmt::format("has the size \"{}\"; expected \"-Y HEIGHT +X WIDTH\"", size.substr(0, 40)));
    if (width_ < 1 || height_ < 1 || width_ > most_pixels || height_ > most_pixels)
      fail(fmt::format("is {} by {} pixels; expected 1 to {} a side", width_, height_, most_pixels));
    // Before any memory is asked for: a row takes at least two bytes for 127 pixels of a channel, or all it holds.
    const auto width = static_cast<std::uintmax_t>(width_);
    const std::uintmax_t row = std::min(4 * width, 4 + 8 * ((width + 126) / 127));
    if (size_ < row * static_cast<std::uintmax_t>(height_)) fail("is cut short");
  }

  std::uint8_t byte() {
    char c = 0;
    if (!in_.get(c)) fail("is cut short");
    return static_cast<std::uint8_t>(c);
  }

  void read_row(std::vector<Rgbe>& row) {
    Rgbe first;
    for (std::uint8_t& b : first) b = byte();
    constexpr int least = 8;
    constexpr int most = 32767;
    const bool runs = width_ >= least && width_ <= most && first[0] == 2 && first[1] == 2 && first[2] < 128;
    if (!runs) {
      row[0] = first;
      for (std::size_t x = 1; x < row.size(); ++x) {
        for (std::uint8_t& b : row[x]) b = byte();
      }
      return;
    }
    if (256 * first[2] + first[3] != width_) fail("has a row of another width");
    for (std::size_t channel = 0; channel < 4; ++channel) {
      for (std::size_t x = 0; x < row.size();) {
        const std::uint8_t count = byte();
        const bool same = count > 128;
        const std::size_t length = same ? count - 128U : count;
        if (length == 0 || x + length > row.size()) fail("has a run that leaves its row");
        std::uint8_t value = same ? byte() : std::uint8_t{0};
        for (std::size_t i = 0; i < length; ++i, ++x) {
          if (!same) value = byte();
          row[x][channel] = value;
        }
      }
    }
  }

  std::string name_;
  std::ifstream in_;
  std::uintmax_t size_ = 0;  // [B]
  int width_ = 0;
  int height_ = 0;
};

}  // namespace

Image read_hdr(const std::filesystem::path& file) { return HdrReader(file).read(); }

}  // namespace tresse::render
