#!/usr/bin/env python3
"""Whether two versions of tresse compute the same bits: same_bytes.py --program TRESSE [--record FILE | --compare FILE].

Runs every scene that the project ships, shortly, and finds some equilibria. A digest is a SHA-256
of the bytes of a file of results, without wall-clock times. Bits depend on the processor that a program is compiled for,
so that both versions are to be built and run on one machine: record with the program before a change, compare with the
one after it. With neither file, one program is compared with itself, on one thread and on two. Ends with 1 where a
digest differs.
"""

import argparse
import hashlib
import json
import pathlib
import re
import subprocess
import sys
import tempfile

import h5py

ROOT = pathlib.Path(__file__).resolve().parents[2]
STEPS = 60  # of each scene
# Scenes that touch nothing in their first steps are run until they do; large ones for less.
LONGER = {"comb": 400, "ball_in_loop": 300, "strand_on_sphere": 300, "willow": 20, "head": 10}
# In a checkpoint: where the log ends, which begins with the version's name, and what is computed from that.
OF_THE_VERSION = ("checksum", "position/log_bytes")
EQUILIBRIA = ("cantilever", "curly_unwinding", "parchment", "ribbon")


def time_step(program, scene):
    """In seconds; None where `check` names none."""
    said = subprocess.run([program, "check", scene], capture_output=True, text=True, timeout=600).stdout
    found = re.search(r"(?m)^\d+ steps? of (\S+) s", said)
    return float(found[1]) if found else None


def content(path):
    """The bytes of a file of results that two runs of one version have in common: no clock, no version of the program."""
    if path.suffix == ".h5":
        parts = []

        def add(name, item):  # anything returned would end the visit
            if isinstance(item, h5py.Dataset) and name not in OF_THE_VERSION:
                parts.append(dataset(name, item))

        with h5py.File(path) as file:
            file.visititems(add)
            assert len(parts) > 10, f"{path}: {len(parts)} datasets"
        return b"".join(parts)
    if path.name == "steps.csv":
        lines = path.read_text(encoding="utf-8").splitlines()
        kept = [i for i, name in enumerate(lines[0].split(",")) if not name.startswith("t_")]
        return "\n".join(",".join(line.split(",")[i] for i in kept) for line in lines).encode()
    return path.read_bytes()


def dataset(name, item):
    values = item[()]
    if item.dtype.hasobject:
        return f"{name} {item.shape} {values.tolist()!r}".encode()
    return f"{name} {item.shape} {item.dtype}".encode() + values.tobytes()


def digests(program, threads=2):
    """By scene, command and file."""
    out = {}
    for scene in sorted((ROOT / "scenes").glob("*.toml")):
        commands = {"static": ["static", scene]} if scene.stem in EQUILIBRIA else {}
        if step := time_step(program, scene):
            commands["run"] = ["run", scene, "--set", f"simulation.duration={step * LONGER.get(scene.stem, STEPS)!r}",
                               "--set", "output.every=10"]  # fmt: skip
        for name, words in commands.items():
            with tempfile.TemporaryDirectory() as folder:
                results = pathlib.Path(folder) / "out"
                done = subprocess.run([program, *words, "-o", results, "--quiet", "--threads", str(threads)],
                                      capture_output=True, text=True, timeout=600)  # fmt: skip
                key = f"{scene.stem} {name}"
                assert done.returncode == 0, (scene, done)
                for file in ("forces.csv", "holds.csv", "roots.csv", "steps.csv", "trajectory.h5", "checkpoint.h5", "shape.csv"):
                    if (results / file).exists():
                        out[f"{key} {file}"] = hashlib.sha256(content(results / file)).hexdigest()
        print(scene.stem, flush=True)
    return out


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", required=True, type=pathlib.Path, help="the tresse to run")
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--record", type=pathlib.Path, help="file to write digests to")
    what.add_argument("--compare", type=pathlib.Path, help="file of digests to compare with")
    arguments = parser.parse_args()
    found = digests(arguments.program.resolve())
    if arguments.record:
        arguments.record.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
        return 0
    if arguments.compare:
        before = json.loads(arguments.compare.read_text(encoding="utf-8"))
    else:
        before = digests(arguments.program.resolve(), threads=1)
    other = sorted(key for key in before.keys() | found.keys() if before.get(key) != found.get(key))
    for key in other:
        print(f"{key}: differs")
    print(f"{len(found) - len(other)} of {len(found)} the same")
    return 1 if other else 0


if __name__ == "__main__":
    sys.exit(main())
