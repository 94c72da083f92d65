"""What grains do in the last frame of a run: speed and pressure, on a cut through the grid or along its only long axis."""

import pathlib

import matplotlib.pyplot as plt
import numpy as np

from tresse_plot import style
from tresse_plot.tables import PlotError

FEW = 4  # cells along an axis that a flow is taken to be the same along
ARROWS = 18  # along the longer side of a cut


def _read(folder):
    """The last frame: {name: array} of `grains/`, and its time."""
    path = pathlib.Path(folder) / "trajectory.h5"
    try:
        import h5py

        with h5py.File(path, "r") as file:
            if "grains" not in file:
                raise PlotError(f"{folder}: there are no grains there; expected a run of a scene with [grains]")
            moving = ("velocity", "pressure", "fraction")
            return {name: item[-1] if name in moving else item[()] for name, item in file["grains"].items()}, file["time"][-1]
    except (ImportError, OSError, KeyError) as error:
        raise PlotError(f"{path}: cannot be read: {' '.join(str(error).split())}") from error


def _wrapped(values, nodes, cells):
    """(x, y, z, ...): nodes of a periodic axis once more at its end."""
    values = values.reshape(*nodes[::-1], *values.shape[1:]).swapaxes(0, 2)
    for axis in range(3):
        if cells[axis] > 1 and nodes[axis] == cells[axis]:
            values = np.concatenate([values, values.take([0], axis=axis)], axis=axis)
    return values


def _fields(found):
    """Speed and velocity at the nodes, pressure in the cells; NaN in obstacles."""
    nodes, cells = found["node_counts"], found["cell_counts"]
    velocity = _wrapped(found["velocity"], nodes, cells)
    full = found["fraction"].reshape(cells[::-1]).swapaxes(0, 2) > 0
    pressure = np.where(full, found["pressure"].reshape(cells[::-1]).swapaxes(0, 2), np.nan)
    return velocity, pressure, full


def _edges(found):
    """(3) places of the nodes along each axis."""
    out = []
    for axis, count in enumerate(found["cell_counts"]):
        centres = np.unique(found["cell"][:, axis].round(12))
        nodes = np.unique(found["node"][:, axis].round(12))
        size = centres[1] - centres[0] if count > 1 else 2 * abs(nodes[-1] - centres[0])
        low = centres[0] - 0.5 * size
        out.append(low + size * np.arange(count + 1))
    return out


def grains(runs, title=None):
    """Of one run: maps of speed and pressure; of layers that are the same along all axes but one, both along that."""
    if len(runs) != 1:
        raise PlotError(f"--what grains: found {len(runs)} runs; expected one")
    found, time = _read(runs[0][1])
    long = [axis for axis in range(3) if found["cell_counts"][axis] > FEW]
    title = title or f"Grains at t = {time:.4g} s"
    if len(long) < 2:
        return _profiles(found, max(range(3), key=lambda axis: found["cell_counts"][axis]), title)
    cut = min(range(3), key=lambda axis: found["cell_counts"][axis])
    return _maps(found, [axis for axis in range(3) if axis != cut], cut, title)


def _profiles(found, axis, title):
    velocity, pressure, _ = _fields(found)
    edges = _edges(found)[axis]
    others = tuple(other for other in range(3) if other != axis)
    figure, panels = plt.subplots(1, 2, figsize=(9.6, 6), sharey=True, layout="constrained")
    speed = np.linalg.norm(velocity, axis=-1).mean(axis=others)
    panels[0].plot(speed, edges, marker="o", ms=3.5)
    panels[1].plot(np.nanmean(pressure, axis=others), 0.5 * (edges[1:] + edges[:-1]), marker="o", ms=3.5, color=style.RED)
    panels[0].set(xlabel="speed [m/s]", ylabel=f"{'xyz'[axis]} [m]", ylim=(edges[0], edges[-1] + 0.02 * (edges[-1] - edges[0])))
    panels[1].set(xlabel="pressure [Pa]")
    for panel in panels:
        panel.margins(x=0.05)
        panel.set_xlim(left=0)
    panels[0].set_title(title)
    return figure


def _maps(found, axes, cut, title):
    velocity, pressure, full = _fields(found)
    a, b = (_edges(found)[axis] for axis in axes)
    middle = velocity.shape[cut] // 2
    speeds = np.linalg.norm(velocity, axis=-1).take(middle, axis=cut)
    flow = velocity.take(middle, axis=cut)
    inside = full.take(full.shape[cut] // 2, axis=cut)
    pressure = pressure.take(pressure.shape[cut] // 2, axis=cut)
    cells = 0.25 * (speeds[1:, 1:] + speeds[:-1, 1:] + speeds[1:, :-1] + speeds[:-1, :-1])
    figure, panels = plt.subplots(1, 2, figsize=(9.6, 6), sharey=True, layout="constrained")
    for panel, values, name, colours in ((panels[0], np.where(inside, cells, np.nan), "speed [m/s]", "viridis"),
                                         (panels[1], pressure, "pressure [Pa]", "magma")):  # fmt: skip
        panel.set_facecolor(style.PALE)
        panel.grid(False)
        mesh = panel.pcolormesh(a, b, values.T, cmap=colours, vmin=0.0)
        panel.set_aspect("equal")
        panel.set_xlabel(f"{'xyz'[axes[0]]} [m]")
        figure.colorbar(mesh, ax=panel, label=name, location="bottom", fraction=0.05, pad=0.02)
    every = max(1, int(np.ceil(max(len(a), len(b)) / ARROWS)))
    part = (slice(None, None, every), slice(None, None, every))
    panels[0].quiver(a[part[0]], b[part[1]], flow[part][..., axes[0]].T, flow[part][..., axes[1]].T, color="white",
                     width=0.005, pivot="mid")  # fmt: skip
    panels[0].set_ylabel(f"{'xyz'[axes[1]]} [m]")
    panels[0].set_title(title)
    return figure
