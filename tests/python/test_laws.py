"""Energies of penalty laws and the flow of segments, by their Python names."""

import numpy as np
import pytest
import tresse


def test_energies_are_their_formulas():
    touching, delta = 2e-3, 1e-5
    x = np.array([-0.9, -0.3, 0.0, 0.4, 0.8]) * delta  # overlap
    value, slope, curvature = tresse.laws.energy("imc", touching - x, touching, delta)
    k = 15 / delta
    ramp, step = np.log1p(np.exp(k * x)) / k, 1 / (1 + np.exp(-k * x))
    assert value == pytest.approx(ramp**2, rel=1e-6)
    assert slope == pytest.approx(-2 * ramp * step, rel=1e-6)
    assert curvature == pytest.approx(2 * step**2 + 2 * ramp * k * step * (1 - step), rel=1e-6)
    g = np.array([[0.1, 0.5], [0.9, 1.5]]) * delta
    value, slope, curvature = tresse.laws.energy("ipc", touching + g, [1e-3, 1e-3], delta)
    inside = g < delta
    assert value == pytest.approx(np.where(inside, -((g - delta) ** 2) * np.log(g / delta), 0), rel=1e-6)
    assert slope.shape == curvature.shape == (2, 2)
    assert (slope[~inside] == 0).all() and (curvature[inside] > 0).all()


def test_radii_are_a_sum_or_two():
    a = tresse.laws.energy("imc", 2e-3, 2.001e-3, 1e-5)
    assert all(isinstance(part, float) for part in a)
    assert tresse.laws.energy("imc", 2e-3, (1e-3, 1.001e-3), 1e-5) == pytest.approx(a)
    many = tresse.laws.energy("imc", [2e-3, 2e-3], [[1e-3, 1.001e-3], [0.5e-3, 1.501e-3]], 1e-5)
    assert many[1] == pytest.approx([a[1], a[1]])


def test_a_barrier_is_infinite_where_bodies_touch():
    assert tresse.laws.energy("ipc", 2e-3, 2e-3, 1e-5) == (np.inf, -np.inf, np.inf)


@pytest.mark.parametrize("arguments, words", [
    (("coulomb", 2e-3, 2e-3, 1e-5), "law: found coulomb, expected imc or ipc"),
    (("imc", 2e-3, 2e-3, 0.0), "delta: found 0, expected a number above 0"),
    (("imc", "far", 2e-3, 1e-5), "expected numbers"),
    (("imc", -1.0, 2e-3, 1e-5), "distance: found a number below 0"),
    (("imc", np.nan, 2e-3, 1e-5), "distance: found a number below 0 or not finite"),
    (("imc", [1.0, 2.0, 3.0], [1.0, 2.0, 3.0], 1e-5), "radii: found an array of shape"),
])  # fmt: skip
def test_bad_energies_are_refused(arguments, words):
    with pytest.raises(tresse.InvalidInput, match=words) as caught:
        tresse.laws.energy(*arguments)
    assert "\n" not in str(caught.value)


def test_a_line_of_force_is_the_sum_of_its_parts():
    rng = np.random.default_rng(3)
    points = rng.normal(size=(50, 3)) * 1e-2
    a, b = np.array([0.0, 0.0, 0.0]), np.array([8e-3, 2e-3, 0.0])
    f, g = np.array([1.0, -2.0, 0.5]), np.array([0.2, 1.0, 3.0])
    whole = tresse.fluid.velocity([a], [b], [f], [g], 1e-3, 0.7, points)
    middle, force = (a + b) / 2, (f + g) / 2
    parts = tresse.fluid.velocity([a, middle], [middle, b], [f, force], [force, g], 1e-3, 0.7, points, threads=1)
    assert whole.shape == (50, 3)
    assert parts == pytest.approx(whole, rel=1e-11, abs=1e-12 * abs(whole).max())


@pytest.mark.parametrize("change, words", [
    ({"y1": [[0, 0, 0], [1, 0, 0]]}, "y1: found 2 rows, expected 1 as in y0"),
    ({"epsilon": 0}, "epsilon: found 0"),
    ({"viscosity": -1}, "viscosity: found -1"),
    ({"points": [0, 0, 0]}, "points: found an array of shape"),
    ({"f0": [[np.inf, 0, 0]]}, "f0: found a number that is not finite"),
])  # fmt: skip
def test_bad_flows_are_refused(change, words):
    good = {"y0": [[0, 0, 0]], "y1": [[1, 0, 0]], "f0": [[1, 0, 0]], "f1": [[1, 0, 0]], "epsilon": 1e-3,
            "viscosity": 1.0, "points": [[0, 1, 0]]}  # fmt: skip
    with pytest.raises(tresse.InvalidInput, match=words):
        tresse.fluid.velocity(**{**good, **change})
