#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>

#include <fmt/format.h>

#include <Eigen/Geometry>
#include <nlohmann/json.hpp>

#include <tresse/base/errors.hpp>
#include <tresse/files/json.hpp>
#include <tresse/files/text.hpp>
#include <tresse/importers/mesh_file.hpp>

namespace tresse::importers {
namespace {

using Json = nlohmann::json;

using files::fail;

std::uint32_t word_at(std::string_view bytes, std::size_t at) {
  std::uint32_t out = 0;
  for (std::size_t k = 0; k < 4; ++k)
    out |= static_cast<std::uint32_t>(static_cast<unsigned char>(bytes[at + k])) << (8 * k);
  return out;
}

/// The two parts of a file: the text and, of a .glb, the buffer in it.
struct Parts {
  Json document;
  std::string_view binary;
};

Parts parts_of(std::string_view bytes, const std::string& name) {
  Parts out;
  std::string_view text = bytes;
  if (bytes.starts_with("glTF")) {
    constexpr std::size_t header = 12, chunk = 8;
    if (bytes.size() < header + chunk || word_at(bytes, 4) != 2) fail(name, "is no binary glTF file of version 2");
    const std::size_t length = word_at(bytes, header);
    if (length > bytes.size() - header - chunk || bytes.substr(header + 4, 4) != "JSON")
      fail(name, "ends within its first chunk");
    text = bytes.substr(header + chunk, length);
    const std::size_t second = header + chunk + length;
    if (second + chunk <= bytes.size() && bytes.substr(second + 4, 3) == "BIN") {
      const std::size_t size = word_at(bytes, second);
      if (size > bytes.size() - second - chunk) fail(name, "ends within its second chunk");
      out.binary = bytes.substr(second + chunk, size);
    }
  }
  out.document = files::parse_json<Json>(text);
  if (!out.document.is_object()) fail(name, "is no glTF document");
  return out;
}

const Json* member(const Json& of, const char* key) {
  if (!of.is_object()) return nullptr;
  const auto found = of.find(key);
  return found == of.end() ? nullptr : &*found;
}

class Gltf {
 public:
  Gltf(std::string_view bytes, const std::string& name, const std::vector<std::string>& buffers)
      : name_(name), parts_(parts_of(bytes, name)), beside_(buffers) {}

  MeshData read() {
    if (const Json* required = member(parts_.document, "extensionsRequired"); required && required->is_array()) {
      for (const Json& one : *required) {
        if (!one.is_string()) continue;
        const auto word = one.get<std::string>();
        if (word.find("compression") != std::string::npos || word.find("quantization") != std::string::npos)
          fail(name_, fmt::format("needs {}; expected plain numbers", one_line(word, 60)));
      }
    }
    read_buffers();
    const std::size_t count = size_of("nodes");
    placed_.assign(count, false);
    if (const Json* scenes = member(parts_.document, "scenes"); scenes && scenes->is_array() && !scenes->empty()) {
      const std::size_t scene = index(parts_.document, "scene", scenes->size()).value_or(0);
      for (const std::size_t node : indices((*scenes)[scene], "nodes", count))
        add_node(node, Eigen::Affine3d::Identity());
    } else if (count == 0) {
      for (std::size_t m = 0; m < size_of("meshes"); ++m) add_mesh(m, Eigen::Affine3d::Identity());
    } else {
      fail(name_, "has nodes but no scene");
    }
    if (out_.faces.empty()) fail(name_, "has no triangles in its scene; expected a surface of triangles");
    return std::move(out_);
  }

 private:
  const Json& array(const char* key) const {
    static const Json none = Json::array();
    const Json* found = member(parts_.document, key);
    if (!found) return none;
    if (!found->is_array()) fail(name_, fmt::format("'{}' is not an array", key));
    return *found;
  }
  std::size_t size_of(const char* key) const { return array(key).size(); }

  std::size_t whole(const Json& of, const char* key, std::size_t otherwise) const {
    const Json* found = member(of, key);
    if (!found) return otherwise;
    constexpr double most = 9e15;
    if (!found->is_number() || !(found->get<double>() >= 0.0 && found->get<double>() <= most))
      fail(name_, fmt::format("'{}' is no whole number", key));
    return found->get<std::size_t>();
  }
  std::optional<std::size_t> index(const Json& of, const char* key, std::size_t count) const {
    if (!member(of, key)) return std::nullopt;
    const std::size_t value = whole(of, key, 0);
    if (value >= count) fail(name_, fmt::format("'{}' is {}; expected less than {}", key, value, count));
    return value;
  }
  std::vector<std::size_t> indices(const Json& of, const char* key, std::size_t count) const {
    std::vector<std::size_t> out;
    const Json* found = member(of, key);
    if (!found) return out;
    if (!found->is_array()) fail(name_, fmt::format("'{}' is not an array", key));
    for (const Json& one : *found) {
      const Json wrapped = {{"index", one}};
      out.push_back(*index(wrapped, "index", count));
    }
    return out;
  }
  template <std::size_t n>
  std::optional<std::array<double, n>> numbers(const Json& of, const char* key) const {
    const Json* found = member(of, key);
    if (!found) return std::nullopt;
    std::array<double, n> out{};
    if (!found->is_array() || found->size() != n) fail(name_, fmt::format("'{}' is not {} numbers", key, n));
    for (std::size_t i = 0; i < n; ++i) {
      if (!(*found)[i].is_number()) fail(name_, fmt::format("'{}' is not {} numbers", key, n));
      out[i] = (*found)[i].get<double>();
    }
    return out;
  }

  static std::string decoded(std::string_view text) {
    std::string out;
    unsigned value = 0;
    int bits = 0;
    constexpr std::string_view letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (const char c : text) {
      const std::size_t digit = letters.find(c);
      if (digit == std::string_view::npos) break;
      value = (value << 6U) | static_cast<unsigned>(digit);
      bits += 6;
      if (bits >= 8) {
        bits -= 8;
        out.push_back(static_cast<char>((value >> static_cast<unsigned>(bits)) & 0xffU));
      }
    }
    return out;
  }

  void read_buffers() {
    const Json& list = array("buffers");
    decoded_.reserve(list.size());
    for (std::size_t b = 0; b < list.size(); ++b) {
      const Json* uri = member(list[b], "uri");
      std::string_view bytes = parts_.binary;
      if (uri && uri->is_string()) {
        const std::string& where = uri->get_ref<const std::string&>();
        const std::size_t comma = where.find(";base64,");
        if (where.starts_with("data:") && comma != std::string::npos) {
          bytes = decoded_.emplace_back(decoded(std::string_view(where).substr(comma + 8)));
        } else {
          bytes = b < beside_.size() ? std::string_view(beside_[b]) : std::string_view();
        }
      }
      if (bytes.size() < whole(list[b], "byteLength", 0))
        fail(name_, fmt::format("buffer {} is shorter than it says", b));
      buffers_.push_back(bytes);
    }
  }

  static Eigen::Affine3d transform_of(const std::array<double, 16>& columns) {
    return Eigen::Affine3d(Eigen::Map<const Eigen::Matrix4d>(columns.data()));
  }

  Eigen::Affine3d placement(const Json& node) const {
    if (const auto matrix = numbers<16>(node, "matrix")) return transform_of(*matrix);
    Eigen::Affine3d out = Eigen::Affine3d::Identity();
    if (const auto t = numbers<3>(node, "translation")) out.translate(Vector3((*t)[0], (*t)[1], (*t)[2]));
    if (const auto q = numbers<4>(node, "rotation"))
      out.rotate(Eigen::Quaterniond((*q)[3], (*q)[0], (*q)[1], (*q)[2]).normalized());
    if (const auto s = numbers<3>(node, "scale")) out.scale(Vector3((*s)[0], (*s)[1], (*s)[2]));
    return out;
  }

  void add_node(std::size_t first, const Eigen::Affine3d& above) {
    struct Waiting {
      std::size_t node;
      Eigen::Affine3d above;
    };
    std::vector<Waiting> waiting{{first, above}};
    while (!waiting.empty()) {
      const Waiting at = waiting.back();
      waiting.pop_back();
      if (placed_[at.node]) fail(name_, "a node stands at two places; expected a tree");
      placed_[at.node] = true;
      const Json& node = array("nodes")[at.node];
      const Eigen::Affine3d here = at.above * placement(node);
      if (const auto mesh = index(node, "mesh", size_of("meshes"))) add_mesh(*mesh, here);
      for (const std::size_t child : indices(node, "children", placed_.size())) waiting.push_back({child, here});
    }
  }

  /// Where the numbers of an accessor are.
  struct View {
    std::string_view bytes;
    std::size_t stride = 0, count = 0, component = 0;
  };

  View view_of(std::size_t accessor, const char* type, std::size_t width) const {
    const Json& of = array("accessors")[accessor];
    if (member(of, "sparse")) fail(name_, fmt::format("accessor {} is sparse; expected plain numbers", accessor));
    const Json* kind = member(of, "type");
    if (!kind || !kind->is_string() || kind->get_ref<const std::string&>() != type)
      fail(name_, fmt::format("accessor {} is not of type {}", accessor, type));
    View out;
    out.component = whole(of, "componentType", 0);
    out.count = whole(of, "count", 0);
    const std::size_t size = component_size(out.component) * width;
    const auto found = index(of, "bufferView", size_of("bufferViews"));
    if (!found) fail(name_, fmt::format("accessor {} has no bufferView", accessor));
    const Json& view = array("bufferViews")[*found];
    const auto buffer = index(view, "buffer", buffers_.size());
    if (!buffer) fail(name_, fmt::format("bufferView {} has no buffer", *found));
    const std::size_t begin = whole(view, "byteOffset", 0);
    const std::size_t length = whole(view, "byteLength", 0);
    const std::size_t offset = whole(of, "byteOffset", 0);
    out.stride = whole(view, "byteStride", size);
    const std::size_t all = buffers_[*buffer].size();
    const bool inside =
        begin <= all && length <= all - begin && offset <= length && out.stride >= size &&
        (out.count == 0 || (size <= length - offset && (out.count - 1) <= (length - offset - size) / out.stride));
    if (!inside) fail(name_, fmt::format("accessor {} reaches beyond its buffer", accessor));
    out.bytes = buffers_[*buffer].substr(begin + offset);
    return out;
  }

  std::size_t component_size(std::size_t component) const {
    switch (component) {
      case 5120:
      case 5121:
        return 1;
      case 5122:
      case 5123:
        return 2;
      case 5125:
      case 5126:
        return 4;
      default:
        fail(name_, fmt::format("componentType {} is not known", component));
    }
  }

  static std::uint32_t unsigned_at(const View& view, std::size_t i) {
    const std::size_t at = i * view.stride;
    const auto byte = [&](std::size_t k) {
      return static_cast<std::uint32_t>(static_cast<unsigned char>(view.bytes[at + k]));
    };
    if (view.component == 5121) return byte(0);
    if (view.component == 5123) return byte(0) | byte(1) << 8U;
    return word_at(view.bytes, at);
  }

  void add_mesh(std::size_t mesh, const Eigen::Affine3d& place) {
    const Json* primitives = member(array("meshes")[mesh], "primitives");
    if (!primitives || !primitives->is_array()) fail(name_, fmt::format("mesh {} has no primitives", mesh));
    for (const Json& primitive : *primitives) {
      constexpr std::size_t triangles = 4;
      if (whole(primitive, "mode", triangles) != triangles) continue;  // points, lines, strips: no triangles
      if (const Json* extensions = member(primitive, "extensions");
          extensions && member(*extensions, "KHR_draco_mesh_compression"))
        fail(name_, "needs KHR_draco_mesh_compression; expected plain numbers");
      add_triangles(primitive, place);
    }
  }

  void add_triangles(const Json& primitive, const Eigen::Affine3d& place) {
    const Json* attributes = member(primitive, "attributes");
    const auto accessor = attributes ? index(*attributes, "POSITION", size_of("accessors")) : std::nullopt;
    if (!accessor) fail(name_, "a primitive has no POSITION");
    const View positions = view_of(*accessor, "VEC3", 3);
    constexpr std::size_t real = 5126;
    if (positions.component != real) fail(name_, "a primitive's POSITION is not of floats");
    const std::size_t first = out_.vertices.size();
    if (positions.count > largest - first) fail(name_, fmt::format("has more than {} vertices", largest));
    for (std::size_t i = 0; i < positions.count; ++i) {
      Vector3 x;
      for (std::size_t k = 0; k < 3; ++k)
        x[static_cast<Eigen::Index>(k)] = std::bit_cast<float>(word_at(positions.bytes, i * positions.stride + 4 * k));
      out_.vertices.emplace_back(place * x);
    }
    std::vector<std::uint32_t> corners;
    if (const auto indexed = index(primitive, "indices", size_of("accessors"))) {
      const View view = view_of(*indexed, "SCALAR", 1);
      if (view.component != 5121 && view.component != 5123 && view.component != 5125)
        fail(name_, "a primitive's indices are not unsigned numbers");
      for (std::size_t i = 0; i < view.count; ++i) corners.push_back(unsigned_at(view, i));
    } else {
      for (std::size_t i = 0; i < positions.count; ++i) corners.push_back(static_cast<std::uint32_t>(i));
    }
    // A mirror turns the faces round.
    const bool mirrored = place.linear().determinant() < 0.0;
    for (std::size_t i = 0; i + 2 < corners.size(); i += 3) {
      geometry::Face face{};
      for (std::size_t k = 0; k < 3; ++k) {
        if (corners[i + k] >= positions.count)
          fail(name_, fmt::format("a face names vertex {}; expected less than {}", corners[i + k], positions.count));
        face[mirrored ? 2 - k : k] = static_cast<int>(first + corners[i + k]);
      }
      if (out_.faces.size() >= largest) fail(name_, fmt::format("has more than {} faces", largest));
      out_.faces.push_back(face);
    }
  }

  static constexpr std::size_t largest = 100'000'000;
  const std::string& name_;
  Parts parts_;
  const std::vector<std::string>& beside_;
  std::vector<std::string> decoded_;
  std::vector<std::string_view> buffers_;
  std::vector<bool> placed_;
  MeshData out_;
};

}  // namespace

MeshData parse_gltf(std::string_view bytes, const std::string& name, const std::vector<std::string>& buffers) {
  return Gltf(bytes, name, buffers).read();
}

std::vector<std::string> gltf_buffer_files(std::string_view bytes, const std::string& name) {
  const Parts parts = parts_of(bytes, name);
  std::vector<std::string> out;
  const Json* buffers = member(parts.document, "buffers");
  if (!buffers || !buffers->is_array()) return out;
  for (const Json& buffer : *buffers) {
    const Json* uri = member(buffer, "uri");
    const bool named = uri && uri->is_string() && !uri->get_ref<const std::string&>().starts_with("data:");
    out.push_back(named ? uri->get<std::string>() : std::string());
  }
  return out;
}

}  // namespace tresse::importers
