#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

/// Results that take seconds, kept on the disk from one call of a program to the next: bytes by the bytes that they
/// come from. Each is a file of its own, which appears whole. One that is damaged, or that something else wrote, counts
/// as none. Several processes may share a folder.
namespace tresse::files {

struct ResultKeeping {
  std::filesystem::path folder{};  ///< made when something is kept; empty: nothing is
  /// Names the build and the machine: only what the same ones computed is found. Called when it is needed first.
  std::function<std::string()> maker{};
  std::uintmax_t most_bytes = 500'000'000;  ///< of all files; those used longest ago go first
  std::size_t most_files = 1000;
};

/// Takes effect for all that is read afterwards; nothing is kept before the first call. To be called when no other
/// thread uses this.
void keep_results(ResultKeeping keeping);

/// What keep_result() was given for this very `input`. Throws nothing but std::bad_alloc.
std::optional<std::string> kept_result(std::string_view input);

/// Keeps `result`, or does not: what the disk or the system refuses is no error.
void keep_result(std::string_view input, std::string_view result);

}  // namespace tresse::files
