#!/usr/bin/env python3
"""tresse sweep from outside: sweep_test.py --program TRESSE. Tables, resuming, Ctrl-C, failed runs, scripts for clusters."""

import argparse
import csv
import json
import os
import pathlib
import re
import signal
import subprocess
import tempfile
import time

import h5py
import numpy as np

SCENES = pathlib.Path(__file__).resolve().parents[2] / "scenes"
BENDING = [str(SCENES / "three_point_bending.toml"), "--vary", "friction=0:0.5:2", "--vary", "natural_curvature=0,10"]


def call(program, *words, folder, status=0):
    result = subprocess.run([program, "sweep", *words], cwd=folder, capture_output=True, text=True, timeout=300)
    assert result.returncode == status, (words, result)
    return result


def table(folder):
    with open(folder / "sweep.csv", newline="", encoding="utf-8") as stream:
        return list(csv.DictReader(stream))


def as_text(value):
    return value.decode() if isinstance(value, bytes) else value


def words_of(program, folder, *words):
    """The texts of a figure; its SVG holds each in a comment."""
    subprocess.run([program, "plot", *words, "-o", "words.svg"], cwd=folder, check=True, timeout=300)
    return {text.strip() for text in re.findall("<!-- (.*?) -->", (folder / "words.svg").read_text(encoding="utf-8"))}


def test_a_grid_of_runs(program, folder):
    call(program, *BENDING, "--until", "0.05", "--jobs", "2", "-o", "grid", folder=folder)
    rows = table(folder / "grid")
    assert [(float(r["friction"]), float(r["natural_curvature"])) for r in rows] == [(0, 0), (0, 10), (0.5, 0), (0.5, 10)]
    assert {r["status"] for r in rows} == {"finished"} and {r["exit_status"] for r in rows} == {"0"}
    for row in rows:
        forces = np.genfromtxt(folder / "grid" / row["case"] / "forces.csv", delimiter=",", names=True, dtype=None, encoding="utf-8")
        size = np.sqrt(forces["fx"] ** 2 + forces["fy"] ** 2 + forces["fz"] ** 2)
        assert np.isclose(float(row["mean_force_support"]), size.mean(), rtol=1e-12)
        assert np.isclose(float(row["max_force_support"]), size.max(), rtol=1e-12)
        summary = json.loads((folder / "grid" / row["case"] / "summary.json").read_text(encoding="utf-8"))
        assert float(row["steps"]) == summary["steps"] and row["sound"] == "1"
    with h5py.File(folder / "grid/sweep.h5") as file:
        assert file["friction"][:].tolist() == [0, 0, 0.5, 0.5]
        assert file["status"][:].tolist() == [b"finished"] * 4
        assert file["message"][:].tolist() == [b""] * 4, "texts, also where all are empty"
        assert file["max_force_support"][:].tolist() == [float(r["max_force_support"]) for r in rows]
        units = {name: as_text(file[name].attrs["unit"]) for name in file if "unit" in file[name].attrs}
    # Of the parameters one has a unit, at the end of its comment.
    assert {n: units.get(n) for n in ("friction", "natural_curvature", "max_force_support", "wall_seconds", "steps")} == {
        "friction": None, "natural_curvature": "1/m", "max_force_support": "N", "wall_seconds": "s", "steps": None}  # fmt: skip
    with open(folder / "grid/sweep_units.csv", newline="", encoding="utf-8") as stream:
        assert {r["column"]: r["unit"] for r in csv.DictReader(stream) if r["unit"]} == units
    assert (folder / "grid/sweep.png").stat().st_size > 5000
    for words in (["-o", "a.png"], ["--y", "max_force_support", "-o", "b.png"],
                  ["--x", "contacts_mean", "--y", "wall_seconds", "--y", "steps", "-o", "c.png"]):  # fmt: skip
        subprocess.run([program, "plot", "grid", *words], cwd=folder, check=True, timeout=300)
    assert {"friction", "force on support [mN]", "wall time [s]", "natural curvature 10 1/m, max"} <= words_of(program, folder, "grid")
    shown = words_of(program, folder, "grid", "--x", "natural_curvature", "--y", "wall_seconds")
    assert {"natural curvature [1/m]", "wall time [s]", "friction 0", "friction 0.5"} <= shown
    assert {"friction 0", "friction 0.5"} <= words_of(program, folder, "grid/case-000", "grid/case-002")
    assert {"friction 0, natural curvature 0 1/m"} <= words_of(program, folder, "grid/case-000", "--y", "contacts")
    refused = subprocess.run([program, "plot", "grid", "--y", "nothing", "-o", "d.png"], cwd=folder, capture_output=True, text=True, timeout=300)
    assert refused.returncode == 2 and "no column 'nothing'; expected one of: " in refused.stderr


def test_loads_of_holds(program, folder):
    words = [str(SCENES / "knot.toml"), "--vary", "friction=0,0.2", "--until", "0.02"]
    call(program, *words, "-o", "knots", folder=folder)
    for row in table(folder / "knots"):
        loads = np.genfromtxt(folder / "knots" / row["case"] / "holds.csv", delimiter=",", names=True, dtype=None, encoding="utf-8")
        size = np.sqrt(loads["fx"] ** 2 + loads["fy"] ** 2 + loads["fz"] ** 2)
        assert np.isclose(float(row["mean_load_end"]), size.mean(), rtol=1e-12)
        assert np.isclose(float(row["max_load_end"]), size.max(), rtol=1e-12)


def test_the_run_of_a_case_is_that_of_the_program(program, folder):
    one = [program, "run", BENDING[0], "--set=friction=0.5", "--set=natural_curvature=10", "--until=0.05", "--quiet", "-o", "one"]
    subprocess.run(one, cwd=folder, check=True, timeout=300)
    assert (folder / "one/forces.csv").read_bytes() == (folder / "grid/case-003/forces.csv").read_bytes()


def test_resuming_runs_what_is_missing_alone(program, folder):
    words = [str(SCENES / "comb.toml"), "--set", "duration=0.2", "--set", "settle_time=0.05", "--set", "entry_time=0.1"]
    call(program, *words, "--vary", "friction=0.1,0.2", "-o", "grown", folder=folder)
    stamps = {c: (folder / f"grown/{c}/summary.json").stat().st_mtime_ns for c in ("case-000", "case-001")}
    result = call(program, *words, "--vary", "friction=0.1,0.3,0.2", "-o", "grown", "--resume", folder=folder)
    assert "2 of 2" in result.stderr and "3 of 3 runs finished" in result.stderr
    # Another friction stands in case-001 now: it was run again.
    assert (folder / "grown/case-000/summary.json").stat().st_mtime_ns == stamps["case-000"]
    assert (folder / "grown/case-001/summary.json").stat().st_mtime_ns != stamps["case-001"]
    assert [float(r["friction"]) for r in table(folder / "grown")] == [0.1, 0.3, 0.2]
    result = call(program, *words, "--vary", "friction=0.1,0.3,0.2", "-o", "grown", "--resume", folder=folder)
    assert result.stderr.count("\n") == 1


def test_a_failed_run_is_a_row(program, folder):
    words = [str(SCENES / "cantilever.toml"), "--command", "static", "--vary", "model=super-helix,magic,super-clothoid"]
    result = call(program, *words, "-o", "static", folder=folder)
    rows = table(folder / "static")
    assert [r["status"] for r in rows] == ["finished", "refused", "finished"]
    assert "magic" in rows[1]["message"] and rows[1]["exit_status"] == "2" and rows[1]["tip_z"] == ""
    assert float(rows[0]["tip_z"]) < 0 and rows[0]["stable"] == "1"
    assert "2 of 3 runs finished" in result.stderr
    call(program, *words, "-o", "static", "--resume", "--strict", "--quiet", folder=folder, status=3)
    with h5py.File(folder / "static/sweep.h5") as file:
        assert np.isnan(file["tip_z"][1]) and file["model"][1] == b"magic"


def test_ctrl_c_stops_cleanly(program, folder):
    words = [str(SCENES / "comb.toml"), "--set", "duration=6", "--set", "fibres=4", "--vary", "friction=0.1,0.2,0.3", "-o", "cut"]
    sweep = subprocess.Popen([program, "sweep", *words, "--jobs", "2"], cwd=folder, stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 60
    while not (folder / "cut/case-001/checkpoint.h5").exists() and time.monotonic() < deadline:
        time.sleep(0.01)
    sweep.send_signal(signal.SIGINT)
    _, errors = sweep.communicate(timeout=60)
    assert sweep.returncode == 130, (sweep.returncode, errors)
    rows = table(folder / "cut")
    assert [r["status"] for r in rows] == ["interrupted", "interrupted", "missing"]
    for case in ("case-000", "case-001"):
        assert json.loads((folder / "cut" / case / "summary.json").read_text(encoding="utf-8"))["status"] == "interrupted"
    assert rows[2]["exit_status"] == ""


def test_scripts_for_clusters(program, folder):
    words = [*BENDING, "--until", "0.02", "-o", "a b/cluster"]
    call(program, *words, "--slurm", "sweep.sh", "--snakemake", "Snakefile", folder=folder)
    assert not (folder / "a b").exists()
    script = (folder / "sweep.sh").read_text(encoding="utf-8")
    assert "#SBATCH --array=0-3\n" in script
    for task in range(4):
        environment = {**os.environ, "SLURM_ARRAY_TASK_ID": str(task), "SLURM_CPUS_PER_TASK": "1"}
        subprocess.run(["bash", "sweep.sh"], cwd=folder, env=environment, check=True, timeout=300)
    result = call(program, *words, "--resume", folder=folder)
    assert "4 of 4 runs finished" in result.stderr and result.stderr.count("\n") == 1
    for case in range(4):
        name = f"case-00{case}/forces.csv"
        begin = (folder / "grid" / name).read_bytes()[: 1000]
        assert (folder / "a b/cluster" / name).read_bytes()[:1000] == begin
    # Python, up to the rules: the commands are those of the script.
    commands = {}
    exec((folder / "Snakefile").read_text(encoding="utf-8").split("\nrule ")[0], commands)
    assert sorted(commands["COMMANDS"]) == [f"case-00{i}" for i in range(4)]
    assert all(command.split(" --threads")[0] in script for command in commands["COMMANDS"].values())


def test_list_and_refusals(program, folder):
    assert call(program, *BENDING, "--list", folder=folder).stdout.splitlines()[3] == "case-003 friction=0.5 natural_curvature=10"
    for words, said in (
        (["--vary", "friction"], "expected name=a:b:n or name=v1,v2,..."),
        (["--vary", "friction=0:1"], "n plain numbers from a to b"),
        (["--vary", "friction=0:1:0"], "n plain numbers from a to b"),
        (["--vary", "friction=0:nan:3"], "n plain numbers from a to b"),
        (["--vary", "friction=0,,1"], "a value between the commas"),
        (["--vary", "friction=0:1:2", "--vary", "friction=3,4"], "found twice"),
        (["--vary", "friction=0:1:1000", "--vary", "elements=1:1000:1000"], "more than 100000 runs"),
        (["--vary", "frictoin=0:1:2"], 'did you mean "friction"'),
        (["--vary", "friction=0:1:2", "--command", "dance"], "dance"),
        ([], "--vary"),
    ):
        result = call(program, BENDING[0], *words, "-o", "never", folder=folder, status=2)
        assert said in result.stderr and result.stderr.count("\n") == 1, (words, result.stderr)
    assert "-o: missing" in call(program, *BENDING, folder=folder, status=2).stderr
    assert "holds a brace" in call(program, *BENDING, "-o", "{x}", "--snakemake", "s", folder=folder, status=2).stderr
    (folder / "file").write_text("", encoding="utf-8")
    assert "cannot create the folder" in call(program, *BENDING, "-o", "file", folder=folder, status=2).stderr
    assert not (folder / "never").exists()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True)
    program = os.path.abspath(parser.parse_args().program)
    tests = [test for name, test in globals().items() if name.startswith("test_")]
    with tempfile.TemporaryDirectory() as name:
        for test in tests:
            test(program, pathlib.Path(name))
    print(f"{len(tests)} sweep tests")


if __name__ == "__main__":
    main()
