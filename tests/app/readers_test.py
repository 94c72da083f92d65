#!/usr/bin/env python3
"""What other programs read of tresse export: readers_test.py --program TRESSE --reader paraview|blender|usd.

Exits 77, which ctest shows as skipped, where the reader isn't installed: tools/install_dependencies readers.
"""

import argparse
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import numpy as np  # noqa: E402
from export_runs import SCENE, Run, export, make_run, near  # noqa: E402
from export_test import samples_of  # noqa: E402
from mesh_results_test import usd_surface  # noqa: E402
from mesh_runs import MeshRun, make_mesh_run  # noqa: E402

READERS = SCENE.parent
SKIPPED = 77


def call(folder, *command):
    environment = dict(os.environ, PYTHONDONTWRITEBYTECODE="1")
    result = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300, env=environment)
    assert result.returncode == 0, f"{command}: {result.stdout[-2000:]}{result.stderr[-2000:]}"
    return result.stdout


def check_paraview_meshes(program, folder, run: MeshRun):
    export(program, folder, "--format", "vtk", "-o", "v.pvd")
    export(program, folder, "--format", "vtkhdf", "-o", "h.vtkhdf")
    call(folder, sys.executable, str(READERS / "paraview_dump.py"), "out.npz", "v.pvd", "h_obstacles.vtkhdf.series")
    got = np.load(folder / "out.npz")
    for frame in range(len(run.time)):
        for key in (f"v.pvd/{frame}/2", f"h_obstacles.vtkhdf.series/{frame}/0"):
            expected = np.concatenate([run.surface(frame, name) for name in run.names])
            near(got[key + "/points"][: len(expected)], expected, key, 0.1)
            assert (got[key + "/cells"] == 5).all() and len(got[key + "/cells"]) == 16  # two of the floor


def has_paraview():
    test = [sys.executable, "-c", "import paraview.simple"]
    return subprocess.run(test, capture_output=True, timeout=100).returncode == 0


def check_paraview(program, folder, run: Run):
    export(program, folder, "--format", "vtk", "-o", "v.pvd")
    export(program, folder, "--format", "vtkhdf", "-o", "h.vtkhdf")
    names = ["v.pvd", "h.vtkhdf.series", "h_contacts.vtkhdf.series", "h_0003.vtkhdf"]
    call(folder, sys.executable, str(READERS / "paraview_dump.py"), "out.npz", *names)
    got = np.load(folder / "out.npz")
    near(got["v.pvd/times"], run.time, "times", 1e-6)
    near(got["h.vtkhdf.series/times"], run.time, "times", 1e-6)
    for frame in range(len(run.time)):
        for key in (f"v.pvd/{frame}/0", f"h.vtkhdf.series/{frame}/0"):
            near(got[key + "/points"], run.points[frame], key)
            near(got[key + "/tension"], run.force[frame, :, 0], key, 1.0)
            near(got[key + "/radius"], run.radius, key, 1e-4)
            assert (got[key + "/cells"] == 4).all() and len(got[key + "/cells"]) == len(run.group)
        for key in (f"v.pvd/{frame}/1", f"h_contacts.vtkhdf.series/{frame}/0"):
            contacts = run.contacts[frame]
            near(got[key + "/points"], contacts["point_a"], key)
            if len(contacts["gap"]) == 0:
                continue  # readers drop the arrays of nothing
            near(got[key + "/force"], contacts["force"], key, 10.0)
            assert (got[key + "/state"] == contacts["state"]).all()
        assert (got[f"v.pvd/{frame}/2/cells"] == 5).all() and len(got[f"v.pvd/{frame}/2/cells"]) > 500
    near(got["h_0003.vtkhdf/0/0/points"], run.points[3], "one .vtkhdf")


def check_blender(program, folder, run: Run):
    export(program, folder, "--format", "obj", "-o", "o.obj")
    export(program, folder, "--format", "gltf", "-o", "g.glb")
    export(program, folder, "--format", "gltf", "-o", "t.gltf", "--tubes", "5")
    words = ["out.npz", "o_0000.obj", "o_0006.obj", "g.glb", "t.gltf"]
    call(folder, "blender", "-b", "--factory-startup", "--python", str(READERS / "blender_dump.py"), "--", *words)
    got = np.load(folder / "out.npz")
    for frame in (0, 6):
        for group, name in enumerate(("long_ones", "short")):
            key = f"o_{frame:04}.obj/0/{name}"
            near(got[key + "/points"], run.group_points(frame, group), key)
            fibres = np.count_nonzero(run.group == group)
            assert got[key + "/edges"] == len(got[key + "/points"]) - fibres, f"{key}: edges"
    for frame in range(len(run.time)):
        for group, name in enumerate(run.groups):
            expected = run.group_points(frame, group)
            near(got[f"g.glb/{frame}/{name}/points"], expected, f"glb frame {frame}", 0.1)
            rings = got[f"t.gltf/{frame}/{name}/points"].reshape(-1, 5, 3)
            near(rings.mean(axis=1), expected, f"tubes, frame {frame}", 0.1)
        for name, ends, radius in (("bar", ((0.01, -0.03, 0.01), (0.01, 0.03, 0.01)), 2e-3),):
            a, b = (run.moved(frame, 1, np.array(end)) for end in ends)
            x = got[f"g.glb/{frame}/{name}/points"]
            along = np.clip((x - a) @ (b - a) / ((b - a) @ (b - a)), 0, 1)
            near(np.linalg.norm(x - (a + along[:, None] * (b - a)), axis=1), np.full(len(x), radius), name, 0.1)


def check_blender_meshes(program, folder, run: MeshRun):
    export(program, folder, "--format", "obj", "-o", "o.obj")
    export(program, folder, "--format", "gltf", "-o", "g.glb")
    words = ["out.npz", "o_0003.obj", "g.glb"]
    call(folder, "blender", "-b", "--factory-startup", "--python", str(READERS / "blender_dump.py"), "--", *words)
    got = np.load(folder / "out.npz")
    for name in run.names:
        near(got[f"o_0003.obj/0/{name}/points"], run.surface(3, name), f"obj {name}", 0.1)
        for frame in range(len(run.time)):
            near(got[f"g.glb/{frame}/{name}/points"], run.surface(frame, name), f"glb {name}, frame {frame}", 0.1)


def check_usd(program, folder, run: Run):
    export(program, folder, "--format", "usda", "-o", "u.usda")
    text = call(folder, "node", str(READERS / "usd_dump.mjs"), "u.usda")
    assert 'upAxis = "Z"' in text and "metersPerUnit = 1" in text and "timeCodesPerSecond = 24" in text
    for group, prim in enumerate(("long_ones", "short")):
        points = samples_of(text, prim, "point3f[] points")
        near(list(points), 24 * run.time, "time codes", 1.0)
        for frame, values in enumerate(points.values()):
            near(values.reshape(-1, 3), run.group_points(frame, group), prim)
        assert len(samples_of(text, prim, "vector3f[] velocities")) == len(run.time)
    forces = samples_of(text, "contacts", "vector3f[] primvars:force")
    for frame, values in enumerate(forces.values()):
        near(values.reshape(-1, 3), run.contacts[frame]["force"], "forces", 10.0)
    for kind in ('def BasisCurves "long_ones"', 'def Capsule "capsule_0"', 'def Sphere "capsule_1"', "def Mesh", "def Points"):
        assert kind in text, f"{kind} is missing"


def check_usd_meshes(program, folder, run: MeshRun):
    export(program, folder, "--format", "usda", "-o", "u.usda")
    text = call(folder, "node", str(READERS / "usd_dump.mjs"), "u.usda")
    for name in run.names:
        for frame in range(len(run.time)):
            points, faces = usd_surface(text, run, frame, name)
            near(points, run.surface(frame, name), f"usd {name}", 0.1)
            assert (faces == run.faces[name]).all(), name


CHECKS = {
    "paraview": (check_paraview, check_paraview_meshes, has_paraview),
    "blender": (check_blender, check_blender_meshes, lambda: shutil.which("blender") is not None),
    "usd": (check_usd, check_usd_meshes, lambda: shutil.which("node") and (READERS / "node_modules/tinyusdz").is_dir()),
}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True)
    parser.add_argument("--reader", required=True, choices=CHECKS)
    arguments = parser.parse_args()
    program = os.path.abspath(arguments.program)
    check, check_meshes, installed = CHECKS[arguments.reader]
    if not installed():
        print(f"SKIPPED: {arguments.reader} is not installed; tools/install_dependencies readers installs it")
        sys.exit(SKIPPED)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        check(program, folder, make_run(program, folder))
        (folder / "meshes").mkdir()
        check_meshes(program, folder / "meshes", make_mesh_run(program, folder / "meshes"))


if __name__ == "__main__":
    main()
