#include "view/page_assets.hpp"

#include <fmt/format.h>

#include <filesystem>

#include <tresse/base/errors.hpp>

#include "share_folder.hpp"

namespace tresse::app::view {

Assets find_assets(const std::string& chosen) {
  if (!chosen.empty()) return load_assets(chosen);
  const std::filesystem::path folder = share_folder() / "viewer";
  std::error_code error;
  if (!std::filesystem::exists(folder / "index.html", error)) {
    throw SystemFailure(
        fmt::format("the viewer's page is not built ({} is missing): install npm, then cmake --build BUILD_FOLDER "
                    "--target viewer",
                    folder.string()));
  }
  return load_assets(folder);
}

}  // namespace tresse::app::view
