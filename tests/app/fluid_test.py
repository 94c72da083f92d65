#!/usr/bin/env python3
"""Fibres in a fluid from outside: fluid_test.py --program TRESSE.

What the fluid exerts on a flagellum, what is refused, and that bits depend on neither threads nor interruptions.
"""

import argparse
import csv
import math
import pathlib
import subprocess
import sys
import tempfile

SCENE = pathlib.Path(__file__).resolve().parents[2] / "scenes" / "flagella.toml"
OMEGA = 2 * math.pi * 15 / 60  # of the roots, rad/s


def call(program, folder, *words):
    return subprocess.run([program, *words], cwd=folder, capture_output=True, text=True, timeout=300, check=False)


def run(program, folder, name, *more, **parameters):
    sets = [word for key, value in parameters.items() for word in ("--set", f"{key}={value}")]
    return call(program, folder, "run", str(SCENE), "-o", name, "--quiet", *sets, *more)


def rows(folder, name, table):
    with open(folder / name / f"{table}.csv", newline="", encoding="utf-8") as stream:
        return list(csv.DictReader(stream))


def rigid(program, folder):
    """A flagellum that cannot bend: thrust and torque, over viscosity and speed, worked out apart for the polygon."""
    for viscosity in (1.0, 0.1):
        told = run(program, folder, "rigid", flagella=1, young_modulus="1e5 GPa", viscosity=viscosity, rod_density=1000, duration=0.3, law="coulomb")
        wrong = [told.stderr] if told.returncode or told.stderr else []
        last = rows(folder, "rigid", "fluid")[-1]
        # Turned by -omega about x: it is pushed along +x, and pushes back.
        thrust, torque = -float(last["fx"]) / (viscosity * OMEGA), float(last["tx"]) / (viscosity * OMEGA)
        if abs(thrust / 9.963e-4 - 1) > 1e-3:
            wrong.append(f"a thrust of {thrust}, expected 9.963e-4")
        if abs(torque / 8.158e-5 - 1) > 1e-3:
            wrong.append(f"a torque of {torque}, expected 8.158e-5")
        load = rows(folder, "rigid", "roots")[-1]
        # Nothing accelerates but towards the axis: the root carries what the fluid exerts.
        if abs(float(load["fx"]) - float(last["fx"])) > 1e-3 * abs(float(last["fx"])):
            wrong.append(f"the root carries {load['fx']} N along x of {last['fx']} N")
        yield f"rigid at {viscosity} Pa s", wrong


def same_bits(program, folder):
    """One thread or two, in one go or in two: the same tables."""
    for law in ("imc", "coulomb"):
        parameters = {"flagella": 2, "law": law, "duration": 0.05, "output.checkpoint_every": 1}
        told = [
            run(program, folder, "one", "--threads", "1", **parameters),
            run(program, folder, "two", "--threads", "2", **parameters),
            run(program, folder, "parts", "--threads", "2", "--until", "0.02", **parameters),
            run(program, folder, "parts", "--threads", "1", "--resume", **parameters),
        ]
        wrong = [x.stderr for x in told if x.returncode or x.stderr]
        kept = [[{k: v for k, v in row.items() if not k.startswith("t_")} for row in rows(folder, name, "steps")] for name in ("one", "two", "parts")]
        if kept[0] != kept[1] or rows(folder, "one", "fluid") != rows(folder, "two", "fluid"):
            wrong.append("two threads give other numbers than one")
        if kept[0] != kept[2] or rows(folder, "one", "fluid") != rows(folder, "parts", "fluid"):
            wrong.append("a run that went on gives other numbers than one in one go")
        yield f"same bits under {law}", wrong


def in_contact(program, folder):
    """Flagella that begin near each other touch, under every law, and stay sound."""
    for law in ("imc", "ipc", "coulomb"):
        scene = SCENE.read_text(encoding="utf-8").replace("30 mm / (2", "3.3 mm / (2")
        (folder / "near.toml").write_text(scene, encoding="utf-8")
        told = call(program, folder, "run", "near.toml", "-o", "near", "--quiet", "--set", f"law={law}", "--set", "duration=0.3")
        wrong = [told.stderr] if told.returncode or told.stderr else []
        if not any(int(row["contacts"]) > 0 for row in rows(folder, "near", "steps")):
            wrong.append("nothing touched")
        yield f"in contact under {law}", wrong


def refused(program, folder):
    """One line each, and nothing is written."""
    plain = SCENE.read_text(encoding="utf-8")
    ball = '\n[[obstacles]]\nname = "ball"\nshape = "sphere"\ncenter = [1, 0, 0]\nradius = 0.01\nmass = 1\n'
    bad = {
        "viscosity = -1": (plain, ["viscosity=-1"], "fluid.viscosity"),
        "no number": (plain, ["fluid.viscosity=thick"], "fluid.viscosity"),
        "a wind": (plain.replace("gravity = [0, 0, 0]", "gravity = [0, 0, 0]\nwind = [1, 0, 0]"), [], "wind"),
        "a drag": (plain.replace('radius = "1 mm"', 'radius = "1 mm"\ndrag = 0.1'), [], "drag"),
        "theta": (plain, ["simulation.theta=0.5", "simulation.scheme=semi-implicit", "law=coulomb"], "theta"),
        "nonlinear": (plain, ["simulation.scheme=nonlinear", "law=coulomb"], "nonlinear"),
        "a free body": (plain + ball, [], "free body"),
        "a grid and a ring": (plain.replace("[fibres.ring]", "[fibres.grid]\ncount = 2\nspacing = 0.1\n[fibres.ring]"), [], "ring"),
        "a ring along its axis": (plain.replace("first = [0, -1, 0]", "first = [1, 0, 0]"), [], "ring.first"),
        "corners of a super-helix": (plain.replace('"discrete-elastic-rod"', '"super-helix"'), [], "corner"),
        "regularisation 0": (plain, ["fluid.regularisation=0"], "fluid.regularisation"),
        "too many nodes": (plain, ["flagella=300"], "nodes"),
    }
    for name, (text, sets, expected) in bad.items():
        (folder / "bad.toml").write_text(text, encoding="utf-8")
        told = call(program, folder, "run", "bad.toml", "-o", "refused", *[word for one in sets for word in ("--set", one)])
        wrong = [] if told.returncode == 2 else [f"ended with {told.returncode}"]
        if expected not in told.stderr or len(told.stderr.strip().splitlines()) != 1:
            wrong.append(f"said {told.stderr!r}, expected one line with {expected}")
        if (folder / "refused").exists():
            wrong.append("left something behind")
        yield name, wrong


def told_beforehand(program, folder):
    """`check` says how much the fluid's inertia would count."""
    for sets, expected in (([], "Reynolds number 0.016"), (["viscosity=0.1", "turns_per_minute=143.24"], "expected below 0.1")):
        told = call(program, folder, "check", str(SCENE), *[word for one in sets for word in ("--set", one)])
        yield expected, [] if expected in told.stdout and "taken explicitly" in told.stdout else [told.stdout + told.stderr]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", required=True, type=pathlib.Path)
    program = str(parser.parse_args().program.resolve())
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for test in (rigid, same_bits, in_contact, refused, told_beforehand):
            for name, wrong in test(program, pathlib.Path(folder)):
                print(f"{test.__name__}: {name}: {'; '.join(wrong) or 'good'}", flush=True)
                failed += bool(wrong)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
