#!/usr/bin/env python3
"""Every command with one call to the system failing: failing_calls_test.py --program TRESSE --shim LIBRARY.

The shim (tests/support/failing_calls.cpp) counts the calls of a command, then makes the n-th fail. However that ends, nothing
may be lost in silence: either an error in one line, or the very bytes of a run without a fault. Where memory runs
out inside HDF5, or while a matrix of Eigen grows, these crash: such an end is counted apart, and it may not be silent
either. TRESSE_FAULTS=all tries every n; --only, --calls and --most choose.
"""

import argparse
import collections
import concurrent.futures
import hashlib
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

import h5py
import numpy as np

DATA = pathlib.Path(__file__).resolve().parents[1] / "data/failing_calls"
FILE_CALLS = ("open", "read", "write", "sync", "close", "cut", "rename", "remove", "folder")
WAYS = [(call, way) for call in (*FILE_CALLS, "memory", "hdf5") for way in ("once", "always")]
WAYS += [("write", "short"), ("read", "short"), ("write", "interrupted"), ("read", "interrupted")]
TIMINGS = {"seconds", "wall_seconds", "phases", "peak_memory_bytes", "machine", "history", "seconds_per_pair"}
# Two turns a step: the integrator loses it after some steps.
SPINNING = """simulation = { time_step = 1e-2, duration = 10, scheme = "semi-implicit" }
[[fibres]]
name = "hair"
material = "flagellum"
length = "10 cm"
elements = 4
radius = "1 mm"
root = { condition = "free", angular_velocity = [0, 1e3, 0] }
"""
CLAMPED = """[[fibres]]
name = "hair"
material = "nylon"
length = "10 cm"
elements = 3
radius = "1 mm"
root = { position = [0, 0, 0] }
"""


class Case:
    """A command, what it starts from and what it writes."""

    def __init__(self, name, words, start=(), outputs=(), resumes=False, share=1.0, kind="tresse", slow=()):
        self.name, self.words, self.start, self.outputs, self.resumes = name, words, start, outputs, resumes
        self.share, self.kind = share, kind  # of the tries in ./check; the program that the fault is in
        self.slow = slow  # one that takes seconds: the calls that ./check tries, once each


RUN = ["run", "scene.toml", "-o", "out", "--quiet", "--threads", "1"]
PICTURE = ["--width", "32", "--height", "24", "--samples", "1", "--threads", "1"]
CASES = [
    Case("run", RUN, resumes=True, share=4.0),
    Case("run over an earlier one", RUN, [("run", "out")], resumes=True),
    Case("run resumed", [*RUN, "--resume"], [("half", "out")], resumes=True),
    Case("run extended", [*RUN, "--resume"], [("short", "out")], resumes=True),
    Case("run with dumps", [*RUN, "--record-pairs", "pairs.json", "--dump-friction", "problems"], share=2.0),
    Case("run from a state", ["run", "run/checkpoint.h5", "-o", "out", "--quiet", "--threads", "1"], [("run", "run")]),
    Case("run that fails", ["run", "spinning.toml", "-o", "out", "--quiet", "--threads", "1"]),
    Case("static", ["static", "clamped.toml", "-o", "out"]),
    Case("invert", ["invert", "clamped.toml", "-o", "out", "--threads", "1"]),
    Case("check", ["check", "scene.toml"]),
    Case("distance", ["distance", "curves.json", "-o", "out.json", "--threads", "1"], [("curves.json", "curves.json")], ["out.json"]),
    Case("fit", ["fit", "strands.csv", "-o", "out", "--elements", "3", "--threads", "1"], [("strands.csv", "strands.csv")]),
    Case("friction", ["friction", "problem.hdf5", "-o", "out.json", "--write-problem", "out.hdf5", "--threads", "1"],
         [("problems/step-3.hdf5", "problem.hdf5")], ["out.json", "out.hdf5"]),
    *[Case(f"export {form}", ["export", "run", "--format", form, "-o", f"out.{ending}", "--quiet"], [("run", "run")], [f"out.{ending}"])
      for form, ending in (("usda", "usda"), ("vtk", "pvd"), ("vtkhdf", "vtkhdf"), ("gltf", "glb"), ("csv", "csv"))],
    Case("export obj", ["export", "half", "--format", "obj", "-o", "out.obj", "--quiet"], [("half", "half")]),
    Case("render", ["render", "run", "-o", "out.png", *PICTURE], [("run", "run")], ["out.png"], share=0.5),
    Case("render frames", ["render", "half", "-o", "out.png", "--frames", "::2", *PICTURE], [("half", "half")], share=0.5),
    Case("render video", ["render", "run", "-o", "out.mp4", *PICTURE], [("run", "run")], ["out.mp4"], share=0.25),
    Case("plot", ["plot", "run", "-o", "out.svg"], [("run", "run")], ["out.svg"], slow=("open",)),
    Case("plot in Python", ["plot", "run", "-o", "out.svg"], [("run", "run")], ["out.svg"], kind="python", slow=("open", "write", "sync", "rename")),
    Case("sweep", ["sweep", "scene.toml", "--vary", "solver.tolerance=1e-9,1e-8", "-o", "out", "--threads", "1", "--until", "0.005",
                   "--quiet", "--strict"], slow=("open", "read", "write", "rename")),
    Case("bench state", ["bench", "state", "run/checkpoint.h5", "scene.toml", "-o", "out.h5"], [("run", "run")], ["out.h5"]),
    Case("schema", ["schema", "-o", "out.json"], outputs=["out.json"]),
    Case("completion", ["completion", "bash", "-o", "out.bash"], outputs=["out.bash"], share=0.5),
]  # fmt: skip


def without_timings(value):
    if isinstance(value, dict):
        return {k: without_timings(v) for k, v in value.items() if k not in TIMINGS}
    return [without_timings(v) for v in value] if isinstance(value, list) else value


def datasets(path):
    """Every dataset and attribute of an HDF5 file, except that sweeps keep times."""
    found = {}

    def visit(name, item):
        values = item[()] if isinstance(item, h5py.Dataset) else b""
        attributes = sorted((k, str(v)) for k, v in item.attrs.items())
        if name not in ("wall_seconds", "peak_memory_bytes"):
            found[name] = (str(getattr(item, "dtype", "")), np.asarray(values).tobytes(), str(attributes))

    with h5py.File(path) as file:
        visit("/", file)
        file.visititems(visit)
    return repr(sorted(found.items())).encode()


def content(path):
    """What has to be equal in two files of the name; the damage where a file cannot be read."""
    try:
        data = path.read_bytes()
        if path.suffix in (".h5", ".hdf5", ".vtkhdf") and data.startswith(b"\x89HDF"):
            data = datasets(path)
        elif path.suffix == ".json" and data.startswith(b"{"):
            data = json.dumps(without_timings(json.loads(data))).encode()
        elif path.name in ("steps.csv", "sweep.csv"):
            rows = [line.split(",") for line in data.decode().splitlines()]
            kept = [i for i, title in enumerate(rows[0]) if not title.startswith(("t_", "wall", "peak"))]
            data = "\n".join(",".join(row[i] for i in kept) for row in rows).encode()
    except Exception as error:  # whatever is wrong with it
        data = f"damaged: {error}".encode()
    return hashlib.sha256(data).hexdigest()


def contents(folder):
    return {
        str(path.relative_to(folder)): content(path)
        for path in sorted(folder.rglob("*"))
        if path.is_file() and (path.suffix != ".log" or path.name == "trajectory.log")
    }


class Harness:
    def __init__(self, program, shim, work):
        self.program, self.shim, self.work = program, shim, work
        self.made = work / "made"
        self.python = pathlib.Path(os.path.realpath(sys.executable)).name

    def call(self, words, folder, **fault):
        environment = dict(os.environ)
        if fault:
            environment.update({f"TRESSE_FAULT_{k.upper()}": str(v) for k, v in fault.items()})
            environment.update(LD_PRELOAD=str(self.shim), TRESSE_FAULT_FOLDER=str(self.work))
        return subprocess.run([self.program, *words], cwd=folder, env=environment, capture_output=True, text=True, timeout=120)

    def make(self):
        """Once: what the cases start from."""
        self.made.mkdir()
        for file in DATA.iterdir():
            shutil.copy(file, self.made)
        scene = self.made / "scene.toml"  # a run that goes on wants its meshes where they were
        scene.write_text(scene.read_text().replace("box.obj", str(self.made / "box.obj")))
        (self.made / "spinning.toml").write_text(SPINNING)
        (self.made / "clamped.toml").write_text(CLAMPED)
        for name, more in (("run", ["--dump-friction", "problems"]), ("half", ["--until", "0.011"]), ("short", ["--until", "0.01"])):
            result = self.call(["run", "scene.toml", "-o", name, "--quiet", "--threads", "1", *more], self.made)
            assert result.returncode == 0, result
        pairs = json.loads((DATA.parent / "helix_pairs/pairs.json").read_text())["pairs"][:3]
        rows = [f"{strand},{0.01 * j},{0.002 * j * j * (strand + 1)},0" for strand in (0, 1) for j in range(8)]
        (self.made / "strands.csv").write_text("strand,x,y,z\n" + "\n".join(rows) + "\n")
        (self.made / "curves.json").write_text(json.dumps({"pairs": pairs}))

    def fresh(self, case, name):
        folder = self.work / name
        folder.mkdir()
        for file in ("scene.toml", "spinning.toml", "clamped.toml"):
            shutil.copy(self.made / file, folder)
        for source, target in case.start:
            if (self.made / source).is_dir():
                shutil.copytree(self.made / source, folder / target)
            else:
                shutil.copy(self.made / source, folder / target)
        for file in case.outputs:
            (folder / file).write_text("an earlier one\n")
        return folder

    def reference(self, case):
        folder = self.fresh(case, "reference")
        before = contents(folder)
        result = self.call(case.words, folder)
        found = (result.returncode, result.stdout, contents(folder))
        shutil.rmtree(folder)
        assert result.returncode in (0, 4), (case.name, result)
        return before, found

    def count(self, case, call):
        folder = self.fresh(case, "counted")
        number = self.work / "number"
        self.call(case.words, folder, program=self.program_of(case), call=call, at=0, count=number)
        shutil.rmtree(folder)
        found = int(number.read_text())
        number.unlink()
        return found

    def program_of(self, case):
        return self.python if case.kind == "python" else pathlib.Path(self.program).name

    def trial(self, case, expected, call, way, at):
        """One fault: ("right" or "error", what is wrong with that)."""
        before, (status, printed, after) = expected
        folder = self.fresh(case, f"{case.name}-{call}-{way}-{at}".replace(" ", "_"))
        fault = {"program": self.program_of(case), "call": call, "at": at, "as": way}
        try:
            result = self.call(case.words, folder, **fault)
        except subprocess.TimeoutExpired:
            return "hang", ["does not end"]
        found = contents(folder)
        wrong = []
        same = {k: v for k, v in found.items() if not k.endswith(".tmp")} == after
        if result.returncode == status and (status != 0 or same):
            ended = "right"
            if not same:
                wrong.append(f"silent: {sorted(k for k in {*found, *after} if found.get(k) != after.get(k))}")
            if result.stdout != printed:
                wrong.append("silent: printed something else")
        elif result.returncode == 0:
            ended = "silent"
            wrong.append(f"silent: {sorted(k for k in {*found, *after} if found.get(k) != after.get(k))} {result.stderr.strip()[-200:]}")
        else:
            ended = "error"
            if call in ("memory", "hdf5") and result.returncode != 2:
                ended = "crash"
            else:
                wrong += self.look_at_error(case, result)
            wrong += self.look_for_losses(case, before, found, after)
        if call not in ("remove", "memory", "hdf5"):
            left = [k for k in found if k.endswith((".tmp", ".unfinished"))]
            wrong += [f"left over: {left}"] if left else []
        if ended in ("error", "crash") and case.resumes and not wrong:
            wrong += self.recover(case, folder, after, left_over=call in ("remove", "memory", "hdf5"))
        shutil.rmtree(folder)
        return ended, wrong

    def look_at_error(self, case, result):
        lines = result.stderr.strip().splitlines()
        if result.returncode == 3 and case.name == "sweep":
            return []
        if result.returncode != 2:
            return [f"status {result.returncode}: {result.stderr.strip()[-300:]}"]
        if case.kind == "python" and lines:
            return [f"traceback: {lines[-1]}"] if "Traceback" in result.stderr else []
        return [] if lines and lines[-1].startswith("tresse: ") else [f"no message: {result.stderr.strip()[-300:]}"]

    def look_for_losses(self, case, before, found, after):
        """What was there stands as it was, or what is new."""
        out = [f"lost: {k}" for k in before if not k.startswith("out") and found.get(k) != before[k]]
        out += [f"lost: {k}" for k in case.outputs if found.get(k) not in (before[k], after[k])]
        earlier = [k for k in before if k.startswith("out/")]
        if earlier and "--resume" not in case.words and found.get("out/checkpoint.h5") == before["out/checkpoint.h5"]:
            # Both runs end in the same state: the log tells whether it is still that of the earlier one.
            if "out/trajectory.log" not in found:
                out += [f"lost: {k}" for k in earlier if found.get(k) not in (before[k], after.get(k))]
        return out

    def recover(self, case, folder, after, left_over):
        """A run goes on from whatever a fault has left, or anew."""
        words = [word for word in case.words if word != "--resume"]
        out = folder / "out"
        if (out / "checkpoint.h5").exists() or (out / "scene.toml").exists():
            words.append("--resume")
        result = self.call(words, folder)
        found = {k: v for k, v in contents(folder).items() if not (left_over and k.endswith(".tmp"))}
        if result.returncode == 0 and found == after:
            return []
        return [f"not resumed: {result.stderr.strip()[-200:]} {sorted(k for k in {*found, *after} if found.get(k) != after.get(k))}"]


def chosen(count, most):
    """Of 1, ..., count as many, evenly; the first and the last among them."""
    if count <= most:
        return list(range(1, count + 1))
    return sorted({round(1 + (count - 1) * i / max(most - 1, 1)) for i in range(most)})


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True, type=lambda p: str(pathlib.Path(p).resolve()))
    parser.add_argument("--shim", required=True, type=lambda p: str(pathlib.Path(p).resolve()))
    parser.add_argument("--only", default="", help="cases whose name contains this")
    parser.add_argument("--calls", default="", help="these calls alone, with commas")
    parser.add_argument("--most", type=int, default=3, help="faults of a kind for a case of share 1")
    parser.add_argument("--memory", type=int, default=200, help="with TRESSE_FAULTS=all: allocations of a case at most")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    a = parser.parse_args()
    everything = os.environ.get("TRESSE_FAULTS") == "all"
    begin = time.monotonic()
    table, failures = collections.Counter(), []
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(a.jobs) as pool:
        harness = Harness(a.program, a.shim, pathlib.Path(folder).resolve())
        harness.make()
        for case in CASES:
            if a.only not in case.name or (case.name == "render video" and not shutil.which("ffmpeg")):
                continue
            expected = harness.reference(case)
            trials = []
            for call, way in WAYS:
                if a.calls and call not in a.calls.split(","):
                    continue
                if case.slow and not everything and (call not in case.slow or way != "once"):
                    continue
                most = 1 if case.slow else max(1, round(a.most * case.share * (1 if way == "once" else 0.5)))
                if everything:
                    most = a.memory if call in ("memory", "hdf5") else 1 << 30
                for at in chosen(harness.count(case, call), most):
                    trials.append((call, way, at, pool.submit(harness.trial, case, expected, call, way, at)))
            for call, way, at, future in trials:
                ended, wrong = future.result()
                table[case.name, ended] += 1
                if wrong:
                    table[case.name, "wrong"] += 1
                    failures.append(f"{case.name}, {call} {at} {way}: {ended}; {'; '.join(wrong)}")
                    print(failures[-1], flush=True)
            print(f"{case.name}: {table[case.name, 'error']} errors, {table[case.name, 'crash']} crashes, {table[case.name, 'right']} right, "
                  f"{table[case.name, 'wrong']} wrong, {time.monotonic() - begin:.0f} s", flush=True)  # fmt: skip
    tries = sum(n for (_, ended), n in table.items() if ended != "wrong")
    print(f"{tries} faults, {len(failures)} wrong, {time.monotonic() - begin:.0f} s")
    return 1 if failures or tries == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
