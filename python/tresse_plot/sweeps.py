"""The figure of a sweep: what was found against the first parameter, a line for each value of the others."""

import math

import matplotlib.pyplot as plt
import numpy as np

from tresse_plot import style
from tresse_plot.figures import chosen
from tresse_plot.tables import PlotError, case_label, read_sweep

MOST_LINES = 8


def _numbers(texts):
    """Numbers, nan where not known; None when there is a word."""
    try:
        return np.array([float(text) if text else math.nan for text in texts])
    except ValueError:
        return None


def _panels(columns):
    """[(title of the axis, [(column, style)])] of what is in the table."""
    panels = []
    for name in columns:
        if name.startswith("max_force_"):
            obstacle = name[len("max_force_") :]
            panels.append((f"force on {obstacle}", [(f"mean_force_{obstacle}", "-"), (name, ":")]))
        elif name.startswith("max_load_"):
            hold = name[len("max_load_") :]
            panels.append((f"load on {hold}", [(f"mean_load_{hold}", "-"), (name, ":")]))
        elif name.startswith("max_root_") and not any(other.startswith(("max_force_", "max_load_")) for other in columns):
            group = name[len("max_root_") :]
            panels.append((f"load on roots of {group}", [(f"mean_root_{group}", "-"), (name, ":")]))
        elif name.startswith("force_"):
            panels.append((f"force on {name[len('force_'):]}", [(name, "-")]))
        elif name in ("tip_x", "tip_y", "tip_z"):
            panels.append((f"tip {name[-1]}", [(name, "-")]))
    for name, text in (("contacts_mean", "contacts"), ("wall_seconds", "wall time")):
        if name in columns:
            panels.append((text, [(name, "-")]))
    return panels


def _lines(others, columns, units):
    """[(label, rows)] with the same values of these parameters."""
    lines = {}
    for row in range(len(columns["case"])):
        key = case_label(others, [columns[name][row] for name in others], units)
        lines.setdefault(key, []).append(row)
    return list(lines.items())


def sweep(runs, title=None, x=None, y=()):
    """Against the column `x`, by default the first parameter: the columns `y`, by default what is of interest."""
    if len(runs) != 1:
        raise PlotError(f"{len(runs)} folders: expected that of one sweep")
    parameters, columns, units = read_sweep(runs[0][1])
    found = {name: values for name, texts in columns.items() if (values := _numbers(texts)) is not None}
    for name in (*([x] if x else []), *y):
        chosen(columns if name == x else found, name, runs[0][1])
    panels = [(_words(name, units), [(name, "-")]) for name in y] if y else _panels(columns)
    panels = [p for p in panels if any(np.isfinite(found.get(c, [math.nan])).any() for c, _ in p[1])]
    if not panels:
        raise PlotError(f"{runs[0][1]}/sweep.csv: holds no figures yet; expected a run that ended")
    x = x or parameters[0]
    # Lines against what was found, not against a parameter, would each be a point: the first parameter runs along them.
    lines = _lines([name for name in parameters[0 if x in parameters else 1 :] if name != x], columns, units)
    along, ticks = found.get(x), None
    if along is None:
        ticks = list(dict.fromkeys(columns[x]))
        along = np.array([ticks.index(text) for text in columns[x]], dtype=float)
    figure, axes = plt.subplots(len(panels), 1, figsize=(10, 1.2 + 2.6 * len(panels)), sharex=True, squeeze=False,
                                layout="constrained")  # fmt: skip
    for axis, (text, drawn) in zip(axes[:, 0], panels):
        factor, unit = _scaled(found, drawn, units.get(drawn[0][0], ""))
        for number, (label, rows) in enumerate(lines[:MOST_LINES]):
            order = sorted(rows, key=lambda row: along[row])
            for column, dashes in drawn:
                if not np.isfinite(found[column][order]).any():
                    continue
                axis.plot(along[order], factor * found[column][order], dashes, color=style.CYCLE[number % len(style.CYCLE)],
                          marker="o", ms=4, clip_on=False, zorder=3, label=_label(label, column, drawn))  # fmt: skip
        axis.set_ylabel(f"{text} [{unit}]" if unit else text)
        axis.margins(x=0.03)
        axis.set_ylim(bottom=min(0.0, axis.get_ylim()[0]))
    if len(axes[0, 0].lines) > 1:
        axes[0, 0].legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), fontsize=8)
    if ticks:
        axes[-1, 0].set_xticks(range(len(ticks)), ticks)
    axes[-1, 0].set_xlabel(f"{_words(x, units)} [{units[x]}]" if x in units else x.replace("_", " "))
    axes[0, 0].set_title(title or _title(runs[0][0], columns, lines))
    return figure


def _words(name, units):
    """A column's name, less the unit that some end in and that stands in brackets behind it."""
    if name in units:
        name = name.removesuffix("_bytes").replace("wall_seconds", "wall_time")
    return name.replace("_", " ")


def _scaled(found, drawn, unit):
    if unit != "N":
        return 1.0, unit
    return style.force_unit(max((np.nanmax(found[c], initial=0.0) for c, _ in drawn), default=0.0))


def _label(label, column, drawn):
    kind = column.split("_")[0] if len(drawn) > 1 else ""
    return ", ".join(text for text in (label, kind) if text)


def _title(name, columns, lines):
    ended = columns["status"].count("finished")
    text = f"{name}: {ended} of {len(columns['status'])} runs"
    return text if len(lines) <= MOST_LINES else f"{text}, {MOST_LINES} of {len(lines)} lines"
