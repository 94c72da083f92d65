"""A test from outside in parts: NAME_test.py PART --program TRESSE. What such tests share."""

import argparse
import pathlib
import subprocess
import tempfile


def run(program, folder, *words, status=0):
    result = subprocess.run([program, *words], cwd=folder, capture_output=True, text=True, timeout=300)
    assert result.returncode == status, f"{words}: {result.returncode}, {result.stderr}"
    return result


def sets(*values):
    return [word for value in values for word in ("--set", value)]


def run_part(parts):
    """Runs the checks of the part that the command line names, each with the program and one folder for all."""
    parser = argparse.ArgumentParser()
    parser.add_argument("part", choices=parts)
    parser.add_argument("--program", required=True)
    arguments = parser.parse_args()
    program = str(pathlib.Path(arguments.program).resolve())
    with tempfile.TemporaryDirectory() as name:
        for check in parts[arguments.part]:
            check(program, pathlib.Path(name))
            print(f"{check.__name__}: passed")
