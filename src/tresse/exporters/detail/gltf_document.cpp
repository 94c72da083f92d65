#include <tresse/exporters/detail/gltf_document.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <string_view>
#include <utility>

#include <tresse/base/errors.hpp>

namespace tresse::exporters::detail {
namespace {

constexpr int component_float = 5126, component_uint32 = 5125;  // GL's numbers
constexpr int target_vertices = 34962, target_indices = 34963;

template <class T>
std::string_view bytes_of(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

std::size_t width(std::string_view type) { return type == "SCALAR" ? 1 : type == "VEC3" ? 3 : 4; }

void append_word(std::string& out, std::uint64_t value) {
  for (unsigned shift = 0; shift < 32; shift += 8) out += static_cast<char>((value >> shift) & 0xffU);
}

}  // namespace

GltfDocument::GltfDocument(const std::filesystem::path& output)
    : output_(output),
      json_{{"asset", {{"version", "2.0"}, {"generator", "tresse"}}}, {"scene", 0}},
      buffer_(output, 1) {}

std::size_t GltfDocument::add(const char* kind, nlohmann::json entry) {
  nlohmann::json& list = json_[kind];
  list.push_back(std::move(entry));
  return list.size() - 1;
}

std::size_t GltfDocument::add_accessor(std::string_view bytes, nlohmann::json accessor, int target) {
  nlohmann::json view{{"buffer", 0}, {"byteOffset", length_}, {"byteLength", bytes.size()}};
  if (target != 0) view["target"] = target;
  buffer_.append(0, bytes);
  length_ += bytes.size();
  accessor["bufferView"] = add("bufferViews", std::move(view));
  return add("accessors", std::move(accessor));
}

std::size_t GltfDocument::add_floats(const std::vector<float>& values, const char* type, bool is_vertices) {
  const std::size_t components = width(type);
  std::vector<float> least(components, std::numeric_limits<float>::max()), most(components, -least[0]);
  for (std::size_t i = 0; i < values.size(); ++i) {
    least[i % components] = std::min(least[i % components], values[i]);
    most[i % components] = std::max(most[i % components], values[i]);
  }
  return add_accessor(bytes_of(values),
                      {{"componentType", component_float},
                       {"type", type},
                       {"count", values.size() / components},
                       {"min", least},
                       {"max", most}},
                      is_vertices ? target_vertices : 0);
}

std::size_t GltfDocument::add_indices(const std::vector<std::uint32_t>& values) {
  return add_accessor(bytes_of(values),
                      {{"componentType", component_uint32}, {"type", "SCALAR"}, {"count", values.size()}},
                      target_indices);
}

std::string GltfDocument::text() const { return json_.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace); }

std::vector<std::filesystem::path> GltfDocument::write() {
  nlohmann::json buffer{{"byteLength", length_}};
  StagedFile file(output_);
  if (output_.extension() == ".gltf") {
    std::filesystem::path data = output_;
    data.replace_extension(".bin");
    buffer["uri"] = data.filename().string();
    json_["buffers"] = nlohmann::json::array({buffer});
    StagedFile data_file(data);
    buffer_.copy(0, data_file);
    data_file.finish();
    file.append(text() + "\n");
    file.finish();
    return {output_, data};
  }
  json_["buffers"] = nlohmann::json::array({buffer});
  std::string json = text();
  json.resize((json.size() + 3) / 4 * 4, ' ');
  const std::uint64_t total = 12 + 8 + json.size() + 8 + length_;
  require(total <= std::numeric_limits<std::uint32_t>::max(), [&] {
    return fmt::format("{}: {} bytes are more than a .glb can hold; take fewer frames, or .gltf", output_.string(),
                       total);
  });
  std::string head = "glTF";
  append_word(head, 2);
  append_word(head, total);
  append_word(head, json.size());
  head += "JSON" + json;
  append_word(head, length_);
  head.append("BIN\0", 4);
  file.append(head);
  buffer_.copy(0, file);
  file.finish();
  return {output_};
}

}  // namespace tresse::exporters::detail
