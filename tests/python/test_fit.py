"""Fits of parameters, and derivatives of motions against differences of the same motions."""

import numpy as np
import pytest
import tresse

pytest.importorskip("scipy")

TIMES = np.arange(1, 11) * 0.02
MARKS = [0.1, 0.2]


def cable(young=4e6, damping=6e-3, friction=0.3, **more):
    fibre = {"name": "cable", "material": "cable", "length": 0.2, "elements": 4, "radius": 2e-3, "drag": 0.01}
    return tresse.Scene(
        {
            "simulation": {"time_step": 4e-3, "duration": 0.2},
            "materials": {"cable": {"density": 1200, "young_modulus": young, "poisson_ratio": 0.3, "damping_time": damping}},
            "friction": {"default": friction},
            "solver": {"tolerance": 1e-14},
            "fibres": [{**fibre, **more}],
            "obstacles": [{"name": "bar", "shape": "cylinder", "center": [0.12, 0, -0.02], "axis": [0.1, 1, 0], "radius": 0.005, "length": 0.2}],
        }
    )


def positions(scene):
    simulation = tresse.Simulation(scene)
    out = []
    for time in TIMES:
        simulation.run(until=time)
        out.append(simulation.positions(0, MARKS))
    return np.array(out)


def motion(seen=None):
    return tresse.Motion(TIMES, MARKS, np.zeros((len(TIMES), len(MARKS), 3)) if seen is None else seen)


@pytest.mark.parametrize(
    "name, value, step",
    [
        ("materials.cable.young_modulus", 4e6, 4e3),
        ("materials.cable.poisson_ratio", 0.3, 1e-3),
        ("materials.cable.density", 1200, 1.0),
        ("materials.cable.damping_time", 6e-3, 1e-5),
        ("fibres.cable.drag", 0.01, 1e-4),
        ("fibres.cable.natural_curvature.2", 0.0, 1e-2),
        ("fibres.cable.root.1", 0.0, 1e-5),
        ("simulation.gravity.1", 0.0, 1e-3),
        ("simulation.wind.0", 0.0, 1e-2),
        ("friction.default", 0.3, 1e-3),
    ],
)
def test_derivatives_are_those_of_differences(name, value, step):
    """Of fourth order, of a cable that falls onto a bar."""
    from tresse.fit import _Parameters

    found = tresse.motion_derivatives(cable(), motion(), [name])
    assert found.report.refused == ""
    own = _Parameters(cable(), [name])
    assert own.values[0] == pytest.approx(value, abs=1e-15)
    at = {k: positions(own.scene([value + k * step])) for k in (-2, -1, 1, 2)}
    expected = (8 * (at[1] - at[-1]) - (at[2] - at[-2])) / (12 * step)
    # Differences are good to the step to the fourth and to roundings over the step.
    assert np.abs(found.derivatives[0][0] - expected).max() < 1e-6 * np.abs(expected).max() + 1e-13 / step
    assert np.array_equal(found.positions[0], positions(cable()))


ALL = [
    *(f"materials.cable.{key}" for key in ("young_modulus", "poisson_ratio", "density", "damping_time")),
    "fibres.cable.drag",
    *(f"fibres.cable.natural_curvature.{k}" for k in range(3)),
    *(f"fibres.cable.root.{k}" for k in range(3)),
    *(f"simulation.{key}.{k}" for key in ("gravity", "wind") for k in range(3)),
    "friction.default",
]


def test_a_gradient_backward_is_that_of_the_derivatives_forward():
    """To roundings, which 50 steps make grow; a mark that was not seen says nothing."""
    seen = positions(cable(3.5e6, 5e-3))
    seen[3, 0] = np.nan
    found = tresse.motion_gradient(cable(), motion(seen), ALL)
    by = tresse.motion_derivatives(cable(), motion(), ALL)
    assert found.report == by.report and found.report.refused == ""
    off = np.nan_to_num(by.positions[0] - seen)
    terms = 2 * by.derivatives[0] * off
    assert found.value == pytest.approx((off**2).sum(), rel=1e-14)
    for name, own in zip(ALL, terms):
        assert found.gradient[name] == pytest.approx(own.sum(), abs=1e-11 * np.abs(own).sum() + 1e-30), name


NAMES = ["materials.cable.young_modulus", "materials.cable.damping_time"]


def test_parameters_of_a_noisy_motion_are_within_their_error_bars():
    """Two normal errors are both within 2.5 deviations 97.5 times of 100."""
    truth = np.array([4e6, 6e-3])
    clean = positions(cable())
    random = np.random.default_rng(3)
    off = []
    for _ in range(100):
        seen = clean + random.normal(0, 2e-4, clean.shape)
        found = tresse.fit_parameters(cable(3.7e6, 5e-3), motion(seen), NAMES)
        assert found.converged and not found.report.refused
        off.append((np.array(list(found.values.values())) - truth) / list(found.deviations.values()))
    off = np.array(off)
    assert (np.abs(off).max(axis=1) <= 2.5).sum() >= 95
    # Neither too small nor too large: the mean square of 100 normal numbers is off by 0.14 for one deviation.
    assert np.abs((off**2).mean(axis=0) - 1).max() < 0.5


def test_a_fit_goes_back_to_the_truth_and_takes_differences_if_asked():
    seen = positions(cable())
    for differences in (False, True):
        found = tresse.fit_parameters(cable(3.5e6, 5e-3), motion(seen), NAMES, differences=differences)
        assert found.values[NAMES[0]] == pytest.approx(4e6, rel=1e-6)
        assert found.values[NAMES[1]] == pytest.approx(6e-3, rel=1e-6)
        assert np.abs(positions(found.scene) - seen).max() < 1e-9
    bounded = tresse.fit_parameters(cable(3.5e6), motion(seen), {NAMES[0]: (3e6, 3.8e6)})
    assert bounded.values[NAMES[0]] == pytest.approx(3.8e6, rel=1e-3)


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda: tresse.fit_parameters(cable(), motion(), ["materials.cabel.density"]), "no material 'cabel'"),
        (lambda: tresse.fit_parameters(cable(), motion(), ["materials.cable.colour"]), "parameter 'materials.cable.colour': unknown"),
        (lambda: tresse.fit_parameters(cable(), motion(), ["solver.name"]), "no table of a parameter 'solver'"),
        (lambda: tresse.fit_parameters(cable(), motion(), []), "parameters: expected at least one"),
        (lambda: tresse.fit_parameters(cable(), motion(np.zeros((2, 2, 3))), NAMES), "positions: found an array of shape"),
        (lambda: tresse.fit_parameters(cable(), motion(np.full((10, 2, 3), np.nan)), NAMES), "motions: found 0 coordinates"),
        (lambda: tresse.motion_derivatives(cable(model="mass-spring"), motion(), NAMES), "gradients: a rod of nodes"),
    ],
)
def test_bad_input_is_told(call, message):
    with pytest.raises(tresse.InvalidInput, match=message):
        call()
