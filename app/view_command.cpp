#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <tresse/base/errors.hpp>

#include "commands.hpp"
#include "messages.hpp"
#include "view/page_assets.hpp"
#include "view/run_data.hpp"
#include "view/server.hpp"

namespace tresse::app {
namespace {

struct ViewArguments {
  std::vector<std::string> runs;
  int port = 0;
  bool no_open = false;
  bool quiet = false;
  bool end_with_parent = false;
  std::string assets;
};

/// Shows the page in the desktop's browser, where there is a desktop. No matter if that fails: the address is printed.
void open_browser(const std::string& address) {
  if (std::getenv("DISPLAY") == nullptr && std::getenv("WAYLAND_DISPLAY") == nullptr) return;
  posix_spawn_file_actions_t quiet;
  posix_spawn_file_actions_init(&quiet);
  posix_spawn_file_actions_addopen(&quiet, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addopen(&quiet, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  const char* words[] = {"xdg-open", address.c_str(), nullptr};
  pid_t child = 0;
  posix_spawnp(&child, words[0], &quiet, nullptr, const_cast<char**>(words), environ);
  posix_spawn_file_actions_destroy(&quiet);
}

/// httplib waits with select(), which knows descriptors below 1024 only.
void limit_descriptors() {
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = std::min<rlim_t>(limit.rlim_max, 512);
  setrlimit(RLIMIT_NOFILE, &limit);
}

/// Answers requests until the program is told to end.
void serve(view::Server& server) {
  sigset_t ends;
  sigemptyset(&ends);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&ends, signal);
  pthread_sigmask(SIG_BLOCK, &ends, nullptr);  // the threads to come inherit it, so that the signal is left to sigwait
  std::promise<void> served;
  std::thread serving([&] {
    server.serve();
    served.set_value();
    kill(getpid(), SIGTERM);
  });
  int signal = 0;
  sigwait(&ends, &signal);
  server.stop();
  // A client that takes its time keeps its connection open; nothing is lost with it.
  if (served.get_future().wait_for(std::chrono::milliseconds(500)) != std::future_status::ready) std::_Exit(done);
  serving.join();
}

void view_run(const ViewArguments& arguments) {
  if (arguments.end_with_parent) prctl(PR_SET_PDEATHSIG, SIGTERM);
  limit_descriptors();
  require(arguments.runs.size() <= 2,
          [&] { return fmt::format("{} runs; expected one, or two to see side by side", arguments.runs.size()); });
  std::vector<std::unique_ptr<view::RunData>> runs;
  for (const std::string& run : arguments.runs) runs.push_back(std::make_unique<view::RunData>(run));
  view::Server server(runs, view::find_assets(arguments.assets), arguments.port);
  const std::string address = fmt::format("http://127.0.0.1:{}/", server.port());
  print("{}", address);
  finish_output();
  if (isatty(fileno(stderr)) == 1 && !arguments.end_with_parent && !arguments.quiet) say("Ctrl-C ends the viewer.");
  if (!arguments.no_open) open_browser(address);
  serve(server);
}

}  // namespace

void add_view_command(CLI::App& program, int& exit_status) {
  CLI::App* command =
      program.add_subcommand("view", "Show a run in the browser, also one that goes on, or two side by side");
  const auto arguments = std::make_shared<ViewArguments>();
  command->add_option("DIR", arguments->runs, "folder of a run, or its trajectory.h5; two of them: side by side")
      ->required();
  command->add_option("--port", arguments->port, "of 127.0.0.1 (default: any that is free)")
      ->check(CLI::Range(1, 65535))
      ->type_name("N");
  command->add_flag("--no-open", arguments->no_open, "Print the address only, open no browser");
  command->add_flag("--quiet", arguments->quiet, "Say nothing but the address");
  command->add_option("--assets", arguments->assets, "folder of another build of the page")->group("");
  command->add_flag("--end-with-parent", arguments->end_with_parent)->group("");
  command->footer(
      "Example: tresse view out/comb\n"
      "         tresse view out/straight out/bezier    # two runs side by side");
  command->callback([arguments, &exit_status] {
    view_run(*arguments);
    exit_status = done;
  });
}

}  // namespace tresse::app
