#include "messages.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>

#include <tresse/base/errors.hpp>
#include <tresse/base/words.hpp>

namespace tresse::app {
namespace {

int lost_output = 0;  ///< error number of the first write to standard output that failed

void note_loss(bool written) {
  if (!written && lost_output == 0) lost_output = errno;
}

std::string shown(std::string_view line) { return one_line(line, std::string_view::npos) + "\n"; }

}  // namespace

void say_line(std::string_view line) {
  const std::string text = shown(line);
  static_cast<void>(std::fwrite(text.data(), 1, text.size(), stderr));
  static_cast<void>(std::fflush(stderr));
}

void print_line(std::string_view line) { print_text(shown(line)); }

void print_text(std::string_view text) { note_loss(std::fwrite(text.data(), 1, text.size(), stdout) == text.size()); }

void finish_output() {
  note_loss(std::fflush(stdout) == 0 && std::ferror(stdout) == 0);
  if (lost_output != 0) throw SystemFailure(fmt::format("standard output: {}", std::strerror(lost_output)));
}

void reserve_descriptors() {
  // Opened the wrong way round, standard output fails as a closed one does; standard error takes messages and drops
  // them.
  constexpr int modes[] = {O_WRONLY, O_RDONLY, O_WRONLY};
  for (int descriptor = 0; descriptor <= STDERR_FILENO; ++descriptor) {
    if (fcntl(descriptor, F_GETFD) < 0) static_cast<void>(open("/dev/null", modes[descriptor]));
  }
}

}  // namespace tresse::app
