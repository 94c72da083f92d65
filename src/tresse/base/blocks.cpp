#include <tresse/base/blocks.hpp>

#include <algorithm>

#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/task_arena.h>

namespace tresse {
namespace detail {

void in_parallel(std::size_t count, void (*call)(const void* context, std::size_t k), const void* context) {
  // Isolated: while a thread waits here it takes up no work from elsewhere, for which this would wait then, such as
  // another world's step in a program that steps several at once.
  oneapi::tbb::this_task_arena::isolate(
      [&] { oneapi::tbb::parallel_for(std::size_t{0}, count, [&](std::size_t k) { call(context, k); }); });
}

}  // namespace detail

std::size_t threads() {
  using oneapi::tbb::global_control;
  return std::min(static_cast<std::size_t>(std::max(1, oneapi::tbb::this_task_arena::max_concurrency())),
                  global_control::active_value(global_control::max_allowed_parallelism));
}

}  // namespace tresse
