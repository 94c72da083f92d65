#!/usr/bin/env python3
"""Friction problems that leave and enter the program: friction_test.py --program TRESSE. A run's problems as files, solved again."""

import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import h5py
import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
WISP = ["--set", "fibres=4", "--set", "elements=6", "--set", "settle_time=0.02", "--set", "entry_time=2"]


def contacts_of(folder, step):
    """Forces (n, 3) and normals (n, 3) of a frame; every step is one."""
    with h5py.File(folder / "run/trajectory.h5") as file:
        begin = file["contacts/frame_offsets"][:]
        rows = slice(begin[step], begin[step + 1])
        return file["contacts/force"][rows], file["contacts/normal"][rows]


def compare_dump(folder, tresse, step):
    """What is wrong with one dumped problem, against the run's own contacts."""
    path = folder / f"problems/step-{step}.hdf5"
    forces, normals = contacts_of(folder, step)
    with h5py.File(path) as file:
        info = file["fclib_local/info/description"][()].decode()
        said = dict(line.split(maxsplit=1) for line in info.splitlines())
        stored = file["solution/r"][:]
        q = file["fclib_local/vectors/q"][:]
    scale = float(said["theta"]) * float(said["dt"].split()[0])
    wrong = []
    if int(said["step"]) != step or abs(float(said["time"].split()[0]) - step * 1e-3) > 1e-15:
        wrong.append(f"step and time: {said}")
    result = tresse("friction", path, "-o", "solved.json", "--tolerance", "1e-13", "--threads", "1")
    solved = json.loads((folder / "solved.json").read_text(encoding="utf-8")) if result.returncode == 0 else None
    if solved is None or not solved["converged"] or len(solved["reaction"]) != forces.size:
        return [*wrong, f"step {step}: {result.stderr} {solved and solved['status']}"]
    largest = max(np.linalg.norm(forces), 1e-300)
    # The stored impulses are the run's: only the rounding of a rotation and a division lies between.
    for what, impulse, tolerance in (("stored", stored, 1e-13), ("solved", np.array(solved["reaction"]), 1e-6)):
        force = impulse.reshape(-1, 3) / scale
        normal = np.abs(force[:, 0] - np.sum(forces * normals, axis=1)).max()
        tangent = np.linalg.norm(forces - normals * np.sum(forces * normals, axis=1)[:, None], axis=1)
        across = np.abs(np.hypot(force[:, 1], force[:, 2]) - tangent).max()
        if max(normal, across) > tolerance * largest:
            wrong.append(f"step {step}, {what}: forces differ by {normal:g} and {across:g} N of {largest:g}")
    if not np.any(q):
        wrong.append("q is zero")
    return wrong


def compare_tool(folder, program):
    """What is wrong with tools/compare_friction on one small problem: its measure is computed apart from the library's."""
    command = [ROOT / "tools/compare_friction", "--quick", "--no-siconos", "--program", program, "-o", "compared"]
    done = subprocess.run([sys.executable, *command, "--figure", "profile.svg"], cwd=folder, capture_output=True, text=True,
                          timeout=300)  # fmt: skip
    if done.returncode != 0 or not (folder / "profile.svg").is_file():
        return [f"compare_friction: {done.stderr}"]
    rows = json.loads((folder / "compared/compare_friction.json").read_text(encoding="utf-8"))["rows"]
    wrong = []
    for row in (row for row in rows if row["solver"] == "hybrid-gauss-seidel"):
        if not row["seconds"] or not row["error"] <= row["tolerance"]:
            wrong.append(f"compare_friction: {row}")
        # Two computations of W r + q: they agree to rounding of its largest entries.
        elif abs(row["error"] - row["told"]) > 1e-3 * row["told"] + 1e-14:
            wrong.append(f"compare_friction: errors {row['error']} and {row['told']}")
    return wrong


def check_certificate(folder, tresse):
    """What is wrong with what is said of two walls that close in on a body, and of two that don't."""
    wrong = []
    rows = np.eye(3)
    matrix = " ".join(map(str, np.block([[rows, -rows], [-rows, rows]]).T.ravel()))
    for second, expected in ((-1, "no_solution"), (2, "converged")):
        (folder / "walls.dat").write_text(f"3\n2\n0\n6 6\n6 6\n{matrix}\n-1 0 0 {second} 0 0\n0.5 0.5\n", encoding="utf-8")
        done = tresse("friction", "walls.dat", "-o", "walls.json", "--strict")
        out = json.loads((folder / "walls.json").read_text(encoding="utf-8"))
        status = (out["status"], out["converged"], done.returncode)
        if status != (expected, expected == "converged", 0 if expected == "converged" else 3):
            wrong.append(f"walls: {status}, expected {expected}")
        elif expected == "no_solution" and [row[0] for row in out["certificate"]["weights"]] != [0, 1]:
            wrong.append(f"walls: {out['certificate']}")
    return wrong


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True)
    program = os.path.abspath(parser.parse_args().program)
    wrong = []
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)

        def tresse(*words):
            return subprocess.run([program, *map(str, words)], cwd=folder, capture_output=True, text=True, timeout=500)

        text = (ROOT / "scenes/comb.toml").read_text(encoding="utf-8")
        scene = folder / "comb.toml"  # with every step as a frame
        scene.write_text(re.sub(r"^every = \d+", "every = 1", text, flags=re.MULTILINE), encoding="utf-8")
        run = tresse("run", scene, "-o", "run", *WISP, "--until", "0.12", "--quiet", "--threads", "1",
                     "--dump-friction", "problems", "--dump-steps", "20,100:120:10")  # fmt: skip
        if run.returncode != 0:
            sys.exit(run.stderr)
        names = sorted(path.name for path in (folder / "problems").iterdir())
        if names != ["step-100.hdf5", "step-110.hdf5", "step-120.hdf5", "step-20.hdf5"]:
            wrong.append(f"files: {names}")
        for path in names:
            wrong += compare_dump(folder, tresse, int(path[5:-5]))
        for choice in ("0", "5:", "a", "3:2", "1:2:3:4", "1,,2", "1:5:0", "-3", " "):
            bad = tresse("run", scene, "-o", "never", "--dump-friction", "never", f"--dump-steps={choice}")
            if bad.returncode != 2 or bad.stderr.count("\n") != 1 or "--dump-steps" not in bad.stderr:
                wrong.append(f"--dump-steps '{choice}': {bad.returncode} {bad.stderr}")
        if (folder / "never").exists():
            wrong.append("a refused choice of steps left a folder")
        again = tresse("friction", "problems/step-120.hdf5", "-o", "a.json", "--write-problem", "copy.hdf5")
        with h5py.File(folder / "problems/step-120.hdf5") as one, h5py.File(folder / "copy.hdf5") as two:
            for key in ("W/p", "W/i", "W/x", "vectors/q", "vectors/mu"):
                if again.returncode != 0 or not np.array_equal(one["fclib_local/" + key], two["fclib_local/" + key]):
                    wrong.append(f"--write-problem: {key} {again.stderr}")
        wrong += compare_tool(folder, program) + check_certificate(folder, tresse)
    if wrong:
        sys.exit("\n".join(wrong))
    print("friction_test: sound")


if __name__ == "__main__":
    main()
