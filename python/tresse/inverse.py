"""Natural shapes: what a rod must be made of to be at rest in a given shape, and how stiff it must be to stay there.

docs/theory/inverse.md has the equations."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tresse import _core
from tresse._arrays import array, positive
from tresse._core import InvalidInput
from tresse.rods import SuperClothoid, SuperHelix

__all__ = ["Framing", "MeasuredStiffness", "critical_stiffness", "framings", "natural_curvatures", "rest_curvature",
           "stiffness_of_poses", "stiffness_of_uniform"]  # fmt: skip

Array = NDArray[np.float64]


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


class MeasuredStiffness(NamedTuple):
    """How stiff a rod is for what it weighs, over what it was said to be: (GJ, EI1, EI2) over the rod's own."""

    ratio: Array  #: (3) of twist and of bending about n1 and n2; NaN where the poses do not tell
    deviation: Array  #: (3) its standard deviations; infinite there
    noise: float  #: standard deviation of a curvature, as the equations tell it [1/m]
    converged: bool

    @property
    def error_bar(self) -> Array:
        """(3) Two and a half standard deviations: the truth is nearer 98.8 times of 100 where the noise is normal."""
        return 2.5 * self.deviation


def stiffness_of_poses(rod: SuperHelix | SuperClothoid, poses: Sequence[tuple[ArrayLike, ArrayLike]]) -> MeasuredStiffness:
    """How stiff a rod is, from two or more shapes in which it is at rest, whatever its natural shape: a fibre seen
    upright and upside down.

    rod    its lengths, sections and density, and a young_modulus that the answer is a multiple of; it is left as it is
    poses  (curvatures, gravity) of each, curvatures as rod.curvatures; gravity where the root stands as the rod's (3) [m/s^2]

    Curvatures have noise: the answer comes with standard deviations. Raises InvalidInput."""
    _of(rod, (0.0, 0.0, 0.0))
    curvatures = [rod._curvatures(curvature) for curvature, _ in poses]
    if len(curvatures) < 2:
        raise InvalidInput(f"poses: found {len(curvatures)}, expected two or more; natural shapes are unknown")
    gravities = [array(gravity, "gravity", (3,)) for _, gravity in poses]
    return MeasuredStiffness(*rod._core.stiffness_of(np.array(curvatures), np.array(gravities)))


def stiffness_of_uniform(rod: SuperHelix | SuperClothoid, gravity: ArrayLike = (0.0, 0.0, -9.81)) -> MeasuredStiffness:
    """The same from the present shape of `rod` alone, of a rod that is at rest in it and has the same natural curvature
    all along."""
    core, g = _of(rod, gravity)
    return MeasuredStiffness(*core.stiffness_of(rod.curvatures.reshape(1, -1), g.reshape(1, 3)))


class Framing(NamedTuple):
    """A way in which sections may be turned about a centreline."""

    angle: Array  #: (elements + 1) from the reference frame to the rod's, at equal arc lengths [rad]
    residual: float  #: what the axial moment lacks to balance, over the largest moment
    energy: float  #: elastic [J]
    second_variation: float  #: least eigenvalue in the measure of twist; above 0: a minimum


def framings(length: float, curvature: Callable[[float], ArrayLike], natural: Callable[[float], ArrayLike],
             stiffness: ArrayLike, root_angle: float = 0.0, elements: int = 64) -> list[Framing]:  # fmt: skip
    """How the sections of a rod are turned about a given centreline (Bertails-Descoubes 2018, property 4.1): the
    stationary points of its elastic energy, by energy.

    length      of the rod [m]
    curvature   of an adapted frame of the centreline, a function of arc length: (twist, k1, k2) [1/m]
    natural     curvatures of the rod, in its own axes, likewise
    stiffness   (GJ, EI1, EI2) [N m^2]
    root_angle  of the clamped root, from the reference frame [rad]
    elements    of the angle, of second order, 2 to 1000

    Raises InvalidInput."""

    def triplet(of, name):
        if not callable(of):
            raise InvalidInput(f"{name}: found {type(of).__name__}, expected a function of arc length")
        return lambda s: array(of(s), name, (3,))

    found = _core.framings(positive(length, "length"), triplet(curvature, "curvature"), triplet(natural, "natural"),
                           array(stiffness, "stiffness", (3,)), float(array(root_angle, "root_angle", ())), int(elements))  # fmt: skip
    return [Framing(*one) for one in found]


def natural_curvatures(arc_length: ArrayLike, positions: ArrayLike, frames: ArrayLike, curvatures: ArrayLike,
                       stiffness: ArrayLike, load: ArrayLike) -> Array:  # fmt: skip
    """Natural curvatures, (n, 3), with which a rod in a known frame is at rest under a load per length, from its root to
    a free tip (property 4.2).

    arc_length  of n places, ascending (n) [m]
    positions   (n, 3) [m]
    frames      (n, 3, 3), columns (n0, n1, n2)
    curvatures  (n, 3) (twist, k1, k2) [1/m]
    stiffness   (GJ, EI1, EI2) [N m^2]
    load        (3) [N/m]

    Unless both bending stiffnesses are equal, the answer depends on the frame. Raises InvalidInput."""
    s = array(arc_length, "arc_length", (None,))
    n = len(s)
    return _core.natural_curvatures(s, array(positions, "positions", (n, 3)), array(frames, "frames", (n, 3, 3)).reshape(n, 9),
                                    array(curvatures, "curvatures", (n, 3)), array(stiffness, "stiffness", (3,)),
                                    array(load, "load", (3,)))  # fmt: skip
