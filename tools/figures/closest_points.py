#!/usr/bin/env python3
"""Draws docs/figures/closest_points.svg: two arcs, their nearest points, and the boxes of a certified search.

The tests of docs/theory/geometry.md, written out for helices without regard for rounding.
"""

import argparse
import heapq
import pathlib
import sys

import numpy as np
from matplotlib.patches import Rectangle

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "python"))
from tresse_plot import style  # noqa: E402

style.for_files()
import matplotlib.pyplot as plt  # noqa: E402


class Arc:
    """Constant curvature: r, r' and r'' at arc length s."""

    def __init__(self, start, frame, curvature, length):
        self.start, self.length = np.asarray(start, float), length
        frame = np.asarray(frame, float)
        self.w = frame @ curvature
        self.t = frame[:, 0]
        self.e = np.cross(self.w, self.t)
        self.f = np.cross(self.w, self.e)
        self.rate = np.linalg.norm(self.w)
        self.k = np.linalg.norm(self.e)
        self.m = self.rate * self.k

    def jet(self, s):
        x = self.rate * s
        sine, cosine = np.sin(x), np.cos(x)
        place = self.start + s * self.t + (1 - cosine) / self.rate**2 * self.e + (x - sine) / self.rate**3 * self.f
        slope = self.t + sine / self.rate * self.e + (1 - cosine) / self.rate**2 * self.f
        return place, slope, cosine * self.e + sine / self.rate * self.f


def least_parabola(q1, q2):
    """Minimum of q1 u + q2 u^2 over [-1, 1]."""
    return -0.25 * q1 * q1 / q2 if abs(q1) < 2 * q2 else q2 - abs(q1)


def closest_on_segments(w, p, q):
    pp, qq, pq, pw, qw = p @ p + 1e-300, q @ q + 1e-300, p @ q, p @ w, q @ w
    determinant = pp * qq - pq * pq
    u = np.clip((pq * qw - qq * pw) / determinant, -1, 1) if determinant > 1e-14 * pp * qq else 0.0
    v = np.clip((pq * u + qw) / qq, -1, 1)
    return np.clip((pq * v - pw) / pp, -1, 1), v


def examine(a, b, sa, ea, sb, eb):
    """Lower and upper bound of the distance, signs of the slopes, the modulus of convexity."""
    ra, da, dda = a.jet(sa)
    rb, db, ddb = b.jet(sb)
    r = ra - rb
    p, q, bend_a, bend_b = ea * da, eb * db, 0.5 * ea**2 * dda, 0.5 * eb**2 * ddb
    u, v = closest_on_segments(r + 0.5 * (bend_a - bend_b), p, q)
    n = r + 0.5 * (bend_a - bend_b) + u * p - v * q
    slack = (a.m * ea**3 + b.m * eb**3) / 6
    lower = (n @ r + least_parabola(n @ p, n @ bend_a) + least_parabola(-n @ q, -n @ bend_b)) / np.linalg.norm(n) - slack
    upper = np.linalg.norm(r + u * p - v * q + u * u * bend_a - v * v * bend_b) + slack
    size, reach = np.linalg.norm(r), ea + eb

    def varies(second, k, m, e):
        first = abs(da @ second) * ea + abs(db @ second) * eb
        rest = 0.5 * (a.k * ea**2 + b.k * eb**2) * k + (size + reach) * m * e
        return min(reach * k + size * m * e, first + rest)

    vary_a, vary_b = varies(dda, a.k, a.m, ea), varies(ddb, b.k, b.m, eb)
    in_a, in_b = r @ dda, -r @ ddb
    turn = a.k * ea + b.k * eb
    cross = min(1.0, abs(da @ db) + turn)
    change_a = (1 + abs(in_a) + vary_a) * ea + cross * eb
    change_b = (1 + abs(in_b) + vary_b) * eb + cross * ea
    slope_a, slope_b = r @ da, -r @ db
    signs = [np.sign(g) if abs(g) > change else 0 for g, change in ((slope_a, change_a), (slope_b, change_b))]
    alpha, beta = 1 + in_a - vary_a, 1 + in_b - vary_b
    cosine = min(1.0, abs(da @ db))
    gamma = min(1.0, cosine + np.sqrt(1 - cosine**2) * turn)
    convex = alpha > 0 and beta > 0 and alpha * beta > gamma**2
    return max(lower, 0.0), upper, signs, convex, (sa + u * ea, sb + v * eb)


def search(a, b):
    """Boxes looked at, (centre a, half a, centre b, half b, what became of it), and the nearest points."""
    best, place = np.inf, None
    count, queue, seen = 0, [], []
    waiting = [(0.0, 0, (a.length / 2, a.length / 2, b.length / 2, b.length / 2), False)]
    while waiting:
        lower, _, box, convex = heapq.heappop(waiting)
        if lower > best - 1e-9:
            seen.append((*box, "far"))
            continue
        if convex:
            seen.append((*box, "convex"))
            place = newton(a, b, *place_in(box))
            best = min(best, np.linalg.norm(a.jet(place[0])[0] - b.jet(place[1])[0]))
            continue
        sa, ea, sb, eb = box
        for i in (-0.5, 0.5):
            for j in (-0.5, 0.5):
                part = (sa + i * ea, ea / 2, sb + j * eb, eb / 2)
                low, high, signs, is_convex, near = examine(a, b, *part)
                if high < best:
                    best, place = high, near
                if signs[0] or signs[1]:  # the minimum of this pair is inside both curves
                    seen.append((*part, "slope"))
                    continue
                count += 1
                heapq.heappush(waiting, (low, count, part, is_convex))
    return seen, place


def place_in(box):
    return box[0], box[2]


def newton(a, b, sa, sb):
    for _ in range(30):
        (ra, da, dda), (rb, db, ddb) = a.jet(sa), b.jet(sb)
        r = ra - rb
        hessian = np.array([[1 + r @ dda, -da @ db], [-da @ db, 1 - r @ ddb]])
        step = np.linalg.solve(hessian, [-(r @ da), r @ db])
        sa, sb = np.clip(sa + step[0], 0, a.length), np.clip(sb + step[1], 0, b.length)
    return sa, sb


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("output", nargs="?", metavar="OUTPUT.svg", default=pathlib.Path(__file__).parents[2] / "docs/figures/closest_points.svg")
    output = parser.parse_args().output
    a = Arc([0, 0, 0], np.eye(3), [30, 0, 75], 0.05)
    b = Arc([0.002, 0.031, 0.012], np.array([[0.6, 0.8, 0], [-0.8, 0.6, 0], [0, 0, 1.0]]), [-35, 25, 40], 0.05)
    seen, (sa, sb) = search(a, b)

    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 4.3), layout="constrained")
    s = np.linspace(0, 0.05, 120)
    for arc, colour, name, at in ((a, style.BLUE, "a", sa), (b, style.ORANGE, "b", sb)):
        line = 1e3 * np.array([arc.jet(x)[0] for x in s])
        left.plot(line[:, 0], line[:, 1], color=colour, lw=2.5, label=f"curve {name}")
    ends = 1e3 * np.array([a.jet(sa)[0], b.jet(sb)[0]])
    left.plot(ends[:, 0], ends[:, 1], "o-", color="black", lw=1, ms=4, label="nearest points")
    left.margins(0.05)
    left.set(xlabel="x [mm]", ylabel="y [mm]", aspect="equal")
    style.legend_on_top(left, 3)

    grid = np.linspace(0, 0.05, 140)
    pa, pb = np.array([a.jet(x)[0] for x in grid]), np.array([b.jet(x)[0] for x in grid])
    distance = 1e3 * np.linalg.norm(pa[:, None] - pb[None], axis=2)
    levels = right.contour(1e3 * grid, 1e3 * grid, distance.T, levels=[4, 8, 12, 16, 20, 25, 30], colors="#555555",
                           linewidths=0.6)  # fmt: skip
    faces = {"far": style.PALE, "slope": "white", "convex": style.ORANGE}
    for centre_a, half_a, centre_b, half_b, what in seen:
        right.add_patch(Rectangle((1e3 * (centre_a - half_a), 1e3 * (centre_b - half_b)), 2e3 * half_a, 2e3 * half_b,
                                  facecolor=faces[what], edgecolor="#333333", lw=0.5, alpha=0.75, zorder=0))  # fmt: skip
    right.clabel(levels, fontsize=8, fmt="%g mm")
    right.plot(1e3 * sa, 1e3 * sb, "o", color="black", ms=4)
    right.grid(False)
    right.set(xlabel="arc length $s_a$ [mm]", ylabel="arc length $s_b$ [mm]", aspect="equal", xlim=(0, 50), ylim=(0, 50))
    style.save(figure, output)
    print({what: sum(box[4] == what for box in seen) for what in faces}, sa, sb)


if __name__ == "__main__":
    main()
