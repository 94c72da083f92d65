#include "interface.hpp"

#include <algorithm>

namespace tresse::app {
namespace {

/// "a", "b" of "TEXT:{a,b}", CLI11's way to list what IsMember allows.
std::vector<std::string> listed_words(const std::string& type) {
  const std::size_t open = type.find('{');
  const std::size_t close = type.rfind('}');
  if (open == std::string::npos || close == std::string::npos || close < open) return {};
  return CLI::detail::split(type.substr(open + 1, close - open - 1), ',');
}

OptionText describe_option(const CLI::Option& option) {
  OptionText out;
  out.positional = option.get_positional() && option.get_lnames().empty() && option.get_snames().empty();
  if (out.positional) out.names.push_back(option.get_name(true));
  for (const std::string& name : option.get_snames()) out.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) out.names.push_back("--" + name);
  if (option.get_type_size() != 0) {
    const std::string type = option.get_type_name();
    out.value = type.substr(0, type.find(':'));
    out.words = listed_words(type);
  }
  out.description = option.get_description();
  out.initial = option.get_default_str();
  out.required = option.get_required();
  out.repeated = option.get_expected_max() > 1;
  return out;
}

CommandText describe_command(const CLI::App& command, const std::string& path) {
  CommandText out{.path = path,
                  .name = command.get_name(),
                  .description = command.get_description(),
                  .footer = command.get_footer(),
                  .options = {},
                  .commands = {}};
  for (const CLI::Option* option : command.get_options()) {
    if (!option->get_group().empty()) out.options.push_back(describe_option(*option));
  }
  for (const CLI::App* inner : command.get_subcommands([](const CLI::App* app) { return !app->get_group().empty(); }))
    out.commands.push_back(describe_command(*inner, path + " " + inner->get_name()));
  return out;
}

void collect(const CommandText& command, std::vector<const CommandText*>& out) {
  out.push_back(&command);
  for (const CommandText& inner : command.commands) collect(inner, out);
}

}  // namespace

CommandText describe(const CLI::App& program) { return describe_command(program, program.get_name()); }

std::vector<const CommandText*> all(const CommandText& command) {
  std::vector<const CommandText*> out;
  collect(command, out);
  return out;
}

}  // namespace tresse::app
