#!/usr/bin/env python3
"""What `run` and `check` say of a run that is not bad input: messages_test.py --program TRESSE."""

import argparse
import pathlib
import re
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
HAIR = 'simulation = { duration = 0.02 }\n[[fibres]]\nname = "hair"\nmaterial = "nylon"\nlength = "20 cm"\n'
THIN = HAIR + 'elements = 1\nradius = "40 um"\n'
STOUT = HAIR + "elements = 2\nradius = 40\n"
STOUT_REMARK = "s.toml:2:1: fibres 'hair': radius 40 m, length 0.2 m; expected a radius of at most half the length"
FLOOR = '[[obstacles]]\nname = "floor"\nshape = "plane"\npoint = [0, 0, -0.000041]\nnormal = [0, 0, 1]\n'
UNSOLVED = "solver = { tolerance = 1e-30 }\n" + THIN + FLOOR


class Folder:
    def __init__(self, program, folder):
        self.program, self.folder = program, pathlib.Path(folder)

    def call(self, scene, *words):
        (self.folder / "s.toml").write_text(scene, encoding="utf-8")
        result = subprocess.run([self.program, words[0], "s.toml", *words[1:]], cwd=self.folder, capture_output=True, text=True,
                                timeout=100)  # fmt: skip
        assert result.returncode == 0, result
        return result


def replaced_results(folder):
    run = ["run", "-o", "out"]
    assert "replaces" not in folder.call(THIN, *run).stderr
    assert folder.call(THIN, *run, "--resume").stderr.startswith("Sound: 20 steps"), "gone on with, not replaced"
    lines = folder.call(THIN, *run, "--until", "0.001").stderr.splitlines()
    assert lines[0] == "out: replaces the results of an earlier run (finished: 20 steps, 0.02 s)", lines
    assert lines[1].startswith("Sound: 1 step, every"), lines
    lines = folder.call(THIN, *run).stderr.splitlines()
    assert lines[0] == "out: replaces the results of an earlier run (interrupted: 1 step, 0.001 s)", lines
    assert folder.call(THIN, *run, "--quiet").stderr == ""


def quiet_verdict(folder):
    """The last line of a run that isn't sound is the same with --quiet, and its status 0."""
    loud = folder.call(UNSOLVED, "run", "-o", "loud").stderr.splitlines()
    quiet = folder.call(UNSOLVED, "run", "-o", "quiet", "--quiet").stderr.splitlines()
    assert loud[-1].startswith(("Not sound: ", "Nearly sound: ")) and quiet[-1] == loud[-1], (loud, quiet)


def thicker_than_long(folder):
    assert STOUT_REMARK in folder.call(STOUT, "check").stdout.splitlines()
    assert folder.call(STOUT, "run", "-o", "stout", "--quiet").stderr.splitlines() == [STOUT_REMARK]
    assert "thick" not in folder.call(THIN, "check").stdout


def words_of_check(folder):
    assert re.search(r"(?m)^fibres 'hair': 1 of 1 element, ", folder.call(THIN, "check").stdout)
    assert re.search(r"(?m)^fibres 'hair': 1 of 2 elements, ", folder.call(STOUT, "check").stdout)
    one = folder.call(THIN.replace("0.02", "0.001"), "check").stdout
    assert re.search(r"(?m)^1 step of 0\.001 s, detection certified$", one), one
    (folder.folder / "one.csv").write_text("fibre,x,y,z\n0,0,0,0\n0,0.1,0,0\n", encoding="utf-8")
    group = '[[fibres]]\nname = "hair"\nmaterial = "nylon"\nradius = "40 um"\nfrom = { file = "one.csv" }\n'
    assert ": 1 strand, 1 element; " in folder.call(group, "check").stdout


def page_of_check(folder):
    """docs/commands.md explains every name that stands before a figure."""
    page = (ROOT / "docs/commands.md").read_text(encoding="utf-8")
    table = page.partition("## What `tresse check` says")[2].partition("<!-- generated")[0]
    said = folder.call(THIN, "check").stdout
    for word in ("natural turns", "EI1", "EI2", "GJ", "gravito-bending length", "number", "first bending frequency", "detection",
                 "certified", "memory", "no body overlaps another"):  # fmt: skip
        assert word in said and word in table, word


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", required=True, type=pathlib.Path)
    program = parser.parse_args().program.resolve()
    for test in (replaced_results, quiet_verdict, thicker_than_long, words_of_check, page_of_check):
        with tempfile.TemporaryDirectory() as folder:
            test(Folder(program, folder))
            print(test.__name__)


if __name__ == "__main__":
    main()
