"""Rods on their own, for study: clamped at the root, nothing touches them.

Of a super-helix with N elements the coordinates q are the curvatures of its elements, n = 3 N of them; of a
super-clothoid those of its N + 1 nodes, n = 3 (N + 1). A curvature is (twist, k1, k2) in the material frame [1/m]; the
columns of a frame are (n0, n1, n2), n0 the tangent; r' = n0, R' = R [k]x. The equation of motion (Bertails-Descoubes
2018, eq. 2.8) is

    M q'' + A(q, q') + G(q) + K (q - q_natural) = other forces,

with M mass_matrix(), A inertia(q'), G gravity(g), K stiffness(). Units are SI.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tresse import _core
from tresse._arrays import array, frame as rotation, positive
from tresse._core import InvalidInput

__all__ = ["FittedCurve", "Section", "SuperClothoid", "SuperHelix", "fit_curve"]

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Section:
    """An elliptic cross-section and what it is made of. One size, or one an element (N): `radius` of a circle; or
    `width` (along n1) and `height` (along n2), whole axes; or `half_axis_1`, `half_axis_2`. All in m."""

    radius: ArrayLike | None = None
    width: ArrayLike | None = None
    height: ArrayLike | None = None
    half_axis_1: ArrayLike | None = None
    half_axis_2: ArrayLike | None = None
    young_modulus: float | None = None  #: [Pa]; only stiffness() and elastic_energy() need it
    poisson_ratio: float = 0.3  #: above -1, at most 0.5

    def half_axes(self, elements: int) -> Array:
        """(N, 2) [m]"""
        pairs = {
            "radius": (self.radius, self.radius, 1.0),
            "width and height": (self.width, self.height, 0.5),
            "half_axis_1 and half_axis_2": (self.half_axis_1, self.half_axis_2, 1.0),
        }
        given = [(name, p) for name, p in pairs.items() if p[0] is not None or p[1] is not None]
        if len(given) != 1 or given[0][1][0] is None or given[0][1][1] is None:
            raise InvalidInput(f"section: found {' with '.join(n for n, _ in given) or 'no size'}, expected radius, "
                               "or width and height, or half_axis_1 and half_axis_2")  # fmt: skip
        name, (first, second, factor) = given[0]
        out = np.empty((elements, 2))
        for column, value in enumerate((first, second)):
            shape = () if np.ndim(value) == 0 else (elements,)
            out[:, column] = factor * array(value, f"section: {name}", shape)
        if not (out > 0.0).all():
            raise InvalidInput(f"section: {name}: found {out.min() / factor:g}, expected lengths above 0")
        return out


def _section(value) -> Section:
    if isinstance(value, Section):
        return value
    if isinstance(value, Mapping):
        unknown = [key for key in value if key not in Section.__dataclass_fields__]
        if unknown:
            raise InvalidInput(f"section: unknown key '{unknown[0]}', expected {', '.join(Section.__dataclass_fields__)}")
        return Section(**value)
    return Section(radius=value)


class _CurvatureRod:
    """What both models share."""

    _clothoid = False

    def __init__(self, lengths: ArrayLike, curvatures: ArrayLike, position: ArrayLike = (0.0, 0.0, 0.0),
                 frame: ArrayLike | None = None, section: Section | Mapping | float | None = None,
                 density: float = 1000.0, *, natural_curvatures: ArrayLike | None = None,
                 young_modulus: float | None = None, poisson_ratio: float | None = None,
                 rotary_inertia: bool = True):  # fmt: skip
        lengths = array(np.atleast_1d(lengths), "lengths", (None,))
        if lengths.size == 0 or not (lengths > 0.0).all():
            raise InvalidInput("lengths: expected at least one, each above 0")
        if section is None:
            raise InvalidInput("section: missing, expected a radius, a Section or a dict such as {'radius': 50e-6}")
        self._shape = (lengths.size + (1 if self._clothoid else 0), 3)
        section = _section(section)
        young = young_modulus if young_modulus is not None else section.young_modulus
        poisson = float(array(section.poisson_ratio if poisson_ratio is None else poisson_ratio, "poisson_ratio", ()))
        if not -1.0 < poisson <= 0.5:
            raise InvalidInput(f"poisson_ratio: found {poisson:g}, expected above -1 and at most 0.5")
        self._elastic = young is not None
        self._young = positive(young, "young_modulus") if self._elastic else 1.0
        material = (positive(density, "density"), self._young, poisson)
        natural = np.zeros(self._shape) if natural_curvatures is None else natural_curvatures
        self._lengths = lengths
        self._position = array(position, "position", (3,))
        self._frame = rotation(frame)
        self._core = _core.Rod(self._clothoid, lengths, self._curvatures(curvatures),
                               self._curvatures(natural, "natural_curvatures"), self._position, self._frame,
                               section.half_axes(lengths.size), material, bool(rotary_inertia))  # fmt: skip

    def _curvatures(self, value, name="curvatures") -> Array:
        """Accepts (n,) for (n / 3, 3)."""
        flat = np.ndim(value) == 1
        return array(value, name, (self._shape[0] * 3,) if flat else self._shape).reshape(-1)

    @property
    def dof(self) -> int:
        """n, the number of coordinates."""
        return self._shape[0] * 3

    @property
    def lengths(self) -> Array:
        """Of the elements (N) [m]."""
        return self._lengths.copy()

    @property
    def length(self) -> float:
        """[m]"""
        return self._core.length()

    @property
    def mass(self) -> float:
        """[kg]"""
        return self._core.mass()

    @property
    def curvatures(self) -> Array:
        """(twist, k1, k2) of the elements (N, 3), or of the nodes of a super-clothoid (N + 1, 3) [1/m]. May be set, as
        these or flat (n)."""
        return self._core.curvature().reshape(self._shape)

    @curvatures.setter
    def curvatures(self, value: ArrayLike) -> None:
        self._core.set_curvature(self._curvatures(value))

    def position(self, s: ArrayLike) -> Array:
        """r(s): (3) [m] for one arc length from the root [m], (k, 3) for k."""
        return self._at(s, self._core.positions, (3,))

    def frame(self, s: ArrayLike) -> Array:
        """Material frame: (3, 3), columns n0 (tangent), n1, n2; (k, 3, 3) for k arc lengths."""
        return self._at(s, self._core.frames, (3, 3))

    def jacobian(self, s: ArrayLike) -> Array:
        """dr/dq: (3, n) [m^2]; (k, 3, n) for k arc lengths. Columns in the order of curvatures.ravel()."""
        return self._at(s, self._core.jacobians, (3, self.dof))

    def mass_matrix(self) -> Array:
        """M = int rho S (dr/dq)^T (dr/dq) ds, (n, n) [kg m^4]."""
        return self._core.mass_matrix()

    def stiffness(self) -> Array:
        """K, the Hessian of the elastic energy, (n, n) [N m^3]."""
        self._need_young("stiffness")
        return self._core.stiffness()

    def gravity(self, g: ArrayLike = (0.0, 0.0, -9.81)) -> Array:
        """G = -int rho S (dr/dq)^T g ds, the gradient of the potential of the weight, (n) [N m^2]. `g` (3) [m/s^2]."""
        return self._core.gravity(array(g, "g", (3,)))

    def inertia(self, velocity: ArrayLike) -> Array:
        """A = int rho S (dr/dq)^T (q'^T d2r/dq2 q') ds, (n) [N m^2]. `velocity`: q', (n) or as curvatures [1/(m s)]."""
        return self._core.inertia(self._curvatures(velocity, "velocity"))

    def elastic_energy(self) -> float:
        """[J]"""
        self._need_young("elastic_energy")
        return self._core.elastic_energy()

    def _need_young(self, name):
        if not self._elastic:
            raise InvalidInput(f"{name}: the rod has no young_modulus, expected one when it was made")

    def _at(self, s, function, shape):
        s = np.asarray(s) if np.ndim(s) == 0 else array(s, "s", (None,))
        return function(array(s.reshape(-1), "s", (None,))).reshape(*s.shape, *shape)

    def __repr__(self):
        return f"{type(self).__name__}({self._lengths.size} elements, {self.length:g} m)"


class SuperHelix(_CurvatureRod):
    """Kirchhoff rod of constant curvature on each element.

    lengths             (N) of the elements [m]
    curvatures          (N, 3) or (3 N) of the present shape, (twist, k1, k2) [1/m]
    position            (3) of the root [m]; the origin
    frame               (3, 3) of the root, columns n0 (tangent), n1, n2; the identity
    section             a radius [m], a Section, or a dict of its fields
    density             [kg/m^3]; 1000
    natural_curvatures  as curvatures, without stress; 0
    young_modulus       [Pa], poisson_ratio: here or in the section
    rotary_inertia      whether sections have inertia against turning; True

    Raises InvalidInput, one line, for what does not fit."""


class SuperClothoid(_CurvatureRod):
    """Kirchhoff rod of affine curvature on each element, continuous: curvatures are those of the N + 1 nodes,
    (N + 1, 3) or (3 N + 3). Everything else as SuperHelix."""

    _clothoid = True


@dataclass(frozen=True)
class FittedCurve:
    """A rod's shape from points; see fit_curve()."""

    model: str  #: "super-helix" or "super-clothoid"
    position: Array  #: of the root (3) [m]
    frame: Array  #: of the root (3, 3); n1 is any unit vector across n0, since points do not tell how a rod is turned
    lengths: Array  #: of the elements (N) [m]
    curvatures: Array  #: (N, 3), of a super-clothoid (N + 1, 3) [1/m]
    largest_distance: float  #: from a point to the curve [m]
    mean_distance: float  #: [m]
    deviation: float  #: Frechet distance to the polyline through the points, at most: between places in order [m]
    length_ratio: float  #: of the curve's length to that polyline's
    converged: bool  #: no step brought the curve nearer; else the iterations ran out

    def rod(self, section: Section | Mapping | float, density: float = 1000.0, **properties) -> SuperHelix | SuperClothoid:
        """A rod of this shape, which is its natural one unless natural_curvatures are given; arguments as of
        SuperHelix."""
        made = SuperClothoid if self.model == "super-clothoid" else SuperHelix
        properties.setdefault("natural_curvatures", self.curvatures)
        return made(self.lengths, self.curvatures, self.position, self.frame, section, density, **properties)


def fit_curve(points: ArrayLike, model: str = "super-helix", *, elements: int | None = None,
              tolerance: float | None = None, method: str = "least-squares") -> FittedCurve:  # fmt: skip
    """The rod of equal elements whose centreline is nearest to a row of points, by least squares. Where that strays from
    the polyline of the points or would round off its corners: the polyline with small arcs at its corners, of unequal
    elements.

    points     (n, 3), n from 2 to 10 000, consecutive ones apart [m]; the first is the root, the last the tip
    model      "super-helix" or "super-clothoid"
    elements   exactly so many, or at most so many where there is a tolerance; 1 to 1000
    tolerance  as few elements as leave no point farther than this [m], or a larger largest_distance; a thousandth of the
               row's length if neither is given
    method     "least-squares", or "floating": a chain of `elements` helices that keeps the tangents of a smoothing
               spline through the points, ten times as fast; see `tresse fit`

    Its smoothness is estimated from the points (maximum evidence), so that noise makes no curls: MacKay 1992, as `from`
    of a scene does it. Raises InvalidInput. Works outside the GIL."""
    points = array(points, "points", (None, 3))
    if model not in ("super-helix", "super-clothoid"):
        raise InvalidInput(f"model: found '{model}', expected super-helix or super-clothoid")
    if elements is not None and elements < 1:
        raise InvalidInput(f"elements: found {elements}, expected 1 to 1000")
    tolerance = None if tolerance is None else positive(tolerance, "tolerance")
    if method not in ("least-squares", "floating"):
        raise InvalidInput(f"method: found '{method}', expected least-squares or floating")
    if method == "floating":
        if model != "super-helix" or elements is None or tolerance is not None:
            raise InvalidInput("method: floating expects model super-helix, elements and no tolerance")
        position, frame, lengths, *rest = _core.fit_floating(points, elements)
        return FittedCurve(model, np.asarray(position), frame, np.array(lengths), *rest)
    if tolerance is None and elements is None:
        tolerance = 1e-3 * float(np.linalg.norm(np.diff(points, axis=0), axis=1).sum())
    found = _core.fit_curve(points, model == "super-clothoid", elements or 0, tolerance or 0.0)
    position, frame, lengths, *rest = found
    return FittedCurve(model, np.asarray(position), frame, np.array(lengths), *rest)
