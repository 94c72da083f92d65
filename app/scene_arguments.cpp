#include "scene_arguments.hpp"

#include <fmt/format.h>

#include <algorithm>

#include <tresse/base/errors.hpp>

#include "messages.hpp"

namespace tresse::app {

scene_file::ParameterOverrides SceneArguments::overrides() const {
  scene_file::ParameterOverrides out;
  for (const std::string& assignment : set) {
    const std::size_t equals = assignment.find('=');
    require(equals != std::string::npos && equals > 0,
            fmt::format("--set {}: found no name and value; expected name=value", assignment));
    out.emplace_back(assignment.substr(0, equals), assignment.substr(equals + 1));
  }
  return out;
}

void tell_left_out(void (*tell)(std::string_view), const std::vector<std::string>& messages) {
  for (std::size_t i = 0; i < std::min(told_one_by_one, messages.size()); ++i) tell(messages[i]);
  if (messages.size() > told_one_by_one)
    tell(fmt::format("... and {} more are left out", messages.size() - told_one_by_one));
}

void tell_time_step(void (*tell)(std::string_view), double time_step, const std::string& reason) {
  if (!reason.empty()) tell(fmt::format("time_step is {:g} s, chosen by the program: {}", time_step, reason));
}

void tell_remarks(void (*tell)(std::string_view), const std::string& file, const std::vector<scene::Remark>& remarks) {
  for (const scene::Remark& remark : remarks) {
    const auto [line, column] = remark.location;
    const std::string place = line > 0 ? fmt::format("{}:{}:{}", file, line, column) : file;
    tell(fmt::format("{}: {}", place, remark.message));
  }
}

}  // namespace tresse::app
