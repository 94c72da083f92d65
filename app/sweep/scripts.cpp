#include "scripts.hpp"

#include <algorithm>

#include <fmt/format.h>

#include <tresse/base/errors.hpp>
#include <tresse/base/words.hpp>

#include "child_process.hpp"

namespace tresse::app::sweep {
namespace {

std::string shell_line(const std::vector<std::string>& words) {
  std::string out;
  for (const std::string& word : words) out += (out.empty() ? "" : " ") + shell_quoted(word);
  return out;
}

/// The command of a case; a run goes on where it was interrupted. `threads` as the shell takes it.
std::string command_line(const Recipe& recipe, std::size_t k, const std::string& threads) {
  std::string words = shell_line(recipe.commands[k]);
  if (recipe.commands[k][1] != "run") return words;
  const std::string checkpoint = shell_quoted(recipe.folder + "/" + recipe.cases[k].name + "/checkpoint.h5");
  return fmt::format("{} --threads {} $([ ! -e {} ] || echo --resume)", words, threads, checkpoint);
}

/// In a comment: no value ends its line.
std::string commented(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < ' '; }, '?');
  return text;
}

/// A Python string literal.
std::string python_quoted(const std::string& text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\\' || c == '\'') out += '\\';
    if (c == '\n') {
      out += "\\n";
    } else {
      out += c;
    }
  }
  return out + "'";
}

}  // namespace

std::string slurm_script(const Recipe& recipe) {
  std::string out = fmt::format(
      "#!/usr/bin/env bash\n"
      "# A sweep of {0} runs. Submit with sbatch; add --time, --partition and the like there. When all are done:\n"
      "#   {1}\n"
      "# makes the table and the plot; what is finished is not run again, here or when this is submitted again.\n"
      "#SBATCH --job-name=tresse-sweep\n"
      "#SBATCH --array=0-{2}\n"
      "#SBATCH --ntasks=1\n"
      "#SBATCH --cpus-per-task={3}\n"
      "#SBATCH --output=/dev/null\n"
      "set -u\n"
      "threads=${{SLURM_CPUS_PER_TASK:-{3}}}\n"
      "mkdir -p {4}\n"
      "case ${{SLURM_ARRAY_TASK_ID:?submit this with sbatch, or set it}} in\n",
      recipe.cases.size(), shell_line(recipe.gather), recipe.cases.size() - 1, recipe.threads,
      shell_quoted(recipe.folder));
  for (std::size_t k = 0; k < recipe.cases.size(); ++k) {
    out += fmt::format("  {})  # {}\n    exec {} >{} 2>&1 ;;\n", k, commented(describe(recipe.cases[k])),
                       command_line(recipe, k, "\"$threads\""),
                       shell_quoted(recipe.folder + "/" + recipe.cases[k].name + ".log"));
  }
  return out + "esac\n";
}

std::string snakefile(const Recipe& recipe) {
  require(recipe.folder.find_first_of("{}") == std::string::npos,
          fmt::format("-o {}: holds a brace, which Snakemake takes for a wildcard; expected none", recipe.folder));
  std::string out = fmt::format(
      "# A sweep of {}: snakemake --snakefile THIS --cores N. Each job is a run; the last one makes the table.\n"
      "COMMANDS = {{\n",
      counted(static_cast<std::int64_t>(recipe.cases.size()), "run"));
  for (std::size_t k = 0; k < recipe.cases.size(); ++k) {
    out += fmt::format("    {}: {},\n", python_quoted(recipe.cases[k].name),
                       python_quoted(command_line(recipe, k, std::to_string(recipe.threads))));
  }
  out += fmt::format(
      "}}\n\n"
      "rule table:\n"
      "    input: expand({0}, case=COMMANDS)\n"
      "    output: {1}\n"
      "    params: command=lambda wildcards: {2}\n"
      "    shell: \"{{params.command}}\"\n\n"
      "# A run that fails is a row of the table, not the end of the sweep; one that is interrupted (130) is done "
      "again.\n"
      "rule run:\n"
      "    output: {0}\n"
      "    log: {3}\n"
      "    params: command=lambda wildcards: COMMANDS[wildcards.case]\n"
      "    threads: {4}\n"
      "    shell: \"{{params.command}} >{{log:q}} 2>&1 || [ $? -ne 130 ]; touch {{output:q}}\"\n",
      python_quoted(recipe.folder + "/{case}.done"), python_quoted(recipe.folder + "/sweep.csv"),
      python_quoted(shell_line(recipe.gather)), python_quoted(recipe.folder + "/{case}.log"), recipe.threads);
  return out;
}

}  // namespace tresse::app::sweep
