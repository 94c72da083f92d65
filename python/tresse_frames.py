"""The frames of a run that ended, goes on or was killed, as numpy arrays.

    import tresse_frames
    for frame in tresse_frames.frames("out"):    # those written so far
        print(frame["time"], frame["fibres/points"].shape)
    for frame in tresse_frames.follow("out"):    # and those to come, until the run ends
        ...

A frame is a dict from the names of docs/reference/files.md to arrays of one frame: `fibres/points` is (P, 3), the contacts' are
those of this frame. `layout(folder)` has what does not change, such as `fibres/point_offsets`.
"""

import json
import pathlib
import struct
import time
import zlib

import numpy as np

_FILE_MARK = b"tresse trajectory log 1\n"
_RECORD_MARK = 0x4D525254
_HEADER = struct.Struct("<IIQQII")
_LAYOUT, _FRAME = 1, 2
_TYPES = {"d": "<f8", "l": "<i8", "i": "<i4", "b": "u1"}
# Values in a row of the arrays that are not flat.
_WIDTHS = {
    "fibres/points": (3,), "fibres/force": (3,), "fibres/moment": (3,), "fibres/root_position": (3,),
    "fibres/root_frame": (3, 3), "obstacles/position": (3,), "obstacles/frame": (3, 3), "obstacles/force": (3,),
    "obstacles/torque": (3,), "obstacles/reference": (3,), "obstacles/capsules/from": (3,),
    "obstacles/capsules/to": (3,), "obstacles/planes/point": (3,), "obstacles/planes/normal": (3,),
    "obstacles/meshes/vertex": (3,), "obstacles/meshes/face": (3,),
    "grains/node": (3,), "grains/cell": (3,), "grains/velocity": (3,),
    "contacts/point_a": (3,), "contacts/point_b": (3,), "contacts/normal": (3,), "contacts/force": (3,),
}  # fmt: skip


def _arrays(payload):
    out, at = {}, 0
    while at < len(payload):
        end = at + 1 + payload[at]
        name, kind = payload[at + 1 : end].decode(), chr(payload[end])
        (count,) = struct.unpack_from("<Q", payload, end + 1)
        at = end + 9
        if kind == "s":
            text = payload[at : at + count].decode()
            out[name] = text.split("\0")[:-1] if name.endswith("names") else text
            at += count
        else:
            array = np.frombuffer(payload, _TYPES[kind], count, at)
            out[name] = array.reshape(-1, *_WIDTHS.get(name, ()))
            at += array.nbytes
    for name in ("time", "step"):
        if name in out:
            out[name] = out[name][0]
    return out


def _is_of_surface(name):
    return name.startswith("surfaces/") and name.endswith("/vertices")


class _FrameReader:
    """Makes frames of a log's records: vertices of each surface by themselves, as in a trajectory that ended."""

    def __init__(self):
        self._names, self._ends = (), ()

    def __call__(self, kind, payload):
        """None of a layout."""
        arrays = _arrays(payload)
        if kind == _LAYOUT:
            self._names = arrays.get("surfaces/names", ())
            self._ends = np.cumsum(arrays.get("surfaces/vertex_counts", ()), dtype=int)
            return None
        vertices = arrays.pop("surfaces/vertices", None)
        if vertices is not None:
            parts = np.split(vertices.reshape(-1, 3), self._ends[:-1])
            arrays.update({f"surfaces/{name}/vertices": part for name, part in zip(self._names, parts)})
        return arrays


def _records(stream):
    """(kind, payload) of the whole records from the stream's place on; leaves it behind the last of them."""
    while True:
        begin = stream.tell()
        head = stream.read(_HEADER.size)
        if len(head) == _HEADER.size:
            mark, kind, size, _, payload_crc, head_crc = _HEADER.unpack(head)
            if mark == _RECORD_MARK and head_crc == zlib.crc32(head[:28]):
                payload = stream.read(size)
                if len(payload) == size and payload_crc == zlib.crc32(payload):
                    yield kind, payload
                    continue
        stream.seek(begin)
        return


def _open_log(folder):
    try:
        stream = open(pathlib.Path(folder) / "trajectory.log", "rb")
    except FileNotFoundError:
        return None
    mark = stream.read(len(_FILE_MARK))
    if mark == _FILE_MARK:
        return stream
    stream.close()
    if _FILE_MARK.startswith(mark):
        return None  # just begun
    raise ValueError(f"{stream.name}: not a trajectory log")


def _open_ended(folder):
    import h5py  # a run under way can be followed without it

    return h5py.File(pathlib.Path(folder) / "trajectory.h5", "r")


def _frame_names(file):
    names = ["time", "step"]
    file.visititems(lambda name, item: names.append(name) if hasattr(item, "shape") else None)
    return [n for n in dict.fromkeys(names) if n in ("time", "step") or n.startswith("contacts/") or n in _OF_A_FRAME or _is_of_surface(n)]


_OF_A_FRAME = {
    "fibres/points", "fibres/force", "fibres/moment", "fibres/curvature", "fibres/curvature_rate",
    "fibres/root_position", "fibres/root_frame", "obstacles/position", "obstacles/frame", "obstacles/force",
    "obstacles/torque", "grains/velocity", "grains/pressure", "grains/fraction",
}  # fmt: skip


def _ended_frames(folder, first):
    with _open_ended(folder) as file:
        names = [name for name in _frame_names(file) if name != "contacts/frame_offsets"]
        offsets = file["contacts/frame_offsets"][:]
        for i in range(first, len(offsets) - 1):
            yield {n: file[n][slice(*offsets[i : i + 2]) if n.startswith("contacts/") else i] for n in names}


def layout(folder):
    """What does not change from frame to frame."""
    stream = _open_log(folder)
    if stream:
        with stream:
            for _, payload in _records(stream):
                return _arrays(payload)
    with _open_ended(folder) as file:
        out = {}
        file.visititems(lambda name, item: out.update({name: item[()]}) if hasattr(item, "shape") else None)
        for name in [*_frame_names(file)]:
            del out[name]
        for name, value in out.items():
            if isinstance(value, bytes):
                out[name] = value.decode()
            elif value.dtype.kind == "S":
                out[name] = [text.decode() for text in value]
        out["version"] = file.attrs["version"]
        out["version"] = out["version"].decode() if isinstance(out["version"], bytes) else out["version"]
        return out


def frames(folder, first=0):
    """The frames written so far, from number `first` on."""
    stream = _open_log(folder)
    if stream is None:
        yield from _ended_frames(folder, first)
        return
    with stream:
        read = _FrameReader()
        for number, (kind, payload) in enumerate(_records(stream), start=-1):  # the layout comes before frame 0
            frame = read(kind, payload)
            if number >= first:
                yield frame


def count(folder):
    """How many frames there are so far."""
    return len(times(folder))


def times(folder):
    """Of the frames written so far (F) [s]."""
    stream = _open_log(folder)
    if stream is None:
        with _open_ended(folder) as file:
            return file["time"][:]
    with stream:
        return np.array([_arrays(payload)["time"] for kind, payload in _records(stream) if kind == _FRAME])


def _under_way(folder):
    try:
        return json.loads((pathlib.Path(folder) / "summary.json").read_text(encoding="utf-8"))["status"] == "running"
    except FileNotFoundError:
        return True  # just begun


def follow(folder, pause=1.0, patience=None):
    """The frames written so far and those to come, until the run ends; or, as a killed run cannot say that it ended,
    until none has come for `patience` seconds."""
    number, last = 0, time.monotonic()
    stream, read = None, _FrameReader()
    while True:
        under_way = _under_way(folder)  # asked before reading: what an ended run wrote last is read below
        stream = stream or _open_log(folder)
        before = number
        if stream:
            for kind, payload in _records(stream):
                frame = read(kind, payload)
                if kind == _FRAME:
                    number += 1
                    yield frame
        elif not under_way:
            for frame in _ended_frames(folder, number):
                number += 1
                yield frame
        if number > before:
            last = time.monotonic()
        if not under_way or (patience is not None and time.monotonic() - last > patience):
            return
        time.sleep(pause)
