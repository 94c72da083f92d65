#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

/// The text form of USD as a list of prims, whatever these mean. Composition is not carried out.
namespace tresse::importers::detail {

using UsdValues = std::map<std::string, std::string_view, std::less<>>;

/// What stands in the text: views into it.
struct UsdAttribute {
  std::string_view value;    ///< empty where it has none, or is blocked
  std::string_view samples;  ///< in braces, empty where it has none
  UsdValues metadata;
};

struct UsdPrim {
  static constexpr std::size_t none = static_cast<std::size_t>(-1);

  std::string specifier;  ///< "def", "over" or "class"
  std::string type, name;
  std::size_t line = 0;       ///< of its specifier, from 1
  std::size_t parent = none;  ///< index of the prim that holds it
  UsdValues metadata;         ///< list operations stand under the name of what they edit
  std::map<std::string, UsdAttribute, std::less<>> attributes;
  bool variants = false;  ///< has a set of variants
};

struct UsdLayer {
  UsdValues metadata;
  std::vector<UsdPrim> prims;  ///< each behind the one that holds it
};

/// @throws InvalidInput "name:line: ..." where the text breaks off or is something else.
UsdLayer read_usda_layer(std::string_view text, const std::string& name);

/// A word or a text without its quotes.
std::string_view unquoted(std::string_view value);

/// What brackets hold, separated by commas; numbers of tuples one by one.
std::vector<std::string_view> usd_items(std::string_view value);

struct UsdSample {
  double time = 0.0;
  std::string_view value;
};
/// Of "{ 0: [...], 1: [...] }", in the order of the text. @throws InvalidInput "name:..." where a time is no number.
std::vector<UsdSample> usd_samples(std::string_view text, const std::string& name);

}  // namespace tresse::importers::detail
