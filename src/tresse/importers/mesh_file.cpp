#include <tresse/importers/mesh_file.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <sstream>
#include <utility>

#include <fmt/format.h>

#include <tresse/base/errors.hpp>
#include <tresse/files/atomic_file.hpp>
#include <tresse/files/lines.hpp>
#include <tresse/files/text.hpp>
#include <tresse/importers/detail/obj_statements.hpp>

namespace tresse::importers {
namespace {

constexpr long long most_elements = 100'000'000;  // vertices, or faces

using files::fail;

/// A polygon as a fan about its first corner.
void add_fan(const std::vector<int>& corners, std::vector<geometry::Face>& faces) {
  for (std::size_t k = 2; k < corners.size(); ++k) faces.push_back({corners[0], corners[k - 1], corners[k]});
}

void check(const MeshData& mesh, const std::string& name) {
  if (mesh.faces.empty()) fail(name, "has no faces; expected a surface of triangles");
  for (std::size_t i = 0; i < mesh.vertices.size(); ++i) {
    if (!mesh.vertices[i].allFinite()) fail(name, fmt::format("vertex {} is not finite", i));
  }
  const auto count = static_cast<int>(mesh.vertices.size());
  for (std::size_t f = 0; f < mesh.faces.size(); ++f) {
    for (const int v : mesh.faces[f]) {
      if (v < 0 || v >= count)
        fail(name, fmt::format("face {} names vertex {}; expected one of the {} there are", f, v, count));
    }
  }
}

// PLY ---------------------------------------------------------------------------------------------------------------

enum class PlyFormat { ascii, little, big };

struct PlyProperty {
  std::string name;
  std::size_t size = 0;        ///< of a number [bytes]
  char kind = 'f';             ///< 'f' a real, 'i' signed, 'u' unsigned
  std::size_t count_size = 0;  ///< of the count before a list; 0: no list
  char count_kind = 'u';
};

struct PlyElement {
  std::string name;
  std::size_t count = 0;
  std::vector<PlyProperty> properties;
};

struct PlyHeader {
  PlyFormat format = PlyFormat::ascii;
  std::vector<PlyElement> elements;
  std::size_t end = 0;   ///< where the data begin [bytes]
  std::size_t line = 0;  ///< of `end_header`
};

/// Size and kind of a type's numbers.
std::pair<std::size_t, char> ply_type(std::string_view type, const std::string& name, std::size_t line) {
  struct Type {
    std::string_view word, other;
    std::size_t size;
    char kind;
  };
  constexpr std::array<Type, 8> types{{{"char", "int8", 1, 'i'},
                                       {"uchar", "uint8", 1, 'u'},
                                       {"short", "int16", 2, 'i'},
                                       {"ushort", "uint16", 2, 'u'},
                                       {"int", "int32", 4, 'i'},
                                       {"uint", "uint32", 4, 'u'},
                                       {"float", "float32", 4, 'f'},
                                       {"double", "float64", 8, 'f'}}};
  for (const Type& known : types) {
    if (type == known.word || type == known.other) return {known.size, known.kind};
  }
  fail(name, line, fmt::format("unknown type '{}' in the header", one_line(std::string(type), 40)));
}

PlyHeader read_ply_header(std::string_view bytes, const std::string& name) {
  PlyHeader out;
  files::Lines lines(bytes);
  bool formatted = false;
  if (!lines.next() || lines.words() != std::vector<std::string_view>{"ply"}) fail(name, "is not a PLY file");
  while (lines.next()) {
    const std::vector<std::string_view>& words = lines.words();
    if (words.empty() || words[0] == "comment" || words[0] == "obj_info") continue;
    if (words[0] == "end_header") {
      if (!formatted) fail(name, lines.number(), "the header has no format");
      out.end = lines.at();
      out.line = lines.number();
      return out;
    }
    if (words[0] == "format" && words.size() == 3) {
      formatted = true;
      if (words[1] == "ascii")
        out.format = PlyFormat::ascii;
      else if (words[1] == "binary_little_endian")
        out.format = PlyFormat::little;
      else if (words[1] == "binary_big_endian")
        out.format = PlyFormat::big;
      else
        fail(name, lines.number(), "unknown format; expected ascii, binary_little_endian or binary_big_endian");
    } else if (words[0] == "element" && words.size() == 3) {
      const auto count = files::integer_in(words[2]);
      if (!count || *count < 0 || *count > most_elements)
        fail(name, lines.number(), fmt::format("the number of elements is not 0 to {}", most_elements));
      out.elements.push_back({std::string(words[1]), static_cast<std::size_t>(*count), {}});
    } else if (words[0] == "property" && !out.elements.empty() && words.size() == 3) {
      const auto [size, kind] = ply_type(words[1], name, lines.number());
      out.elements.back().properties.push_back({std::string(words[2]), size, kind});
    } else if (words[0] == "property" && !out.elements.empty() && words.size() == 5 && words[1] == "list") {
      const auto [count_size, count_kind] = ply_type(words[2], name, lines.number());
      const auto [size, kind] = ply_type(words[3], name, lines.number());
      out.elements.back().properties.push_back({std::string(words[4]), size, kind, count_size, count_kind});
    } else {
      fail(name, lines.number(), "not a line of a PLY header");
    }
  }
  fail(name, "ends within the PLY header");
}

/// The numbers after the header, one after the other.
class PlyNumbers {
 public:
  PlyNumbers(std::string_view bytes, const PlyHeader& header, const std::string& name)
      : bytes_(bytes.substr(header.end)), format_(header.format), name_(name) {}

  double next(std::size_t size, char kind) { return format_ == PlyFormat::ascii ? word() : binary(size, kind); }
  std::size_t left() const { return bytes_.size() - at_; }
  /// Bytes that a number takes at least.
  std::size_t least(std::size_t size) const { return format_ == PlyFormat::ascii ? 1 : size; }

 private:
  double word() {
    constexpr std::string_view blank = " \t\r\n\f\v";
    const std::size_t begin = bytes_.find_first_not_of(blank, at_);
    if (begin == std::string_view::npos) fail(name_, "ends before all its elements");
    const std::size_t end = std::min(bytes_.find_first_of(blank, begin), bytes_.size());
    at_ = end;
    const auto value = files::real_in(bytes_.substr(begin, end - begin));
    if (!value)
      fail(name_, fmt::format("'{}' is no number", one_line(std::string(bytes_.substr(begin, end - begin)), 40)));
    return *value;
  }

  double binary(std::size_t size, char kind) {
    if (left() < size) fail(name_, "ends before all its elements");
    std::array<char, 8> raw{};
    const bool turned = (format_ == PlyFormat::big) == (std::endian::native == std::endian::little);
    for (std::size_t k = 0; k < size; ++k) raw.at(turned ? size - 1 - k : k) = bytes_[at_ + k];
    at_ += size;
    const auto as = [&]<class T>(T value) {
      std::memcpy(&value, raw.data(), sizeof(T));
      return static_cast<double>(value);
    };
    if (kind == 'f') return size == 4 ? as(float{}) : as(double{});
    if (size == 1) return kind == 'i' ? as(std::int8_t{}) : as(std::uint8_t{});
    if (size == 2) return kind == 'i' ? as(std::int16_t{}) : as(std::uint16_t{});
    return kind == 'i' ? as(std::int32_t{}) : as(std::uint32_t{});
  }

  std::string_view bytes_;
  PlyFormat format_;
  const std::string& name_;
  std::size_t at_ = 0;
};

int as_index(double value, const std::string& name) {
  if (!(value >= 0.0 && value < static_cast<double>(most_elements) && value == std::floor(value)))
    fail(name, "a face names a vertex that is not there");
  return static_cast<int>(value);
}

/// One element that is neither vertex nor face is read and left out.
void read_ply_element(PlyNumbers& numbers, const PlyElement& element, const std::string& name, MeshData& out) {
  Vector3 vertex = Vector3::Zero();
  std::vector<int> corners;
  for (const PlyProperty& property : element.properties) {
    if (property.count_size == 0) {
      const double value = numbers.next(property.size, property.kind);
      if (property.name == "x") vertex.x() = value;
      if (property.name == "y") vertex.y() = value;
      if (property.name == "z") vertex.z() = value;
      continue;
    }
    const double count = numbers.next(property.count_size, property.count_kind);
    if (!(count >= 0.0 &&
          count * static_cast<double>(numbers.least(property.size)) <= static_cast<double>(numbers.left())))
      fail(name, "a list is longer than the file");
    const bool of_face = element.name == "face" && property.name.starts_with("vertex_ind");
    for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
      const double value = numbers.next(property.size, property.kind);
      if (of_face) corners.push_back(as_index(value, name));
    }
  }
  if (element.name == "vertex") out.vertices.push_back(vertex);
  add_fan(corners, out.faces);
}

}  // namespace

MeshData parse_obj(std::string_view bytes, const std::string& name) {
  MeshData out;
  detail::ObjStatements lines(bytes);
  std::vector<int> corners;
  while (lines.next()) {
    const std::vector<std::string_view>& words = lines.words();
    if (words.empty()) continue;
    if (words[0] == "v") {
      Vector3 x;
      for (std::size_t k = 0; k < 3; ++k) {
        const auto value = words.size() > k + 1 ? files::real_in(words[k + 1]) : std::nullopt;
        if (!value || !std::isfinite(*value)) fail(name, lines.number(), "a vertex needs three finite numbers");
        x[static_cast<Eigen::Index>(k)] = *value;
      }
      out.vertices.push_back(x);
    } else if (words[0] == "f") {
      if (words.size() < 4) fail(name, lines.number(), "a face needs three corners or more");
      corners.clear();
      for (std::size_t k = 1; k < words.size(); ++k)
        corners.push_back(static_cast<int>(detail::obj_vertex(words[k], out.vertices.size(), name, lines.number())));
      add_fan(corners, out.faces);
    }
  }
  check(out, name);
  return out;
}

MeshData parse_ply(std::string_view bytes, const std::string& name) {
  const PlyHeader header = read_ply_header(bytes, name);
  PlyNumbers numbers(bytes, header, name);
  MeshData out;
  for (const PlyElement& element : header.elements) {
    std::size_t least = 0;
    for (const PlyProperty& p : element.properties) least += numbers.least(p.count_size > 0 ? p.count_size : p.size);
    if (element.count > 0 && least == 0) fail(name, "an element has no properties");
    if (element.count * least > numbers.left()) fail(name, "is shorter than its header says");
    if (element.name == "vertex") out.vertices.reserve(element.count);
    for (std::size_t i = 0; i < element.count; ++i) read_ply_element(numbers, element, name, out);
  }
  check(out, name);
  return out;
}

MeshBytes read_mesh_bytes(const std::filesystem::path& file) {
  std::string ending = file.extension().string();
  std::transform(ending.begin(), ending.end(), ending.begin(), [](unsigned char c) { return std::tolower(c); });
  const std::string name = file.string();
  const bool gltf = ending == ".gltf" || ending == ".glb";
  if (ending != ".obj" && ending != ".ply" && !gltf)
    fail(name, "is no mesh that is known by its ending; expected .obj, .ply, .gltf or .glb");
  MeshBytes out;
  out.bytes = files::read_file(file, "a mesh");
  if (!gltf) {
    out.mesh = ending == ".obj" ? parse_obj(out.bytes, name) : parse_ply(out.bytes, name);
    return out;
  }
  std::vector<std::string> buffers;
  for (const std::string& beside : gltf_buffer_files(out.bytes, name))
    buffers.push_back(beside.empty() ? std::string()
                                     : files::read_file(file.parent_path() / beside, "a buffer of a glTF file"));
  out.mesh = parse_gltf(out.bytes, name, buffers);
  for (const std::string& buffer : buffers) out.bytes += buffer;
  check(out.mesh, name);
  return out;
}

MeshData read_mesh(const std::filesystem::path& file) { return read_mesh_bytes(file).mesh; }

}  // namespace tresse::importers
