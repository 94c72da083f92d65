#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

namespace tresse::app {

/// Says of work that takes long that it goes on: after some seconds, and again each time that it has taken twice as
/// long. From a thread of its own.
class SlowWork {
 public:
  using Seconds = std::chrono::duration<double>;
  /// `words`: what is said, behind "still at work after 5 s: "; called while the work goes on. `unusual`: when first.
  SlowWork(std::function<std::string()> words, Seconds unusual);
  ~SlowWork();
  SlowWork(const SlowWork&) = delete;
  SlowWork& operator=(const SlowWork&) = delete;

  void begins();
  void ends();

 private:
  using Clock = std::chrono::steady_clock;
  void watch();

  std::function<std::string()> words_;
  Seconds unusual_;
  std::mutex mutex_;
  std::condition_variable woken_;
  // Under mutex_:
  bool working_ = false;
  bool over_ = false;
  Clock::time_point begin_;
  Seconds next_{};  ///< what it takes when it is told of
  std::thread thread_;
};

/// The same for one piece of work, which goes on while this lives. Nothing is said if `quiet`.
class SlowPiece {
 public:
  SlowPiece(bool quiet, std::function<std::string()> words);
  void ends() { work_.reset(); }

 private:
  std::optional<SlowWork> work_;
};

/// What there is to say of a scene that is read: how many strands are fitted.
std::string words_on_reading(const std::string& file);

}  // namespace tresse::app
