#!/usr/bin/env python3
"""Surfaces from outside: surfaces_test.py files|motion --program TRESSE. The patch that ships gives the same bytes on any
number of threads and after a resume, and is in every export; it keeps its energy, and rests where statics say."""

import csv
import json
import pathlib

import h5py
import numpy as np
from parts import run, run_part, sets

SCENE = pathlib.Path(__file__).resolve().parents[2] / "scenes/shell_patch.toml"
SIDES, CELLS = 0.2, 16


def vertices(folder, name="patch"):
    with h5py.File(folder / "trajectory.h5") as file:
        return file[f"surfaces/{name}/vertices"][:]


def shape(k, angle):
    """The cylinder written out, at the vertices of a run."""
    a, b = np.meshgrid(np.linspace(0, SIDES, CELLS + 1), np.linspace(0, SIDES, CELLS + 1), indexing="ij")
    u, v = a * np.cos(angle) + b * np.sin(angle), b * np.cos(angle) - a * np.sin(angle)
    along, up = np.sin(k * u) / k, (1 - np.cos(k * u)) / k
    return np.stack([along * np.cos(angle) - v * np.sin(angle), along * np.sin(angle) + v * np.cos(angle), up], -1).reshape(-1, 3)


def energy(program, folder):
    """The midpoint rule over five seconds: to 1e-6 of the largest kinetic energy."""
    run(program, folder, "run", str(SCENE), "-o", "long", "--quiet", "--set", "time_step=2e-4")
    with open(folder / "long/steps.csv", newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    total = np.array([sum(float(row[key]) for key in ("kinetic", "elastic", "gravity")) for row in rows])
    largest = max(float(row["kinetic"]) for row in rows)
    assert abs(float(rows[-1]["time"]) - 5) < 1e-9 and largest > 1e-6
    off = np.abs(total - total[0]).max() / largest
    print(f"energy strays by {off:.2g} of the largest kinetic energy, {largest:.3g} J")
    assert off < 1e-6, off
    verdict = json.loads((folder / "long/summary.json").read_text(encoding="utf-8"))["verdict"]
    assert verdict == "sound", verdict


def rest(program, folder):
    """Damped, the patch comes to rest where statics say."""
    run(program, folder, "static", str(SCENE), "-o", "static", "--quiet")
    found = json.loads((folder / "static/summary.json").read_text(encoding="utf-8"))["equilibrium"]
    patch = found["surfaces"][0]
    assert found["converged"] and found["stable"] and patch["residual"] < 1e-10, found
    assert np.abs(vertices(folder / "static")[0] - shape(patch["curvature"], patch["angle"])).max() < 1e-12
    run(program, folder, "run", str(SCENE), "-o", "damped", "--quiet", *sets("simulation.theta=1", "damping_time=0.02 s", "time_step=5e-3", "duration=15"))
    off = np.abs(vertices(folder / "damped")[-1] - vertices(folder / "static")[0]).max()
    assert off < 1e-9, off


def same_bytes(program, folder):
    words = ["run", str(SCENE), "--quiet", "--set", "duration=0.2"]
    run(program, folder, *words, "-o", "one", "--threads", "1")
    run(program, folder, *words, "-o", "two", "--threads", "2")
    run(program, folder, *words, "-o", "cut", "--until", "0.07")
    run(program, folder, *words, "-o", "cut", "--resume")
    first = (folder / "one/trajectory.h5").read_bytes()
    for other in ("two", "cut"):
        assert (folder / other / "trajectory.h5").read_bytes() == first, other
    with h5py.File(folder / "one/checkpoint.h5") as file:
        assert file["state/surfaces/position"].shape == (14,)


def exports(program, folder):
    expected = vertices(folder / "one")
    faces = 2 * CELLS * CELLS
    for kind, output in [("obj", "a.obj"), ("vtk", "a.pvd"), ("gltf", "a.glb"), ("usda", "a.usda")]:
        run(program, folder, "export", "one", "--format", kind, "-o", output, "--quiet")
    objects = sorted(folder.glob("a*.obj"))
    assert len(objects) == len(expected)
    lines = objects[-1].read_text(encoding="utf-8").splitlines()
    points = np.array([[float(x) for x in line.split()[1:4]] for line in lines if line.startswith("v ")])
    assert np.abs(points - expected[-1]).max() < 1e-7
    assert "o patch" in lines and sum(line.startswith("f ") for line in lines) == faces
    sheets = sorted((folder / "a").glob("surfaces_*.vtp"))
    assert len(sheets) == len(expected)
    assert 'name="surfaces"' in (folder / "a.pvd").read_text(encoding="utf-8")
    text = (folder / "a.usda").read_text(encoding="utf-8")
    assert "point3f[] points.timeSamples" in text.split('def Mesh "patch"')[1].split("def ")[0]
    data = (folder / "a.glb").read_bytes()
    header = json.loads(data[20 : 20 + int.from_bytes(data[12:16], "little")])
    mesh = header["meshes"][0]
    assert mesh["name"] == "patch" and len(mesh["primitives"][0]["targets"]) == len(expected) - 1


def bad(program, folder):
    for words, part in [(["a=0"], "length"), (["thickness=1 m"], "half of the shorter side"), (["natural_curvature=80"], "two turns")]:
        result = run(program, folder, "run", str(SCENE), "-o", "bad", "--set", *words, status=2)
        assert part in result.stderr and result.stderr.count("\n") == 1, result.stderr
        assert not (folder / "bad").exists()


if __name__ == "__main__":
    run_part({"files": (same_bytes, exports, bad), "motion": (rest, energy)})
