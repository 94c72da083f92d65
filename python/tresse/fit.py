"""Parameters of a scene from a motion that was seen, and exact derivatives of a motion by parameters.

docs/guide/fit_parameters.md shows how to use this, docs/theory/gradients.md has the equations."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tresse._arrays import array
from tresse._core import InvalidInput
from tresse._names import unknown
from tresse.scene import Scene
from tresse.simulation import DerivativeReport, Simulation

__all__ = ["Fit", "Motion", "MotionDerivatives", "MotionGradient", "fit_parameters", "motion_derivatives", "motion_gradient"]

Array = NDArray[np.float64]


class Motion(NamedTuple):
    """Points of one fibre as they were seen: marks at known arc lengths."""

    times: ArrayLike  #: (t) ascending; each is taken at the nearest step [s]
    arc_lengths: ArrayLike  #: (n) from the root [m]
    positions: ArrayLike  #: (t, n, 3), NaN where a mark was not seen [m]
    fibre: int = 0


class MotionDerivatives(NamedTuple):
    """A motion as the scene has it, and how it depends on parameters."""

    positions: list[Array]  #: (t, n, 3) of each Motion [m]
    derivatives: list[Array]  #: (parameters, t, n, 3) of each: exact, of the steps as they are made
    report: DerivativeReport


class MotionGradient(NamedTuple):
    """How far a scene moves from what was seen, and the gradient of that."""

    value: float  #: the sum of squared distances [m^2]
    gradient: dict[str, float]  #: its derivative by each parameter: exact, of the steps as they are made
    report: DerivativeReport


class Fit(NamedTuple):
    """Parameters with which a scene moves as it was seen to."""

    values: dict[str, float]
    deviations: dict[str, float]  #: standard deviations, of noise that is the same and independent in every coordinate
    covariance: Array  #: (p, p) in the order of `values`
    noise: float  #: standard deviation of a coordinate, from what the fit leaves [m]
    converged: bool
    runs: int  #: of the scene
    report: DerivativeReport  #: of the last run; of a fit by differences an empty one
    scene: Scene  #: with these values

    @property
    def error_bars(self) -> dict[str, float]:
        """Two and a half standard deviations: the truth is nearer 98.8 times of 100 where the noise is normal."""
        return {name: 2.5 * deviation for name, deviation in self.deviations.items()}


class _Parameters:
    """Named numbers of a resolved scene. A name is that of a key with those of its tables, "materials.cable.young_modulus";
    of a list, one number by its place, "simulation.gravity.2"; of a natural curvature, one component all along the
    fibre, "fibres.cable.natural_curvature.2"."""

    def __init__(self, scene: Scene, names: Iterable[str]):
        import tomllib  # of Python 3.11; the rest of the package does without

        self._tables = tomllib.loads(scene.resolved())
        self.names = list(names)
        if not self.names or len(set(self.names)) < len(self.names):
            raise InvalidInput("parameters: expected at least one, each once")
        self._ways = [self._way(name) for name in self.names]

    @property
    def values(self) -> Array:
        return np.array([float(table[key] if component is None else table[key][component])
                         if key != "natural_curvature" else float(np.mean(np.atleast_2d(table[key])[:, component]))
                         for table, key, component, _ in self._ways])  # fmt: skip

    def scene(self, values: ArrayLike) -> Scene:
        """The scene with these values; the time step stays."""
        before = self.values
        for (table, key, component, _), value, old in zip(self._ways, np.asarray(values, float).tolist(), before.tolist()):
            if key == "natural_curvature":
                table[key] = [[k + (value - old if c == component else 0.0) for c, k in enumerate(row)] for row in table[key]]
            elif component is None:
                table[key] = value
            else:
                table[key] = [value if c == component else x for c, x in enumerate(table[key])]
        return Scene(self._tables)

    def directions(self, simulation: Simulation) -> list[dict]:
        return [way[3](simulation, float(value)) for way, value in zip(self._ways, self.values)]

    def _way(self, name):
        words = name.split(".")
        makers = {"materials": self._material, "fibres": self._fibre, "simulation": self._simulation, "friction": self._friction}
        if words[0] not in makers:
            raise unknown("table of a parameter", words[0], makers)
        way = makers[words[0]](words[1:], name)
        if way is None:
            raise InvalidInput(
                f"parameter '{name}': unknown; expected materials.NAME with young_modulus, poisson_ratio, density or "
                "damping_time; fibres.NAME with drag, natural_curvature.0 to 2 or root.0 to 2; simulation.gravity.0 to 2 "
                "or simulation.wind.0 to 2; or friction.default")  # fmt: skip
        return way

    def _material(self, words, name):
        if len(words) != 2:
            return None
        tables = self._tables.get("materials", {})
        if words[0] not in tables:
            raise unknown("material", words[0], tables)
        poisson = tables[words[0]].get("poisson_ratio", 0.0)
        of = {
            "young_modulus": lambda x: {"stiffness": np.full(3, 1.0 / x)},
            "poisson_ratio": lambda x: {"stiffness": np.array([-1.0 / (1.0 + x), 0.0, 0.0])},
            "density": lambda x: {"density": 1.0 / x},
            "damping_time": lambda x: {"damping_time": 1.0},
        }.get(words[1])
        if of is None or poisson is None:
            return None
        groups = {g["name"] for g in self._tables["fibres"] if g["material"] == words[0]}
        return tables[words[0]], words[1], None, lambda simulation, value: self._on(simulation, groups, lambda _: of(value))

    def _fibre(self, words, name):
        groups = {g["name"]: g for g in self._tables["fibres"]}
        if not words or words[0] not in groups:
            raise unknown("group of fibres", words[0] if words else "", groups)
        group, own = groups[words[0]], {words[0]}
        if words[1:] == ["drag"]:
            return group, "drag", None, lambda simulation, value: self._on(simulation, own, lambda _: {"drag": 1.0})
        component = _component(words[2:])
        if component is None:
            return None
        unit = np.eye(3)[component]
        if words[1] == "natural_curvature":
            def along(simulation, value):
                return self._on(simulation, own, lambda f: {"natural": np.tile(unit, len(simulation.curvatures(f)))})
            return group, "natural_curvature", component, along
        if words[1] == "root" and "position" in group.get("root", {}):
            shift = {"root_shift": unit}
            return group["root"], "position", component, lambda simulation, value: self._on(simulation, own, lambda _: shift)
        return None

    def _simulation(self, words, name):
        component = _component(words[1:])
        if not words or words[0] not in ("gravity", "wind") or component is None:
            return None
        return self._tables["simulation"], words[0], component, lambda simulation, value: {words[0]: np.eye(3)[component]}

    def _friction(self, words, name):
        if words != ["default"]:
            return None
        table = self._tables["friction"]
        if set(table) > {"default"} or any(g.get("friction") for g in self._tables["fibres"]):
            raise InvalidInput(f"parameter '{name}': the scene has other friction coefficients than the default; expected it alone")
        return table, "default", None, lambda simulation, value: {"friction": 1.0 / value}

    @staticmethod
    def _on(simulation, groups, of):
        return {"fibres": {f: of(f) for f in range(simulation.fibres) if simulation.group(f) in groups}}


def _component(words):
    return int(words[0]) if len(words) == 1 and words[0] in ("0", "1", "2") else None


class _Seen:
    """Motions, checked, by step."""

    def __init__(self, motions: Motion | Sequence[Motion], scene: Scene, positions: bool):
        motions = [motions] if isinstance(motions, Motion) else list(motions)
        if not motions:
            raise InvalidInput("motions: found none, expected at least one")
        self.motions = []
        self.at: dict[int, list[tuple[int, int]]] = {}
        for k, motion in enumerate(motions):
            times = array(motion.times, "times", (None,))
            s = array(motion.arc_lengths, "arc_lengths", (None,))
            seen = np.asarray(motion.positions, float) if positions else np.zeros((len(times), len(s), 3))
            if seen.shape != (len(times), len(s), 3):
                raise InvalidInput(f"positions: found an array of shape {seen.shape}, expected ({len(times)}, {len(s)}, 3)")
            self.motions.append(Motion(times, s, seen, int(motion.fibre)))
            for i, time in enumerate(times):
                step = round(time / scene.time_step)
                if time < 0.0 or abs(step * scene.time_step - time) > 0.5001 * scene.time_step:
                    raise InvalidInput(f"times: found {time:g} s, expected times from 0 on")
                self.at.setdefault(step, []).append((k, i))
        self.last = max(self.at)

    def run(self, simulation: Simulation, directions: list[dict] | None) -> tuple[list[Array], list[Array]]:
        positions = [np.empty(m.positions.shape) for m in self.motions]
        count = 0 if directions is None else len(directions)
        derivatives = [np.empty((count, *m.positions.shape)) for m in self.motions]
        if directions is not None:
            simulation.differentiate(directions)

        def look(now):
            for k, i in self.at.get(now.steps, ()):
                motion = self.motions[k]
                positions[k][i] = now.positions(motion.fibre, motion.arc_lengths)
                if directions is not None:
                    derivatives[k][:, i] = now.position_derivatives(motion.fibre, motion.arc_lengths)

        look(simulation)
        if self.last > 0:
            simulation.run(until=self.last * simulation._core.time_step, callback=look)
        return positions, derivatives


def motion_derivatives(scene: Scene, motions: Motion | Sequence[Motion], parameters: Iterable[str]) -> MotionDerivatives:
    """Runs a scene and differentiates points of it by parameters, exactly: the steps as they are made, with every contact
    open, sticking or sliding as it is. The gradient of a loss of the positions is the sum of its own derivatives times
    these.

    motions     of which the positions are not read (None will do)
    parameters  their names; see fit_parameters()

    Raises InvalidInput for what has no derivative."""
    own = _Parameters(scene, parameters)
    seen = _Seen(motions, scene, False)
    simulation = Simulation(own.scene(own.values))
    positions, derivatives = seen.run(simulation, own.directions(simulation))
    return MotionDerivatives(positions, derivatives, simulation.derivative_report)


def motion_gradient(scene: Scene, motions: Motion | Sequence[Motion], parameters: Iterable[str]) -> MotionGradient:
    """Runs a scene and takes the gradient of the sum of squared distances of its marks from where they were seen, by one
    pass backward over the steps: it costs the same for any number of parameters. For few parameters, and for a fit,
    motion_derivatives() tells more.

    parameters  their names; see fit_parameters()

    Raises InvalidInput for what has no derivative."""
    own = _Parameters(scene, parameters)
    seen = _Seen(motions, scene, True)
    simulation = Simulation(own.scene(own.values))
    simulation.keep_for_gradient()
    value = 0.0

    def look(now):
        nonlocal value
        for k, i in seen.at.get(now.steps, ()):
            motion = seen.motions[k]
            off = np.nan_to_num(now.positions(motion.fibre, motion.arc_lengths) - motion.positions[i], nan=0.0)
            value += float((off**2).sum())
            now.add_by_positions(motion.fibre, motion.arc_lengths, 2.0 * off)

    look(simulation)
    if seen.last > 0:
        simulation.run(until=seen.last * simulation._core.time_step, callback=look)
    derivatives, report = simulation.gradient(own.directions(simulation))
    return MotionGradient(value, dict(zip(own.names, derivatives.tolist())), report)


def fit_parameters(scene: Scene, motions: Motion | Sequence[Motion], parameters: Iterable[str] | Mapping[str, tuple[float, float]],
                   *, differences: bool = False, max_runs: int = 50) -> Fit:  # fmt: skip
    """Parameters with which a scene moves as it was seen to, by least squares from the scene's own values on, with
    SciPy's trust region and exact derivatives.

    parameters   their names, or a dict of their bounds: materials.NAME.young_modulus, .poisson_ratio, .density and
                 .damping_time; fibres.NAME.drag, .natural_curvature.0 to .2 (one component, all along) and .root.0 to .2;
                 simulation.gravity.0 to .2 and .wind.0 to .2; friction.default. The shape at the start stays as it is
    differences  takes one-sided differences of runs in place of exact derivatives, for scenes that have none
    max_runs     of the scene, those for differences aside

    Error bars follow from what the fit leaves: they hold where the scene is right but for these parameters. Raises
    InvalidInput, also where the motion does not tell of a parameter."""
    from scipy.optimize import least_squares

    bounds = dict(parameters) if isinstance(parameters, Mapping) else {name: (-np.inf, np.inf) for name in parameters}
    own = _Parameters(scene, bounds)
    seen = _Seen(motions, scene, True)
    wanted = np.concatenate([m.positions.ravel() for m in seen.motions])
    known = np.isfinite(wanted)
    start = own.values
    scale = np.where(start != 0.0, np.abs(start), 1.0)
    if known.sum() <= len(start):
        raise InvalidInput(f"motions: found {known.sum()} coordinates, expected more than the {len(start)} parameters")
    last: dict[str, object] = {"runs": 0, "x": None, "report": DerivativeReport("", 1.0, 0.0, 0)}

    def run(x, exact):
        simulation = Simulation(own.scene(x * scale))
        positions, derivatives = seen.run(simulation, own.directions(simulation) if exact else None)
        last["runs"] += 1
        if exact:
            last["report"] = simulation.derivative_report
        left = (np.concatenate([p.ravel() for p in positions]) - wanted)[known]
        by = np.concatenate([d.reshape(len(start), -1) for d in derivatives], axis=1)[:, known].T * scale if exact else None
        return left, by

    def residual(x):
        if last["x"] is None or not np.array_equal(last["x"], x):
            last["x"], (last["left"], last["by"]) = x.copy(), run(x, not differences)
        return last["left"]

    def jacobian(x):
        left = residual(x)
        if not differences:
            return last["by"]
        step = 1e-6
        return np.column_stack([(run(x + step * unit, False)[0] - left) / step for unit in np.eye(len(x))])

    limits = np.array(list(bounds.values()), float).T / scale
    found = least_squares(residual, start / scale, jacobian, limits, method="trf", x_scale="jac", ftol=1e-12, xtol=1e-12,
                          gtol=1e-12, max_nfev=max_runs)  # fmt: skip
    normal = found.jac.T @ found.jac
    if np.linalg.cond(normal) > 1e14:
        raise InvalidInput("motions: they do not tell all of these parameters apart; expected fewer parameters")
    noise = np.sqrt(2.0 * found.cost / (known.sum() - len(start)))
    covariance = noise**2 * np.linalg.inv(normal) * np.outer(scale, scale)
    values = dict(zip(own.names, (found.x * scale).tolist()))
    deviations = dict(zip(own.names, np.sqrt(np.diag(covariance)).tolist()))
    return Fit(values, deviations, covariance, float(noise), bool(found.status > 0), int(last["runs"]), last["report"],
               own.scene(found.x * scale))  # fmt: skip
