#!/usr/bin/env python3
"""tresse bench on a wisp of four hairs, and on rods: bench_test.py --program TRESSE. The keys that others read, and what is refused."""

import argparse
import json
import math
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

SCENE = pathlib.Path(__file__).resolve().parents[2] / "scenes/comb.toml"
PLOT = str(SCENE.parents[1] / "tools/plot_benchmarks")
NAMES = ("straight", "wavy", "curly", "wavy-dirty", "coiled")
WISP = ["--set", "fibres=4", "--set", "elements=4", "--set", "settle_time=0.02", "--set", "entry_time=2",
        "--set", "duration=1"]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True)
    program = os.path.abspath(parser.parse_args().program)
    bad = []

    def check(what, ok):
        if not ok:
            bad.append(what)

    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)

        def tresse(*words):
            return subprocess.run([program, *map(str, words)], cwd=folder, capture_output=True, text=True, timeout=500)

        def figures(*words):
            result = tresse("bench", *words, "-o", "out.json")
            if result.returncode != 0:
                raise SystemExit(f"tresse bench {words}: {result.stderr}")
            return json.loads((folder / "out.json").read_text(encoding="utf-8"))

        run = tresse("run", SCENE, "-o", "run", *WISP, "--until", "0.05", "--quiet", "--record-pairs", "pairs.json")
        check("run: " + run.stderr, run.returncode == 0)
        (folder / "states").mkdir()
        for state in NAMES:
            copies = ["--copies", "3", "--apart", "0.02"] if state == "wavy" else []
            packed = tresse("bench", "state", "run/checkpoint.h5", SCENE, *WISP, *copies, "-o", f"states/{state}.h5")
            check(f"state {state}: {packed.stderr}", packed.returncode == 0)
        states = ["--states", "states", "--quick"]

        out = figures("steps", *states, "--steps", "2")
        check("five rows", [row["name"] for row in out["rows"]] == [*NAMES])
        for row in out["rows"]:
            keys = ("fibres", "contacts", "step_s", "detection_s", "assembly_s", "solve_s", "residual", "tolerance", "threads")
            check(f"keys of a row: {row}", all(isinstance(row[key], (int, float)) for key in keys))
            check("copies of the wisp", row["fibres"] == (12 if row["name"] == "wavy" else 4))
            check("phases within the step", row["detection_s"] + row["assembly_s"] + row["solve_s"] <= 1.01 * row["step_s"])
        check("the tolerance asked for", {row["tolerance"] for row in out["rows"]} == {1e-9})

        out = figures("distance", *states, "--trace", "pairs.json")
        for key in ("segment_test_ns", "certified_colliding_ns", "certified_rejected_ns", "branch_and_bound_colliding_ns",
                    "segments_colliding_ns"):
            check(f"distance: {key}", isinstance(out[key], (int, float)))
        check("a segment test takes nanoseconds", 0.5 < out["segment_test_ns"] < 500.0)

        out = figures("rods", "--quick")
        check("three curves", [case["turns"] for case in out["darboux"]] == [1, 10, 50])
        for case in out["darboux"]:
            check("the series is exact", case["series"]["error"] < 1e-13 and case["series"]["seconds"] > 0)
            for method, order in (("euler", 1), ("lie_euler", 1), ("rk2", 2), ("rk4", 4)):
                rows = case[method]["rows"]
                good = all(row["seconds"] > 0 and row["error"] > 0 and row["steps"] == 16 * 2**i for i, row in enumerate(rows))
                check(f"{method}: rows", good and len(rows) >= 4)
                if case["turns"] == 1:  # far from rounding and from steps of a turn
                    steady = [row["error"] for row in rows if 1e-9 < row["error"] < 1e-2]
                    check(f"{method}: order {steady}", 0.7 < math.log2(steady[-2] / steady[-1]) / order < 1.3)
        check("two rods", [case["rod"] for case in out["equilibria"]] == ["straight", "curly"])
        for case in out["equilibria"]:
            for model, order in (("super-clothoid", 4), ("super-helix", 2), ("discrete-elastic-rod", 2)):
                rows = case["models"][model]["rows"]
                check(f"{model}: rows", len(rows) >= 3 and all(
                    row["converged"] and row["seconds"] > 0 and row["unknowns"] >= 3 * row["elements"] for row in rows))
                gained = math.log2(rows[-2]["error"] / rows[-1]["error"])
                check(f"{case['rod']} {model}: order {gained}", 0.75 * order < gained < 1.3 * order)
        (folder / "plots").mkdir()
        shutil.copy(folder / "out.json", folder / "plots/rods.json")
        shutil.copy(folder / "out.json", folder / "plots/rods_again.json")
        drawn = subprocess.run([sys.executable, PLOT, "plots", "plots"], cwd=folder, capture_output=True, text=True, timeout=300)
        check("plot of rods: " + drawn.stderr, drawn.returncode == 0)
        for figure, words in (("rod_integrators", "Lie-Euler"), ("rod_equilibria", "straight rod, orders 4.")):
            file = folder / f"plots/{figure}.svg"
            check(f"{figure}.svg says {words}", file.exists() and words in file.read_text(encoding="utf-8"))

        missing = tresse("bench", "steps", "--states", "nowhere", "-o", "none.json")
        check("missing states: one line", missing.returncode == 2 and missing.stderr.count("\n") == 1)
        check("missing states: nothing written", not (folder / "none.json").exists())
        other = tresse("bench", "state", "run/checkpoint.h5", SCENE, "-o", "wrong.h5")
        check("other fibres: one line", other.returncode == 2 and other.stderr.count("\n") == 1)
        check("other fibres: nothing written", not (folder / "wrong.h5").exists())
    for what in bad:
        print("failed:", what)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
