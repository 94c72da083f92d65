#pragma once

#include <chrono>
#include <functional>
#include <string>

namespace tresse::app {

/// How far work is: on a terminal a line that is redrawn a few times a second, elsewhere a line after ten seconds and
/// then one a minute. Silent for work that is done at once.
class ProgressBar {
 public:
  explicit ProgressBar(bool quiet);
  ~ProgressBar();
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  /// Whether each line stays, so that it has to say all by itself.
  bool lines_stay() const { return !terminal_; }
  /// `done` of `all` is done; `words` say more about it and are asked for only when they are shown.
  void update(double done, double all, const std::function<std::string()>& words);

 private:
  using Clock = std::chrono::steady_clock;
  void draw(double share, double left, const std::string& words);

  bool shown_;
  bool terminal_;
  bool drawn_ = false;
  Clock::time_point begin_ = Clock::now();
  Clock::time_point next_;
};

}  // namespace tresse::app
