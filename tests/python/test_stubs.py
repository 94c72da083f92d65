"""The stub of the compiled module names what is in it, and everything public has a docstring."""

import ast
import inspect
import pathlib
import shutil
import subprocess
import sys

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
    for module in (tresse, tresse.rods, tresse.friction, tresse.laws, tresse.fluid, tresse.inverse):
        for name in module.__all__:
            value = getattr(module, name)
            if callable(value) and not issubclass(type(value), type(Exception)):
                assert inspect.getdoc(value), name


def import_of_a_copy(folder, compiled):
    """What `import tresse` says last, where the package's compiled part is `compiled`, a name and its bytes."""
    source = pathlib.Path(tresse.__file__).resolve().parent
    shutil.copytree(source, folder / "tresse", ignore=shutil.ignore_patterns("_core*", "__pycache__"))
    for name, content in compiled.items():
        (folder / "tresse" / name).write_bytes(content)
    ended = subprocess.run([sys.executable, "-B", "-c", "import tresse"], cwd=folder, env={"PYTHONPATH": str(folder)},
                           capture_output=True, text=True, timeout=60, check=False)  # fmt: skip
    assert ended.returncode == 1
    return ended.stderr.splitlines()[-1]


def test_the_wrong_interpreter_is_told_the_right_one(tmp_path):
    last = import_of_a_copy(tmp_path, {"_core.cpython-399-x86_64-linux-gnu.so": b""})
    assert "tresse was built for python3.99; " in last and "is Python 3." in last


def test_what_is_missing_is_said(tmp_path):
    assert "./demo --build-only" in import_of_a_copy(tmp_path / "none", {})
    own = pathlib.Path(tresse._core.__file__).name
    last = import_of_a_copy(tmp_path / "broken", {own: b"no library"})
    assert "_core" in last and "circular" not in last
