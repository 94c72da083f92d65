#include "view/page_bytes.hpp"

#include <zlib.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <vector>

namespace tresse::app::view {
namespace {

constexpr std::size_t header_bytes = 32;
constexpr std::size_t count_at = 16;          // number of points
constexpr std::size_t spacing_at = 28;        // the header's last number, zero in an answer of the server
constexpr double largest_multiple = 1 << 28;  // its second differences fit into an int32

template <class T>
T number_at(const std::string& bytes, std::size_t at) {
  T out;
  std::memcpy(&out, bytes.data() + at, sizeof(T));
  return out;
}

template <class T>
void set_number(std::string& bytes, std::size_t at, T value) {
  std::memcpy(bytes.data() + at, &value, sizeof(T));
}

}  // namespace

std::string with_packed_points(std::string frame, double spacing) {
  const std::size_t points = number_at<std::uint32_t>(frame, count_at);
  const double step = static_cast<float>(spacing);
  std::vector<std::int32_t> multiples(3 * points);
  for (std::size_t i = 0; i < multiples.size(); ++i) {
    const double multiple = std::round(number_at<float>(frame, header_bytes + 4 * i) / step);
    if (!(std::abs(multiple) < largest_multiple)) return frame;
    multiples[i] = static_cast<std::int32_t>(multiple);
  }
  std::size_t at = header_bytes;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    std::int32_t before = 0, slope = 0;
    for (std::size_t i = 0; i < points; ++i, at += 4) {
      const std::int32_t change = multiples[3 * i + axis] - before;
      set_number(frame, at, change - slope);
      before = multiples[3 * i + axis];
      slope = change;
    }
  }
  set_number(frame, spacing_at, static_cast<float>(spacing));
  return frame;
}

std::string rounded_floats(std::string numbers) {
  constexpr std::uint32_t dropped = 11;  // of the 23 binary digits
  for (std::size_t at = 0; at + 4 <= numbers.size(); at += 4) {
    if (!std::isfinite(number_at<float>(numbers, at))) continue;
    const auto bits = number_at<std::uint32_t>(numbers, at) + (1U << (dropped - 1));
    set_number(numbers, at, bits & ~((1U << dropped) - 1));
  }
  return numbers;
}

std::string shuffled(std::string_view numbers) {
  std::string out(numbers.size(), '\0');
  const std::size_t count = numbers.size() / 4;
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t byte = 0; byte < 4; ++byte) out[byte * count + i] = numbers[4 * i + byte];
  }
  return out;
}

std::string zipped(std::string_view bytes) {
  z_stream stream{};
  constexpr int gzip_window = 15 + 16;
  if (deflateInit2(&stream, Z_BEST_COMPRESSION, Z_DEFLATED, gzip_window, 8, Z_DEFAULT_STRATEGY) != Z_OK) {
    throw std::bad_alloc();
  }
  std::string out(deflateBound(&stream, bytes.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  const int status = deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  if (status != Z_STREAM_END) throw std::runtime_error("zlib cannot pack");
  return out;
}

std::string base64(std::string_view bytes) {
  constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t bits = 0;
    for (std::size_t k = 0; k < 3; ++k) {
      bits = bits << 8U | (i + k < bytes.size() ? static_cast<unsigned char>(bytes[i + k]) : 0U);
    }
    for (std::size_t k = 0; k < 4; ++k) {
      out += i + k > bytes.size() ? '=' : digits[bits >> (18U - 6U * k) & 63U];
    }
  }
  return out;
}

}  // namespace tresse::app::view
