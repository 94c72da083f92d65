"""One change in a small file of a format that tresse reads, with its checksums made right again.

Each change is a function of (rng, path) that rewrites the file at `path` and says in words what it did.
"""

import json
import math
import struct
import zlib

import h5py
import numpy as np

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
    """As src/tresse/record/checkpoint.cpp counts it."""
    if "checksum" not in file or not isinstance(file["checksum"], h5py.Dataset):
        return
    crc = 0
    for name in CHECKPOINT_ORDER:
        if name not in file or not isinstance(file[name], h5py.Dataset):
            continue
        if file[name].size is not None and file[name].size > 1e7:  # made huge; refused before its sum counts
            return
        try:
            values = file[name][()]
            if name == "scene":
                crc = zlib.crc32(values if isinstance(values, bytes) else bytes(values), crc)
                continue
            width = {"state/curvature_offsets": "<i8", "state/memory_offsets": "<i8", "state/warm/key": "<i4",
                     "state/warm/sticks": "<i4", "state/warm/slides": "<i4"}.get(name)
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
tally/worst_excess tally/worst_excess_step state/energy_excess tally/least_gap state/least_gap tally/worst_grain_residual
tally/worst_grain_residual_step tally/missed_grain_steps tally/missed_apart tally/worst_cloth_residual
tally/worst_cloth_residual_step tally/missed_cloth_steps position/remarks tally/watch
state/root_position state/root_frame state/root_velocity state/root_angular_velocity state/curvature_offsets
state/curvature state/curvature_rate state/memory_offsets state/memory state/bodies/position state/bodies/frame
state/bodies/velocity state/bodies/angular_velocity state/warm/key state/warm/abscissa state/warm/force state/warm/sticks
state/warm/slip state/warm/slides state/holds/force""".split()


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
            rows = np.atleast_1d(array)
            file[name] = np.concatenate([rows, rows[:1]])
        elif way == "shorter":
            file[name] = np.atleast_1d(array)[:-1]
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


def change_bytes(rng, path):
    """One to eight bytes changed, put in or taken out; or the file's end lost; or a piece of it twice."""
    data = bytearray(path.read_bytes())
    ways = [rng.choice(["set", "set", "flip", "put in", "take out"]) for _ in range(rng.choice([1, 1, 2, 8]))]
    ways = rng.choice([ways] * 8 + [["cut"], ["twice"]])
    said = []
    for way in ways:
        at = rng.randrange(max(1, len(data)))
        if way == "set" and data:
            data[at] = rng.choice([0, 0xFF, 0x7F, 0x80, ord("9"), ord("-"), ord("\n"), rng.randrange(256)])
        elif way == "flip" and data:
            data[at] ^= 1 << rng.randrange(8)
        elif way == "put in":
            data[at:at] = bytes(rng.randrange(256) for _ in range(rng.choice([1, 4, 100])))
        elif way == "take out":
            del data[at : at + rng.choice([1, 4, 100])]
        elif way == "cut":
            del data[at:]
        elif way == "twice":
            data[at:at] = data[at : at + rng.choice([8, 100, 4096])]
        said.append(f"{way} at {at}")
    path.write_bytes(data)
    return ", ".join(said)
