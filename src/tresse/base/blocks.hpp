#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include <tresse/base/interrupt.hpp>

namespace tresse {

namespace detail {
/// Calls call(context, k) for k from 0 to count, on all threads.
void in_parallel(std::size_t count, void (*call)(const void* context, std::size_t k), const void* context);
}  // namespace detail

/// Threads that work here together at most.
std::size_t threads();

/// Calls visit(k, begin, end) for the blocks of 0..count, k counting them, on all threads when there are several.
/// Blocks don't depend on the number of threads: what is summed block by block and then in order doesn't either. Throws
/// Interrupted before a block when that was asked for.
template <typename Index, typename Visit>
void for_blocks(Index count, Index block, const Visit& visit) {
  const Index blocks = (count + block - 1) / block;
  const auto one = [&](Index k) {
    poll_interrupt();
    visit(k, k * block, std::min(count, (k + 1) * block));
  };
  if (blocks <= 1) {
    if (blocks == 1) one(Index{0});
  } else {
    detail::in_parallel(
        static_cast<std::size_t>(blocks),
        [](const void* context, std::size_t k) {
          (*static_cast<const decltype(one)*>(context))(static_cast<Index>(k));
        },
        &one);
  }
}

/// What the blocks found, in their order.
template <typename T>
std::vector<T> joined(std::vector<std::vector<T>>& parts) {
  if (parts.size() == 1) return std::move(parts.front());
  std::size_t count = 0;
  for (const std::vector<T>& part : parts) count += part.size();
  std::vector<T> out;
  out.reserve(count);
  for (const std::vector<T>& part : parts) out.insert(out.end(), part.begin(), part.end());
  return out;
}

}  // namespace tresse
