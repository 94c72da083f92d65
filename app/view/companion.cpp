#include "view/companion.hpp"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <string>
#include <thread>

namespace tresse::app::view {

Companion::Companion(const std::filesystem::path& folder) {
  if (folder.empty()) return;
  const std::string path = std::filesystem::absolute(folder).string();
  const char* words[] = {"tresse", "view", path.c_str(), "--end-with-parent", nullptr};
  if (posix_spawn(&process_, "/proc/self/exe", nullptr, nullptr, const_cast<char**>(words), environ) != 0) {
    process_ = 0;
  }
}

Companion::~Companion() {
  if (process_ == 0) return;
  kill(process_, SIGTERM);
  wait([] { return false; });
}

void Companion::wait(const std::function<bool()>& enough) {
  while (process_ != 0 && !ended() && !enough()) std::this_thread::sleep_for(std::chrono::milliseconds(50));
}

bool Companion::ended() {
  int status = 0;
  if (waitpid(process_, &status, WNOHANG) == 0) return false;
  process_ = 0;
  return true;
}

}  // namespace tresse::app::view
