#!/usr/bin/env python3
"""Files that are well formed but for one value: structured_input.py --program TRESSE [--count N] [--seed S] [--seconds T].

Valid small files of every binary format, and of the JSON that is read back, are changed in one place at a time
(file_changes.py): a number becomes nan, infinite, huge, negative or 0, an array is longer, shorter, of another type or
gone, a count is wrong. Checksums are made right again. Then the commands that read such a file run within a limit of
time and memory. Each must end with status 0, 3 or 4, or with 2 and one line that says what was wrong; what it calls
sound is finite. With --bytes it is bytes that change, of these files and of the corpus of imports.
Without --count all runs in turn for --seconds; the same seed gives the same files. --keep FOLDER keeps the bad ones.
"""

import argparse
import concurrent.futures
import json
import os
import pathlib
import random
import resource
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import threading
import time

import h5py
import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from file_changes import (Hdf5, Words, change_bytes, change_glb, change_json_file, change_log, change_numbers,  # noqa: E402
                          change_table, checkpoint_checksum, glb_bytes)  # fmt: skip

TESTS = pathlib.Path(__file__).resolve().parents[1]
SECONDS = 10  # that one command may take
MEGABYTES = 1024  # that it may hold
HAIR = """simulation = { time_step = 0.001, duration = 0.02 }
output = { points_per_element = 2, every = 4 }
solver = { max_iterations = 100 }
[[fibres]]
name = "hair"
model = "MODEL"
material = "nylon"
length = 0.1
elements = 4
radius = 0.001
root = { position = [-0.05, 0, 0.01162], tangent = [1, 0, 0] }
[[fibres]]
name = "loose"
model = "super-clothoid"
material = "nylon"
length = 0.1
elements = 2
radius = 0.001
root = { condition = "free", position = [-0.05, 0.01, 0.012] }
[[obstacles]]
name = "ball"
shape = "sphere"
center = [0, 0, 0.0]
radius = 0.0105
BODY
[[obstacles]]
name = "floor"
shape = "plane"
point = [0, 0, -0.01041]
normal = [0, 0, 1]
"""
IMPORT = 'simulation = { time_step = 0.001, duration = 0.002 }\n[[fibres]]\nname = "f"\nmaterial = "nylon"\n' \
         'radius = 0.001\nfrom = { file = "FILE" }\n'  # fmt: skip
MESH = ('simulation = { time_step = 0.001, duration = 0.002 }\n[[fibres]]\nname = "f"\nmaterial = "nylon"\nlength = 0.1\n'
        'elements = 2\nradius = 0.001\nroot = { position = [0, 0, 2] }\n'
        '[[obstacles]]\nname = "m"\nshape = "mesh"\nfile = "FILE"\n')  # fmt: skip


# --- valid files, and who reads them


class Kind:
    """A file of a folder, how it is changed, and the commands that read it there."""

    def __init__(self, name, file, change, commands, folder):
        self.name, self.file, self.change, self.commands, self.folder = name, file, change, commands, folder


def tetrahedron():
    """(vertices (4, 3), faces (4, 3))"""
    return np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], "<f4"), np.array(
        [[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]], "<u4")  # fmt: skip


def write_meshes(folder):
    vertices, faces = tetrahedron()
    accessors = [{"bufferView": 0, "componentType": 5126, "count": 4, "type": "VEC3", "min": [0, 0, 0], "max": [1, 1, 1]},
                 {"bufferView": 1, "componentType": 5125, "count": 12, "type": "SCALAR"}]  # fmt: skip
    views = [{"buffer": 0, "byteOffset": 0, "byteLength": 48}, {"buffer": 0, "byteOffset": 48, "byteLength": 48}]
    document = {"asset": {"version": "2.0"}, "scene": 0, "scenes": [{"nodes": [0]}], "buffers": [{"byteLength": 96}],
                "nodes": [{"children": [1], "translation": [0, 0, -2]}, {"mesh": 0, "rotation": [0, 0, 0, 1],
                                                                         "scale": [0.1, 0.1, 0.1]}],
                "meshes": [{"primitives": [{"attributes": {"POSITION": 0}, "indices": 1}]}],
                "accessors": accessors, "bufferViews": views}  # fmt: skip
    (folder / "m.glb").write_bytes(glb_bytes(json.dumps(document).encode(), vertices.tobytes() + faces.tobytes()))
    head = ("ply\nformat binary_little_endian 1.0\nelement vertex 4\nproperty float x\nproperty float y\nproperty float z\n"
            "element face 4\nproperty list uchar uint vertex_indices\nend_header\n").encode()  # fmt: skip
    body = vertices.tobytes() + b"".join(b"\3" + face.tobytes() for face in faces)
    (folder / "m.ply").write_bytes(head + body)
    for name in ("m.glb", "m.ply"):
        (folder / f"{name}.toml").write_text(MESH.replace("FILE", name), encoding="utf-8")
    return len(head)


def write_hair(folder):
    points = np.array([[0.01 * strand, 0, 0.01 * i] for strand in range(3) for i in range(5)], "<f4")
    thickness = np.full(15, 0.002, "<f4")
    head = b"HAIR" + struct.pack("<IIII", 3, 15, 1 | 2 | 4, 4) + struct.pack("<fffff", 0.002, 0.0, 0.5, 0.5, 0.5) + bytes(88)
    (folder / "h.hair").write_bytes(head + struct.pack("<HHH", 4, 4, 4) + points.tobytes() + thickness.tobytes())
    (folder / "h.hair.toml").write_text(IMPORT.replace("FILE", "h.hair"), encoding="utf-8")


def make_files(program, folder):
    """Runs of small scenes, and all else that is to be changed. [Kind]"""

    def call(*arguments):
        result = subprocess.run([program, *map(str, arguments)], cwd=folder, capture_output=True, check=False, timeout=300)
        assert result.returncode == 0, (arguments, result.stderr)

    def kind(*words):
        return Kind(*words, folder)

    kinds = []
    for name, model, body in (("helix", "super-helix", "mass = 0.001"), ("nodes", "discrete-elastic-rod", "")):
        scene = HAIR.replace("MODEL", model).replace("BODY", body)
        if body:
            scene = scene.replace("center = [0, 0, 0.0]", "center = [0, 0, 0.0001]")
        (folder / f"{name}.toml").write_text(scene, encoding="utf-8")
        call("run", f"{name}.toml", "-o", name, "--quiet", "--dump-friction", f"{name}-problems", "--dump-steps", "all",
             "--record-pairs", f"{name}.pairs.json")  # fmt: skip
        call("run", f"{name}.toml", "-o", f"{name}-half", "--quiet", "--until", "0.01")
        assert (folder / f"{name}-half" / "trajectory.log").exists()
        (folder / f"{name}-half" / "trajectory.h5").unlink(missing_ok=True)
        go_on = ["run", f"{name}.toml", "-o", f"{name}-half", "--resume", "--until", "0.012", "--quiet"]
        kinds += [
            kind("checkpoint", f"{name}-half/checkpoint.h5", Hdf5(True),
                 [go_on, ["run", f"{name}-half/checkpoint.h5", "-o", "one", "--quiet"]]),
            kind("trajectory", f"{name}/trajectory.h5", Hdf5(False),
                 [["export", name, "--format", "gltf", "-o", "e.glb", "--quiet"],
                  ["export", name, "--format", "vtkhdf", "-o", "e.vtkhdf", "--quiet"],
                  ["render", name, "-o", "r.png", "--width", "16", "--height", "16", "--samples", "1"]]),
            kind("log", f"{name}-half/trajectory.log", change_log,
                 [go_on, ["export", f"{name}-half", "--format", "usda", "-o", "e.usda", "--quiet"],
                  ["render", f"{name}-half", "-o", "r.png", "--width", "16", "--height", "16", "--samples", "1"]]),
            kind("summary", f"{name}-half/summary.json", change_json_file, [go_on, [*go_on[:4], "--quiet"]]),
            kind("steps", f"{name}-half/steps.csv", change_table, [go_on]),
            kind("pairs", f"{name}.pairs.json", change_json_file, [["distance", f"{name}.pairs.json", "-o", "d.json"]]),
        ]  # fmt: skip
        call("bench", "state", f"{name}-half/checkpoint.h5", f"{name}.toml", "-o", f"{name}.h5")
        kinds.append(kind("packed", f"{name}.h5", Hdf5(True), [["run", f"{name}.h5", "-o", "one", "--quiet"],
                          ["bench", "state", f"{name}.h5", f"{name}.toml", "-o", "two.h5"]]))  # fmt: skip
        steps = sorted((folder / f"{name}-problems").glob("step-*.hdf5"), key=lambda path: path.stat().st_size)
        problem = f"{name}-problems/{steps[-1].name}"
        for path in steps[:-1]:
            path.unlink()
        kinds.append(kind("fclib", problem, Hdf5(False),
                          [["friction", problem, "-o", "f.json", "--max-iterations", "200"]]))  # fmt: skip
    for problem in ("planar.dat", "two_contacts_in_blocks.dat", "one_contact.dat"):
        shutil.copy(TESTS / "data/friction_problems" / problem, folder)
        for solver in ("auto", "path-following", "cadoux", "alart-curnier-newton", "hybrid-gauss-seidel"):
            kinds.append(kind("dat", problem, change_numbers,
                              [["friction", problem, "-o", "f.json", "--solver", solver, "--max-iterations", "200"]]))
    begin = write_meshes(folder)
    write_hair(folder)
    kinds += [
        kind("glb", "m.glb", change_glb, [["check", "m.glb.toml"], ["run", "m.glb.toml", "-o", "one", "--quiet"]]),
        kind("ply", "m.ply", Words([(begin + 48, "u1"), (begin + 61, "u1")], begin, "<f4"),
             [["check", "m.ply.toml"], ["run", "m.ply.toml", "-o", "one", "--quiet"]]),
        kind("ply", "m.ply", Words([(begin + 49, "<u4"), (begin + 53, "<u4")], begin + 49, "<u4"), [["check", "m.ply.toml"]]),
        kind("hair", "h.hair", Words([(4, "<u4"), (8, "<u4"), (12, "<u4"), (16, "<u4"), (20, "<f4"), (128, "<u2"),
                                      (130, "<u2")], 134, "<f4"),
             [["check", "h.hair.toml"], ["run", "h.hair.toml", "-o", "one", "--quiet"]]),
    ]  # fmt: skip
    for one in kinds:
        for arguments in one.commands:
            with tempfile.TemporaryDirectory() as work:
                shutil.copytree(folder, work, dirs_exist_ok=True)
                status, _, text, _ = run(program, arguments, pathlib.Path(work))
                assert status == 0, (one.name, arguments, status, text)
    return kinds


def files_of_bytes(kinds, folder):
    """The same files, the scene and the corpus of imports, each changed byte by byte. [Kind]"""
    changed = {"helix.toml": [["check", "helix.toml"], ["run", "helix.toml", "-o", "one", "--quiet"]]}
    for kind in kinds:
        commands = changed.setdefault(kind.file, [])
        commands += [c for c in kind.commands if c not in commands]
    all_kinds = [Kind("bytes", file, change_bytes, commands, kinds[0].folder) for file, commands in changed.items()]
    for path in sorted((TESTS / "data/corpus").iterdir()):
        if path.suffix.lower() in (".csv", ".hair", ".obj", ".usda"):
            own = folder / path.name
            own.mkdir(parents=True)
            shutil.copy(path, own)
            (own / "s.toml").write_text(IMPORT.replace("FILE", path.name), encoding="utf-8")
            commands = [["check", "s.toml"], ["run", "s.toml", "-o", "one", "--quiet"]]
            all_kinds.append(Kind("bytes", path.name, change_bytes, commands, own))
    return all_kinds


# --- how a command ends


def run(program, arguments, folder):
    """(status, seconds, standard error, peak memory [MB]); status -9 of what was ended for its time."""

    def prepare():
        resource.setrlimit(resource.RLIMIT_AS, (6 << 30, 6 << 30))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

    begin = time.monotonic()
    with tempfile.TemporaryFile() as errors:
        child = subprocess.Popen([program, *arguments], cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                 stderr=errors, preexec_fn=prepare)  # fmt: skip
        timer = threading.Timer(SECONDS, lambda: os.kill(child.pid, signal.SIGKILL))
        timer.start()
        _, status, usage = os.wait4(child.pid, 0)
        timer.cancel()
        child.returncode = os.waitstatus_to_exitcode(status)
        errors.seek(0)
        text = errors.read().decode("utf-8", "replace")
        peak = usage.ru_maxrss if usage.ru_maxrss > resource.getrusage(resource.RUSAGE_SELF).ru_maxrss else 0  # that of the fork
    return child.returncode, time.monotonic() - begin, text, peak / 1024


def lie(folder):
    """What a run calls sound though it is not finite."""
    for path in folder.glob("*/summary.json"):
        try:
            summary = json.loads(path.read_text(encoding="utf-8"))
        except (ValueError, RecursionError):
            continue
        if not isinstance(summary, dict) or summary.get("verdict") != "sound" or summary.get("status") == "running":
            continue
        try:
            with h5py.File(path.parent / "trajectory.h5") as file:
                bad = [n for n in ("fibres/points", "fibres/curvature") if not np.isfinite(file[n][-1]).all()]
        except (OSError, KeyError):
            continue
        if bad:
            return f"{path.parent.name} is sound, {bad[0]} is not finite"
    return ""


def fault(status, seconds, text, megabytes, folder):
    if status == -9 and seconds >= SECONDS:
        return f"no end after {SECONDS} s"
    if status < 0 or status not in (0, 2, 3, 4):
        return f"status {status}: {text[-300:]!r}"
    if status == 2 and not (text.startswith("tresse: ") and text.count("\n") == 1 and len(text) < 1500):
        # Remarks on the scene, and a resumed run's warning, may come before.
        if not text.rstrip("\n").rpartition("\n")[2].startswith("tresse: "):
            return f"not one line: {text[-300:]!r}"
    if megabytes > MEGABYTES:
        return f"{megabytes:.0f} MB"
    return lie(folder) if status == 0 else ""


def attempt(program, kind, seed, keep):
    """One changed file; what was wrong with it."""
    rng = random.Random(seed)
    with tempfile.TemporaryDirectory() as work:
        folder = pathlib.Path(work)
        shutil.copytree(kind.folder, folder, dirs_exist_ok=True)
        what = kind.change(rng, folder / kind.file)
        arguments = rng.choice(kind.commands)
        wrong = fault(*run(program, arguments, folder), folder)
        if wrong and keep:
            shutil.copytree(kind.folder, keep / str(seed), dirs_exist_ok=True)
            kind.change(random.Random(seed), keep / str(seed) / kind.file)
        return f"{kind.name} {seed}, {what}; {' '.join(arguments)}: {wrong}" if wrong else ""


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True)
    parser.add_argument("--count", type=int)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--only", default="", help="kinds, with commas")
    parser.add_argument("--keep", type=pathlib.Path)
    parser.add_argument("--bytes", action="store_true")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    program = os.path.abspath(options.program)
    with tempfile.TemporaryDirectory() as made:
        origin = pathlib.Path(made, "runs")
        origin.mkdir()
        kinds = make_files(program, origin)
        verify_checksum(origin / "helix/checkpoint.h5")
        if options.bytes:
            kinds = files_of_bytes(kinds, pathlib.Path(made, "corpus"))
        wanted = [k for k in kinds if not options.only or k.name in options.only.split(",")]
        end = time.monotonic() + options.seconds
        done = 0
        bad = []

        def one(number):
            nonlocal done
            if options.count is None and time.monotonic() > end:
                return
            wrong = attempt(program, wanted[number % len(wanted)], options.seed * 1000000 + number, options.keep)
            done += 1
            if wrong:
                bad.append(wrong)
                print(wrong, flush=True)

        with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
            for result in [pool.submit(one, k) for k in range(options.count or 100000)]:
                result.result()
    print(f"{done} changed files of {len(wanted)} kinds, {len(bad)} bad")
    return 1 if bad or not done else 0


def verify_checksum(path):
    """The sum here is the program's, else every changed checkpoint would be refused for it."""
    with tempfile.TemporaryDirectory() as work:
        copy = pathlib.Path(work, "c.h5")
        shutil.copy(path, copy)
        with h5py.File(copy, "r+") as file:
            before = int(file["checksum"][()])
            checkpoint_checksum(file)
            assert int(file["checksum"][()]) == before, "the checksum of checkpoints has changed: see CHECKPOINT_ORDER"


if __name__ == "__main__":
    raise SystemExit(main())
