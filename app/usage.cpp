#include "usage.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <string_view>
#include <vector>

#include <tresse/base/errors.hpp>
#include <tresse/base/words.hpp>

#include "interface.hpp"

namespace tresse::app {
namespace {

/// The program, the command that was given, the one below it; and how to call the last.
struct CommandPath {
  std::vector<const CLI::App*> apps;
  std::string name;

  explicit CommandPath(const CLI::App& program) : apps{&program}, name(program.get_name()) {}
  void add(const CLI::App& app) {
    apps.push_back(&app);
    name += " " + app.get_name();
  }
};

std::string unknown_command(const CommandPath& path, const std::string& word) {
  std::string hint;
  if (path.apps.size() == 1 && word == "import") {
    hint = "; a scene imports fibres itself, by from = { file = \"FILE\" } in [[fibres]]: docs/guide/imports.md";
  } else {
    std::vector<std::string> known;
    for (const CommandText& command : describe(*path.apps.back()).commands) known.push_back(command.name);
    const std::string near = nearest_word(word, known);
    if (!near.empty()) hint = fmt::format("; did you mean '{}'?", near);
  }
  return fmt::format("unknown command '{}'{} (see {} --help)", word, hint, path.name);
}

/// An option, and not a number below zero.
bool looks_like_option(std::string_view word) {
  return word.size() > 1 && word[0] == '-' && word[1] != '.' && std::isdigit(static_cast<unsigned char>(word[1])) == 0;
}

/// What `command` left over that looks like an option; empty: nothing.
std::string unknown_option(const CLI::App& command) {
  for (const std::string& word : command.remaining()) {
    if (word == "--") break;
    if (looks_like_option(word)) return word.substr(0, word.find('='));
  }
  return {};
}

std::string did_you_mean_option(const CLI::App& command, const std::string& option) {
  const auto bare = [](const std::string& name) {
    return name.substr(std::min(name.find_first_not_of('-'), name.size()));
  };
  std::vector<std::string> known;
  for (const OptionText& text : describe(command).options) {
    if (text.positional) continue;
    for (const std::string& name : text.names) known.push_back(bare(name));
  }
  const std::string near = nearest_word(bare(option), known);
  if (near.empty()) return {};
  return fmt::format("; did you mean {}{}?", near.size() == 1 ? "-" : "--", near);
}

}  // namespace

void require_known_commands(const CLI::App& program, int argc, const char* const* argv) {
  CommandPath path(program);
  for (int i = 1; i < argc && argv[i][0] != '-'; ++i) {
    const CLI::App& last = *path.apps.back();
    if (last.get_subcommands([](const CLI::App*) { return true; }).empty()) return;
    const auto named = [&](const CLI::App* command) { return command->check_name(argv[i]); };
    const auto found = last.get_subcommands(named);
    if (found.empty()) throw InvalidInput(unknown_command(path, argv[i]));
    path.add(*found.front());
  }
}

std::string usage_message(const CLI::App& program, const CLI::ParseError& error) {
  CommandPath path(program);
  for (;;) {
    const CLI::App& last = *path.apps.back();
    const std::string unknown = unknown_option(last);
    if (!unknown.empty())
      return fmt::format("unknown option {}{} (see {} --help)", unknown, did_you_mean_option(last, unknown), path.name);
    const auto given = last.get_subcommands();
    if (given.empty()) break;
    path.add(*given.front());
  }
  const std::vector<CommandText> commands = describe(*path.apps.back()).commands;
  if (dynamic_cast<const CLI::RequiredError*>(&error) != nullptr && !commands.empty()) {
    std::vector<std::string> names;
    for (const CommandText& command : commands) names.push_back(command.name);
    return fmt::format("a command is missing; expected one of {} (see {} --help)", fmt::join(names, ", "), path.name);
  }
  return fmt::format("{} (see {} --help)", error.what(), path.name);
}

}  // namespace tresse::app
