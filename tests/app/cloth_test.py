#!/usr/bin/env python3
"""Cloth from outside: cloth_test.py slope|drape|dress|files --program TRESSE. A sheet on a slope sticks or slides as Coulomb's law
says; a disc drapes over its pedestal, which carries what it weighs; a dress goes with a body that walks; files, resumes, exports and messages."""

import csv
import json
import pathlib

import h5py
import numpy as np
from parts import run, run_part, sets

SCENES = pathlib.Path(__file__).resolve().parents[2] / "scenes"
INCLINE, DRAPE, DRESS = (str(SCENES / f"{name}.toml") for name in ("cloth_incline", "drape", "dress"))
GRAVITY = 9.81
AREA_DENSITY = 0.15  # of the preset "cotton" [kg/m^2]


def table(folder, name):
    with open(folder / name, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def column(rows, key):
    return np.array([float(row[key]) for row in rows])


def vertices(folder, name):
    with h5py.File(folder / "trajectory.h5") as file:
        return file[f"surfaces/{name}/vertices"][:]


def verdict(folder):
    return json.loads((folder / "summary.json").read_text(encoding="utf-8"))["verdict"]


def sticks(program, folder):
    """Just above the tangent of the slope, flat on the ground, and without a slope: nothing moves."""
    tangent = np.tan(np.radians(20))
    for name, words in [("edge", [f"friction={1.0001 * tangent}"]), ("flat", ["slope_deg=0", "friction=0"])]:
        run(program, folder, "run", INCLINE, "-o", name, "--quiet", *sets(*words, "duration=0.1"))
        rows = table(folder / name, "cloth.csv")
        assert column(rows, "top_speed").max() < 1e-10, column(rows, "top_speed").max()
        assert column(rows, "residual").max() <= 1e-10
        assert verdict(folder / name) == "sound", verdict(folder / name)
        # The slope carries the weight.
        last = table(folder / name, "forces.csv")[-1]
        weight = AREA_DENSITY * 0.3 * 0.3 * GRAVITY
        force = np.array([float(last[k]) for k in ("fx", "fy", "fz")])
        assert np.abs(force - [0, 0, -weight]).max() < 1e-9 * weight, force
        assert int(last["contacts"]) == 25 * 25 + 12


def slides(program, folder):
    """v = g (sin - mu cos) t, to what the solver leaves, and no vertex otherwise than the others."""
    for friction in (0.0, 0.2, 0.36):
        name = f"slides_{friction}"
        run(program, folder, "run", INCLINE, "-o", name, "--quiet", *sets(f"friction={friction}", "duration=0.2"))
        rows = table(folder / name, "cloth.csv")
        slope = np.radians(20)
        expected = GRAVITY * (np.sin(slope) - friction * np.cos(slope)) * column(rows, "time")
        off = np.abs(column(rows, "top_speed") - expected).max() / expected[-1]
        assert off < 1e-8, off
        force = np.array([float(table(folder / name, "forces.csv")[-1][k]) for k in ("fx", "fy", "fz")])
        normal = np.array([np.sin(slope), 0, np.cos(slope)])
        pressed = AREA_DENSITY * 0.09 * GRAVITY * np.cos(slope)
        along = np.array([np.cos(slope), 0, -np.sin(slope)])
        assert np.abs(force - pressed * (friction * along - normal)).max() < 1e-8 * pressed, force
        assert verdict(folder / name) == "sound", verdict(folder / name)
    # Just below the tangent it slides.
    tangent = np.tan(np.radians(20))
    run(program, folder, "run", INCLINE, "-o", "below", "--quiet", *sets(f"friction={0.9999 * tangent}", "duration=0.1"))
    assert column(table(folder / "below", "cloth.csv"), "top_speed")[-1] > 2e-5


def drapes(program, folder):
    """A coarse disc comes to rest in folds that look the same from six sides, and the pedestal carries it."""
    run(program, folder, "run", DRAPE, "-o", "drape", "--quiet", *sets("rings=12", "duration=1.2", "time_step=4e-3"))
    rows = table(folder / "drape", "cloth.csv")
    assert column(rows, "residual").max() <= 1e-10
    assert column(rows, "penetration").max() < 5e-5
    with h5py.File(folder / "drape/trajectory.h5") as file:
        assert "surfaces/disc/vertices" in file
    end = vertices(folder / "drape", "disc")[-1]
    weight = AREA_DENSITY * np.pi * 0.15**2 * GRAVITY
    force = np.array([[float(row[k]) for k in ("fx", "fy", "fz")] for row in table(folder / "drape", "forces.csv")])
    mean = force[len(force) // 2 :].mean(0)
    assert abs(mean[2] + weight) < 0.05 * weight and np.abs(mean[:2]).max() < 0.05 * weight, (mean, weight)
    assert end[:, 2].min() < -0.03 and np.abs(end[:, :2].mean(0)).max() < 0.01
    radius = np.hypot(end[:, 0], end[:, 1])
    assert (end[radius < 0.07][:, 2] > 0).all(), "it lies on the plate"
    summary = json.loads((folder / "drape/summary.json").read_text(encoding="utf-8"))
    assert summary["severity"] in ("none", "slight"), summary["sentence"]


def dresses(program, folder):
    """A coarse dress rests on hips and legs, and goes along at the hem that is held."""
    words = sets("around=32", "along=20", "time_step=2e-3", "duration=0.8", "output.every=400")
    run(program, folder, "run", DRESS, "-o", "dress", "--quiet", *words)
    rows = table(folder / "dress", "cloth.csv")
    assert column(rows, "residual").max() <= 1e-10
    assert column(rows, "penetration").max() < 1e-5
    assert column(rows, "loaded")[200:].min() > 20
    places = vertices(folder / "dress", "dress")
    held = places[0][:, 2] > 1.2999
    moved = places[-1][held] - places[0][held]
    # 1.2 m/s from 0.5 s on, half of it before; the hips bob.
    assert held.sum() == 32 and np.abs(moved - [1.2 * (0.25 + 0.3), 0, moved[0, 2]]).max() < 1e-3, moved[0]
    behind = (places[-1] - places[0])[~held, 0].mean()
    assert 0.5 < behind < 0.75, behind
    assert verdict(folder / "dress") == "sound", verdict(folder / "dress")


def same_bytes(program, folder):
    words = ["run", DRAPE, "--quiet", *sets("rings=8", "duration=0.2", "time_step=4e-3")]
    run(program, folder, *words, "-o", "one", "--threads", "1")
    run(program, folder, *words, "-o", "two", "--threads", "2")
    run(program, folder, *words, "-o", "cut", "--until", "0.1")
    run(program, folder, *words, "-o", "cut", "--resume")
    for name in ("trajectory.h5", "cloth.csv", "forces.csv"):
        first = (folder / "one" / name).read_bytes()
        for other in ("two", "cut"):
            assert (folder / other / name).read_bytes() == first, (other, name)
    # The resolved scene gives the same run.
    run(program, folder, "run", "one/scene.toml", "-o", "again", "--quiet")
    assert np.array_equal(vertices(folder / "again", "disc"), vertices(folder / "one", "disc"))


def shapes(program, folder):
    """A file of triangles, pins that lead the cloth along, a sleeve."""
    (folder / "sheet.obj").write_text(
        "v 0 0 0\nv 10 0 0\nv 10 10 0\nv 0 10 0\nv 5 5 0\nf 1 2 5\nf 2 3 5\nf 3 4 5\nf 4 1 5\n", encoding="utf-8"
    )
    scene = """
[simulation]
time_step = 0.01
duration = 0.2
gravity = 9.81
[[surfaces]]
name = "sheet"
model = "cloth"
material = "silk"
thickness = "1 mm"
{shape}
[[surfaces.pins]]
name = "corner"
box = [[-1e-3, -1e-3, -1e-3], [1e-3, 1e-3, 1e-3]]
motion = {{ velocity = [0, 0, 0.5] }}
release = {release}
"""
    mesh = 'mesh = { file = "sheet.obj", unit = "1 cm" }'
    (folder / "file.toml").write_text(scene.format(shape=mesh, release=9), encoding="utf-8")
    run(program, folder, "run", "file.toml", "-o", "file", "--quiet")
    corner = vertices(folder / "file", "sheet")[:, 0]
    assert np.abs(corner[-1] - [0, 0, 0.1]).max() < 1e-12, corner[-1]
    rows = table(folder / "file", "cloth.csv")
    weight = 0.07 * 0.01 * GRAVITY
    assert abs(column(rows, "pin_fz").mean() + weight) < weight, "the pin carries it"
    # Where the pins let go, all of it falls.
    (folder / "let_go.toml").write_text(scene.format(shape=mesh, release=0.1), encoding="utf-8")
    run(program, folder, "run", "let_go.toml", "-o", "let_go", "--quiet")
    rows = table(folder / "let_go", "cloth.csv")
    assert float(rows[-1]["pin_fz"]) == 0 and float(rows[5]["pin_fz"]) != 0
    sleeve = 'grid = { outline = "sleeve", cells = [12, 4], radius = 0.1, end_radius = 0.05, length = 0.2 }'
    (folder / "sleeve.toml").write_text(
        scene.format(shape=sleeve, release=9).replace("[[-1e-3, -1e-3, -1e-3], [1e-3, 1e-3, 1e-3]]", "[[-1, -1, 0.199], [1, 1, 0.201]]"),
        encoding="utf-8",
    )
    said = run(program, folder, "check", "sleeve.toml").stdout
    assert "60 vertices" in said and "12 of its vertices pinned" in said and "gravito-bending length" in said, said
    run(program, folder, "run", "sleeve.toml", "-o", "sleeve", "--quiet")
    assert vertices(folder / "sleeve", "sheet").shape[1:] == (60, 3)


def exports(program, folder):
    expected = vertices(folder / "one", "disc")
    for kind, output in [("obj", "a.obj"), ("vtk", "a.pvd"), ("gltf", "a.glb"), ("usda", "a.usda")]:
        run(program, folder, "export", "one", "--format", kind, "-o", output, "--quiet")
    lines = sorted(folder.glob("a*.obj"))[-1].read_text(encoding="utf-8").splitlines()
    begin = lines.index("o disc")
    points = np.array([[float(x) for x in line.split()[1:4]] for line in lines[begin:] if line.startswith("v ")])
    assert np.abs(points[: len(expected[-1])] - expected[-1]).max() < 1e-7
    assert 'name="surfaces"' in (folder / "a.pvd").read_text(encoding="utf-8")
    assert 'def Mesh "disc"' in (folder / "a.usda").read_text(encoding="utf-8")
    data = (folder / "a.glb").read_bytes()
    header = json.loads(data[20 : 20 + int.from_bytes(data[12:16], "little")])
    assert "disc" in [mesh["name"] for mesh in header["meshes"]]


def bad(program, folder):
    def refused(text, part):
        (folder / "bad.toml").write_text(text, encoding="utf-8")
        result = run(program, folder, "run", "bad.toml", "-o", "bad", status=2)
        assert part in result.stderr and result.stderr.count("\n") == 1, result.stderr
        assert not (folder / "bad").exists()

    head = '[[surfaces]]\nname = "a"\nmodel = "cloth"\nthickness = "1 mm"\n'
    silk = head + 'material = "silk"\n'
    grid = 'grid = { cells = [2, 2], length = 1, width = 1 }\n'
    refused(silk, "expected a grid, or a mesh")
    refused(head + 'material = "felt"\n' + grid, "the name of no fabric")
    refused(silk + "grid = { cells = [2], length = 1, width = 1 }\n", "expected two counts")
    refused(silk + "grid = { cells = [2, 2], length = 1 }\n", "width is missing")
    refused(silk + 'grid = { outline = "disc", cells = [2], radius = 1, width = 1 }\n', "is given for a disc")
    refused(silk + 'grid = { outline = "sleeve", cells = [2, 2], radius = 1, length = 1 }\n', "at least 3")
    refused(silk + "grid = { cells = [2000, 2000], length = 1, width = 1 }\n", "expected at most 200000")
    refused(silk + grid + 'mesh = { file = "sheet.obj" }\n', "expected one of them")
    refused(silk + 'mesh = { file = "none.obj" }\n', "none.obj")
    refused(silk + grid + "[[surfaces.pins]]\nvertices = [10]\n", "expected one of 0 to 9")
    refused(silk + grid + "[[surfaces.pins]]\nvertices = [2, 1]\n", "do not ascend")
    refused(silk + grid + "[[surfaces.pins]]\n", "expected numbers of vertices, or a box")
    refused(silk + grid + "[[surfaces.pins]]\nbox = [[5, 5, 5], [6, 6, 6]]\n", "holds no vertex")
    refused("[fabrics.felt]\narea_density = 1\n" + head + 'material = "felt"\n' + grid, "warp_stiffness")
    refused(silk + grid + "length = 1\n", "unknown key")
    result = run(program, folder, "static", INCLINE, "-o", "static", status=2)
    assert "is cloth" in result.stderr


if __name__ == "__main__":
    run_part({"slope": (sticks, slides), "drape": (drapes,), "dress": (dresses,), "files": (same_bytes, shapes, exports, bad)})
