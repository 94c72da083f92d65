"""What a run left in its folder."""

from __future__ import annotations

import csv
import json
import os
import pathlib
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

import tresse_frames
from tresse import _core, _page, plots
from tresse._core import InvalidInput
from tresse._names import Named, Table, unknown
from tresse.scene import FibreGroup, Scene

__all__ = ["Frames", "Results", "load"]

Array = NDArray[np.float64]


def load(folder: str | os.PathLike) -> Results:
    """The results of `tresse run`, `tresse static` or Simulation.run(output=...): of a run that ended, goes on or was
    killed. Tables and frames are read when asked for. docs/reference/files.md has the columns and names."""
    return Results(folder)


class Results:
    def __init__(self, folder: str | os.PathLike):
        self.folder = pathlib.Path(folder)
        _core.require_results(self.folder)
        self._tables: dict[str, np.ndarray] = {}

    @property
    def summary(self) -> dict:
        """summary.json as it is now."""
        path = self.folder / "summary.json"
        try:
            return json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise InvalidInput(f"{path}: {error}; expected a summary in JSON") from error

    @property
    def scene(self) -> Scene:
        """As resolved."""
        path = self.folder / "scene.toml"
        return Scene.load(path)

    @property
    def groups(self) -> dict[str, FibreGroup]:
        """The fibres' radius, length, mass and stiffness, by the names of the tables [[fibres]]."""
        return self.scene.groups

    @property
    def steps(self) -> np.ndarray:
        """steps.csv as a structured array: steps["time"], steps["residual"], ..."""
        return self._table("steps.csv")

    @property
    def forces(self) -> np.ndarray:
        """forces.csv: time, obstacle, fx, fy, fz, contacts; a row a step and obstacle. force() has those of one."""
        return self._table("forces.csv")

    @property
    def holds(self) -> np.ndarray:
        """holds.csv, where points are held: time, hold, fibre, fx, fy, fz, mx, my, mz, error. hold() has those of one."""
        return self._table("holds.csv")

    @property
    def roots(self) -> np.ndarray:
        """roots.csv, where roots are clamped: time, group, roots, fx, fy, fz, mx, my, mz; sums over the group's roots."""
        return self._table("roots.csv")

    @property
    def fluid(self) -> np.ndarray:
        """fluid.csv, in a fluid: time, fibre, fx, fy, fz, tx, ty, tz; what it exerts on each fibre, about its root."""
        return self._table("fluid.csv")

    @property
    def grains(self) -> np.ndarray:
        """grains.csv, of grains: time, kinetic, volume, top_speed, residual, ..., a row a step."""
        return self._table("grains.csv")

    @property
    def cloth(self) -> np.ndarray:
        """cloth.csv, of cloth: time, surface, kinetic, elastic, ..., contacts, penetration, pin_fx, ..., a row a step and
        cloth."""
        return self._table("cloth.csv")

    def surfaces(self, frame: int = -1) -> dict[str, Array]:
        """Vertices (n, 3) [m] of every surface in a frame, by its name; -1: the last."""
        begin, end = "surfaces/", "/vertices"
        found = {
            name[len(begin) : -len(end)]: value
            for name, value in self.frames[frame].items()
            if name.startswith(begin) and name.endswith(end)
        }
        return Named("surface", found)

    def force(self, obstacle: str) -> tuple[Array, Array]:
        """Time (n) [s] and the force of the fibres on an obstacle (n, 3) [N]."""
        rows = self._rows_of("forces.csv", "obstacle", obstacle)
        return rows["time"].copy(), np.stack([rows["fx"], rows["fy"], rows["fz"]], axis=1)

    def hold(self, name: str) -> tuple[Array, Array]:
        """Time (n) [s] and the force (n, 3) [N] of the fibres on a hold, summed over the fibres that it holds."""
        rows = self._rows_of("holds.csv", "hold", name)
        time, step = np.unique(rows["time"], return_inverse=True)
        force = np.zeros((time.size, 3))
        np.add.at(force, step, np.stack([rows["fx"], rows["fy"], rows["fz"]], axis=1))
        return time, force

    def root(self, group: str) -> tuple[Array, Array]:
        """Time (n) [s] and the force (n, 3) [N] of a group's fibres on their clamped roots, in all."""
        rows = self._rows_of("roots.csv", "group", group)
        return rows["time"].copy(), np.stack([rows["fx"], rows["fy"], rows["fz"]], axis=1)

    def _rows_of(self, name, column, wanted):
        table = self._table(name)
        rows = table[table[column] == wanted]
        if rows.size == 0:
            raise unknown(column, wanted, dict.fromkeys(table[column].tolist()), where=f"{self.folder / name}: ")
        return rows

    @property
    def frames(self) -> Frames:
        """Those written so far, read one by one."""
        return Frames(self.folder)

    @property
    def layout(self) -> dict:
        """What does not change from frame to frame, such as "fibres/point_offsets"."""
        return Named("entry", _frames_of(self.folder, lambda: tresse_frames.layout(self.folder)))

    def centrelines(self, frame: int = -1) -> list[Array]:
        """Points (p, 3) of every fibre [m] in a frame; -1: the last."""
        points, offsets = self.frames[frame]["fibres/points"], self.layout["fibres/point_offsets"]
        return [points[a:b] for a, b in zip(offsets, offsets[1:])]

    def plot_forces(self, **options):
        """A matplotlib figure; see tresse.plots."""
        return plots.plot_forces(self, **options)

    def plot_fibres(self, frame: int = -1, **options):
        return plots.plot_fibres(self, frame, **options)

    def plot_convergence(self, **options):
        return plots.plot_convergence(self, **options)

    def _table(self, name):
        # A run under way grows its tables; the file's size tells.
        path = self.folder / name
        try:
            key = f"{name} {path.stat().st_size}"
            if key not in self._tables:
                self._tables = {k: v for k, v in self._tables.items() if not k.startswith(name)}
                self._tables[key] = _read_table(path)
        except OSError as error:
            if not path.exists() and name in _WITHOUT:
                raise InvalidInput(f"{path}: no such table: {_WITHOUT[name]}") from error
            raise InvalidInput(f"{path}: {error.strerror}; expected the table of a run") from error
        return self._tables[key]

    def __repr__(self):
        return f"Results({str(self.folder)!r})"

    def _repr_html_(self):
        """The viewer with at most 100 frames, as a notebook shows it."""
        return _page.in_notebook(self.folder, len(self.frames), repr(self))


class Frames:
    """A sequence of dicts by the names of docs/reference/files.md, such as frame["fibres/points"]; each is read when asked for."""

    def __init__(self, folder: pathlib.Path):
        self._folder = folder
        self._count = _frames_of(folder, lambda: tresse_frames.count(folder))

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, index: int) -> dict:
        wanted = index + self._count if index < 0 else index
        if not 0 <= wanted < self._count:
            raise IndexError(f"frame {index} of {self._count}")
        return Named("entry", _frames_of(self._folder, lambda: next(tresse_frames.frames(self._folder, wanted))))

    def __iter__(self) -> Iterator[dict]:
        return (Named("entry", frame) for frame in tresse_frames.frames(self._folder))

    @property
    def times(self) -> Array:
        """(F) [s]"""
        return _frames_of(self._folder, lambda: tresse_frames.times(self._folder))[: self._count]


def _frames_of(folder, read):
    try:
        return read()
    except (OSError, KeyError, ValueError, StopIteration) as error:
        raise InvalidInput(f"{folder}: frames cannot be read: {error}; expected the folder of a run") from error


_ROWS_OF = {
    "forces.csv": "; force(name) has the rows of an obstacle",
    "holds.csv": "; hold(name) has the rows of a hold",
    "roots.csv": "; root(name) has the rows of a group",
}
_WITHOUT = {
    "holds.csv": "the scene holds no point of a fibre; .roots has the load of clamped roots",
    "roots.csv": "no root is clamped in the scene; .holds has the load of held points",
    "fluid.csv": "there is no fluid in the scene",
    "grains.csv": "there are no grains in the scene",
    "cloth.csv": "there is no cloth in the scene",
}
_TEXTS = ("obstacle", "surface", "hold", "group", "kind", "message")


def _read_table(path):
    """Whole lines; what a run is writing just now is left out."""
    with open(path, newline="", encoding="utf-8") as stream:
        table = list(csv.reader(line for line in stream if line.endswith("\n")))
    if not table or any(len(row) != len(table[0]) for row in table):
        raise InvalidInput(f"{path}: rows of different lengths or none, expected the table of a run")
    names, *rows = table
    columns = list(zip(*rows)) or [()] * len(names)
    try:
        arrays = [np.array(c, dtype=str if n in _TEXTS else float) for n, c in zip(names, columns)]
    except ValueError as error:
        raise InvalidInput(f"{path}: {error}; expected numbers") from error
    out = np.empty(len(rows), dtype=[(name, column.dtype) for name, column in zip(names, arrays)]).view(Table)
    for name, column in zip(names, arrays):
        out[name] = column
    out.hint = _ROWS_OF.get(path.name, "")
    return out
