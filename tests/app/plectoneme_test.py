#!/usr/bin/env python3
"""The plectoneme of scenes/plectoneme.toml: plectoneme_test.py --program TRESSE.

That it goes nowhere through itself is a matter of topology: while its ends are clamped along one line, twist and writhe
add up to the turns that the clamps made, in every frame. Both are computed here, from the trajectory alone. What it pulls
and turns with while it is held is compared with the energy of a ply without friction (docs/measured/plectoneme.md)."""

import argparse
import csv
import os
import pathlib
import sys
import tempfile

import h5py
import numpy as np

from scenes_test import Run

RADIUS, LENGTH, YOUNG_MODULUS, TURNS = 1e-3, 0.2, 5e6, 8
STIFFNESS = YOUNG_MODULUS * np.pi * RADIUS**4 / 4
TURNED, REST, STRETCH = 5.0, 1.5, 0.2  # seconds: until all turns are in, held each time, pulled each time


def turn(vector):
    """Rotation about a vector by its length."""
    angle = np.linalg.norm(vector)
    x, y, z = vector / max(angle, 1e-300)
    cross = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + np.sin(angle) * cross + (1 - np.cos(angle)) * cross @ cross


def material_frames(root, nodes, s):
    """Halfway between neighbouring points of a super-clothoid: R' = R [k]x, k linear between nodes."""
    where = np.linspace(0, LENGTH, len(nodes))
    middle = (s[1:] + s[:-1]) / 2
    at = lambda x: np.array([np.interp(x, where, nodes[:, i]) for i in range(3)]).T  # noqa: E731
    frames, frame = [], root
    for ds, first, second in zip(np.diff(s) / 2, at((s[:-1] + middle) / 2), at((middle + s[1:]) / 2)):
        frame = frame @ turn(ds * first)
        frames.append(frame)
        frame = frame @ turn(ds * second)
    return np.array(frames), frame


def writhe(points):
    """Of a polyline, by Gauss's integral, which has a closed form for two segments [klenin2000]."""
    first, second = np.triu_indices(len(points) - 1, 2)
    a, b, c, d = points[first], points[first + 1], points[second], points[second + 1]
    normals = [np.cross(c - a, d - a), np.cross(d - a, d - b), np.cross(d - b, c - b), np.cross(c - b, c - a)]
    normals = [n / np.maximum(np.linalg.norm(n, axis=1), 1e-300)[:, None] for n in normals]
    area = sum(np.arcsin(np.clip((normals[k] * normals[k - 1]).sum(1), -1, 1)) for k in range(4))
    return (area * np.sign((np.cross(d - c, b - a) * (c - a)).sum(1))).sum() / (2 * np.pi)


def twist(edges, directors):
    """Turns of the directors about a polyline, beyond those of parallel transport."""
    total = 0.0
    tangents = edges / np.linalg.norm(edges, axis=1)[:, None]
    for t, next_t, d, next_d in zip(tangents, tangents[1:], directors, directors[1:]):
        d = d - d @ t * t
        axis = np.cross(t, next_t)
        angle = np.arctan2(np.linalg.norm(axis), t @ next_t)
        carried = turn(axis / max(np.linalg.norm(axis), 1e-300) * angle) @ d
        total += np.arctan2(np.cross(carried, next_d) @ next_t, carried @ (next_d - next_d @ next_t * next_t))
    return total / (2 * np.pi)


def link(points, s, root, nodes, clamp):
    """Twist and writhe of the cord with two far straight ends along x. Whatever the directors between the ends are, the sum
    is what the clamps' frames turned, to rounding, and jumps by two with a crossing."""
    far = np.array([1e4 * LENGTH, 0, 0])
    line = np.vstack([points[0] - far, points, points[-1] + far])
    frames, _ = material_frames(root, nodes, s)
    directors = np.vstack([root[:, 1], frames[:, :, 1], clamp[:, 1]])
    return twist(np.diff(line, axis=0), directors), writhe(line)


def imposed(time):
    return TURNS * np.clip((time - 1.0) / (TURNED - 1.0), 0, 1)


def linked(run, file, tolerance):
    """Largest difference between what the clamps turned and what the cord is linked by, every tenth of a second."""
    nodes = file["fibres/curvature"][:].reshape(len(run.time), -1, 3)
    roots = file["fibres/root_frame"][:, 0]
    wrong, when, most = 0.0, 0.0, 0.0
    for k in range(0, len(run.time), 2):
        time = run.time[k]
        clamp = turn(np.array([np.pi * imposed(time), 0, 0]))
        # A chord of 0.9 mm in a tube of 2 mm is as good as two of half as much.
        twisted, writhed = link(run.points[k, ::2], run.arc_length[::2], roots[k], nodes[k], clamp)
        most = max(most, writhed)
        if abs(twisted + writhed - imposed(time)) > wrong:
            wrong, when = abs(twisted + writhed - imposed(time)), time
    if wrong > tolerance:
        run.wrong.append(f"is linked {wrong:.3g} turns off at {when} s")
    run.expect(f"writhes by {most:.3g} turns", most > 3)


def ply_angle(run, file, k):
    """Half the angle between strands where they press on each other, median."""
    first, last = file["contacts/frame_offsets"][k : k + 2]
    pressed = np.linalg.norm(file["contacts/force"][first:last], axis=1) > 0
    tangent = np.gradient(run.points[k], run.arc_length, axis=0)
    at = lambda s: np.array([np.interp(s, run.arc_length, tangent[:, i]) for i in range(3)]).T  # noqa: E731
    a, b = (at(file[f"contacts/{name}"][first:last][pressed]) for name in ("s_a", "s_b"))
    cosine = -(a * b).sum(1) / np.linalg.norm(a, axis=1) / np.linalg.norm(b, axis=1)
    return np.median(np.arccos(np.clip(cosine, -1, 1)) / 2)


def theory(tension):
    """Angle and moment of a long ply without friction (docs/measured/plectoneme.md)."""
    low, high = 1e-3, np.pi / 4 - 1e-6
    for _ in range(60):
        angle = (low + high) / 2
        above = STIFFNESS / RADIUS**2 * np.sin(angle) ** 4 * (0.5 + 1 / np.cos(2 * angle)) > tension
        low, high = (low, angle) if above else (angle, high)
    return angle, 2 * STIFFNESS / RADIUS * np.sin(angle) ** 3 * np.cos(angle) / np.cos(2 * angle)


def clamp_loads(folder):
    with open(folder / "run/holds.csv", newline="", encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream))
    return [np.array([float(row[key]) for row in rows]) for key in ("time", "fx", "mx")]


def plectoneme(program, folder):
    holds = [TURNED + REST, TURNED + 2 * REST + STRETCH]  # ends of the first two
    tensions = {}
    for friction, until in ((0, holds[1]), (0.3, holds[0])):
        run = Run(program, folder, "plectoneme", until, friction=friction, time_step=1e-3, **{"output.every": 50, "contact.at": "centreline"})
        # Twice the scene's step, for time: some steps are cut, and that is told.
        run.wrong = [told for told in run.wrong if not all("had to be cut" in line for line in told.splitlines())]
        time, force, moment = clamp_loads(folder)
        with h5py.File(folder / "run/trajectory.h5") as file:
            linked(run, file, 1e-5)  # 6e-7 while the cord is straight, 1e-8 later; a crossing makes it 2
            apart = np.linalg.norm(run.points[-1][:, None] - run.points[-1][None], axis=2)
            near = np.abs(np.subtract.outer(run.arc_length, run.arc_length)) < 0.02
            run.expect(f"is {apart[~near].min():.4g} m from itself", apart[~near].min() > 1.9 * RADIUS)
            for end in holds if friction == 0 else []:
                k, step = np.searchsorted(run.time, end - 1e-6), np.searchsorted(time, end - 1e-6)
                angle, turned = theory(-force[step])
                found = ply_angle(run, file, k)
                run.expect(f"{end} s: turns with {-moment[step] / turned:.4f} of a ply's moment", abs(-moment[step] / turned - 1) < 0.03)
                run.expect(f"{end} s: lies at {np.degrees(found):.2f} deg, a ply at {np.degrees(angle):.2f}", abs(found - angle) < np.radians(0.6))
        tensions[friction] = -force[np.searchsorted(time, holds[0] - 1e-6)]
        yield f"plectoneme, friction {friction}", run.wrong
    # What was wound against friction pulls less on the clamps: they would have to feed it.
    ratio = tensions[0.3] / tensions[0]
    yield "plectoneme, wound with friction", [] if 0.2 < ratio < 0.7 else [f"pulls {ratio:.3g} times what it does without"]


def self_test():
    """A loop that crosses itself writhes by two turns more or less; and theory() against the balance that it did not use."""
    s = np.linspace(0, 1, 400)
    loop = lambda side: np.array([3 * s - 1 + np.sin(2 * np.pi * s), 1 - np.cos(2 * np.pi * s), side * 0.3 * np.sin(2 * np.pi * s)]).T  # noqa: E731
    far = np.array([1e4, 0, 0])
    ends = [writhe(np.vstack([p[0] - far, p, p[-1] + far])) for p in (loop(0.01), loop(-0.01))]
    wrong = [] if abs(abs(ends[0] - ends[1]) - 2) < 0.1 else [f"loops of both hands writhe by {ends}"]
    angle, moment = theory(STIFFNESS / RADIUS**2 * np.sin(0.3) ** 4 * (0.5 + 1 / np.cos(0.6)))
    # Feeding a length into the ply costs its bend and the way of the tension, and takes turns from the moment.
    gain = STIFFNESS * np.sin(angle) ** 4 / (2 * RADIUS**2) + STIFFNESS / RADIUS**2 * np.sin(0.3) ** 4 * (0.5 + 1 / np.cos(0.6))
    gain -= moment * np.sin(2 * angle) / (2 * RADIUS)
    if abs(gain) > 1e-9 * STIFFNESS / RADIUS**2:
        wrong.append(f"feeding the ply gains {gain} N")
    yield "measures", wrong


def held(program, folder):
    """Friction keeps what is wound: from one second after the turning to four the moment is the same."""
    run = Run(program, folder, "plectoneme", TURNED + 4, friction=0.3, time_step=1e-3, rest=4)
    run.wrong = [told for told in run.wrong if not all("had to be cut" in line for line in told.splitlines())]
    time, _, moment = clamp_loads(folder)
    kept = moment[np.searchsorted(time, TURNED + 1 - 1e-6) :]
    run.expect(f"moments of {kept.min()} to {kept.max()} N m", np.ptp(kept) < 5e-4 * abs(kept[-1]))  # 1.2e-4 measured
    yield "plectoneme, held", run.wrong


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True)
    program = os.path.abspath(parser.parse_args().program)
    found = list(self_test())
    for part in (plectoneme, held):
        with tempfile.TemporaryDirectory() as name:
            found += part(program, pathlib.Path(name))
    bad = [(name, wrong) for name, wrong in found if wrong]
    for name, wrong in bad:
        print(f"{name}: {'; '.join(wrong)}")
    print(f"{len(found)} cases, {len(bad)} bad")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
