#include <cstddef>
#include <cstdint>
#include <string_view>

#include <tresse/base/errors.hpp>
#include <tresse/problem_files/friction_file.hpp>

/// Any bytes: a problem, or InvalidInput; nothing else may leave the parser.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    static_cast<void>(tresse::problem_files::parse_friction_text(text, "input.dat"));
  } catch (const tresse::InvalidInput&) {
    return 0;
  }
  return 0;
}
