#pragma once

#include <cstddef>
#include <vector>

namespace tresse::friction::detail {

/// Which of these values (>= 0) are the largest that together make up a share of their sum, at most so many, largest
/// first and of equal ones the last first. None where one is not a number.
std::vector<int> largest_share(const std::vector<double>& values, double share, std::size_t most);

}  // namespace tresse::friction::detail
