#!/usr/bin/env python3
"""Forty runs, twenty that are sound and twenty that are not, and what the program says: verdicts_test.py --program TRESSE.

Why each is sound or not stands beside it, and is known otherwise than by the verdict: by what was taken away from the
step (iterations, halvings, inertia), by what no motion can do, or by books of energy that are read from steps.csv.
--table prints all, as docs/measured/verdicts.md has them.
"""

import argparse
import concurrent.futures
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import stability_test

ROOT = pathlib.Path(__file__).resolve().parents[2]
CASES = ROOT / "tests/data/cases"
SCENES = ROOT / "scenes"


class Given:
    """A scene: its text with some lines replaced, and the options of the run."""

    def __init__(self, scene, sets=(), until=None, edits=(), options=(), why=""):
        self.scene, self.sets, self.until, self.edits, self.options, self.why = scene, sets, until, edits, options, why

    def name(self):
        scene = self.scene if isinstance(self.scene, str) else self.scene.name
        changes = [*self.sets, *(new.strip() for _, new in self.edits), *(f"until {self.until} s" for _ in [0] if self.until)]
        return f"{scene} {', '.join(changes)}".strip()


def random_scene(number, time_step, elements=None):
    """A scene of stability_test.py."""
    text = stability_test.scene(number, time_step, 2)[1]
    return text


ROD = """simulation = {{ time_step = {step}, duration = {duration}, {more} }}
materials.m = {{ density = 1100, young_modulus = {young}, poisson_ratio = 0.4, damping_time = {damping} }}
[[fibres]]
name = "rod"
model = "{model}"
material = "m"
length = 0.2
elements = {elements}
radius = 1e-3
{line}
"""


def rod(line="", model="super-helix", step=1e-3, duration=0.5, more="", young=3e7, damping=0, elements=6, rest=""):
    return ROD.format(**locals()) + rest


FLOOR = """[[obstacles]]
name = "floor"
shape = "plane"
point = [0, 0, {height}]
normal = [0, 0, 1]
"""
BAR = """[[obstacles]]
name = "bar"
shape = "capsule"
from = [0.1, -0.2, {height}]
to = [0.1, 0.2, {height}]
radius = {radius}
"""
LED = 'holds = [{ name = "end", at = 0.2, motion = { keyframes = [{ time = 0 }, { time = 0.3, displacement = [%s, 0, 0] }] } }]'
TWO_STEPS = ("[simulation]", "[simulation]\n")

SOUND = {
    "twist let go, 1 ms": (CASES / "twist.toml", ["time_step=1e-3"], [], "the energy stays below what was stored"),
    "twist let go, 10 us": (CASES / "twist.toml", ["time_step=1e-5"], [], "the same"),
    "twist let go, 1 us, clothoids": (CASES / "twist.toml", ["time_step=1e-6", "model=super-clothoid"], [], "the same"),
    "bodies at rest": (CASES / "rest.toml", [], [], "nothing moves"),
    "a stack at rest": (CASES / "stacked_at_rest.toml", [], [], "nothing moves"),
    "a block that sticks on a slope": (SCENES / "inclined_plane.toml", ["friction=0.5"], [], "below the angle of friction"),
    "a block that slides down it": (SCENES / "inclined_plane.toml", ["friction=0.1"], [], "g (sin a - mu cos a)"),
    "the end of a rope on a floor": (CASES / "tip_on_floor.toml", [], [], "its force is known by other means"),
    "rods dropped on a floor": (CASES / "pile.toml", [], [], "at rest in the end"),
    "a cantilever": (SCENES / "cantilever.toml", [], ["--until", "1"], "its deflection is known"),
    "a ball in a loop": (SCENES / "ball_in_loop.toml", [], ["--until", "0.3"], "shipped and tested"),
    "a ribbon": (SCENES / "ribbon.toml", [], ["--until", "0.5"], "shipped and tested"),
    "a curl that unwinds": (SCENES / "curly_unwinding.toml", [], ["--until", "0.5"], "shipped and tested"),
    "a strand on a sphere": (SCENES / "strand_on_sphere.toml", [], ["--until", "0.5"], "shipped and tested"),
    "a mesh": (SCENES / "mesh.toml", [], ["--until", "0.3"], "shipped and tested"),
    "a limp cord over a drum, 4 ms": (random_scene(36, 4e-3), [], ["--push-out"], "held, no deeper than tolerances, energy falls"),
    "a limp cord held on a floor, 4 ms": (random_scene(29, 4e-3), [], ["--push-out"], "the same"),
    "a rod of nodes on a floor": (random_scene(41, 1e-3), [], ["--push-out"], "the same"),
    "a tip that is led away slowly": (rod(LED % -0.02, damping=5e-3), [], [], "within reach"),
    "a swing under the midpoint rule": (SCENES / "swing.toml", ["scheme=nonlinear", "theta=0.5"], ["--until", "0.5"], "it keeps its energy"),
}  # fmt: skip
LIMIT = "rotary_inertia = false"
FREE = 'root = { condition = "free", angular_velocity = [0, 300, 0] }'

NOT_SOUND = {
    "twist without inertia, 0.1 ms": (CASES / "twist.toml", ["time_step=1e-4"], [], "0.18 J of 0.009", ("[simulation]", '[simulation]\nscheme = "semi-implicit"'), ('material = "nylon"', 'material = "limit"'), ("[[fibres]]", '[materials.limit]\npreset = "nylon"\nrotary_inertia = false\n[[fibres]]')),
    "twist without inertia, 10 us": (CASES / "twist.toml", ["time_step=1e-5"], [], "14.6 J of 0.009", ("[simulation]", '[simulation]\nscheme = "semi-implicit"'), ('material = "nylon"', 'material = "limit"'), ("[[fibres]]", '[materials.limit]\npreset = "nylon"\nrotary_inertia = false\n[[fibres]]')),
    "twist without inertia, 1 us": (CASES / "twist.toml", ["time_step=1e-6"], [], "842 J of 0.009", ("[simulation]", '[simulation]\nscheme = "semi-implicit"'), ('material = "nylon"', 'material = "limit"'), ("[[fibres]]", '[materials.limit]\npreset = "nylon"\nrotary_inertia = false\n[[fibres]]')),
    "a rod at 30 m/s, semi-implicit": (CASES / "energy_of_first_step.toml", [], [], "gains what it has several times", ("simulation = {", 'simulation = { scheme = "semi-implicit",')),
    "rods dropped, one iteration of the solver": (CASES / "pile.toml", [], ["--until", "0.3"], "friction is not solved", ("[simulation]", "[solver]\nmax_iterations = 1\n[simulation]")),
    "a tip that is led out of reach": (rod(LED % 0.1, damping=5e-3), [], [], "longer than the rod"),
    "a tip that is led away at 30 m/s": (rod((LED % 0.1).replace("0.3", "0.003"), damping=5e-3), [], [], "the same"),
    "a rod of nodes that folds": (random_scene(25, 4e-3), [], ["--push-out"], "its motion is not solved"),
    "a rope deep in a drum": (random_scene(70, 4e-3), [], ["--push-out"], "0.58 of a radius deep"),
    "a straight rod pushed end-on": (rod('root = { position = [0, 0, 0.22], tangent = [0, 0, -1], motion = { keyframes = [{ time = 0 }, { time = 0.3, displacement = [0, 0, -0.04] }] } }', rest=FLOOR.format(height=0)), [], [], "it cannot give way, and goes into the floor"),
    "a swing under the trapezoidal rule": (SCENES / "swing.toml", ["theta=0.5", "time_step=5e-3"], ["--until", "5"], "it gains energy"),
    "one iteration of the nonlinear step": (SCENES / "swing.toml", ["scheme=nonlinear", "theta=0.5"], ["--until", "0.5"], "it is not solved", ("[simulation]", "[solver]\nmax_nonlinear_iterations = 1\n[simulation]")),
    "one iteration of a rod of nodes": (rod(model="discrete-elastic-rod", elements=30, step=5e-3), [], [], "its motion is not solved", ("materials.m", "solver = { max_motion_iterations = 1 }\nmaterials.m")),
    "a spinning rod, semi-implicit": (rod(FREE, more='scheme = "semi-implicit"', step=1e-2, duration=3), [], [], "two turns a step"),
    "a hair thrown through a bar": (CASES / "through_a_bar.toml", [], [], "100 m/s, no halvings", ("velocity = [0, 0, -5]", "velocity = [0, 0, -100]"), ("output =", "contact = { max_halvings = 0 }\noutput =")),
    "a strip of segments": (random_scene(83, 4e-3), [], ["--push-out", "--until", "1"], "overlaps: no halvings, no second pass", ("output =", "contact = { max_halvings = 0, relinearisations = 0, max_relinearisations = 0 }\noutput =")),
    "plies without friction": (CASES / "ply_y0.toml", [], [], "they slip through each other"),
    "a tolerance of rounding": (ROOT / "tests/data/hard_steps/unreachable_tolerance.toml", [], ["--until", "0.02"], "no solver meets it"),
    "a rope laid over a bar, undamped, semi-implicit": (random_scene(90, 4e-3), [], ["--push-out"], "energy", ("duration = 2", 'duration = 2, scheme = "semi-implicit", theta = 0.5')),
    "three-point bending, ten times the step": (SCENES / "three_point_bending.toml", [], [], ""),
}  # fmt: skip


def run(program, name, case):
    scene, sets, options, why, *edits = case
    text = scene if isinstance(scene, str) else scene.read_text(encoding="utf-8")
    for old, new in edits:
        assert old in text, (name, old)
        text = text.replace(old, new, 1)
    with tempfile.TemporaryDirectory() as folder:
        home = pathlib.Path(folder) if isinstance(scene, str) else scene.parent
        path = pathlib.Path(folder, "scene.toml")
        path.write_text(text, encoding="utf-8")
        sets = [part for one in sets for part in ("--set", one)]
        command = [program, "run", path, "-o", f"{folder}/out", "--quiet", "--threads", "1", *sets, *options]
        done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=home)
        summary = pathlib.Path(folder, "out/summary.json")
        if not summary.exists():
            return name, "none written", done.stderr.strip(), 0
        found = json.loads(summary.read_text(encoding="utf-8"))
        return name, found["severity"], found["sentence"], found["wall_seconds"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", required=True)
    parser.add_argument("--table", action="store_true", help="print all")
    options = parser.parse_args()
    program = str(pathlib.Path(options.program).resolve())
    for wanted, cases in (("none", SOUND), ("serious", NOT_SOUND)):
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            for row in pool.map(lambda item: run(program, *item), cases.items()):
                print("ok   " if row[1] == wanted else "WRONG", f"{row[3]:.1f}", row[0], "|", row[1], "|", row[2][:160], flush=True)


if __name__ == "__main__":
    main()
