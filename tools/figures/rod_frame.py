#!/usr/bin/env python3
"""Draws docs/figures/rod_frame.svg: a super-helix of three elements with its frames, and what each curvature does."""

import argparse
import pathlib
import sys

import numpy as np
from matplotlib.collections import PolyCollection

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "python"))
from tresse_plot import style  # noqa: E402

style.for_files()
import matplotlib.pyplot as plt  # noqa: E402

VIEW = np.array([[0.94, 0.34, 0.0], [-0.13, 0.36, 0.92]])  # of space onto the page


def rotation(v):
    angle = np.linalg.norm(v)
    if angle == 0:
        return np.eye(3)
    x, y, z = v / angle
    cross = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + np.sin(angle) * cross + (1 - np.cos(angle)) * cross @ cross


def super_helix(lengths, curvatures, steps=120):
    """Points and frames along a chain of elements, R' = R [k]x and r' = R e_x in small exact turns."""
    place, frame = np.zeros(3), np.eye(3)
    elements = []
    for length, k in zip(lengths, np.asarray(curvatures, float)):
        h = length / steps
        points, frames = [place], [frame]
        for _ in range(steps):
            place = place + h * (frame @ rotation(h / 2 * k))[:, 0]
            frame = frame @ rotation(h * k)
            points.append(place)
            frames.append(frame)
        elements.append((np.array(points), np.array(frames)))
    return elements


def ribbon(axes, points, frames, width, colour):
    """The stretch of the section along n1, as seen."""
    side = width * frames[::3, :, 1]
    edges = np.round(np.array([points[::3] - side, points[::3] + side]) @ VIEW.T, 3)
    quads = [[edges[0, i], edges[0, i + 1], edges[1, i + 1], edges[1, i]] for i in range(edges.shape[1] - 1)]
    axes.add_collection(PolyCollection(quads, facecolor=colour, edgecolor=colour, lw=0.3, alpha=0.35))
    axes.plot(*(points @ VIEW.T).T, color=colour, lw=1.8)


def arrows(axes, place, frame, size, names=()):
    for k, colour in enumerate(("black", style.RED, "#666666")):
        tip = VIEW @ (place + size * frame[:, k])
        axes.annotate("", tip, VIEW @ place, arrowprops={"arrowstyle": "-|>", "color": colour, "lw": 1.3,
                                                         "shrinkA": 0, "shrinkB": 0})  # fmt: skip
        if names:
            axes.text(*(VIEW @ (place + 1.18 * size * frame[:, k])), names[k], color=colour, ha="center", va="center")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("output", nargs="?", metavar="OUTPUT.svg", default=pathlib.Path(__file__).parents[2] / "docs/figures/rod_frame.svg")
    output = parser.parse_args().output
    figure = plt.figure(figsize=(9, 3.9), layout="constrained")
    grid = figure.add_gridspec(3, 2, height_ratios=(1, 1.9, 1), width_ratios=(1.5, 1))
    rod = figure.add_subplot(grid[:, 0])
    elements = super_helix([20, 20, 20], [[0.03, -0.02, 0.05], [-0.05, -0.09, 0.03], [0.08, 0.06, 0.07]])
    for (points, frames), colour, number, beside in zip(elements, (style.BLUE, style.ORANGE, style.GREEN), (1, 2, 3), (0.5, 4, 0.5)):
        ribbon(rod, points, frames, 1.2, colour)
        rod.text(*(VIEW @ points[60] + [beside, -3.4]), f"$q_{number}$", color=colour, ha="center", fontsize=13)
    arrows(rod, elements[0][0][0], elements[0][1][0], 7, ("$n_0$", "$n_1$", "$n_2$"))
    for points, frames in elements:
        arrows(rod, points[-1], frames[-1], 5)
    rod.text(*(VIEW @ elements[0][0][0] + [-1, -2.6]), "root", ha="center")
    for row, (k, name) in enumerate((((0.16, 0, 0), "twist $k_0$"), ((0, 0.07, 0), "$k_1$, about $n_1$"),
                                     ((0, 0, 0.07), "$k_2$, about $n_2$"))):  # fmt: skip
        axes = figure.add_subplot(grid[row, 1])
        points, frames = super_helix([20], [k])[0]
        ribbon(axes, points, frames, 1.6, style.BLUE)
        arrows(axes, points[0], frames[0], 5)
        axes.text(0.98, 0.9, name, ha="right", va="top", transform=axes.transAxes)
        axes.set(xlim=(-3, 24), ylim=((-4, 6), (-15, 6), (-2, 8))[row])
        axes.set_aspect("equal")
        axes.axis("off")
    rod.set_aspect("equal")
    rod.axis("off")
    style.save(figure, output)


if __name__ == "__main__":
    main()
