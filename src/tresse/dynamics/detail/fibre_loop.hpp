#pragma once

#include <cstddef>

#include <oneapi/tbb/parallel_for.h>

namespace tresse::dynamics::detail {

/// Calls visit(index) for all, on all threads when there are enough of them.
template <typename Visit>
void for_each_fibre(std::size_t count, const Visit& visit) {
  constexpr std::size_t few = 4;
  if (count < few) {
    for (std::size_t f = 0; f < count; ++f) visit(f);
  } else {
    oneapi::tbb::parallel_for(std::size_t{0}, count, visit);
  }
}

}  // namespace tresse::dynamics::detail
