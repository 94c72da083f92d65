"""Assemblies of curved elastic fibres with exact contact and Coulomb friction. See docs/python.md."""

from tresse import friction, rods
from tresse._core import InvalidInput, SystemFailure, version as __version__
from tresse.geometry import Bezier, Clothoid, ClosestPoints, Helix, Segment, closest_points

__all__ = [
    "Bezier", "Clothoid", "ClosestPoints", "Helix", "InvalidInput", "Segment", "SystemFailure",
    "closest_points", "friction", "rods",
]  # fmt: skip
