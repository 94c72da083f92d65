#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include <tresse/base/errors.hpp>
#include <tresse/importers/polyline_file.hpp>

/// Any bytes either are rows of points or throw InvalidInput with one line, whatever the name of the file says they
/// are.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  for (const char* name : {"fuzz.hair", "fuzz.obj", "fuzz.csv", "fuzz.usda"}) {
    try {
      if (tresse::importers::parse_polylines(bytes, name).rows.empty()) std::abort();
    } catch (const tresse::InvalidInput& error) {
      if (std::string_view(error.what()).find('\n') != std::string_view::npos) {
        std::fprintf(stderr, "a message of several lines\n");
        std::abort();
      }
    }
  }
  return 0;
}
