#!/usr/bin/env python3
"""Completions in bash, zsh and fish: completion_test.py --program TRESSE. Each script is loaded by its shell and asked; what it
must offer comes from --help."""

import argparse
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

SCENE = str(pathlib.Path(__file__).resolve().parents[2] / "scenes/comb.toml")
BASH = """
source {script}
COMP_WORDS=({words}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)); COMPREPLY=()
_tresse
printf '%s\\n' "${{COMPREPLY[@]}}"
"""
# The three functions of zsh's completion system that the script calls, as plain prints.
ZSH = """
compdef() {{ : }}
_describe() {{ [[ $1 == -o ]] && shift; for entry in "${{(@P)2}}"; do print -r -- "${{entry%%:*}}"; done }}
_files() {{ print -r -- FILES }}
compadd() {{
  local suffix=''
  [[ $1 == -S ]] && {{ suffix=$2; shift 2 }}
  shift
  for word in "$@"; do [[ $word == ${{words[CURRENT]}}* ]] && print -r -- "$word$suffix"; done
  true
}}
source {script}
words=({words}); CURRENT=$#words
_tresse
"""
FISH = "source {script}; complete -C {line}"


def asked(shell, script, words):
    """What the shell offers for the last word of a line, as a set."""
    quoted = " ".join(f"'{word}'" for word in words)
    if shell == "fish":
        command = ["fish", "--no-config", "-c", FISH.format(script=script, line=f"'{' '.join(words)}'")]
    else:
        text = (BASH if shell == "bash" else ZSH).format(script=script, words=quoted)
        command = ["bash", "--norc", "-c", text] if shell == "bash" else ["zsh", "-f", "-c", text]
    result = subprocess.run(command, capture_output=True, text=True, timeout=60, cwd=script.parent, check=False)
    if result.returncode or result.stderr:
        return {f"failed: {result.stderr}"}
    return {line.split("\t")[0] for line in result.stdout.splitlines()}


def help_of(program, *words):
    return subprocess.run([program, *words, "--help"], capture_output=True, text=True, check=True).stdout


def expected(program):
    """(words of a line, what must be offered, what must not)."""
    commands = set(re.findall(r"(?m)^  (\w[\w-]*)", help_of(program).split("Subcommands:\n")[1]))
    yield ["tresse", ""], commands, {"completion"}
    for command in sorted(commands):
        options = set(re.findall(r"(?m)^  (?:-\w,)?(--[\w-]+)", help_of(program, command)))
        yield ["tresse", command, "--"], options, commands
    yield ["tresse", "bench", ""], {"steps", "state"}, {"run"}
    yield ["tresse", "bench", "steps", "--"], {"--states", "--threads"}, {"--set"}
    yield ["tresse", "plot", "--what", ""], {"forces", "energies"}, {"--title"}
    yield ["tresse", "run", "-o", "out", "--"], {"--until"}, {"--what"}
    # The parameters of a scene, from the program that the line names.
    for option in ("--set", "--vary"):
        command = "run" if option == "--set" else "sweep"
        yield [program, command, SCENE, option, "fri"], {"friction="}, {"elements", "--until"}
        yield [program, command, SCENE, option, "el"], {"elements="}, {"friction="}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", required=True)
    program = str(pathlib.Path(parser.parse_args().program).resolve())
    wrong, missing = [], []
    with tempfile.TemporaryDirectory() as folder:
        for shell in ("bash", "zsh", "fish"):
            if shutil.which(shell) is None:
                missing.append(shell)
                continue
            script = pathlib.Path(folder, f"completion.{shell}")
            subprocess.run([program, "completion", shell, "-o", script], check=True)
            for words, wanted, unwanted in expected(program):
                offered = asked(shell, script, words)
                if not wanted <= offered or unwanted & offered:
                    wrong.append(f"{shell}: {' '.join(words)}: offers {sorted(offered)}, expected {sorted(wanted)}")
            files = asked(shell, script, ["tresse", "run", "comp"])
            if not any("FILES" in name or name.startswith("completion.") for name in files):
                wrong.append(f"{shell}: no files where a scene is wanted: {sorted(files)}")
    print("\n".join(wrong) or f"completions work{'; not tried, since not installed: ' if missing else ''}{' '.join(missing)}")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
