"""What is measured on a force curve. Forces and indentations have no dimension (see run.py)."""

import functools
import json
import pathlib
from dataclasses import dataclass

import h5py
import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
REFERENCE = ROOT / "tests" / "data" / "three_point_bending" / "three_point_bending.json"

SPAN = 0.05  # between the supports of the whole rod [m]
LENGTH = 0.06  # of the half rod [m]
SPEED = 5e-3  # of the support [m/s]
RADIUS = 1.85e-4  # of the rod and of the support [m]
COMPARED = (0.02, 0.3)  # indentations compared with the reference; before, the sudden start still rings
ROUGHNESS_RANGE = (0.02, 0.25)
ROUGHNESS_WINDOW = 0.002  # of the moving average


@dataclass
class Curve:
    indentation: np.ndarray  # (steps)
    force: np.ndarray  # (steps)
    contact: np.ndarray  # arc length of the contact [m] (steps); NaN in the reference


@dataclass
class Jumps:
    """What segments add to the force of certified detection, over ROUGHNESS_RANGE."""

    derivative: float  # L1 norm of d/d indentation of (force - certified force), over the largest certified force
    peak_to_peak: float  # of (force - certified force), over the largest certified force
    junctions: float  # that the contact slides over
    ratio: float  # L1 norm of d/d indentation of (force / certified force)
    own: float  # L1 norm of d/d indentation of the force itself, over the largest certified force
    abscissa: float  # peak to peak of (arc length of the contact - certified one) [m]

    @property
    def per_junction(self):
        return self.derivative / self.junctions

    @property
    def ratio_per_junction(self):
        return self.ratio / self.junctions


@functools.lru_cache(maxsize=1)
def _reference_file():
    return json.loads(REFERENCE.read_text(encoding="utf-8"))


def reference(curvature, friction):
    """The elastica's curve for a natural curvature [1/m] and a coefficient of friction."""
    data = _reference_file()["curves"][f"kappa0_{curvature / 100}_mu_{float(friction)}"]
    return Curve(np.array(data["delta_bar"]), np.array(data["F_bar"]), np.array(data["s_c_over_Delta"]) * SPAN)


def read_curve(folder):
    """The curve that a run left in `folder`."""
    time, fy = np.loadtxt(folder / "forces.csv", delimiter=",", skiprows=1, usecols=(0, 3), unpack=True)
    scale = _reference_file()["parameters"]["force_scale_F_over_Fbar_N"]
    with h5py.File(folder / "trajectory.h5") as file:  # frames are fewer than steps
        first = file["contacts/frame_offsets"][:-1]
        touching = np.diff(file["contacts/frame_offsets"][:]) > 0
        contact = np.interp(time, file["time"][:][touching], file["contacts/s_a"][:][first[touching]])
    return Curve(SPEED * time / SPAN, 2.0 * np.abs(fy) / scale, contact)


def within(indentation, limits):
    slack = 1e-9  # times are multiples of the step, rounded
    return (indentation >= limits[0] - slack) & (indentation <= limits[1] + slack)


def errors(curve, expected):
    """(force - expected force) over the largest expected force, at the reference's indentations in COMPARED."""
    chosen = within(expected.indentation, COMPARED)
    if curve.indentation[-1] < COMPARED[1]:
        raise RuntimeError(f"a run ended at indentation {curve.indentation[-1]:g}, before {COMPARED[1]:g}")
    force = np.interp(expected.indentation[chosen], curve.indentation, curve.force)
    return (force - expected.force[chosen]) / expected.force.max()


def at_indentation(expected, error, where):
    """The entry of errors() at one of the reference's indentations."""
    chosen = expected.indentation[within(expected.indentation, COMPARED)]
    return error[np.argmin(np.abs(chosen - where))]


def roughness(curve, largest):
    """Total variation over ROUGHNESS_RANGE of the force minus its centred moving average, over the largest force."""
    spacing = curve.indentation[1] - curve.indentation[0]
    window = 2 * round(0.5 * ROUGHNESS_WINDOW / spacing) + 1
    deviation = curve.force - np.convolve(curve.force, np.full(window, 1.0 / window), "same")
    chosen = within(curve.indentation, ROUGHNESS_RANGE)
    return np.abs(np.diff(deviation[chosen])).sum() / largest


def jumps(segments, certified, segment_length):
    chosen = within(certified.indentation, ROUGHNESS_RANGE)
    difference = (segments.force - certified.force)[chosen] / certified.force.max()
    ratio = segments.force[chosen] / certified.force[chosen]
    slid = certified.contact[chosen]
    return Jumps(derivative=np.abs(np.diff(difference)).sum(), peak_to_peak=np.ptp(difference),
                 junctions=(slid[-1] - slid[0]) / segment_length,
                 ratio=np.abs(np.diff(ratio)).sum(),
                 own=np.abs(np.diff(segments.force[chosen])).sum() / certified.force.max(),
                 abscissa=np.ptp((segments.contact - certified.contact)[chosen]))  # fmt: skip


def power(x, y):
    """p of y ~ x^p by least squares of the logarithms."""
    return np.polyfit(np.log(x), np.log(y), 1)[0]


def line(x, y):
    """Slope, offset and coefficient of determination of a straight line."""
    slope, offset = np.polyfit(x, y, 1)
    residual = np.asarray(y) - np.polyval((slope, offset), x)
    return slope, offset, 1.0 - np.sum(residual**2) / np.sum((y - np.mean(y)) ** 2)
