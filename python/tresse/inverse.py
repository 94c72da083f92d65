"""Natural shapes: what a rod must be made of to be at rest in a given shape, and how stiff it must be to stay there.

docs/theory/inverse.md has the equations."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tresse._arrays import array
from tresse._core import InvalidInput
from tresse.rods import SuperClothoid, SuperHelix

__all__ = ["critical_stiffness", "rest_curvature"]


def _of(rod, gravity):
    if not isinstance(rod, (SuperHelix, SuperClothoid)):
        raise InvalidInput(f"rod: found {type(rod).__name__}, expected a SuperHelix or a SuperClothoid")
    rod._need_young("inverse")
    return rod._core, array(gravity, "gravity", (3,))


def rest_curvature(rod: SuperHelix | SuperClothoid, gravity: ArrayLike = (0.0, 0.0, -9.81)) -> NDArray[np.float64]:
    """Natural curvatures with which `rod` is at rest in its present shape, (N, 3) as rod.curvatures, of a super-clothoid
    (N + 1, 3): (twist, k1, k2) by element or node [1/m].

    rod      with its young_modulus; its natural curvatures do not matter, and it is left as it is
    gravity  (3) [m/s^2]

    q + K^-1 G, in closed form (Bertails-Descoubes 2018, eq. 4.3). Raises InvalidInput."""
    core, g = _of(rod, gravity)
    return core.rest_curvature(g).reshape(rod.curvatures.shape)


def critical_stiffness(rod: SuperHelix | SuperClothoid, gravity: ArrayLike = (0.0, 0.0, -9.81)) -> float:
    """Young's modulus [Pa] above which the present shape of `rod` is stable once it has its rest_curvature(), at the same
    Poisson ratio; 0 where it is stable however soft the rod is. Necessary and sufficient, by one generalised
    eigenvalue, where eq. 4.6 of Bertails-Descoubes 2018 is only sufficient. All stiffnesses are in proportion to it.

    rod      with its young_modulus, which does not change the answer
    gravity  (3) [m/s^2]

    Raises InvalidInput."""
    core, g = _of(rod, gravity)
    return core.critical_scale(g) * rod._young
