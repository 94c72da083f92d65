"""A test from outside in parts: NAME_test.py PART --program TRESSE."""

import argparse
import pathlib
import tempfile


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
