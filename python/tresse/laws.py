"""Penalty laws of contact: the energies of implicit contact (IMC) and of incremental potential contact (IPC).

    from tresse import laws
    value, slope, curvature = laws.energy("ipc", distance=2.004e-3, radii=2e-3, delta=1e-5)

docs/theory/penalty.md has the equations, and what turns these numbers into joules."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from tresse import _core
from tresse._arrays import array, positive
from tresse._core import InvalidInput

__all__ = ["LAWS", "energy"]

LAWS: tuple[str, ...] = ("imc", "ipc")


def energy(law: str, distance: ArrayLike, radii: ArrayLike, delta: float) -> tuple[Any, Any, Any]:
    """Energy of one contact [m^2], its first derivative by the distance [m] and its second one [-]; unscaled.

    law       "imc": zero beyond radii + delta, the squared overlap below radii - delta, smooth between; "ipc": a barrier, zero
              beyond radii + delta and infinite where the bodies touch
    distance  between the two axes, a number or an array of any shape [m]
    radii     sum of the two radii, one number; or the two radii, (2,); or those of each distance, (..., 2) [m]
    delta     the distance from which on the law acts, > 0 [m]

    The results have the shape of `distance`. [tong2024, eq. (9); li2020, eq. (6)]"""
    try:
        at = np.asarray(distance, dtype=float)
        both = np.asarray(radii, dtype=float)
    except (TypeError, ValueError) as error:
        raise InvalidInput("distance, radii: found something that is no number, expected numbers") from error
    touching = both if both.ndim == 0 else both.sum(axis=-1) if both.shape[-1:] == (2,) else None
    if touching is None or not (touching.ndim == 0 or touching.shape == at.shape):
        raise InvalidInput(f"radii: found an array of shape {both.shape}, expected a number, (2,) or {at.shape + (2,)}")
    for name, numbers in (("distance", at), ("radii", both)):
        if not np.isfinite(numbers).all() or (numbers < 0.0).any():
            raise InvalidInput(f"{name}: found a number below 0 or not finite, expected numbers from 0 on")
    found = _core.penalty_energy(law, array(at.reshape(-1), "distance", (None,)), touching.reshape(-1), positive(delta, "delta"))
    return tuple(part.reshape(at.shape) if at.ndim else float(part[0]) for part in found)
