#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>

#include <fmt/format.h>

/// glTF files of one square, for tests.
namespace tresse::test {

template <class T>
void put(std::string& out, T value, bool big = false) {
  std::string raw(sizeof(T), '\0');
  std::memcpy(raw.data(), &value, sizeof(T));
  if (big) std::reverse(raw.begin(), raw.end());
  out += raw;
}

/// A .gltf with a buffer beside it, or a .glb; the mesh under a node that moves it by (0, 0, 0.5) up.
inline std::string gltf_document(const std::string& uri, std::size_t length, const std::string& extra = "") {
  return fmt::format(
      R"({{"asset":{{"version":"2.0"}},{}"scene":0,"scenes":[{{"nodes":[0]}}],)"
      R"("nodes":[{{"children":[1],"translation":[0,0,1]}},{{"mesh":0,"scale":[2,2,2]}}],)"
      R"("meshes":[{{"primitives":[{{"attributes":{{"POSITION":0}},"indices":1}}]}}],)"
      R"("buffers":[{{{}"byteLength":{}}}],)"
      R"("bufferViews":[{{"buffer":0,"byteOffset":0,"byteLength":48}},{{"buffer":0,"byteOffset":48,"byteLength":12}}],)"
      R"("accessors":[{{"bufferView":0,"componentType":5126,"count":4,"type":"VEC3"}},)"
      R"({{"bufferView":1,"componentType":5123,"count":6,"type":"SCALAR"}}]}})",
      extra, uri.empty() ? "" : fmt::format(R"("uri":"{}",)", uri), length);
}

inline std::string gltf_buffer() {
  std::string out;
  for (const float x : {0.F, 0.F, 0.F, 1.F, 0.F, 0.F, 1.F, 1.F, 0.5F, 0.F, 1.F, 0.F}) put(out, x);
  for (const int v : {0, 1, 2, 0, 2, 3}) put(out, static_cast<std::uint16_t>(v));
  return out;
}

inline std::string glb(const std::string& document, const std::string& buffer) {
  std::string out = "glTF";
  put(out, std::uint32_t{2});
  put(out, static_cast<std::uint32_t>(28 + document.size() + buffer.size()));
  put(out, static_cast<std::uint32_t>(document.size()));
  out += "JSON" + document;
  put(out, static_cast<std::uint32_t>(buffer.size()));
  out += std::string("BIN\0", 4) + buffer;
  return out;
}

}  // namespace tresse::test
