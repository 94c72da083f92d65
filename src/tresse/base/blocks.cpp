#include <tresse/base/blocks.hpp>

#include <oneapi/tbb/parallel_for.h>

namespace tresse::detail {

void in_parallel(std::size_t count, void (*call)(const void* context, std::size_t k), const void* context) {
  oneapi::tbb::parallel_for(std::size_t{0}, count, [&](std::size_t k) { call(context, k); });
}

}  // namespace tresse::detail
