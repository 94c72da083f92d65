#!/usr/bin/env python3
"""tresse export, its files read back by parsers of this test's own: export_test.py --program TRESSE."""

import argparse
import csv
import json
import os
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as xml

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import h5py  # noqa: E402
import numpy as np  # noqa: E402
from export_runs import Run, export, make_run, near  # noqa: E402


def check_csv(program, folder, run):
    export(program, folder, "--format", "csv", "-o", "t.csv", "--frames", "1:5:2")
    with open(folder / "t.csv", newline="", encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream))
    frames = sorted({int(row["frame"]) for row in rows})
    assert frames == [1, 3, 5], frames
    for frame in frames:
        mine = [row for row in rows if int(row["frame"]) == frame]
        got = np.array([[float(row[k]) for k in "xyz"] for row in mine])
        assert (got == run.points[frame]).all(), "csv: points are not the same bits"
        assert (np.array([float(row["tension"]) for row in mine]) == run.force[frame, :, 0]).all()
        assert {row["group"] for row in mine} == set(run.groups)
    with open(folder / "t_contacts.csv", newline="", encoding="utf-8") as stream:
        contacts = list(csv.DictReader(stream))
    for frame in frames:
        got = [[float(r[k]) for k in ("fx", "fy", "fz")] for r in contacts if int(r["frame"]) == frame]
        assert (np.array(got).reshape(-1, 3) == run.contacts[frame]["force"]).all()
    with open(folder / "t_obstacles.csv", newline="", encoding="utf-8") as stream:
        names = [row["obstacle"] for row in csv.DictReader(stream)]
    assert names == run.obstacles * len(frames), names


def read_obj(path):
    vertices, objects = [], {}
    for line in path.read_text(encoding="ascii").splitlines():
        key, *rest = line.split()
        if key == "v":
            vertices.append([float(x) for x in rest])
        elif key == "o":
            current = objects[rest[0]] = []
        elif key in "lf":
            current.append([int(x) - 1 for x in rest])
    return np.array(vertices), objects


def check_obj(program, folder, run):
    export(program, folder, "--format", "obj", "-o", "o.obj")
    for frame in range(len(run.time)):
        vertices, objects = read_obj(folder / f"o_{frame:04}.obj")
        assert list(objects) == ["long_ones", "short", "floor", "bar", "ball__1_"], list(objects)
        for group, name in enumerate(("long_ones", "short")):
            segments = np.array(objects[name])
            near(vertices[np.unique(segments)], run.group_points(frame, group), f"obj {name}")
            assert (segments[:, 1] == segments[:, 0] + 1).all()
            assert len(segments) == len(np.unique(segments)) - np.count_nonzero(run.group == group)
        for obstacle, axis, radius in ((1, ((0.01, -0.03, 0.01), (0.01, 0.03, 0.01)), 2e-3),
                                       (2, ((-0.03, 0, 0.004), (-0.03, 0, 0.004)), 3e-3)):  # fmt: skip
            name = ("floor", "bar", "ball__1_")[obstacle]
            a, b = (run.moved(frame, obstacle, np.array(end)) for end in axis)
            faces = np.array(objects[name])
            x = vertices[np.unique(faces)]
            along = np.clip((x - a) @ (b - a) / max((b - a) @ (b - a), 1e-30), 0, 1)
            near(np.linalg.norm(x - (a + along[:, None] * (b - a)), axis=1), np.full(len(x), radius), f"obj {name}")
            corners = vertices[faces]
            normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
            outwards = corners.mean(axis=1) - vertices[np.unique(faces)].mean(axis=0)
            assert (np.einsum("ij,ij->i", normals, outwards) > 0).all(), f"obj {name}: faces point inwards"


def check_polylines(program, folder, run):
    export(program, folder, "--format", "obj", "-o", "p.obj", "--polylines", "--no-obstacles", "--frames", "-1")
    vertices, objects = read_obj(folder / "p.obj")
    lines = objects["long_ones"] + objects["short"]
    assert list(objects) == ["long_ones", "short"] and len(lines) == len(run.group)
    for fibre, line in enumerate(lines):
        near(vertices[line], run.points[-1, run.begin[fibre] : run.begin[fibre + 1]], "polyline")


def read_vtp(path):
    data = path.read_bytes()
    head, rest = data.split(b'<AppendedData encoding="raw">\n_', 1)
    root = xml.fromstring(head + b"</VTKFile>")
    out = {}
    for array in root.iter("DataArray"):
        if array.get("format") != "appended":
            continue
        kind = {"Float32": "<f4", "Int32": "<i4", "Int64": "<i8"}[array.get("type")]
        at = int(array.get("offset"))
        (size,) = struct.unpack_from("<Q", rest, at)
        values = np.frombuffer(rest[at + 8 : at + 8 + size], kind)
        width = int(array.get("NumberOfComponents"))
        out[array.get("Name")] = values.reshape(-1, width) if width > 1 else values
    return out


def check_contacts(got, run, frame, points):
    near(points, run.contacts[frame]["point_a"], "contact points")
    near(got["force"], run.contacts[frame]["force"], "contact forces", 10.0)
    near(got["normal"], run.contacts[frame]["normal"], "contact normals", 1.0)
    near(got["gap"], run.contacts[frame]["gap"], "contact gaps", 1e-3)
    assert (got["state"] == run.contacts[frame]["state"]).all()


def check_vtk(program, folder, run):
    export(program, folder, "--format", "vtk", "-o", "v.pvd")
    sets = list(xml.parse(folder / "v.pvd").getroot().iter("DataSet"))
    assert len(sets) == 3 * len(run.time)
    for kind in ("fibres", "contacts", "obstacles"):
        mine = [s for s in sets if s.get("name") == kind]
        assert [float(s.get("timestep")) for s in mine] == list(run.time), kind
        for frame, entry in enumerate(mine):
            got = read_vtp(folder / entry.get("file"))
            if kind == "fibres":
                near(got["Points"], run.points[frame], "vtp points")
                near(got["tension"], run.force[frame, :, 0], "vtp tension", 1.0)
                assert (got["offsets"] == run.begin[1:]).all()
            if kind == "contacts":
                check_contacts(got, run, frame, got["Points"])


def check_vtkhdf(program, folder, run):
    export(program, folder, "--format", "vtkhdf", "-o", "h.vtkhdf")
    series = json.loads((folder / "h.vtkhdf.series").read_text())
    assert [entry["time"] for entry in series["files"]] == list(run.time)
    for frame, entry in enumerate(series["files"]):
        with h5py.File(folder / entry["name"]) as file:
            near(file["VTKHDF/Points"][:], run.points[frame], "vtkhdf points")
            assert (file["VTKHDF/Offsets"][:] == run.begin).all()
            assert (file["VTKHDF/Types"][:] == 4).all()
        with h5py.File(folder / entry["name"].replace("h_", "h_contacts_")) as file:
            got = {name: value[:] for name, value in file["VTKHDF/PointData"].items()}
            check_contacts(got, run, frame, file["VTKHDF/Points"][:])


def read_glb(path):
    data = path.read_bytes()
    magic, version, total, size, kind = struct.unpack_from("<4sIII4s", data)
    assert magic == b"glTF" and version == 2 and total == len(data) and kind == b"JSON"
    document = json.loads(data[20 : 20 + size])
    length, kind = struct.unpack_from("<I4s", data, 20 + size)
    assert kind == b"BIN\0" and 28 + size + length == len(data)
    return document, data[28 + size :]


def accessor(document, data, index):
    entry = document["accessors"][index]
    view = document["bufferViews"][entry["bufferView"]]
    width = {"SCALAR": 1, "VEC3": 3, "VEC4": 4}[entry["type"]]
    kind = {5126: "<f4", 5125: "<u4"}[entry["componentType"]]
    values = np.frombuffer(data, kind, entry["count"] * width, view["byteOffset"]).reshape(-1, width)
    if "min" in entry:
        assert (values.min(axis=0) == entry["min"]).all() and (values.max(axis=0) == entry["max"]).all()
    return values


def from_y_up(points):
    return np.stack([points[:, 0], -points[:, 2], points[:, 1]], axis=1)


def check_gltf(program, folder, run):
    export(program, folder, "--format", "gltf", "-o", "g.glb")
    document, data = read_glb(folder / "g.glb")
    animation = document["animations"][0]
    assert len(document["meshes"]) == 5
    for group in (0, 1):
        node = document["nodes"][group]
        primitive = document["meshes"][node["mesh"]]["primitives"][0]
        base = accessor(document, data, primitive["attributes"]["POSITION"])
        targets = [accessor(document, data, t["POSITION"]) for t in primitive["targets"]]
        channel = next(c for c in animation["channels"] if c["target"] == {"node": group, "path": "weights"})
        sampler = animation["samplers"][channel["sampler"]]
        near(accessor(document, data, sampler["input"])[:, 0], run.time, "glb times", 1.0)
        weights = accessor(document, data, sampler["output"]).reshape(len(run.time), len(targets))
        for frame, row in enumerate(weights):
            shape = base + sum(w * t for w, t in zip(row, targets))
            near(from_y_up(shape), run.group_points(frame, group), "glb points")
    check_gltf_bar(document, data, run)
    export(program, folder, "--format", "gltf", "-o", "g.gltf", "--tubes", "6", "--frames", "-1")
    check_tubes(folder, run)


def check_gltf_bar(document, data, run):
    """The bar's mesh, moved by the animation, lies on the moved bar."""
    node = next(i for i, entry in enumerate(document["nodes"]) if entry["name"] == "bar")
    mesh = document["meshes"][document["nodes"][node]["mesh"]]["primitives"][0]
    points = accessor(document, data, mesh["attributes"]["POSITION"])
    moves = {}
    for channel in document["animations"][0]["channels"]:
        if channel["target"]["node"] == node:
            sampler = document["animations"][0]["samplers"][channel["sampler"]]
            moves[channel["target"]["path"]] = accessor(document, data, sampler["output"]).astype(float)
    for frame in range(len(run.time)):
        q = moves["rotation"][frame]
        turned = points + 2 * np.cross(q[:3], np.cross(q[:3], points) + q[3] * points)
        a, b = (run.moved(frame, 1, np.array(end)) for end in ((0.01, -0.03, 0.01), (0.01, 0.03, 0.01)))
        x = from_y_up(turned + moves["translation"][frame])
        along = np.clip((x - a) @ (b - a) / ((b - a) @ (b - a)), 0, 1)
        near(np.linalg.norm(x - (a + along[:, None] * (b - a)), axis=1), np.full(len(x), 2e-3), "glb bar", 0.1)


def check_tubes(folder, run):
    document = json.loads((folder / "g.gltf").read_text())
    data = (folder / document["buffers"][0]["uri"]).read_bytes()
    assert document["buffers"][0]["byteLength"] == len(data) and "animations" not in document
    primitive = document["meshes"][0]["primitives"][0]
    rings = from_y_up(accessor(document, data, primitive["attributes"]["POSITION"])).reshape(-1, 6, 3)
    centre = run.group_points(-1, 0)
    near(rings.astype(float).mean(axis=1), centre, "tubes' middles")
    near(np.linalg.norm(rings - centre[:, None], axis=2), np.full(rings.shape[:2], 5e-5), "tubes' radii")
    corners = rings.reshape(-1, 3)[accessor(document, data, primitive["indices"]).reshape(-1, 3)].astype(float)
    # Every tube is closed: its volume is that of its hexagonal prism, and positive when faces look outwards.
    volume = np.einsum("ij,ij->", corners[:, 0], np.cross(corners[:, 1], corners[:, 2])) / 6
    expected = 3 * 0.05 * 1.5 * np.sqrt(3) * 5e-5**2
    assert abs(volume / expected - 1) < 0.02, (volume, expected)


def numbers_of(text):
    return np.array(re.findall(r"-?\d+(?:\.\d+)?(?:e[-+]?\d+)?", text), float)


def samples_of(text, prim, attribute):
    block = text[text.index(f'"{prim}"') :]
    block = block[block.index(attribute + ".timeSamples = {") :]
    lines = block[: block.index("\n        }")].splitlines()[1:]
    return {float(line.split(":")[0]): numbers_of(line.split(":", 1)[1]) for line in lines}


def check_usda(program, folder, run):
    export(program, folder, "--format", "usda", "-o", "u.usda", "--fps", "50")
    text = (folder / "u.usda").read_text()
    assert text.startswith("#usda 1.0\n") and text.count("{") == text.count("}") and 'upAxis = "Z"' in text
    for group, prim in enumerate(("long_ones", "short")):
        points = samples_of(text, prim, "point3f[] points")
        near(list(points), 50 * run.time, "time codes", 1e-6)
        for frame, values in enumerate(points.values()):
            near(values.reshape(-1, 3), run.group_points(frame, group), f"usda {prim}")
        middle = list(samples_of(text, prim, "vector3f[] velocities").values())[2].reshape(-1, 3)
        expected = (run.group_points(3, group) - run.group_points(1, group)) / (run.time[3] - run.time[1])
        near(middle, expected, "usda velocities", 10.0)
    matrices = list(samples_of(text, "bar", "matrix4d xformOp:transform").values())
    for frame, values in enumerate(matrices):
        moved = np.append([0.01, 0.03, 0.01], 1.0) @ values.reshape(4, 4)
        near(moved[:3], run.moved(frame, 1, np.array([0.01, 0.03, 0.01])), "usda bar")
    forces = list(samples_of(text, "contacts", "vector3f[] primvars:force").values())
    for frame, values in enumerate(forces):
        near(values.reshape(-1, 3), run.contacts[frame]["force"], "usda forces", 10.0)


def check_unfinished(program, folder):
    """A killed run: what its log holds comes out as it does from trajectory.h5."""
    scene = pathlib.Path(__file__).resolve().parents[1] / "readers/scene.toml"
    command = [program, "run", str(scene), "-o", "killed", "--quiet", "--until", "1e3", "--set", "output.every=1"]
    with subprocess.Popen([*command, "--set", "simulation.duration=1000"], cwd=folder) as process:
        log = folder / "killed/trajectory.log"
        for _ in range(600):
            if log.exists() and log.stat().st_size > 100_000:
                break
            try:
                process.wait(0.1)
            except subprocess.TimeoutExpired:
                pass
        process.kill()
    with open(log, "r+b") as stream:  # and in the middle of a record
        stream.truncate(log.stat().st_size - 100)
    command = [program, "export", "killed", "--format", "csv", "-o", "k.csv", "--frames", "0:1"]
    subprocess.run([*command, "--quiet"], cwd=folder, check=True, timeout=100)
    assert (folder / "k.csv").read_text().count("\n") > 100


def check_places(program, folder):
    """A folder gets export.csv, the run's own without -o."""
    (folder / "there").mkdir()
    export(program, folder, "--format", "csv", "-o", "there")
    export(program, folder, "--format", "csv")
    assert (folder / "there/export.csv").read_bytes() == (folder / "run/export.csv").read_bytes()


def check_refusals(program, folder):
    shutil.copytree(folder / "run", folder / "broken")
    with h5py.File(folder / "broken/trajectory.h5", "r+") as file:
        file["fibres/points"][3, 5, 1] = np.nan
    shutil.copytree(folder / "run", folder / "cut")
    os.truncate(folder / "cut/trajectory.h5", 3000)
    for words, expected in (
        (["run", "--format", "obj", "-o", "x.usda"], "x.usda: expected a folder, or a name that ends in .obj"),
        (["run", "--format", "obj", "-o", "x.obj", "--frames", "99"], "frames: no frame 99: the run holds 7, 0 to 6"),
        (["run", "--format", "obj", "-o", "x.obj", "--frames", "a:3"], 'frames: "a:3"; expected a frame such as'),
        (["run", "--format", "obj", "-o", "x.obj", "--frames", "::0"], 'frames: "::0"; expected a frame such as'),
        (["run", "--format", "obj", "-o", "x.obj", "--frames", "4:2"], "frames: first 4 comes after last 2"),
        (["run", "-o", "x.xyz"], "x.xyz: expected a name that ends in .usda, .pvd, .vtkhdf, .obj, .glb, .gltf, .csv, .html, or a folder"),
        (["run", "-o", "x.usdc"], "x.usdc: USD is written as text; expected .usda, which usdcat turns into .usdc"),
        (["run", "-o", "x.abc"], "x.abc: Alembic is not written; expected .usda, which Blender and Houdini read"),
        (["run", "-o", "x.vtu"], "x.vtu: expected .pvd or .vtkhdf, which ParaView reads"),
        (["run", "-o", "x.mp4"], "x.mp4: tresse render draws pictures and videos, as .png and .mp4"),
        (["run"], "export: found neither -o nor --format; expected a file to write, such as -o run.usda"),
        (["run", "--format", "gltf", "-o", "x.glb", "--tubes", "2"], "tubes: 2; expected 3 to 64 sides, or 0"),
        (["run", "--format", "usda", "-o", "x.usda", "--fps", "0"], "fps: 0; expected more than 0"),
        (["run", "--format", "usda", "-o", "none/x.usda"], "none/x.usda"),
        (["nowhere", "--format", "usda", "-o", "x.usda"], "nowhere: no such folder"),
        (["broken", "--format", "csv", "-o", "x.csv"], "frame 3: 'fibres/points' holds nan; expected numbers"),
        (["cut", "--format", "csv", "-o", "x.csv"], "cut/trajectory.h5"),
    ):
        result = subprocess.run([program, "export", *words], cwd=folder, capture_output=True, text=True, timeout=100)
        assert result.returncode == 2 and expected in result.stderr, f"{words}: {result.returncode} {result.stderr}"
        assert result.stderr.count("\n") == 1
    assert not list(folder.glob("x*")), "something was left half-written"
    assert not list(folder.glob("*.tmp")), "temporary files were left"


def check_endings(program, folder):
    """The ending of the output tells the format."""
    for number, ending in enumerate(("usda", "pvd", "vtkhdf", "obj", "glb", "gltf", "csv")):
        export(program, folder, "-o", f"told{number}.{ending}", "--frames", "0")
        form = {"pvd": "vtk", "glb": "gltf"}.get(ending, ending)
        export(program, folder, "--format", form, "-o", f"said{number}.{ending}", "--frames", "0")
        told, said = (sorted(folder.glob(f"{word}{number}*.{ending}")) for word in ("told", "said"))
        assert told and len(told) == len(said), (ending, told)
        if ending in ("obj", "glb", "csv"):  # the others name their files, or the time
            assert [p.read_bytes() for p in told] == [p.read_bytes() for p in said], ending


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True)
    program = os.path.abspath(parser.parse_args().program)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        run: Run = make_run(program, folder)
        assert sum(len(c["gap"]) for c in run.contacts) > 5, "the scene has too few contacts to test with"
        for check in (check_csv, check_obj, check_polylines, check_vtk, check_vtkhdf, check_gltf, check_usda):
            check(program, folder, run)
        check_endings(program, folder)
        check_places(program, folder)
        check_unfinished(program, folder)
        check_refusals(program, folder)


if __name__ == "__main__":
    main()
