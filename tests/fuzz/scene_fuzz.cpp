#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include <tresse/base/errors.hpp>
#include <tresse/scene_file/scene_file.hpp>

/// Any bytes either are a scene, which then survives being written and read again, or throw InvalidInput with one line.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto broken = [](const char* what) {
    std::fprintf(stderr, "%s\n", what);
    std::abort();
  };
  tresse::scene_file::SceneDocument document;
  try {
    document = tresse::scene_file::parse_scene_document(text, "fuzz.toml");
  } catch (const tresse::InvalidInput& error) {
    if (std::string_view(error.what()).find('\n') != std::string_view::npos) broken("a message of several lines");
    return 0;
  }
  const std::string written = tresse::scene_file::write_resolved(document);
  try {
    if (tresse::scene_file::write_resolved(tresse::scene_file::parse_scene(written, "written.toml"),
                                           document.parameters) != written) {
      broken("the written scene reads back as another one");
    }
  } catch (const tresse::InvalidInput& error) {
    broken(error.what());
  }
  return 0;
}
