#!/usr/bin/env python3
"""The scenes that ship: scenes_test.py --program TRESSE. All are checked and in the gallery; those of rods after Casati and
Bertails-Descoubes (2013) are run, for a while, and looked at."""

import argparse
import csv
import json
import os
import pathlib
import struct
import subprocess
import sys
import tempfile

import h5py
import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCENES = sorted((ROOT / "scenes").glob("*.toml"))
MODELS = {"super-clothoid": 6, "super-helix": 12, "discrete-elastic-rod": 30}  # elements that a swing wants


class Run:
    """One run of a scene of `scenes/`, sound or told in `wrong`; its centreline points (frames, points, 3) and tables."""

    def __init__(self, program, folder, scene, until, **parameters):
        words = [word for key, value in parameters.items() for word in ("--set", f"{key}={value}")]
        command = [program, "run", str(ROOT / f"scenes/{scene}.toml"), "-o", "run", "--quiet", "--threads", "1", *words,
                   "--until", str(until)]  # fmt: skip
        result = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=500)
        # A busy machine tells of slow steps. On the head a strand may slip off another, as in truth.
        passed_over = ["still at work", *(["sprang apart"] if scene == "head" else []),
                       *(["had to be cut"] if scene == "cable_over_pulleys" else [])]  # fmt: skip
        told = [line for line in result.stderr.splitlines() if not any(words in line for words in passed_over)]
        self.wrong = [] if result.returncode == 0 and not told else [result.stderr or str(result)]
        summary = json.loads((folder / "run/summary.json").read_text(encoding="utf-8"))
        self.energy_rise = summary["worst_energy_rise"]
        if summary["verdict"] != "sound" or "runaway" in summary["remarks"]:
            self.wrong.append(summary["sentence"])
        with h5py.File(folder / "run/trajectory.h5") as file:
            self.points = file["fibres/points"][:]
            self.time = file["time"][:]
            self.arc_length = file["fibres/arc_length"][:]
        with open(folder / "run/steps.csv", newline="", encoding="utf-8") as stream:
            self.steps = [{key: float(value) for key, value in row.items()} for row in csv.DictReader(stream)]

    def expect(self, what, ok):
        if not ok:
            self.wrong.append(what)

    def chords(self):
        return np.linalg.norm(np.diff(self.points, axis=1), axis=2)


def swing(program, folder):
    """In its plane, and with the midpoint rule without loss: 4e-6 to 2e-5 of the largest elastic energy in ten seconds."""
    for model, elements in MODELS.items():
        run = Run(program, folder, "swing", 2, model=model, elements=elements, scheme="nonlinear", theta=0.5)
        energy = np.array([row["kinetic"] + row["elastic"] + row["gravity"] for row in run.steps])
        strayed = np.abs(energy - energy[0]).max() / max(row["elastic"] for row in run.steps)
        run.expect(f"{model}: energy strays by {strayed:.2g}", strayed < 5e-5)
        run.expect(f"{model}: leaves its plane", np.abs(run.points[:, :, 1]).max() < 1e-12)
        lowest = run.points[:, -1, 2].min()
        run.expect(f"{model}: tip falls to {lowest:.3g} m", -0.2 < lowest < -0.15)
        yield f"swing, {model}", run.wrong


def curly_unwinding(program, folder):
    """The coils open: a fifth of a turn of the natural helix is less than a centimetre high."""
    run = Run(program, folder, "curly_unwinding", 1.5)
    height = -run.points[:, :, 2].min(axis=1)
    run.expect(f"unwinds to {height.max():.3g} m", height[0] < 0.05 and height.max() > 0.2)
    run.expect("is stretched", run.chords().sum(axis=1).max() <= 0.5 * (1 + 1e-12))
    yield "curly_unwinding", run.wrong


def ribbon(program, folder):
    """The hand's way is the root's, and the ribbon follows."""
    run = Run(program, folder, "ribbon", 3)
    at = {round(time, 3): points for time, points in zip(run.time, run.points)}
    run.expect(f"root at {at[2.5][0]}", np.abs(at[2.5][0] - [0.2, 0, 0]).max() < 1e-12)
    run.expect(f"tip lags by {0.2 - at[2.5][-1, 0]:.3g} m", at[2.5][-1, 0] < at[2.5][0, 0])
    run.expect(f"springs down to {at[2.0][:, 2].min():.3g} m", at[2.0][:, 2].min() < -0.2 < at[0.0][:, 2].min())
    run.expect("is stretched", run.chords().sum(axis=1).max() <= 0.6 * (1 + 1e-12))
    yield "ribbon", run.wrong


def parchment(program, folder):
    """One element: the curvature stays affine, from rolled up to hanging."""
    run = Run(program, folder, "parchment", 5)
    low = run.points[:, :, 2].min(axis=1)
    run.expect(f"unrolls from {low[0]:.3g} to {low[-1]:.3g} m", low[0] > -0.1 and low[-1] < -0.18)
    run.expect("leaves its plane", np.abs(run.points[:, :, 1]).max() < 1e-12)
    with h5py.File(folder / "run/trajectory.h5") as file:
        run.expect("more than one element", file["fibres/curvature"].shape[1] == 6)
    yield "parchment", run.wrong


def long_rod(program, folder):
    """Falls to the ground, never under it, and most of what is longer than the way down lies on it."""
    run = Run(program, folder, "long_rod", 2, elements=30)
    radius = 4e-3
    lowest = run.points[:, :, 2].min()
    run.expect(f"gets down to {lowest:.4g} m", lowest > 0.97 * radius)
    lying = np.mean(run.points[-1, :, 2] < 1.2 * radius)
    run.expect(f"{lying:.2f} of it lie on the ground", lying > 0.25)
    yield "long_rod", run.wrong


def twining_plant_3d(program, folder):
    """Winds on at the rate it grows, outside the pole, touching it near the root and at the tip."""
    run = Run(program, folder, "twining_plant_3d", 12)
    across = np.hypot(run.points[:, :, 0], run.points[:, :, 1])
    angle = np.unwrap(np.arctan2(run.points[-1, :, 1], run.points[-1, :, 0]))
    grown = 1 + 4 * 7 / 55
    loops = (angle[-1] - angle[0]) / (2 * np.pi)
    run.expect(f"{loops:.3f} loops for {grown:.3f} on the pole", abs(loops - grown) < 0.05 * grown)
    run.expect(f"{across.min():.6f} m from the pole's axis", across.min() > 0.01 * (1 - 2e-3))
    run.expect(f"the tip is {across[-1, -1]:.5f} m off", across[-1, -1] < 0.0115)
    # What a growing fibre leans into the pole is its own work: 3 % were missing from the books without it.
    run.expect(f"energy rises by {run.energy_rise:.2g}", run.energy_rise < 1e-3)
    yield "twining_plant_3d", run.wrong


def perversion(program, folder):
    """Winds one way in one half and the other way in the other; the clamp carries what the rod's inside says."""
    run = Run(program, folder, "perversion", 14)
    first = np.gradient(run.points[-1], axis=0)
    second = np.gradient(first, axis=0)
    third = np.gradient(second, axis=0)
    binormal = np.cross(first, second)
    torsion = (binormal * third).sum(axis=1) / (binormal**2).sum(axis=1)
    turned = torsion * np.linalg.norm(first, axis=1)
    left, right = (part[len(part) // 8 : -len(part) // 8] for part in np.array_split(turned, 2))
    one_way = all(abs(np.sign(half).sum()) == len(half) for half in (left, right))
    run.expect("winds both ways in one half", one_way)
    run.expect("winds the same way in both halves", left.mean() * right.mean() < -0.5 * left.mean() ** 2)
    with open(folder / "run/holds.csv", newline="", encoding="utf-8") as stream:
        last = list(csv.DictReader(stream))[-1]
    force = np.array([float(last[key]) for key in ("fx", "fy", "fz")])
    with h5py.File(folder / "run/trajectory.h5") as file:
        inside = np.linalg.norm(file["fibres/force"][-1], axis=1)
    run.expect(f"{inside.min()} to {inside.max()} N inside", np.abs(inside[:-1] - np.linalg.norm(force)).max() < 1e-6)
    run.expect(f"a clamp's force of {force}", 1e-3 < np.linalg.norm(force) < 0.1)
    run.expect(f"the clamp is off by {last['error']}", float(last["error"]) < 1e-9)
    yield "perversion", run.wrong


def spaghetti(program, folder):
    """With friction a stack that stays perfectly still, without a layer on the plate that goes on spreading."""
    run = Run(program, folder, "spaghetti", 0.3)
    run.expect("is no pasta on a plate", len(run.points[0]) == 31 * 121)
    speed = np.linalg.norm(np.diff(run.points[-4:], axis=0), axis=2).max() / np.diff(run.time[-4:]).min()
    # The friction solver leaves 1e-9 of the centimetre per second that gravity gives in a step: 1e-11.
    run.expect(f"moves at {speed:.2g} m/s", speed < 1e-10)
    run.expect(f"is {run.points[-1, :, 2].max():.3g} m high", run.points[-1, :, 2].max() > 8 * 0.9e-3)
    run.expect(f"is {np.ptp(run.points[-1, :, 1]):.3g} m wide", np.ptp(run.points[-1, :, 1]) < 0.02)
    yield "spaghetti, at rest", run.wrong
    run = Run(program, folder, "spaghetti", 0.4, fibres=12, friction=0, tolerance=1e-7)
    width = np.ptp(run.points[:, :, 1], axis=1)
    run.expect(f"is {width[-1]:.3g} m wide", width[-1] > 3 * width[0])
    run.expect(f"is {run.points[-1, :, 2].max():.3g} m high", run.points[-1, :, 2].max() < 1.1 * 0.9e-3)
    yield "spaghetti without friction", run.wrong


def strand_on_sphere(program, folder):
    """Every solver of the exact law comes to the same orbit, whatever it did on the way."""
    tips = {}
    for solver in ("hybrid-gauss-seidel", "alart-curnier-newton", "fischer-burmeister-newton", "cadoux", "auto"):
        run = Run(program, folder, "strand_on_sphere", 12, strands=2, **{"solver.name": solver})
        period = np.searchsorted(run.time, 2.0)
        tips[solver] = run.points[-period:, 96]
        again = np.abs(run.points[-period:] - run.points[-2 * period : -period]).max()
        run.expect(f"{solver}: differs by {again:.2g} m from one period to the next", again < 1e-5)
        run.expect(f"{solver}: swings by {np.ptp(tips[solver][:, 0]):.2g} m", np.ptp(tips[solver][:, 0]) > 0.03)
        apart = np.linalg.norm(tips[solver] - tips["hybrid-gauss-seidel"], axis=1).max()
        # Which contacts of a line stay depends on which bear a load, and redundant ones share it in more ways than one.
        run.expect(f"{solver}: {apart:.2g} m from the first", apart < 2e-6)
        yield f"strand_on_sphere, {solver}", run.wrong
    # The faceted cone is another law, with another orbit, nearer the more facets it has.
    coulomb = Run(program, folder, "strand_on_sphere", 12).points[-period:, 96]
    for facets, (least, most) in {4: (1e-2, 3e-2), 64: (2e-4, 2e-3)}.items():
        run = Run(program, folder, "strand_on_sphere", 12, **{"solver.facets": facets, "solver.max_iterations": 10000})
        apart = np.linalg.norm(run.points[-period:, 96] - coulomb, axis=1).max()
        run.expect(f"{facets} facets: {apart:.2g} m from Coulomb's orbit", least < apart < most)
        yield f"strand_on_sphere, {facets} facets", run.wrong


def head(program, folder):
    """Hair stays rooted on a head that shakes, which turns all roots as one body, and some of it sticks."""
    run = Run(program, folder, "head", 3)
    with h5py.File(folder / "run/trajectory.h5") as file:
        frame = file["obstacles/frame"][:, 0]
        roots = file["fibres/root_position"][:]
        axes = file["fibres/root_frame"][:]
        state = file["contacts/state"][file["contacts/frame_offsets"][-2] :]
        begin = file["fibres/point_offsets"][:]
    run.expect(f"has {len(begin) - 1} strands", len(begin) - 1 == 84)
    turned = np.arccos(np.clip((np.trace(frame, axis1=1, axis2=2) - 1) / 2, -1, 1)).max()
    run.expect(f"turns by {turned:.3g} rad", turned > 0.8)
    strayed = np.abs(np.einsum("fij,nj->fni", frame, roots[0]) - roots).max()
    run.expect(f"roots stray by {strayed:.2g} m", strayed < 1e-12)
    twisted = np.abs(np.einsum("fij,njk->fnik", frame, axes[0]) - axes).max()
    run.expect(f"root frames stray by {twisted:.2g}", twisted < 1e-12)
    off = np.linalg.norm(run.points, axis=2).min()
    run.expect(f"hair is {off:.5g} m from the head's centre", off > 0.08 + 0.9 * 1.5e-3)
    run.expect(f"{(state > 0).sum()} contacts, {(state == 1).sum()} stick", (state > 0).sum() > 100 and (state == 1).any())
    yield "head", run.wrong


def knot(program, folder):
    """Drawn tight it goes through itself nowhere, stays a knot, pulls as its loop bends and as friction takes, and holds."""
    stiffness, radius = 5e6 * np.pi * 1e-3**4 / 4, 1e-3
    pulls, taken = {}, {}
    for friction in (0, 0.3):
        run = Run(program, folder, "knot", 8, friction=friction, hold=3)
        apart = np.linalg.norm(run.points[:, :, None] - run.points[:, None], axis=3)
        neighbours = np.abs(np.subtract.outer(run.arc_length, run.arc_length)) < 0.02
        nearest = apart[:, ~neighbours].min()
        # Points that the frames hold are a millimetre apart: those of touching stretches are a little beyond two radii.
        run.expect(f"is {nearest:.4g} m from itself", nearest > 1.9 * radius)
        with h5py.File(folder / "run/trajectory.h5") as file:
            bend = np.linalg.norm(file["fibres/curvature"][:].reshape(len(run.time), -1, 3)[:, :, 1:], axis=2)
        run.expect(f"bends by {bend[-1].max():.3g} 1/m", bend[-1].max() > 100)  # without a knot it would be straight
        loop = np.array([np.median(frame[frame > 0.6 * frame.max()]) for frame in bend])
        with open(folder / "run/holds.csv", newline="", encoding="utf-8") as stream:
            pull = [np.hypot(float(row["fx"]), np.hypot(float(row["fy"]), float(row["fz"]))) for row in csv.DictReader(stream)]
        pulls[friction] = pull[-1]
        # What is held stays from a second after the end has come to rest: 1e-5 measured.
        run.expect(f"pulls {pull[-1]:.6g} N, {pull[-2001]:.6g} N 2 s before", abs(pull[-1] / pull[-2001] - 1) < 1e-4)
        # While it is drawn: what pulls beyond the bend of the loop, over (r/R)^(3/2) [audoly2007].
        taken[friction] = np.array([
            (np.mean(pull[k - 25 : k + 25]) * radius**2 / stiffness - (radius * loop[k // 50]) ** 2 / 2)
            / (radius * loop[k // 50]) ** 1.5 for k in (3600, 4200, 4800)])
        if friction == 0:  # B / 2 R^2, were the loop a circle and the crossings of no length
            ratio = pull[-1] / (stiffness * loop[-1] ** 2 / 2)
            run.expect(f"pulls {ratio:.3g} times what the loop bends with", 1.0 < ratio < 1.4)
        else:
            run.expect(f"friction takes {pull[-1] / pulls[0]:.3g} times the pull", pull[-1] > 2.2 * pulls[0])
            share = (taken[friction] - taken[0]) / friction
            run.expect(f"friction adds {share} mu (r/R)^1.5", ((1.1 < share) & (share < 1.6)).all())
        yield f"knot, friction {friction}", run.wrong


def ball_in_loop(program, folder):
    """The more friction, the higher: not far into the first loop, up its side and down again, off it, through both."""
    climbs = {0.05: (0.05, 0.07), 0.1: (0.08, 0.12), 0.15: (0.14, 0.18), 0.2: (0.23, 0.26), 0.3: (0.27, 0.275)}
    last = 0.0
    for friction, (least, most) in climbs.items():
        run = Run(program, folder, "ball_in_loop", 1.5, friction=friction)
        with h5py.File(folder / "run/trajectory.h5") as file:
            ball = file["obstacles/position"][:, 0]
        height = ball[:, 2].max()
        run.expect(f"climbs to {height:.3g} m", least < height < most and height > last)
        run.expect(f"ends at {ball[-1]}", (ball[-1, 0] > 1.2) == (friction == 0.3))
        last = height
        yield f"ball_in_loop, friction {friction}", run.wrong


def packing(program, folder):
    """Friction holds the balls higher, and they lie still."""
    heights = []
    for friction in (0, 0.3):
        run = Run(program, folder, "packing", 1, friction=friction)
        with h5py.File(folder / "run/trajectory.h5") as file:
            balls = file["obstacles/position"][-1, 5:]
        heights.append(balls[:, 2].mean() / 5e-3)
        run.expect("a ball is below the floor", balls[:, 2].min() > 5e-3 * (1 - 1e-4))
        run.expect(f"kinetic energy of {run.steps[-1]['kinetic']:.3g} J", run.steps[-1]["kinetic"] < 1e-6)  # of 0.02 J
        yield f"packing, friction {friction}", run.wrong
    run.expect(f"mean heights of {heights} radii", heights[0] < 2.1 and heights[1] > 2.2)
    yield "packing, both", run.wrong


def cable_over_pulleys(program, folder):
    """A cable that slides over two pulleys obeys the capstan law, and its hands feel the twist that was put into it."""
    ratio = {}
    for friction in (0, 0.3):
        run = Run(program, folder, "cable_over_pulleys", 0.7, friction=friction)
        with open(folder / "run/holds.csv", newline="", encoding="utf-8") as stream:
            rows = [row for row in csv.DictReader(stream) if float(row["time"]) > 0.4]
        loads = [np.mean([float(row["fz"]) for row in rows if row["hold"] == name]) for name in ("hand", "far hand")]
        ratio[friction] = loads[0] / loads[1]
        yield f"cable_over_pulleys, friction {friction}", run.wrong
    wrong = []
    exponent = 0.2905  # of 0.3: friction acts at the pulley's 50 mm, tension at 51.5 (docs/theory/surface_contact.md)
    if abs(ratio[0] - 1) > 0.03 or abs(ratio[0.3] / ratio[0] / np.exp(exponent * np.pi) - 1) > 0.02:
        wrong.append(f"loads of its hands: ratios {ratio}")
    yield "cable_over_pulleys, capstan", wrong


def rolling(program, folder):
    """With a third of the slope as friction it rolls, (2/3) g sin, and turns by its way over its radius; with less it slides, and
    friction turns it."""
    slope, radius, g = np.radians(20), 2e-3, 9.81
    for model in MODELS:
        for friction in (0.3, 0.05):  # a third of the slope is 0.1213
            run = Run(program, folder, "rolling", 0.3, model=model, friction=friction, **{"output.every": 1})
            with h5py.File(folder / "run/trajectory.h5") as file:
                frames = file["fibres/root_frame"][:, 0].reshape(-1, 3, 3)
            middle = run.points[:, run.points.shape[1] // 2]
            way = np.linalg.norm(middle[-1] - middle[0])
            turned = np.arccos([(np.trace(a.T @ b) - 1) / 2 for a, b in zip(frames, frames[1:])]).sum()
            fallen = 0.5 * run.time[-1] * (run.time[-1] + 1e-3)  # of a unit acceleration, by steps
            rolls = friction > np.tan(slope) / 3
            expected = 2 / 3 * g * np.sin(slope) if rolls else g * (np.sin(slope) - friction * np.cos(slope))
            run.expect(f"a way of {way} m", abs(way / (expected * fallen) - 1) < 1e-5)
            torque = way / radius if rolls else 2 * friction * g * np.cos(slope) / radius * fallen
            run.expect(f"a turn of {turned}", abs(turned / torque - 1) < 1e-5)
            yield f"rolling, {model}, friction {friction}", run.wrong


def pinch(program, folder):
    """Far inside the cone nothing creeps: 3e-15 m in ten seconds. Under a bar that moves it rolls half as fast."""
    run = Run(program, folder, "pinch", 11, duration=11)
    creep = np.abs(run.points[run.time > 1] - run.points[np.searchsorted(run.time, 1)]).max()
    run.expect(f"creeps by {creep:.2g} m", creep < 1e-12)
    yield "pinch, held", run.wrong
    # So little curvature that it is of no matter where its bend points; it slips by 1 um as the bar sets out.
    speed = 1e-3
    run = Run(program, folder, "pinch", 0.1, bar_speed=speed, natural_curvature=1e-4, load=0, clearance=0, **{"output.every": 10})
    middle = run.points[:, run.points.shape[1] // 2, 0]
    way, time = middle[-1] - middle[1], run.time[-1] - run.time[1]
    run.expect(f"the middle goes {way} m in {time} s", abs(2 * way / (speed * time) - 1) < 1e-4)
    yield "pinch, rolled", run.wrong


def capstan(program, folder):
    """At 0.99 of what friction holds the rope stays, with odd and even numbers of elements: it moves by 7e-11 m at most. At 1.01
    it slides off."""
    for model, elements in (("super-helix", 15), ("super-helix", 32), ("super-clothoid", 16)):
        run = Run(program, folder, "capstan", 2, model=model, elements=elements)
        slid = np.linalg.norm(run.points[:, (0, -1)] - run.points[0, (0, -1)], axis=2).max()
        run.expect(f"slides by {slid:.2g} m", slid < 1e-9)
        yield f"capstan, {model}, {elements} elements", run.wrong
        if elements == 15:  # at so few places it holds up to 2 % more
            continue
        run = Run(program, folder, "capstan", 1, model=model, elements=elements, h2="1.01 * ${limit}")
        slid = np.linalg.norm(run.points[-1, (0, -1)] - run.points[0, (0, -1)], axis=1).min()
        run.expect(f"slides by {slid:.2g} m", slid > 0.02)
        yield f"capstan, {model}, {elements} elements, beyond", run.wrong


def plied(lay, radius):
    """Radius of three helices that touch each other, their tangents at the angle `lay` to the common axis."""
    def nearest(around):
        heights = np.linspace(-1.5, 1.5, 6001) * radius
        turned = 2 * np.pi / 3 + np.tan(lay) / around * heights
        return np.sqrt((2 * around * np.sin(turned / 2)) ** 2 + heights**2).min()  # fmt: skip
    low, high = radius, 2 * radius
    for _ in range(50):
        low, high = ((low + high) / 2, high) if nearest((low + high) / 2) < 2 * radius else (low, (low + high) / 2)
    return low


def yarn(program, folder):
    """Without friction each ply is a helix that rests under its bending moment, its twist and the moment of the clamps
    [neukirch2002]: its lay is that of the theory within 1e-3."""
    radius, natural = 1e-3, 300.0
    bending = 5e6 * np.pi * radius**4 / 4
    run = Run(program, folder, "yarn", 1.2, friction=0, time_step=2e-3, turn_time=1, release=9)
    with h5py.File(folder / "run/trajectory.h5") as file:
        twist = file["fibres/curvature"][-1].reshape(3, -1, 3)[:, 6:14, 0].mean()
    points = run.points[-1].reshape(3, -1, 3)
    arc = run.arc_length.reshape(3, -1)[0]
    middle = (arc > 0.03) & (arc < 0.07)
    lay = np.mean([np.arccos(np.polyfit(arc[middle], ply[middle, 0], 1)[0]) for ply in points])
    with open(folder / "run/holds.csv", newline="", encoding="utf-8") as stream:
        tips = [{key: float(value) for key, value in row.items() if key != "hold"} for row in list(csv.DictReader(stream))[-3:]]
    moment = -sum(tip["mx"] + ply[-1, 1] * tip["fz"] - ply[-1, 2] * tip["fy"] for tip, ply in zip(tips, points))

    def unbalanced(angle):  # d/d angle of the energy per length, less the work of the clamps
        around = [plied(x, radius) for x in (angle - 1e-3, angle, angle + 1e-3)]
        bend, torsion, turn = ((f(angle + 1e-3, around[2]) - f(angle - 1e-3, around[0])) / 2e-3 for f in (
            lambda x, r: np.sin(x) ** 2 / r, lambda x, r: np.sin(x) * np.cos(x) / r, lambda x, r: np.sin(x) / r))  # fmt: skip
        moment_of_ply = bending * np.sin(angle) ** 2 / around[1]
        return moment_of_ply * bend + bending / 1.45 * (twist - natural) * torsion - moment / 3 * turn

    low, high = 0.1, 0.5
    for _ in range(20):
        low, high = ((low + high) / 2, high) if unbalanced((low + high) / 2) < 0 else (low, (low + high) / 2)
    run.expect(f"a lay of {np.degrees(lay)} degrees, {np.degrees(low)} in theory", abs(lay / low - 1) < 2e-3)
    turned = np.array([np.unwrap(np.arctan2(ply[:, 2], ply[:, 1]))[-1] - np.arctan2(ply[0, 2], ply[0, 1]) for ply in points])
    run.expect(f"tips turned by {turned}", np.abs(turned - 7 * np.pi).max() < 1e-6)
    yield "yarn, without friction", run.wrong


def shipped(program, folder):
    """Every scene passes the check, overlaps nothing, and has its picture."""
    gallery = "".join((ROOT / f"docs/start/{page}.md").read_text(encoding="utf-8") for page in ("gallery", "gallery_friction"))
    for scene in SCENES:
        result = subprocess.run([program, "check", str(scene)], cwd=folder, capture_output=True, text=True, timeout=300)
        good = result.returncode == 0 and "no body overlaps another at the start" in result.stdout
        yield f"check of {scene.name}", [] if good else [result.stdout + result.stderr]
        shown = all(words in gallery for words in (f"scenes/{scene.name}", f"images/gallery_{scene.stem}.png", f" -o {scene.stem}.png"))
        picture = ROOT / f"docs/images/gallery_{scene.stem}.png"
        data = picture.read_bytes() if picture.exists() else b""
        good = data[16:24] == struct.pack(">II", 640, 400) and len(data) < 300_000
        yield f"{scene.name} in the gallery", [] if shown and good else ["no entry, or no picture of 640 by 400 pixels below 300 kB"]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True)
    program = os.path.abspath(parser.parse_args().program)
    found = []
    parts = (shipped, cable_over_pulleys, swing, curly_unwinding, ribbon, parchment, long_rod, twining_plant_3d, perversion, spaghetti,
             strand_on_sphere, head, knot, ball_in_loop, packing, rolling, pinch, capstan, yarn)  # fmt: skip
    for part in parts:
        with tempfile.TemporaryDirectory() as name:
            found += part(program, pathlib.Path(name))
    bad = [(name, wrong) for name, wrong in found if wrong]
    for name, wrong in bad:
        print(f"{name}: {'; '.join(wrong)}")
    print(f"{len(found)} cases, {len(bad)} bad")
    return 1 if bad or not found else 0


if __name__ == "__main__":
    sys.exit(main())
