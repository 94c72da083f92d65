#pragma once

#include <filesystem>

namespace tresse::app {

/// share/tresse of the installed program, or of the build that it stands in.
std::filesystem::path share_folder();

}  // namespace tresse::app
