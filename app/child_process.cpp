#include "child_process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <system_error>

#include <tresse/base/errors.hpp>

#include "share_folder.hpp"

namespace tresse::app {
namespace {

/// The folder that holds the Python package tresse_plot: beside the installed program, else in the sources.
std::filesystem::path package_folder() {
  std::error_code error;
  const std::filesystem::path installed = share_folder() / "python";
  for (const std::filesystem::path& folder : {installed, std::filesystem::path(TRESSE_PYTHON_FOLDER)}) {
    if (std::filesystem::exists(folder / "tresse_plot" / "__main__.py", error)) return folder;
  }
  throw SystemFailure(fmt::format("the plotting module is missing: expected {}/tresse_plot", installed.string()));
}

}  // namespace

std::string single_quoted(const std::string& text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'')
      out += "'\\''";
    else
      out += c;
  }
  return out + "'";
}

std::string shell_quoted(const std::string& text) {
  const bool plain = !text.empty() && std::all_of(text.begin(), text.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 || std::string_view("_-./=:+,").find(static_cast<char>(c)) != std::string_view::npos;
  });
  return plain ? text : single_quoted(text);
}

std::vector<char*> argument_pointers(const std::vector<std::string>& words) {
  std::vector<char*> out;
  out.reserve(words.size() + 1);
  for (const std::string& word : words) out.push_back(const_cast<char*>(word.c_str()));
  out.push_back(nullptr);
  return out;
}

int wait_for(int child) {
  int status = 0;
  while (waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) throw SystemFailure(fmt::format("process {} got lost", child));
  }
  return exit_status_of(status);
}

int exit_status_of(int wait_status) {
  return WIFEXITED(wait_status) ? WEXITSTATUS(wait_status) : 128 + WTERMSIG(wait_status);
}

std::string this_program() {
  std::error_code error;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", error);
  if (error) throw SystemFailure(fmt::format("/proc/self/exe: {}; expected the running program", error.message()));
  return program.string();
}

int run_program(const std::vector<std::string>& words, const std::string& hint) {
  std::vector<char*> argv = argument_pointers(words);
  pid_t child = 0;
  if (const int error = posix_spawn(&child, argv[0], nullptr, nullptr, argv.data(), environ)) {
    throw SystemFailure(fmt::format("{}: {}; {}", words[0], std::strerror(error), hint));
  }
  return wait_for(child);
}

int run_plot(const std::vector<std::string>& options, const std::vector<std::string>& what) {
  const std::string start =
      "import sys; sys.path.insert(0, sys.argv.pop(1)); sys.dont_write_bytecode = True; "
      "from tresse_plot.command import main; sys.exit(main(sys.argv[1:]))";
  std::vector<std::string> words = {TRESSE_PYTHON, "-E", "-s", "-c", start, package_folder().string()};
  words.insert(words.end(), options.begin(), options.end());
  words.emplace_back("--");
  words.insert(words.end(), what.begin(), what.end());
  return run_program(words, "plots need Python 3 with matplotlib: install python3-matplotlib");
}

int start_program(const std::vector<std::string>& words, const std::string& log) {
  const auto refuse = [&] { throw SystemFailure(fmt::format("{}: cannot be started: {}", log, std::strerror(errno))); };
  const int output = open(log.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (output < 0) refuse();
  const std::vector<char*> argv = argument_pointers(words);
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child == 0) {  // only what may be called between fork and exec
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent) _exit(128 + SIGTERM);  // it had ended before
    setpgid(0, 0);
    const int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
    dup2(nothing, STDIN_FILENO);
    dup2(output, STDOUT_FILENO);
    dup2(output, STDERR_FILENO);
    execv(argv[0], argv.data());
    _exit(127);
  }
  const int error = errno;
  close(output);
  errno = error;
  if (child < 0) refuse();
  return child;
}

}  // namespace tresse::app
