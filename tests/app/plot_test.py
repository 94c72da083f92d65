#!/usr/bin/env python3
"""tresse plot on the folders of a small run: plot_test.py --program TRESSE. Looks at the pixels of what it draws."""

import argparse
import csv
import os
import pathlib
import shutil
import subprocess
import tempfile

os.environ["MPLCONFIGDIR"] = tempfile.gettempdir()
import matplotlib.image  # noqa: E402
import numpy as np  # noqa: E402

SCENE = pathlib.Path(__file__).resolve().parents[2] / "scenes/three_point_bending.toml"
BLUE, RED, GREEN, SKY, PALE = (0, 114, 178), (213, 94, 0), (0, 158, 115), (86, 180, 233), (201, 201, 201)
# Figure, runs, size in pixels, colours of the curves.
FIGURES = (
    ("forces", ["run"], (1350, 690), (SKY, PALE)),
    ("forces", ["run", "other"], (1500, 960), (BLUE, RED)),
    ("forces", ["pulleys", "longer"], (1500, 960), (BLUE, RED)),
    ("holds", ["pulleys", "longer"], (1500, 960), (BLUE, RED)),
    ("energies", ["run"], (1350, 690), (RED, GREEN)),
    ("solver", ["run"], (1350, 1350), (BLUE,)),
    ("solver", ["run", "other"], (1350, 1350), (BLUE, RED)),
    ("holds", ["knot"], (1350, 690), (SKY, PALE)),
    ("auto", ["knot"], (1350, 690), (SKY, PALE)),
    ("auto", ["run"], (1350, 690), (SKY, PALE)),
    ("auto", ["rest"], (1350, 1350), (BLUE,)),
    ("shape", ["rest"], (1350, 1350), (BLUE,)),
    ("--y=force_support", ["run"], (1350, 690), (BLUE,)),
    ("--x=elastic --y=force_support --y=t_step", ["run", "other"], (1350, 1170), (BLUE, RED)),
    ("roots", ["run"], (1350, 690), (SKY, PALE)),
    ("roots", ["run", "other"], (1500, 960), (RED,)),
    ("--y=load_end --y=load_end_z", ["knot"], (1350, 1170), (BLUE,)),
    ("grains", ["sand"], (1440, 900), (BLUE, RED)),
    ("auto", ["sand"], (1440, 900), (BLUE, RED)),
    ("convergence", ["sweeps.json"], (1350, 690), (BLUE,)),
    ("convergence", ["sweeps.json", "newton.json"], (1350, 690), (BLUE, RED)),
)


def columns_of(picture, colour):
    """How many columns of pixels hold a colour: a curve crosses hundreds, its key in the legend some fifty."""
    near = np.abs(picture[:, :, :3] * 255.0 - np.array(colour)).max(axis=2) < 12.0
    return int(near.any(axis=0).sum())


def make_runs(program, folder):
    """A short run, and a copy of it with larger forces, more contacts and longer steps."""
    run = [program, "run", str(SCENE), "-o", "run", "--until", "0.3", "--quiet", "--set", "friction=0.3"]
    subprocess.run(run, cwd=folder, check=True, timeout=300)
    shutil.copytree(folder / "run", folder / "other")
    for name, scaled in (("forces.csv", ("fx", "fy", "fz")), ("steps.csv", ("contacts", "iterations", "t_step"))):
        with open(folder / "run" / name, newline="", encoding="utf-8") as stream:
            rows = list(csv.DictReader(stream))
        with open(folder / "other" / name, "w", newline="", encoding="utf-8") as stream:
            writer = csv.DictWriter(stream, rows[0].keys())
            writer.writeheader()
            writer.writerows({k: 2.0 * float(v) if k in scaled else v for k, v in row.items()} for row in rows)


def make_knot(program, folder):
    """A run in which a point is held and nothing stands, and an equilibrium."""
    run = [program, "run", str(SCENE.parent / "knot.toml"), "-o", "knot", "--until", "0.1", "--quiet"]
    subprocess.run(run, cwd=folder, check=True, timeout=300)
    static = [program, "static", str(SCENE.parent / "cantilever.toml"), "-o", "rest", "--quiet", "--threads", "1"]
    subprocess.run(static, cwd=folder, check=True, timeout=300)


def make_pulleys(program, folder):
    """Two obstacles and two holds; a second run goes on for twice the time."""
    for name, until in (("pulleys", "0.1"), ("longer", "0.2")):
        run = [program, "run", str(SCENE.parent / "cable_over_pulleys.toml"), "-o", name, "--until", until, "--quiet"]
        subprocess.run([*run, "--set", "friction=0.3"] if name == "longer" else run, cwd=folder, check=True, timeout=300)


def make_sand(program, folder):
    """A layer on a slope."""
    run = [program, "run", str(SCENE.parent / "sand_incline.toml"), "-o", "sand", "--quiet", "--set", "steps=10"]
    subprocess.run(run, cwd=folder, check=True, timeout=300)


def sand_past_a_bar(program, folder):
    """What is wrong with the maps of speed and pressure: grey where the bar is, bright above it in the right one."""
    run = [program, "run", str(SCENE.parent / "sand_cylinder.toml"), "-o", "bar", "--quiet", "--until", "0.05"]
    subprocess.run(run, cwd=folder, check=True, timeout=300)
    subprocess.run([program, "plot", "bar", "-o", "bar.png", "--what", "grains", "--quiet"], cwd=folder, check=True, timeout=300)
    picture = matplotlib.image.imread(folder / "bar.png")
    if picture.shape[:2] != (900, 1440):
        yield f"the maps have {picture.shape[:2]} pixels"
    for name, half in (("speed", picture[:, :720]), ("pressure", picture[:, 720:])):
        grey = np.abs(half[:, :, :3] * 255.0 - np.array(PALE)).max(axis=2) < 12.0
        across = int((grey.sum(axis=0) > 60).sum())
        if not 120 < across < 200:  # a quarter of a map of about 640 pixels
            yield f"the map of {name} shows the bar in {across} columns"


def left_out(program, folder):
    """What is wrong with the curves of two runs of different length, or with the line on what a figure leaves out."""
    plot = [program, "plot", "longer", "pulleys", "-o", "two.png"]
    subprocess.run(plot, cwd=folder, check=True, timeout=300)
    # The right half of the panel at the top left, where one of the runs has ended: both obstacles of the other are there.
    picture = matplotlib.image.imread(folder / "two.png")[60:450, 650:900]
    if min(columns_of(picture, BLUE), columns_of(picture, RED)) < 200:
        yield "the longer of two runs ends with the shorter one"
    shutil.copytree(folder / "pulleys", folder / "fewer")
    with open(folder / "pulleys/forces.csv", encoding="utf-8") as stream:
        rows = [line for line in stream if "pulley 2" not in line]
    (folder / "fewer/forces.csv").write_text("".join(rows), encoding="utf-8")
    floor = [line.replace("pulley 1", "floor") for line in rows[1:]]
    still = [",".join((*line.split(",")[:2], "0", "0", "0", "0\n")) for line in floor]
    shutil.copytree(folder / "fewer", folder / "floor")
    (folder / "floor/forces.csv").write_text("".join([*rows, *still]), encoding="utf-8")
    for words, said in (
        (["pulleys", "fewer"], "not drawn, as not every run has it: pulley 2; --compare no draws it"),
        (["floor"], "not drawn: floor (no force in any run); --y 'force_floor' draws it"),
        (["floor", "--quiet"], ""),
        (["pulleys", "fewer", "--compare", "no"], ""),
    ):
        plot = [program, "plot", *words, "-o", "left.png"]
        result = subprocess.run(plot, cwd=folder, capture_output=True, text=True, timeout=300)
        lines = [line for line in result.stderr.splitlines() if not line.startswith("left.png: ")]
        if result.returncode != 0 or lines != ([f"tresse: {said}"] if said else []):
            yield f"{words}: {result}"


def refusals(program, folder):
    """What is wrong with the lines about bad input."""
    for words, said in (
        (["run", "--what", "holds"], "nothing holds a point of a fibre there; expected a run with holds.csv; --what roots draws"),
        (["pulleys", "--what", "roots"], "no root of a fibre is clamped there; expected a run with roots.csv"),
        (["run", "--y", "fz"], "no column 'fz'; expected one of: time, contacts"),
        (["run", "--x", "time"], "found no --y"),
        (["run", "--what", "grains"], "there are no grains there; expected a run of a scene with [grains]"),
        (["sand", "run", "--what", "grains"], "--what grains: found 2 runs; expected one"),
        (["run", "--what", "energies", "--y", "time"], "expected one or the other"),
        (["knot", "--what", "forces"], "holds no step"),
        (["run", "pulleys"], "the runs share no obstacle"),
    ):
        result = subprocess.run([program, "plot", *words, "-o", "no.png"], cwd=folder, capture_output=True, text=True, timeout=300)
        if result.returncode != 2 or said not in result.stderr or result.stderr.count("\n") != 1:
            yield f"{words}: {result}"
    if (folder / "no.png").exists():
        yield "a figure of bad input was written"


def make_solves(program, folder):
    """A pile of contacts, solved twice."""
    case = folder / "problem"
    run = [program, "run", str(SCENE.parent / "spaghetti.toml"), "-o", "pile", "--until", "0.3", "--quiet", "--dump-friction", str(case)]
    subprocess.run([*run, "--dump-steps", "all"], cwd=folder, check=True, timeout=300)
    problem = max(case.iterdir(), key=lambda file: file.stat().st_size)
    for name, solver in (("sweeps", "hybrid-gauss-seidel"), ("newton", "alart-curnier-newton")):
        solve = [program, "friction", str(problem), "-o", f"{name}.json", "--solver", solver]
        subprocess.run(solve, cwd=folder, check=True, timeout=300)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True)
    program = os.path.abspath(parser.parse_args().program)
    bad = []
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        make_runs(program, folder)
        make_knot(program, folder)
        make_solves(program, folder)
        make_pulleys(program, folder)
        make_sand(program, folder)
        bad += refusals(program, folder)
        bad += left_out(program, folder)
        bad += sand_past_a_bar(program, folder)
        for what, runs, size, colours in FIGURES:
            case = f"{what} of {len(runs)}"
            words = what.split() if what.startswith("--") else ["--what", what]
            command = [program, "plot", *runs, "-o", "figure.png", *words]
            result = subprocess.run(command, cwd=folder, capture_output=True, timeout=300)
            said = f"figure.png: plot of {', '.join(runs)}\n".encode()
            if result.returncode != 0 or result.stdout or result.stderr != said:
                bad.append(f"{case}: {result}")
                continue
            picture = matplotlib.image.imread(folder / "figure.png")
            found = [columns_of(picture, colour) for colour in colours]
            if picture.shape[1::-1] != size or min(found) < (200 if what == "convergence" else 400):
                bad.append(f"{case}: {picture.shape[1::-1]} pixels, expected {size}; columns of curves {found}")
            (folder / "figure.png").unlink()
    print("\n".join(bad) if bad else f"{len(FIGURES)} figures")
    return 1 if bad else 0


if __name__ == "__main__":
    raise SystemExit(main())
