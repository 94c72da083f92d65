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

void print_remarks(std::FILE* stream, const std::string& file, const std::vector<scene::Remark>& remarks) {
  for (const scene::Remark& remark : remarks) {
    const auto [line, column] = remark.location;
    const std::string place = line > 0 ? fmt::format("{}:{}:{}", file, line, column) : file;
    fmt::print(stream, "{}: {}\n", place, remark.message);
  }
}

}  // namespace tresse::app
