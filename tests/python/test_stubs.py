"""The stub of the compiled module names what is in it, and everything public has a docstring."""

import ast
import inspect
import pathlib

import tresse
import tresse._core


def members_of(stub):
    tree = ast.parse(stub)
    out = {}
    for item in tree.body:
        if isinstance(item, ast.ClassDef):
            names = {getattr(m, "name", None) or m.target.id for m in item.body if isinstance(m, (ast.FunctionDef, ast.AnnAssign))}
            out[item.name] = names - {"__init__"}
        elif isinstance(item, ast.FunctionDef):
            out[item.name] = set()
        elif isinstance(item, ast.AnnAssign):
            out[item.target.id] = set()
    return out


def test_the_stub_is_complete():
    stub = pathlib.Path(tresse.__file__).with_name("_core.pyi").read_text(encoding="utf-8")
    said = members_of(stub)
    there = {name: getattr(tresse._core, name) for name in dir(tresse._core) if not name.startswith("_")}
    assert set(said) == set(there)
    for name, value in there.items():
        if inspect.isclass(value) and not issubclass(value, Exception):
            assert said[name] == {m for m in vars(value) if not m.startswith("_")}, name


def test_everything_public_is_documented():
    for module in (tresse, tresse.rods, tresse.friction):
        for name in module.__all__:
            value = getattr(module, name)
            if callable(value) and not issubclass(type(value), type(Exception)):
                assert inspect.getdoc(value), name
