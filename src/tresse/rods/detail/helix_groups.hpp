#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <vector>

#include <oneapi/tbb/enumerable_thread_specific.h>

#include <tresse/rods/detail/helix_discs.hpp>
#include <tresse/rods/detail/helix_integrals.hpp>

namespace tresse::rods::detail {

/// Four elements of a super-helix side by side; where the chain has no more, the last again with no length.
struct HelixGroup {
  lanes::Doubles length, density;
  Triple<lanes::Doubles> w, rate, offset, next;
  Columns<lanes::Doubles> frame;
  Columns<lanes::Doubles> linear, angular;         ///< twists of the coordinates
  std::array<lanes::Doubles, lanes::count> discs;  ///< ElementDiscs
};

/// All groups of a chain, and the integrals of each.
struct HelixGroups {
  std::uint64_t state = 0;  ///< of which they are, by its number; 0: of none
  std::vector<HelixGroup> groups;
  std::vector<HelixIntegrals<lanes::Doubles>> integrals;
  std::vector<HelixDiscs<lanes::Doubles>> discs;
};

/// What rods share: a step asks a rod for its groups two or three times in a row, then the next rod. In one place for
/// each thread they stay in its cache.
struct HelixMemory {
  std::atomic<std::uint64_t> states{0};  ///< numbers that were given
  oneapi::tbb::enumerable_thread_specific<HelixGroups> groups;

  std::uint64_t next_state() { return states.fetch_add(1, std::memory_order_relaxed) + 1; }
};

}  // namespace tresse::rods::detail
