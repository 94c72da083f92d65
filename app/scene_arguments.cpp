#include "scene_arguments.hpp"

#include <fmt/format.h>

#include <tresse/base/errors.hpp>

namespace tresse::app {

io::ParameterOverrides SceneArguments::overrides() const {
  io::ParameterOverrides out;
  for (const std::string& assignment : set) {
    const std::size_t equals = assignment.find('=');
    require(equals != std::string::npos && equals > 0,
            fmt::format("--set {}: found no name and value; expected name=value", assignment));
    out.emplace_back(assignment.substr(0, equals), assignment.substr(equals + 1));
  }
  return out;
}

}  // namespace tresse::app
