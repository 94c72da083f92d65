#!/usr/bin/env python3
"""What a command may not write over, and what it has to find out before it does anything: outputs_test.py --program TRESSE."""

import argparse
import hashlib
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import h5py

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from file_changes import checkpoint_checksum  # noqa: E402

DATA = pathlib.Path(__file__).resolve().parents[1] / "data"
RUN = ["run", "scene.toml", "--quiet", "--threads", "1", "--until", "0.005"]

# Words of the command, words of its one line.
REFUSED = [
    ([*RUN, "-o", "."], "./scene.toml: is an input, scene.toml"),
    (["run", "mine/scene.toml", "-o", "mine"], "mine/scene.toml: is an input, mine/scene.toml"),
    (["run", "link.toml", "-o", "mine"], "mine/scene.toml: is an input, link.toml"),
    (["run", "out/scene.toml", "-o", "out"], "out/scene.toml: is an input"),
    (["run", "out/checkpoint.h5", "-o", "out"], "out/checkpoint.h5: is an input"),
    (["run", "out/checkpoint.h5", "-o", "out", "--resume"], "out/checkpoint.h5: is an input"),
    (["run", "skewed.h5", "-o", "out"], "state: the frame of a root is no rotation"),
    ([*RUN, "-o", "mine"], "holds 'notes.txt' and nothing of a run"),
    ([*RUN, "-o", "out", "--record-pairs", "none/pairs.json"], "none/pairs.json: cannot create: there is no folder none"),
    ([*RUN, "-o", "out", "--record-pairs", "box.obj"], "box.obj: is an input"),
    ([*RUN, "-o", "out", "--record-pairs", "out/steps.csv"], "out/steps.csv: is an input"),
    ([*RUN, "-o", "out", "--dump-friction", "notes.txt/problems"], "cannot make the folder 'notes.txt/problems'"),
    ([*RUN, "-o", "out", "--dump-friction", "/proc/problems"], "cannot make the folder"),
    (["static", "clamped.toml", "-o", "."], "'box.obj' and nothing of a run"),
    (["static", "mine/scene.toml", "-o", "mine"], "is an input"),
    (["sweep", "scene.toml", "--vary", "solver.tolerance=1e-9,1e-8", "-o", "mine"], "nothing of a sweep"),
    (["sweep", "scene.toml", "--vary", "solver.tolerance=1e-9,1e-8", "-o", "sweep", "--slurm", "scene.toml"], "scene.toml: is an input"),
    (["fit", "strands.csv", "-o", "mine", "--elements", "3"], "holds 'notes.txt' and nothing of a fit of tresse"),
    (["invert", "clamped.toml", "-o", "mine"], "holds 'notes.txt' and nothing of an inversion of tresse"),
    (["distance", "pairs.json", "-o", "pairs.json"], "pairs.json: is an input"),
    (["distance", "pairs.json", "-o", "same.json"], "same.json: is an input"),
    (["distance", "pairs.json", "-o", "none/out.json"], "none/out.json: cannot create: there is no folder none"),
    (["friction", "problem.hdf5", "-o", "problem.hdf5"], "problem.hdf5: is an input"),
    (["friction", "problem.hdf5", "-o", "a.json", "--write-problem", "problem.hdf5"], "problem.hdf5: is an input"),
    (["friction", "problem.hdf5", "-o", "a.json", "--write-problem", "a.json"], "a.json: is also a.json"),
    (["friction", "problem.hdf5", "-o", "a.json", "--write-problem", "none/a.hdf5"], "none/a.hdf5: cannot create: there is no folder none"),
    (["friction", "problem.hdf5", "-o", "a.json", "--write-problem", "/dev/null"], "/dev/null: is a device"),
    (["export", "out", "--format", "csv", "-o", "out/steps.csv"], "out/steps.csv: is an input"),
    (["export", "out", "--format", "csv", "-o", "none/a.csv"], "none/a.csv: cannot create: there is no folder none"),
    (["render", "out", "-o", "none/a.png"], "none/a.png: cannot create: there is no folder none"),
    (["render", "out", "-o", "trajectory.png", "--width", "32", "--height", "24", "--samples", "1"], "trajectory.png: is an input"),
    (["plot", "out", "-o", "none/a.png"], "none/a.png: cannot create: there is no folder none"),
    (["plot", "out", "-o", "trajectory.png"], "trajectory.png: is an input"),
    (["bench", "state", "out/checkpoint.h5", "scene.toml", "-o", "out/checkpoint.h5"], "out/checkpoint.h5: is an input"),
    (["bench", "distance", "--quick", "--trace", "pairs.json", "-o", "pairs.json"], "pairs.json: is an input"),
    (["schema", "-o", "none/a.json"], "none/a.json: cannot create"),
    (["completion", "bash", "-o", "none/a"], "none/a: cannot create"),
]  # fmt: skip


def contents(folder):
    return {str(p.relative_to(folder)): hashlib.sha256(p.read_bytes()).hexdigest() for p in sorted(folder.rglob("*")) if p.is_file()}


def call(program, words, folder):
    return subprocess.run([program, *words], cwd=folder, capture_output=True, text=True, timeout=300)


def make(program, folder):
    shutil.copy(DATA / "failing_calls/box.obj", folder)
    shutil.copy(DATA / "failing_calls/scene.toml", folder)
    clamped = '[[fibres]]\nname = "hair"\nmaterial = "nylon"\nlength = "10 cm"\nelements = 3\nradius = "1 mm"\n'
    (folder / "clamped.toml").write_text(clamped)
    (folder / "notes.txt").write_text("mine\n")
    (folder / "strands.csv").write_text("x,y,z\n0,0,0\n1,0,0\n2,1,0\n3,1,1\n")
    (folder / "mine").mkdir()
    (folder / "mine/scene.toml").write_text(clamped)
    (folder / "mine/notes.txt").write_text("mine\n")
    (folder / "link.toml").symlink_to("mine/scene.toml")
    pairs = json.loads((DATA / "helix_pairs/pairs.json").read_text())["pairs"][:2]
    (folder / "pairs.json").write_text(json.dumps({"pairs": pairs}))
    os.link(folder / "pairs.json", folder / "same.json")
    result = call(program, [*RUN, "-o", "out", "--dump-friction", "problems", "--dump-steps", "4"], folder)
    assert result.returncode == 0, result
    shutil.copy(folder / "problems/step-4.hdf5", folder / "problem.hdf5")
    os.link(folder / "out/trajectory.h5", folder / "trajectory.png")
    # A state that the file's reader takes and no rod can be in.
    shutil.copy(folder / "out/checkpoint.h5", folder / "skewed.h5")
    with h5py.File(folder / "skewed.h5", "r+") as file:
        file["state/root_frame"][...] = 2 * file["state/root_frame"][...]
        checkpoint_checksum(file)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True, type=lambda p: str(pathlib.Path(p).resolve()))
    program = parser.parse_args().program
    bad = 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        make(program, folder)
        before = contents(folder)
        for words, expected in REFUSED:
            result = call(program, words, folder)
            line = result.stderr.strip()
            good = result.returncode == 2 and line.startswith("tresse: ") and "\n" not in line and expected in line
            after = contents(folder)
            if not good or after != before:
                changed = sorted(k for k in {*before, *after} if before.get(k) != after.get(k))
                print(f"{' '.join(words)}: status {result.returncode}, changed {changed}: {line}")
                bad += 1
        # What is allowed: a run over an earlier one, with its own text if it goes on, and files of the user beside it.
        (folder / "out/notes.txt").write_text("mine\n")
        for words in ([*RUN, "-o", "out"], ["run", "out/scene.toml", "-o", "out", "--resume", "--until", "0.006"],
                      [*RUN, "-o", "fresh", "--record-pairs", "fresh/pairs.json", "--dump-friction", "fresh/problems"]):  # fmt: skip
            result = call(program, words, folder)
            if result.returncode != 0 or (folder / "out/notes.txt").read_text() != "mine\n":
                print(f"{' '.join(words)}: {result}")
                bad += 1
    print(f"{len(REFUSED)} commands refused, {bad} bad")
    return 1 if bad else 0


if __name__ == "__main__":
    raise SystemExit(main())
