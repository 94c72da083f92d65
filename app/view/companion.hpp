#pragma once

#include <sys/types.h>

#include <filesystem>
#include <functional>

namespace tresse::app::view {

/// `tresse view` on the folder of the run that this process computes, in a process of its own: nothing that it does can
/// change the run. It ends with this process, however that ends.
class Companion {
 public:
  /// Nothing is started for an empty folder. What goes wrong there is printed there, and is no error here.
  explicit Companion(const std::filesystem::path& folder);
  ~Companion();
  Companion(const Companion&) = delete;
  Companion& operator=(const Companion&) = delete;

  /// Until it has ended by itself, such as by Ctrl-C, or `enough` says so.
  void wait(const std::function<bool()>& enough);

 private:
  bool ended();

  pid_t process_ = 0;  ///< 0: none
};

}  // namespace tresse::app::view
