#pragma once

#include <string>
#include <utility>
#include <vector>

/// The runs of a sweep: every combination of the values that are varied.
namespace tresse::app::sweep {

/// One parameter and its values, as `--set` takes them.
struct Variation {
  std::string name;
  std::vector<std::string> values;
};

/// "name=a:b:n", n numbers from a to b, or "name=v1,v2,...". Throws InvalidInput.
Variation parse_variation(const std::string& text);

struct Case {
  std::string name;                                           ///< of its folder: "case-007"
  std::vector<std::pair<std::string, std::string>> settings;  ///< (name, value) of what is varied
};

/// The last variation changes fastest. Throws InvalidInput for more than 100 000 or a name varied twice.
std::vector<Case> cases_of(const std::vector<Variation>& variations);

/// "friction=0.3 fibres=4".
std::string describe(const Case& one);

}  // namespace tresse::app::sweep
