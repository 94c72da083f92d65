#!/usr/bin/env python3
"""Penalty laws from outside: laws_test.py --program TRESSE.

What creeps, what is refused, that a barrier is never touched, that steps with many contacts end, and that bits depend on
neither threads nor interruptions.
"""

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
COLUMNS = ["evaluations", "linear_solves", "least_step_length", "least_gap", "stiffness"]


def call(program, folder, *words):
    return subprocess.run([program, *words], cwd=folder, capture_output=True, text=True, timeout=300, check=False)


def run(program, folder, scene, name, *more, **parameters):
    sets = [word for key, value in parameters.items() for word in ("--set", f"{key}={value}")]
    return call(program, folder, "run", str(SCENES / f"{scene}.toml"), "-o", name, "--quiet", *sets, *more)


def rows(folder, name, table="steps"):
    with open(folder / name / f"{table}.csv", newline="", encoding="utf-8") as stream:
        return list(csv.DictReader(stream))


def creeping(program, folder):
    """On a slope that friction holds, a fibre slides with 2 nu / 15 artanh(tan / mu)."""
    for law in ("imc", "ipc"):
        for share in (0.5, 0.9, 0.99):
            slope = math.atan(share * 0.3)
            wrong = []
            told = run(program, folder, "inclined_plane", "creep", **{"contact.law": law, "slope_deg": math.degrees(slope), "clearance": 5e-6})
            wrong += [told.stderr] if told.returncode or told.stderr else []
            load = rows(folder, "creep", "forces")[-1]
            mass = math.hypot(float(load["fx"]), float(load["fz"])) / 9.81
            step = rows(folder, "creep")[-1]
            speed = math.sqrt(2 * float(step["kinetic"]) / mass)
            expected = 2 * SLIP / 15 * math.atanh(share)
            if abs(speed / expected - 1) > 1e-6:
                wrong.append(f"creeps with {speed} m/s, expected {expected}")
            if not 0.0 < float(step["least_gap"]) < 1e-5:
                wrong.append(f"a gap of {step['least_gap']} m")
            yield f"{law} at {share} of friction", wrong


def kept_apart(program, folder):
    """Under the barrier the least gap at the end of every step is above zero, and the run is sound."""
    for scene, parameters in (("knot", {}), ("capstan", {"clearance": 5e-6})):
        told = run(program, folder, scene, "apart", "--until", "0.3", **{"contact.law": "ipc", **parameters})
        wrong = [told.stderr] if told.returncode or told.stderr else []
        table = rows(folder, "apart")
        least = min(float(row["least_gap"]) for row in table)
        if not least > 0.0:
            wrong.append(f"the least gap is {least} m")
        if max(float(row["stiffness"]) for row in table) <= 0.0 or max(int(row["linear_solves"]) for row in table) < 1:
            wrong.append("nothing was solved")
        verdict = json.loads((folder / "apart/summary.json").read_text())["verdict"]
        yield f"{scene} under the barrier", wrong + ([] if verdict == "sound" else [str(verdict)])


def bundle_lands(program, folder):
    """A bundle lies along itself at hundreds of contacts, which push each other together: passes end, and gaps stay."""
    told = run(program, folder, "spaghetti", "bundle", "--until", "0.06", **{"contact.law": "imc"})
    wrong = [told.stderr] if told.returncode or told.stderr else []
    landed = [row for row in rows(folder, "bundle") if float(row["time"]) > 0.0515]
    most = max(int(row["contacts"]) for row in landed)
    if most < 300:
        wrong.append(f"at most {most} contacts")
    least = min(float(row["least_gap"]) for row in landed)
    if not least > 0.0:
        wrong.append(f"the least gap is {least} m")
    yield "a bundle that lands", wrong


def same_bits(program, folder):
    options = {"contact.law": "imc", "friction": 0.3}
    for name, more in (("one", ["--threads", "1"]), ("two", ["--threads", "2"])):
        run(program, folder, "knot", name, "--until", "0.26", *more, **options)
    run(program, folder, "knot", "cut", "--until", "0.24", **options)
    call(program, folder, "run", str(SCENES / "knot.toml"), "-o", "cut", "--quiet", "--resume", "--until", "0.26",
         "--set", "contact.law=imc", "--set", "friction=0.3")  # fmt: skip
    timed = ("t_detection", "t_assembly", "t_solve", "t_step")
    tables = {name: [[v for k, v in row.items() if k not in timed] for row in rows(folder, name)] for name in ("one", "two", "cut")}
    yield "one thread and two", [] if tables["one"] == tables["two"] else ["tables differ"]
    yield "cut and resumed", [] if tables["one"] == tables["cut"] else ["tables differ"]


REFUSED = [
    ("inclined_plane", {"contact.law": "glue"}, 'contact.law is "glue"; expected "coulomb", "imc" or "ipc"'),
    ("inclined_plane", {"contact.law": "ipc"}, "touches obstacle 'plane'"),
    ("inclined_plane", {"contact.law": "imc", "contact.penalty.distance_tolerance": "2 mm"}, "expected at most the smallest radius, 0.001 m"),
    ("inclined_plane", {"contact.law": "imc", "contact.penalty.distance_tolerance": 0}, "contact.penalty.distance_tolerance"),
    ("inclined_plane", {"contact.law": "imc", "contact.penalty.slip_velocity": -1}, "contact.penalty.slip_velocity"),
    ("inclined_plane", {"contact.law": "imc", "contact.penalty.stiffness": "hard"}, "contact.penalty.stiffness"),
    ("inclined_plane", {"contact.law": "imc", "contact.penalty.softness": 1}, "softness"),
    ("inclined_plane", {"contact.law": "imc", "simulation.theta": 0.6, "simulation.scheme": "semi-implicit"}, "simulation.theta below 1"),
    ("inclined_plane", {"contact.law": "imc", "simulation.scheme": "nonlinear"}, 'scheme "nonlinear"'),
]  # fmt: skip


def refused(program, folder):
    for scene, parameters, words in REFUSED:
        told = run(program, folder, scene, "none", **parameters)
        lines = told.stderr.splitlines()
        good = told.returncode == 2 and len(lines) == 1 and words in lines[0] and not (folder / "none").exists()
        yield f"refused: {parameters}", [] if good else [f"{told.returncode}: {told.stderr}"]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True)
    program = os.path.abspath(parser.parse_args().program)
    found = []
    for part in (creeping, kept_apart, bundle_lands, same_bits, refused):
        with tempfile.TemporaryDirectory() as name:
            found += list(part(program, pathlib.Path(name)))
    bad = [(name, wrong) for name, wrong in found if wrong]
    for name, wrong in bad:
        print(f"{name}: {'; '.join(wrong)}")
    print(f"{len(found)} cases, {len(bad)} bad")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
