#pragma once

#include <filesystem>

namespace tresse::files {

/// Throws InvalidInput, with what was `expected`, unless there is a regular file of that name: no folder, no device or
/// pipe, which may have no end or nobody at the other one, and no name that ends for the system before it does here.
/// Asked of every file before it is read.
void require_regular_file(const std::filesystem::path& file, const char* expected = "a file");

}  // namespace tresse::files
