#!/usr/bin/env python3
"""Forty runs, twenty that are sound and twenty that are not, and what the program says: verdicts_test.py --program TRESSE.

Why each is sound or not stands beside it. Of those that are not, something was taken away from the step (iterations,
halvings, inertia), or what is asked for cannot be. Other tests look at the motion of the cases and of shipped scenes.
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


def random_scene(number, time_step):
    """A scene of stability_test.py, 2 s of it."""
    return stability_test.scene(number, time_step, 2)[1]


ROD = """simulation = {{ time_step = {step}, duration = {duration}{more} }}
materials.m = {{ density = 1100, young_modulus = 3e7, poisson_ratio = 0.4, damping_time = {damping} }}
[[fibres]]
name = "rod"
model = "super-helix"
material = "m"
length = 0.2
elements = 6
radius = 1e-3
{line}
"""


def rod(line, step=1e-3, duration=0.5, more="", damping=0):
    return ROD.format(line=line, step=step, duration=duration, more=more, damping=damping)


FLOOR = """[[obstacles]]
name = "floor"
shape = "plane"
point = [0, 0, 0]
normal = [0, 0, 1]
"""
LED = 'holds = [{ name = "end", at = 0.2, motion = { keyframes = [{ time = 0 }, { time = 0.3, displacement = [%s, 0, 0] }] } }]'

# Of each: the scene, what is set, options of the run, why it is sound, and what of its text is replaced.
SOUND = {
    "twist let go, 1 ms": (CASES / "twist.toml", ["time_step=1e-3"], [], "the energy stays below what was stored"),
    "twist let go, 10 us": (CASES / "twist.toml", ["time_step=1e-5"], [], "the same"),
    "twist let go, 1 us, clothoids": (CASES / "twist.toml", ["time_step=1e-6", "model=super-clothoid"], [], "the same"),
    "bodies at rest": (CASES / "rest.toml", [], [], "nothing moves"),
    "a stack at rest": (CASES / "stacked_at_rest.toml", [], [], "nothing moves"),
    "a block that sticks on a slope": (SCENES / "inclined_plane.toml", ["friction=0.5"], [], "below the angle of friction"),
    "a block that slides down it": (SCENES / "inclined_plane.toml", ["friction=0.1"], [], "g (sin a - mu cos a)"),
    "the end of a rope on a floor": (CASES / "tip_on_floor.toml", [], [], "its force is known by other means"),
    "rods dropped on a floor": (CASES / "pile.toml", [], ["--until", "0.5"], "each lands on others, none is deep"),
    "a cantilever": (SCENES / "cantilever.toml", [], ["--until", "1"], "its deflection is known"),
    "a ball in a loop": (SCENES / "ball_in_loop.toml", [], ["--until", "0.3"], "shipped and tested"),
    "a ribbon": (SCENES / "ribbon.toml", [], ["--until", "0.5"], "shipped and tested"),
    "a curl that unwinds": (SCENES / "curly_unwinding.toml", [], ["--until", "0.5"], "shipped and tested"),
    "hair that lies on a head that turns": (CASES / "head_that_turns.toml", [], [], "it turns with the head"),
    "a strand on a sphere": (SCENES / "strand_on_sphere.toml", [], ["--until", "0.5"], "shipped and tested"),
    "a rope on a floor and a drum": (random_scene(74, 1e-3), [], ["--push-out"], "no deeper than tolerances, energy falls"),
    "a limp cord over a drum, 4 ms": (random_scene(36, 4e-3), [], ["--push-out"], "held, no deeper than tolerances, energy falls"),
    "a limp cord with a tail, 4 ms": (random_scene(97, 4e-3), [], ["--push-out"], "the same"),
    "a rod of nodes on a floor": (random_scene(41, 1e-3), [], ["--push-out"], "the same"),
    "a tip that is led away slowly": (rod(LED % -0.02, damping=5e-3), [], [], "within reach"),
    "a swing under the midpoint rule": (SCENES / "swing.toml", ["scheme=nonlinear", "theta=0.5"], ["--until", "0.5"], "it keeps its energy"),
}  # fmt: skip
LIMIT = (
    ("[simulation]", '[simulation]\nscheme = "semi-implicit"'),
    ('material = "nylon"', 'material = "limit"'),
    ("[[fibres]]", '[materials.limit]\npreset = "nylon"\nrotary_inertia = false\n[[fibres]]'),
)
NO_CUTS = ("output =", "contact = { max_halvings = 0 }\noutput =")
ONE_PASS = (("output =", "contact = { max_halvings = 0, relinearisations = 0, max_relinearisations = 0 }\noutput ="),)
SPINNING = 'root = { condition = "free", angular_velocity = [0, 300, 0] }'
END_ON = """root = { position = [0, 0, 0.22], tangent = [0, 0, -1], motion = { keyframes = [{ time = 0 }, { time = 0.3, displacement = [0, 0, -0.04] }] } }
"""

NOT_SOUND = {
    "twist without inertia, 0.1 ms": (CASES / "twist.toml", ["time_step=1e-4"], [], "0.18 J of 0.009", *LIMIT),
    "twist without inertia, 10 us": (CASES / "twist.toml", ["time_step=1e-5"], [], "14.6 J of 0.009", *LIMIT),
    "twist without inertia, 1 us": (CASES / "twist.toml", ["time_step=1e-6"], [], "842 J of 0.009", *LIMIT),
    "a rod at 30 m/s, semi-implicit": (CASES / "energy_of_first_step.toml", [], [], "gains what it has several times", ("simulation = {", 'simulation = { scheme = "semi-implicit",')),
    "rods dropped, one iteration of the solver": (CASES / "pile.toml", [], ["--until", "0.3"], "friction is not solved", ("[simulation]", "[solver]\nmax_iterations = 1\n[simulation]")),
    "a tip that is led out of reach": (rod(LED % 0.1, damping=5e-3), [], [], "longer than the rod"),
    "a tip that is led away at 30 m/s": (rod((LED % 0.1).replace("0.3", "0.003"), damping=5e-3), [], [], "the same"),
    "a rod of nodes that folds": (random_scene(25, 4e-3), [], ["--push-out"], "its motion is not solved"),
    "a rope deep in a drum": (random_scene(70, 4e-3), [], ["--push-out"], "no halvings: 8 radii deep", NO_CUTS),
    "a straight rod pushed end-on": (rod(END_ON) + FLOOR, [], [], "it cannot give way, and goes into the floor"),
    "a swing under the trapezoidal rule": (SCENES / "swing.toml", ["theta=0.5", "time_step=5e-3"], ["--until", "5"], "it gains energy"),
    "the same, helices and twice the step": (SCENES / "swing.toml", ["theta=0.5", "time_step=1e-2", "model=super-helix"], ["--until", "5"], "the same"),
    "one iteration of the nonlinear step": (SCENES / "swing.toml", ["scheme=nonlinear", "theta=0.5"], ["--until", "0.5"], "it is not solved", ("[simulation]", "[simulation]\nmax_nonlinear_iterations = 1")),
    "a hair thrown through a bar at 60 m/s": (CASES / "through_a_bar.toml", [], [], "no halvings", ("velocity = [0, 0, -5]", "velocity = [0, 0, -60]"), NO_CUTS),
    "a spinning rod, semi-implicit": (rod(SPINNING, more=', scheme = "semi-implicit"', step=1e-2, duration=3), [], [], "two turns a step"),
    "a hair thrown through a bar at 100 m/s": (CASES / "through_a_bar.toml", [], [], "no halvings", ("velocity = [0, 0, -5]", "velocity = [0, 0, -100]"), NO_CUTS),
    "a coil on a floor with one pass": (random_scene(83, 4e-3), [], ["--push-out", "--until", "1"], "overlaps: no halvings, no second pass", *ONE_PASS),
    "plies without friction and one pass": (CASES / "ply_y0.toml", ["time_step=4e-4"], [], "they slip through each other", ("[output]", "[contact]\nmax_halvings = 0\nrelinearisations = 0\nmax_relinearisations = 0\n[output]")),
    "a rope on a drum under the trapezoidal rule": (random_scene(90, 4e-3), [], ["--push-out"], "it gains energy", ("duration = 2", 'duration = 2, scheme = "semi-implicit", theta = 0.5')),
    "a rope on a drum with one pass": (random_scene(67, 4e-3), [], ["--push-out", "--until", "1"], "overlaps: no halvings, no second pass", *ONE_PASS),
}  # fmt: skip


def run(program, name, case):
    """How severe the verdict is, and its sentence."""
    scene, sets, options, _, *edits = case
    text = scene if isinstance(scene, str) else scene.read_text(encoding="utf-8")
    for old, new in edits:
        assert old in text, (name, old)
        text = text.replace(old, new, 1)
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "scene.toml")
        path.write_text(text, encoding="utf-8")
        sets = [part for one in sets for part in ("--set", one)]
        command = [program, "run", path, "-o", f"{folder}/out", "--quiet", "--threads", "1", *sets, *options]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        summary = pathlib.Path(folder, "out/summary.json")
        if not summary.exists():
            return "no summary", done.stderr.strip()
        found = json.loads(summary.read_text(encoding="utf-8"))
        return found["severity"], found["sentence"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", required=True)
    parser.add_argument("--table", action="store_true", help="print all as rows of a table")
    options = parser.parse_args()
    program = str(pathlib.Path(options.program).resolve())
    wrong = 0
    for wanted, cases in (("none", SOUND), ("serious", NOT_SOUND)):
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            for (name, case), (found, sentence) in zip(cases.items(), pool.map(lambda item: run(program, *item), cases.items())):
                if options.table:
                    print(f"| {name} | {case[3]} | {sentence.split(', deepest')[0] if found == 'none' else sentence.split(' Remarked')[0]} |")
                if found != wanted:
                    wrong += 1
                    print(f"{name}: {found}, expected {wanted}: {sentence}", flush=True)
    sys.exit(wrong > 0)


if __name__ == "__main__":
    main()
