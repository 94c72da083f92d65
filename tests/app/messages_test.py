#!/usr/bin/env python3
"""What `run` and `check` say of a run that is not bad input: messages_test.py --program TRESSE."""

import argparse
import contextlib
import json
import os
import pathlib
import pty
import re
import signal
import subprocess
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
HAIR = 'simulation = { duration = 0.02, time_step = 0.001 }\n[[fibres]]\nname = "hair"\nmaterial = "nylon"\nlength = "20 cm"\n'
THIN = HAIR + 'elements = 1\nradius = "40 um"\n'
STOUT = HAIR + "elements = 2\nradius = 40\n"
STOUT_REMARK = "s.toml:2:1: fibres 'hair': radius 40 m, length 0.2 m; expected a radius of at most half the length"
FLOOR = '[[obstacles]]\nname = "floor"\nshape = "plane"\npoint = [0, 0, -0.000041]\nnormal = [0, 0, 1]\n'
UNSOLVED = "solver = { tolerance = 1e-30 }\n" + THIN + FLOOR


class Folder:
    def __init__(self, program, folder):
        self.program, self.folder = program, pathlib.Path(folder)

    def call(self, scene, *words, status=0):
        (self.folder / "s.toml").write_text(scene, encoding="utf-8")
        result = subprocess.run([self.program, words[0], "s.toml", *words[1:]], cwd=self.folder, capture_output=True, text=True,
                                timeout=100)  # fmt: skip
        assert result.returncode == status, result
        return result


def replaced_results(folder):
    run = ["run", "-o", "out"]
    assert "replaces" not in folder.call(THIN, *run).stderr
    for words in ([], ["--until", "0.01"]):
        lines = folder.call(THIN, *run, "--resume", *words).stderr.splitlines()
        assert lines[0].startswith("out: the run had come to t = 0.02 s before, and nothing was left to do; --resume --until T"), lines
        assert lines[1].startswith("Sound: 20 steps"), "gone on with, not replaced"
    assert folder.call(THIN, *run, "--resume", "--quiet").stderr == ""
    lines = folder.call(THIN, *run, "--until", "0.001").stderr.splitlines()
    assert lines[0] == "out: replaces the results of an earlier run (finished: 20 steps, 0.02 s)", lines
    assert lines[1].startswith("Sound: 1 step, every"), lines
    lines = folder.call(THIN, *run).stderr.splitlines()
    assert lines[0] == "out: replaces the results of an earlier run (interrupted: 1 step, 0.001 s)", lines
    assert folder.call(THIN, *run, "--quiet").stderr == ""


def quiet_verdict(folder):
    """The last line of a run that isn't sound is the same with --quiet, and its status 0."""
    loud = folder.call(UNSOLVED, "run", "-o", "loud").stderr.splitlines()
    quiet = folder.call(UNSOLVED, "run", "-o", "quiet", "--quiet").stderr.splitlines()
    assert loud[-1].startswith(("Not sound: ", "Nearly sound: ")) and quiet[-1] == loud[-1], (loud, quiet)


def thicker_than_long(folder):
    assert STOUT_REMARK in folder.call(STOUT, "check").stdout.splitlines()
    assert folder.call(STOUT, "run", "-o", "stout", "--quiet").stderr.splitlines() == [STOUT_REMARK]
    assert "thick" not in folder.call(THIN, "check").stdout


def words_of_check(folder):
    assert re.search(r"(?m)^fibres 'hair': 1 of 1 element, ", folder.call(THIN, "check").stdout)
    assert re.search(r"(?m)^fibres 'hair': 1 of 2 elements, ", folder.call(STOUT, "check").stdout)
    one = folder.call(THIN.replace("0.02", "0.001"), "check").stdout
    assert re.search(r"(?m)^1 step of 0\.001 s, detection certified$", one), one
    (folder.folder / "one.csv").write_text("fibre,x,y,z\n0,0,0,0\n0,0.1,0,0\n", encoding="utf-8")
    group = '[[fibres]]\nname = "hair"\nmaterial = "nylon"\nradius = "40 um"\nfrom = { file = "one.csv" }\n'
    assert ": 1 strand, 1 element; " in folder.call(group, "check").stdout


def page_of_check(folder):
    """docs/reference/commands.md explains every name that stands before a figure."""
    page = (ROOT / "docs/reference/commands.md").read_text(encoding="utf-8")
    table = page.partition("## What `tresse check` says")[2].partition("<!-- generated")[0]
    said = folder.call(THIN, "check").stdout
    for word in ("natural turns", "EI1", "EI2", "GJ", "gravito-bending length", "number", "first bending frequency", "detection",
                 "certified", "memory", "no body overlaps another"):  # fmt: skip
        assert word in said and word in table, word


def strands(count):
    """Upright ones on a square, but for number 57, 11 um too near the one before."""
    lines = []
    for i in range(count):
        x, y = 2e-3 * (i % 20), 2e-3 * (i // 20)
        if i == 57:
            x += -2e-3 + 89e-6
        lines.append(f"  {{ position = [{x}, {y}, 0], frame = [[0, 0, 1], [0, 1, 0], [-1, 0, 0]], length = 0.01, elements = 1, "
                     "radius = 50e-6 },")  # fmt: skip
    return ("simulation = { time_step = 1e-3, duration = 6e-3 }\noutput = { every = 2, checkpoint_every = 3 }\n"
            '[[fibres]]\nname = "hair"\nmaterial = "nylon"\nroot = { condition = "clamped" }\nstrands = [\n'
            + "\n".join(lines) + "\n]\n")  # fmt: skip


def left_out(folder):
    """Of 100 strands one pair of roots is 11 um too near: refused, not to be pushed apart, left out on request and named."""
    scene = strands(100)
    for words, hint in (([], "--push-out moves them"), (["--push-out"], "--leave-out leaves fibres out")):
        refused = folder.call(scene, "run", "-o", "out", *words, status=2).stderr
        assert "fibre 56 of 'hair' overlaps fibre 57" in refused and hint in refused, refused
        assert not (folder.folder / "out").exists()
    said = "fibre 57 of 'hair' is left out: at the start it overlaps fibre 56 of 'hair' by 1.1e-05 m"
    assert folder.call(scene, "check", "--leave-out").stdout.splitlines()[-1] == said
    # The status of check --strict is that of a run with the same options.
    for words, hint in (([], "--push-out moves fibres apart"), (["--push-out"], "--leave-out leaves fibres out")):
        refused = folder.call(scene, "check", "--quiet", "--strict", *words, status=2).stdout
        assert re.search(r"(?m)^tresse run refuses \d+ overlaps? at the start; ", refused) and hint in refused, refused
        assert folder.call(scene, "check", "--quiet", *words).stdout == refused
    for name, words in (("out", ["--leave-out"]), ("pushed", ["--push-out", "--leave-out"])):
        assert folder.call(scene, "run", "-o", name, "--quiet", *words).stderr.splitlines() == [said]
        assert "\nleave_out = [57]\n" in (folder.folder / name / "scene.toml").read_text(encoding="utf-8")
    # What a run left out a run that goes on leaves out, asked for or not; its scene runs by itself.
    for name, words in (("parts", []), ("again", ["--leave-out"])):
        folder.call(scene, "run", "-o", name, "--quiet", "--leave-out", "--until", "0.003")
        assert folder.call(scene, "run", "-o", name, "--quiet", "--resume", *words).stderr == ""
        for file in ("steps.csv", "scene.toml"):
            one, other = ((folder.folder / run / file).read_text(encoding="utf-8") for run in ("out", name))
            assert without_times(one) == without_times(other), (name, file)
    kept = (folder.folder / "out/scene.toml").read_text(encoding="utf-8")
    assert re.search(r"(?m)^fibres 'hair': 99 of 1 element, ", folder.call(kept, "check").stdout)
    assert folder.call(kept, "run", "-o", "kept", "--quiet").stderr == ""


def many_overlaps(folder):
    """Of thousands the deepest ten are told, and how many there are of what with what."""
    scene = strands(100) + FLOOR.replace("-0.000041", "0.001")
    crowd = "\n".join(f"  {{ position = [{1e-5 * (i % 10)}, {1e-5 * (i // 10)}, 0.1], length = 0.01, elements = 1, radius = 50e-6 }},"
                      for i in range(60))  # fmt: skip
    scene += f'[[fibres]]\nname = "crowd"\nmaterial = "nylon"\nstrands = [\n{crowd}\n]\n'
    lines = folder.call(scene, "check", "--quiet").stdout.splitlines()
    told = [line for line in lines if line.startswith("fibre ")]
    pairs = re.search(r"^\.\.\. and (\d+) more overlaps; of all (\d+): (\d+) within 'crowd', 100 of 'hair' with obstacle 'floor', "
                      r"9 within 'hair'$", lines[10])  # fmt: skip
    assert len(told) == 10 and pairs and int(pairs[1]) + 10 == int(pairs[2]) == int(pairs[3]) + 109, lines
    refused = folder.call(scene, "run", "-o", "out", status=2).stderr
    assert f"the deepest of {pairs[2]} ({pairs[3]} within 'crowd', 100 of 'hair' with obstacle 'floor', 9 within 'hair');" in refused, refused
    left = [line for line in folder.call(scene, "check", "--quiet", "--leave-out").stdout.splitlines() if "left out" in line]
    assert len(left) == 11 and re.fullmatch(r"\.\.\. and \d+ more are left out", left[-1]), left


def without_times(table):
    """A table without its last four columns, wall-clock times; any other text as it is."""
    return [line.rsplit(",", 4)[0] if "t_step" in table.split("\n", 1)[0] else line for line in table.splitlines()]


def mixed_winding(folder):
    """A box whose file has every other face the wrong way round is the box, and that is said."""
    corners = [[x, y, z] for z in (-1, 1) for y in (-1, 1) for x in (-1, 1)]
    faces = ["1 3 4", "1 4 2", "5 6 8", "5 8 7", "1 2 6", "1 6 5", "3 7 8", "3 8 4", "1 5 7", "1 7 3", "2 4 8", "2 8 6"]
    for name, step in (("well", 1), ("mixed", -1)):
        turned = [" ".join(face.split()[:: step if i % 2 else 1]) for i, face in enumerate(faces)]
        lines = [f"v {x} {y} {z}" for x, y, z in corners] + ["f " + face for face in turned]
        (folder.folder / f"{name}.obj").write_text("\n".join(lines) + "\n", encoding="ascii")
    box = '[[obstacles]]\nname = "box"\nshape = "mesh"\nunit = "1 cm"\nfile = "{}.obj"\n'
    remark = "obstacle 'box': 6 of its 12 faces run round against the others, and were turned"
    for name in ("well", "mixed"):
        above = THIN + 'root = { position = [-0.1, 0, "1.1 cm"] }\n' + box.format(name)
        for said in (folder.call(above, "check").stdout, folder.call(above, "run", "-o", name).stderr):
            assert (remark in said) == (name == "mixed"), said
        assert "closed: solid" in folder.call(above, "check").stdout
        inside = THIN.replace("20 cm", "5 mm") + box.format(name)
        assert "fibre 0 of 'hair' overlaps obstacle 'box' by 0.01 m" in folder.call(inside, "check").stdout
        refused = folder.call(inside, "run", "-o", "inside", status=2).stderr
        assert "fibre 0 of 'hair' overlaps obstacle 'box'" in refused, refused


def help_and_version(folder):
    """`help COMMAND` is `COMMAND --help`, `-v` is `--version`."""

    def said(*words):
        result = subprocess.run([folder.program, *words], capture_output=True, text=True, timeout=100)
        assert result.returncode == 0 and not result.stderr, result
        return result.stdout

    for words in ([], ["run"], ["bench", "steps"]):
        assert said("help", *words) == said(*words, "--help")
    assert said("-v") == said("--version")


def one_manner(folder):
    """A command that writes a file says so in one line that names it, and with --quiet nothing."""
    run = folder.folder
    folder.call(THIN + 'natural_curvature = [0, 1, 0]\n', "run", "-o", "out", "--quiet")
    folder.call(UNSOLVED, "run", "-o", "floor", "--dump-friction", "problems", "--dump-steps", "20")
    folder.call(THIN + 'natural_curvature = [0, 1, 0]\n', "static", "-o", "rest", "--quiet")
    segment = {"type": "segment", "from": [0, 0, 0], "to": [1, 0, 0]}
    pair = {"a": segment, "b": {**segment, "from": [0, 0, 1], "to": [1, 0, 1]}}
    (run / "pair.json").write_text(json.dumps({"pairs": [pair]}), encoding="utf-8")
    small = ["--width", "16", "--height", "16"]
    page_is_built = (pathlib.Path(folder.program).parents[1] / "share/tresse/viewer/index.html").exists()
    html = [(["export", "rest"], "h.html", "1 frame as html: h.html")] if page_is_built else []
    for words, output, said in (
        (["distance", "pair.json"], "a.json", "a.json: 1 pair of curves, "),
        (["friction", "problems/step-20.hdf5"], "b.json", "b.json: converged, natural_map_error "),
        (["render", "out", *small], "c.png", "c.png: frame "),
        (["render", "rest", *small, "--frames", "0"], "d.png", "d_0000.png: 1 picture of frames 0 to 0 of 1, "),
        (["plot", "out", "--what", "energies"], "e.svg", "e.svg: plot of out"),
        (["plot", "rest"], "f.pdf", "f.pdf: plot of rest"),
        (["export", "rest"], "g.usda", "1 frame as usda: g.usda"),
        *html,
    ):
        for quiet in ([], ["--quiet"]):
            result = subprocess.run([folder.program, *words, "-o", output, *quiet], cwd=run, capture_output=True, text=True, timeout=100)
            lines = result.stderr.splitlines()
            assert result.returncode == 0 and not result.stdout, (words, result)
            assert not lines if quiet else len(lines) == 1 and lines[0].startswith(said), (words, lines)
    assert folder.call(THIN, "check", "--quiet", "--threads", "1").stdout == ""
    assert folder.call(STOUT, "check", "--quiet").stdout.splitlines() == [STOUT_REMARK]
    overlapping = THIN + FLOOR.replace("-0.000041", "0")
    assert folder.call(overlapping, "check", "--quiet").stdout.startswith("fibre 0 of 'hair' overlaps obstacle 'floor' by 4e-05 m")
    for words, said in (([], "one of run, static, check, "), (["bench"], "one of distance, steps, ")):
        result = subprocess.run([folder.program, *words], capture_output=True, text=True, timeout=100)
        assert result.returncode == 2 and f"tresse: a command is missing; expected {said}" in result.stderr, result
        assert result.stderr.count("\n") == 1, result


def hold_out_of_reach(folder):
    """A solve that fails since a held point cannot follow says which, how far it is off, and what to do."""
    hold = """root = { condition = "clamped" }
[[fibres.holds]]
name = "end"
at = 0.2
motion = { keyframes = [{ time = 0 }, { time = 0.01, displacement = [0.1, 0, 0] }] }
"""
    lines = folder.call(THIN.replace("elements = 1", "elements = 4") + hold, "run", "-o", "reach").stderr.splitlines()
    told = [line for line in lines if "stopped at" in line]
    assert told and all("no contact" not in line for line in told), lines
    assert re.search(r"the solve for the holds stopped at .*; 'end' holds fibre 0 0\.[0-9]+ m off its place; lead it to "
                     "where the fibre can reach", told[-1]), told  # fmt: skip


def shown_on_a_terminal(program, folder, words):
    """What a command writes to standard error where that is a terminal."""
    ours, theirs = pty.openpty()
    subprocess.run([program, *words], cwd=folder, stderr=theirs, check=True, timeout=100)
    os.close(theirs)
    said = b""
    with contextlib.suppress(OSError):  # how a terminal ends
        while part := os.read(ours, 4096):
            said += part
    os.close(ours)
    return said.decode()


def progress_of_pictures(folder):
    """On a terminal the pictures of a sequence are counted while they are drawn; elsewhere, or with --quiet, not."""
    folder.call(THIN.replace("0.02", "0.04") + "[output]\nevery = 1\n", "run", "-o", "out", "--quiet")
    words = ["render", "out", "-o", "a.png", "--frames", "::", "--width", "64", "--height", "64", "--samples", "16"]
    said = shown_on_a_terminal(folder.program, folder.folder, words)
    assert re.search(r"\r\[#+\.*\] +\d+ %  \d+ of 41 pictures  \d+ s left", said), said
    assert said.rstrip().split("\n")[-1].startswith("a_0040.png: 41 pictures of frames 0 to 40 of 41, "), said
    assert shown_on_a_terminal(folder.program, folder.folder, [*words, "--quiet"]) == ""


def progress_of_runs(folder):
    """Where standard error is no terminal, a run of more than ten seconds says a line of how far it is; a shorter one,
    or one with --quiet, none. It is held up for as long, which takes no processor time."""
    scene = THIN.replace("duration = 0.02", "duration = 1000").replace("elements = 1", "elements = 2")
    (folder.folder / "s.toml").write_text(scene, encoding="utf-8")
    runs = [subprocess.Popen([folder.program, "run", "s.toml", "-o", name, *more], cwd=folder.folder, text=True, stderr=subprocess.PIPE)
            for name, more in (("loud", []), ("silent", ["--quiet"]))]  # fmt: skip
    end = time.monotonic() + 100
    while not all((folder.folder / name / "steps.csv").exists() for name in ("loud", "silent")):
        assert time.monotonic() < end and all(run.poll() is None for run in runs), "not under way"
        time.sleep(0.05)
    for signal_, wait in ((signal.SIGSTOP, 10.5), (signal.SIGCONT, 0.0)):
        for run in runs:
            run.send_signal(signal_)
        time.sleep(wait)
    # The line comes as soon as the run gets on, however slow the machine is; "still at work" may come before it.
    said = []
    while not said or "still at work" in said[-1]:
        said.append(runs[0].stderr.readline().rstrip("\n"))
    time.sleep(0.5)  # in which the other could say it as well
    for run in runs:
        run.send_signal(signal.SIGINT)
    loud, silent = (run.communicate(timeout=100)[1].splitlines() for run in runs)
    loud = said + loud
    told = r"\d+ %: t = \S+ of 1000 s, step \d+ of 1000000, 0 contacts, about [0-9.]+ (s|min|h) left"
    lines = [line for line in loud if "still at work" not in line]
    assert len(lines) == 2 and re.fullmatch(told, lines[0]) and lines[1].startswith("Sound: "), loud
    assert not any("left" in line for line in silent), silent


def what_next(folder):
    """On a terminal a finished run and an equilibrium end with commands that look at them; those commands work."""
    hanging = THIN + 'natural_curvature = [0, 1, 0]\n'
    for words, told in ((["run", "-o", "a b"], "Next: tresse view 'a b' shows it; tresse plot 'a b' -o forces.png draws its forces."),
                        (["run", "-o", "a b", "--quiet"], None),
                        (["static", "-o", "rest"], "Next: tresse plot rest -o shape.png draws "),
                        (["static", "-o", "rest", "--quiet"], None)):  # fmt: skip
        (folder.folder / "s.toml").write_text(hanging, encoding="utf-8")
        said = shown_on_a_terminal(folder.program, folder.folder, [words[0], "s.toml", *words[1:]])
        lines = said.replace("\r", "\n").strip().splitlines()
        assert (lines[-1].startswith(told) if told else not any("Next" in line for line in lines)), said
    for command in (["plot", "rest", "-o", "shape.png"], ["plot", "a b", "-o", "forces.png"], ["render", "rest", "-o", "rest.png", "--width", "16", "--height", "16"]):
        subprocess.run([folder.program, *command], cwd=folder.folder, check=True, capture_output=True, timeout=100)


def a_state_is_no_scene(folder):
    folder.call(THIN, "run", "-o", "out", "--quiet")
    (folder.folder / "out/checkpoint.h5").rename(folder.folder / "s.h5")
    for command in (["check", "s.h5"], ["check", "s.h5", "--parameters"], ["static", "s.h5", "-o", "rest"]):
        result = subprocess.run([folder.program, *command], cwd=folder.folder, capture_output=True, text=True, timeout=100)
        assert result.returncode == 2 and "s.h5: is an HDF5 file" in result.stderr, result
        assert result.stderr.count("\n") == 1 and not (folder.folder / "rest").exists(), result


def places_without_results(folder):
    """Given a place that holds no results, plot, render, export and view say what is there and what is near."""
    folder.call(THIN, "run", "-o", "runs/one", "--quiet")
    for name in ("begun", "empty", "swept"):
        (folder.folder / name).mkdir()
    (folder.folder / "begun/scene.toml").write_text(THIN, encoding="utf-8")
    (folder.folder / "swept/sweep.csv").write_text("case\n", encoding="ascii")
    for place, said in (
        ("s.toml", "s.toml: is a scene, not what a run left; tresse run s.toml -o out makes results"),
        ("nowhere", "nowhere: no such folder; expected that of a run"),
        ("runs/oen", "runs/oen: no such folder; expected that of a run; did you mean 'runs/one'?"),
        ("empty", ": no such file; expected the folder of a run; the folder is empty"),
        ("runs", "; expected the folder of a run; runs/one in it holds one"),
        ("begun", "; it holds a scene.toml but no results yet: tresse run begun/scene.toml -o out makes them"),
        ("swept", "; it holds a sweep, each run in a folder such as swept/case-000"),
    ):
        for command in (["plot", "-o", "a.png"], ["render", "-o", "a.png"], ["export", "-o", "a.obj"], ["export"], ["view", "--no-open"]):
            if place == "swept" and command[0] == "plot" or command == ["export"] and place != "s.toml":
                continue
            result = subprocess.run([folder.program, command[0], place, *command[1:]], cwd=folder.folder, capture_output=True,
                                    text=True, timeout=100)  # fmt: skip
            assert result.returncode == 2 and result.stderr.count("\n") == 1 and said in result.stderr, (command, result)


def parameters_alone(folder):
    scene = THIN.replace('"20 cm"', '"${long}"') + 'from = "no file"\n[parameters]\nlong = "20 cm" # of the hair\nmany = 3\n'
    listed = folder.call(scene, "check", "--parameters", "--set", "many=4").stdout
    assert listed == "long=20 cm  # of the hair\nmany=4\n", listed


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", required=True, type=pathlib.Path)
    program = parser.parse_args().program.resolve()
    for test in (replaced_results, quiet_verdict, thicker_than_long, words_of_check, page_of_check, left_out, many_overlaps, mixed_winding,
                 help_and_version, one_manner, hold_out_of_reach, progress_of_pictures, progress_of_runs, what_next, a_state_is_no_scene, places_without_results, parameters_alone):  # fmt: skip
        with tempfile.TemporaryDirectory() as folder:
            test(Folder(program, folder))
            print(test.__name__)


if __name__ == "__main__":
    main()
