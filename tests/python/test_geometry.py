"""Closest points against answers known by hand and by sampling."""

import json

import numpy as np
import pytest
import tresse


def test_two_segments():
    found = tresse.closest_points(tresse.Segment([0, 0, 0], [1, 0, 0]), tresse.Segment([0.25, -1, 1], [0.25, 1, 1]))
    assert found.distance == pytest.approx(1.0, rel=1e-14)
    assert (found.s_a, found["s_b"]) == pytest.approx((0.25, 1.0))
    assert found.certified is True


def helix(rng):
    rotation = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    rotation[:, 2] *= np.linalg.det(rotation)
    return tresse.Helix(rng.normal(size=3) * 0.1, rotation, rng.normal(size=3) * 30, 0.1)


def points(curve, s):
    rod = tresse.rods.SuperHelix(curve.length, [curve.curvature], curve.position, curve.frame, 1e-4)
    return rod.position(s)


def test_helices_against_sampling():
    rng = np.random.default_rng(1)
    a, b = [helix(rng) for _ in range(20)], [helix(rng) for _ in range(20)]
    found = tresse.closest_points(a, b)
    assert found.distance.shape == (20,) and found.certified.all()
    s = np.linspace(0, 0.1, 400)
    for i in range(20):
        sampled = np.linalg.norm(points(a[i], s)[:, None] - points(b[i], s)[None], axis=2).min()
        assert sampled * (1 + 1e-12) >= found.distance[i] >= sampled - 0.1 / 399
        ends = points(a[i], found.s_a[i]) - points(b[i], found.s_b[i])
        assert found.distance[i] == pytest.approx(np.linalg.norm(ends), rel=1e-12)


def test_dicts_classes_and_pairs_are_the_same(data):
    rng = np.random.default_rng(2)
    a, b = helix(rng), tresse.Bezier(rng.normal(size=(4, 3)))
    dicts = [json.loads(json.dumps(_listed(c.as_dict()))) for c in (a, b)]
    one = tresse.closest_points(a, b)
    assert tresse.closest_points(*dicts) == one
    many = tresse.closest_points([(a, b), {"a": dicts[0], "b": dicts[1]}], threads=1)
    assert many.distance.tolist() == [one.distance] * 2


def _listed(value):
    return {k: v.tolist() if isinstance(v, np.ndarray) else v for k, v in value.items()}


@pytest.mark.parametrize("a, b, more, words", [
    ({"type": "circle"}, {"type": "circle"}, {}, 'pair 0: a.type: found "circle", expected helix'),
    (tresse.Segment([0, 0], [1, 0, 0]), tresse.Segment([0, 0, 1], [1, 0, 1]), {}, "a.from: found .0,0., expected a list of 3"),
    (tresse.Segment([0, 0, 0], [1, 0, 0]), tresse.Segment([0, 0, 1], [1, 0, 1]), {"method": "magic"}, "method: found magic"),
    (tresse.Segment([0, 0, 0], [1, 0, 0]), tresse.Segment([0, 0, 1], [1, 0, 1]), {"tolerance": -1.0}, "tolerance"),
    (tresse.Segment([0, 0, 0], [1, 0, 0]), tresse.Segment([0, 0, 1], [1, 0, 1]), {"threads": 0}, "threads: found 0"),
    ([], [{}], {}, "found 0 curves and 1"),
    (3.0, None, {}, "a: found float"),
    (object(), {"type": "segment"}, {}, "found object"),
    (tresse.Segment([0, 0, np.nan], [1, 0, 0]), tresse.Segment([0, 0, 1], [1, 0, 1]), {}, "expected finite numbers"),
    ({"type": {1, 2}}, {"type": "segment"}, {}, "not JSON serializable"),
])  # fmt: skip
def test_bad_input_is_one_line(a, b, more, words):
    with pytest.raises(tresse.InvalidInput, match=words) as caught:
        tresse.closest_points(a, b, **more)
    assert "\n" not in str(caught.value)


def test_many_are_none():
    assert tresse.closest_points([]).distance.shape == (0,)
