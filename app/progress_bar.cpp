#include "progress_bar.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "messages.hpp"

namespace tresse::app {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds redrawn{200};
constexpr milliseconds first_line{10'000};
constexpr milliseconds between_lines{60'000};

/// "40 s", "12 min", "3.5 h".
std::string about(double seconds) {
  if (seconds < 100.0) return fmt::format("{:.0f} s", seconds);
  if (seconds < 6000.0) return fmt::format("{:.0f} min", seconds / 60.0);
  return fmt::format("{:.1f} h", seconds / 3600.0);
}

}  // namespace

ProgressBar::ProgressBar(bool quiet)
    : shown_(!quiet), terminal_(isatty(fileno(stderr)) == 1), next_(begin_ + (terminal_ ? redrawn : first_line)) {}

ProgressBar::~ProgressBar() {
  if (drawn_) say_line("");
}

void ProgressBar::update(double done, double all, const std::function<std::string()>& words) {
  if (!shown_) return;
  const Clock::time_point now = Clock::now();
  const bool last = drawn_ && done >= all;
  if (!last && now < next_) return;
  next_ = now + (terminal_ ? redrawn : between_lines);
  const double share = all > 0.0 ? std::clamp(done / all, 0.0, 1.0) : 1.0;
  const double elapsed = std::chrono::duration<double>(now - begin_).count();
  const double left = share > 0.0 ? elapsed * (1.0 - share) / share : 0.0;
  if (terminal_)
    draw(share, left, words());
  else
    say("{:.0f} %: {}, about {} left", 100.0 * share, words(), about(left));
}

void ProgressBar::draw(double share, double left, const std::string& words) {
  drawn_ = true;
  constexpr int width = 30;
  const int filled = static_cast<int>(width * share);
  const std::string bar = fmt::format("\r[{:#>{}}{:.>{}}] {:3.0f} %  {}  {:.0f} s left  ", "", filled, "",
                                      width - filled, 100.0 * share, words, left);
  static_cast<void>(std::fputs(bar.c_str(), stderr));
}

}  // namespace tresse::app
