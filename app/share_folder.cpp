#include "share_folder.hpp"

#include "child_process.hpp"

namespace tresse::app {

std::filesystem::path share_folder() {
  return std::filesystem::path(this_program()).parent_path().parent_path() / "share" / "tresse";
}

}  // namespace tresse::app
