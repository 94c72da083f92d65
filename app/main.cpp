#include <fmt/format.h>
#include <unistd.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#include <csignal>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <tresse/base/errors.hpp>
#include <tresse/base/interrupt.hpp>
#include <tresse/base/log.hpp>

#include "commands.hpp"
#include "kept_fits.hpp"
#include "messages.hpp"
#include "usage.hpp"
#include "version.hpp"

namespace {

constexpr const char* no_memory = "out of memory: the case needs more than this machine has";

/// TRESSE_LOG=debug|info|warning chooses what the library's messages show; warnings by default.
void set_up_log() {
  using tresse::LogLevel;
  LogLevel threshold = LogLevel::warning;
  if (const char* wanted = std::getenv("TRESSE_LOG")) {
    const std::string_view name(wanted);
    if (name == "debug") threshold = LogLevel::debug;
    if (name == "info") threshold = LogLevel::info;
  }
  tresse::set_log_sink([threshold](LogLevel level, const std::string& message) {
    if (level >= threshold) tresse::app::say_line(message);
  });
}

int fail(std::string_view message) {
  tresse::app::say("tresse: {}", message);
  return tresse::app::bad_input;
}

/// Takes no memory.
[[noreturn]] void end_with(const char* message) {
  for (const char* part : {"tresse: ", message, "\n"}) {
    static_cast<void>(!::write(STDERR_FILENO, part, std::strlen(part)));
  }
  std::_Exit(tresse::app::bad_input);
}

/// For what goes wrong where no exception may pass, such as a thread that finds no memory to start in. What is on the
/// disk is good at any moment.
[[noreturn]] void end_at_once() {
  try {
    if (const std::exception_ptr error = std::current_exception()) std::rethrow_exception(error);
  } catch (const std::bad_alloc&) {
    end_with(no_memory);
  } catch (const std::runtime_error& error) {
    end_with(error.what());
  } catch (...) {
    std::abort();  // a mistake of ours
  }
  std::abort();
}

/// A step takes as much memory as the last one. Kept at hand, what it frees is not given back page by page and asked
/// for again: of the page faults of a wisp's steps two in five go.
void keep_freed_memory() {
#ifdef __GLIBC__
  mallopt(M_MMAP_THRESHOLD, 32 << 20);  // [bytes] the most that it takes
  mallopt(M_TRIM_THRESHOLD, 1 << 30);
#endif
}

/// "help COMMAND" as "COMMAND --help".
std::vector<char*> plain_arguments(int argc, char** argv) {
  static char help[] = "--help";
  std::vector<char*> out(argv, argv + argc);
  if (out.size() < 2 || std::string_view(out[1]) != "help") return out;
  out.erase(out.begin() + 1);
  out.push_back(help);
  return out;
}

/// The exit status of the command that the arguments name.
int run(CLI::App& program, int argc, char** argv) {
  int exit_status = tresse::app::done;
  tresse::app::add_run_command(program, exit_status);
  tresse::app::add_static_command(program, exit_status);
  tresse::app::add_check_command(program, exit_status);
  tresse::app::add_distance_command(program, exit_status);
  tresse::app::add_fit_command(program, exit_status);
  tresse::app::add_invert_command(program, exit_status);
  tresse::app::add_friction_command(program, exit_status);
  tresse::app::add_render_command(program, exit_status);
  tresse::app::add_plot_command(program, exit_status);
  tresse::app::add_export_command(program, exit_status);
  tresse::app::add_view_command(program, exit_status);
  tresse::app::add_bench_command(program, exit_status);
  tresse::app::add_sweep_command(program, exit_status);
  tresse::app::add_compare_command(program, exit_status);
  tresse::app::add_schema_command(program, exit_status);
  tresse::app::add_completion_command(program, exit_status);
  try {
    tresse::app::require_known_commands(program, argc, argv);
    try {
      program.parse(argc, argv);
    } catch (const CLI::Success& success) {
      std::ostringstream text;
      exit_status = program.exit(success, text, text);
      tresse::app::print_text(text.str());
    }
    tresse::app::finish_output();
  } catch (const CLI::ParseError& error) {
    return fail(tresse::app::usage_message(program, error));
  } catch (const tresse::InvalidInput& error) {
    return fail(error.what());
  } catch (const tresse::SystemFailure& error) {
    return fail(error.what());
  } catch (const tresse::Interrupted&) {
    return tresse::app::interrupted;
  } catch (const std::bad_alloc&) {
    end_with(no_memory);  // a matrix that failed to grow is not whole (Eigen 3.4): whatever is left is not destroyed
  } catch (const std::exception& error) {
    return fail(error.what());
  }
  return exit_status;
}

}  // namespace

int main(int argc, char** argv) {
  std::set_terminate(end_at_once);
  try {
    tresse::app::reserve_descriptors();
    std::signal(SIGPIPE, SIG_IGN);  // what nobody reads is an error of write(), not a death; so is a full disk
    std::signal(SIGXFSZ, SIG_IGN);
    set_up_log();
    keep_freed_memory();
    tresse::app::keep_fits();
    CLI::App program("tresse simulates assemblies of curved elastic fibres and the forces between them.", "tresse");
    program.set_version_flag("-v,--version", fmt::format("tresse {} ({})", TRESSE_VERSION, TRESSE_COMMIT));
    program.require_subcommand(1);
    std::vector<char*> arguments = plain_arguments(argc, argv);
    return run(program, static_cast<int>(arguments.size()), arguments.data());
  } catch (const std::bad_alloc&) {
    end_with(no_memory);  // even the message had no room
  }
}
