"""matplotlib figures of runs, in the look of `tresse plot`. Each returns a figure: figure.savefig("forces.png").

matplotlib is imported when the first is drawn."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import TYPE_CHECKING

from tresse._core import InvalidInput
from tresse.friction import Solution

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from tresse.results import Results
    from tresse.simulation import Simulation

__all__ = ["plot_convergence", "plot_fibres", "plot_forces"]


def plot_forces(*results: Results, title: str | None = None, labels: Sequence[str] | None = None) -> Figure:
    """Magnitude of the force on each obstacle against time; of one run its components as well."""
    with _drawing() as figures:
        return figures.forces(_labelled(results, labels), title)


def plot_convergence(*what: Results | Solution, title: str | None = None, labels: Sequence[str] | None = None) -> Figure:
    """Of runs: contacts, iterations, residual and time of every step. Of friction.Solutions: the measure against
    iterations."""
    with _drawing() as figures:
        if what and all(isinstance(one, Solution) for one in what):
            return figures.residuals([one.history for one in what], labels or [one.solver for one in what], title)
        return figures.solver(_labelled(what, labels), title)


def plot_fibres(what: Results | Simulation, frame: int = -1, *, title: str | None = None, obstacles: bool = True,
                side: str | None = None) -> Figure:  # fmt: skip
    """Centrelines and obstacles in space: of a frame of a run, or of a simulation as it is. `side`: straight from
    "front" (the eye at -y), "back", "left", "right", "side" (as right), "top" or "bottom", as `tresse render --from`."""
    if hasattr(what, "folder"):
        lines, shapes, time = what.centrelines(frame), _shapes(what, frame) if obstacles else [], what.frames.times[frame]
    else:
        lines, shapes, time = what.centrelines, [], what.time
    with _drawing() as figures:
        return figures.fibres(lines, shapes, title or f"t = {time:.4g} s", side)


def _shapes(results, index):
    """Moved axes of the obstacles' capsules: [(from, to, radius)] in m."""
    layout, frame = results.layout, results.frames[index]
    out = []
    for start, end, radius, k in zip(layout["obstacles/capsules/from"], layout["obstacles/capsules/to"],
                                     layout["obstacles/capsules/radius"], layout["obstacles/capsules/obstacle"]):  # fmt: skip
        turn, origin = frame["obstacles/frame"][k], frame["obstacles/position"][k]
        out.append((*(origin + turn @ (x - layout["obstacles/reference"][k]) for x in (start, end)), radius))
    return out


def _labelled(results, labels):
    if not results:
        raise InvalidInput("plot: found nothing to draw, expected the results of a run")
    from tresse_plot.tables import run_labels

    names = run_labels([one.folder for one in results]) if labels is None else list(labels)
    if len(names) != len(results):
        raise InvalidInput(f"labels: found {len(names)}, expected {len(results)}")
    return list(zip(names, [one.folder for one in results]))


@contextlib.contextmanager
def _drawing():
    """The figures' module, its style for their time, its refusals as ours."""
    import matplotlib.pyplot as plt

    from tresse_plot import figures, style
    from tresse_plot.tables import PlotError

    with plt.rc_context():
        style.apply()
        try:
            yield figures
        except PlotError as error:
            raise InvalidInput(str(error)) from error
