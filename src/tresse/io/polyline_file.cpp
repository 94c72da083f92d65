#include <tresse/io/polyline_file.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <map>
#include <optional>
#include <utility>

#include <tresse/base/errors.hpp>
#include <tresse/io/atomic_file.hpp>
#include <tresse/io/csv.hpp>
#include <tresse/io/detail/lines.hpp>
#include <tresse/io/detail/polyline_readers.hpp>
#include <tresse/io/detail/text.hpp>

namespace tresse::io {
namespace detail {
namespace {

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

static_assert(std::endian::native == std::endian::little, ".hair files are little-endian");

}  // namespace

double read_number(std::string_view word, const std::string& name, std::size_t line) {
  const std::optional<double> out = real_in(word);
  if (!out) fail(name, line, fmt::format("{}; expected a number", in_quotes(word, 40)));
  return *out;
}

Polylines read_hair(std::string_view bytes, const std::string& name) {
  constexpr std::size_t header_size = 128;
  constexpr std::uint32_t has_segments = 1, has_points = 2, has_thickness = 4;
  if (!bytes.starts_with("HAIR"))
    throw InvalidInput(fmt::format("{}: does not start with \"HAIR\"; expected a .hair file", name));
  if (bytes.size() < header_size)
    throw InvalidInput(fmt::format("{}: ends after {} bytes, within its header; expected at least {}", name,
                                   bytes.size(), header_size));
  std::array<std::uint32_t, 4> counts{};  // strands, points, flags, segments a strand by default
  std::memcpy(counts.data(), bytes.data() + 4, sizeof counts);
  const auto [strands, points, flags, usual_segments] = counts;
  if ((flags & has_points) == 0) throw InvalidInput(fmt::format("{}: has no points; expected some", name));
  HairBytes data{bytes.substr(header_size), name, bytes.size()};
  std::vector<std::uint16_t> segments;
  if ((flags & has_segments) != 0) segments = data.take<std::uint16_t>(strands, "numbers of segments");
  std::uint64_t total = strands;
  if (segments.empty()) total += std::uint64_t{strands} * usual_segments;
  for (const std::uint16_t count : segments) total += count;
  if (total != points)
    throw InvalidInput(
        fmt::format("{}: its {} strands have {} points by their segments, its header says {}; expected "
                    "the same",
                    name, strands, total, points));
  const std::vector<float> places = data.take<float>(std::uint64_t{3} * points, "points");
  std::vector<float> thickness;
  if ((flags & has_thickness) != 0) thickness = data.take<float>(points, "thickness");
  Polylines out;
  std::size_t p = 0;
  for (std::uint32_t i = 0; i < strands; ++i) {
    const std::size_t count = (segments.empty() ? usual_segments : segments[i]) + std::size_t{1};
    std::vector<Vector3>& row = out.rows.emplace_back();
    if (!thickness.empty()) out.radii.emplace_back();
    for (std::size_t k = 0; k < count; ++k, ++p) {
      row.emplace_back(places[3 * p], places[3 * p + 1], places[3 * p + 2]);
      if (!thickness.empty()) out.radii.back().push_back(0.5 * thickness[p]);
    }
  }
  return out;
}

Polylines read_obj_lines(std::string_view text, const std::string& name) {
  std::vector<Vector3> vertices;
  Polylines out;
  std::size_t last = 0;  // vertex that the row under way ends at, from 1; 0: none
  for (Lines lines(text); lines.next();) {
    const std::vector<std::string_view>& words = lines.words();
    if (words.empty()) continue;
    if (words[0] == "o" || words[0] == "g") last = 0;
    if (words[0] == "v") {
      if (words.size() < 4) fail(name, lines.number(), "a vertex of fewer than three numbers; expected x, y and z");
      Vector3& x = vertices.emplace_back();
      for (std::size_t k = 0; k < 3; ++k) x[static_cast<int>(k)] = read_number(words[k + 1], name, lines.number());
    }
    if (words[0] != "l") continue;
    for (std::size_t k = 1; k < words.size(); ++k) {
      const std::size_t vertex = obj_vertex(words[k], vertices.size(), name, lines.number());
      if (k == 1 && vertex + 1 == last && words.size() == 3) continue;  // the row goes on
      if (k == 1) out.rows.emplace_back();
      out.rows.back().push_back(vertices[vertex]);
      last = vertex + 1;
    }
  }
  return out;
}

namespace {

/// Which column holds what.
struct CsvColumns {
  std::array<std::size_t, 3> place{};
  std::optional<std::size_t> fibre, frame, radius;
  std::size_t count = 0;
};

CsvColumns read_csv_header(std::string_view line, const std::string& name) {
  CsvColumns out;
  std::map<std::string, std::size_t, std::less<>> found;
  for (const std::string& field : row_fields(line)) found.emplace(trimmed(field), out.count++);
  const auto column = [&](std::string_view key) {
    const auto at = found.find(key);
    return at == found.end() ? std::nullopt : std::optional(at->second);
  };
  for (std::size_t k = 0; k < 3; ++k) {
    const std::string key(1, "xyz"[k]);
    if (!column(key)) fail(name, 1, fmt::format("has no column {}; expected a header with x, y and z", key));
    out.place[k] = *column(key);
  }
  out.fibre = column("fibre") ? column("fibre") : column("strand");
  out.frame = column("frame");
  out.radius = column("radius");
  return out;
}

}  // namespace

Polylines read_csv_lines(std::string_view text, const std::string& name, int frame) {
  CsvColumns columns;
  std::vector<Polylines> frames;
  std::string current_frame, current_fibre;
  for (Lines lines(text); lines.next();) {
    const std::size_t number = lines.number();
    if (number == 1) {
      columns = read_csv_header(lines.line(), name);
      continue;
    }
    if (trimmed(lines.line()).empty()) continue;
    const std::vector<std::string> cells = row_fields(lines.line());
    if (cells.size() != columns.count)
      fail(name, number, fmt::format("{} values; expected {}, as many as the header has", cells.size(), columns.count));
    const std::string frame_here = columns.frame ? cells[*columns.frame] : "";
    const std::string fibre_here = columns.fibre ? cells[*columns.fibre] : "";
    const bool new_frame = frames.empty() || frame_here != current_frame;
    if (new_frame) frames.emplace_back();
    Polylines& into = frames.back();
    if (new_frame || fibre_here != current_fibre) {
      into.rows.emplace_back();
      if (columns.radius) into.radii.emplace_back();
    }
    current_frame = frame_here;
    current_fibre = fibre_here;
    Vector3 x;
    for (std::size_t k = 0; k < 3; ++k)
      x[static_cast<int>(k)] = read_number(trimmed(cells[columns.place[k]]), name, number);
    into.rows.back().push_back(x);
    if (columns.radius) into.radii.back().push_back(read_number(trimmed(cells[*columns.radius]), name, number));
  }
  if (columns.count == 0) fail(name, 1, "is empty; expected a header with x, y and z");
  const auto count = static_cast<int>(frames.size());
  const int index = frame < 0 ? count + frame : frame;
  if (index < 0 || index >= count) throw InvalidInput(fmt::format("{}: no frame {}: it holds {}", name, frame, count));
  return std::move(frames[static_cast<std::size_t>(index)]);
}

}  // namespace detail

namespace {

void check(const Polylines& lines, const std::string& name) {
  require(!lines.rows.empty(), [&] { return fmt::format("{}: holds no polyline; expected at least one", name); });
  for (std::size_t i = 0; i < lines.rows.size(); ++i) {
    const std::vector<Vector3>& row = lines.rows[i];
    const auto refuse = [&](const std::string& what) {
      throw InvalidInput(fmt::format("{}: strand {} {}", name, i, what));
    };
    if (row.size() < 2) refuse(fmt::format("has {} points; expected at least two", row.size()));
    for (std::size_t p = 0; p < row.size(); ++p) {
      if (!row[p].allFinite() || row[p].cwiseAbs().maxCoeff() > 1e9)
        refuse(fmt::format("has a point {} that is not finite or beyond 1e9; expected finite coordinates", p));
      if (p > 0 && row[p] == row[p - 1])
        refuse(fmt::format("has points {} and {} that coincide; expected them apart", p - 1, p));
    }
  }
  for (std::size_t i = 0; i < lines.radii.size(); ++i) {
    for (const double radius : lines.radii[i]) {
      if (!(radius > 0.0 && radius < 1e9))
        throw InvalidInput(fmt::format("{}: strand {} has radius {}; expected more than 0", name, i, radius));
    }
  }
}

}  // namespace

Polylines parse_polylines(std::string_view bytes, const std::filesystem::path& file, int frame) {
  const std::string name = file.string(), end = file.extension().string();
  if (frame != 0 && frame != -1 && (end == ".hair" || end == ".obj"))
    throw InvalidInput(fmt::format("{}: no frame {}: such a file holds one", name, frame));
  Polylines out;
  if (end == ".hair") out = detail::read_hair(bytes, name);
  if (end == ".obj") out = detail::read_obj_lines(bytes, name);
  if (end == ".csv") out = detail::read_csv_lines(bytes, name, frame);
  if (end == ".usda") out = detail::read_usda_curves(bytes, name, frame);
  check(out, name);
  return out;
}

Polylines read_polylines(const std::filesystem::path& file, int frame) {
  const std::string end = file.extension().string();
  if (end != ".hair" && end != ".obj" && end != ".csv" && end != ".usda")
    throw InvalidInput(fmt::format("{}: expected a name that ends in .hair, .obj, .csv or .usda", file.string()));
  return parse_polylines(read_file(file, "a file of polylines"), file, frame);
}

}  // namespace tresse::io
