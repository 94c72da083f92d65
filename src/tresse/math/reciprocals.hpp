#pragma once

#include <array>
#include <cstddef>

namespace tresse::math {

/// 1 / n at n, 0 at 0: the factors of power series, whose terms would each wait for a division.
inline constexpr std::array<double, 64> reciprocals = [] {
  std::array<double, 64> out{};
  for (std::size_t n = 1; n < out.size(); ++n) out[n] = 1.0 / static_cast<double>(n);
  return out;
}();

}  // namespace tresse::math
