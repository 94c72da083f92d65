"""Rods against 60-digit references, which share no code with them, and against differences."""

import json

import numpy as np
import pytest
import tresse
from tresse.rods import Section, SuperClothoid, SuperHelix

CM, GRAM = 1e-2, 1e-3
MODELS = {"super_helix": SuperHelix, "super_clothoid": SuperClothoid}
# Of the largest entry; the library's own tests of the same data reach 1e-15.
ROUNDING = 1e-13


def reference_rods(data):
    return json.loads((data / "darboux" / "darboux.json").read_text(encoding="utf-8"))["dynamics"]


def made(case):
    """The rod of a case of the reference, whose units are cm, g, s."""
    radius = 1e-4
    density = case["rhoS_g_per_cm"] * GRAM / CM / (np.pi * radius**2)
    return MODELS[case["model"]](
        lengths=np.array(case["lengths"]) * CM, curvatures=np.array(case["q"]) / CM, position=np.array(case["r0"]) * CM,
        frame=np.array(case["frame0"]), section=radius, density=density,
        rotary_inertia=False,  # as the paper's rods
    )  # fmt: skip


def assert_close(found, wanted):
    assert np.abs(found - wanted).max() <= ROUNDING * np.abs(wanted).max() + 1e-300


def test_mass_gravity_inertia_are_those_of_the_reference(data):
    cases = reference_rods(data)
    assert {case["model"] for case in cases} == set(MODELS)
    for case in cases:
        rod = made(case)
        velocity = np.array(case["qdot"]) / CM
        assert_close(rod.mass_matrix(), np.array(case["M"]) * GRAM * CM**4)
        assert_close(rod.gravity(np.array(case["gravity_cm_s2"]) * CM), np.array(case["G_gravity"]) * GRAM * CM**3)
        assert_close(rod.inertia(velocity), np.array(case["A_qdot_bias"]) * GRAM * CM**3)


def rod_of(model, **more):
    rng = np.random.default_rng(3)
    nodes = 3 + (model is SuperClothoid)
    rotation = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    rotation[:, 2] *= np.linalg.det(rotation)
    return model([0.02, 0.03, 0.01], rng.normal(size=(nodes, 3)) * 40, [0.1, 0.2, 0.3], rotation,
                 {"radius": 1e-4, "young_modulus": 2e9, "poisson_ratio": 0.4}, 1200.0, **more)  # fmt: skip


@pytest.mark.parametrize("model", MODELS.values())
def test_jacobian_is_the_derivative_of_the_position(model):
    rod = rod_of(model)
    s = np.array([0.0, 0.011, 0.02, 0.041, 0.06])
    jacobian, start = rod.jacobian(s), rod.curvatures
    step = 1e-3
    for j in range(rod.dof):
        ends = []
        for sign in (1, -1):
            moved = start.ravel().copy()
            moved[j] += sign * step
            rod.curvatures = moved
            ends.append(rod.position(s))
        rod.curvatures = start
        assert np.abs((ends[0] - ends[1]) / (2 * step) - jacobian[:, :, j]).max() < 1e-11


@pytest.mark.parametrize("model", MODELS.values())
def test_shapes_and_frames(model):
    rod = rod_of(model)
    assert rod.position(0.01).shape == (3,)
    assert rod.position([0.01, 0.02]).shape == (2, 3)
    assert rod.frame(0.01).shape == (3, 3)
    assert rod.jacobian(0.01).shape == (3, rod.dof)
    assert rod.position(0.0) == pytest.approx([0.1, 0.2, 0.3], abs=0)
    h = 1e-6
    tangent = (rod.position(0.025 + h) - rod.position(0.025 - h)) / (2 * h)
    assert tangent == pytest.approx(rod.frame(0.025)[:, 0], abs=1e-8)
    assert rod.frame(0.05).T @ rod.frame(0.05) == pytest.approx(np.eye(3), abs=1e-12)


def test_stiffness_is_the_hessian_of_the_energy():
    natural = np.full((3, 3), 5.0)
    rod = rod_of(SuperHelix, natural_curvatures=natural)
    difference = (rod.curvatures - natural).ravel()
    energy = 0.5 * difference @ rod.stiffness() @ difference
    assert rod.elastic_energy() == pytest.approx(energy, rel=1e-12)
    radius, young, poisson = 1e-4, 2e9, 0.4
    second_moment = np.pi * radius**4 / 4
    twist = young / (2 * (1 + poisson)) * 2 * second_moment
    assert np.diag(rod.stiffness())[:3] == pytest.approx(0.02 * np.array([twist, *[young * second_moment] * 2]), rel=1e-12)


def test_sections():
    wanted = SuperHelix(0.1, [[0, 0, 0]], section=Section(half_axis_1=2e-4, half_axis_2=1e-4), young_modulus=1e9)
    other = SuperHelix(0.1, [[0, 0, 0]], section={"width": 4e-4, "height": 2e-4, "young_modulus": 1e9})
    assert np.array_equal(wanted.stiffness(), other.stiffness())
    assert wanted.mass == pytest.approx(1000 * 0.1 * np.pi * 2e-8)
    # Bending about n1 is stiff where the section is high along n2.
    assert wanted.stiffness()[2, 2] > wanted.stiffness()[1, 1]


@pytest.mark.parametrize("arguments, words", [
    ({"lengths": [0.1, -1]}, "lengths: expected at least one, each above 0"),
    ({"curvatures": np.zeros((3, 3))}, r"curvatures: found an array of shape \(3, 3\), expected \(2, 3\)"),
    ({"curvatures": [[0, 0, np.nan], [0, 0, 0]]}, "curvatures: found a number that is not finite"),
    ({"frame": np.diag([1, 1, -1])}, "left-handed"),
    ({"frame": np.ones((3, 3))}, "off orthonormal"),
    ({"section": None}, "section: missing"),
    ({"section": -1.0}, "section: radius: found -1"),
    ({"section": {"radios": 1.0}}, "unknown key 'radios'"),
    ({"section": {"width": 1.0}}, "expected radius, or width and height"),
    ({"density": 0}, "density: found 0, expected a number above 0"),
    ({"poisson_ratio": 0.7}, "poisson_ratio: found 0.7"),
    ({"natural_curvatures": "curly"}, "natural_curvatures: found 'curly'"),
])  # fmt: skip
def test_bad_input_is_one_line(arguments, words):
    good = {"lengths": [0.1, 0.1], "curvatures": np.zeros((2, 3)), "section": 1e-4}
    with pytest.raises(tresse.InvalidInput, match=words) as caught:
        SuperHelix(**{**good, **arguments})
    assert isinstance(caught.value, ValueError)
    assert "\n" not in str(caught.value)


def test_bad_arc_length_and_missing_modulus():
    rod = SuperHelix([0.1, 0.1], np.zeros((2, 3)), section=1e-4)
    with pytest.raises(tresse.InvalidInput, match="s: found 0.3, expected an arc length from 0 to 0.2 m"):
        rod.position(0.3)
    with pytest.raises(tresse.InvalidInput, match="stiffness: the rod has no young_modulus"):
        rod.stiffness()
    assert rod.position(np.linspace(0, sum([0.1, 0.1]), 11)).shape == (11, 3)


@pytest.mark.parametrize("made", [SuperHelix, SuperClothoid])
def test_a_rod_comes_back_from_its_points(made):
    clothoid = made is SuperClothoid
    curvatures = np.array([[20.0, 0, 150], [-30, 0, 220], [10, 0, 180], [15, 0, 120]])[: 4 if clothoid else 3]
    rod = made([0.01] * 3, curvatures, position=[0.1, 0.2, 0.3], section=1e-4, young_modulus=1e9)
    points = rod.position(np.linspace(0, rod.length, 80))
    fit = tresse.rods.fit_curve(points, "super-clothoid" if clothoid else "super-helix", elements=3)
    assert fit.converged and fit.largest_distance < 1e-12
    # What points tell: twists and the size of the bends (docs/guide/imports.md).
    assert np.abs(fit.curvatures[:, 0] - curvatures[:, 0]).max() < 1e-5
    assert np.abs(np.hypot(fit.curvatures[:, 1], fit.curvatures[:, 2]) - curvatures[:, 2]).max() < 1e-5
    back = fit.rod({"radius": 1e-4, "young_modulus": 1e9}, density=1300)
    assert isinstance(back, made) and back.elastic_energy() == 0
    assert np.abs(back.position(np.linspace(0, back.length, 80)) - points).max() < 1e-9


def test_a_fit_takes_as_few_elements_as_the_tolerance_wants():
    s = np.linspace(0, 0.05, 60)
    points = np.column_stack([s, 0.002 * np.sin(200 * s), 0.001 * np.cos(150 * s)])
    fine, coarse = (tresse.rods.fit_curve(points, tolerance=t) for t in (1e-5, 1e-3))
    assert fine.largest_distance <= 1e-5 and coarse.largest_distance <= 1e-3
    assert fine.lengths.size > coarse.lengths.size
    usual = tresse.rods.fit_curve(points)
    assert usual.largest_distance <= 1e-3 * np.linalg.norm(np.diff(points, axis=0), axis=1).sum()


@pytest.mark.parametrize("model", ["super-helix", "super-clothoid"])
def test_a_fit_is_as_long_as_its_polyline_at_a_sharp_hairpin(model):
    points = np.array([(0, 0, 0), (0, 0, 0.01), (0, 0, 0.02), (0.05, 0, 0), (0.05, 0, 0.01), (0.05, 0, 0.02)])
    length = np.linalg.norm(np.diff(points, axis=0), axis=1).sum()
    fit = tresse.rods.fit_curve(points, model, tolerance=1e-4)
    assert abs(fit.lengths.sum() / length - 1) < 0.005 and fit.length_ratio == pytest.approx(fit.lengths.sum() / length)
    assert fit.largest_distance <= fit.deviation <= 1e-4
    arc = tresse.rods.fit_curve(np.array([(0, 0, 0), (1, 0, 0), (1, 1, 0)]), model, elements=1)
    assert arc.length_ratio > 1.05 and arc.deviation > 0.2, "an arc is longer than its chords, and beside them"


@pytest.mark.parametrize("points, options, words", [
    (np.zeros((5, 3)), {}, "coincide"),
    (np.zeros((1, 3)), {"elements": 2}, "points"),
    (np.eye(3), {"model": "mass-spring"}, "model: found 'mass-spring'"),
    (np.eye(3), {"elements": 0}, "elements: found 0"),
    (np.eye(3), {"tolerance": -1.0}, "tolerance"),
    (np.full((3, 3), np.nan), {}, "points"),
])  # fmt: skip
def test_a_fit_refuses_what_does_not_fit(points, options, words):
    with pytest.raises(tresse.InvalidInput, match=words) as error:
        tresse.rods.fit_curve(points, **options)
    assert "\n" not in str(error.value)
