"""Reads the tables of a run. Every refusal is a PlotError of one line."""

import csv
import json
import math
import pathlib


class PlotError(Exception):
    """Bad input: the message is one line that says where, what was found, what was expected."""


class LeftOut(UserWarning):
    """A figure does not show all that it was given: the message is one line that says what, and how to see it."""


def plain(name):
    """A name as a figure shows it: a dollar is a dollar, and no formula begins; what cannot be printed is a sign for it."""
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in name).replace("$", r"\$")


AXES = ("x", "y", "z")


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


def is_sweep(folder):
    return (pathlib.Path(folder) / "sweep.csv").is_file()


def is_comparison(folder):
    return (pathlib.Path(folder) / "compare.json").is_file()


def has_rows(folder, table):
    """Whether a run's table is there and tells of a step."""
    try:
        with open(pathlib.Path(folder) / table, encoding="utf-8") as stream:
            return sum(1 for _, line in zip(range(2), stream) if line.endswith("\n")) == 2
    except (OSError, UnicodeDecodeError):
        return False


def read_forces(folder):
    """{obstacle: (time [s] (n), force [N] (n, 3))} in the order of the file."""
    return _read_loads(pathlib.Path(folder) / "forces.csv", "obstacle")


def read_holds(folder):
    """The same of what holds the fibres, by the name of the hold; the loads of all fibres that one holds are summed."""
    return _read_loads(pathlib.Path(folder) / "holds.csv", "hold")


def read_roots(folder):
    """The same of the clamped roots of each group, in all."""
    return _read_loads(pathlib.Path(folder) / "roots.csv", "group")


def _read_loads(path, name):
    out = {}
    for number, row in enumerate(_rows(path, ("time", name, "fx", "fy", "fz")), start=2):
        times, forces = out.setdefault(plain(row[name] or ""), ([], []))
        time = _number(path, number, row, "time")
        force = [_number(path, number, row, "f" + axis) for axis in AXES]
        if times and times[-1] == time:
            forces[-1] = [a + b for a, b in zip(forces[-1], force)]
        else:
            times.append(time)
            forces.append(force)
    return out


def read_columns(folder):
    """{column: values (n)} of a run, step by step: those of steps.csv, and the size and the parts of the force on each
    obstacle (force_NAME, force_NAME_x, ...), on each hold (load_NAME, ...) and on the roots of each group (root_NAME,
    ...)."""
    path = pathlib.Path(folder) / "steps.csv"
    rows = _rows(path, ("time",))
    out = {name: [_number(path, i, row, name) for i, row in enumerate(rows, start=2)] for name in rows[0] if name}
    for word, table, read in (("force", "forces.csv", read_forces), ("load", "holds.csv", read_holds), ("root", "roots.csv", read_roots)):
        if not has_rows(folder, table):
            continue
        for name, (_, forces) in read(folder).items():
            # A run under way may have written one table farther than another.
            out[f"{word}_{name}"] = [math.hypot(*force) for force in forces]
            for axis, values in zip(AXES, zip(*forces)):
                out[f"{word}_{name}_{axis}"] = list(values)
    steps = min(len(values) for values in out.values())
    return {name: values[:steps] for name, values in out.items()}


def read_steps(folder, columns):
    """{column: (n) values} of steps.csv, `time` included."""
    path = pathlib.Path(folder) / "steps.csv"
    rows = _rows(path, ("time", *columns))
    return {name: [_number(path, i, row, name) for i, row in enumerate(rows, start=2)] for name in ("time", *columns)}


def read_shape(folder):
    """shape.csv of an equilibrium: [{column: values (n)}] fibre by fibre, with the columns s, tension, moment_twist,
    moment_1 and moment_2."""
    path = pathlib.Path(folder) / "shape.csv"
    columns = ("s", "tension", "moment_twist", "moment_1", "moment_2")
    fibres = {}
    for number, row in enumerate(_rows(path, ("fibre", *columns)), start=2):
        fibre = fibres.setdefault(row["fibre"], {name: [] for name in columns})
        for name in columns:
            fibre[name].append(_number(path, number, row, name))
    return list(fibres.values())


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
    """sweep.csv: (names of the parameters, {column: list of texts}, {column: unit} of those that have one)."""
    path = pathlib.Path(folder) / "sweep.csv"
    rows = _rows(path, ("case", "status"))
    names = [name for name in rows[0] if name is not None]
    columns = {plain(name): [plain(row[name] or "") for row in rows] for name in names}
    units = pathlib.Path(folder) / "sweep_units.csv"
    known = _rows(units, ("column", "unit")) if units.is_file() else []
    named = {plain(row["column"]): plain(row["unit"]) for row in known if row["column"] and row["unit"]}
    return [plain(name) for name in names[1 : names.index("status")]], columns, named


def case_label(names, texts, units):
    """What tells a case of a sweep from others: "friction 0.3, length 0.2 m"."""
    return ", ".join(f"{name.replace('_', ' ')} {_short(text)} {units.get(name, '')}".strip() for name, text in zip(names, texts))


def _short(text):
    try:
        return f"{float(text):g}"
    except ValueError:
        return text


def run_labels(folders):
    """Names of runs: of those of one sweep the parameters that differ, else the name of the folder."""
    folders = [pathlib.Path(folder).resolve() for folder in folders]
    names = [plain(folder.name) for folder in folders]
    if len({folder.parent for folder in folders}) > 1 or not is_sweep(folders[0].parent):
        return names
    try:
        parameters, columns, units = read_sweep(folders[0].parent)
        rows = [columns["case"].index(name) for name in names]
    except (PlotError, ValueError):
        return names
    differing = [p for p in parameters if len({columns[p][row] for row in rows}) > 1]
    shown = differing or parameters
    return [case_label(shown, [columns[p][row] for p in shown], units) for row in rows]
