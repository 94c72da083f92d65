#pragma once

#include <algorithm>
#include <cstddef>

#include <oneapi/tbb/parallel_for.h>

namespace tresse::friction::detail {

/// Calls visit(k, begin, end) for the blocks of 0..count, k counting them, on all threads when there are several.
/// Blocks don't depend on the number of threads: what is summed block by block and then in order doesn't either.
template <typename Index, typename Visit>
void for_blocks(Index count, Index block, const Visit& visit) {
  const Index blocks = (count + block - 1) / block;
  const auto one = [&](Index k) { visit(k, k * block, std::min(count, (k + 1) * block)); };
  if (blocks <= 1) {
    if (blocks == 1) one(Index{0});
  } else {
    oneapi::tbb::parallel_for(Index{0}, blocks, one);
  }
}

}  // namespace tresse::friction::detail
