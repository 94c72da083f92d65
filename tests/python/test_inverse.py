"""Inverse statics from Python, against what the rods themselves say."""

import numpy as np
import pytest
import tresse
from tresse.rods import Section, SuperClothoid, SuperHelix

GRAVITY = np.array([1.0, 2.0, -9.0])


def curl(model, **more):
    random = np.random.default_rng(1)
    nodes = 4 if model is SuperHelix else 5
    section = Section(width=120e-6, height=70e-6, young_modulus=3e9)
    return model([0.02, 0.03, 0.01, 0.02], random.uniform(-40, 40, (nodes, 3)), section=section, density=1300, **more)


@pytest.mark.parametrize("model", [SuperHelix, SuperClothoid])
def test_natural_curvatures_balance_the_weight(model):
    rod = curl(model)
    natural = tresse.inverse.rest_curvature(rod, GRAVITY)
    assert natural.shape == rod.curvatures.shape
    weight = rod.gravity(GRAVITY)
    balance = rod.stiffness() @ (rod.curvatures - natural).ravel() + weight
    assert np.abs(balance).max() < 1e-12 * np.abs(weight).max()
    assert np.abs(rod.stiffness() @ rod.curvatures.ravel() + weight).max() > np.abs(weight).max()  # it matters


@pytest.mark.parametrize("model", [SuperHelix, SuperClothoid])
def test_the_critical_stiffness_is_where_the_hessian_loses_its_sign(model):
    """The Hessian of the weight by differences of its gradient."""
    rod = curl(model)
    up = np.array([-30.0, 0.0, 0.0])
    q, n, h = rod.curvatures.ravel(), rod.dof, 1e-2
    hessian = np.empty((n, n))
    for k in range(n):
        slopes = []
        for step in (h, -h):
            moved = q.copy()
            moved[k] += step
            rod.curvatures = moved
            slopes.append(rod.gravity(up))
        hessian[k] = (slopes[0] - slopes[1]) / (2 * h)
    rod.curvatures = q
    critical = tresse.inverse.critical_stiffness(rod, up)
    assert critical > 0
    for factor, stable in ((1.01, True), (0.99, False)):
        whole = factor * critical / 3e9 * rod.stiffness() + 0.5 * (hessian + hessian.T)
        assert (np.linalg.eigvalsh(whole)[0] > 0) == stable


def test_stiffness_comes_back_from_shapes_at_rest():
    """Natural curvatures of a stiffer rod, at rest in two poses: K (q - q_natural) = -G(q) holds in both for one rod alone."""
    rod = curl(SuperHelix)
    shape, true = rod.curvatures.copy(), np.array([1.3, 1.7, 0.8])
    K = rod.stiffness().diagonal().reshape(-1, 3) * true
    natural = shape + rod.gravity(GRAVITY).reshape(-1, 3) / K
    other = shape.copy()
    down = np.array([-3.0, 4.0, 8.0])
    for _ in range(200):  # a stiff rod: its shape by substitution
        rod.curvatures = other
        other = natural - rod.gravity(down).reshape(-1, 3) / K
    found = tresse.inverse.stiffness_of_poses(rod, [(shape, GRAVITY), (other, down)])
    assert found.converged
    assert np.allclose(found.ratio, true, rtol=1e-7)
    assert (found.error_bar < 1e-5).all()


def test_a_round_straight_rod_is_framed_without_twist():
    found = tresse.inverse.framings(1.0, lambda s: (2 * np.cos(3 * s), 4, 3 * s), lambda s: (0, 0, 0), (0.7, 1, 1), 0.2)
    assert len(found) == 1 and found[0].second_variation > 0
    assert np.allclose(found[0].angle, 0.2 - 2 / 3 * np.sin(3 * np.linspace(0, 1, 65)), atol=1e-10)


def test_natural_curvatures_of_a_straight_cantilever():
    """Straight under its weight: it must be bent by the moment w (L - s)^2 / 2 the other way."""
    s = np.linspace(0, 1, 50)
    places = np.stack([s, 0 * s, 0 * s], axis=1)
    natural = tresse.inverse.natural_curvatures(s, places, np.tile(np.eye(3), (50, 1, 1)), np.zeros((50, 3)), (1, 2, 4), (0, 0, -3))
    assert np.allclose(natural, np.stack([0 * s, -3 * (1 - s) ** 2 / 2 / 2, 0 * s], axis=1), atol=1e-12)


def test_a_fit_that_floats_follows_its_points():
    s = np.linspace(0, 1, 80)
    points = np.stack([0.02 * np.sin(9 * s), 0.02 * np.cos(9 * s), 0.1 * s], axis=1)
    found = tresse.rods.fit_curve(points, elements=8, method="floating")
    assert found.curvatures.shape == (8, 3) and len(found.lengths) == 8
    assert found.largest_distance < 2e-5
    rod = found.rod(50e-6, young_modulus=3e9)
    at = rod.position(np.linspace(0, rod.length, 40000))
    between = 0.5 * rod.length / 40000  # how far a foot may be from the nearest of these
    assert max(np.linalg.norm(at - p, axis=1).min() for p in points) < np.hypot(1.1 * found.largest_distance, between)


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda: tresse.inverse.rest_curvature(3), "rod: found int, expected a SuperHelix or a SuperClothoid"),
        (lambda: tresse.inverse.rest_curvature(SuperHelix([1], [0, 0, 0], section=1e-3)), "inverse: the rod has no young_modulus"),
        (lambda: tresse.inverse.critical_stiffness(curl(SuperHelix), (0, 0)), "gravity"),
        (lambda: tresse.inverse.stiffness_of_poses(curl(SuperHelix), []), "poses: found 0, expected two or more"),
        (lambda: tresse.inverse.framings(1.0, 3.0, 4.0, (1, 1, 1)), "curvature: found float, expected a function of arc length"),
        (lambda: tresse.rods.fit_curve([[0, 0, 0], [1, 0, 0]], method="magic"), "method: found 'magic'"),
        (lambda: tresse.rods.fit_curve([[0, 0, 0], [1, 0, 0]], method="floating"), "method: floating expects model super-helix"),
    ],
)  # fmt: skip
def test_bad_input_is_told(call, message):
    with pytest.raises(tresse.InvalidInput, match=message):
        call()
