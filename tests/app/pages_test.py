#!/usr/bin/env python3
"""The commands of the pages: pages_test.py --program TRESSE [--only PAGE].

Every ```sh block of README.md, CONTRIBUTING.md and docs/**/*.md is run, in the order of its page, in a fresh folder where `scenes`,
`tools` and `python` are those of the project and `tresse` is the program given. Runs are cut to a few steps and pictures to a few
pixels (`shortened`); everything else is run as it stands. Marks in the pages, each in a line of its own before a block:

  <!-- not run: REASON -->        for what would build, install or needs what a test hasn't
  <!-- file: NAME -->             a ```toml block to write to a file; `NAME, more` appends
  <!-- python -->                 a ```python block to run

Then every command's --help: exit status 0, an example that starts with the command's own name.
"""

import argparse
import concurrent.futures
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(r"(?m)^(?:<!-- ([^\n]*) -->\n)?```(\w*)\n(.*?)^```$", re.DOTALL)
STEPS = 12  # of a run that is cut short
PIXELS = "32"
SECONDS = 100  # for one line


class Page:
    """A page's blocks in one folder."""

    def __init__(self, path, program, folder):
        self.name = path.relative_to(ROOT).as_posix()
        self.text = path.read_text(encoding="utf-8")
        self.program, self.folder = program, folder
        self.wrong, self.count = [], 0

    def run(self):
        for name in ("scenes", "tools", "python"):
            (self.folder / name).symlink_to(ROOT / name)
        binaries = self.folder / "build/release/bin"
        binaries.mkdir(parents=True)
        (binaries / "tresse").symlink_to(self.program)
        # The program's build has the Python package beside it.
        self.environment = {**os.environ, "PATH": f"{binaries}:{os.environ['PATH']}",
                            "PYTHONPATH": str(self.program.parents[1] / "python")}  # fmt: skip
        for mark, language, body in BLOCK.findall(self.text):
            self.block(mark, language, body)
        return self

    def block(self, mark, language, body):
        if mark.startswith("file: "):
            name, _, more = mark.removeprefix("file: ").partition(",")
            with open(self.folder / name, "a" if more else "w", encoding="utf-8") as stream:
                stream.write(body)
        elif mark == "python":
            self.call(["/usr/bin/python3", "-c", body], "python block")
        elif language == "sh" and not re.fullmatch(r"not run: .{10,}", mark):
            for line in body.replace("\\\n", " ").splitlines():
                if line.strip():
                    self.line(line)

    def line(self, line):
        (self.folder / "out").mkdir(exist_ok=True)
        words = shlex.split(line, comments=True)
        program = words[0].removeprefix("build/release/bin/") if words else ""
        if program == "tresse" and ".mp4" in line and shutil.which("ffmpeg") is None:
            return
        if program == "tresse" and words[1] in ("run", "render"):
            self.call(self.shortened(words), line)
        else:
            self.call(["bash", "-euc", line], line)

    def shortened(self, words):
        """A run of a few steps; a small picture of the last frame, or of the first and a late one."""
        if words[1] == "render":
            small = [*without(words, ("--frame", "--frames", "--width", "--height", "--samples")), "--width", PIXELS,
                     "--height", PIXELS, "--samples", "1"]  # fmt: skip
            return [*small, "--frames", f"::{STEPS - 1}"] if "--frames" in words else [*small, "--frame", "-1"]
        # `tresse invert` leaves the scene of start.h5 beside it.
        scenes = [w.replace("/start.h5", "/inverted.toml") for w in words]
        check = [words[0], "check", *[w for i, w in enumerate(scenes) if i > 1 and ("--set" in (w, words[i - 1])
                                                                                   or w in ("--push-out", "--leave-out")
                                                                                   or w.endswith(".toml"))]]  # fmt: skip
        step = re.search(r"(?m)^\d+ steps? of (\S+) s", self.call(check, shlex.join(check)))
        if step is None or "--gradient" in words:  # whose targets lie in the time that the page gives
            return words
        if "--dump-steps" in words:
            words = [*without(words, ("--dump-steps",)), "--dump-steps", "all"]
        return [*without(words, ("--until",)), "--until", str(STEPS * float(step[1]))]

    def call(self, command, line):
        self.count += 1
        try:
            result = subprocess.run(command, cwd=self.folder, env=self.environment, capture_output=True, text=True,
                                    stdin=subprocess.DEVNULL, timeout=SECONDS)  # fmt: skip
        except (subprocess.TimeoutExpired, OSError) as error:
            self.wrong.append(f"{self.name}: {line}: {error}")
            return ""
        if result.returncode:
            self.wrong.append(f"{self.name}: {line}: exit status {result.returncode}: {result.stderr.strip()[-400:]}")
        return result.stdout


def without(words, options):
    return [w for i, w in enumerate(words) if w not in options and words[i - 1] not in options]


def helps(program, words=()):
    """What is wrong with the help of a command and of all below it."""
    name = " ".join(["tresse", *words])
    result = subprocess.run([program, *words, "--help"], capture_output=True, text=True, timeout=SECONDS, check=False)
    if result.returncode or result.stderr:
        yield f"{name} --help: exit status {result.returncode} {result.stderr}"
    if words and not re.search(rf"Examples?:\s+{name} \S", result.stdout):
        yield f"{name} --help: no line 'Example: {name} ...'"
    below = re.search(r"(?m)^Subcommands:\n((?:  .*\n?)+)", result.stdout)
    for inner in re.findall(r"(?m)^  (\w[\w-]*)", below[1]) if below else ():
        yield from helps(program, (*words, inner))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", required=True, type=pathlib.Path)
    parser.add_argument("--only", default="", help="pages whose name holds this")
    arguments = parser.parse_args()
    program = arguments.program.resolve()
    wrong = list(helps(program))
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(2) as pool:
        pages = []
        for path in PAGES:
            if arguments.only in path.as_posix():
                own = pathlib.Path(folder, path.relative_to(ROOT).with_suffix(""))
                own.mkdir(parents=True)
                pages.append(Page(path, program, own))
        for page in pool.map(Page.run, pages):
            wrong += page.wrong
    count = sum(page.count for page in pages)
    if count < 10 and not arguments.only:
        wrong.append(f"only {count} commands found: has the form of the pages changed?")
    print("\n".join(wrong) or f"{count} commands of {len(pages)} pages")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
