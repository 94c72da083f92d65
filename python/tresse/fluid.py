"""Slow flow around thin bodies: the velocity of regularised Stokeslet segments.

docs/theory/fluid.md has the equations."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tresse import _core
from tresse._arrays import array, positive
from tresse._core import InvalidInput

__all__ = ["velocity"]


def velocity(y0: ArrayLike, y1: ArrayLike, f0: ArrayLike, f1: ArrayLike, epsilon: float, viscosity: float, points: ArrayLike, *,
             threads: int | None = None) -> NDArray[np.float64]:  # fmt: skip
    """Velocity (n, 3) [m/s] of a fluid, at rest far away, at `points` (n, 3) [m].

    y0, y1     ends of the segments (m, 3) [m]
    f0, f1     force per length on the fluid at these ends, linear between them (m, 3) [N/m]
    epsilon    regularisation, > 0: within about this distance of a segment the flow is smoothed [m]
    viscosity  > 0 [Pa s]

    Exact to rounding at any distance, and the same bits for any number of threads. [cortez2018]"""
    ends = [array(value, name, (None, 3)) for value, name in ((y0, "y0"), (y1, "y1"), (f0, "f0"), (f1, "f1"))]
    for name, value in zip(("y1", "f0", "f1"), ends[1:]):
        if len(value) != len(ends[0]):
            raise InvalidInput(f"{name}: found {len(value)} rows, expected {len(ends[0])} as in y0")
    where = array(points, "points", (None, 3))
    return _core.fluid_velocity(*ends, positive(epsilon, "epsilon"), positive(viscosity, "viscosity"), where, threads)
