#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string_view>

/// Enumerations whose values have words of their own, in files, in messages and on the command line.
namespace tresse {

/// `list` of the enumeration's Words has a word for every value, in the order of the enumeration. Values behind the
/// last word have none.
template <class Enumeration>
struct Words;

template <class Enumeration>
concept WithWords = requires {
  Words<Enumeration>::list.size();
};

template <WithWords Enumeration>
constexpr bool has_word(Enumeration value) {
  return static_cast<std::size_t>(value) < Words<Enumeration>::list.size();
}

template <WithWords Enumeration>
constexpr std::string_view word(Enumeration value) {
  return Words<Enumeration>::list[static_cast<std::size_t>(value)];
}

/// None for a word that no value has.
template <WithWords Enumeration>
constexpr std::optional<Enumeration> find_word(std::string_view text) {
  const auto& list = Words<Enumeration>::list;
  const auto found = std::find(list.begin(), list.end(), text);
  if (found == list.end()) return std::nullopt;
  return static_cast<Enumeration>(found - list.begin());
}

}  // namespace tresse
