#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>
#include <vector>

#include "interface.hpp"

namespace tresse::app {
namespace {

/// Text for roff: nothing in it is a request or an escape, and a hyphen is the one of the keyboard.
std::string plain(const std::string& text) {
  std::string out;
  for (const char c : text) {
    const bool first = out.empty() || out.back() == '\n';
    if (first && (c == '.' || c == '\'')) out += "\\&";
    if (c == '\\')
      out += "\\e";
    else if (c == '-')
      out += "\\-";
    else
      out += c;
  }
  return out;
}

std::string bold(const std::string& text) { return "\\fB" + plain(text) + "\\fR"; }
std::string slanted(const std::string& text) { return "\\fI" + plain(text) + "\\fR"; }

/// "tresse run [OPTIONS] scene"
std::string usage(const CommandText& command) {
  std::string out = bold(command.path);
  if (!command.commands.empty()) return out + " " + slanted("COMMAND");
  for (const OptionText& option : command.options) {
    if (!option.positional && option.required) out += " " + bold(option.names.front()) + " " + slanted(option.value);
  }
  out += " [" + slanted("OPTION") + "]...";
  for (const OptionText& option : command.options) {
    if (!option.positional) continue;
    const std::string name = slanted(option.names.front()) + (option.repeated ? "..." : "");
    out += option.required ? " " + name : " [" + name + "]";
  }
  return out;
}

std::string entry(const OptionText& option) {
  std::vector<std::string> names;
  for (const std::string& name : option.names) names.push_back(option.positional ? slanted(name) : bold(name));
  std::string out = fmt::format(".TP\n{}", fmt::join(names, ", "));
  if (!option.words.empty())
    out += " " + slanted(fmt::format("{}", fmt::join(option.words, "|")));
  else if (!option.positional && !option.value.empty())
    out += " " + slanted(option.value);
  out += "\n" + plain(option.description);
  if (!option.initial.empty()) out += plain(fmt::format(" (default: {})", option.initial));
  return out + "\n";
}

std::string section(const CommandText& command) {
  std::string out = fmt::format(".SS {}\n{}.\n.PP\n{}\n", bold(command.path.substr(command.path.find(' ') + 1)),
                                plain(command.description), usage(command));
  for (const OptionText& option : command.options) {
    if (option.names.back() != "--help") out += entry(option);
  }
  if (!command.footer.empty()) out += ".PP\n" + plain(command.footer) + "\n";
  return out;
}

}  // namespace

std::string man_page(const CommandText& program, const std::string& version) {
  std::string out =
      fmt::format(".TH TRESSE 1 \"\" {}\n.SH NAME\ntresse \\- curved elastic fibres and the forces between them\n",
                  "\"" + plain("tresse " + version) + "\"");
  out += fmt::format(".SH SYNOPSIS\n{}\n.SH DESCRIPTION\n{}\n", usage(program), plain(program.description));
  out += "Scenes are TOML files; quantities carry units. What a run leaves is described in the documents.\n";
  out += ".SH OPTIONS\n";
  for (const OptionText& option : program.options) out += entry(option);
  out += ".SH COMMANDS\nEach has a \\fB\\-\\-help\\fR of its own.\n";
  for (const CommandText* command : all(program)) {
    if (command != &program) out += section(*command);
  }
  out +=
      ".SH EXIT STATUS\n"
      ".TP\n0\ndone\n"
      ".TP\n2\nbad usage or bad input: one line on standard error, nothing written\n"
      ".TP\n3\na solver missed its tolerance and \\fB\\-\\-strict\\fR was given\n"
      ".TP\n4\nthe state stopped being finite; the last good state is on the disk and named\n"
      ".TP\n130\ninterrupted; a checkpoint is written\n"
      ".SH ENVIRONMENT\n.TP\nTRESSE_LOG\n\\fBdebug\\fR, \\fBinfo\\fR or \\fBwarning\\fR (default): which messages are "
      "shown\n";
  return out;
}

}  // namespace tresse::app
