#include "share_folder.hpp"

namespace tresse::app {

std::filesystem::path share_folder() {
  std::error_code error;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", error);
  return program.parent_path().parent_path() / "share" / "tresse";
}

}  // namespace tresse::app
