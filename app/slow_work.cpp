#include "slow_work.hpp"

#include <utility>

#include "messages.hpp"

namespace tresse::app {

SlowWork::SlowWork(std::function<std::string()> words) : words_(std::move(words)), thread_([this] { watch(); }) {}

SlowWork::~SlowWork() {
  {
    const std::lock_guard lock(mutex_);
    over_ = true;
  }
  woken_.notify_one();
  thread_.join();
}

void SlowWork::begins() {
  constexpr std::chrono::duration<double> unusual{5.0};
  const std::lock_guard lock(mutex_);
  working_ = true;
  begin_ = Clock::now();
  next_ = unusual;
}

void SlowWork::ends() {
  const std::lock_guard lock(mutex_);
  working_ = false;
}

void SlowWork::watch() {
  constexpr std::chrono::milliseconds pause{500};
  std::unique_lock lock(mutex_);
  while (!woken_.wait_for(lock, pause, [this] { return over_; })) {
    const std::chrono::duration<double> taken = Clock::now() - begin_;
    if (!working_ || taken < next_) continue;
    say("still at work after {:.0f} s: {}", taken.count(), words_());
    next_ = 2.0 * taken;
  }
}

}  // namespace tresse::app
