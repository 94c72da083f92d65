#pragma once

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

/// The program's commands and options as data, read off CLI11's tree, so that what describes them follows by itself.
namespace tresse::app {

struct OptionText {
  std::vector<std::string> names;  ///< "-o", "--output"; for a positional its name alone
  std::string value;               ///< what it takes: "N", "FILE"; empty for a flag
  std::vector<std::string> words;  ///< the only values, where these are listed
  std::string description;
  std::string initial;  ///< value without the option, where help shows one
  bool positional = false;
  bool required = false;
  bool repeated = false;
};

struct CommandText {
  std::string path;  ///< "tresse bench steps"
  std::string name;  ///< "steps"
  std::string description;
  std::string footer;
  std::vector<OptionText> options;    ///< hidden ones left out
  std::vector<CommandText> commands;  ///< likewise
};

/// Throws nothing; `program` is the whole tree.
CommandText describe(const CLI::App& program);

/// `command` and all below it, parents first.
std::vector<const CommandText*> all(const CommandText& command);

/// Scripts that complete commands, options and words; files for everything else.
std::string bash_completion(const CommandText& program);
std::string zsh_completion(const CommandText& program);
std::string fish_completion(const CommandText& program);

/// tresse.1, for man(7). `version` as in the program's --version.
std::string man_page(const CommandText& program, const std::string& version);

}  // namespace tresse::app
