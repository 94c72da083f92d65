#pragma once

#include <optional>

#include <tresse/base/field.hpp>
#include <tresse/scene/limits.hpp>

/// How the tables of a scene are listed. Each table has one list of its keys: `fields(x, visit)` of its Table calls
/// visit(Field, member of x) for every key. From this list are made what a file is read with, how a scene is written,
/// which ranges are checked, the JSON schema, the tables of docs/reference/scenes.md and the keys that Python takes.
///
/// The type of a member says which form a value has: double, int, std::uint64_t, bool, std::string, an enumeration with
/// Words, Vector3, a vector of numbers or of Vector3 (an array), std::optional of these, a type with a Table of its own
/// (a table below this one) or a vector of it (an array of tables). A key without a member has an Unkept instead.
/// What has no single number, word or vector in the file is read by a function of its own, with the same Field.
namespace tresse::scene {

using limits::Range;
using tresse::Complain;
using tresse::Field;

/// Forms that a value may have in a file, where it may have several.
namespace forms {
inline constexpr unsigned one = 1;       ///< a number or text
inline constexpr unsigned list = 2;      ///< an array of these
inline constexpr unsigned triplet = 4;   ///< three numbers in an array
inline constexpr unsigned triplets = 8;  ///< an array of triplets
}  // namespace forms

/// A key of a file that no member keeps as it is.
template <class T>
struct Unkept {
  std::optional<T> otherwise = {};  ///< what holds without the key, where there is one value
};

/// The list of a table: `name` ("fibres.grid"), `meaning`, `fields(x, visit)`, and where values have to fit together,
/// `check(x, complain)`.
template <class T>
struct Table;

template <class T>
concept HasTable = requires {
  Table<T>::name;
};

}  // namespace tresse::scene
