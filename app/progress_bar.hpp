#pragma once

#include <chrono>
#include <functional>
#include <string>

namespace tresse::app {

/// A line on the terminal, redrawn a few times a second; silent elsewhere, and for work that is done at once.
class ProgressBar {
 public:
  explicit ProgressBar(bool quiet);
  ~ProgressBar();
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  /// `done` of `all` is done; `words` say more about it and are asked for only when they are drawn.
  void update(double done, double all, const std::function<std::string()>& words);

 private:
  using Clock = std::chrono::steady_clock;
  bool shown_;
  bool drawn_ = false;
  Clock::time_point begin_ = Clock::now();
  Clock::time_point last_draw_ = begin_;
};

}  // namespace tresse::app
