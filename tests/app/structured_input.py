#!/usr/bin/env python3
"""Files that are well formed but for one value: structured_input.py --program TRESSE [--count N] [--seed S] [--seconds T].

Valid small files of every binary format, and of the JSON that is read back, are changed in one place at a time: a
number becomes nan, infinite, huge, negative or 0, an array is longer, shorter, of another type or gone, a count is
wrong. Checksums are made right again. Then the commands that read such a file run within a limit of time and memory.
Each must end with status 0, 3 or 4, or with 2 and one line that says what was wrong; what it calls sound is finite.
Without --count all runs in turn for --seconds; the same seed gives the same files. --keep FOLDER keeps the bad ones.
"""

import argparse
import concurrent.futures
import json
import math
import os
import pathlib
import random
import resource
import shutil
import signal
import struct
import subprocess
import tempfile
import threading
import time
import zlib

import h5py
import numpy as np

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


# --- what is changed

NUMBERS = (math.nan, math.inf, -math.inf, 1e308, -1e308, 1e200, 1e30, -1.0, 0.0, 1e-320)
COUNTS = (-1, 0, 1, 2**31 - 1, 2**31, -(2**31), 2**32, 2**40, 2**62, -(2**63), 2**63 - 1, 1000000)


def other_number(rng, kind):
    """A value for a number of this kind of dtype."""
    if kind == "f":
        return rng.choice(NUMBERS)
    return rng.choice(COUNTS)


def fitting(value, dtype):
    """As the type has it, wrapped where it is too large."""
    if dtype.kind == "f":
        with np.errstate(over="ignore"):
            return np.array(value, dtype=dtype)
    bits = 8 * dtype.itemsize
    return np.array([int(value) & ((1 << bits) - 1)], dtype=f"u{dtype.itemsize}").view(dtype)[0]


def checkpoint_checksum(file):
    """As src/tresse/io/checkpoint.cpp counts it."""
    if "checksum" not in file or not isinstance(file["checksum"], h5py.Dataset):
        return
    crc = 0
    for name in CHECKPOINT_ORDER:
        if name not in file or not isinstance(file[name], h5py.Dataset):
            continue
        if file[name].size is not None and file[name].size > 1e7:  # made huge; refused before its sum counts
            return
        values = file[name][()]
        try:
            if name == "scene":
                crc = zlib.crc32(values if isinstance(values, bytes) else bytes(values), crc)
                continue
            width = {"state/curvature_offsets": "<i8", "state/memory_offsets": "<i8", "state/warm/key": "<i4"}.get(name)
            values = np.asarray(values)
            with np.errstate(invalid="ignore"):
                values = np.ascontiguousarray(values).astype(width or ("<f8" if values.dtype.kind == "f" else "<i8"))
            crc = zlib.crc32(values.tobytes(), crc)
        except (TypeError, ValueError):
            return
    if file["checksum"].shape == ():
        file["checksum"][...] = crc


# The sum goes over the datasets in the order in which they were written.
CHECKPOINT_ORDER = """scene tally/steps tally/time tally/contacts_total tally/contacts_max tally/worst_residual
tally/worst_residual_step tally/missed_steps tally/worst_penetration tally/worst_penetration_step tally/not_finite_step
tally/first_gravity tally/energy_scale tally/lowest_energy tally/worst_rise tally/worst_rise_step position/step_rows
position/force_rows position/frames position/log_bytes state/step state/work_external tally/worst_nonlinear_residual
tally/worst_excess tally/worst_excess_step state/energy_excess position/remarks tally/watch
state/root_position state/root_frame state/root_velocity state/root_angular_velocity state/curvature_offsets
state/curvature state/curvature_rate state/memory_offsets state/memory state/bodies/position state/bodies/frame
state/bodies/velocity state/bodies/angular_velocity state/warm/key state/warm/abscissa state/warm/force state/holds/force""".split()


class Hdf5:
    """One change in one dataset, group or attribute of a file."""

    def __init__(self, sealed):
        self.sealed = sealed  # with a checksum, as a checkpoint

    def __call__(self, rng, path):
        with h5py.File(path, "r+") as file:
            names = []
            file.visititems(lambda name, item: names.append(name) if isinstance(item, h5py.Dataset) else None)
            name = rng.choice(sorted(n for n in names if n != "checksum"))
            what = self.change(rng, file, name)
            if self.sealed:
                checkpoint_checksum(file)
        return f"{name}: {what}"

    def change(self, rng, file, name):
        data = file[name]
        kind = data.dtype.kind
        ways = ["gone", "group", "text", "attribute"]
        if kind in "fiu":
            ways += ["value"] * 12 + ["longer", "shorter", "empty", "transposed", "type", "scalar", "all", "endless"]
        else:
            ways += ["letter", "letter", "cut"]
        way = rng.choice(ways)
        values = data[()]
        if way == "value" or way == "all":
            array = np.array(values)
            if array.size == 0:
                return "nothing to change"
            value = other_number(rng, kind)
            flat = array.reshape(-1)
            at = rng.randrange(flat.size)
            if way == "all":
                flat[:] = fitting(value, array.dtype)
            else:
                flat[at] = fitting(value, array.dtype)
            data[...] = flat.reshape(array.shape)
            return f"{'all' if way == 'all' else f'entry {at}'} {value}"
        if way == "attribute":
            holders = [file, *(file[n] for n in [name])]
            names = [(h, a) for h in holders for a in h.attrs]
            if not names:
                return "no attribute"
            holder, attribute = rng.choice(sorted(names, key=lambda pair: pair[1]))
            change = rng.choice(["gone", 7, "text", [1.0, 2.0], ""])
            del holder.attrs[attribute]
            if change != "gone":
                holder.attrs[attribute] = change
            return f"attribute {attribute} is {change}"
        if way in ("letter", "cut"):
            raw = np.array(values)
            text = bytearray(raw.tobytes())
            if way == "letter" and text:
                text[rng.randrange(len(text))] = rng.choice(b"\x00\xff\n\"[=9-")
                del file[name]  # h5py does not write every type that it reads
                file[name] = np.bytes_(bytes(text))
                return "a letter"
            del file[name]
            file[name] = np.bytes_(bytes(text[: len(text) // 2]) or b"x")
            return "cut"
        del file[name]
        if way == "gone":
            return "gone"
        if way == "group":
            file.create_group(name)
            return "a group"
        array = np.asarray(values)
        if way == "text":
            file[name] = np.bytes_(b"words")
        elif way == "longer":
            file[name] = np.concatenate([array.reshape(-1), array.reshape(-1)[:1]]) if array.ndim < 2 else np.vstack(
                [array.reshape(array.shape[0], -1), array.reshape(array.shape[0], -1)[:1]]).reshape(-1, *array.shape[1:])
        elif way == "shorter":
            file[name] = array.reshape(-1)[:-1] if array.ndim < 2 else array[:-1]
        elif way == "empty":
            file[name] = np.zeros((0, *array.shape[1:]), dtype=array.dtype)
        elif way == "transposed":
            file[name] = np.ascontiguousarray(array.T)
        elif way == "type":
            with np.errstate(invalid="ignore"):
                file[name] = array.astype(rng.choice(["i1", "f4", "u8", "f8", "i4"]))
        elif way == "scalar":
            file[name] = array.reshape(-1)[0] if array.size else 0.0
        elif way == "endless":  # no storage behind it
            extent = rng.choice([10**6, 10**9, 10**12, 2**62])
            file.create_dataset(name, shape=(extent, *array.shape[1:]), dtype=array.dtype,
                                chunks=(1024, *(max(1, e) for e in array.shape[1:])))  # fmt: skip
            return f"{extent} rows"
        return way


def log_records(data):
    """[(kind, contacts, payload)] of a trajectory.log, and its mark."""
    mark, rest = data[:24], data[24:]
    records = []
    while rest:
        _, kind, size, contacts, _, _ = struct.unpack("<IIQQII", rest[:32])
        records.append([kind, contacts, rest[32 : 32 + size]])
        rest = rest[32 + size :]
    return mark, records


def log_bytes(mark, records):
    out = mark
    for kind, contacts, payload in records:
        head = struct.pack("<IIQQI", 0x4D525254, kind, len(payload), contacts & (2**64 - 1), zlib.crc32(payload))
        out += head + struct.pack("<I", zlib.crc32(head)) + payload
    return out


def arrays_of(payload):
    out, at = [], 0
    while at < len(payload):
        length = payload[at]
        name, code = payload[at + 1 : at + 1 + length].decode(), chr(payload[at + 1 + length])
        (count,) = struct.unpack_from("<Q", payload, at + 2 + length)
        at += 10 + length
        size = count * {"d": 8, "l": 8, "i": 4, "b": 1, "s": 1}[code]
        out.append([name, code, payload[at : at + size], count])
        at += size
    return out


def payload_of(arrays):
    return b"".join(bytes([len(n)]) + n.encode() + c.encode() + struct.pack("<Q", k & (2**64 - 1)) + d for n, c, d, k in arrays)


def change_log(rng, path):
    mark, records = log_records(path.read_bytes())
    number = rng.randrange(len(records))
    record = records[number]
    arrays = arrays_of(record[2])
    array = rng.choice(arrays)
    way = rng.choice(["value"] * 8 + ["shorter", "longer", "count", "contacts", "gone", "empty", "kind", "record"])
    types = {"d": "<f8", "l": "<i8", "i": "<i4", "b": "u1", "s": "u1"}
    if way == "value" and array[2]:
        values = np.frombuffer(array[2], dtype=types[array[1]]).copy()
        values[rng.randrange(values.size)] = fitting(other_number(rng, values.dtype.kind), values.dtype)
        array[2] = values.tobytes()
    size = np.dtype(types[array[1]]).itemsize
    if way == "shorter" and array[2]:
        array[2], array[3] = array[2][:-size], array[3] - 1
    elif way == "longer":
        array[2], array[3] = array[2] + (array[2][-size:] or bytes(size)), array[3] + 1
    elif way == "count":
        array[3] = rng.choice(COUNTS)
    elif way == "empty":
        array[2], array[3] = b"", 0
    elif way == "gone":
        arrays.remove(array)
    record[2] = payload_of(arrays)
    if way == "contacts":
        record[1] = rng.choice(COUNTS)
    elif way == "kind":
        record[0] = rng.choice([0, 1, 2, 3, 2**32 - 1])
    elif way == "record":
        records.remove(record)
    path.write_bytes(log_bytes(mark, records))
    return f"record {number}, {array[0]}: {way}"


class Words:
    """One number of a binary file of words: at one of `places` (offset, type), or anywhere behind `begin`."""

    def __init__(self, places, begin, kind="<f4"):
        self.places, self.begin, self.kind = places, begin, kind

    def __call__(self, rng, path):
        data = bytearray(path.read_bytes())
        if rng.random() < 0.5:
            at, kind = rng.choice(self.places)
        else:
            size = np.dtype(self.kind).itemsize
            at = self.begin + size * rng.randrange(max(1, (len(data) - self.begin) // size))
            kind = self.kind
        kind = np.dtype(kind)
        if rng.random() < 0.1:
            del data[at:]
            path.write_bytes(data)
            return f"cut at {at}"
        value = other_number(rng, kind.kind)
        data[at : at + kind.itemsize] = np.asarray(fitting(value, kind)).tobytes()[: max(0, len(data) - at)]
        path.write_bytes(data)
        return f"byte {at}: {value}"


def change_json(rng, value):
    """One value of a JSON document, anywhere in it; and where."""
    places = []

    def walk(node, path):
        items = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
        for key, child in items:
            places.append((node, key, path + [key]))
            walk(child, path + [key])

    walk(value, [])
    holder, key, path = rng.choice(places)
    new = rng.choice([None, True, -1, 0, 1e308, -1e308, 2**31, 2**62, 2**64, 10**30, 0.5, "", "words", "\0", [], {}, [[]],
                      [1, 2, 3], {"a": 1}, "gone", "deep"])  # fmt: skip
    if new == "gone":
        del holder[key]
    else:
        holder[key] = "@deep@" if new == "deep" else new
    return path, new, rng.choice([90, 300, 1000000])


def json_text(value, depth):
    return json.dumps(value).replace('"@deep@"', "[" * depth + "]" * depth)


def change_json_file(rng, path):
    document = json.loads(path.read_text(encoding="utf-8"))
    where, new, depth = change_json(rng, document)
    path.write_text(json_text(document, depth), encoding="utf-8")
    return f"{'/'.join(map(str, where))}: {new}"


def glb_parts(data):
    (length,) = struct.unpack_from("<I", data, 12)
    return json.loads(data[20 : 20 + length]), data[20 + length + 8 :]


def glb_bytes(document, buffer):
    document += b" " * (-len(document) % 4)
    buffer += b"\0" * (-len(buffer) % 4)
    body = struct.pack("<II", len(document), 0x4E4F534A) + document + struct.pack("<II", len(buffer), 0x004E4942) + buffer
    return b"glTF" + struct.pack("<II", 2, 12 + len(body)) + body


def change_glb(rng, path):
    document, buffer = glb_parts(path.read_bytes())
    if rng.random() < 0.3:
        changed = bytearray(buffer)
        at = 4 * rng.randrange(len(changed) // 4)
        value = rng.choice([struct.pack("<f", x) for x in (math.nan, math.inf, 1e38, -1.0)] + [b"\xff\xff\xff\xff", bytes(4)])
        changed[at : at + 4] = value
        path.write_bytes(glb_bytes(json.dumps(document).encode(), bytes(changed)))
        return f"byte {at} of the buffer: {value.hex()}"
    where, new, depth = change_json(rng, document)
    path.write_bytes(glb_bytes(json_text(document, depth).encode(), buffer))
    return f"{'/'.join(map(str, where))}: {new}"


def change_numbers(rng, path):
    """One word of a text of numbers."""
    words = path.read_text(encoding="utf-8").split(" ")
    at = rng.randrange(len(words))
    words[at] = rng.choice(["nan", "inf", "-1", "0", "1e308", "1e200", "-1e308", "1e999", "2147483648", "9e18", "", "x", "1e-320"])
    path.write_text(" ".join(words), encoding="utf-8")
    return f"word {at}: {words[at]}"


def change_table(rng, path):
    """One field of a table, or a row."""
    rows = path.read_text(encoding="utf-8").split("\n")
    row = rng.randrange(len(rows))
    fields = rows[row].split(",")
    at = rng.randrange(len(fields))
    fields[at] = rng.choice(["nan", "inf", "-1", "", "x", "1e999", '"', "a,b", "\0", "9" * 400])
    rows[row] = rng.choice([",".join(fields), rows[row] + ",1", ""])
    path.write_text("\n".join(rows), encoding="utf-8")
    return f"row {row}, field {at}: {rows[row][:60]!r}"


# --- valid files, and who reads them


class Kind:
    """A file of `folder`, how it is changed, and the commands that read it."""

    def __init__(self, name, file, change, commands):
        self.name, self.file, self.change, self.commands = name, file, change, commands


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
            Kind("checkpoint", f"{name}-half/checkpoint.h5", Hdf5(True),
                 [go_on, ["run", f"{name}-half/checkpoint.h5", "-o", "one", "--quiet"]]),
            Kind("trajectory", f"{name}/trajectory.h5", Hdf5(False),
                 [["export", name, "--format", "gltf", "-o", "e.glb", "--quiet"],
                  ["export", name, "--format", "vtkhdf", "-o", "e.vtkhdf", "--quiet"],
                  ["render", name, "-o", "r.png", "--width", "16", "--height", "16", "--samples", "1"]]),
            Kind("log", f"{name}-half/trajectory.log", change_log,
                 [go_on, ["export", f"{name}-half", "--format", "usda", "-o", "e.usda", "--quiet"],
                  ["render", f"{name}-half", "-o", "r.png", "--width", "16", "--height", "16", "--samples", "1"]]),
            Kind("summary", f"{name}-half/summary.json", change_json_file, [go_on, [*go_on[:4], "--quiet"]]),
            Kind("steps", f"{name}-half/steps.csv", change_table, [go_on]),
            Kind("pairs", f"{name}.pairs.json", change_json_file, [["distance", f"{name}.pairs.json", "-o", "d.json"]]),
        ]  # fmt: skip
        call("bench", "state", f"{name}-half/checkpoint.h5", f"{name}.toml", "-o", f"{name}.h5")
        kinds.append(Kind("packed", f"{name}.h5", Hdf5(True), [["run", f"{name}.h5", "-o", "one", "--quiet"],
                          ["bench", "state", f"{name}.h5", f"{name}.toml", "-o", "two.h5"]]))  # fmt: skip
        steps = sorted((folder / f"{name}-problems").glob("step-*.hdf5"), key=lambda path: path.stat().st_size)
        problem = f"{name}-problems/{steps[-1].name}"
        for path in steps[:-1]:
            path.unlink()
        kinds.append(Kind("fclib", problem, Hdf5(False),
                          [["friction", problem, "-o", "f.json", "--max-iterations", "200"]]))  # fmt: skip
    for problem in ("planar.dat", "two_contacts_in_blocks.dat", "one_contact.dat"):
        shutil.copy(TESTS / "data/friction_problems" / problem, folder)
        for solver in ("auto", "path-following", "cadoux", "alart-curnier-newton", "hybrid-gauss-seidel"):
            kinds.append(Kind("dat", problem, change_numbers,
                              [["friction", problem, "-o", "f.json", "--solver", solver, "--max-iterations", "200"]]))
    begin = write_meshes(folder)
    write_hair(folder)
    kinds += [
        Kind("glb", "m.glb", change_glb, [["check", "m.glb.toml"], ["run", "m.glb.toml", "-o", "one", "--quiet"]]),
        Kind("ply", "m.ply", Words([(begin + 48, "u1"), (begin + 61, "u1")], begin, "<f4"),
             [["check", "m.ply.toml"], ["run", "m.ply.toml", "-o", "one", "--quiet"]]),
        Kind("ply", "m.ply", Words([(begin + 49, "<u4"), (begin + 53, "<u4")], begin + 49, "<u4"), [["check", "m.ply.toml"]]),
        Kind("hair", "h.hair", Words([(4, "<u4"), (8, "<u4"), (12, "<u4"), (16, "<u4"), (20, "<f4"), (128, "<u2"),
                                      (130, "<u2")], 134, "<f4"),
             [["check", "h.hair.toml"], ["run", "h.hair.toml", "-o", "one", "--quiet"]]),
    ]  # fmt: skip
    for kind in kinds:
        for arguments in kind.commands:
            with tempfile.TemporaryDirectory() as work:
                shutil.copytree(folder, work, dirs_exist_ok=True)
                status, _, text, _ = run(program, arguments, pathlib.Path(work))
                assert status == 0, (kind.name, arguments, status, text)
    return kinds


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


def attempt(program, origin, kind, seed, keep):
    """One changed file; what was wrong with it."""
    rng = random.Random(seed)
    with tempfile.TemporaryDirectory() as work:
        folder = pathlib.Path(work)
        shutil.copytree(origin, folder, dirs_exist_ok=True)
        what = kind.change(rng, folder / kind.file)
        arguments = rng.choice(kind.commands)
        wrong = fault(*run(program, arguments, folder), folder)
        if wrong and keep:
            shutil.copytree(origin, keep / str(seed), dirs_exist_ok=True)
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
    options = parser.parse_args()
    program = os.path.abspath(options.program)
    with tempfile.TemporaryDirectory() as made:
        origin = pathlib.Path(made)
        kinds = make_files(program, origin)
        verify_checksum(origin / "helix/checkpoint.h5")
        wanted = [k for k in kinds if not options.only or k.name in options.only.split(",")]
        end = time.monotonic() + options.seconds
        done = 0
        bad = []

        def one(number):
            nonlocal done
            if options.count is None and time.monotonic() > end:
                return
            wrong = attempt(program, origin, wanted[number % len(wanted)], options.seed * 1000000 + number, options.keep)
            done += 1
            if wrong:
                bad.append(wrong)
                print(wrong, flush=True)

        with concurrent.futures.ThreadPoolExecutor(2) as pool:
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
