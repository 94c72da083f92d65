#!/usr/bin/env python3
"""Rings in results: rings_test.py --program TRESSE. What trajectories, exports, pictures and the viewer's page show of a
link that hangs in a fixed ring, against the torus of the scene."""

import argparse
import pathlib
import subprocess
import tempfile

import h5py
import numpy as np
from export_runs import Run, export
from export_test import read_obj, read_vtp
from html_test import parts_of, unshuffled
from matplotlib import image

RADIUS, TUBE = 0.02, 0.003
SCENE = """
[simulation]
time_step = "1 ms"
duration = "0.1 s"
[output]
every = 20
[[fibres]]
name = "hair"
material = "human-hair"
length = "2 cm"
elements = 2
radius = "60 um"
root = { position = [0, 0, "5 cm"] }
[[obstacles]]
name = "held"
shape = "ring"
center = [0, 0, 0]
axis = [1, 0, 0]
radius = "2 cm"
tube_radius = "3 mm"
[[obstacles]]
name = "link"
shape = "ring"
center = [0, 0, "-3.3 cm"]
axis = [0, 1, 0.1]
radius = "2 cm"
tube_radius = "3 mm"
density = 7800
velocity = [0, "0.2 m/s", 0]
"""
CENTRES = np.array([[0, 0, 0], [0, 0, -0.033]])
AXES = np.array([[1, 0, 0], [0, 1, 0.1] / np.hypot(1, 0.1)])
SAGITTA = 1.01e-3 * RADIUS  # of the bars that are drawn
ROUND = 0.05 * TUBE  # a section is drawn as a polygon


def off(run, frame, obstacle, points):
    """Distances of points from the skin of a ring as it stands in a frame."""
    axis = run.frame[frame, obstacle] @ AXES[obstacle]
    out = points - run.position[frame, obstacle]
    height = out @ axis
    beside = np.linalg.norm(out - np.outer(height, axis), axis=1)
    return np.hypot(beside - RADIUS, height) - TUBE


def trajectory(folder, run):
    with h5py.File(folder / "run/trajectory.h5") as file:
        capsules = {name: file["obstacles/capsules/" + name][:] for name in ("from", "to", "radius", "obstacle")}
        parts = file["contacts/part_b"][:]
    assert (capsules["obstacle"] == np.repeat([0, 1], 72)).all() and (capsules["radius"] == TUBE).all()
    for ring in (0, 1):
        own = capsules["obstacle"] == ring
        for ends in (capsules["from"][own], capsules["to"][own]):
            out = ends - CENTRES[ring]
            assert np.abs(np.linalg.norm(out, axis=1) - RADIUS).max() < 1e-15 and np.abs(out @ AXES[ring]).max() < 1e-15
        middles = 0.5 * (capsules["from"][own] + capsules["to"][own]) - CENTRES[ring]
        assert RADIUS - np.linalg.norm(middles, axis=1).min() < SAGITTA
    assert len(parts) and set(parts) <= {0, 1, 2}, "an arc of the ring"
    points = np.concatenate([contacts["point_b"] for contacts in run.contacts])
    assert np.abs(np.linalg.norm(points, axis=1) - RADIUS).max() < 1e-12, "contact is on the circle"


def on_the_skin(found, what):
    """The round ends of bars lie inside the next ones; nothing stands out."""
    assert len(found) > 500 and found.max() < SAGITTA + ROUND, f"{what}: {found.max()}"
    assert (np.abs(found) < SAGITTA + ROUND).mean() > 0.2, f"{what}: inside"


def exports(program, folder, run):
    last = len(run.time) - 1
    export(program, folder, "-o", "o.obj", "--frames", "-1")
    vertices, objects = read_obj(folder / "o.obj")
    for ring, name in enumerate(("held", "link")):
        found = off(run, last, ring, vertices[np.unique(objects[name])])
        on_the_skin(found, f"obj {name}")
    export(program, folder, "-o", "v.pvd", "--frames", "-1")
    (path,) = (folder / "v").glob("*obstacles*")
    points = read_vtp(path)["Points"]
    on_the_skin(np.minimum(*(off(run, last, ring, points) for ring in (0, 1))), "vtk")
    for name in ("g.gltf", "u.usda"):
        export(program, folder, "-o", name, "--frames", "-1")
    assert (folder / "u.usda").read_text().count("def Capsule") == 144
    if not (program.parents[1] / "share/tresse/viewer/index.html").exists():
        return  # the viewer is not built
    export(program, folder, "-o", "p.html", "--frames", "-1")
    numbers = np.frombuffer(unshuffled(parts_of(folder / "p.html")[1]["layout"]), "<u4", 5)
    assert list(numbers[2:]) == [2, 144, 0], f"what the viewer draws: {numbers} fibres, points, obstacles, capsules, planes"


def picture(program, folder):
    words = ["render", "run", "-o", "p.png", "--framing", "whole", "--frame", "0", "--width", "200", "--height", "150"]
    subprocess.run([program, *words, "--samples", "4"], cwd=folder, check=True, timeout=300, capture_output=True)
    pixels = image.imread(folder / "p.png")[:, :, :3].mean(axis=2)
    ground = np.median(pixels)
    assert (pixels < 0.5 * ground).mean() > 0.01, "the dark ring is not in the picture"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", required=True)
    program = pathlib.Path(parser.parse_args().program).resolve()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "scene.toml").write_text(SCENE)
        subprocess.run([program, "run", "scene.toml", "-o", "run", "--quiet"], cwd=folder, check=True, timeout=300)
        run = Run(folder / "run")
        trajectory(folder, run)
        exports(program, folder, run)
        picture(program, folder)


if __name__ == "__main__":
    main()
