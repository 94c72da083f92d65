"""The figure of `tresse compare`."""

import json
import pathlib

import matplotlib.pyplot as plt
import numpy as np

from tresse_plot import style
from tresse_plot.tables import PlotError, has_rows, plain, read_columns


def read_comparison(folder):
    path = pathlib.Path(folder) / "compare.json"
    try:
        told = json.loads(path.read_text(encoding="utf-8"))
        return told["compared"], [run for run in told["runs"] if run.get("steps")]
    except (OSError, UnicodeDecodeError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise PlotError(f"{path}: no comparison; expected what tresse compare wrote") from error


def _distances(folder, compared):
    out = {}
    with open(pathlib.Path(folder) / "compare.csv", encoding="utf-8") as stream:
        header = stream.readline().rstrip("\n").split(",")
        for line in stream:
            row = dict(zip(header, line.rstrip("\n").split(",")))
            out.setdefault(row[compared], []).append((float(row["time"]), float(row["mean_distance"])))
    return {name: np.array(rows).T for name, rows in out.items()}


def comparison(runs, title=None):
    """Shapes, the load that differs most, gaps and effort of the runs side by side."""
    folder = pathlib.Path(runs[0][1])
    compared, found = read_comparison(folder)
    if not found:
        raise PlotError(f"{folder}: no run of the comparison made a step")
    names = [run[compared] for run in found]
    tables = {name: read_columns(folder / name) for name in names if has_rows(folder / name, "steps.csv")}
    figure, axes = plt.subplots(2, 2, figsize=(11, 6.6), layout="constrained")
    _shapes(axes[0, 0], _distances(folder, compared), names)
    _loads(axes[0, 1], tables, names)
    _gaps(axes[1, 0], tables, names)
    _effort(axes[1, 1], found, names)
    style.legend_over(figure, axes[1, 0])
    if title:
        figure.suptitle(title)
    return figure


def _shapes(axis, distances, names):
    axis.set_title("Shapes: mean distance to the first")
    for name in names[1:]:
        time, mean = distances.get(name, ((), ()))
        axis.plot(time, 100 * np.asarray(mean), color=style.CYCLE[names.index(name) % 6], label=plain(name))
    axis.set_xlabel("time [s]")
    axis.set_ylabel("% of the length")
    axis.set_ylim(bottom=0)


def _loads(axis, tables, names):
    loads = [c for c in tables[names[0]] if c.startswith(("force_", "load_")) and c[-2:] not in ("_x", "_y", "_z")]
    if not loads:
        axis.set_axis_off()
        return
    shown = max(loads, key=lambda c: max(max(table.get(c, [0])) for table in tables.values()))
    factor, unit = style.force_unit(max(max(table.get(shown, [0])) for table in tables.values()))
    word, name = shown.split("_", 1)
    axis.set_title(f"{word.capitalize()} on {plain(name)}")
    for k, (run, table) in enumerate(tables.items()):
        values = table.get(shown, [])
        axis.plot(table["time"][: len(values)], factor * np.asarray(values), color=style.CYCLE[k % 6],
                  lw=2.6 if k == 0 else 1.3, alpha=0.5 if k == 0 else 1.0, label=plain(run))  # fmt: skip
    axis.set_xlabel("time [s]")
    axis.set_ylabel(unit)
    axis.set_ylim(bottom=0)


def _gaps(axis, tables, names):
    axis.set_title("Least gap, and how far what sticks has crept (dashed)")
    for k, (run, table) in enumerate(tables.items()):
        colour = style.CYCLE[k % 6]
        gap = np.asarray(table["least_gap"], dtype=float)
        axis.plot(table["time"], np.where(np.isfinite(gap), 1e6 * gap, np.nan), color=colour, label=plain(run))
        axis.plot(table["time"], 1e6 * np.asarray(table["largest_stick_drift"]), color=colour, ls=(0, (4, 2)), lw=1.0)
    axis.axhline(0.0, color=style.GREY, lw=0.8)
    axis.set_xlabel("time [s]")
    axis.set_ylabel("µm")
    axis.set_yscale("symlog", linthresh=1.0)


def _effort(axis, found, names):
    axis.set_title("Linearisations a step, and time (number)")
    values = [run["evaluations_per_step"] for run in found]
    bars = axis.bar(range(len(names)), values, color=[style.CYCLE[k % 6] for k in range(len(names))], width=0.6)
    axis.bar_label(bars, [f"{run['wall_seconds']:.3g} s" for run in found], padding=2)
    axis.set_xticks(range(len(names)), [plain(name) for name in names])
    axis.margins(x=0.1, y=0.15)
    axis.grid(axis="x", visible=False)
