#!/usr/bin/env python3
"""`tresse run --gradient` from outside: gradient_test.py --program TRESSE."""

import argparse
import json
import pathlib
import subprocess
import tempfile

SCENE = """
[simulation]
time_step = 2e-3
duration = 0.2
gravity = [0, 0, "${pull}"]
[parameters]
young = 4e6
damping = 6e-3
density = 1200.0
friction = 0.3
drag = 0.01
bend = 1.0
side = 0.0
pull = -9.81
[materials.cable]
density = "${density}"
young_modulus = "${young}"
poisson_ratio = 0.3
damping_time = "${damping}"
[friction]
default = "${friction}"
[solver]
tolerance = 1e-14
[[fibres]]
name = "cable"
material = "cable"
length = 0.2
elements = 6
radius = 2e-3
drag = "${drag}"
natural_curvature = [0, 0, "${bend}"]
initial_curvature = [0, 0, 1.0]
root = { position = [0, "${side}", 0] }
[[obstacles]]
name = "bar"
shape = "cylinder"
center = [0.12, 0, -0.02]
axis = [0.1, 1, 0]
radius = 0.005
length = 0.2
"""

# A parameter of the file, its value, the step of differences, and the number of the scene that it is.
PARAMETERS = [
    ("young", 4e6, 4e3, "materials.cable.young_modulus"),
    ("damping", 6e-3, 6e-6, "materials.cable.damping_time"),
    ("density", 1200.0, 1.0, "materials.cable.density"),
    ("friction", 0.3, 3e-4, "friction.default"),
    ("drag", 0.01, 1e-4, "fibres.cable.drag"),
    ("bend", 1.0, 1e-2, "fibres.cable.natural_curvature.2"),
    ("side", 0.0, 1e-5, "fibres.cable.root.1"),
    ("pull", -9.81, 1e-3, "simulation.gravity.2"),
]
TARGETS = "time,fibre,arc_length,x,y,z,weight\n0.1,0,0.1,0.1,0.01,-0.02,1\n0.2,0,0.2,0.15,0.02,-0.1,2\n0.2,0,0.1,0.1,0,-0.01,1\n"


def call(program, folder, *words, status=0):
    result = subprocess.run([program, *map(str, words)], cwd=folder, capture_output=True, text=True, timeout=300, check=False)
    assert result.returncode == status, (words, result.returncode, result.stderr)
    return result.stderr


def found(program, folder, *words):
    said = call(program, folder, "run", "cable.toml", "-o", "run", "--gradient", "targets.csv", *words)
    return json.loads((folder / "run/gradient.json").read_text()), said


def check_derivatives(program, folder):
    """Each against differences of fourth order of runs of their own, through a contact that sticks and slides."""
    result, said = found(program, folder)
    assert result["refused"] == "" and result["targets"] == 3 and result["case_changes"] > 0
    assert "run/gradient.json: objective" in said and "over 3 targets, 18 derivatives" in said
    assert len(result["gradient"]) == 18
    for name, value, step, number in PARAMETERS:
        at = {k: found(program, folder, "--quiet", "--set", f"{name}={value + k * step!r}")[0]["objective"] for k in (-2, -1, 1, 2)}
        expected = (8 * (at[1] - at[-1]) - (at[2] - at[-2])) / (12 * step)
        own = result["gradient"][number]
        assert own["value"] == value, number
        # Objectives of 1e-2 m^2 are told apart to 1e-16 m^2.
        assert abs(own["derivative"] - expected) < 1e-7 * abs(expected) + 1e-15 / step, (number, own, expected)


def check_refusals(program, folder):
    good = (folder / "targets.csv").read_text()
    head, row = good.splitlines()[:2]
    for text, message in (
        ("time,x\n", 'targets.csv:1: found "time,x", expected the columns time,fibre,arc_length,x,y,z, or these and weight'),
        (head + "\n", "targets.csv: found no rows, expected a target at least"),
        (head + "\n1,2\n", "targets.csv:2: found 2 fields, expected 7"),
        (head + "\n" + row.replace("0.01", "nan") + "\n", 'targets.csv:2: found "nan", expected a number'),
        (head + "\n" + row.replace("0.1,0,", "0.3,0,", 1) + "\n", "targets.csv:2: time: found 0.3 s, expected 0 to 0.2 s, the end of the run"),
        (head + "\n" + row.replace("0.1,0,", "0.1,1,", 1) + "\n", "targets.csv:2: fibre: found 1, expected a number of a fibre, 0 to 0"),
        (head + "\n" + row.replace(",0.1,", ",0.3,", 1) + "\n", "targets.csv:2: arc_length: found 0.3 m, expected 0 to 0.2 m, the fibre's length"),
    ):
        (folder / "targets.csv").write_text(text)
        said = call(program, folder, "run", "cable.toml", "-o", "refused", "--gradient", "targets.csv", status=2)
        assert message in said and said.count("\n") == 1, said
        assert not (folder / "refused").exists()
    (folder / "targets.csv").write_text(good)
    (folder / "nodes.toml").write_text(SCENE.replace("radius = 2e-3", 'radius = 2e-3\nmodel = "discrete-elastic-rod"', 1))
    said = call(program, folder, "run", "nodes.toml", "-o", "refused", "--gradient", "targets.csv", status=2)
    assert "gradients: a rod of nodes; expected super-helices or super-clothoids" in said
    assert not (folder / "refused").exists()
    call(program, folder, "run", "cable.toml", "-o", "run", "--quiet")
    assert not (folder / "run/gradient.json").exists()  # it was of another run


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", required=True)
    program = str(pathlib.Path(parser.parse_args().program).resolve())
    with tempfile.TemporaryDirectory() as place:
        folder = pathlib.Path(place)
        (folder / "cable.toml").write_text(SCENE)
        (folder / "targets.csv").write_text(TARGETS)
        check_derivatives(program, folder)
        check_refusals(program, folder)
    print("gradient_test: passed")


if __name__ == "__main__":
    main()
