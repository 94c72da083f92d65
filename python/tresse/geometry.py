"""Closest points between curves, with a certificate of global optimality."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from tresse import _core
from tresse._core import InvalidInput

__all__ = ["Bezier", "Clothoid", "ClosestPoints", "Helix", "Segment", "closest_points"]


@dataclass
class Helix:
    """Arc of constant curvature (twist, k1, k2) [1/m]; parameter: arc length from 0 to `length` [m]."""

    position: ArrayLike  #: of its start (3) [m]
    frame: ArrayLike  #: there (3, 3), columns n0 (tangent), n1, n2; in a dict the rows are the axes
    curvature: ArrayLike  #: (3) [1/m]
    length: float  #: [m]

    def as_dict(self) -> dict[str, Any]:
        return {"type": "helix", "position": self.position, "frame": np.transpose(self.frame),
                "curvature": self.curvature, "length": self.length}  # fmt: skip


@dataclass
class Clothoid:
    """Arc of curvature `curvature` + s `curvature_slope`; the rest as Helix."""

    position: ArrayLike
    frame: ArrayLike
    curvature: ArrayLike
    curvature_slope: ArrayLike  #: (3) [1/m^2]
    length: float

    def as_dict(self) -> dict[str, Any]:
        return {"type": "clothoid", "position": self.position, "frame": np.transpose(self.frame),
                "curvature": self.curvature, "curvature_slope": self.curvature_slope,
                "length": self.length}  # fmt: skip


@dataclass
class Bezier:
    """Cubic curve of four control points (4, 3) [m]; parameter from 0 to 1."""

    points: ArrayLike

    def as_dict(self) -> dict[str, Any]:
        return {"type": "bezier", "points": self.points}


@dataclass
class Segment:
    """From one point (3) to another [m]; parameter: arc length."""

    start: ArrayLike
    end: ArrayLike

    def as_dict(self) -> dict[str, Any]:
        return {"type": "segment", "from": self.start, "to": self.end}


class ClosestPoints(NamedTuple):
    """Numbers for one pair, arrays (n) for many. By name, `found.distance` or `found["distance"]`."""

    distance: Any  #: global minimum [m]
    s_a: Any  #: parameter on a
    s_b: Any  #: parameter on b
    certified: Any  #: whether the minimum is proved
    steps: Any  #: boxes examined

    def __getitem__(self, key):
        return getattr(self, key) if isinstance(key, str) else tuple.__getitem__(self, key)


def _plain(value):
    if isinstance(value, Mapping):
        return {str(k): _plain(v) for k, v in value.items()}
    if hasattr(value, "as_dict"):
        return _plain(value.as_dict())
    if isinstance(value, np.ndarray) or isinstance(value, np.generic):
        return value.tolist()
    if isinstance(value, (list, tuple)):
        return [_plain(v) for v in value]
    return value


def _is_curve(value):
    return isinstance(value, Mapping) or hasattr(value, "as_dict")


def closest_points(a, b=None, *, method: str = "certified", tolerance: float | None = None,
                   threads: int | None = None) -> ClosestPoints:  # fmt: skip
    """Global minimum of the distance between two curves, or of many pairs at once.

    a, b       two curves; or two lists of n; or, without b, a list of n pairs (a, b) or {"a": CURVE, "b": CURVE}. A curve
               is a Helix, Clothoid, Bezier or Segment, or a dict as in the files of `tresse distance`:
               {"type": "helix", "position": [3], "frame": [n0, n1, n2], "curvature": [3], "length": L}, ...
    method     "certified", "branch-and-bound" or "segments"
    tolerance  as `tresse distance --tolerance`: certified, of the distance, relative to the longer curve (1e-12)
    threads    for many pairs; all cores

    The order of many is kept. Raises InvalidInput, one line, for what is no curve."""
    single = _is_curve(a) and _is_curve(b)
    if b is None:
        pairs = [p if isinstance(p, Mapping) else dict(zip("ab", _pair(p, i))) for i, p in enumerate(_list(a, "a"))]
    elif single:
        pairs = [{"a": a, "b": b}]
    else:
        a, b = _list(a, "a"), _list(b, "b")
        if len(a) != len(b):
            raise InvalidInput(f"closest_points: found {len(a)} curves and {len(b)}, expected as many")
        pairs = [{"a": x, "b": y} for x, y in zip(a, b)]
    try:
        text = json.dumps({"pairs": _plain(pairs)}, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidInput(f"closest_points: {error}; expected finite numbers, lists and arrays") from error
    found = _core.closest_points(text, method, tolerance, threads)
    return ClosestPoints(*(column[0].item() for column in found)) if single else ClosestPoints(*found)


def _list(value, name) -> Sequence:
    if not isinstance(value, (list, tuple)):
        raise InvalidInput(f"closest_points: {name}: found {type(value).__name__}, expected a curve or a list")
    return value


def _pair(value, index):
    if not isinstance(value, (list, tuple)) or len(value) != 2:
        raise InvalidInput(f"closest_points: pair {index}: expected two curves")
    return value
