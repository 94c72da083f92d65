#!/usr/bin/env python3
"""Draws docs/figures/rod_models.svg: one heavy cantilever in four rod models, its curvature and its centreline.

The exact rod bends in a plane and is found by Newton's method with 400 elements; each model has its curvature or nodes.
"""

import argparse
import pathlib
import sys

import numpy as np

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "python"))
from tresse_plot import style  # noqa: E402

style.for_files()
import matplotlib.pyplot as plt  # noqa: E402

FINE, ELEMENTS, LOAD = 400, 4, 12.0  # load: rho S g L^3 / (E I)


def exact():
    """Tilt below the horizontal and curvature of a rod clamped level, at the ends of its elements; length 1."""
    h = 1 / FINE
    middle = h * (np.arange(FINE) + 0.5)
    tilt = h * (np.tril(np.ones((FINE, FINE))) - 0.5 * np.eye(FINE))  # at the middles, of the curvatures
    k = np.zeros(FINE)
    for _ in range(60):
        angle = tilt @ k
        moment = LOAD * h * (1 - middle)
        gradient = h * k - tilt.T @ (moment * np.cos(angle))
        hessian = h * np.eye(FINE) + tilt.T @ ((moment * np.sin(angle))[:, None] * tilt)
        k = k - np.linalg.solve(hessian, gradient)
    return middle, k


def shape(s, k):
    h = s[1] - s[0]
    angle = h * (np.cumsum(k) - 0.5 * k)
    return h * np.cumsum(np.cos(angle)), -h * np.cumsum(np.sin(angle))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("output", nargs="?", metavar="OUTPUT.svg", default=pathlib.Path(__file__).parents[2] / "docs/figures/rod_models.svg")
    output = parser.parse_args().output
    s, k = exact()
    ends = np.linspace(0, 1, ELEMENTS + 1)
    of_element = np.minimum((s * ELEMENTS).astype(int), ELEMENTS - 1)
    helix = np.array([k[of_element == i].mean() for i in range(ELEMENTS)])
    hat = np.maximum(0, 1 - abs(s[:, None] - ends) * ELEMENTS)
    nodes = np.linalg.lstsq(hat, k, rcond=None)[0]
    clothoid = hat @ nodes

    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.9), layout="constrained")
    left.plot(s, k, color="black", lw=1, label="exact")
    left.step(ends, np.append(helix, helix[-1]), where="post", color=style.BLUE, label="super-helix")
    left.plot(ends, nodes, "o-", ms=4, color=style.ORANGE, label="super-clothoid")
    left.set(xlabel="arc length / length", ylabel="curvature $k_1$ · length")

    for axis in (left, right):
        axis.margins(0.04)
    x, z = shape(s, k)
    right.plot(x, z, color="black", lw=1, label="exact")
    right.plot(*shape(s, helix[of_element]), color=style.BLUE, label="super-helix")
    right.plot(*shape(s, clothoid), "--", color=style.ORANGE, label="super-clothoid")
    at = [0, *(np.searchsorted(s, ends[1:]) - 1)]
    px, pz = np.concatenate([[0], x])[np.array(at) + [0, 1, 1, 1, 1]], np.concatenate([[0], z])[np.array(at) + [0, 1, 1, 1, 1]]
    right.plot(px, pz, "s-", ms=4, lw=1, color=style.RED, label="nodes and edges")
    right.set(xlabel="x / length", ylabel="z / length", aspect="equal")
    style.legend_over(figure, right)
    style.save(figure, output)


if __name__ == "__main__":
    main()
