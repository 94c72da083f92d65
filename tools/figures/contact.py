#!/usr/bin/env python3
"""Draws docs/figures/contact.svg: the basis of a contact of two tubes, and boxes that prune pairs of pieces."""

import argparse
import pathlib
import sys

import numpy as np
from matplotlib.patches import Polygon, Rectangle

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "python"))
from tresse_plot import style  # noqa: E402

style.for_files()
import matplotlib.pyplot as plt  # noqa: E402

VIEW = np.array([[0.94, -0.34, 0.0], [0.14, 0.38, 0.91]])  # of space onto the page


def tube(axes, points, radius, colour):
    """A tube as a band about its axis, as seen."""
    flat = points @ VIEW.T
    along = np.gradient(flat, axis=0)
    across = np.column_stack([-along[:, 1], along[:, 0]])
    across *= radius / np.linalg.norm(across, axis=1)[:, None]
    axes.add_patch(Polygon(np.vstack([flat + across, (flat - across)[::-1]]), facecolor=colour, alpha=0.3, lw=0))
    axes.plot(*flat.T, color=colour, lw=1.2)


def basis(axes):
    radius, gap = 1.0, 1.3
    x = np.linspace(-5, 5, 80)
    a = np.column_stack([x, 0.15 * x, -0.05 * x**2])
    b = np.column_stack([0.35 * x, -x, 2 * radius + gap + 0.07 * x**2])
    tube(axes, a, radius, style.BLUE)
    tube(axes, b, radius, style.ORANGE)
    tangent_a, tangent_b = np.array([1, 0.15, 0]), np.array([0.35, -1, 0])
    tangent_a, tangent_b = tangent_a / np.linalg.norm(tangent_a), tangent_b / np.linalg.norm(tangent_b)
    point_a, point_b, normal = np.zeros(3), np.array([0, 0, 2 * radius + gap]), np.array([0, 0, 1.0])
    mean = tangent_a + np.sign(tangent_a @ tangent_b) * tangent_b
    t1 = mean / np.linalg.norm(mean)
    t2 = np.cross(t1, normal)
    axes.plot(*(np.array([point_a, point_b]) @ VIEW.T).T, "o--", color="black", ms=4, lw=0.8)
    for vector, name, size, beside in ((normal, "$n$", 2.2, (0.15, 0.08)), (t1, "$t_1$", 2.6, (0.15, 0.08)), (t2, "$t_2$", 2.6, (-1.0, -0.3))):
        tip = VIEW @ (point_a + size * vector)
        axes.annotate("", tip, VIEW @ point_a, arrowprops={"arrowstyle": "-|>", "color": "black", "lw": 1.5})
        axes.text(*(tip + beside), name, fontsize=13)
    inner = np.array([point_a + radius * normal, point_b - radius * normal]) @ VIEW.T
    axes.annotate("", inner[0] - [0.45, 0], inner[1] - [0.45, 0], arrowprops={"arrowstyle": "<->", "lw": 0.9})
    axes.text(inner[:, 0].mean() - 0.6, inner[:, 1].mean(), "$g$", ha="right", va="center", fontsize=13)
    axes.text(*(VIEW @ a[6] + [0, -1.7]), "a", color=style.BLUE, fontsize=13)
    axes.text(*(VIEW @ b[6] + [0, 1.3]), "b", color=style.RED, fontsize=13)
    axes.set_aspect("equal")
    axes.axis("off")


def boxes(axes):
    parts, radius, travel = 5, 0.9, 0.6
    s = np.linspace(0, 1, 101)
    curves = [np.column_stack([40 * s, 6 + 3 * np.sin(5 * s)]), np.column_stack([40 * s, 14 - 5 * s * np.sin(7 * s)]),
              np.column_stack([4 + 30 * s, 24 - 11 * s**2])]  # fmt: skip
    found = []
    for number, (curve, colour) in enumerate(zip(curves, (style.BLUE, style.ORANGE, style.GREEN))):
        axes.plot(*curve.T, color=colour, lw=3)
        for i in range(parts):
            piece = curve[20 * i : 20 * i + 21]
            found.append((number, piece.min(axis=0) - radius - travel, piece.max(axis=0) + radius + travel))
    pairs = 0
    met = set()
    for i, (of_i, low_i, high_i) in enumerate(found):
        for j, (of_j, low_j, high_j) in enumerate(found[:i]):
            if of_i == of_j or (np.maximum(low_i, low_j) > np.minimum(high_i, high_j)).any():
                continue
            pairs += 1
            met |= {i, j}
            low, high = np.maximum(low_i, low_j), np.minimum(high_i, high_j)
            axes.add_patch(Rectangle(low, *(high - low), facecolor=style.RED, alpha=0.35, lw=0))
    for i, (_, low, high) in enumerate(found):
        axes.add_patch(Rectangle(low, *(high - low), fill=False, edgecolor="black" if i in met else "#aaaaaa", lw=0.8))
    axes.grid(False)
    axes.set(xlabel="x [mm]", ylabel="y [mm]", aspect="equal", xlim=(-3, 43), ylim=(0, 28))
    axes.text(0.97, 0.96, f"{pairs} pairs of {3 * parts * parts}", ha="right", va="top", transform=axes.transAxes)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("output", nargs="?", metavar="OUTPUT.svg", default=pathlib.Path(__file__).parents[2] / "docs/figures/contact.svg")
    output = parser.parse_args().output
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.7), width_ratios=(1, 1.35), layout="constrained")
    basis(left)
    boxes(right)
    style.save(figure, output)


if __name__ == "__main__":
    main()
