#!/usr/bin/env python3
"""The JSON schema of scenes: schema_test.py --program TRESSE.

The schema is made from the lists that the reader follows (src/tresse/scene_file/scene_schema.cpp). Here both judge the same
scenes: those that ship, the smallest of every table, each of these without each key that is needed, and the hostile
ones.
"""

import argparse
import copy
import importlib.machinery
import importlib.util
import json
import pathlib
import subprocess
import sys
import tempfile
import tomllib

import jsonschema

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCENES = sorted((ROOT / "scenes").glob("*.toml"))
HOSTILE = ROOT / "tests/data/hostile_scenes/cases.json"

FIBRE = {"name": "hair", "material": "nylon", "length": 0.1, "elements": 2, "radius": 1e-3}
BRANCH = {**FIBRE, "name": "twig", "root": {"parent": "hair", "at": 0.05}}
# Every table as small as it can be, and its place. A list holds the way to the table whose needed keys are taken away.
SMALLEST = [
    (["fibres", 0], {"fibres": [FIBRE]}),
    (["fibres", 0, "growth"], {"fibres": [{**FIBRE, "growth": {"factor": 2, "end": 1}}]}),
    (["fibres", 0, "section"], {"fibres": [{**{k: v for k, v in FIBRE.items() if k != "radius"},
                                            "section": {"half_axis_1": 1e-3, "half_axis_2": 2e-3}}]}),
    (["fibres", 0, "grid"], {"fibres": [{**FIBRE, "grid": {"count": 4, "spacing": "1 cm"}}]}),
    (["fibres", 0, "cap"], {"fibres": [{**FIBRE, "cap": {"radius": "1 cm"}}]}),
    (["fibres", 0, "holds", 0], {"fibres": [{**FIBRE, "holds": [{}]}]}),
    (["fibres", 0, "root"], {"fibres": [{**FIBRE, "root": {"condition": "free"}}]}),
    (["fibres", 1, "root"], {"fibres": [FIBRE, BRANCH]}),
    (["simulation"], {"fibres": [FIBRE], "simulation": {}}),
    (["simulation", "wind"], {"fibres": [FIBRE], "simulation": {"wind": {"gust": [1, 0, 0], "period": 1}}}),
    (["materials", "own"], {"fibres": [FIBRE], "materials": {"own": {"preset": "wool"}}}),
    (["friction", "pairs", 0], {"fibres": [FIBRE], "friction": {"pairs": [{"between": ["nylon", "nylon"], "coefficient": 0.1}]}}),
    *[(["obstacles", 0], {"fibres": [FIBRE], "obstacles": [{"name": "it", **shape}]}) for shape in (
        {"shape": "plane", "point": [0, 0, -1], "normal": [0, 0, 1]},
        {"shape": "sphere", "center": [0, 0, -1], "radius": 0.1},
        {"shape": "capsule", "from": [0, 0, -1], "to": [0, 0, -2], "radius": "1 cm"},
        {"shape": "cylinder", "center": [0, 0, -1], "axis": [1, 0, 0], "radius": 0.1, "length": 1},
        {"shape": "comb", "base": [0, 0, -1], "tooth_direction": [0, 0, 1], "row_direction": [0, 1, 0]},
    )],
    (["obstacles", 0, "motion", "keyframes", 0],
     {"fibres": [FIBRE], "obstacles": [{"name": "it", "shape": "sphere", "center": [0, 0, -1], "radius": 0.1,
                                        "motion": {"keyframes": [{"time": 0}]}}]}),
]  # fmt: skip


def toml(value):
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(k)} = {toml(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(toml, value)) + "]"
    return json.dumps(value)


class Judges:
    def __init__(self, program, folder):
        self.program, self.folder = program, folder
        schema = json.loads(subprocess.run([program, "schema"], check=True, capture_output=True, timeout=60).stdout)
        jsonschema.Draft7Validator.check_schema(schema)
        self.validator = jsonschema.Draft7Validator(schema)

    def schema(self, scene):
        """What the schema has against it; empty: nothing."""
        return [error.message[:200] for error in self.validator.iter_errors(scene)]

    def reader(self, text):
        path = self.folder / "scene.toml"
        path.write_text(text, encoding="utf-8")
        return subprocess.run([self.program, "check", path], capture_output=True, text=True, timeout=60).stderr


def shipped(judges):
    for path in SCENES:
        for error in judges.schema(tomllib.loads(path.read_text(encoding="utf-8"))):
            yield f"{path.name}: {error}"


def smallest(judges):
    """Both take it; both refuse it without any of the keys that either needs, and with one that is misspelt."""
    for place, scene in SMALLEST:
        name = ".".join(map(str, place))
        text = "\n".join(f"{key} = {toml(value)}" for key, value in scene.items())
        found, told = judges.schema(scene), judges.reader(text)
        if found or told:
            yield f"{name}: a good one is refused: {found} {told}"
        for key in [*at(scene, place), None]:
            changed = copy.deepcopy(scene)
            table = at(changed, place)
            if key is None:
                table["misspelt"] = 1
            else:
                del table[key]
            text = "\n".join(f"{k} = {toml(v)}" for k, v in changed.items())
            found, told = judges.schema(changed), judges.reader(text)
            needed_by_choice = key in ("preset", "spacing") or place == ["fibres", 0] and key in ("length", "elements", "radius")
            only_one = place == ["fibres", 1, "root"] and key == "parent"  # then it is read as any root, and "at" is wrong
            if bool(found) != bool(told) and not needed_by_choice and not only_one:
                yield f"{name} without {key}: the schema says {found}, the reader {told!r}"


def at(scene, place):
    for step in place:
        scene = scene[step]
    return scene


def hostile(judges):
    """The schema refuses every scene that the reader refuses for a key's name, and none that has TOML's syntax wrong."""
    data = json.loads(HOSTILE.read_text(encoding="utf-8"))
    fibre, twig = "\n".join(data["fibre"]), "\n".join(data["twig"])
    refused = 0
    for case in data["cases"]:
        text = "\n".join(case["text"]).replace("{fibre}", fibre).replace("{twig}", twig).replace("@", "", 1)
        told = judges.reader(text)
        if "unknown key" not in told:
            continue
        refused += 1
        if not judges.schema(tomllib.loads(text)):
            yield f"hostile scene {case['name']}: the schema takes it; the reader: {told}"
    if refused < 3:
        yield f"only {refused} hostile scenes with unknown keys: has the message changed?"


def values(judges):
    """A wrong word, a number out of range and a wrong form are refused; parameters and quantities are not."""
    cases = [({"model": "super-duper"}, True), ({"elements": 0}, True), ({"radius": -1}, True), ({"root": [1]}, True),
             ({"radius": [1e-3, 1e-3]}, False), ({"radius": "1 mm"}, False), ({"elements": "2 * ${n}"}, False),
             ({"model": "${model}"}, False), ({"natural_curvature": [[0, 0, 1], [0, 0, "2 1/m"]]}, False),
             ({"natural_curvature": [0, 1]}, True), ({"drag": True}, True)]  # fmt: skip
    for change, wrong in cases:
        found = judges.schema({"fibres": [{**FIBRE, **change}]})
        if bool(found) != wrong:
            yield f"{change}: {found}"


def tables_of_the_reference(judges):
    """The row that tools/scene_tables makes of a key; tests/io/settings_list_test.cpp proves that a line in a list makes
    such a key."""
    loader = importlib.machinery.SourceFileLoader("scene_tables", str(ROOT / "tools/scene_tables"))
    tables = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    loader.exec_module(tables)
    key = {"description": "before the first frame [s]. Default: 0.25", "default": 0.25,
           "x-tresse": {"meaning": "before the first frame", "unit": "s"},
           "anyOf": [{"type": "number", "minimum": 0.0, "maximum": 2.0}, {"type": "string"}]}  # fmt: skip
    schema = copy.deepcopy(judges.validator.schema)
    schema["definitions"]["output"]["properties"]["pause"] = key
    made = tables.table(schema, "output").splitlines()
    if made[-1] != "| `pause` | s | `0.25` | 0 to 2 | before the first frame |" or len(made) != 6:
        yield f"scene_tables: {made}"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", required=True)
    program = parser.parse_args().program
    wrong = []
    with tempfile.TemporaryDirectory() as folder:
        judges = Judges(program, pathlib.Path(folder))
        for test in (shipped, smallest, hostile, values, tables_of_the_reference):
            wrong += [f"{test.__name__}: {line}" for line in test(judges)]
    tables = subprocess.run([sys.executable, ROOT / "tools/scene_tables", "--program", program, "--check"],
                            capture_output=True, text=True, check=False)  # fmt: skip
    wrong += [tables.stderr.strip()] if tables.returncode else []
    print("\n".join(wrong) or f"the schema agrees with the reader ({len(SCENES)} scenes, {len(SMALLEST)} tables)")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
