#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include <tresse/exporters/export.hpp>

#include "view/server.hpp"

/// The page of `tresse view` and the frames of a run in one file that needs neither a server nor a network.
namespace tresse::app::view {

struct PageReport {
  std::size_t frames = 0;
  std::filesystem::path file;
};

/// Largest page that is written: browsers read it whole. [bytes]
inline constexpr std::uint64_t largest_page = 200'000'000;

/// Writes the chosen frames of the runs in `folders`, one or two to see side by side, to `output`: a name that ends in
/// .html, a folder for export.html in it, or that of the first run where empty. Centrelines are rounded to multiples of
/// a 32nd of the least radius, other numbers to single precision, those that colour fibres to 13 binary digits. `most`:
/// bytes. @throws InvalidInput where the page would be larger, with a selection of frames that fits; SystemFailure when
/// writing is refused.
PageReport write_html_page(const std::vector<std::filesystem::path>& folders, const std::filesystem::path& output,
                           const exporters::FrameSelection& frames, const Assets& assets,
                           std::uint64_t most = largest_page);

}  // namespace tresse::app::view
