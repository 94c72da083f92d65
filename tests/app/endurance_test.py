#!/usr/bin/env python3
"""Runs that are followed, killed or go wrong: endurance_test.py --program TRESSE."""

import argparse
import csv
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

import h5py

ROOT = pathlib.Path(__file__).resolve().parents[2]
COMB = str(ROOT / "scenes/comb.toml")
SWING = str(ROOT / "scenes/swing.toml")
PERVERSION = str(ROOT / "scenes/perversion.toml")
sys.path.insert(0, str(ROOT / "python"))
sys.dont_write_bytecode = True
import tresse_frames  # noqa: E402

SECONDS = 300
# Two turns a step: the integrator loses it after some steps. What flies apart is not to meet itself, which cuts steps.
SPINNING = """simulation = { time_step = 1e-2, duration = 10, scheme = "semi-implicit" }
contact.self_contact = false
[[fibres]]
name = "hair"
material = "flagellum"
length = "10 cm"
elements = 4
radius = "1 mm"
root = { condition = "free", angular_velocity = [0, 1e3, 0] }
"""


def call(program, arguments, folder):
    return subprocess.run([program, *arguments], cwd=folder, capture_output=True, text=True, timeout=SECONDS)


def summary(folder, name):
    return json.loads(pathlib.Path(folder, name, "summary.json").read_text(encoding="utf-8"))


def looked_at(program, folder, state):
    """What a reader of the folder `run` gets."""
    small = ["--width", "32", "--height", "24", "--samples", "1"]
    for arguments in (["plot", "run", "-o", "a.png"], ["plot", "run", "-o", "a.png", "--what", "energies"],
                      ["render", "run", "-o", "b.png", *small]):  # fmt: skip
        result = call(program, arguments, folder)
        yield f"{arguments[0]} of a run {state}", [] if result.returncode == 0 else [result.stderr]
    frames = list(tresse_frames.frames(pathlib.Path(folder, "run")))
    steps = [int(frame["step"]) for frame in frames]
    points = tresse_frames.layout(pathlib.Path(folder, "run"))["fibres/arc_length"].size
    whole = all(frame["fibres/points"].shape == (points, 3) for frame in frames)
    good = len(steps) >= 5 and steps == list(range(0, 40 * len(steps), 40)) and whole
    yield f"frames of a run {state}", [] if good else [str(steps)]
    last = call(program, ["render", "run", "-o", "c.png", "--frame", str(len(steps) - 1), *small], folder)
    yield f"last frame of a run {state}", [] if last.returncode == 0 else [last.stderr]


def followed(program):
    """A run is read while it goes on, after it was killed, and after it ended."""
    long_run = [program, "run", COMB, "-o", "run", "--quiet", "--threads", "1", "--set", "natural_curvature=200",
                "--set", "elements=32", "--set", "duration=100"]  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        run = pathlib.Path(folder, "run")
        with subprocess.Popen(long_run, cwd=folder) as process:
            while not (run / "trajectory.log").exists():
                time.sleep(0.02)
            coming = tresse_frames.follow(run, pause=0.05)
            times = [float(next(coming)["time"]) for _ in range(8)]
            good = process.poll() is None and times == sorted(set(times))
            yield "frames followed", [] if good else [str(times)]
            time.sleep(1.5)  # the tables reach the disk once a second
            yield from looked_at(program, folder, "under way")
            yield "still under way", [] if process.poll() is None else ["the run ended too early for this test"]
            process.send_signal(signal.SIGKILL)
        with open(run / "steps.csv", "a", encoding="utf-8") as stream:
            stream.write("0.5,1")  # as a power cut may leave it
        yield from looked_at(program, folder, "killed")
        frames = len(list(tresse_frames.frames(run)))
        again = len(list(tresse_frames.follow(run, pause=0.01, patience=0.1)))
        yield "killed run followed", [] if again == frames else [f"{again} of {frames} frames"]
        until = 0.04 * (frames + 5)
        result = call(program, [*long_run[1:], "--until", str(until), "--resume"], folder)
        yield "resumed", [] if result.returncode == 0 else [result.stderr]
        (run / "trajectory.log").unlink()  # as after a normal end
        yield from looked_at(program, folder, "ended")
        steps = [int(frame["step"]) for frame in tresse_frames.follow(run)]
        good = steps == list(range(0, 40 * (frames + 6), 40))
        yield "frames of the whole run", [] if good else [str(steps)]


def told(program):
    """What goes wrong is said, kept, counted, and the same when the run was cut in two."""
    with tempfile.TemporaryDirectory() as folder:
        pathlib.Path(folder, "s.toml").write_text(SPINNING, encoding="utf-8")
        whole = call(program, ["run", "s.toml", "-o", "whole", "--quiet"], folder)
        rows = pathlib.Path(folder, "whole/remarks.csv").read_text(encoding="utf-8").splitlines()
        kinds = {row.split(",")[2] for row in rows[1:]}
        lines = [line for line in whole.stderr.splitlines() if "try time_step" in line]
        good = whole.returncode == 4 and len(lines) == len(rows) - 1 and kinds == {"energy", "runaway"}
        yield "a run that diverges is told", [] if good else [whole.stderr, *rows]
        counted = summary(folder, "whole")["remarks"]
        good = kinds == set(counted) and "see remarks.csv" in summary(folder, "whole")["sentence"]
        yield "and counted", [] if good else [str(counted)]
        for more in (["--until", "0.02"], ["--resume"]):
            call(program, ["run", "s.toml", "-o", "cut", "--quiet", *more], folder)
        same = summary(folder, "cut")["remarks"] == counted and rows == pathlib.Path(
            folder, "cut/remarks.csv").read_text(encoding="utf-8").splitlines()  # fmt: skip
        yield "the same when resumed", [] if same else [str(summary(folder, "cut")["remarks"]), str(counted)]
        # At 14.312 s two windings slide by thirty radii in a step, and once went through each other.
        quiet = call(program, ["run", COMB, "-o", "whole", "--set", "natural_curvature=100", "--until", "14.4", "--quiet"],
                     folder)  # fmt: skip
        good = quiet.returncode == 0 and not quiet.stderr and not pathlib.Path(folder, "whole/remarks.csv").exists()
        cuts_alone = set(summary(folder, "whole")["remarks"]) <= {"cut-steps"}
        yield "nothing to tell", [] if good and cuts_alone else [quiet.stderr]


def figures_of(folder, name):
    """What a run leaves that must not depend on where it was cut: all but wall-clock figures."""
    run = pathlib.Path(folder, name)
    with open(run / "steps.csv", newline="", encoding="utf-8") as stream:
        steps = [[value for key, value in row.items() if not key.startswith("t_")] for row in csv.DictReader(stream)]
    told = {key: value for key, value in summary(folder, name).items()
            if key not in ("wall_seconds", "phases", "peak_memory_bytes")}  # fmt: skip
    loads = [run / name for name in ("holds.csv", "roots.csv")]
    return [steps, told, (run / "trajectory.h5").read_bytes(), *(one.read_bytes() if one.exists() else b"" for one in loads)]


def steps_kept(folder, name):
    """Of the run's checkpoint; 0 when there is none."""
    checkpoint = pathlib.Path(folder, name, "checkpoint.h5")
    if not checkpoint.exists():
        return 0
    with h5py.File(checkpoint) as file:
        return int(file["state/step"][()])


def resumed(program):
    """Killed in the middle, once a checkpoint after the first step is there, and gone on with: rods whose states carry more than curvatures,
    and steps that are iterated."""
    cases = {"discrete elastic rod": [SWING, "model=discrete-elastic-rod", "elements=30", "duration=30"],
             "discrete elastic rod, theta 1/2": [SWING, "model=discrete-elastic-rod", "elements=30", "duration=30",
                                                 "theta=0.5"],
             "nonlinear, theta 1/2": [SWING, "scheme=nonlinear", "theta=0.5", "duration=20"],
             "held points": [PERVERSION, "elements=30", "duration=14"]}  # fmt: skip
    for name, (scene, *words) in cases.items():
        run = [program, "run", scene, "--quiet", "--threads", "1", *(word for pair in words for word in ("--set", pair))]
        with tempfile.TemporaryDirectory() as folder:
            with subprocess.Popen([*run, "-o", "cut"], cwd=folder) as process:
                while process.poll() is None and steps_kept(folder, "cut") == 0:
                    time.sleep(0.05)
                early = process.poll() is None
                process.send_signal(signal.SIGKILL)
            again = call(program, [*run[1:], "-o", "cut", "--resume"], folder)
            whole = call(program, [*run[1:], "-o", "whole"], folder)
            good = early and again.returncode == 0 and whole.returncode == 0
            yield f"{name}, killed and resumed", [] if good else ["ended too early for this test", again.stderr, whole.stderr]
            same = good and figures_of(folder, "cut") == figures_of(folder, "whole")
            yield f"{name}, same bits", [] if same else ["differs from the run that was not cut"]


def resumed_from_state(program):
    """A run that set out from a packed state goes on from its own checkpoint, not from that state again."""
    with tempfile.TemporaryDirectory() as folder:
        scene = [COMB, "--set", "fibres=3", "--set", "duration=1"]
        for arguments in (["run", *scene, "-o", "before", "--until", "0.05", "--quiet"],
                          ["bench", "state", "before/checkpoint.h5", *scene, "-o", "state.h5"]):  # fmt: skip
            result = call(program, arguments, folder)
            yield f"{arguments[0]} for a state", [] if result.returncode == 0 else [result.stderr]
        for words in (["-o", "cut", "--until", "0.07"], ["-o", "cut", "--resume", "--until", "0.1"],
                      ["-o", "whole", "--until", "0.1"]):  # fmt: skip
            result = call(program, ["run", "state.h5", "--quiet", *words], folder)
            yield f"state run {' '.join(words)}", [] if result.returncode == 0 else [result.stderr]
        same = steps_kept(folder, "cut") == 100 and figures_of(folder, "cut") == figures_of(folder, "whole")
        yield "a state's run, same bits", [] if same else ["differs from the run that was not cut"]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True)
    program = os.path.abspath(parser.parse_args().program)
    found = [*followed(program), *told(program), *resumed(program),
             *resumed_from_state(program)]
    bad = [(name, wrong) for name, wrong in found if wrong]
    for name, wrong in bad:
        print(f"{name}: {'; '.join(wrong)}")
    print(f"{len(found)} cases, {len(bad)} bad")
    return 1 if bad or not found else 0


if __name__ == "__main__":
    raise SystemExit(main())
