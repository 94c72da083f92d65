#pragma once

#include <string>
#include <vector>

/// Programs that this one starts.
namespace tresse::app {

/// One word for a shell, in single quotes.
std::string single_quoted(const std::string& text);

/// The same, bare where nothing in it is special.
std::string shell_quoted(const std::string& text);

/// What exec takes; valid while `words` live.
std::vector<char*> argument_pointers(const std::vector<std::string>& words);

/// Waits for a child to end; its exit status. Throws SystemFailure when there is no such child.
int wait_for(int child);

/// Exit status of a child; of one that a signal ended 128 + that.
int exit_status_of(int wait_status);

/// Runs a program to its end and gives its exit status. Throws SystemFailure when it cannot be started, `hint` in the
/// message.
int run_program(const std::vector<std::string>& words, const std::string& hint);

/// `tresse plot` with these options, and the folders or files to draw: tresse_plot of python/. Gives its exit status.
int run_plot(const std::vector<std::string>& options, const std::vector<std::string>& what);

/// Starts a program with its output going to a file, in a process group of its own, so that Ctrl-C does not reach it;
/// when this program ends, however, it is asked to end (SIGTERM). Gives its id.
int start_program(const std::vector<std::string>& words, const std::string& log);

/// The program that is running.
std::string this_program();

}  // namespace tresse::app
