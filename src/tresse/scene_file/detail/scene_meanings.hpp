#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace tresse::scene_file::detail {

/// What a key of a scene is for, in words that go on from "`key`: ". `place` is "table.key" as SceneRecorder has it, or
/// a table alone. Empty when there are no words for it.
std::string_view meaning(std::string_view place);

/// Scenes that between them hold every key in each of its forms: what the reader asks of them is all that it can ask.
/// Where a bound hangs on another value, two of them differ in it.
const std::vector<std::string_view>& probe_scenes();

/// How many places have words, so that a test can tell that none is left over.
std::size_t meanings_count();

}  // namespace tresse::scene_file::detail
