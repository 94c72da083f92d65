#pragma once

#include <string>

#include "view/server.hpp"

namespace tresse::app::view {

/// The page's files: those of the folder `chosen`, or of the build or installation that the program stands in. @throws
/// SystemFailure when the page was not built.
Assets find_assets(const std::string& chosen);

}  // namespace tresse::app::view
