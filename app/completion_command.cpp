#include <memory>
#include <string>

#include <fmt/format.h>

#include <tresse/files/atomic_file.hpp>

#include "commands.hpp"
#include "interface.hpp"
#include "messages.hpp"
#include "version.hpp"

namespace tresse::app {
namespace {

std::string completion(const CommandText& program, const std::string& what) {
  if (what == "bash") return bash_completion(program);
  if (what == "zsh") return zsh_completion(program);
  if (what == "fish") return fish_completion(program);
  return man_page(program, TRESSE_VERSION);
}

}  // namespace

void add_completion_command(CLI::App& program, int& exit_status) {
  CLI::App* command =
      program.add_subcommand("completion", "Print a shell's completion script, or the manual page, of this program");
  command->footer("Example: tresse completion bash > ~/.local/share/bash-completion/completions/tresse");
  command->group("");  // for packagers: not in the list of commands
  const auto what = std::make_shared<std::string>();
  command->add_option("what", *what, "for which shell, or man: the manual page")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh", "fish", "man"}));
  const auto output = std::make_shared<std::string>();
  command->add_option("-o,--output", *output, "file to write (default: standard output)")->type_name("FILE");
  command->callback([what, output, &program, &exit_status] {
    const std::string text = completion(describe(program), *what);
    if (output->empty())
      print_text(text);
    else
      files::write_atomically(*output, text);
    exit_status = done;
  });
}

}  // namespace tresse::app
