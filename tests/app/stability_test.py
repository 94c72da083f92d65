#!/usr/bin/env python3
"""Random undamped scenes of a rope, a drum, a floor and a hold: none may stop being finite, whatever its time step.

  stability_test.py --program TRESSE                                              the share that the tests run
  stability_test.py --program TRESSE --scenes 0:100 --steps 4e-3,1e-3,1e-4 --duration 10 --jobs 16 --table out.csv

A row of the table is a scene at a step: verdict, wall seconds, steps, and the sentence of the verdict.
"""

import argparse
import concurrent.futures
import csv
import json
import os
import pathlib
import subprocess
import tempfile

import numpy as np

SHARE = (6, 15, 25, 29, 36, 54, 66, 83, 97)  # each stopped being finite, or gained energy, in a version before


def scene(seed, time_step, duration):
    """A rope that is clamped level and falls."""
    random = np.random.default_rng(1000 + seed)
    model = random.choice(["super-helix", "super-clothoid", "discrete-elastic-rod"])
    elements = int(random.integers(6, 17))
    length = random.uniform(0.2, 1.0)
    radius = 10 ** random.uniform(-3.3, -2.3)
    young_modulus = 10 ** random.uniform(5.5, 7.5)
    if model == "discrete-elastic-rod":
        elements *= 2
    kind = random.choice(["drum", "floor", "drum+floor", "hold+floor", "hold+drum"])
    obstacles, hold = "", ""
    if "drum" in kind:
        top, thick = -random.uniform(0.02, 0.15), random.uniform(0.01, 0.05)
        begin, end = random.uniform(0.25, 0.7) * length, random.uniform(0.25, 0.7) * length
        obstacles += f"""[[obstacles]]
name = "drum"
shape = "capsule"
from = [{begin}, -0.3, {top - thick}]
to = [{end}, 0.3, {top - thick}]
radius = {thick}
"""
    if "floor" in kind:
        obstacles += f"""[[obstacles]]
name = "floor"
shape = "plane"
point = [0, 0, {-random.uniform(0.1, 0.6) * length - radius}]
normal = [0, 0, 1]
"""
    if "hold" in kind:
        hold = f"holds = [{{ at = {length if random.random() < 0.6 else length * random.uniform(0.4, 1)} }}]"
    curvature = [0, float(random.normal() * 2 / length) if random.random() < 0.5 else 0, float(random.normal() * 2 / length)]
    friction = 0 if random.random() < 0.5 else 0.3
    text = f"""simulation = {{ time_step = {time_step}, duration = {duration} }}
output = {{ every = 100000 }}
friction = {{ default = {friction} }}
materials.m = {{ density = 1100, young_modulus = {young_modulus}, poisson_ratio = 0.4, damping_time = 0 }}
[[fibres]]
name = "rope"
model = "{model}"
material = "m"
length = {length}
elements = {elements}
radius = {radius}
natural_curvature = {curvature}
{hold}
{obstacles}"""
    return f"{model}, {kind}", text


def run(program, seed, time_step, duration):
    """A row of the table."""
    what, text = scene(seed, time_step, duration)
    row = {"scene": seed, "what": what, "time_step": time_step}
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "s.toml")
        path.write_text(text, encoding="utf-8")
        command = [program, "run", path, "-o", f"{folder}/o", "--quiet", "--push-out", "--threads", "1"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        summary = pathlib.Path(folder, "o/summary.json")
        if not summary.exists():
            return {**row, "verdict": "refused", "told": done.stderr.strip()}
        found = json.loads(summary.read_text(encoding="utf-8"))
    finite = "finite" not in found["sentence"]
    return {**row, "verdict": found["severity"] if finite else "not finite", "seconds": f"{found['wall_seconds']:.1f}",
            "steps": found["steps"], "sentence": found["sentence"], "told": done.stderr.strip()}  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", required=True)
    parser.add_argument("--scenes", default=",".join(map(str, SHARE)), help="numbers, or FIRST:LAST")
    parser.add_argument("--steps", default="4e-3,1e-3", help="time steps [s]")
    parser.add_argument("--duration", type=float, default=0.6, help="[s]")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--table", help="CSV to write")
    options = parser.parse_args()
    program = str(pathlib.Path(options.program).resolve())
    first, _, last = options.scenes.partition(":")
    seeds = range(int(first), int(last)) if last else [int(seed) for seed in options.scenes.split(",")]
    cases = [(seed, float(step)) for step in options.steps.split(",") for seed in seeds]
    cases.sort(key=lambda case: case[1])  # the longest first
    counts = {}
    with open(options.table or os.devnull, "w", encoding="utf-8", newline="") as stream:
        table = csv.DictWriter(stream, ["scene", "what", "time_step", "verdict", "seconds", "steps", "sentence", "told"])
        table.writeheader()
        with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
            runs = [pool.submit(run, program, *case, options.duration) for case in cases]
            for done in concurrent.futures.as_completed(runs):
                row = done.result()
                table.writerow(row)
                stream.flush()
                counts[row["verdict"]] = counts.get(row["verdict"], 0) + 1
                if row["verdict"] == "not finite":
                    print(f"{row['scene']} ({row['what']}) at {row['time_step']} s: {row['sentence']}", flush=True)
    print(", ".join(f"{count} {verdict}" for verdict, count in sorted(counts.items())))
    return 1 if "not finite" in counts or len(cases) == counts.get("refused", 0) else 0


if __name__ == "__main__":
    raise SystemExit(main())
