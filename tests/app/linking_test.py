#!/usr/bin/env python3
"""Closed curves stay linked as they are, under every law of contact: linking_test.py --program TRESSE [--scenes N].

Two fibres hang as arcs between bars that go on far up and far down, so that each is a closed curve, and a ring is thrown at
them while a strong wind of gravity blows them through each other. At steps of 1 to 100 ms no linking number may change: they
are computed here, from the trajectory alone."""

import argparse
import os
import pathlib
import subprocess
import sys
import tempfile

import h5py
import numpy as np

CURVATURE, LENGTH, RADIUS, TUBE, STEPS = 12.0, 0.2, 5e-4, 1e-3, 14
HALF_ANGLE = CURVATURE * LENGTH / 2
CHORD = 2 / CURVATURE * np.sin(HALF_ANGLE)
SAG = (1 - np.cos(HALF_ANGLE)) / CURVATURE
MODELS = ("super-helix", "super-clothoid", "discrete-elastic-rod")
FAR, CLEAR = 0.6, 1.7e-3  # how far the bars go [m], and their axes' ends from the fibres': nothing gets through there
MOST = 1e-3  # that a held tip may give [m], which it does as the fibre would stretch; then the curve is no longer closed


def linking_number(a, b):
    """Of two closed polylines, by Gauss's integral: the solid angles that pairs of segments span."""
    a1, b1 = np.roll(a, -1, axis=0), np.roll(b, -1, axis=0)
    corners = [q[None] - p[:, None] for p, q in ((a, b), (a, b1), (a1, b1), (a1, b))]
    across = [np.cross(corners[k], corners[(k + 1) % 4]) for k in range(4)]
    unit = [x / np.maximum(np.linalg.norm(x, axis=2, keepdims=True), 1e-300) for x in across]
    angle = sum(np.arcsin(np.clip((unit[k] * unit[(k + 1) % 4]).sum(2), -1, 1)) for k in range(4))
    turned = np.cross(np.broadcast_to((b1 - b)[None], corners[0].shape), np.broadcast_to((a1 - a)[:, None], corners[0].shape))
    return (angle * np.sign((turned * corners[0]).sum(2))).sum() / (4 * np.pi)


def numbers(values):
    return "[" + ", ".join(f"{float(value)!r}" for value in values) + "]"


def scene(seed, law):
    """The scene as a text, where the bars of both fibres go, and the ring: centre and two axes of its circle."""
    random = np.random.default_rng(seed)
    step, speed = (1e-3, 5e-3, 2e-2, 1e-1)[seed % 4], 10 ** random.uniform(-0.3, 1.3)
    low = -random.uniform(1.0, 2.2) * SAG  # where the second fibre, which stands up, has its ends
    middle = np.array([CHORD / 2, 0, -SAG])
    pull = random.normal(size=3)
    centre = middle + random.uniform(-0.04, 0.04, 3)
    aim = middle * [1, 1, 0.8] - centre
    axis, spin = random.normal(size=3), 10 * speed * random.normal(size=3)
    radius = random.uniform(0.008, 0.02)
    text = f"""
[simulation]
time_step = {step}
duration = {STEPS * step}
gravity = {numbers(20 * speed * pull / np.linalg.norm(pull))}
[materials.rod]
density = 1100
young_modulus = 1e8
poisson_ratio = 0.4
damping_time = 1e-3
[friction]
default = 0.3
[contact]
law = "{law}"
[output]
every = 1
"""
    along, down = np.cos(HALF_ANGLE), np.sin(HALF_ANGLE)
    for name, root, tangent, normal in (("one", [0, 0, 0], [along, 0, -down], [down, 0, along]),
                                        ("two", [CHORD / 2, -CHORD / 2, low], [0, along, down], [0, down, -along])):  # fmt: skip
        text += f"""
[[fibres]]
name = "{name}"
model = "{MODELS[seed // 4 % 3]}"
material = "rod"
radius = {RADIUS}
length = {LENGTH}
elements = {12 + seed % 5}
natural_curvature = {CURVATURE}
root = {{ position = {numbers(root)}, tangent = {numbers(tangent)}, normal = {numbers(normal)} }}
holds = [{{}}]
"""
    ends = (([0, 0, 0], 1), ([CHORD, 0, 0], 1), ([CHORD / 2, -CHORD / 2, low], -1), ([CHORD / 2, CHORD / 2, low], -1))
    for index, ((x, y, z), up) in enumerate(ends):
        text += f"""
[[obstacles]]
name = "bar {index}"
shape = "capsule"
from = {numbers([x, y, z + up * CLEAR])}
to = {numbers([x, y, z + up * FAR])}
radius = {RADIUS}
"""
    text += f"""
[[obstacles]]
name = "ring"
shape = "ring"
center = {numbers(centre)}
axis = {numbers(axis)}
radius = {radius}
tube_radius = {TUBE}
density = 2000
velocity = {numbers(speed * aim / np.linalg.norm(aim))}
angular_velocity = {numbers(spin)}
"""
    first = np.cross(axis, np.eye(3)[np.argmin(abs(axis))])
    first /= np.linalg.norm(first)
    second = np.cross(axis / np.linalg.norm(axis), first)
    return text, radius * np.array([first, second])


def links(folder, circle):
    """Those of the fibres with each other, and of the ring with both, in every frame up to where one opens."""
    turn = np.linspace(0, 2 * np.pi, 100, endpoint=False)
    loop = np.cos(turn)[:, None] * circle[0] + np.sin(turn)[:, None] * circle[1]
    out = []
    with h5py.File(folder / "out/trajectory.h5") as file:
        ring = [name.decode() if isinstance(name, bytes) else name for name in file["obstacles/names"][:]].index("ring")
        begin = file["fibres/point_offsets"][:]
        tips = file["fibres/points"][0][begin[1:] - 1]
        for points, place, frame in zip(file["fibres/points"], file["obstacles/position"], file["obstacles/frame"]):
            if abs(points[begin[1:] - 1] - tips).max() > MOST:
                break
            closed = [np.vstack([fibre, fibre[-1] + far, fibre[0] + far])
                      for fibre, far in zip(np.split(points, begin[1:-1]), np.array([[0, 0, 5], [0, 0, -5]]))]  # fmt: skip
            closed.append(place[ring] + loop @ frame[ring].T)
            out.append([linking_number(closed[i], closed[j]) for i, j in ((0, 1), (0, 2), (1, 2))])
    return np.array(out)


def run(program, folder, seed, law):
    """None where bodies overlap at the start, or what is wrong, and whether anything was linked, touched and stayed closed."""
    text, circle = scene(seed, law)
    (folder / "scene.toml").write_text(text, encoding="utf-8")
    done = subprocess.run([program, "run", "scene.toml", "-o", "out", "--quiet", "--threads", "1"], cwd=folder,
                          capture_output=True, text=True, timeout=300)  # fmt: skip
    if "at the start" in done.stderr:
        return None
    if done.returncode != 0:
        return [done.stderr], False, False, False
    found = links(folder, circle)
    whole = np.round(found)
    wrong = []
    if abs(found - whole).max() > 0.02:
        wrong.append(f"links by {found[abs(found - whole).argmax() // 3]}")
    if (whole != whole[0]).any():
        wrong.append(f"was linked {whole[0]} times, is {whole[-1]}")
    if "passed through" in done.stderr:
        wrong.append(done.stderr)
    with h5py.File(folder / "out/trajectory.h5") as file:
        touched = len(file["contacts/gap"]) > 0
    return wrong, bool((whole[0] != 0).any()), touched, len(found) == STEPS + 1


def self_test():
    """Two circles through each other's middle are linked once, and beside each other not at all."""
    turn = np.linspace(0, 2 * np.pi, 50, endpoint=False)
    flat = np.array([np.cos(turn), np.sin(turn), 0 * turn]).T
    upright = np.array([1 + np.cos(turn), 0 * turn, np.sin(turn)]).T
    once, never = linking_number(flat, upright), linking_number(flat, upright + [2.5, 0, 0])
    yield "measure", [] if abs(abs(once) - 1) < 1e-9 and abs(never) < 1e-9 else [f"{once}, {never}"]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True)
    parser.add_argument("--scenes", type=int, default=20)
    options = parser.parse_args()
    found = list(self_test())
    linked = touched = closed = 0
    runs = [(law, seed) for law, share in (("coulomb", 2), ("imc", 1), ("ipc", 1)) for seed in range(share * options.scenes // 2)]
    for law, seed in runs:
        with tempfile.TemporaryDirectory() as name:
            result = run(os.path.abspath(options.program), pathlib.Path(name), seed, law)
        if result is None:
            continue
        wrong, was_linked, has_touched, stayed_closed = result
        found.append((f"scene {seed} under {law}", wrong))
        linked += was_linked
        touched += has_touched
        closed += stayed_closed
    if min(linked, touched, closed) < len(runs) // 2:
        found.append(("scenes", [f"only {linked} have linked curves, {touched} touch, {closed} stay closed"]))
    bad = [(name, wrong) for name, wrong in found if wrong]
    for name, wrong in bad:
        print(f"{name}: {'; '.join(wrong)}")
    print(f"{len(found)} cases, {linked} linked, {touched} touched, {closed} stayed closed, {len(bad)} bad")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
