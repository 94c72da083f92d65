#!/usr/bin/env python3
"""Bad input given to the program itself: hostile_input.py --program TRESSE [--only WORDS].

Every case must end with exit status 2, print nothing but one line on stderr that says what was wrong, and leave the
folder that it ran in as it was. Then the cases where something may stay: a full disk, a state that stops being finite
and a missed tolerance. The scenes are those of tests/data/hostile_scenes, which tests/scene_file reads as well.
"""

import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import resource
import subprocess
import tempfile

TESTS = pathlib.Path(__file__).resolve().parents[1]
SCENES = TESTS.parent / "scenes"
LONGEST_LINE = 700
SECONDS = 120  # for one case; all but a few need less than one

DENSE = "3 1 0 3 3 3 3 2 0 0 0 2 0 0 0 2 -1 0.5 0.25 0.7"
HELIX = {"type": "helix", "position": [0, 0, 0], "frame": [[1, 0, 0], [0, 1, 0], [0, 0, 1]], "curvature": [1, 2, 3],
         "length": 0.1}  # fmt: skip
SEGMENT = {"type": "segment", "from": [0, 0, 0], "to": [0, 3, 4]}
FIBRE = '[[fibres]]\nname = "hair"\nmaterial = "nylon"\nlength = "10 cm"\nelements = 4\nradius = "1 mm"\n'
TWO_IN_ONE_PLACE = FIBRE + FIBRE.replace("hair", "twin")
CROSSING = FIBRE + FIBRE.replace("hair", "other") + "root = { position = [0.05, -0.05, 0.001], tangent = [0, 1, 0] }\n"
INTO_A_WALL = FIBRE + '[[obstacles]]\nname = "wall"\nshape = "plane"\npoint = [0, 0, 0.01]\nnormal = [0, 0, 1]\n'
ON_THE_FLOOR = FIBRE + '[[obstacles]]\nname = "floor"\nshape = "plane"\npoint = [0, 0, -0.00105]\nnormal = [0, 0, 1]\n'
# Two turns a step: the integrator loses it after some steps.
BLOWN_UP = "simulation = { time_step = 1e-2, duration = 10, scheme = \"semi-implicit\" }\n" + FIBRE.replace("nylon", "flagellum") + (
    'root = { condition = "free", angular_velocity = [0, 1e3, 0] }\n')  # fmt: skip


class Case:
    """Files to make, arguments, and what the one line must hold."""

    def __init__(self, name, arguments, words=(), files=None):
        self.name, self.arguments, self.words, self.files = name, arguments, words, files or {}


def call(program, arguments, folder, file_limit=None):
    def prepare():
        if file_limit is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (file_limit, file_limit))

    return subprocess.run([program, *arguments], cwd=folder, stdin=subprocess.DEVNULL, capture_output=True,
                          timeout=SECONDS, preexec_fn=prepare)  # fmt: skip


def contents(folder):
    paths = pathlib.Path(folder).rglob("*")
    return {str(p.relative_to(folder)): p.read_bytes() if p.is_file() else None for p in paths}


def faults(result, words, status=2):
    """What is wrong with how the program ended; empty: nothing."""
    text = result.stderr.decode("utf-8", "replace")
    out = [] if result.returncode == status else [f"exit status {result.returncode}, expected {status}"]
    out += ["wrote to stdout"] if result.stdout else []
    out += [] if text.startswith("tresse: ") else ["no 'tresse: '"]
    out += [] if text.endswith("\n") and text.count("\n") == 1 else [f"{text.count(chr(10))} lines"]
    out += [f"no '{word}'" for word in words if word not in text]
    out += ["too long"] if len(text) > LONGEST_LINE else []
    return [f"{'; '.join(out)}: {text[:300]!r}"] if out else []


def run_case(program, case):
    with tempfile.TemporaryDirectory() as folder:
        for name, data in case.files.items():
            path = pathlib.Path(folder, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data if isinstance(data, bytes) else data.encode())
        before = contents(folder)
        try:
            result = call(program, case.arguments, folder)
        except subprocess.TimeoutExpired:
            return [f"no end after {SECONDS} s"]
        changed = [name for name, data in contents(folder).items() if before.get(name, b"?") != data]
        return faults(result, case.words) + ([f"left {sorted(changed)}"] if changed else [])


def scene_cases():
    data = json.loads((TESTS / "data/hostile_scenes/cases.json").read_text(encoding="utf-8"))
    fibre, twig = "\n".join(data["fibre"]), "\n".join(data["twig"])
    for case in data["cases"]:
        text = "\n".join(case["text"]).replace("{fibre}", fibre).replace("{twig}", twig)
        before, mark, after = text.partition("@")
        place = f"s.toml:{before.count(chr(10)) + 1}:{len(before) - before.rfind(chr(10))}:" if mark else "s.toml:"
        yield Case(f"scene {case['name']}", ["run", "s.toml", "-o", "out"], [place, *case["words"]],
                   {"s.toml": before + after})  # fmt: skip
    run = ["run", "s.toml", "-o", "out"]
    yield Case("scene of bytes", run, ["s.toml"], {"s.toml": b"\x7fELF\x00\x01\x02\xff\xfe"})
    yield Case("scene cut short", run, ["s.toml:"], {"s.toml": (SCENES / "comb.toml").read_bytes()[:-30]})
    yield Case("fibres in one place", run, ["overlaps", "m from its root"], {"s.toml": TWO_IN_ONE_PLACE})
    yield Case("fibre in a wall", run, ["overlaps obstacle 'wall'"], {"s.toml": INTO_A_WALL})
    for command in ("check", "static"):
        output = [] if command == "check" else ["-o", "out"]
        yield Case(f"{command} of a bad scene", [command, "s.toml", *output], ["s.toml:1:1", "at least one"],
                   {"s.toml": "fibres=[]"})  # fmt: skip


def file_cases():
    comb = str(SCENES / "comb.toml")
    scene_in = {"run": ["-o", "out"], "static": ["-o", "out"], "check": []}
    problem_in = {"friction": ["-o", "out.json"], "distance": ["-o", "out.json"]}
    for command, output in {**scene_in, **problem_in}.items():
        yield Case(f"{command}: no file", [command, "none", *output], ["none", "No such file"])
        yield Case(f"{command}: a folder", [command, ".", *output], [".: a folder"])
        yield Case(f"{command}: endless", [command, "/dev/zero", *output], ["/dev/zero: a device"])
        yield Case(f"{command}: unreadable", [command, "/proc/self/mem", *output], ["/proc/self/mem"])
        yield Case(f"{command}: empty", [command, "e", *output], ["e"], {"e": ""})
        yield Case(f"{command}: name of two lines", [command, "a\nb", *output], ["a\\nb"])
    for command in ("run", "static"):
        yield Case(f"{command}: output is a file", [command, comb, "-o", "f"], ["f: "], {"f": "mine"})
        yield Case(f"{command}: output below a file", [command, comb, "-o", "f/a"], ["f/a: "], {"f": "mine"})
        yield Case(f"{command}: output in /proc", [command, comb, "-o", "/proc/a"], ["/proc/a: "])
    for name, good in (("friction", DENSE), ("distance", json.dumps({"pairs": [{"a": HELIX, "b": SEGMENT}]}))):
        for target in (".", "none/out.json", "f/out.json", "/dev/full"):
            yield Case(f"{name}: output {target}", [name, "good", "-o", target], [target],
                       {"good": good, "f": "mine"})  # fmt: skip
    yield Case("render: no folder", ["render", "none", "-o", "a.png"], ["none"])
    yield Case("render: no trajectory", ["render", ".", "-o", "a.png"], ["trajectory.h5"])
    yield Case("render: not HDF5", ["render", "f", "-o", "a.png"], ["f: not an HDF5 file"], {"f": DENSE})
    yield Case("plot: no folder", ["plot", "none", "-o", "a.png"], ["none"])
    yield Case("plot: no table", ["plot", ".", "-o", "a.png"], ["forces.csv: no such file"])
    yield Case("plot: table without columns", ["plot", "r", "-o", "a.png"], ["forces.csv:1: no column"],
               {"r/forces.csv": "a,b\n1,2\n"})  # fmt: skip
    yield Case("plot: words for numbers", ["plot", "r", "-o", "a.png"], ["forces.csv:2: 'x' in column 'time'"],
               {"r/forces.csv": "time,obstacle,fx,fy,fz,contacts\nx,a,1,2,3,4\n"})  # fmt: skip


def argument_cases():
    comb = str(SCENES / "comb.toml")
    good = {"good": DENSE}
    for name, arguments, words in (
        ("nothing", [], ["a command is missing"]),
        ("unknown command", ["rum", comb], ["unknown command 'rum'; did you mean 'run'? (see tresse --help)"]),
        ("unknown command, nothing like it", ["quux"], ["unknown command 'quux' (see tresse --help)"]),
        ("unknown command that asks for help", ["plt", "--help"], ["unknown command 'plt'; did you mean 'plot'?"]),
        ("unknown benchmark", ["bench", "stps", "-o", "o"], ["'stps'; did you mean 'steps'? (see tresse bench --help)"]),
        ("no import", ["import", "a.hair"], ["unknown command 'import'; ", "from = { file = ", "docs/guide/imports.md"]),
        ("unknown option", ["run", comb, "-o", "out", "--fast"], ["unknown option --fast (see tresse run --help)"]),
        ("unknown option before all else that is wrong", ["render", "out/hair", "--fram", "3"],
         ["unknown option --fram; did you mean --frame? (see tresse render --help)"]),
        ("unknown option with its value", ["check", "--sett=a=1"], ["unknown option --sett; did you mean --set?"]),
        ("unknown option with one dash", ["sweep", comb, "-jobs", "2"], ["unknown option -jobs; did you mean --jobs?"]),
        ("unknown option of a benchmark", ["bench", "steps", "--quik"],
         ["unknown option --quik; did you mean --quick? (see tresse bench steps --help)"]),
        ("unknown option of the program", ["--versoin"], ["--versoin; did you mean --version? (see tresse --help)"]),
        ("two scenes", ["run", comb, comb, "-o", "out"], [comb]),
        ("no output", ["run", comb], ["--output is required (see tresse run --help)"]),
        ("no benchmark", ["bench"], ["a command is missing", "(see tresse bench --help)"]),
        ("no scene", ["run", "-o", "out"], ["scene"]),
        ("no threads", ["run", comb, "-o", "out", "--threads", "0"], ["--threads", "0"]),
        ("too many threads", ["run", comb, "-o", "out", "--threads", "100000"], ["--threads", "100000"]),
        ("threads in words", ["run", comb, "-o", "out", "--threads", "two"], ["--threads", "two"]),
        ("until no number", ["run", comb, "-o", "out", "--until", "nan"], ["--until: found nan"]),
        ("until before the start", ["run", comb, "-o", "out", "--until=-1"], ["--until: found -1"]),
        ("until for ever", ["run", comb, "-o", "out", "--until", "1e300"], ["--until: found 1e+300"]),
        ("nothing to resume", ["run", comb, "-o", "out", "--resume"], ["out: nothing to resume"]),
        ("set without value", ["run", comb, "-o", "out", "--set", "fibres"], ["--set fibres", "name=value"]),
        ("set misspelt", ["run", comb, "-o", "out", "--set", "fibrs=3"], ["did you mean \"fibres\""]),
        ("set a billion fibres", ["run", comb, "-o", "out", "--set", "fibres=1e9"], ["1000000000", "to 1000000"]),
        ("set no elements", ["check", comb, "--set", "elements=0"], ["elements", "= 0"]),
        ("set a negative radius", ["check", comb, "--set", "radius=-1 um"], ["comb.toml", "-1e-06", "radius"]),
        ("set wrong unit", ["check", comb, "--set", "length=3 kg"], ["a mass [kg]"]),
        ("tolerance nan", ["friction", "good", "-o", "o", "--tolerance", "nan"], ["--tolerance: found nan"]),
        ("tolerance below 0", ["distance", "good", "-o", "o", "--tolerance=-1"], ["--tolerance: found -1"]),
        ("no sweeps", ["friction", "good", "-o", "o", "--max-iterations", "0"], ["--max-iterations", "0"]),
        ("unknown solver", ["friction", "good", "-o", "o", "--solver", "magic"], ["'magic'"]),
        ("unknown method", ["distance", "good", "-o", "o", "--method", "magic"], ["--method: found magic"]),
        ("picture of another kind", ["render", ".", "-o", "a.gif"], ["a.gif"]),
        ("figure of another kind", ["plot", ".", "-o", "a.gif"], ["a.gif", ".png"]),
        ("figure of another table", ["plot", ".", "-o", "a.png", "--what", "magic"], ["--what", "magic"]),
    ):  # fmt: skip
        yield Case(f"arguments: {name}", arguments, words, good)


def problem_cases():
    for name, text, words in (
        ("no dimension", "one 1 0", ["p:1:1: found 'one'"]),
        ("dimension 4", "4 1 0", ["p:1:1: found '4'"]),
        ("contacts below 0", "3 -1 0", ["p:1:3: found '-1'"]),
        ("a billion contacts", "3 1000000000 0", ["p:1:3: found '1000000000'"]),
        ("more than the file holds", "3 99999999 0 1 1", ["expected 399999996 numbers"]),
        ("NaN in W", DENSE.replace("2 0 0 0", "nan 0 0 0"), ["found 'nan'", "an entry of W"]),
        ("infinite q", DENSE.replace("-1 0.5", "-1 1e999"), ["found '1e999'"]),
        ("friction below 0", DENSE.replace("0.7", "-0.7"), ["found '-0.7'"]),
        ("cut short", DENSE[:-8], ["found the end of the file"]),
        ("too long", DENSE + " 1 2", ["expected the end of the file"]),
        ("HDF5 cut short", b"\x89HDF\r\n\x1a\n" + bytes(40), ["p: "]),
    ):
        yield Case(f"friction: {name}", ["friction", "p", "-o", "out.json"], words, {"p": text})

    def pairs(**change):
        return json.dumps({"pairs": [{"a": SEGMENT, "b": {**HELIX, **change}}]})

    for name, text, words in (
        ("not JSON", "[1, 2", ["p:1:", "broken JSON"]),
        ("deep", "[" * 1000000, ["p: nested deeper than 100"]),
        ("no pairs", "{}", ["'pairs' is missing"]),
        ("half a pair", '{"pairs": [{"a": 1}]}', ["pair 0"]),
        ("unknown curve", pairs(type="spline"), ["b.type: found \"spline\""]),
        ("unknown key", pairs(colour=1), ["unknown key"]),
        ("length 0", pairs(length=0), ["b.length: found 0"]),
        ("length below 0", pairs(length=-1), ["b.length: found -1"]),
        ("length in words", pairs(length="1 m"), ["expected a number"]),
        ("NaN", pairs(length=float("nan")), ["broken JSON"]),
        ("out of range", pairs().replace("0.1", "1e999"), ["out of range"]),
        ("two curvatures", pairs(curvature=[1, 2]), ["expected a list of 3 numbers"]),
        ("no rotation", pairs(frame=[[1, 0, 0], [1, 0, 0], [0, 0, 1]]), ["off orthonormal"]),
    ):
        yield Case(f"distance: {name}", ["distance", "p", "-o", "out.json"], words, {"p": text})


def damaged_cases(program):
    """Files of a small run, cut short or changed."""
    with tempfile.TemporaryDirectory() as folder:
        scene = str(SCENES / "cantilever.toml")
        result = call(program, ["run", scene, "-o", "run", "--until", "0.02", "--quiet"], folder)
        assert result.returncode == 0, result.stderr
        run = {f"run/{name}": data for name, data in contents(pathlib.Path(folder, "run")).items()}
    resume = ["run", scene, "-o", "run", "--resume"]
    for name, arguments in (
        ("checkpoint.h5", resume),
        ("checkpoint.h5", ["run", "run/checkpoint.h5", "-o", "out"]),
        ("trajectory.h5", ["render", "run", "-o", "a.png"]),
        ("checkpoint.h5", ["friction", "run/checkpoint.h5", "-o", "out.json"]),
    ):
        data = run[f"run/{name}"]
        for share in (1, 10, 50, 99):
            files = {**run, f"run/{name}": data[: len(data) * share // 100]}
            if name == "trajectory.h5":
                del files["run/trajectory.log"]  # which would be read instead
            yield Case(f"{share} % of {name}: {arguments[0]}", arguments, [f"run/{name}: "], files)
    log = {**run, "run/trajectory.log": run["run/trajectory.log"][:500]}
    yield Case("a log without its layout", ["render", "run", "-o", "a.png"], ["run/trajectory.log: "], log)
    middle = len(run["run/checkpoint.h5"]) - 100  # in the values, which the checksum covers
    data = bytearray(run["run/checkpoint.h5"])
    data[middle] ^= 1
    yield Case("a bit of the checkpoint", resume, ["run/checkpoint.h5: "], {**run, "run/checkpoint.h5": bytes(data)})
    short = {**run, "run/steps.csv": run["run/steps.csv"][:-200]}
    yield Case("steps.csv cut short", resume, ["run/steps.csv: "], short)
    yield Case("another scene", [*resume, "--set", "length=0.1"], ["made from another scene"], run)


def full_disk(program):
    """A limit on the size of files stands for the disk. Whatever is left is whole, and the run can go on."""
    scene = str(SCENES / "cantilever.toml")
    with tempfile.TemporaryDirectory() as folder:
        pathlib.Path(folder, "good").write_text(DENSE, encoding="utf-8")
        for limit in (64, 5000, 20000, 50000):
            arguments = ["run", scene, "-o", "run", "--until", "0.5", "--quiet"]
            yield f"run within {limit} bytes", faults(call(program, arguments, folder, limit), ["run/"])
            begun = pathlib.Path(folder, "run/scene.toml").exists()
            result = call(program, [*arguments, *(["--resume"] if begun else [])], folder)
            yield f"room again after {limit} bytes", [] if result.returncode == 0 else [str(result.stderr)]
            for path in pathlib.Path(folder, "run").glob("*"):
                path.unlink()
        for arguments in (["static", scene, "-o", "s"], ["friction", "good", "-o", "o.json"]):
            before = contents(folder)
            wrong = faults(call(program, arguments, folder, 100), [arguments[-1]])
            part = [name for name in contents(folder) if name not in before and name not in ("s", "s/scene.toml")]
            yield f"{arguments[0]} on a full disk", wrong + ([f"left {part}"] if part else [])


def standard_output(program):
    """Results may go to standard output, a pipe or a file, and more than one of them."""
    with tempfile.TemporaryDirectory() as folder:
        pathlib.Path(folder, "good").write_text(DENSE, encoding="utf-8")
        command = [program, "friction", "good", "-o", "/dev/stdout"]
        result = call(program, command[1:], folder)
        good = result.returncode == 0 and json.loads(result.stdout)["converged"] and os.listdir(folder) == ["good"]
        yield "result to a pipe", [] if good else [str(result)]
        with open(pathlib.Path(folder, "both"), "wb") as both:
            for _ in range(2):
                subprocess.run(command, cwd=folder, stdout=both, check=False, timeout=SECONDS)
        lines = pathlib.Path(folder, "both").read_text(encoding="utf-8").splitlines()
        yield "two results to a file", [] if len(lines) == 2 and all(map(json.loads, lines)) else lines


def not_finite(program):
    with tempfile.TemporaryDirectory() as folder:
        pathlib.Path(folder, "s.toml").write_text(BLOWN_UP, encoding="utf-8")
        result = call(program, ["run", "s.toml", "-o", "out", "--quiet"], folder)
        text = result.stderr.decode()
        said = re.search(r"step (\d+) .*no longer finite.*of step (\d+), is in out/checkpoint.h5", text)
        step = int(said[1]) if said else 0
        lines = text.splitlines()
        good = result.returncode == 4 and step > 1 and int(said[2]) == step - 1 and f"step {step} (" in lines[-2]
        yield "not finite", [] if good else [str(result)]
        good = lines[-1].startswith(f"Not sound: the state stopped being finite at step {step}")
        yield "not finite, said in spite of --quiet", [] if good else lines
        good = len(lines) < 7 and re.match(r"step \d+ \(t = .*: fibre 0 flies \S+ of its length in a step", lines[0])
        yield "not finite, the fibre is named before", [] if good else lines
        verdict = json.loads(pathlib.Path(folder, "out/summary.json").read_text(encoding="utf-8"))["verdict"]
        good = verdict != "sound" and verdict[0]["what"] == "non-finite" and verdict[0]["step"] == step
        yield "not finite, verdict", [] if good else [str(verdict)]
        rows = pathlib.Path(folder, "out/steps.csv").read_text(encoding="utf-8").count("\n") - 1
        yield "not finite, rows", [] if rows == step - 1 else [f"{rows}, expected those of the good steps"]
        for again in ([f"out/failure/step-{step}.h5", "-o", "again"], ["s.toml", "-o", "out", "--resume"]):
            result = call(program, ["run", *again], folder)
            good = result.returncode == 4 and f"step {step} (".encode() in result.stderr
            yield "not finite, once more", [] if good else [str(result)]


def missed_tolerance(program):
    """--strict, the summary and failure/ go by the same steps, for the contact solver and for the nonlinear step."""
    simulation = "simulation = {{ duration = 0.02, {} }}\nsolver = {{ tolerance = {} }}\n" + ON_THE_FLOOR
    nonlinear = 'scheme = "nonlinear", nonlinear_tolerance = 1e-14, max_nonlinear_iterations = 1'
    contact = simulation.format("seed = 1", "1e-30")
    for name, text in (("contact", contact), ("step", simulation.format(nonlinear, "1e-9"))):
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, "s.toml").write_text(text, encoding="utf-8")
            run = ["run", "s.toml", "-o", "out"]
            statuses = [call(program, arguments, folder).returncode for arguments in (run, [*run, "--strict"])]
            summary = json.loads(pathlib.Path(folder, "out/summary.json").read_text(encoding="utf-8"))
            missed = summary["missed_tolerance_steps"]
            kept = len(list(pathlib.Path(folder, "out/failure").glob("*.h5")))
            good = statuses == [0, 3] and missed > 0 and kept == min(missed, 8) and summary["verdict"] != "sound"
            yield f"missed tolerance of the {name}", [] if good else [f"{statuses}, {missed} missed, {kept} kept"]


def pushed_apart(program):
    with tempfile.TemporaryDirectory() as folder:
        pathlib.Path(folder, "s.toml").write_text(CROSSING, encoding="utf-8")
        run = ["run", "s.toml", "-o", "out", "--until", "0.01", "--quiet"]
        yield "overlap refused", faults(call(program, run, folder), ["overlaps fibre 1", "--push-out"])
        for arguments in ([*run, "--push-out"], [*run, "--resume"]):
            result = call(program, arguments, folder)
            yield "overlap pushed out", [] if result.returncode == 0 and not result.stderr else [str(result)]
        result = call(program, ["check", "s.toml", "--push-out"], folder)
        yield "push-out tried", [] if b"push-out: apart after" in result.stdout else [str(result)]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    program = os.path.abspath(options.program)
    cases = [*scene_cases(), *file_cases(), *argument_cases(), *problem_cases(), *damaged_cases(program)]
    cases = [case for case in cases if options.only in case.name]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        found = list(zip((c.name for c in cases), pool.map(lambda c: run_case(program, c), cases)))
    if not options.only:
        for group in (full_disk, standard_output, not_finite, missed_tolerance, pushed_apart):
            found += group(program)
    bad = [(name, wrong) for name, wrong in found if wrong]
    for name, wrong in bad:
        print(f"{name}: {'; '.join(wrong)}")
    print(f"{len(found)} cases, {len(bad)} bad")
    return 1 if bad or not found else 0


if __name__ == "__main__":
    raise SystemExit(main())
