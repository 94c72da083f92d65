#!/usr/bin/env python3
"""Scenes that users' reports led to, and what is right of them: cases_test.py --program TRESSE.

The scenes are in tests/data/cases. Of each run: how severe the verdict is, and a figure that is known by other means.
"""

import argparse
import csv
import json
import math
import pathlib
import subprocess
import sys
import tempfile

import h5py

ROOT = pathlib.Path(__file__).resolve().parents[2]
CASES = ROOT / "tests/data/cases"


class Run:
    """One run of a scene in a folder of its own."""

    def __init__(self, program, folder, scene, settings):
        sets = [part for setting in settings for part in ("--set", setting)]
        command = [program, "run", scene, "-o", folder, "--quiet", *sets]
        self.done = subprocess.run(command, capture_output=True, text=True, timeout=400)
        self.summary = json.loads((folder / "summary.json").read_text(encoding="utf-8"))
        with open(folder / "steps.csv", encoding="utf-8") as stream:
            self.steps = [{key: float(value) for key, value in row.items()} for row in csv.DictReader(stream)]
        self.folder = folder

    def last(self, table, name):
        with open(self.folder / table, encoding="utf-8") as stream:
            rows = [row for row in csv.DictReader(stream) if name in row.values()]
        return rows[-1]


def wrong_severity(run, wanted):
    found = run.summary["severity"]
    return [] if found in wanted else [f"severity {found}, expected {' or '.join(wanted)}: {run.summary['sentence']}"]


def sound(run):
    return wrong_severity(run, ("none",))


def usable(run):
    return wrong_severity(run, ("none", "slight"))


def goes_on(run):
    """Plies without friction slip and overlap, which the verdict says; they stay finite and gain no energy."""
    if run.summary["verdict"] == "sound":
        return []
    found = {finding["what"] for finding in run.summary["verdict"]} & {"energy", "non-finite"}
    return [f"found {found}: {run.summary['sentence']}"] if found else []


def not_sound(run):
    return wrong_severity(run, ("slight", "serious"))


def keeps_energy(run):
    """What a rod that is let go has of energy stays at or below what it was bent with."""
    stored = 0.00912
    most = max(row["kinetic"] + row["elastic"] for row in run.steps)
    return sound(run) + ([] if most <= stored * (1 + 1e-3) else [f"{most:g} J from {stored:g} J"])


def end_force(run):
    """The force on the lifted end of a rope on a floor, computed by other means."""
    row = run.last("holds.csv", "end")
    force = [float(row[key]) for key in ("fx", "fy", "fz")]
    error = math.hypot(abs(force[0]) - 0.0433, abs(force[2]) - 0.0517)
    return sound(run) + ([] if error < 3e-4 else [f"force {force}, expected 0.0433, 0.0517 N"])


def gains_nothing_or_told(run):
    """A rod of 0.161 J strikes another at 30 m/s."""
    most = max(row["kinetic"] + row["elastic"] for row in run.steps)
    return sound(run) if most < 0.1612 else not_sound(run)


def stopped_or_told(run):
    """A hair is thrown at a bar along y through the origin, from above."""
    with h5py.File(run.folder / "trajectory.h5") as file:
        points = file["fibres/points"][:]
    heights = points[..., 2][abs(points[..., 0]) < 1e-3]
    return sound(run) if heights.min() > 0 else not_sound(run)


RUNS = [
    *[(CASES / "twist.toml", [f"time_step={step}", f"model={model}"], keeps_energy)
      for step in (1e-3, 1e-4, 1e-5, 1e-6) for model in ("super-helix", "super-clothoid")],
    (CASES / "ply_y.toml", [], usable),
    (CASES / "ply_y0.toml", [], goes_on),
    (CASES / "ply_y8.toml", [], usable),
    (CASES / "rest.toml", [], sound),
    (CASES / "pile.toml", [], sound),
    (CASES / "stacked_at_rest.toml", [], sound),
    (ROOT / "scenes/inclined_plane.toml", ["friction=0.5"], sound),
    (CASES / "tip_on_floor.toml", [], end_force),
    (CASES / "energy_of_first_step.toml", [], gains_nothing_or_told),
    (CASES / "through_a_bar.toml", [], stopped_or_told),
]  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", required=True)
    program = str(pathlib.Path(parser.parse_args().program).resolve())
    failed = 0
    for scene, settings, check in RUNS:
        with tempfile.TemporaryDirectory() as folder:
            wrong = check(Run(program, pathlib.Path(folder, "out"), scene, settings))
        print(f"{scene.name} {' '.join(settings)}: {'; '.join(wrong) or 'ok'}", flush=True)
        failed += bool(wrong)
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
