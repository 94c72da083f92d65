#!/usr/bin/env python3
"""The wheel: wheel_test.py --build FOLDER --program TRESSE. Makes it without network, installs it into a new virtual
environment that sees Debian's NumPy, and runs the Python tests there."""

import argparse
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
READ = ["pyproject.toml", "setup.py", "CMakeLists.txt", "README.md", "LICENSE"]


def call(folder, environment, *command):
    ended = subprocess.run(list(map(str, command)), cwd=folder, env=environment, capture_output=True, text=True, timeout=500)
    assert ended.returncode == 0, f"{command}: {ended.stdout[-3000:]}{ended.stderr[-3000:]}"
    return ended.stdout


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", required=True, type=pathlib.Path)
    parser.add_argument("--program", required=True, type=pathlib.Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as made:
        work = pathlib.Path(made)
        sources = work / "sources"
        sources.mkdir()
        for name in READ:
            shutil.copy(ROOT / name, sources)
        shutil.copytree(ROOT / "python", sources / "python", ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
        environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
        environment.update(TRESSE_BUILD=str(options.build.resolve()), PIP_DISABLE_PIP_VERSION_CHECK="1",
                           TRESSE_PROGRAM=str(options.program.resolve()), PYTHONDONTWRITEBYTECODE="1")  # fmt: skip
        call(sources, environment, sys.executable, "-m", "pip", "wheel", ".", "--no-build-isolation", "--no-deps", "--no-index",
             "-w", work)  # fmt: skip
        (wheel,) = work.glob("tresse-*.whl")
        call(work, environment, sys.executable, "-m", "venv", "--system-site-packages", "venv")
        python = work / "venv/bin/python3"
        call(work, environment, python, "-m", "pip", "install", "--no-index", "--no-deps", wheel)
        where = call(work, environment, python, "-c", "import tresse; print(tresse.__file__)")
        assert where.startswith(str(work / "venv")), where
        said = call(work, environment, python, "-m", "pytest", "-q", "-p", "no:cacheprovider", ROOT / "tests/python")
        print(wheel.name, said.splitlines()[-1])


if __name__ == "__main__":
    main()
