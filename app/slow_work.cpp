#include "slow_work.hpp"

#include <utility>

#include <tresse/scene_file/scene_file.hpp>

#include "messages.hpp"

namespace tresse::app {

SlowWork::SlowWork(std::function<std::string()> words, Seconds unusual)
    : words_(std::move(words)), unusual_(unusual), thread_([this] { watch(); }) {}

SlowWork::~SlowWork() {
  {
    const std::lock_guard lock(mutex_);
    over_ = true;
  }
  woken_.notify_one();
  thread_.join();
}

void SlowWork::begins() {
  const std::lock_guard lock(mutex_);
  working_ = true;
  begin_ = Clock::now();
  next_ = unusual_;
}

void SlowWork::ends() {
  const std::lock_guard lock(mutex_);
  working_ = false;
}

void SlowWork::watch() {
  constexpr std::chrono::milliseconds pause{250};
  std::unique_lock lock(mutex_);
  while (!woken_.wait_for(lock, pause, [this] { return over_; })) {
    const std::chrono::duration<double> taken = Clock::now() - begin_;
    if (!working_ || taken < next_) continue;
    say("still at work after {:.0f} s: {}", taken.count(), words_());
    next_ = 2.0 * taken;
  }
}

SlowPiece::SlowPiece(bool quiet, std::function<std::string()> words) {
  if (quiet) return;
  work_.emplace(std::move(words), SlowWork::Seconds(2.0));
  work_->begins();
}

std::string words_on_reading(const std::string& file) {
  const scene_file::FitCount fits = scene_file::fit_count();
  const std::string fitted =
      fits.all > 0 ? fmt::format(", {} of {} strands fitted so far", fits.done, fits.all) : std::string();
  return fmt::format("reading {}{}; Ctrl-C ends it", file, fitted);
}

}  // namespace tresse::app
