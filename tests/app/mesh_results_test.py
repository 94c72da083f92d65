#!/usr/bin/env python3
"""What others get of a run on meshes, in a folder that was moved away from them: mesh_results_test.py --program TRESSE."""

import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as xml

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import h5py  # noqa: E402
import numpy as np  # noqa: E402
from export_runs import export, near  # noqa: E402
from export_test import accessor, from_y_up, numbers_of, read_glb, read_obj, read_vtp, samples_of  # noqa: E402
from mesh_runs import BLOCK, RATE, SHEET, MeshRun, make_mesh_run  # noqa: E402
from view_test import viewing  # noqa: E402

SIZE = 0.1  # of coordinates [m]


def check_obj(program, folder, run: MeshRun):
    export(program, folder, "--format", "obj", "-o", "o.obj")
    for frame in range(len(run.time)):
        vertices, objects = read_obj(folder / f"o_{frame:04}.obj")
        for name in run.names:
            faces = np.array(objects[name])
            near(vertices[faces.min() : faces.max() + 1], run.surface(frame, name), f"obj {name}", SIZE)
            assert (faces - faces.min() == run.faces[name]).all(), f"obj {name}: other faces"
        floor = vertices[np.unique(objects["floor"])]
        assert np.ptp(floor[:, 0]) > 2 * np.ptp(run.surface(frame, "sheet")[:, 0]), "the floor is too small"


def check_of_vtk(points, corners, obstacle, run, frame, what):
    for index, name in enumerate(run.names):
        mine = corners.reshape(-1, 3)[obstacle == index]
        near(points[mine], run.surface(frame, name)[run.faces[name]], f"{what} {name}", SIZE)


def check_vtk(program, folder, run: MeshRun):
    export(program, folder, "--format", "vtk", "-o", "v.pvd")
    sets = [s for s in xml.parse(folder / "v.pvd").getroot().iter("DataSet") if s.get("name") == "obstacles"]
    assert len(sets) == len(run.time)
    for frame, entry in enumerate(sets):
        got = read_vtp(folder / entry.get("file"))
        check_of_vtk(got["Points"], got["connectivity"], got["obstacle"], run, frame, "vtp")
    export(program, folder, "--format", "vtkhdf", "-o", "h.vtkhdf")
    for frame in range(len(run.time)):
        with h5py.File(folder / f"h_obstacles_{frame:04}.vtkhdf") as file:
            data = file["VTKHDF"]
            corners, obstacle = data["Connectivity"][:], data["CellData/obstacle"][:]
            check_of_vtk(data["Points"][:], corners, obstacle, run, frame, "vtkhdf")


def glb_surfaces(document, data, name):
    """Vertices of a node's mesh frame by frame: morphed, turned, moved; and its faces."""
    index = next(i for i, entry in enumerate(document["nodes"]) if entry["name"] == name)
    mesh = document["meshes"][document["nodes"][index]["mesh"]]
    primitive = mesh["primitives"][0]
    moves = {}
    for channel in document["animations"][0]["channels"]:
        if channel["target"]["node"] == index:
            sampler = document["animations"][0]["samplers"][channel["sampler"]]
            moves[channel["target"]["path"]] = accessor(document, data, sampler["output"]).astype(float)
    base = accessor(document, data, primitive["attributes"]["POSITION"]).astype(float)
    targets = [accessor(document, data, t["POSITION"]).astype(float) for t in primitive.get("targets", [])]
    weights = moves["weights"].reshape(len(moves["rotation"]), len(targets)) if targets else moves["rotation"][:, :0]
    assert not targets or np.array_equal(np.float32(mesh["weights"]), np.float32(weights[0])), "weights at rest"
    out = []
    for q, place, row in zip(moves["rotation"], moves["translation"], weights):
        shape = base + sum(w * t for w, t in zip(row, targets))
        turned = shape + 2 * np.cross(q[:3], np.cross(q[:3], shape) + q[3] * shape)
        out.append(from_y_up(turned + place))
    return out, accessor(document, data, primitive["indices"]).reshape(-1, 3), len(targets)


def check_gltf(program, folder, run: MeshRun):
    for words, frames in ((["--frames", ":"], range(len(run.time))), (["--frames", "1:2"], (1, 2)), (["--frames", "5:6"], (5, 6))):
        export(program, folder, "--format", "gltf", "-o", "g.glb", *words)
        document, data = read_glb(folder / "g.glb")
        for name in run.names:
            surfaces, faces, targets = glb_surfaces(document, data, name)
            assert (faces == run.faces[name]).all() and len(surfaces) == len(frames)
            # The sheet has three frames of its own, of which frames 1 and 2 need two and those of its rest one.
            assert targets == (0 if name == "block" else {0: 2, 1: 1, 5: 0}[frames[0]]), f"{name}: {targets} targets"
            for frame, got in zip(frames, surfaces):
                near(got, run.surface(frame, name), f"glb {name}, frame {frame}", SIZE)
    export(program, folder, "--format", "gltf", "-o", "one.glb", "--frames", "2")
    document, data = read_glb(folder / "one.glb")
    assert "targets" not in document["meshes"][-2]["primitives"][0]
    sheet = document["meshes"][-2]["primitives"][0]["attributes"]["POSITION"]
    near(from_y_up(accessor(document, data, sheet)), run.at_reference(2, "sheet"), "glb of one frame", SIZE)


def usd_surface(text, run: MeshRun, frame, name):
    """Vertices and faces of a mesh in a frame."""
    block = text[text.index(f'def Xform "{name}"') :]
    matrix = list(samples_of(block, name, "matrix4d xformOp:transform").values())[frame].reshape(4, 4)
    block = block[block.index("def Mesh") :]
    block = block[: block.index("\n        }")]
    line = {key.strip(): value for key, _, value in (line.partition(" = ") for line in block.splitlines())}
    if "point3f[] points" in line:
        points = numbers_of(line["point3f[] points"])
    else:
        samples = block[block.index("point3f[] points.timeSamples = {") :].splitlines()[1 : 1 + len(run.time)]
        points = numbers_of(samples[frame].split(":", 1)[1])
        assert abs(float(samples[frame].split(":")[0]) - 24 * run.time[frame]) < 1e-9, "time codes"
    faces = numbers_of(line["int[] faceVertexIndices"]).astype(int).reshape(-1, 3)
    assert (numbers_of(line["int[] faceVertexCounts"]) == 3).all()
    points = points.reshape(-1, 3)
    return np.hstack([points, np.ones((len(points), 1))]) @ matrix[:, :3], faces


def check_usda(program, folder, run: MeshRun):
    export(program, folder, "--format", "usda", "-o", "u.usda")
    text = (folder / "u.usda").read_text()
    assert text.count("{") == text.count("}") and text.count("[") == text.count("]")
    for name in run.names:
        for frame in range(len(run.time)):
            points, faces = usd_surface(text, run, frame, name)
            near(points, run.surface(frame, name), f"usda {name}", SIZE)
            assert (faces == run.faces[name]).all()


def check_leaving_out(program, folder, _run):
    export(program, folder, "--format", "obj", "-o", "n.obj", "--frames", "-1", "--no-obstacles")
    assert list(read_obj(folder / "n.obj")[1]) == ["hair"]
    export(program, folder, "--format", "usda", "-o", "n.usda", "--no-obstacles")
    assert "def Mesh" not in (folder / "n.usda").read_text()


def check_picture(program, folder, _run):
    """From another folder, too."""
    words = ["render", str(folder / "run"), "-o", "p.png", "--frame", "3", "--width", "64", "--height", "48", "--samples", "4"]
    result = subprocess.run([program, *words], cwd=folder, capture_output=True, text=True, timeout=100)
    assert result.returncode == 0, result.stderr


def check_server(program, folder, run: MeshRun):
    """The page gets faces and vertices once and by number; no file is named."""
    with viewing(program, folder / "run", folder / "assets") as viewer:
        generation = viewer.json("/api/state")["generation"]
        status, content, _ = viewer.request(f"/api/meshes?generation={generation}")
        assert status == 200
        meshes, faces = np.frombuffer(content, "<u4", 2)
        assert (meshes, faces) == (2, 14), (meshes, faces)
        assert list(np.frombuffer(content, "<f8", 2, 8)) == [24, RATE]
        numbers = np.frombuffer(content, "<i4", -1, 24)
        assert list(numbers[:8]) == [0, 1, 12, 2, 8, 4, 1, 3]  # obstacles, faces, vertices, keys
        assert (numbers[8:].reshape(-1, 3) == np.concatenate([run.faces[name] for name in run.names])).all()

        def vertices(mesh, key):
            return viewer.request(f"/api/vertices?generation={generation}&mesh={mesh}&key={key}")

        near(np.frombuffer(vertices(0, 0)[1], "<f4").reshape(-1, 3), 0.01 * BLOCK, "vertices of the block", SIZE)
        for key, expected in enumerate(SHEET):
            near(np.frombuffer(vertices(1, key)[1], "<f4").reshape(-1, 3), expected, "vertices of the sheet", SIZE)
        for mesh, key in ((0, 1), (1, 3), (2, 0), (2**62, 0), (0, 2**62), (-1, 0), ("../x", 0), (0, "")):
            status, content, _ = vertices(mesh, key)
            assert status == 404 and b"\n" not in content, f"{mesh} {key}: {status} {content}"
        for path in ("/api/meshes", "/api/meshes?generation=9", "/api/vertices?generation=9&mesh=0&key=0", "/block.obj"):
            assert viewer.request(path)[0] == 404, path
        assert viewer.request(f"/api/meshes?generation={generation}", "POST")[0] == 405


def spoil(kind, path):
    """Damages trajectory.h5 in one way."""
    if kind == "cut":
        os.truncate(path, path.stat().st_size // 2)
        return
    with h5py.File(path, "r+") as file:
        meshes = file["obstacles/meshes"]
        vertex, face = meshes["vertex"][:], meshes["face"][:]
        if kind == "no meshes":
            del file["obstacles/meshes"]
        if kind == "no vertices":
            del meshes["vertex"]
        if kind == "too few vertices":
            del meshes["vertex"]
            meshes["vertex"] = vertex[:-1]
        if kind == "enormous":
            del meshes["vertex"]
            meshes.create_dataset("vertex", (10**12, 3), "<f8", chunks=(1024, 3))
        if kind == "enormous counts":
            meshes["vertices"][:] = 2**62
        if kind == "faces of others":
            del meshes["face"]
            meshes["face"] = face + 1
        if kind == "not a number":
            meshes["vertex"][2, 1] = np.nan
        if kind == "frames never":
            meshes["rate"][:] = np.inf


DAMAGES = {
    "cut": "trajectory.h5", "no meshes": "obstacle 'block' has no capsule, plane or mesh in 'obstacles'",
    "no vertices": "'obstacles/meshes/vertex': missing", "too few vertices": "'obstacles/meshes' do not add up",
    "enormous": "larger than the file can hold", "enormous counts": "'obstacles/meshes' do not add up",
    "faces of others": "'obstacles/meshes' do not add up", "frames never": "'obstacles/meshes' do not add up",
    "not a number": "'obstacles/meshes/vertex' holds a number that is not finite",
}  # fmt: skip


def refused(program, folder, *words):
    """The folder "bad" is refused in one line that has these words, and nothing is left half-written."""
    before = sorted(path.name for path in folder.iterdir())
    commands = [["export", "bad", "--format", f, "-o", f"x.{f}"] for f in ("usda", "obj", "vtkhdf")]
    commands += [["export", "bad", "--format", "gltf", "-o", "x.glb"], ["render", "bad", "-o", "x.png"]]
    commands += [["view", "bad", "--no-open", "--assets", "assets"]]
    for command in commands:
        result = subprocess.run([program, *command], cwd=folder, capture_output=True, text=True, timeout=100)
        assert result.returncode == 2 and result.stderr.count("\n") == 1, f"{words}: {command}: {result}"
        assert all(word in result.stderr for word in words), f"{words}: {command}: {result.stderr}"
    assert sorted(path.name for path in folder.iterdir()) == before, f"{words}: something was left"
    shutil.rmtree(folder / "bad")


def check_damages(program, folder, _run):
    for kind, words in DAMAGES.items():
        shutil.copytree(folder / "run", folder / "bad")
        spoil(kind, folder / "bad/trajectory.h5")
        refused(program, folder, "bad/trajectory.h5", words)


def check_log(program, folder, _run):
    """A run under way has its meshes in the log's first record."""
    for name, output in (("run", "h.obj"), ("stopped", "l.obj")):
        command = [program, "export", name, "--format", "obj", "-o", output, "--frames", "0:2", "--quiet"]
        subprocess.run(command, cwd=folder, check=True, timeout=100)
    for frame in range(3):
        # But for the floor, which is larger in the longer run.
        whole, log = (read_obj(folder / f"{name}_{frame:04}.obj")[0][:-4] for name in "hl")
        assert (whole == log).all(), f"frame {frame} of the log"
    with viewing(program, folder / "stopped", folder / "assets") as viewer:
        generation = viewer.json("/api/state")["generation"]
        assert len(viewer.request(f"/api/vertices?generation={generation}&mesh=1&key=2")[1]) == 12 * len(SHEET[2])
    log = (folder / "stopped/trajectory.log").read_bytes()
    for name in (b"obstacles/meshes/vertices", b"obstacles/meshes/vertex", b"obstacles/meshes/face"):
        at = log.index(name) + len(name) + 30
        flipped = log[:at] + bytes([log[at] ^ 1]) + log[at + 1 :]
        for damaged in (log[:at], flipped):
            shutil.copytree(folder / "stopped", folder / "bad")
            (folder / "bad/trajectory.log").write_bytes(damaged)
            refused(program, folder, "bad/trajectory.log: damaged or cut short")


CHECKS = (check_obj, check_vtk, check_gltf, check_usda, check_leaving_out, check_picture, check_server, check_damages, check_log)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True)
    program = os.path.abspath(parser.parse_args().program)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "assets").mkdir()
        (folder / "assets/index.html").write_text("<!doctype html><title>page</title>", encoding="utf-8")
        run = make_mesh_run(program, folder)
        for check in CHECKS:
            check(program, folder, run)


if __name__ == "__main__":
    main()
