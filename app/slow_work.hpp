#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

namespace tresse::app {

/// Says of work that takes long that it goes on: after some seconds, and again each time that it has taken twice as
/// long. From a thread of its own.
class SlowWork {
 public:
  /// `words`: what is said, behind "still at work after 5 s: "; called while the work goes on.
  explicit SlowWork(std::function<std::string()> words);
  ~SlowWork();
  SlowWork(const SlowWork&) = delete;
  SlowWork& operator=(const SlowWork&) = delete;

  void begins();
  void ends();

 private:
  using Clock = std::chrono::steady_clock;
  void watch();

  std::function<std::string()> words_;
  std::mutex mutex_;
  std::condition_variable woken_;
  // Under mutex_:
  bool working_ = false;
  bool over_ = false;
  Clock::time_point begin_;
  std::chrono::duration<double> next_{};  ///< what it takes when it is told of
  std::thread thread_;
};

}  // namespace tresse::app
