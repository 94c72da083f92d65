#pragma once

#include <cstddef>

#include <oneapi/tbb/parallel_for.h>

#include <tresse/base/interrupt.hpp>
#include <tresse/base/local_memory.hpp>

namespace tresse::dynamics::detail {

/// For two vectors of a rod's unknowns, or two velocities at the ends of its pieces.
using RodMemory = LocalMemory<2 * 64 * sizeof(Vector3)>;

/// Calls visit(index) for all, on all threads when there are enough of them. Throws Interrupted when that was asked
/// for.
template <typename Visit>
void for_each_fibre(std::size_t count, const Visit& visit) {
  constexpr std::size_t few = 4;
  const auto one = [&](std::size_t f) {
    poll_interrupt();
    visit(f);
  };
  if (count < few) {
    for (std::size_t f = 0; f < count; ++f) one(f);
  } else {
    oneapi::tbb::parallel_for(std::size_t{0}, count, one);
  }
}

}  // namespace tresse::dynamics::detail
