"""Assemblies of curved elastic fibres with exact contact and Coulomb friction. docs/guide/python.md shows how to use this.

SI units everywhere; the columns of a frame are its axes, n0 (the tangent), n1, n2 of a fibre."""

from tresse import _compiled_part  # noqa: F401  before all that needs it
from tresse import fluid, friction, inverse, laws, rods
from tresse._core import InvalidInput, SystemFailure, version as __version__
from tresse.fit import Fit, Motion, MotionDerivatives, MotionGradient, fit_parameters, motion_derivatives, motion_gradient
from tresse.geometry import Bezier, Clothoid, ClosestPoints, Helix, Segment, closest_points
from tresse.plots import plot_convergence, plot_fibres, plot_forces
from tresse.results import Frames, Results, load
from tresse.scene import FibreGroup, Parameter, Scene
from tresse.simulation import DerivativeReport, HoldLoad, InternalLoads, Pose, RunOutcome, Simulation

__all__ = [
    "Bezier", "Clothoid", "ClosestPoints", "DerivativeReport", "FibreGroup", "Fit", "Frames", "Helix", "HoldLoad", "InternalLoads", "InvalidInput", "Motion", "MotionDerivatives", "MotionGradient", "Parameter", "Pose",
    "Results", "RunOutcome", "Scene", "Segment", "Simulation", "SystemFailure", "closest_points", "fit_parameters", "fluid", "friction", "inverse", "laws", "load",
    "motion_derivatives", "motion_gradient", "plot_convergence", "plot_fibres", "plot_forces", "rods",
]  # fmt: skip
