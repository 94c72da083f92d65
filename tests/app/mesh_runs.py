"""Runs on meshes for tests: a block that moves as one body, a sheet whose vertices move, and where both are by the scene alone."""

import shutil
import subprocess

import numpy as np
from export_runs import Run

SCENE = """
[simulation]
time_step = "1 ms"
duration = "0.06 s"
[output]
every = 10
[[fibres]]
name = "hair"
material = "human-hair"
length = "5 cm"
elements = 4
radius = "60 um"
root = { condition = "free", position = ["-2.5 cm", 0, "2.1 cm"] }
[[obstacles]]
name = "block"
shape = "mesh"
file = "block.obj"
unit = "1 cm"
motion = { angular_velocity = [0, 3, 2], velocity = [0, 0, "2 cm/s"] }
[[obstacles]]
name = "sheet"
shape = "mesh"
file = "sheet.##.ply"
first = 1
last = 3
rate = 40
motion = { velocity = ["10 cm/s", 0, 0] }
[[obstacles]]
name = "floor"
shape = "plane"
point = [0, 0, "-5 cm"]
normal = [0, 0, 1]
"""
BLOCK = np.array([[x, y, z] for z in (0, 2) for y in (-1, 1) for x in (-1, 1)], float)  # cm
BLOCK_FACES = np.array([[0, 2, 3], [0, 3, 1], [4, 5, 7], [4, 7, 6], [0, 1, 5], [0, 5, 4],
                        [2, 6, 7], [2, 7, 3], [0, 4, 6], [0, 6, 2], [1, 3, 7], [1, 7, 5]])  # fmt: skip
SHEET = np.array([[[-0.04, -0.04, -0.02], [0.04, -0.04, -0.02], [0.04, 0.04, -0.02], [-0.04, 0.04, z]]
                  for z in (-0.02, -0.01, -0.03)])  # fmt: skip
SHEET_FACES = np.array([[0, 1, 2], [0, 2, 3]])
RATE = 40


def write_obj(path, vertices, faces):
    lines = ["v {!r} {!r} {!r}".format(*map(float, x)) for x in vertices]
    lines += ["f {} {} {}".format(*(1 + f)) for f in faces]
    path.write_text("\n".join(lines) + "\n", encoding="ascii")


def write_ply(path, vertices, faces):
    head = ["ply", "format ascii 1.0", f"element vertex {len(vertices)}"]
    head += [f"property double {axis}" for axis in "xyz"]
    head += [f"element face {len(faces)}", "property list uchar int vertex_indices", "end_header"]
    lines = ["{!r} {!r} {!r}".format(*map(float, x)) for x in vertices] + ["3 {} {} {}".format(*f) for f in faces]
    path.write_text("\n".join(head + lines) + "\n", encoding="ascii")


def make_mesh_run(program, folder):
    """folder/run, and folder/stopped, half of it, which has a log. Their scene and meshes are nowhere any more."""
    here = folder / "made"
    here.mkdir()
    write_obj(here / "block.obj", BLOCK, BLOCK_FACES)
    for key, vertices in enumerate(SHEET):
        write_ply(here / f"sheet.{key + 1:02}.ply", vertices, SHEET_FACES)
    (here / "scene.toml").write_text(SCENE, encoding="ascii")
    for name, words in (("run", []), ("stopped", ["--until", "0.03"])):
        command = [program, "run", str(here / "scene.toml"), "-o", str(here / name), "--quiet", *words]
        subprocess.run(command, check=True, timeout=300)
        shutil.move(here / name, folder / name)
    shutil.rmtree(here)
    return MeshRun(folder / "run")


class MeshRun(Run):
    names = ("block", "sheet")
    faces = {"block": BLOCK_FACES, "sheet": SHEET_FACES}

    def at_reference(self, frame, name):
        """The vertices where the obstacle has not moved."""
        if name == "block":
            return 0.01 * BLOCK
        place = min(self.time[frame] * RATE, len(SHEET) - 1)
        before = min(int(place), len(SHEET) - 2)
        return SHEET[before] + (place - before) * (SHEET[before + 1] - SHEET[before])

    def surface(self, frame, name):
        """The vertices where they are."""
        return self.moved(frame, self.names.index(name), self.at_reference(frame, name))
