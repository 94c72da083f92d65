#!/usr/bin/env python3
"""Grains from outside: grains_test.py slope|files|flows --program TRESSE. The layer on a slope flows as the closed form says,
or rests; runs give the same bytes on any number of threads and after a resume; the bar and the silo that ship are solved."""

import csv
import json
import pathlib

import h5py
import numpy as np
from parts import run, run_part, sets

SCENES = pathlib.Path(__file__).resolve().parents[2] / "scenes"
G, DENSITY, DEPTH = 9.81, 1500.0, 0.1
HEADER = "time,kinetic,volume,top_speed,residual,iterations,discharge,leaving,dilation,leak,least_pressure,most_pressure,fx,fy,fz"


def shipped(program, folder, name, output, *words):
    run(program, folder, "run", str(SCENES / f"{name}.toml"), "-o", output, "--quiet", *words)
    summary = json.loads((folder / output / "summary.json").read_text(encoding="utf-8"))
    assert summary["verdict"] == "sound", summary["sentence"]
    return summary


def table(folder):
    with open(folder / "grains.csv", newline="", encoding="utf-8") as file:
        return [{key: float(value) for key, value in row.items()} for row in csv.DictReader(file)]


def grains(folder):
    with h5py.File(folder / "trajectory.h5") as file:
        return {name: item[()] for name, item in file["grains"].items()}


def closed_form(program, folder):
    """The velocity at every node, and the load of the layer on the bed."""
    for slope_deg, friction, viscosity, cells in ((25, 0.3, 10, 20), (22, 0.3, 1, 30), (35, 0.5, 30, 12)):
        shipped(program, folder, "sand_incline", "flow", *sets(f"slope_deg={slope_deg}", f"friction={friction}", f"viscosity={viscosity}", f"cells={cells}"))
        slope, found, last = np.radians(slope_deg), grains(folder / "flow"), table(folder / "flow")[-1]
        pull, z = DENSITY * G * (np.sin(slope) - friction * np.cos(slope)), found["node"][:, 2]
        expected = pull * (DEPTH * z - z * z / 2) / viscosity
        off = np.abs(found["velocity"][-1] - expected[:, None] * [1, 0, 0]).max() / expected.max()
        print(f"{slope_deg} deg: velocities are off by {off:.2g} of the largest")
        assert off < 1e-9, off
        assert abs(last["top_speed"] / expected.max() - 1) < 1e-9, last
        weight = DENSITY * G * (2 * DEPTH / cells) ** 2 * DEPTH
        load = np.array([last["fx"], last["fy"], last["fz"]]) / weight - [np.sin(slope), 0, -np.cos(slope)]
        assert np.abs(load).max() < 1e-9, load
        height = found["cell"][:, 2]
        assert np.abs(found["pressure"][-1] / (DENSITY * G * np.cos(slope)) - (DEPTH - height)).max() < 1e-8 * DEPTH


def rest(program, folder):
    for slope_deg, friction in ((10, 0.3), (13, 0.3), (20, 0.5)):
        shipped(program, folder, "sand_incline", "rest", *sets(f"slope_deg={slope_deg}", f"friction={friction}"))
        speed = max(row["top_speed"] for row in table(folder / "rest"))
        print(f"{slope_deg} deg, friction {friction}: at most {speed:.2g} m/s")
        assert speed < 1e-10, speed


def same_bytes(program, folder):
    words = ["run", str(SCENES / "sand_cylinder.toml"), "--quiet", *sets("cells=12", "duration=0.03")]
    run(program, folder, *words, "-o", "one", "--threads", "1")
    run(program, folder, *words, "-o", "two", "--threads", "2")
    run(program, folder, *words, "-o", "cut", "--until", "0.012")
    run(program, folder, *words, "-o", "cut", "--resume")
    for other in ("two", "cut"):
        for name in ("trajectory.h5", "grains.csv", "forces.csv"):
            assert (folder / other / name).read_bytes() == (folder / "one" / name).read_bytes(), (other, name)
    with h5py.File(folder / "one/checkpoint.h5") as file:
        assert file["state/grains/velocity"].shape == (13 * 13, 3) and file["state/grains/stress"].shape == (3 * 144,)


def results(program, folder):
    """Of the run above: the table's columns, the books of volume, and what a frame has."""
    assert (folder / "one/grains.csv").read_text(encoding="utf-8").startswith(HEADER + "\n")
    rows, found = table(folder / "one"), grains(folder / "one")
    step = rows[0]["time"]
    lost = np.cumsum([step * row["discharge"] for row in rows])
    filled = found["fraction"][-1]
    cell = 0.4**2 / 12**2 * (0.4 / 12)
    assert np.abs([row["volume"] for row in rows] + lost - filled.sum() * cell).max() < 1e-15
    assert found["velocity"].shape == (4, 169, 3) and found["pressure"].shape == found["fraction"].shape == (4, 144)
    in_bar = np.hypot(found["cell"][:, 0], found["cell"][:, 2] - 0.2) <= 0.05
    assert np.array_equal(filled == 0, in_bar) and 0 < in_bar.sum() < 144
    assert (found["pressure"][:, in_bar] == 0).all() and (found["pressure"] >= 0).all()
    last = rows[-1]
    assert last["most_pressure"] == found["pressure"][-1].max() and last["least_pressure"] == found["pressure"][-1].min()
    assert abs(last["top_speed"] - np.linalg.norm(found["velocity"][-1], axis=1).max()) < 1e-14
    with open(folder / "one/forces.csv", newline="", encoding="utf-8") as file:
        push = [float(row["fz"]) for row in csv.DictReader(file)]
    assert max(push) < 0 and "verdict" in json.loads((folder / "one/summary.json").read_text(encoding="utf-8"))


def unsolved(program, folder):
    """Steps that miss the tolerance are told of, kept, and judged."""
    words = ["run", str(SCENES / "sand_cylinder.toml"), "-o", "hard", *sets("cells=12", "duration=0.01", "tolerance=1e-10", "max_iterations=1")]
    told = run(program, folder, *words, "--strict", status=3).stderr
    assert "the flow of the grains stopped at" in told and "Not sound: 5 steps left the flow of the grains unsolved" in told, told
    verdict = json.loads((folder / "hard/summary.json").read_text(encoding="utf-8"))["verdict"]
    assert [finding["what"] for finding in verdict] == ["grains"] and verdict[0]["steps"] == 5, verdict
    assert (folder / "hard/failure/step-1.h5").is_file()
    run(program, folder, "run", "hard/failure/step-2.h5", "-o", "again")
    assert table(folder / "again") == table(folder / "hard")[1:2]


HAIR = """[simulation]
time_step = 1e-3
duration = 0.02
[[fibres]]
name = "hair"
material = "human-hair"
length = 0.1
elements = 3
radius = 1e-4
"""
SAND = """[grains]
domain = [[0, 0, 0], [0.1, 0.1, 0.1]]
cells = [3, 0, 3]
density = 1500
friction = 0.3
viscosity = 1
"""


def beside(program, folder):
    """Fibres beside grains move as without them, and `check` says that neither acts on the other."""
    (folder / "hair.toml").write_text(HAIR, encoding="utf-8")
    (folder / "both.toml").write_text(HAIR + SAND, encoding="utf-8")
    for name in ("hair", "both"):
        run(program, folder, "run", f"{name}.toml", "-o", name, "--quiet")
    with h5py.File(folder / "hair/trajectory.h5") as alone, h5py.File(folder / "both/trajectory.h5") as both:
        assert np.array_equal(alone["fibres/points"], both["fibres/points"]) and "grains" not in alone
    told = run(program, folder, "check", "both.toml").stdout
    assert "grains: fibres and surfaces go through them, and neither acts on the other" in told, told
    assert "layers hold on slopes up to 16.7 deg" in told and "velocities and 27 stresses unknown" in told, told


def bad(program, folder):
    scene = str(SCENES / "sand_incline.toml")
    for words, part in [(["cells=0"], "grains."), (["friction=-1"], "grains.friction"),
                        (["viscosity=1 Pa"], "viscosity"), (["depth=0"], "depth")]:  # fmt: skip
        result = run(program, folder, "run", scene, "-o", "bad", *sets(*words), status=2)
        assert part in result.stderr and result.stderr.count("\n") == 1, result.stderr
        assert not (folder / "bad").exists()
    (folder / "particles.toml").write_text(SAND + 'model = "particles"\n', encoding="utf-8")
    result = run(program, folder, "run", "particles.toml", "-o", "bad", status=2)
    assert result.stderr == 'tresse: particles.toml:7:9: grains.model is "particles", a model that tresse does not have; expected "dense"\n', result.stderr
    result = run(program, folder, "static", scene, "-o", "bad", status=2)
    assert "the scene has grains" in result.stderr and result.stderr.count("\n") == 1, result.stderr
    assert not (folder / "bad").exists()


def bar(program, folder):
    """Past the bar no pressure is negative, and right behind it there is none; the two halves of the channel do the same."""
    shipped(program, folder, "sand_cylinder", "bar", *sets("duration=0.1"))
    found = grains(folder / "bar")
    pressure, at = found["pressure"], found["cell"]
    assert pressure.min() == 0 and pressure[-1].max() > 1000
    behind = (np.abs(at[:, 0]) < 0.04) & (at[:, 2] > 0.11) & (at[:, 2] < 0.15)
    assert behind.sum() > 5 and (pressure[-1][behind] == 0).all(), pressure[-1][behind]
    pushed = at[pressure[-1].argmax()]
    assert abs(pushed[0]) < 0.05 and 0.24 < pushed[2] < 0.32, pushed
    speed = found["velocity"][-1].reshape(25, 25, 3)
    off = np.abs(speed - speed[:, ::-1] * [-1, 1, 1]).max() / np.abs(speed).max()
    assert off < 1e-6, off
    with h5py.File(folder / "bar/trajectory.h5") as file:
        force, torque = file["obstacles/force"][-1, 0], file["obstacles/torque"][-1, 0]
    assert force[2] < 0 and np.abs(torque).max() < 1e-6 * 0.05 * -force[2], (force, torque)  # about its axis
    shipped(program, folder, "sand_cylinder", "slippery", *sets("duration=0.1", "bar=slip"))
    with h5py.File(folder / "slippery/trajectory.h5") as file:
        slippery = file["obstacles/force"][-1, 0]
    assert 0.9 * force[2] < slippery[2] < 0, (force, slippery)
    rough, smooth = table(folder / "bar")[-1], table(folder / "slippery")[-1]
    assert smooth["kinetic"] > rough["kinetic"] and abs(rough["leak"]) < 1e-12 < abs(smooth["leak"]) < 0.1 * smooth["leaving"]
    print(f"pressure {pressure[-1].max():.4g} Pa at {pushed}, symmetric to {off:.1g}")


def silo(program, folder):
    """The shipped grid is solved from rest; corners beside the hole stay at rest while the middle runs out."""
    summary = shipped(program, folder, "sand_silo", "silo", "--until", "0.02")
    assert summary["worst_grain_residual"] <= 1e-8
    rows, found = table(folder / "silo"), grains(folder / "silo")
    leaving = [row["leaving"] for row in rows]
    assert all(a < b for a, b in zip(leaving, leaving[1:])), leaving
    assert all(abs(row["discharge"]) < 1e-5 * row["leaving"] for row in rows)
    speed, at = np.linalg.norm(found["velocity"][-1], axis=1), found["node"]
    corner = (np.abs(at[:, 0]) > 0.2) & (at[:, 2] < 0.08)
    assert corner.any() and speed[corner].max() < 1e-3 * speed.max(), speed[corner].max() / speed.max()
    assert found["fraction"][-1].sum() == 20 * 30 - 12


if __name__ == "__main__":
    run_part({"slope": (closed_form, rest), "files": (same_bytes, results, unsolved, beside, bad), "flows": (bar, silo)})
