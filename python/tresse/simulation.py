"""A scene under way: step it, read and set its state, drive obstacles and roots."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tresse import _core
from tresse._arrays import array, flat, frame as rotation
from tresse._core import InvalidInput
from tresse._names import Named
from tresse.scene import Scene

__all__ = ["DerivativeReport", "HoldLoad", "InternalLoads", "Pose", "RunOutcome", "Simulation"]

Array = NDArray[np.float64]


class Pose(NamedTuple):
    position: Array  #: (3) [m]
    frame: Array  #: (3, 3), columns are the axes


class HoldLoad(NamedTuple):
    """What a fibre exerts on one of its held points over the last step; as a row of holds.csv."""

    hold: str
    fibre: int
    force: Array  #: (3) world axes [N]
    moment: Array  #: (3) of a clamped one, about the point [N m]
    error: float  #: how far off the point is at the end, beyond what the fibre stretches [m]


class InternalLoads(NamedTuple):
    """What a fibre carries inside, along its (p) points; the part beyond a point pulls on the part before it."""

    arc_length: Array  #: (p) from the root [m]
    position: Array  #: (p, 3) of the centreline [m]
    force: Array  #: (p, 3) tension, shear along n1, shear along n2 [N]
    moment: Array  #: (p, 3) twist, bending about n1, bending about n2 [N m]


class DerivativeReport(NamedTuple):
    """What derivatives are worth: they are those of the steps as they were made, with each contact as it was."""

    refused: str  #: what happened first that they leave out, and when; empty: they are exact
    nearest_kink: float  #: how near a contact came to another case (open, sticking, sliding), 0: at it
    kink_time: float  #: when [s]
    changes: int  #: how often contacts changed their case from one step to the next


class RunOutcome(NamedTuple):
    """How a run ended; of one without files the verdict is on the steps of this call alone."""

    outcome: str  #: "finished", "interrupted" or "failed"
    verdict: str  #: as the last line of `tresse run`
    sound: bool
    severity: str  #: "none", "slight" or "serious"


class Simulation:
    """
        simulation = tresse.Simulation(tresse.Scene.load("scenes/comb.toml"))
        simulation.run(until=0.5, callback=lambda s: print(s.time, s.forces["comb"]))

    `threads`: all cores unless given; no result depends on it. `push_out` moves fibres that overlap at the start apart
    rather than refusing them; `leave_out` leaves out those that overlap, still if they were moved, and `left_out` says
    which. A fibre is an index, 0 to `fibres` - 1; an obstacle its name or its index in the scene.
    Not to be used by two threads at a time: what a second asks for during a step is refused."""

    def __init__(
        self, scene: Scene, threads: int | None = None, *, push_out: bool = False, leave_out: bool = False
    ):
        if not isinstance(scene, Scene):
            raise InvalidInput(f"Simulation: found {type(scene).__name__}, expected a Scene (Scene.load reads files)")
        self.scene = scene
        self._core = _core.Simulation(scene._core, threads, push_out, leave_out)
        self._names = self._core.obstacle_names()

    @classmethod
    def from_state(cls, path: str | os.PathLike, threads: int | None = None) -> Simulation:
        """Goes on, in the same scene, from a state that a run kept: its checkpoint.h5, failure/step-N.h5, or what
        `tresse bench state` packed."""
        out = cls.__new__(cls)
        out._core = _core.Simulation.from_state(os.fspath(path), threads)
        out.scene = Scene.parse(out._core.resolved, name=os.fspath(path))
        out._names = out._core.obstacle_names()
        return out

    @property
    def left_out(self) -> list[str]:
        """A line about each fibre that `leave_out` left out."""
        return self._core.left_out

    # Time.

    @property
    def time(self) -> float:
        """[s]"""
        return self._core.time

    @property
    def steps(self) -> int:
        """Done so far."""
        return self._core.steps

    def step(self) -> dict:
        """One time step; its report: `time`, `contacts`, `residual`, `kinetic`, ... as the columns of steps.csv, and
        `finite`: whether the new state is. If not, the state is still the last good one."""
        self._core.step()
        return self._core.report()

    @property
    def report(self) -> dict:
        """Of the last step; before the first, zeros."""
        return self._core.report()

    def run(self, until: float | None = None, callback: Callable[[Simulation], object] | None = None,
            output: str | os.PathLike | None = None, *, resume: bool = False) -> RunOutcome:  # fmt: skip
        """Steps until a time [s], by default the scene's duration, and tells how the steps went.

        callback  called with the simulation after every step; the run stops when it returns False. It may read everything,
                  set states and drive obstacles and roots. What it raises ends the run, files and checkpoint written.
        output    folder for the files of `tresse run`, the same bytes but for wall-clock figures; files of an earlier run
                  are removed first, and no others
        resume    go on from that folder's checkpoint, which sets the state; a run that was driven goes on without: drive
                  it again

        The outcome is "interrupted" where a part of the duration is left. Ctrl-C ends the run after the step under way,
        checkpoint written, with KeyboardInterrupt. A state that stops being finite raises FloatingPointError; with
        `output` the outcome is "failed" instead."""
        last = self._core.step_of(self.scene.duration if until is None else float(until))
        after = None if callback is None else functools.partial(callback, self)
        if output is not None:
            return RunOutcome(**self._core.record(last, after, os.fspath(output), resume))
        if resume:
            raise InvalidInput("resume: found no output, expected the folder to go on from")
        ended = RunOutcome(**self._core.advance(last, after))
        if ended.outcome == "failed":
            raise FloatingPointError(f"step {self.steps + 1}: the state is no longer finite; try a smaller time_step")
        return ended

    # Fibres.

    @property
    def fibres(self) -> int:
        return self._core.fibres

    def group(self, fibre: int) -> str:
        """Name of the [[fibres]] table that a fibre comes from."""
        return self._core.group_of(fibre)

    def length(self, fibre: int) -> float:
        """[m]"""
        return self._core.length(fibre)

    def centreline(self, fibre: int, points_per_element: int = 8) -> Array:
        """(p, 3) points from root to tip [m]."""
        return self._core.centreline(fibre, points_per_element)

    def positions(self, fibre: int, arc_lengths: ArrayLike) -> Array:
        """(n, 3) of points at these arc lengths (n) [m]."""
        return self._core.positions(fibre, array(arc_lengths, "arc_lengths", (None,)))

    def differentiate(self, variations: list[dict]) -> None:
        """From now on carries the derivatives of the state along these variations from step to step, exactly
        (docs/theory/gradients.md). Each is a dict: `gravity` (3), `wind` (3), `friction` (relative, of all coefficients),
        and `fibres`, a dict by index of dicts with `stiffness` (3) and `density` (relative), `damping_time`, `drag`, `natural`
        (curvatures), `root_shift` (3), `root_turn` (3), and `curvature` and `velocity` of the present state.
        motion_derivatives() and fit_parameters() make them from the names of a scene's keys. Setting a state ends it.
        Raises InvalidInput for what has no derivative."""
        self._core.differentiate(list(variations))

    def position_derivatives(self, fibre: int, arc_lengths: ArrayLike) -> Array:
        """(variations, n, 3) of positions(), along the variations of differentiate() [m]."""
        return self._core.position_derivatives(fibre, array(arc_lengths, "arc_lengths", (None,)))

    @property
    def derivative_report(self) -> DerivativeReport:
        """What the derivatives so far are worth."""
        return DerivativeReport(*self._core.derivative_report())

    def keep_for_gradient(self) -> None:
        """From now on keeps what gradient() needs of each step, and forgets what was kept before. Raises InvalidInput as
        differentiate()."""
        self._core.keep_for_gradient()

    def add_by_positions(self, fibre: int, arc_lengths: ArrayLike, by: ArrayLike) -> None:
        """Adds to the derivative of an objective that by positions() as they are now, (n, 3)."""
        s = array(arc_lengths, "arc_lengths", (None,))
        self._core.add_by_positions(fibre, s, array(by, "by", (len(s), 3)))

    def gradient(self, variations: list[dict]) -> tuple[Array, DerivativeReport]:
        """Derivatives of that objective along variations, as differentiate() takes them: one pass backward over the steps
        that were kept, whatever their number. The report tells what they are worth."""
        derivatives, report = self._core.gradient(list(variations))
        return derivatives, DerivativeReport(*report)

    @property
    def centrelines(self) -> list[Array]:
        """centreline() of every fibre."""
        return [self._core.centreline(f, 8) for f in range(self.fibres)]

    @property
    def internal_loads(self) -> list[InternalLoads]:
        """What every fibre carries inside, at `output.points_per_element` points an element: of the last step; before
        the first, of the fibres at rest under gravity."""
        return [InternalLoads(*own) for own in self._core.internal_loads()]

    def curvatures(self, fibre: int) -> Array:
        """(n, 3) (twist, k1, k2) by element, of a super-clothoid by node [1/m]."""
        return self._core.curvature(fibre).reshape(-1, 3)

    def rates(self, fibre: int) -> Array:
        """Of the coordinates: of a super-helix or super-clothoid those of curvatures(), (n, 3) [1/(m s)]; of other
        models flat, of their nodes."""
        rates = self._core.rates(fibre)
        return rates.reshape(-1, 3) if rates.size == self._core.curvature(fibre).size else rates

    def set_curvatures(self, fibre: int, curvatures: ArrayLike, rates: ArrayLike | None = None) -> None:
        """Bends a fibre, its root staying. `rates`: of the curvatures; 0. Shapes as curvatures(), or flat."""
        shape = flat(curvatures, "curvatures")
        self._core.set_fibre(fibre, shape, np.zeros_like(shape) if rates is None else flat(rates, "rates"))

    def root(self, fibre: int) -> Pose:
        """Pose of the root: frame columns n0 (tangent), n1, n2."""
        return Pose(*self._core.root(fibre))

    def root_velocity(self, fibre: int) -> tuple[Array, Array]:
        """Linear (3) [m/s] and angular (3) [rad/s], world axes."""
        return self._core.root_velocity(fibre)

    def set_root(self, fibre: int, position: ArrayLike, frame: ArrayLike, velocity: ArrayLike = (0.0, 0.0, 0.0),
                 angular_velocity: ArrayLike = (0.0, 0.0, 0.0)) -> None:  # fmt: skip
        """Puts a free root elsewhere; the curvatures and their rates stay."""
        self._core.set_root(fibre, array(position, "position", (3,)), rotation(frame),
                            array(velocity, "velocity", (3,)), array(angular_velocity, "angular_velocity", (3,)))  # fmt: skip

    def drive_root(self, fibre: int, velocity: ArrayLike | None = None, angular_velocity: ArrayLike = (0.0, 0.0, 0.0), *,
                   duration: float = np.inf, position: ArrayLike | None = None,
                   frame: ArrayLike | None = None) -> None:  # fmt: skip
        """As drive_obstacle(), of a clamped root."""
        self._drive(fibre, self._core.drive_root, self._core.drive_root_to, lambda: self.root(fibre).frame,
                    velocity, angular_velocity, duration, position, frame)  # fmt: skip

    # Obstacles and contacts.

    @property
    def obstacle_names(self) -> list[str]:
        """In the order of the scene."""
        return list(self._names)

    def obstacle(self, obstacle: str | int) -> Pose:
        """The moved reference point, and the turn from the reference pose."""
        return Pose(*self._core.obstacle_pose(self._index(obstacle)))

    def drive_obstacle(self, obstacle: str | int, velocity: ArrayLike | None = None,
                       angular_velocity: ArrayLike = (0.0, 0.0, 0.0), *, duration: float = np.inf,
                       position: ArrayLike | None = None, frame: ArrayLike | None = None) -> None:  # fmt: skip
        """Replaces the motion of an obstacle without mass, from now on. Either `velocity` (3) [m/s] of its reference
        point and `angular_velocity` (3) [rad/s], for `duration` [s], at rest afterwards; or `position` (3) [m] and `frame`
        (3, 3; as it is) to be reached at the end of the next step."""
        index = self._index(obstacle)
        self._drive(index, self._core.drive_obstacle, self._core.drive_obstacle_to, lambda: self.obstacle(index).frame,
                    velocity, angular_velocity, duration, position, frame)  # fmt: skip

    @property
    def forces(self) -> dict[str, Array]:
        """By obstacle: the force (3) that fibres and free bodies exert on it over the last step [N], world axes."""
        return Named("obstacle", self._core.forces())

    @property
    def torques(self) -> dict[str, Array]:
        """The torque of these about the moved reference point (3) [N m]."""
        return Named("obstacle", self._core.torques())

    @property
    def holds(self) -> list[HoldLoad]:
        """Loads of the held points, in the order of fibres and their holds; zeros before the first step."""
        return [HoldLoad(*load) for load in self._core.holds()]

    @property
    def contacts(self) -> np.ndarray:
        """Of the last step, a structured array: fibre_a, obstacle_a, fibre_b, obstacle_b, part_b (-1: none), state (0
        open, 1 stick, 2 slide), s_a, s_b [m], point_a, point_b (3) [m], normal (3) from a to b, force (3) that a
        exerts on b [N], gap [m], slip [m/s]."""
        return self._core.contacts()

    def _index(self, obstacle):
        if not isinstance(obstacle, str):
            return obstacle
        if obstacle not in self._names:
            raise InvalidInput(f"obstacle: found '{obstacle}', expected one of: {', '.join(self._names) or 'none'}")
        return self._names.index(obstacle)

    def _drive(self, index, by_velocity, to_pose, present, velocity, angular_velocity, duration, position, frame):
        if (velocity is None) == (position is None):
            raise InvalidInput("drive: expected either a velocity or a position")
        if position is None:
            by_velocity(index, array(velocity, "velocity", (3,)), array(angular_velocity, "angular_velocity", (3,)), duration)
        else:
            to_pose(index, array(position, "position", (3,)), present() if frame is None else rotation(frame))

    def __repr__(self):
        return f"Simulation({self.fibres} fibres, t = {self.time:g} s)"
