#pragma once

namespace tresse::app {

/// Fits of strands are kept in $XDG_CACHE_HOME/tresse, or ~/.cache/tresse, unless TRESSE_CACHE is off or there is no
/// such place.
void keep_fits();

}  // namespace tresse::app
