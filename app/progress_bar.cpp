#include "progress_bar.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "messages.hpp"

namespace tresse::app {

ProgressBar::ProgressBar(bool quiet) : shown_(!quiet && isatty(fileno(stderr)) == 1) {}

ProgressBar::~ProgressBar() {
  if (drawn_) say_line("");
}

void ProgressBar::update(double done, double all, const std::function<std::string()>& words) {
  if (!shown_) return;
  const Clock::time_point now = Clock::now();
  const bool last = drawn_ && done >= all;
  if (!last && now - last_draw_ < std::chrono::milliseconds(200)) return;
  last_draw_ = now;
  drawn_ = true;
  constexpr int width = 30;
  const double share = all > 0.0 ? std::clamp(done / all, 0.0, 1.0) : 1.0;
  const double elapsed = std::chrono::duration<double>(now - begin_).count();
  const int filled = static_cast<int>(width * share);
  const std::string bar =
      fmt::format("\r[{:#>{}}{:.>{}}] {:3.0f} %  {}  {:.0f} s left  ", "", filled, "", width - filled, 100.0 * share,
                  words(), share > 0.0 ? elapsed * (1.0 - share) / share : 0.0);
  static_cast<void>(std::fputs(bar.c_str(), stderr));
}

}  // namespace tresse::app
