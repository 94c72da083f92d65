"""tresse.load() on runs that ended and on one that goes on; the figures that are drawn of them."""

import html
import pathlib
import re

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402
import numpy as np  # noqa: E402
import pytest  # noqa: E402
import tresse  # noqa: E402
from tresse import _page  # noqa: E402


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs") / "bending"
    scene = tresse.Scene({
        "simulation": {"time_step": 1e-3, "duration": 0.2, "gravity": 0.0},
        "output": {"every": 20},
        "fibres": [{"name": "rod", "material": "nylon", "length": 0.1, "elements": 5, "radius": 1e-3}],
        "obstacles": [{"name": "a, b", "shape": "cylinder", "center": [0.05, -0.0121, 0], "axis": [0, 0, 1],
                       "radius": 0.01, "length": 0.1, "motion": {"velocity": [0, 0.05, 0]}},
                      {"name": "floor", "shape": "plane", "point": [0, -1, 0], "normal": [0, 1, 0]}],
    })  # fmt: skip
    simulation = tresse.Simulation(scene)
    simulation.run(output=folder)
    return folder, simulation


def test_tables_and_frames(run):
    folder, simulation = run
    results = tresse.load(folder)
    assert results.summary["steps"] == 200 and results.summary["verdict"] == "sound"
    assert results.scene.resolved() == simulation.scene.resolved()
    assert len(results.steps) == 200 and results.steps["time"][-1] == 0.2
    time, force = results.force("a, b")
    assert time.shape == (200,) and force.shape == (200, 3)
    assert force[-1].tolist() == simulation.forces["a, b"].tolist()
    assert len(results.frames) == 11
    assert results.frames.times == pytest.approx(np.linspace(0, 0.2, 11))
    assert results.frames[-1]["step"] == 200
    assert results.centrelines()[0] == pytest.approx(simulation.centrelines[0], abs=1e-15)
    assert [frame["step"] for frame in results.frames] == list(range(0, 201, 20))
    assert results.layout["obstacles/names"] == ["a, b", "floor"]
    with pytest.raises(IndexError):
        results.frames[11]


def test_a_notebook_shows_the_viewer(run, tmp_path, monkeypatch):
    results = tresse.load(run[0])
    shown = results._repr_html_()
    found = _page.program()
    if found is None or not (pathlib.Path(found).parents[1] / "share/tresse/viewer/index.html").exists():
        assert "No viewer: " in shown
    else:
        assert shown.startswith('<iframe srcdoc="') and shown.endswith("</iframe>")
        inside = html.unescape(re.fullmatch(r'<iframe srcdoc="([^"]*)".*</iframe>', shown)[1])
        assert 'data-part="frame/10"' in inside and 'data-part="frame/11"' not in inside
        monkeypatch.setattr(_page, "MOST_FRAMES", 4)
        thinned = results._repr_html_()
        assert "frame/3&quot;" in thinned and "frame/4&quot;" not in thinned
        monkeypatch.setattr(_page, "LARGEST", 1)
        assert len(results._repr_html_()) < 2e6
    monkeypatch.setattr(_page, "program", lambda: None)
    reason = "the program tresse was not found, in the path or beside this package"
    assert results._repr_html_() == f"<code>{html.escape(repr(results))}</code><br>No viewer: {reason}"
    monkeypatch.setattr(_page, "program", lambda: str(tmp_path / "false"))
    (tmp_path / "false").write_text("#!/bin/sh\necho 'tresse: <it> fails' >&2\nexit 2\n")
    (tmp_path / "false").chmod(0o755)
    assert results._repr_html_().endswith("No viewer: &lt;it&gt; fails")


def test_a_run_under_way_is_read(run, tmp_path):
    scene = run[1].scene
    simulation = tresse.Simulation(scene)
    seen = []

    def look(_):
        if simulation.steps == 100:
            results = tresse.load(tmp_path / "run")
            seen.extend([results.summary["status"], len(results.frames), len(results.steps)])

    simulation.run(output=tmp_path / "run", callback=look)
    assert seen[0] == "running" and 1 <= seen[1] <= 6 and seen[2] <= 100


def test_clamped_roots_carry_the_weight_of_their_group(tmp_path):
    one = {"material": "nylon", "length": "5 cm", "elements": 2, "radius": "1 mm"}
    down = {"tangent": [0, 0, -1], "position": [0.1, 0, 0]}
    scene = tresse.Scene({
        "simulation": {"time_step": 1e-3, "duration": 0.02},
        "fibres": [{"name": "hair, long", **one, "root": down, "grid": {"count": 5, "spacing": "1 cm"}},
                   {"name": "loose", **one, "root": {"condition": "free", "position": [0, 1, 0]}},
                   {"name": "lone", **one, "root": {"tangent": [0, 0, -1], "position": [0, 0, 1]}}],
    })  # fmt: skip
    tresse.Simulation(scene).run(output=tmp_path / "run")
    results = tresse.load(tmp_path / "run")
    assert results.roots[:2]["group"].tolist() == ["hair, long", "lone"] and results.roots[:2]["roots"].tolist() == [5, 1]
    for name, count in (("hair, long", 5), ("lone", 1)):
        weight = count * results.groups[name].mass * 9.81
        time, force = results.root(name)
        assert time.shape == (20,)
        np.testing.assert_allclose(force, np.tile([0, 0, -weight], (20, 1)), atol=1e-9 * weight)
    summary = {one["name"]: one["mean_force"] for one in results.summary["roots"]}
    assert summary == pytest.approx({"hair, long": 5 * weight, "lone": weight}, rel=1e-9)
    with pytest.raises(tresse.InvalidInput, match="no group 'loose', expected one of: hair, long, lone"):
        results.root("loose")
    moment = np.stack([results.roots[m] for m in ("mx", "my", "mz")], axis=1)
    assert abs(moment).max() < 1e-9 * weight * 0.05


def test_grains_have_a_table_and_frames(run, tmp_path):
    scene = tresse.Scene({
        "simulation": {"time_step": 1e-3, "duration": 0.01},
        "output": {"every": 5},
        "grains": {"domain": [[0, 0, 0], [0.1, 0.1, 0.2]], "cells": [3, 0, 4], "density": 1500, "friction": 0.3, "viscosity": 1,
                   "sides": {"z_low": "open"}},
    })  # fmt: skip
    tresse.Simulation(scene).run(output=tmp_path / "sand")
    results = tresse.load(tmp_path / "sand")
    assert results.summary["verdict"] == "sound" and len(results.grains) == 10
    assert results.grains["top_speed"][-1] > 0.01 and results.grains["residual"].max() < 1e-10
    frame = results.frames[-1]
    assert frame["grains/velocity"].shape == (20, 3) and frame["grains/pressure"].shape == (12,)
    assert np.linalg.norm(frame["grains/velocity"], axis=1).max() == pytest.approx(results.grains["top_speed"][-1])
    assert results.layout["grains/cell_counts"].tolist() == [3, 1, 4]
    with pytest.raises(tresse.InvalidInput, match="there are no grains in the scene"):
        _ = tresse.load(run[0]).grains


def test_cloth_has_a_table_and_vertices(run, tmp_path):
    scene = tresse.Scene({
        "simulation": {"time_step": 1e-3, "duration": 0.01},
        "output": {"every": 5},
        "surfaces": [{"name": "sheet", "model": "cloth", "material": "silk", "thickness": 1e-3,
                      "grid": {"cells": [2, 2], "length": 0.1, "width": 0.1}}],
    })  # fmt: skip
    tresse.Simulation(scene).run(output=tmp_path / "cloth")
    results = tresse.load(tmp_path / "cloth")
    assert results.summary["verdict"] == "sound" and len(results.cloth) == 10
    assert results.cloth["surface"][0] == "sheet" and results.cloth["top_speed"][-1] == pytest.approx(0.0981)
    vertices = results.surfaces()["sheet"]
    assert vertices.shape == (10, 3) and vertices[:, 2].max() == pytest.approx(-9.81 * 1e-6 * 55)
    with pytest.raises(tresse.InvalidInput, match="no surface 'shet', .*did you mean 'sheet'"):
        results.surfaces()["shet"]
    with pytest.raises(tresse.InvalidInput, match="there is no cloth in the scene"):
        _ = tresse.load(run[0]).cloth


def test_groups_tell_what_the_fibres_are(run):
    rod = tresse.load(run[0]).groups["rod"]
    assert (rod.model, rod.material, rod.elements, rod.radius) == ("super-helix", "nylon", 5, 1e-3)
    np.testing.assert_allclose([rod.length, rod.mass], [0.1, 0.1 * np.pi * 1e-6 * 1140], rtol=1e-14)
    np.testing.assert_allclose(rod.bending_stiffness, 2 * [2.7e9 * np.pi * 1e-12 / 4], rtol=1e-14)
    assert 0 < rod.twisting_stiffness < rod.bending_stiffness[0]


def test_refusals(run, tmp_path):
    (tmp_path / "scene.toml").write_text("", encoding="utf-8")
    for place, said in (
        (tmp_path, "summary.json: no such file; expected the folder of a run; it holds a scene.toml but no results yet"),
        (tmp_path / "none", "none: no such folder; expected that of a run"),
        (tmp_path / "scene.toml", "is a scene, not what a run left"),
        (run[0].parent, "expected the folder of a run; .*bending in it holds one"),
        (run[0] / "steps.csv", "is a file; expected the folder of a run, here .*bending"),
    ):
        with pytest.raises(tresse.InvalidInput, match=said):
            tresse.load(place)
    results = tresse.load(run[0])
    with pytest.raises(tresse.InvalidInput, match="no obstacle 'comb', expected one of: a, b, floor"):
        results.force("comb")
    for names, wrong, said in (
        (results.forces, "bar", r"^no column 'bar', expected one of: time, obstacle, fx, .*; force\(name\) has the rows of an obstacle$"),
        (results.steps, "residul", "^no column 'residul', expected one of: time, .*; did you mean 'residual'\\?$"),
        (run[1].forces, "flor", "^no obstacle 'flor', expected one of: a, b, floor; did you mean 'floor'\\?$"),
        (run[1].torques, "x", "^no obstacle 'x', "),
        (results.frames[0], "fibres/point", "did you mean 'fibres/points'"),
        (next(iter(results.frames)), "fibres/point", "did you mean 'fibres/points'"),
        (results.layout, "names", "^no entry 'names', "),
        (results.groups, "hair", "^no group 'hair', expected one of: rod$"),
        (results.scene.parameters, "length", "^no parameter 'length', expected one of: none$"),
    ):
        for error in (KeyError, tresse.InvalidInput):
            with pytest.raises(error, match=said):
                names[wrong]
    assert type(results.forces["fx"]) is np.ndarray and results.forces[["fx", "fy"]].shape == results.forces.shape
    with pytest.raises(tresse.InvalidInput, match="holds.csv: no such table: the scene holds no point of a fibre; .roots has"):
        results.holds
    with pytest.raises(tresse.InvalidInput, match="labels: found 2, expected 1"):
        results.plot_forces(labels=["a", "b"])
    (tmp_path / "summary.json").write_text("{", encoding="utf-8")
    (tmp_path / "steps.csv").write_text("time,contacts\n1,2\n3", encoding="utf-8")
    broken = tresse.load(tmp_path)
    assert broken.steps["contacts"].tolist() == [2.0]
    for read in (lambda: broken.summary, lambda: broken.frames, lambda: broken.forces):
        with pytest.raises(tresse.InvalidInput) as caught:
            read()
        assert "\n" not in str(caught.value)
    (tmp_path / "steps.csv").write_text("time,contacts\n1,2\n3\n", encoding="utf-8")
    with pytest.raises(tresse.InvalidInput, match="rows of different lengths"):
        broken.steps


def test_figures(run, tmp_path):
    folder, simulation = run
    results = tresse.load(folder)
    before = plt.rcParams["axes.grid"]
    solution = tresse.friction.solve(tresse.friction.Problem(np.eye(90) + 0.5, -np.ones(90), 0.3))
    figures = {
        "forces": results.plot_forces(),
        "fibres": results.plot_fibres(),
        "simulation": tresse.plot_fibres(simulation, title="now"),
        "side": tresse.plot_fibres(simulation, side="side"),
        "steps": results.plot_convergence(),
        "solver": tresse.plot_convergence(solution),
    }
    assert plt.rcParams["axes.grid"] == before
    (axis,) = figures["side"].axes
    assert (axis.elev, axis.azim, axis.get_xlabel(), axis.get_ylabel()) == (0, 0, "", "y [m]")
    with pytest.raises(tresse.InvalidInput, match="side: found 'aside', expected one of: front, back"):
        results.plot_fibres(side="aside")
    for name, figure in figures.items():
        figure.savefig(tmp_path / f"{name}.png")
        assert (tmp_path / f"{name}.png").stat().st_size > 5000
        plt.close(figure)
    assert figures["fibres"].axes[0].get_title() == "t = 0.2 s"
    line = figures["forces"].axes[0].lines[0]
    assert line.get_label() == "magnitude" and np.max(line.get_ydata()) > 0
