#include <tresse/base/interrupt.hpp>

#include <atomic>

namespace tresse {
namespace {

std::atomic<bool> requested = false;
static_assert(std::atomic<bool>::is_always_lock_free);  // for signal handlers

}  // namespace

void request_interrupt() noexcept { requested.store(true, std::memory_order_relaxed); }

void clear_interrupt() noexcept { requested.store(false, std::memory_order_relaxed); }

void poll_interrupt() {
  if (requested.load(std::memory_order_relaxed)) throw Interrupted();
}

}  // namespace tresse
