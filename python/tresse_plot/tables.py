"""Reads the tables of a run. Every refusal is a PlotError of one line."""

import csv
import json
import pathlib


class PlotError(Exception):
    """Bad input: the message is one line that says where, what was found, what was expected."""


def plain(name):
    """A name as a figure shows it: a dollar is a dollar, and no formula begins; what cannot be printed is a sign for it."""
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in name).replace("$", r"\$")


FORCE_COLUMNS = ("time", "obstacle", "fx", "fy", "fz", "contacts")


def _rows(path, needed):
    if not path.parent.is_dir():
        raise PlotError(f"{path.parent}: no such folder")
    if not path.is_file():
        raise PlotError(f"{path}: no such file; expected the folder of a run")
    try:
        with open(path, newline="", encoding="utf-8") as stream:
            # A run under way may be in the middle of its last line.
            reader = csv.DictReader(line for line in stream if line.endswith("\n"))
            missing = [name for name in needed if name not in (reader.fieldnames or ())]
            if missing:
                raise PlotError(f"{path}:1: no column '{missing[0]}'")
            rows = list(reader)
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise PlotError(f"{path}: cannot be read: {error}") from error
    if not rows:
        raise PlotError(f"{path}: holds no step")
    return rows


def _number(path, row_number, row, name):
    try:
        return float(row[name])
    except (TypeError, ValueError) as error:
        raise PlotError(f"{path}:{row_number}: '{row[name]}' in column '{name}': expected a number") from error


def read_forces(folder):
    """{obstacle: (time [s] (n), force [N] (n, 3))} in the order of the file."""
    path = pathlib.Path(folder) / "forces.csv"
    out = {}
    for number, row in enumerate(_rows(path, FORCE_COLUMNS), start=2):
        time, force = out.setdefault(plain(row["obstacle"] or ""), ([], []))
        time.append(_number(path, number, row, "time"))
        force.append([_number(path, number, row, axis) for axis in ("fx", "fy", "fz")])
    return out


def read_steps(folder, columns):
    """{column: (n) values} of steps.csv, `time` included."""
    path = pathlib.Path(folder) / "steps.csv"
    rows = _rows(path, ("time", *columns))
    return {name: [_number(path, i, row, name) for i, row in enumerate(rows, start=2)] for name in ("time", *columns)}


def read_history(path):
    """What a friction solve wrote: [(iterations, measure, seconds)] of its checks."""
    try:
        with open(path, encoding="utf-8") as stream:
            history = json.load(stream)["history"]
        return [(float(iterations), float(measure), float(seconds)) for iterations, measure, seconds in history]
    except (OSError, UnicodeDecodeError, json.JSONDecodeError, RecursionError) as error:
        raise PlotError(f"{path}: cannot be read: {error}") from error
    except (KeyError, TypeError, ValueError) as error:
        raise PlotError(f"{path}: no history of a friction solve; expected what tresse friction wrote") from error


def read_sweep(folder):
    """sweep.csv: (names of the parameters, {column: list of texts})."""
    path = pathlib.Path(folder) / "sweep.csv"
    rows = _rows(path, ("case", "status"))
    names = [name for name in rows[0] if name is not None]
    columns = {plain(name): [plain(row[name] or "") for row in rows] for name in names}
    return [plain(name) for name in names[1 : names.index("status")]], columns
