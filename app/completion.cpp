#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>
#include <vector>

#include "child_process.hpp"
#include "interface.hpp"

namespace tresse::app {
namespace {

std::vector<std::string> option_names(const CommandText& command) {
  std::vector<std::string> out;
  for (const OptionText& option : command.options) {
    if (!option.positional) out.insert(out.end(), option.names.begin(), option.names.end());
  }
  return out;
}

std::vector<std::string> command_names(const CommandText& command) {
  std::vector<std::string> out;
  for (const CommandText& inner : command.commands) out.push_back(inner.name);
  return out;
}

/// Patterns of a `case` over "command path:option" or plain paths.
std::string patterns(const std::string& path, const std::vector<std::string>& names) {
  std::vector<std::string> out;
  for (const std::string& name : names) out.push_back(single_quoted(path + name));
  return fmt::format("{}", fmt::join(out, " | "));
}

/// `case` arms that walk down to the command that a line is in; the same text in bash and zsh.
std::string walk(const CommandText& program) {
  std::vector<std::string> paths;
  for (const CommandText* command : all(program)) {
    if (command != &program) paths.push_back(command->path);
  }
  return fmt::format("    case \"$place $word\" in\n      {}) place=\"$place $word\" ;;\n    esac\n",
                     patterns("", paths));
}

/// Whether an option takes NAME=VALUE of the scene that the line names.
bool takes_parameter(const OptionText& option) {
  return std::any_of(option.names.begin(), option.names.end(),
                     [](const std::string& name) { return name == "--set" || name == "--vary"; });
}

/// What a shell runs for the value of an option; `words`, `files` and `parameters` offer the three kinds.
std::string offer(const OptionText& option, const std::string& words, const std::string& files,
                  const std::string& parameters) {
  if (takes_parameter(option)) return parameters;
  return option.words.empty() ? files : words;
}

/// fish takes a quote and a backslash alone as special within single quotes.
std::string fish_quoted(const std::string& text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') out += '\\';
    out += c;
  }
  return out + "'";
}

std::string fish_option(const CommandText& command, const OptionText& option) {
  std::string out = fmt::format("complete -c tresse -n '__tresse_at \"{}\"'", command.path);
  for (const std::string& name : option.names)
    out += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
  if (!option.words.empty())
    out += fmt::format(" -x -a {}", fish_quoted(fmt::format("{}", fmt::join(option.words, " "))));
  else if (takes_parameter(option))
    out += " -x -a '(__tresse_parameters)'";
  else if (!option.value.empty())
    out += " -r";
  return out + " -d " + fish_quoted(option.description) + "\n";
}

}  // namespace

std::string bash_completion(const CommandText& program) {
  std::string values, names;
  for (const CommandText* command : all(program)) {
    for (const OptionText& option : command->options) {
      if (option.positional || option.value.empty()) continue;
      const std::string words = "-W " + single_quoted(fmt::format("{}", fmt::join(option.words, " ")));
      values += fmt::format("    {})\n{}      COMPREPLY=($(compgen {} -- \"$current\"))\n      return ;;\n",
                            patterns(command->path + ":", option.names),
                            takes_parameter(option) ? "      compopt -o nospace 2>/dev/null\n" : "",
                            offer(option, words, "-f", "-S = -W \"$(_tresse_parameters)\""));
    }
    names += fmt::format("    {}) options={} commands={} ;;\n", single_quoted(command->path),
                         single_quoted(fmt::format("{}", fmt::join(option_names(*command), " "))),
                         single_quoted(fmt::format("{}", fmt::join(command_names(*command), " "))));
  }
  return fmt::format(
      "# bash completion of tresse; made by `tresse completion bash`.\n"
      "# The parameters of the scene that a line names.\n"
      "_tresse_parameters() {{\n"
      "  local word\n"
      "  for word in \"${{COMP_WORDS[@]}}\"; do\n"
      "    if [[ $word == *.toml && -f $word ]]; then\n"
      "      \"${{COMP_WORDS[0]}}\" check \"$word\" --parameters 2>/dev/null | cut -d= -f1\n"
      "      return\n"
      "    fi\n"
      "  done\n"
      "}}\n"
      "_tresse() {{\n"
      "  local current=${{COMP_WORDS[COMP_CWORD]}} previous=${{COMP_WORDS[COMP_CWORD - 1]}}\n"
      "  local place=tresse word options='' commands=''\n"
      "  for word in \"${{COMP_WORDS[@]:1:COMP_CWORD-1}}\"; do\n{}  done\n"
      "  case \"$place:$previous\" in\n{}  esac\n"
      "  case \"$place\" in\n{}  esac\n"
      "  if [[ $current == -* ]]; then\n    COMPREPLY=($(compgen -W \"$options\" -- \"$current\"))\n"
      "  elif [[ $commands ]]; then\n    COMPREPLY=($(compgen -W \"$commands\" -- \"$current\"))\n"
      "  else\n    COMPREPLY=($(compgen -f -- \"$current\"))\n  fi\n}}\n"
      "complete -o filenames -F _tresse tresse\n",
      walk(program), values, names);
}

std::string zsh_completion(const CommandText& program) {
  std::string values, names;
  for (const CommandText* command : all(program)) {
    std::string options, commands;
    for (const OptionText& option : command->options) {
      if (option.positional) continue;
      if (!option.value.empty()) {
        values += fmt::format("    {}) {}; return ;;\n", patterns(command->path + ":", option.names),
                              offer(option, fmt::format("compadd -- {}", fmt::join(option.words, " ")), "_files",
                                    "compadd -S = -- $(_tresse_parameters)"));
      }
      for (const std::string& name : option.names) options += " " + single_quoted(name + ":" + option.description);
    }
    for (const CommandText& inner : command->commands)
      commands += " " + single_quoted(inner.name + ":" + inner.description);
    names += fmt::format("    {}) options=({}) commands=({}) ;;\n", single_quoted(command->path), options, commands);
  }
  return fmt::format(
      "#compdef tresse\n# zsh completion of tresse; made by `tresse completion zsh`.\n"
      "# The parameters of the scene that a line names.\n"
      "_tresse_parameters() {{\n"
      "  local word\n"
      "  for word in \"${{words[@]}}\"; do\n"
      "    if [[ $word == *.toml && -f $word ]]; then\n"
      "      \"${{words[1]}}\" check \"$word\" --parameters 2>/dev/null | cut -d= -f1\n"
      "      return\n"
      "    fi\n"
      "  done\n"
      "}}\n"
      "_tresse() {{\n"
      "  local place=tresse word\n  local -a options commands\n"
      "  for word in \"${{(@)words[2,CURRENT-1]}}\"; do\n{}  done\n"
      "  case \"$place:${{words[CURRENT-1]}}\" in\n{}  esac\n"
      "  case \"$place\" in\n{}  esac\n"
      "  if [[ ${{words[CURRENT]}} == -* ]]; then\n    _describe -o option options\n"
      "  elif (( $#commands )); then\n    _describe command commands\n"
      "  else\n    _files\n  fi\n}}\n"
      "if [[ $funcstack[1] == _tresse ]]; then _tresse \"$@\"; else compdef _tresse tresse; fi\n",
      walk(program), values, names);
}

std::string fish_completion(const CommandText& program) {
  std::vector<std::string> paths;
  std::string lines;
  for (const CommandText* command : all(program)) {
    if (command != &program) paths.push_back(fish_quoted(command->path));
    for (const CommandText& inner : command->commands) {
      lines += fmt::format("complete -c tresse -f -n '__tresse_at \"{}\"' -a {} -d {}\n", command->path, inner.name,
                           fish_quoted(inner.description));
    }
    for (const OptionText& option : command->options) {
      if (!option.positional) lines += fish_option(*command, option);
    }
  }
  return fmt::format(
      "# fish completion of tresse; made by `tresse completion fish`.\n"
      "function __tresse_at -d 'whether the command line is in a command of tresse'\n"
      "    set -l place tresse\n"
      "    for word in (commandline -opc)[2..-1]\n"
      "        if contains -- \"$place $word\" {}\n"
      "            set place \"$place $word\"\n"
      "        end\n"
      "    end\n"
      "    test \"$place\" = \"$argv[1]\"\n"
      "end\n"
      "function __tresse_parameters -d 'the parameters of the scene that a line names'\n"
      "    set -l words (commandline -opc)\n"
      "    for word in $words\n"
      "        if string match -q '*.toml' -- $word; and test -f $word\n"
      "            $words[1] check $word --parameters 2>/dev/null | string replace -r '=' '=\\t'\n"
      "            return\n"
      "        end\n"
      "    end\n"
      "end\n{}",
      fmt::join(paths, " "), lines);
}

}  // namespace tresse::app
