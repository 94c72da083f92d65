#include <fmt/format.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include <tresse/base/errors.hpp>
#include <tresse/importers/detail/polyline_readers.hpp>

/// Cem Yuksel's .hair: a header of 128 bytes, then the arrays that its flags name. A default in the header stands for
/// an array that is not there.
namespace tresse::importers::detail {
namespace {

static_assert(std::endian::native == std::endian::little, ".hair files are little-endian");

constexpr std::size_t header_size = 128;
constexpr std::uint32_t has_segments = 1, has_points = 2, has_thickness = 4, has_transparency = 8, has_colour = 16;

struct HairHeader {
  std::uint32_t strands = 0, points = 0, flags = 0, segments = 0;  ///< the last of a strand, by default
  float thickness = 0.0F;                                          ///< by default: a diameter
};

/// The bytes of a .hair file, read in order.
struct HairBytes {
  std::string_view left;
  const std::string& name;
  std::size_t size = left.size();

  template <class T>
  std::vector<T> take(std::uint64_t count, const char* what) {
    const std::uint64_t bytes = count * sizeof(T);
    if (bytes > left.size()) {
      throw InvalidInput(fmt::format("{}: ends after {} bytes, within its {}; expected at least {}", name, size, what,
                                     size - left.size() + bytes));
    }
    std::vector<T> out(count);
    if (count > 0) std::memcpy(out.data(), left.data(), bytes);
    left.remove_prefix(bytes);
    return out;
  }
};

HairHeader read_hair_header(std::string_view bytes, const std::string& name) {
  if (!bytes.starts_with("HAIR"))
    throw InvalidInput(fmt::format("{}: does not start with \"HAIR\"; expected a .hair file", name));
  if (bytes.size() < header_size)
    throw InvalidInput(fmt::format("{}: ends after {} bytes, within its header; expected at least {}", name,
                                   bytes.size(), header_size));
  HairHeader out;
  static_assert(sizeof out == 20);
  std::memcpy(&out, bytes.data() + 4, sizeof out);
  if ((out.flags & has_points) == 0) throw InvalidInput(fmt::format("{}: has no points; expected some", name));
  return out;
}

void tell_ignored(const HairHeader& header, const HairBytes& data, std::vector<std::string>& remarks) {
  std::uint64_t known = 0;
  std::string what;
  if ((header.flags & has_transparency) != 0) {
    known += sizeof(float) * std::uint64_t{header.points};
    what = "its transparency";
  }
  if ((header.flags & has_colour) != 0) {
    known += 3 * sizeof(float) * std::uint64_t{header.points};
    what += what.empty() ? "its colours" : " and its colours";
  }
  if (!what.empty()) remarks.push_back(fmt::format("{} {} not read", what, what == "its transparency" ? "is" : "are"));
  if (data.left.size() > known)
    remarks.push_back(fmt::format("{} bytes beyond what its header names are not read", data.left.size() - known));
}

}  // namespace

RawPolylines read_hair(std::string_view bytes, const std::string& name) {
  const HairHeader header = read_hair_header(bytes, name);
  HairBytes data{bytes.substr(header_size), name, bytes.size()};
  std::vector<std::uint16_t> segments;
  const bool each = (header.flags & has_segments) != 0;
  if (each) segments = data.take<std::uint16_t>(header.strands, "numbers of segments");
  std::uint64_t total = header.strands;
  if (!each) total += std::uint64_t{header.strands} * header.segments;
  for (const std::uint16_t count : segments) total += count;
  if (total != header.points)
    throw InvalidInput(
        fmt::format("{}: its {} strands have {} points by their segments, its header says {}; expected "
                    "the same",
                    name, header.strands, total, header.points));
  const std::vector<float> places = data.take<float>(std::uint64_t{3} * header.points, "points");
  std::vector<float> thickness;
  if ((header.flags & has_thickness) != 0) {
    thickness = data.take<float>(header.points, "thickness");
  } else if (header.thickness > 0.0F && std::isfinite(header.thickness)) {
    thickness.assign(header.points, header.thickness);
  }
  RawPolylines out;
  if (thickness.empty()) {
    out.lines.why_no_radii =
        fmt::format("the file has no thickness of its points, and its header says {} for all", header.thickness);
  }
  std::size_t p = 0;
  for (std::uint32_t i = 0; i < header.strands; ++i) {
    const std::size_t count = (each ? segments[i] : header.segments) + std::size_t{1};
    std::vector<Vector3>& row = out.lines.rows.emplace_back();
    if (!thickness.empty()) out.lines.radii.emplace_back();
    for (std::size_t k = 0; k < count; ++k, ++p) {
      row.emplace_back(places[3 * p], places[3 * p + 1], places[3 * p + 2]);
      if (!thickness.empty()) out.lines.radii.back().push_back(0.5 * thickness[p]);
    }
  }
  tell_ignored(header, data, out.lines.remarks);
  return out;
}

}  // namespace tresse::importers::detail
