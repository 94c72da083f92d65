#!/usr/bin/env python3
"""tresse export to HTML, its parts unpacked by this test's own reader: html_test.py --program TRESSE. What a browser
makes of it: viewer/tests/share.mjs and compare.mjs."""

import argparse
import base64
import gzip
import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile

import numpy as np
from export_runs import Run, export, make_run


def parts_of(path):
    """By name, unpacked; numbers are those that are not JSON."""
    text = path.read_text(encoding="utf-8")
    found = re.findall(r'<script type="text/plain" data-part="([^"]+)">([A-Za-z0-9+/=]*)</script>', text)
    return text, {name: gzip.decompress(base64.b64decode(content)) for name, content in found}


def unshuffled(content):
    return np.frombuffer(content, np.uint8).reshape(4, -1).T.tobytes()


def points_of(frame):
    """(P, 3): sums of sums of integers, times the spacing."""
    count = int(np.frombuffer(frame, "<u4", 1, 16)[0])
    spacing = float(np.frombuffer(frame, "<f4", 1, 28)[0])
    packed = np.frombuffer(frame, "<i4", 3 * count, 32).reshape(3, count)
    return np.cumsum(np.cumsum(packed, axis=1), axis=1).T * spacing, spacing


def holds_what_the_run_holds(program, folder, run):
    export(program, folder, "-o", "page.html", "--frames", "1:5:2")
    text, parts = parts_of(folder / "page.html")
    elements = re.sub(r"<(script|style).*?</\1>", "", text, flags=re.DOTALL)
    assert "src=" not in elements and "href=" not in elements, "the page names a file"
    assert "default-src 'none'" in text and "connect-src" not in text
    state = json.loads(parts["state"])
    assert (state["frames"], state["live"], state["status"]) == (3, False, "finished"), state
    assert (np.frombuffer(unshuffled(parts["times"])) == run.time[[1, 3, 5]]).all(), "times"
    assert json.loads(parts["run"])["group_names"] == run.groups
    for number, frame in enumerate((1, 3, 5)):
        content = unshuffled(parts[f"frame/{number}"])
        points, spacing = points_of(content)
        assert 0 < spacing <= run.radius.min() / 16, f"spacing {spacing}"
        off = np.abs(points - run.points[frame]).max()
        assert off <= 0.51 * spacing, f"points of frame {frame} are off by {off}, rounded to {spacing}"
        tension = np.frombuffer(unshuffled(parts[f"quantity/{number}/tension"]), "<f4")
        assert np.allclose(tension, run.force[frame, :, 0], rtol=2**-12, atol=0), "tension"
        contacts = run.contacts[frame]
        count = len(contacts["gap"])
        numbers = np.frombuffer(content, "<f4", offset=32 + 12 * len(points) + 60 * len(run.obstacles))
        force = numbers[6 * count : 9 * count].reshape(-1, 3)
        assert np.array_equal(force, contacts["force"].astype("<f4")), "contact forces"
    assert len([name for name in parts if name.startswith("quantity/")]) == 18


def holds_two_runs(program, folder, run):
    """The parts of the second begin as the paths of the server do, and are those of a page of its own."""
    shutil.copytree(folder / "run", folder / "again/run")
    subprocess.run([program, "export", "run", "again/run", "-o", "both.html", "--frames", "::3", "--quiet"],
                   cwd=folder, check=True, timeout=300)  # fmt: skip
    export(program, folder, "-o", "one.html", "--frames", "::3")
    both, one = (parts_of(folder / name)[1] for name in ("both.html", "one.html"))
    assert len(json.loads(both["runs"])["runs"]) == 2 and json.loads(both["runs"])["runs"][1] == "again/run"
    first = {name: content for name, content in both.items() if not name.startswith("runs")}
    second = {name.removeprefix("runs/1/"): content for name, content in both.items() if name.startswith("runs/")}
    of_one = {name: content for name, content in one.items() if name != "runs"}
    assert set(first) == set(second) == set(of_one)
    for name, content in of_one.items():
        assert first[name] == content and (second[name] == content or name in ("run", "state")), name


def is_found_by_its_ending_and_its_folder(program, folder, _run):
    for words, made in ((["--format", "html", "-o", "p.html"], "p.html"), (["--format", "html"], "run/export.html")):
        export(program, folder, *words, "--frames", "0")
        assert (folder / made).stat().st_size > 100_000, made


def refusals_are_one_line(program, folder, _run):
    for words, expected in (
        (["run", "-o", "x.html", "--no-contacts"], "--no-contacts"),
        (["run", "-o", "x.html", "--frames", "99"], "frames: no frame 99: the run holds 7"),
        (["run", "--format", "html", "-o", "x.htm"], "x.htm: expected a folder, or a name that ends in .html"),
        (["nowhere", "-o", "x.html"], "nowhere: no such folder"),
        (["run", "large", "--format", "html"], "-o: missing, expected the page for the two runs"),
        (["run", "large", "run", "-o", "x.html"], "3 runs; expected one, or two to see side by side"),
        (["run", "large", "-o", "x.usda"], "2 runs; expected one (html alone holds two)"),
        (["run", "-o", "none/x.html"], "none/x.html"),
        (["large", "-o", "x.html", "--largest-page", "1"], "larger than 1 MB"),
    ):
        result = subprocess.run([program, "export", *words], cwd=folder, capture_output=True, text=True, timeout=100)
        assert result.returncode == 2 and expected in result.stderr, f"{words}: {result.returncode} {result.stderr}"
        assert result.stderr.count("\n") == 1, result.stderr
    assert not list(folder.glob("x*")) and not list(folder.glob("*.tmp")), "something was left half-written"
    # The advice is good.
    stride = re.search(r"--frames (::\d+)", result.stderr)[1]
    words = ["export", "large", "-o", "thin.html", "--largest-page", "1", "--frames", stride, "--quiet"]
    subprocess.run([program, *words], cwd=folder, check=True, timeout=100)
    assert (folder / "thin.html").stat().st_size <= 1_000_000


def make_large_run(program, folder):
    scene = pathlib.Path(__file__).resolve().parents[1] / "readers/scene.toml"
    words = ["run", str(scene), "-o", "large", "--quiet", "--set", "output.every=1", "--set", "simulation.duration=0.5"]
    subprocess.run([program, *words], cwd=folder, check=True, timeout=300)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True)
    program = os.path.abspath(parser.parse_args().program)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        run: Run = make_run(program, folder)
        if not (pathlib.Path(program).parents[1] / "share/tresse/viewer/index.html").exists():
            words = [program, "export", "run", "-o", "x.html"]
            result = subprocess.run(words, cwd=folder, capture_output=True, text=True, timeout=100)
            assert result.returncode == 2 and "page is not built" in result.stderr, result
            return
        make_large_run(program, folder)
        for check in (holds_what_the_run_holds, holds_two_runs, is_found_by_its_ending_and_its_folder, refusals_are_one_line):
            check(program, folder, run)


if __name__ == "__main__":
    main()
