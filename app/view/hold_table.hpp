#pragma once

#include <compare>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

/// holds.csv of a run at one instant.
namespace tresse::app::view {

struct HeldPoint {
  std::string name;  ///< unique among those of the fibre
  std::int32_t fibre = 0;

  auto operator<=>(const HeldPoint&) const = default;  // NOLINT(modernize-use-nullptr)
};

/// (points, 3) float32, the force that the fibre exerts on each over the step that ends at `time` [N]; not a number
/// where the table has none, such as at the beginning. Reads some dozens of lines, however long the table is.
std::string hold_load_bytes(const std::filesystem::path& file, const std::vector<HeldPoint>& points, double time);

}  // namespace tresse::app::view
