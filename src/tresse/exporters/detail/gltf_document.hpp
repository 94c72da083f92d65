#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include <tresse/exporters/detail/export_file.hpp>

namespace tresse::exporters::detail {

/// A glTF 2.0 document under construction: its JSON, and its one buffer in a spool. Members return indices.
class GltfDocument {
 public:
  explicit GltfDocument(const std::filesystem::path& output);

  /// `type`: "SCALAR", "VEC3" or "VEC4"; with the least and largest of each component.
  std::size_t add_floats(const std::vector<float>& values, const char* type, bool is_vertices = false);
  std::size_t add_indices(const std::vector<std::uint32_t>& values);

  std::size_t add(const char* kind, nlohmann::json entry);  ///< of "meshes", "nodes" and the like
  nlohmann::json& root() { return json_; }

  /// Writes a .glb, or a .gltf and the .bin that it names; the file to open, and what it needs.
  std::vector<std::filesystem::path> write();

 private:
  std::size_t add_accessor(std::string_view bytes, nlohmann::json accessor, int target);
  std::string text() const;

  std::filesystem::path output_;
  nlohmann::json json_;
  Spool buffer_;
  std::uint64_t length_ = 0;
};

}  // namespace tresse::exporters::detail
