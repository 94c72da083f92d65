#!/usr/bin/env python3
"""What befalls a program from outside: faults_test.py --program TRESSE [--only WORDS].

Descriptors that are closed or full, signals at any moment, files that are none, names that a terminal would obey, JSON
without an end, steps that take for ever.
"""

import argparse
import json
import os
import pathlib
import re
import resource
import shutil
import signal
import subprocess
import tempfile
import time

import h5py
import numpy as np

TESTS = pathlib.Path(__file__).resolve().parents[1]
SCENES = TESTS.parent / "scenes"
SECONDS = 300
SOON = 5.0  # [s] for what takes a fraction of a second, on a machine that does much else
HAIR = """simulation = { time_step = 0.001, duration = 0.05 }
output = { points_per_element = 2, every = 10 }
[[fibres]]
name = "hair"
material = "nylon"
length = 0.1
elements = 3
radius = 0.001
[[obstacles]]
name = "floor"
shape = "plane"
point = [0, 0, -0.01]
normal = [0, 0, 1]
"""
LONG = HAIR.replace("duration = 0.05", "duration = 1e4")
PROBLEM = "3 1 0 3 3 3 3 2 0 0 0 2 0 0 0 2 -1 0.5 0.25 0.7"


def write(folder, name, text):
    path = pathlib.Path(folder, name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def call(program, arguments, folder, **more):
    more = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **more}
    return subprocess.run([program, *map(str, arguments)], cwd=folder, timeout=SECONDS, check=False, **more)


def one_line(result, words, status=2):
    text = result.stderr.decode("utf-8", "replace")
    good = result.returncode == status and text.startswith("tresse: ") and text.count("\n") == 1
    return [] if good and all(word in text for word in words) else [f"{result.returncode}: {text[-400:]!r}"]


def wait_for(what, seconds=60.0):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if what():
            return True
        time.sleep(0.02)
    return False


def whole(folder):
    """What is wrong with the results of a run of HAIR."""
    out = []
    for name, columns in (("steps.csv", None), ("forces.csv", 6)):
        rows = pathlib.Path(folder, name).read_text(encoding="utf-8").splitlines()
        columns = columns or rows[0].count(",") + 1
        if len(rows) != 51 or any(row.count(",") + 1 != columns for row in rows):
            out.append(f"{name}: {len(rows)} rows")
    with h5py.File(pathlib.Path(folder, "trajectory.h5")) as file:
        if file["time"].shape != (6,) or not np.isfinite(file["fibres/points"][()]).all():
            out.append("trajectory.h5")
    if json.loads(pathlib.Path(folder, "summary.json").read_text(encoding="utf-8"))["status"] != "finished":
        out.append("summary.json")
    return out


def descriptors(program):
    """Messages are lost, results are whole and the status is the right one."""
    def closing(*which):
        return lambda: [os.close(d) for d in which]

    full = os.open("/dev/full", os.O_WRONLY)
    with tempfile.TemporaryDirectory() as folder:
        write(folder, "s.toml", HAIR)
        write(folder, "bad.toml", "fibres = []")
        write(folder, "p.dat", PROBLEM)
        for which in ((0,), (1,), (2,), (0, 1), (1, 2), (0, 2), (0, 1, 2)):
            for loud in ([], ["--quiet"]):
                result = call(program, ["run", "s.toml", "-o", "out", *loud], folder, preexec_fn=closing(*which))
                wrong = whole(pathlib.Path(folder, "out")) + ([] if result.returncode == 0 else [str(result)])
                yield f"run, {which} closed {loud}", wrong
                shutil.rmtree(pathlib.Path(folder, "out"))
            result = call(program, ["friction", "p.dat", "-o", "f.json"], folder, preexec_fn=closing(*which))
            good = result.returncode == 0 and json.loads(pathlib.Path(folder, "f.json").read_text())["converged"]
            yield f"friction, {which} closed", [] if good else [str(result)]
            result = call(program, ["run", "bad.toml", "-o", "no"], folder, preexec_fn=closing(*which))
            good = result.returncode == 2 and (2 in which or b"tresse: bad.toml:1" in result.stderr)
            yield f"a bad scene, {which} closed", [] if good else [str(result)]
            result = call(program, ["check", "s.toml"], folder, preexec_fn=closing(*which))
            yield f"check, {which} closed", [] if result.returncode == (2 if 1 in which else 0) else [str(result)]
        result = call(program, ["run", "s.toml", "-o", "out"], folder, stderr=full)
        yield "run, errors to a full disk", whole(pathlib.Path(folder, "out")) + ([] if result.returncode == 0 else ["status"])
        result = call(program, ["run", "bad.toml", "-o", "no"], folder, stderr=full)
        yield "a bad scene, errors to a full disk", [] if result.returncode == 2 else [str(result)]
        for arguments in (["check", "s.toml"], ["schema"], ["completion", "bash"], ["--help"], ["run", "--help"], ["--version"]):
            result = call(program, arguments, folder, stdout=full)
            yield f"{' '.join(arguments)} to a full disk", one_line(result, ["standard output: No space left on device"])
        reader, writer = os.pipe()
        os.close(reader)
        result = call(program, ["check", "s.toml"], folder, stdout=writer)
        yield "check to nobody", one_line(result, ["standard output: Broken pipe"])
        shutil.rmtree(pathlib.Path(folder, "out"))
        result = call(program, ["run", "s.toml", "-o", "out"], folder, stderr=writer, stdout=writer)
        yield "run, told to nobody", whole(pathlib.Path(folder, "out")) + ([] if result.returncode == 0 else [str(result)])
        os.close(writer)
    os.close(full)


def start(program, arguments, folder, **more):
    more = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE, **more}
    return subprocess.Popen([program, *map(str, arguments)], cwd=folder, **more)


def end_of(child, seconds):
    """(status, standard error, seconds it took); ended where it takes too long."""
    begin = time.monotonic()
    try:
        text = child.communicate(timeout=seconds)[1]
        return child.returncode, text.decode("utf-8", "replace") if text else "", time.monotonic() - begin
    except subprocess.TimeoutExpired:
        child.kill()
        child.communicate()
        return None, "", time.monotonic() - begin


def stopped(folder, least=0):
    with h5py.File(pathlib.Path(folder, "checkpoint.h5")) as file:
        step = int(file["state/step"][()])
    status = json.loads(pathlib.Path(folder, "summary.json").read_text(encoding="utf-8"))["status"]
    return [] if step >= least and status == "interrupted" else [f"step {step}, {status}"]


def signals(program):
    with tempfile.TemporaryDirectory() as folder:
        write(folder, "s.toml", LONG)
        out = pathlib.Path(folder, "out")
        for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM, signal.SIGXCPU):
            shutil.rmtree(out, ignore_errors=True)
            child = start(program, ["run", "s.toml", "-o", "out"], folder)
            begun = wait_for(lambda: (out / "steps.csv").exists() and (out / "steps.csv").stat().st_size > 500)
            child.send_signal(number)
            status, text, _ = end_of(child, SOON)
            good = begun and status == 130 and "Traceback" not in text
            yield f"{number.name} while it runs", stopped(out, 1) if good else [f"{begun}, {status}, {text[-300:]}"]
            result = call(program, ["run", "s.toml", "-o", "out", "--resume", "--quiet", "--until", "0.001"], folder)
            yield f"on after {number.name}", [] if result.returncode == 0 else [str(result)]
        shutil.rmtree(out)
        child = start(program, ["run", "s.toml", "-o", "out"], folder, preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
        wait_for(lambda: (out / "summary.json").exists())
        child.send_signal(signal.SIGHUP)
        child.send_signal(signal.SIGPIPE)
        time.sleep(0.3)
        yield "SIGHUP that nohup ignores, and SIGPIPE", [] if child.poll() is None else [str(child.returncode)]
        child.terminate()
        yield "SIGTERM after them", [] if end_of(child, SOON)[0] == 130 else ["no"]


def while_loading(program):
    """Nothing is lost yet: the first signal ends it."""
    rng = np.random.default_rng(1)
    with tempfile.TemporaryDirectory() as folder:
        lines, count = [], 0
        for strand in range(300):
            points = np.cumsum(rng.normal(size=(400, 3)) * 1e-3 + np.array([0, 0, 1e-3]), axis=0) + [strand, 0, 0]
            lines += [f"v {x:.6g} {y:.6g} {z:.6g}" for x, y, z in points]
            lines.append("l " + " ".join(str(count + i + 1) for i in range(len(points))))
            count += len(points)
        write(folder, "f.obj", "\n".join(lines) + "\n")
        scene = HAIR.replace("length = 0.1\nelements = 3", 'from = { file = "f.obj", tolerance = 1e-6 }')
        write(folder, "s.toml", scene)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            for arguments in (["run", "s.toml", "-o", "out"], ["check", "s.toml"]):
                child = start(program, arguments, folder)
                time.sleep(1.0)
                early = child.poll()
                child.send_signal(number)
                status, text, _ = end_of(child, 2.0)
                good = early is None and status in (-number, 130) and not pathlib.Path(folder, "out").exists()
                yield f"{number.name} while {arguments[0]} loads", [] if good else [f"{early}, {status}, {text}"]


def long_steps(program):
    """Told of within seconds, and left within one for a signal; the state before is kept."""
    with tempfile.TemporaryDirectory() as folder:
        shutil.copy(TESTS / "data/hard_steps/unreachable_tolerance.toml", folder)
        out = pathlib.Path(folder, "out")
        child = start(program, ["run", "unreachable_tolerance.toml", "-o", "out"], folder)
        told = re.compile(rb"still at work after \d+ s: step \d+, \d+ friction problems? so far, the last of \d+ contacts?")
        begin = time.monotonic()
        line = b""
        while child.poll() is None and not told.search(line) and time.monotonic() - begin < 60:
            line = child.stderr.readline()
        yield "a step without an end is told of", [] if told.search(line) else [f"{child.poll()} {line!r}"]
        child.terminate()
        status, text, seconds = end_of(child, SOON)
        yield "SIGTERM in it", stopped(out) if status == 130 else [f"{status} after {seconds:.1f} s: {text[-300:]}"]


def killed_sweep(program):
    with tempfile.TemporaryDirectory() as folder:
        write(folder, "s.toml", "parameters = { l = 0.1 }\n" + LONG.replace("length = 0.1", 'length = "${l}"'))
        sweep = start(program, ["sweep", "s.toml", "--vary", "l=0.1,0.11,0.12", "--jobs", "2", "-o", "out", "--quiet"], folder)
        out = pathlib.Path(folder, "out")
        begun = wait_for(lambda: all((out / case / "summary.json").exists() for case in ("case-000", "case-001")))

        def children():
            found = []
            for process in pathlib.Path("/proc").glob("[0-9]*"):
                try:
                    words = (process / "cmdline").read_bytes()
                    if str(out).encode() in words and (process / "stat").read_text().split(")")[1].split()[0] != "Z":
                        found.append(process.name)
                except OSError:
                    continue
            return found

        many = len(children())
        sweep.kill()
        sweep.communicate()
        gone = wait_for(lambda: not children(), 2 * SOON)
        yield "children of a killed sweep", [] if begun and many == 2 and gone else [f"{begun}, {many}, {children()}"]
        for case in ("case-000", "case-001"):
            left = sorted(path.name for path in (out / case).glob("*"))
            yield f"{case} of it", (stopped(out / case) if "checkpoint.h5" in left else [f"left {left}"]) if gone else []


def not_regular(program):
    """A pipe may have nobody at its other end, a device may have no end."""
    with tempfile.TemporaryDirectory() as folder:
        write(folder, "good.toml", HAIR)
        assert call(program, ["run", "good.toml", "-o", "run", "--quiet"], folder).returncode == 0
        os.mkfifo(pathlib.Path(folder, "pipe"))
        for name in ("pipe.obj", "pipe.hair", "pipe.csv", "pipe.ply", "pipe.glb", "pipe.h5", "pipe.hdr", "pipe.toml"):
            os.symlink("pipe", pathlib.Path(folder, name))
        strands = HAIR.replace("length = 0.1\nelements = 3", 'from = { file = "FILE" }')
        mesh = HAIR + '[[obstacles]]\nname = "m"\nshape = "mesh"\nfile = "FILE"\n'
        cases = [["run", "pipe.toml", "-o", "o"], ["check", "pipe"], ["static", "pipe", "-o", "o"], ["run", "pipe.h5", "-o", "o"],
                 ["friction", "pipe", "-o", "o"], ["distance", "pipe", "-o", "o"],
                 ["fit", "pipe.csv", "-o", "o", "--elements", "3"], ["export", "pipe.h5", "--format", "obj", "-o", "o.obj"],
                 ["sweep", "pipe.toml", "--vary", "a=1,2", "-o", "o"], ["plot", "pipe", "-o", "o.png", "--what", "convergence"],
                 ["render", "run", "-o", "o.png", "--width", "16", "--height", "16", "--environment", "pipe.hdr"],
                 ["bench", "state", "pipe.h5", "good.toml", "-o", "o"]]  # fmt: skip
        for text, names in ((strands, ("pipe.obj", "pipe.hair", "pipe.csv")), (mesh, ("pipe.obj", "pipe.ply", "pipe.glb"))):
            for name in names:
                scene = f"{len(cases)}.toml"
                write(folder, scene, text.replace("FILE", name))
                cases.append(["check", scene])
        for arguments in cases:
            result = call(program, arguments, folder)
            yield f"a pipe: {' '.join(arguments)}", one_line(result, ["pipe"])
        for name in ("checkpoint.h5", "steps.csv", "trajectory.h5", "scene.toml"):
            shutil.copytree(pathlib.Path(folder, "run"), pathlib.Path(folder, "again"))
            pathlib.Path(folder, "again", name).unlink()
            os.mkfifo(pathlib.Path(folder, "again", name))
            go_on = ["run", "good.toml", "-o", "again", "--resume", "--quiet"]
            show = ["render", "again", "-o", "o.png", "--width", "16", "--height", "16"]
            result = call(program, show if name == "trajectory.h5" else go_on, folder)
            yield f"a pipe as {name}", one_line(result, [name])
            shutil.rmtree(pathlib.Path(folder, "again"))
        write(folder, "h.obj", "v 0 0 0\nv 0 0 1\nl 1 2\n")
        write(folder, "nul.toml", strands.replace("FILE", "h.obj\\u0000.obj"))
        yield "a NUL in a name", one_line(call(program, ["check", "nul.toml"], folder), ["NUL"])


def served(program, arguments, folder):
    """What a program says that serves until it is told to end; one without the viewer's page ends by itself."""
    child = start(program, arguments, folder, stdout=subprocess.PIPE)
    time.sleep(1.0)
    child.send_signal(signal.SIGINT)
    out, err = child.communicate(timeout=SECONDS)
    return subprocess.CompletedProcess(arguments, 0 if child.returncode == 130 else child.returncode, out, err)


def names(program):
    """No name sends anything to the terminal."""
    strange = "a\x1b[2J\x07b\x7f\x9b31m\u2028"
    quoted = strange.replace("\x1b", "\\u001b").replace("\x07", "\\u0007").replace("\x7f", "\\u007f").replace("\x9b", "\\u009b")
    raw = re.compile(rb"[\x00-\x09\x0b-\x1f\x7f]|\xc2[\x80-\x9f]")
    with tempfile.TemporaryDirectory() as folder:
        scene = f'title = "{quoted}"\n' + HAIR.replace('"hair"', f'"{quoted}"').replace('"floor"', f'"{quoted} floor"')
        write(folder, "s.toml", scene)
        write(folder, "wall.toml", scene.replace("-0.01]", "0.01]"))
        write(folder, "unknown.toml", scene + f'"{quoted}" = 1\n')
        write(folder, "model.toml", scene.replace('material = "nylon"', f'material = "{quoted}"'))
        commands = [["check", "s.toml"], ["run", "s.toml", "-o", "out"], ["check", "wall.toml"], ["run", "wall.toml", "-o", "no"],
                    ["check", "unknown.toml"], ["check", "model.toml"], ["check", strange], ["run", "s.toml", "-o", strange],
                    ["static", "wall.toml", "-o", "st"], ["export", strange, "--format", "obj"],
                    ["render", strange, "-o", "a.png", "--width", "16", "--height", "16"], ["view", strange, "--no-open"],
                    ["plot", strange, "-o", "a.png"], [strange], ["run", f"--{strange}"],
                    ["check", "s.toml", "--set", f"{strange}=1"], ["friction", strange, "-o", "o"], ["distance", strange, "-o", "o"],
                    ["sweep", "s.toml", "--vary", f"{strange}=1,2", "-o", "sw"]]  # fmt: skip
        for arguments in commands:
            result = (served if arguments[0] == "view" else call)(program, arguments, folder)
            found = raw.search(result.stdout + result.stderr)
            good = found is None and result.returncode in (0, 2)
            yield f"names: {arguments!r}", [] if good else [f"{result.returncode} {result.stdout + result.stderr!r}"]
        write(folder, "dollar.toml", HAIR.replace('"floor"', '"$floor_{$x"').replace("-0.01]", "-0.00105]"))
        assert call(program, ["run", "dollar.toml", "-o", "a$b_$c", "--quiet"], folder).returncode == 0
        for more in ([], ["--label", "$\\frac{$"], ["--title", "$x^$ \\$"], ["--what", "solver"], ["--what", "energies"]):
            result = call(program, ["plot", "a$b_$c", "-o", "a.png", "--quiet", *more], folder)
            yield f"plot with a dollar {more}", [] if result.returncode == 0 and not result.stderr else [str(result)]


def limits(program):
    with tempfile.TemporaryDirectory() as folder:
        write(folder, "s.toml", HAIR)
        assert call(program, ["run", "s.toml", "-o", "run", "--quiet"], folder).returncode == 0
        for count in ("100000", "-1", "1025"):
            result = call(program, ["render", "run", "-o", "a.png", "--width", "16", "--height", "16", "--threads", count], folder)
            yield f"render with {count} threads", one_line(result, ["--threads", count])
        for text in ("[" * 1000000, "[" * 1000000 + "]" * 1000000, '{"a":' * 1000000 + "1" + "}" * 1000000):
            write(folder, "deep.json", text)
            yield "distance of deep JSON", one_line(call(program, ["distance", "deep.json", "-o", "o"], folder), ["nested deeper"])
            write(folder, "deep.gltf", text)
            write(folder, "m.toml", HAIR + '[[obstacles]]\nname = "m"\nshape = "mesh"\nfile = "deep.gltf"\n')
            yield "a mesh of deep JSON", one_line(call(program, ["check", "m.toml"], folder), ["deep.gltf", "no glTF document"])
            shutil.copytree(pathlib.Path(folder, "run"), pathlib.Path(folder, "again"))
            write(folder, "again/summary.json", text)
            result = call(program, ["run", "s.toml", "-o", "again", "--resume", "--quiet"], folder)
            yield "going on beside deep JSON", [] if result.returncode == 0 else [str(result)]
            write(folder, "again/summary.json", text)
            result = call(program, ["run", "s.toml", "-o", "again"], folder)
            yield "replacing deep JSON", [] if result.returncode == 0 else [str(result)]
            shutil.rmtree(pathlib.Path(folder, "again"))
            write(folder, "v.toml", "parameters = { l = 0.1 }\n" + HAIR.replace("length = 0.1", 'length = "${l}"'))
            sweep = ["sweep", "v.toml", "--vary", "l=0.1,0.11", "-o", "sw", "--quiet", "--resume"]
            call(program, sweep, folder)
            write(folder, "sw/case-000/summary.json", text)
            result = call(program, sweep, folder)
            yield "a sweep with deep JSON", [] if result.returncode == 0 else [str(result)]
            write(folder, "history.json", text)
            result = call(program, ["plot", "history.json", "--what", "convergence", "-o", "h.png"], folder)
            yield "plot of deep JSON", one_line(result, ["history.json"])


def hostile_friction(program):
    """A free velocity whose square is infinite, to every solver."""
    problem = TESTS / "data/friction_problems/huge_velocity.dat"
    with tempfile.TemporaryDirectory() as folder:
        for solver in ("hybrid-gauss-seidel", "alart-curnier-newton", "fischer-burmeister-newton", "cadoux", "path-following", "auto"):
            result = call(program, ["friction", problem, "-o", "f.json", "--solver", solver], folder)
            good = result.returncode in (0, 3)
            report = json.loads(pathlib.Path(folder, "f.json").read_text(encoding="utf-8")) if good else {}
            good = good and not report["converged"] and report["status"] == "not_finite"
            yield f"a huge velocity, {solver}", [] if good else [str(result)]


GROUPS = (descriptors, signals, while_loading, long_steps, killed_sweep, not_regular, names, limits, hostile_friction)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True)
    parser.add_argument("--only", default="", help="one of the groups")
    options = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    program = os.path.abspath(options.program)
    found = []
    for group in GROUPS:
        if options.only in ("", group.__name__):
            found += group(program)
    bad = [(name, wrong) for name, wrong in found if wrong]
    for name, wrong in bad:
        print(f"{name}: {'; '.join(wrong)}")
    print(f"{len(found)} cases, {len(bad)} bad")
    return 1 if bad or not found else 0


if __name__ == "__main__":
    raise SystemExit(main())
