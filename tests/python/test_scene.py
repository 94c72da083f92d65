"""Scenes from dicts and files go through one reader."""

import re

import numpy as np
import pytest
import tresse

HAIR = {"name": "hair", "material": "human-hair", "length": "10 cm", "elements": 4, "radius": "40 um"}


def test_a_dict_is_the_scene_of_the_same_toml():
    toml = """
    title = "a \\"wisp\\""
    [simulation]
    time_step = 2e-3
    gravity = [0, 0, -1.5]
    [contact]
    self_contact = false
    [parameters]
    size = "10 cm"
    [[fibres]]
    name = "hair"
    material = "human-hair"
    length = "${size}"
    elements = 4
    radius = "40 um"
    natural_curvature = [[0, 0, 1], [0, 0, 2], [0, 0, 3], [0, 0, 4.5]]
    """
    curvature = np.zeros((4, 3))
    curvature[:, 2] = (1, 2, 3, 4.5)
    tables = {
        "title": 'a "wisp"',
        "simulation": {"time_step": np.float64(2e-3), "gravity": (0, 0, -1.5)},
        "contact": {"self_contact": np.bool_(False)},
        "parameters": {"size": "10 cm"},
        "fibres": [{**HAIR, "length": "${size}", "elements": np.int64(4), "natural_curvature": curvature}],
    }
    scene = tresse.Scene(tables)
    assert scene.resolved() == tresse.Scene.parse(toml).resolved()
    assert scene.title == 'a "wisp"' and scene.time_step == 2e-3
    assert scene.parameters["size"] == (0.1, "m", "10 cm", "")
    assert tresse.Scene(tables, {"size": "20 cm", "simulation.duration": 3}).duration == 3


def test_who_chooses_the_time_step_says_why():
    assert tresse.Scene({"simulation": {"time_step": 1e-3}, "fibres": [HAIR]}).time_step_reason == ""
    for simulation in ({}, {"time_step": "auto"}):
        scene = tresse.Scene({"simulation": {**simulation, "duration": 1e-3}, "fibres": [HAIR]})
        assert (scene.time_step, scene.time_step_reason) == (5e-5, "the duration is 0.001 s: at least 20 steps")
    with pytest.raises(tresse.InvalidInput, match='expected a time .*, or "auto"'):
        tresse.Scene({"simulation": {"time_step": "automatic"}, "fibres": [HAIR]})


def test_every_setting_of_the_schema_is_taken():
    """Keys, defaults and ranges come from the lists that the reader follows: what the schema says, a dict may say."""
    tables = tresse.Scene.schema()["definitions"]
    defaults = {name: {key: of["default"] for key, of in tables[name]["properties"].items() if "default" in of}
                for name in ("simulation", "contact", "solver", "output", "statics")}  # fmt: skip
    assert sum(map(len, defaults.values())) > 30
    scene = tresse.Scene({"fibres": [HAIR]})
    assert tresse.Scene({"fibres": [HAIR], **defaults}).resolved() == scene.resolved()
    for name, values in defaults.items():
        for key, value in values.items():
            if not isinstance(value, list):
                assert tresse.Scene({"fibres": [HAIR]}, {f"{name}.{key}": value}).resolved() == scene.resolved()
        with pytest.raises(tresse.InvalidInput, match=f"unknown key \"misspelt\" in {name}"):
            tresse.Scene({"fibres": [HAIR], name: {"misspelt": 1}})


def test_load_with_parameters(scenes):
    scene = tresse.Scene.load(scenes / "comb.toml", {"friction": 0.3}, fibres=4, fibre_contact=False)
    assert scene.parameters["fibres"].value == 4.0
    assert scene.parameters["friction"].value == 0.3
    assert scene.parameters["fibre_contact"].value is False
    assert "count = 4" in scene.resolved()
    assert re.search(r"^#   friction = 0.3 \(set; the scene itself has 0.1\)", scene.resolved(), re.M), scene.resolved()[:900]
    assert tresse.Scene(scenes / "comb.toml", {"friction": 0.3, "fibres": 4, "fibre_contact": False}).resolved() == scene.resolved()


def test_a_refused_parameter_is_called_an_argument(scenes):
    """What a user of Python gave is an argument, not the program's --set."""
    for more, words in (({"lenght": 1}, r'argument lenght=1: .* has no parameter "lenght"; did you mean "length"'),
                        ({"length": -1}, r"\(argument length=-1\); expected a length")):  # fmt: skip
        with pytest.raises(tresse.InvalidInput, match=words):
            tresse.Scene.load(scenes / "cantilever.toml", **more)
    with pytest.raises(tresse.InvalidInput, match="argument simulation.time_step=1 m: .* is a length"):
        tresse.Scene({"fibres": [HAIR]}, {"simulation.time_step": "1 m"})


ENDLESS = {"fibres": []}
ENDLESS["fibres"].append(ENDLESS)


@pytest.mark.parametrize("tables, words", [
    (ENDLESS, "tables within tables without end"),
    ({}, "no ..fibres.."),
    ([], "found list, expected a dict of tables or a file"),
    ({"fibres": [{**HAIR, "radius": -1}]}, "fibres.hair.radius is -1"),
    ({"fibres": [HAIR], "simulation": {"timestep": 1}}, "scene:4:1: .*timestep"),
    ({"fibres": [HAIR], "simulation": {"time_step": None}}, "scene: simulation.time_step is NoneType; expected a number"),
    ({"fibres": [{**HAIR, "length": float("nan")}]}, "nan"),
    ({"fibres": [{**HAIR, "name": "a\n\x01\"b", "radius": -1}]}, "radius is -1"),
    ({"fibres": HAIR}, "fibres"),
])  # fmt: skip
def test_bad_scenes_are_one_line(tables, words):
    with pytest.raises(tresse.InvalidInput, match=words) as caught:
        tresse.Scene(tables)
    assert "\n" not in str(caught.value)


def test_bad_parameters_and_files(scenes, tmp_path):
    with pytest.raises(tresse.InvalidInput, match="fibers.*fibres"):
        tresse.Scene.load(scenes / "comb.toml", fibers=3)
    with pytest.raises(tresse.InvalidInput, match="parameter fibres: found list"):
        tresse.Scene.load(scenes / "comb.toml", fibres=[3])
    with pytest.raises((tresse.InvalidInput, OSError), match="nothing.toml"):
        tresse.Scene.load(tmp_path / "nothing.toml")
