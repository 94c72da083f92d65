#include "kept_fits.hpp"

#include <fmt/format.h>
#ifdef __GLIBC__
#include <gnu/libc-version.h>
#endif

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include <tresse/files/atomic_file.hpp>
#include <tresse/files/kept_results.hpp>

#include "child_process.hpp"
#include "version.hpp"

namespace tresse::app {
namespace {

namespace fs = std::filesystem;

/// The path that an environment variable holds; empty where it holds none from the root on.
fs::path path_in(const char* variable) {
  const char* value = std::getenv(variable);
  const fs::path out = value == nullptr ? "" : value;
  return out.is_absolute() ? out : fs::path();
}

/// Empty: there is none.
fs::path cache_folder() {
  const char* wanted = std::getenv("TRESSE_CACHE");
  if (wanted != nullptr && std::string_view(wanted) == "off") return {};
  if (const fs::path cache = path_in("XDG_CACHE_HOME"); !cache.empty()) return cache / "tresse";
  const fs::path home = path_in("HOME");
  return home.empty() ? home : home / ".cache" / "tresse";
}

/// The C library and Eigen choose their ways by the processor, and not all of them round alike.
std::string processor() {
  std::ifstream in("/proc/cpuinfo");
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("model name")) return line;
  }
  return {};
}

/// This very build, also one of a tree that was changed, on a machine like this.
std::string build_and_machine() {
  const std::string program = files::read_file(this_program());
#ifdef __GLIBC__
  const std::string library = gnu_get_libc_version();
#else
  const std::string library;
#endif
  return fmt::format("tresse {} ({}), {} bytes {:08x}, C library {}, {}", TRESSE_VERSION, TRESSE_COMMIT, program.size(),
                     files::crc32(program), library, processor());
}

}  // namespace

void keep_fits() { files::keep_results({.folder = cache_folder(), .maker = build_and_machine}); }

}  // namespace tresse::app
