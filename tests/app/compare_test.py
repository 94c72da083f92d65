#!/usr/bin/env python3
"""`tresse compare` from outside: compare_test.py --program TRESSE."""

import argparse
import csv
import json
import math
import os
import pathlib
import subprocess
import sys
import tempfile

SCENES = pathlib.Path(__file__).resolve().parents[2] / "scenes"
SLIP = 1e-4  # m/s, the default of contact.penalty.slip_velocity


def compare(program, folder, scene, *words):
    return subprocess.run([program, "compare", str(SCENES / f"{scene}.toml"), *words], cwd=folder, capture_output=True, text=True,
                          timeout=300, check=False)  # fmt: skip


def creeping(program, folder):
    """What sticks under the exact law creeps under the others, by a known way."""
    share = 0.9
    slope = math.degrees(math.atan(share * 0.3))
    told = compare(program, folder, "inclined_plane", "--law", "coulomb,imc,ipc", "--set", f"slope_deg={slope!r}", "--set", "clearance=5um",
                   "-o", "out")  # fmt: skip
    wrong = [] if told.returncode == 0 else [f"{told.returncode}: {told.stderr}"]
    if not wrong:
        report = json.loads((folder / "out/compare.json").read_text())
        runs = {run["law"]: run for run in report["runs"]}
        way = 0.5 * 2 * SLIP / 15 * math.atanh(share)
        if report["reference"] != "coulomb" or list(runs) != ["coulomb", "imc", "ipc"]:
            wrong.append(f"compares {list(runs)}")
        for law in ("imc", "ipc"):
            # From a clearance it falls for some steps first.
            if not 0.9 < runs[law]["largest_stick_drift"] / way < 1.01:
                wrong.append(f"{law} creeps by {runs[law]['largest_stick_drift']} m, expected {way}")
            if not runs[law]["least_gap"] > 0.0 or runs[law]["verdict"] != "sound":
                wrong.append(f"{law}: {runs[law]}")
        if not runs["coulomb"]["largest_stick_drift"] < 1e-12 or runs["coulomb"]["largest_mean_distance"] != 0.0:
            wrong.append(f"coulomb: {runs['coulomb']}")
        with open(folder / "out/compare.csv", newline="", encoding="utf-8") as stream:
            rows = list(csv.DictReader(stream))
        if len(rows) != 3 * 51 or {row["law"] for row in rows} != set(runs):
            wrong.append(f"{len(rows)} rows")
        if told.stdout.splitlines()[0].split()[:2] != ["law", "verdict"] or len(told.stdout.splitlines()) != 4:
            wrong.append(told.stdout)
        if (folder / "out/compare.png").read_bytes()[:4] != b"\x89PNG":
            wrong.append("no picture")
    yield "laws on a slope", wrong


def refused_runs(program, folder):
    """A law that the scene cannot have is told, and the others are compared."""
    told = compare(program, folder, "inclined_plane", "--law", "coulomb,ipc,imc", "--set", "duration=0.02", "-o", "out", "--strict")
    runs = {run["law"]: run["status"] for run in json.loads((folder / "out/compare.json").read_text())["runs"]}
    wrong = [] if runs == {"coulomb": "finished", "ipc": "refused", "imc": "finished"} else [str(runs)]
    if told.returncode != 3 or "touches obstacle 'plane'" not in told.stderr:
        wrong.append(f"{told.returncode}: {told.stderr}")
    yield "one run refused", wrong


def other_comparisons(program, folder):
    told = compare(program, folder, "three_point_bending", "--detection", "certified,segments", "--set", "max_indentation=5e-4", "-o", "out",
                   "--quiet")  # fmt: skip
    report = json.loads((folder / "out/compare.json").read_text())
    off = report["runs"][1]["loads"][0]["off_by"]
    good = told.returncode == 0 and not told.stdout and not told.stderr and report["compared"] == "detection" and 0.0 < off < 0.1
    yield "detections", [] if good else [told.stderr, str(report)]
    told = compare(program, folder, "cantilever", "--model", "super-helix,super-clothoid", "--until", "0.01", "-o", "rods", "--quiet")
    report = json.loads((folder / "rods/compare.json").read_text())
    far = report["runs"][1]["largest_mean_distance"]
    yield "rods", [] if told.returncode == 0 and 0.0 < far < 0.01 else [told.stderr, str(report)]


BAD = [
    (["--law", "imc", "-o", "x"], "found less than two runs"),
    (["-o", "x"], "found less than two runs"),
    (["--law", "imc,imc", "-o", "x"], "found imc twice"),
    (["--law", "coulomb,imc", "--model", "super-helix,super-clothoid", "-o", "x"], "--law and --model: found both"),
    (["--law", "glue,paste", "-o", "x"], 'contact.law is "glue"'),
    (["--law", "../a,../b", "-o", "x"], "expected a word"),
    (["--law", "coulomb,imc"], "-o: missing"),
]


def bad_usage(program, folder):
    for words, line in BAD:
        told = compare(program, folder, "inclined_plane", *words)
        lines = told.stderr.splitlines()
        good = told.returncode == 2 and len(lines) == 1 and line in lines[0] and not (folder / "x").exists()
        yield f"refused: {words}", [] if good else [f"{told.returncode}: {told.stderr}"]
    (folder / "mine").mkdir()
    (folder / "mine/thesis.txt").write_text("precious")
    told = compare(program, folder, "inclined_plane", "--law", "coulomb,imc", "-o", "mine")
    good = told.returncode == 2 and sorted(p.name for p in (folder / "mine").iterdir() if not p.name.startswith(".")) == ["thesis.txt"]
    yield "a folder of other things", [] if good else [told.stderr]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True)
    program = os.path.abspath(parser.parse_args().program)
    found = []
    for part in (creeping, refused_runs, other_comparisons, bad_usage):
        with tempfile.TemporaryDirectory() as name:
            found += list(part(program, pathlib.Path(name)))
    bad = [(name, wrong) for name, wrong in found if wrong]
    for name, wrong in bad:
        print(f"{name}: {'; '.join(wrong)}")
    print(f"{len(found)} cases, {len(bad)} bad")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
