#include <tresse/files/regular_file.hpp>

#include <fmt/format.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <string>

#include <tresse/base/errors.hpp>

namespace tresse::files {

void require_regular_file(const std::filesystem::path& file, const char* expected) {
  const auto refuse = [&](const char* found) {
    const std::string name = file.string();  // messages end at a NUL
    throw InvalidInput(fmt::format("{}: {}; expected {}", name.substr(0, name.find('\0')), found, expected));
  };
  if (file.native().find('\0') != std::string::npos) refuse("a name with a NUL in it");
  struct stat status {};
  if (::stat(file.c_str(), &status) != 0) refuse(std::strerror(errno));
  if (S_ISDIR(status.st_mode)) refuse("a folder");
  if (S_ISCHR(status.st_mode) || S_ISBLK(status.st_mode)) refuse("a device");
  if (S_ISFIFO(status.st_mode)) refuse("a pipe");
  if (!S_ISREG(status.st_mode)) refuse("no regular file");
}

}  // namespace tresse::files
