#pragma once

#include <string>

namespace tresse::scene_file {

/// JSON schema (draft 7) of scene files, for editors and for the tables of docs/reference/scenes.md. Made from the
/// lists that the reader of scenes follows: tables, keys, forms, units, ranges, words and defaults cannot differ from
/// it. What a schema cannot say (a quantity's text, values that depend on each other) only the reader checks.
///
/// A property has "x-tresse": {"meaning", "unit"}, `unit` the SI unit of a plain number, "" for none; "a or b" where it
/// depends.
std::string scene_schema();

}  // namespace tresse::scene_file
