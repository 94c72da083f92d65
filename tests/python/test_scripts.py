"""The scripts of the project say how they are called, and do nothing then."""

import os
import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDERS = ("tools", "examples", "validation", "benchmarks")


def scripts():
    """Files that begin with #! and are no library, as (path, words that start it)."""
    for path in sorted(p for folder in FOLDERS for p in (ROOT / folder).rglob("*") if p.is_file() and "__pycache__" not in p.parts):
        with open(path, "rb") as stream:
            first = stream.readline(80)
        if first.startswith(b"#!"):
            yield pytest.param([sys.executable, "-B"] if b"python" in first else ["bash"], path, id=str(path.relative_to(ROOT)))


@pytest.mark.parametrize("start, path", scripts())
def test_help_is_told_and_nothing_is_done(start, path, tmp_path):
    before = set(path.parent.iterdir())
    result = subprocess.run([*start, path, "--help"], cwd=tmp_path, env={**os.environ, "MPLBACKEND": "Agg"}, capture_output=True,
                            text=True, timeout=100)  # fmt: skip
    assert result.returncode == 0 and result.stdout.startswith("usage: ") and not result.stderr, result
    assert not list(tmp_path.iterdir()) and set(path.parent.iterdir()) == before
