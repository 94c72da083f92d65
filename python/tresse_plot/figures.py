"""The figures. Each takes runs [(label, folder)] and returns a matplotlib figure."""

import warnings

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.ticker import MaxNLocator

from tresse_plot import style
from tresse_plot.tables import (LeftOut, PlotError, has_rows, read_columns, read_forces, read_history, read_holds,
                                read_roots, read_shape, read_steps)  # fmt: skip

MOST_PANELS = 12
DASHES = ("-", (0, (5, 1.5)), (0, (1.2, 1.2)), (0, (6, 1.5, 1.2, 1.5)))
COMPONENTS = (("fx", style.SKY), ("fy", style.ORANGE), ("fz", style.GREEN))


def smooth(values, half):
    """Centred mean over 2 half + 1 points; at the ends over what there is, kept symmetric."""
    sums = np.concatenate(([0.0], np.cumsum(values)))
    index = np.arange(len(values))
    reach = np.minimum(half, np.minimum(index, len(values) - 1 - index))
    return (sums[index + reach + 1] - sums[index - reach]) / (2 * reach + 1)


def rough_part(time, force, window):
    """Force minus its moving average over `window` seconds: what the eye calls jagged."""
    step = (time[-1] - time[0]) / max(1, len(time) - 1)
    half = max(1, int(round(0.5 * window / step))) if step > 0 else 1
    return force - smooth(smooth(force, half), half)


def _magnitudes(runs, read):
    """{name: [(label, time, magnitude, components)]} of obstacles or holds, in the order of the first run."""
    out = {}
    for label, folder in runs:
        for name, (time, force) in read(folder).items():
            force = np.asarray(force)
            out.setdefault(name, []).append((label, np.asarray(time), np.linalg.norm(force, axis=1), force))
    return out


def _largest(series):
    return max(m.max() for _, _, m, _ in series)


def _shown(by_name, most, word, alone=()):
    """What a figure draws: of what feels a force the `most` with the largest forces; a LeftOut tells of the others.
    `alone`: names that not every run has."""
    felt = {name: series for name, series in by_name.items() if _largest(series) > 0} or by_name
    largest = sorted(felt, key=lambda name: -_largest(felt[name]))[:most]
    shown = {name: series for name, series in felt.items() if name in largest}
    if alone:
        warnings.warn(LeftOut(f"not drawn, as not every run has {_it(alone)}: {_few(alone)}; --compare no draws {_it(alone)}"), stacklevel=2)
    others = [name for name in by_name if name not in shown]
    if others:
        why = f"the {most} with the largest forces are drawn" if len(felt) > most else "no force in any run"
        warnings.warn(LeftOut(f"not drawn: {_few(others)} ({why}); --y '{word}_{others[0]}' draws {'it' if len(others) == 1 else 'the first'}"), stacklevel=2)
    return shown


def _it(names):
    return "it" if len(names) == 1 else "them"


def _few(names):
    names = list(names)
    return ", ".join(names) if len(names) <= 4 else f"{', '.join(names[:3])} and {len(names) - 3} more"


def _span(by_name):
    """The first and the last time that there is of any run."""
    times = [time for series in by_name.values() for _, time, _, _ in series]
    return min(t[0] for t in times), max(t[-1] for t in times)


def forces(runs, title=None):
    """Magnitude of the force on each obstacle against time; its components as well for a single run."""
    return _force_panels(_magnitudes(runs, read_forces), "force", len(runs), title or "Force of the fibres on the obstacles")


def holds(runs, title=None):
    """The same of what holds the fibres."""
    return _force_panels(_loads(runs), "load", len(runs), title or "Load of the fibres on their holds")


def _loads(runs):
    if not any(has_rows(folder, "holds.csv") for _, folder in runs):
        instead = "; --what roots draws the load of its clamped roots" if has_rows(runs[0][1], "roots.csv") else ""
        raise PlotError(f"{runs[0][1]}: nothing holds a point of a fibre there; expected a run with holds.csv{instead}")
    return _magnitudes(runs, read_holds)


def roots(runs, title=None):
    """The same of the clamped roots of each group."""
    return _force_panels(_root_loads(runs), "root", len(runs), title or "Load of the fibres on their clamped roots")


def _root_loads(runs):
    if not any(has_rows(folder, "roots.csv") for _, folder in runs):
        raise PlotError(f"{runs[0][1]}: no root of a fibre is clamped there; expected a run with roots.csv")
    return _magnitudes(runs, read_roots)


_AXIS = {"force": "force on", "load": "load on", "root": "load on roots of"}


def _force_panels(by_name, word, count, title):
    """A panel a name; components where `count`, of the runs, is one."""
    shown = _shown(by_name, MOST_PANELS, word)
    figure, axes = plt.subplots(len(shown), 1, figsize=(9, 1.4 + 3.2 * len(shown)), sharex=True, squeeze=False,
                                layout="constrained")  # fmt: skip
    for axis, (name, series) in zip(axes[:, 0], shown.items()):
        factor, unit = style.force_unit(_largest(series))
        if count == 1:
            _, time, magnitude, force = series[0]
            # Wide and pale: a force along an axis has its component on the same line.
            axis.plot(time, factor * magnitude, color=style.PALE, lw=3.0, zorder=1.5, label="magnitude")
            for k, (component, colour) in enumerate(COMPONENTS):
                axis.plot(time, factor * force[:, k], color=colour, lw=1.0, label=f"${component[0]}_{component[1]}$")
        else:
            for label, time, magnitude, _ in series:
                axis.plot(time, factor * magnitude, lw=1.1, label=label)
        axis.set_ylabel(f"{_AXIS[word]} {name} [{unit}]")
        style.legend_above(axis)
    axes[-1, 0].set_xlim(*_span(shown))
    axes[-1, 0].set_xlabel("time [s]")
    axes[0, 0].set_title(title)
    return figure


def shape(runs, title=None):
    """What the fibres of an equilibrium carry along their arc length."""
    panels = (("tension", "tension", "N"), ("moment_twist", "twisting moment", "N m"), ("bending", "bending moment", "N m"))
    figure, axes = plt.subplots(len(panels), 1, figsize=(9, 9), sharex=True, layout="constrained")
    for label, folder in runs:
        fibres = read_shape(folder)
        for number, fibre in enumerate(fibres):
            fibre["bending"] = np.hypot(fibre["moment_1"], fibre["moment_2"])
            name = label if len(fibres) == 1 else f"{label}, fibre {number}"
            for axis, (column, _, _) in zip(axes, panels):
                axis.plot(fibre["s"], fibre[column], lw=1.3 if len(fibres) < 20 else 0.5, label=name)
    for axis, (_, text, unit) in zip(axes, panels):
        axis.set_ylabel(f"{text} [{unit}]")
        axis.ticklabel_format(axis="y", scilimits=(-2, 3))
    if 1 < len(axes[0].lines) <= 12:
        axes[0].legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), fontsize=8)
    axes[-1].set_xlabel("arc length [m]")
    axes[0].set_title(title or "What the fibres carry at rest")
    return figure


def _span_of_contact(series):
    """Times from the first to the last force that all runs feel, widened a little; of all that is where there is none."""
    felt = [t[m > 0] for _, t, m, _ in series if (m > 0).any()]
    if not felt or max(t[0] for t in felt) >= min(t[-1] for t in felt):
        return _span({"": series})
    return max(t[0] for t in felt), min(t[-1] for t in felt)


def _zoom_window(series):
    """(score, start, stop) of the second (or twentieth of the contact) in which the runs' rough parts differ most,
    impacts aside; the score is a force."""
    start, stop = _span_of_contact(series)
    width = min(1.0, 0.08 * (stop - start))
    best, where = -np.inf, 0.5 * (start + stop)
    for centre in np.linspace(start + 0.15 * (stop - start), stop - 0.15 * (stop - start), 41):
        spread = []
        for _, time, magnitude, _ in series:
            inside = np.abs(time - centre) < 0.5 * width
            if inside.sum() < 8 or magnitude[inside].min() <= 0:
                break
            spread.append(np.percentile(np.abs(rough_part(time[inside], magnitude[inside], 0.1 * width)), 90))
        if len(spread) < len(series):
            continue
        # A quiet run beside a rough one tells more than an impact that both feel.
        score = max(spread) - 3.0 * min(spread)
        if score > best:
            best, where = score, centre
    return best, where - 0.5 * width, where + 0.5 * width


def _draw_order(curves):
    """Rougher first, so that the smooth curve lies on top."""
    return sorted(curves, key=lambda c: -np.median(np.abs(np.diff(c[1], 2))) if len(c[1]) > 2 else 0.0)


def compare(runs, title=None):
    """Two or more runs of one scene: the force on the obstacles that all have, a zoom, and the rough part on the same
    scale for all. A colour for each run; of several obstacles one for each obstacle, and a line style for each run."""
    return _compare(_magnitudes(runs, read_forces), "force", "obstacle", runs, title)


def compare_holds(runs, title=None):
    """The same of what holds the fibres."""
    return _compare(_loads(runs), "load", "hold", runs, title)


def compare_roots(runs, title=None):
    """The same of the clamped roots of each group."""
    return _compare(_root_loads(runs), "root", "group", runs, title)


def _compare(by_name, word, kind, runs, title):
    shared = {name: series for name, series in by_name.items() if len(series) == len(runs)}
    if not shared:
        raise PlotError(f"the runs share no {kind}; expected runs of the same scene, or --compare no")
    shown = _shown(shared, len(style.CYCLE), word, [name for name in by_name if name not in shared])
    factor, unit = style.force_unit(max(map(_largest, shown.values())))
    figure = plt.figure(figsize=(10, 6.4), layout="constrained")
    grid = figure.add_gridspec(2, 2, width_ratios=(1.75, 1), height_ratios=(1.65, 1))
    top, zoom, rough = (figure.add_subplot(place) for place in (grid[0, 0], grid[0, 1], grid[1, :]))
    _, low, high = max((_zoom_window(series) for series in shown.values()), key=lambda found: found[0])
    curves = [(time, factor * magnitude, _look(i, k, len(shown)))
              for k, series in enumerate(shown.values()) for i, (_, time, magnitude, _) in enumerate(series)]  # fmt: skip
    bound = 0.0
    for rank, (time, force, look) in enumerate(_draw_order(curves)):
        inside = (time >= low) & (time <= high)
        residual = rough_part(time, force, 0.1 * (high - low))
        top.plot(time, force, lw=1.0, zorder=2 + rank, **look)
        zoom.plot(time[inside], force[inside], lw=1.6, zorder=2 + rank, **look)
        rough.plot(time, residual, lw=0.8, zorder=2 + rank, **look)
        # Impacts, felt by every run, would set the scale: the bulk of the rough part does.
        bound = max(bound, np.percentile(np.abs(residual)[force > 0], 99) if (force > 0).any() else 0.0)
    _key_of_compare(figure, [label for label, _ in runs], list(shown))
    _finish_compare(top, zoom, rough, (low, high), _span(shown), bound)
    of = next(iter(shown)) if len(shown) == 1 else f"{kind}s"
    top.set(ylabel=f"{_AXIS[word]} {of} [{unit}]")
    rough.set(ylabel=f"rough part [{unit}]")
    top.set_title(title or f"{_AXIS[word].capitalize()} the {of}")
    return figure


def _look(run, name, names):
    """Colour and line style of a run's curve."""
    colour = run if names == 1 else name
    return {"color": style.CYCLE[colour % len(style.CYCLE)], "ls": DASHES[run % len(DASHES)] if names > 1 else "-"}


def _key_of_compare(figure, labels, names):
    """Below the figure, where no curve passes."""
    several = len(names) > 1
    handles = [plt.Line2D([], [], lw=2.5, label=name, **_look(0, k, len(names))) for k, name in enumerate(names) if several]
    for i, label in enumerate(labels):
        look = {"color": style.INK, "ls": DASHES[i % len(DASHES)]} if several else {"lw": 2.5, **_look(i, 0, 1)}
        handles.append(plt.Line2D([], [], label=label, **look))
    columns = 6 if max(len(handle.get_label()) for handle in handles) < 20 else 3
    figure.legend(handles=handles, loc="lower center", ncols=columns, handlelength=2.6)
    rows = -(-len(handles) // columns)
    figure.get_layout_engine().set(rect=(0.0, 0.02 + 0.035 * rows, 1.0, 0.98 - 0.035 * rows))


def _finish_compare(top, zoom, rough, window, span, bound):
    top.set(xlim=span, xlabel="time [s]")
    top.axvspan(*window, color="#f0e6c8", zorder=0, lw=0)
    zoom.set(xlim=window, xlabel="time [s]")
    zoom.set_facecolor("#fcf9f0")
    zoom.set_title(f"the shaded {1e3 * (window[1] - window[0]):.0f} ms", fontsize=10.5, fontweight="normal")
    rough.set(xlim=span, xlabel="time [s]")
    if bound > 0:
        rough.set_ylim(-1.6 * bound, 1.6 * bound)
    rough.set_title("force minus its moving average", fontsize=10.5, fontweight="normal")


def energies(runs, title=None):
    columns = ("kinetic", "elastic", "gravity", "work_external")
    figure, axes = plt.subplots(len(runs), 1, figsize=(9, 1.4 + 3.2 * len(runs)), sharex=True, squeeze=False,
                                layout="constrained")  # fmt: skip
    for axis, (label, folder) in zip(axes[:, 0], runs):
        table = {k: np.asarray(v) for k, v in read_steps(folder, columns).items()}
        table["gravity"] = table["gravity"] - table["gravity"][0]
        factor, unit = style.energy_unit(max(np.abs(table[c]).max() for c in columns))
        for column, colour in zip(columns, style.CYCLE):
            # Work is wide and pale: what it is spent on often lies on the same line.
            look = {"lw": 4.0, "alpha": 0.45, "zorder": 1} if column == "work_external" else {}
            axis.plot(table["time"], factor * table[column], color=colour, label="work from outside" if look else column, **look)
        total = sum(table[c] for c in columns[:3]) - table["work_external"]
        axis.plot(table["time"], factor * total, color=style.INK, ls="--", label="total less work")
        axis.set_ylabel(f"energy [{unit}]")
        axis.set_title(title if title and axis is axes[0, 0] else label)
        style.legend_above(axis)
    axes[-1, 0].set_xlabel("time [s]")
    return figure


UNITS = {"time": "s", "residual": "-", "max_penetration": "m", "kinetic": "J", "elastic": "J", "gravity": "J",
         "work_external": "J", "t_detection": "s", "t_assembly": "s", "t_solve": "s", "t_step": "s"}  # fmt: skip


def axis_label(column):
    """The name of a column of a run with its unit."""
    unit = "N" if column.startswith(("force_", "load_", "root_")) else UNITS.get(column)
    return f"{column.replace('_', ' ')} [{unit}]" if unit else column.replace("_", " ")


def chosen(columns, wanted, folder):
    """The values of a column.
    @throws PlotError where there is none of that name."""
    if wanted not in columns:
        raise PlotError(f"{folder}: no column '{wanted}'; expected one of: {', '.join(columns)}")
    return np.asarray(columns[wanted])


def columns(runs, x, y, title=None):
    """Columns of runs against one of them: a panel for each of `y`, a line for each run."""
    figure, axes = plt.subplots(len(y), 1, figsize=(9, 1.4 + 3.2 * len(y)), sharex=True, squeeze=False,
                                layout="constrained")  # fmt: skip
    for label, folder in runs:
        found = read_columns(folder)
        for axis, name in zip(axes[:, 0], y):
            axis.plot(chosen(found, x, folder), chosen(found, name, folder), lw=1.1, label=label)
            axis.set_ylabel(axis_label(name))
    if len(runs) > 1:
        style.legend_above(axes[0, 0])
    axes[-1, 0].set_xlabel(axis_label(x))
    axes[0, 0].set_title(title or ", ".join(label for label, _ in runs))
    return figure


def summarised(time, values, how):
    """At most a few hundred points, each `how` of the values around it: thousands of lines would hide each other."""
    edges = np.linspace(0, len(time), min(len(time), 300) + 1).astype(int)
    chunks = [slice(a, b) for a, b in zip(edges, edges[1:])]
    return np.array([time[c].mean() for c in chunks]), np.array([how(values[c]) for c in chunks])


def solver(runs, title=None):
    """The worst of each few steps, but the usual wall time: the operating system's interruptions are no news."""
    panels = (("contacts", "contacts", np.max), ("iterations", "iterations", np.max),
              ("residual", "residual [-]", np.max), ("t_step", "wall time of a step [s]", np.median))  # fmt: skip
    figure, axes = plt.subplots(len(panels), 1, figsize=(9, 9), sharex=True, layout="constrained")
    for rank, (label, folder) in enumerate(runs):
        table = {name: np.asarray(v) for name, v in read_steps(folder, [p[0] for p in panels]).items()}
        for axis, (column, _, how) in zip(axes, panels):
            time, values = summarised(table["time"], table[column], how)
            if column == "residual":
                values = np.where(values > 0, values, np.nan)  # no contact, or solved exactly: no point on a log scale
            axis.plot(time, values, lw=1.6 if rank == 0 else 1.0, label=label)
    for axis, (column, text, _) in zip(axes, panels):
        axis.set_ylabel(text)
        if column in ("contacts", "iterations"):
            axis.set_ylim(bottom=0)
            axis.yaxis.set_major_locator(MaxNLocator(nbins=6, integer=True))
        elif any(np.nanmax(line.get_ydata(), initial=0.0) > 0 for line in axis.lines):
            axis.set_yscale("log")
    axes[0].set_title(title or "The contact solver, step by step")
    if len(runs) > 1:
        style.legend_above(axes[0])
    axes[-1].set_xlabel("time [s]")
    return figure


def residuals(histories, labels, title=None):
    """The measure of friction solves against iterations and time, which alone compares solvers; each history (k, 3):
    iterations, measure, seconds."""
    figure, axes = plt.subplots(1, 2, figsize=(9, 4.6), sharey=True, layout="constrained")
    for history, label in zip(histories, labels):
        history = np.asarray(history).reshape(-1, 3)
        for axis, x in zip(axes, (np.maximum(history[:, 0], 1), 1e3 * history[:, 2])):
            axis.plot(x, history[:, 1], marker="o", ms=3, label=label, clip_on=False, zorder=3)
    lines = axes[0].lines
    if any(np.nanmax(line.get_ydata(), initial=0.0) > 0 for line in lines):
        axes[0].set_yscale("log")
    for axis in axes:
        if any(np.nanmax(line.get_xdata(), initial=0.0) > 0 for line in axis.lines):
            axis.set_xscale("log")
    axes[0].set(xlabel="iterations", ylabel="residual [-]")
    axes[1].set(xlabel="time [ms]")
    axes[0].set_title(title or "Convergence of the friction solver")
    axes[1].legend(loc="best")
    return figure


def convergence(solves, title=None):
    """residuals() of the files of friction solves."""
    return residuals([read_history(path) for _, path in solves], [label.removesuffix(".json") for label, _ in solves], title)


# Elevation and azimuth of the eye [deg].
SIDES = {"front": (0, -90), "back": (0, 90), "left": (0, 180), "right": (0, 0), "side": (0, 0), "top": (90, -90), "bottom": (-90, -90)}


def fibres(lines, capsules=(), title=None, side=None):
    """Centrelines [(p, 3)] and capsules [(from, to, radius)] in space, lengths alike along the three axes [m]."""
    if side is not None and side not in SIDES:
        raise PlotError(f"side: found '{side}', expected one of: {', '.join(SIDES)}")
    from mpl_toolkits.mplot3d.art3d import Line3DCollection

    figure = plt.figure(figsize=(7.2, 7.2), layout="constrained")
    axis = figure.add_subplot(projection="3d", computed_zorder=False)
    axes = [np.stack(ends[:2]) for ends in capsules]
    everything = np.concatenate([*lines, *axes]) if lines or axes else np.zeros((1, 3))
    reach = np.array([0.0, *(radius for *_, radius in capsules)]).max()
    low, high = everything.min(axis=0) - reach, everything.max(axis=0) + reach
    size = max((high - low).max(), 1e-12)
    middle = 0.5 * (low + high)
    axis.set(xlim=middle[0] + 0.55 * size * np.array([-1, 1]), ylim=middle[1] + 0.55 * size * np.array([-1, 1]),
             zlim=middle[2] + 0.55 * size * np.array([-1, 1]))  # fmt: skip
    if axes:
        # A line's width is in points: about 5 inches show 1.1 times the size.
        widths = [max(1.0, 2 * radius / (1.1 * size) * 5 * 72) for *_, radius in capsules]
        for ends in axes:
            if np.array_equal(*ends):  # a sphere; a line of no length would not be drawn
                ends[1, 2] += 1e-3 * size
        axis.add_collection3d(Line3DCollection(axes, colors=style.GREY, linewidths=widths, capstyle="round", alpha=0.6))
    if lines:
        colours = [style.CYCLE[i % len(style.CYCLE)] for i in range(len(lines))]
        axis.add_collection3d(Line3DCollection(list(lines), colors=colours, linewidths=1.2 if len(lines) < 50 else 0.5))
    axis.set_box_aspect((1, 1, 1))
    for one in (axis.xaxis, axis.yaxis, axis.zaxis):
        one.set_major_locator(MaxNLocator(nbins=5))
    axis.set(xlabel="x [m]", ylabel="y [m]")
    axis.set_zlabel("z [m]", labelpad=10)
    if side is not None:
        axis.view_init(*SIDES[side])
        axis.set_proj_type("ortho")
        elevation, azimuth = SIDES[side]
        along = "z" if elevation else "x" if azimuth % 180 == 0 else "y"  # the view: a point in the picture
        axis.set(**{f"{along}ticks": [], f"{along}label": ""})
    axis.set_title(title or "Centrelines")
    return figure
