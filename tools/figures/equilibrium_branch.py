#!/usr/bin/env python3
"""Draws docs/figures/equilibrium_branch.svg: equilibria of an upright heavy rod and their stability, against its load.

A planar super-helix of 24 elements, written out without units: the load is rho S g L^3 / (E I).
"""

import argparse
import pathlib
import sys

import numpy as np

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "python"))
from tresse_plot import style  # noqa: E402

style.for_files()
import matplotlib.pyplot as plt  # noqa: E402

ELEMENTS = 24


class Rod:
    """Its tilt at Gauss points is linear in the curvatures of its elements."""

    def __init__(self):
        x, w = np.polynomial.legendre.leggauss(4)
        self.h = 1 / ELEMENTS
        s = self.h * (np.arange(ELEMENTS)[:, None] + (x + 1) / 2).ravel()
        self.weight = np.tile(w * self.h / 2, ELEMENTS)
        self.tilt = np.clip(s[:, None] - self.h * np.arange(ELEMENTS), 0, self.h)
        self.beyond = self.weight * (1 - s)

    def gradient(self, k, load):
        return self.h * k - load * self.tilt.T @ (self.beyond * np.sin(self.tilt @ k))

    def hessian(self, k, load):
        return self.h * np.eye(ELEMENTS) - load * self.tilt.T @ ((self.beyond * np.cos(self.tilt @ k))[:, None] * self.tilt)

    def equilibrium(self, k, load):
        """By Newton's method, downhill."""
        for _ in range(100):
            size, modes = np.linalg.eigh(self.hessian(k, load))
            step = -modes @ ((modes.T @ self.gradient(k, load)) / np.maximum(abs(size), 1e-3 * self.h))
            k = k + step * min(1, 2 / abs(step).max())
        return k

    def relative_stiffness(self, k, load):
        return np.linalg.eigvalsh(self.hessian(k, load))[0] / self.h

    def tip(self, k):
        return self.weight @ np.sin(self.tilt @ k)

    def shape(self, k):
        tilt = self.tilt @ k
        return np.cumsum(self.weight * np.sin(tilt)), np.cumsum(self.weight * np.cos(tilt))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("output", nargs="?", metavar="OUTPUT.svg", default=pathlib.Path(__file__).parents[2] / "docs/figures/equilibrium_branch.svg")
    output = parser.parse_args().output
    rod = Rod()
    straight = np.zeros(ELEMENTS)
    loads = np.linspace(0, 20, 101)
    upright = np.array([rod.relative_stiffness(straight, load) for load in loads])
    critical = np.interp(0, -upright, loads)
    bent_loads, k = np.linspace(20, critical + 0.02, 120), np.linspace(4, 0, ELEMENTS)
    bent = []
    for load in bent_loads:
        k = rod.equilibrium(k, load)
        bent.append((rod.tip(k), rod.relative_stiffness(k, load), k))

    figure, (left, middle, right) = plt.subplots(1, 3, figsize=(9, 3.6), layout="constrained")
    below = loads <= critical
    for sign in (1, -1):
        left.plot([*bent_loads, critical], [*(sign * tip for tip, _, _ in bent), 0.0], color=style.BLUE)
    left.plot(loads[below], 0 * loads[below], color="black")
    left.plot(loads[~below], 0 * loads[~below], "--", color=style.RED)
    left.set(xlabel=r"load $\rho S g L^3 / EI$", ylabel="tip to the side / length")
    middle.plot(loads[below], upright[below], color="black", label="upright, stable")
    middle.plot(loads[~below], upright[~below], "--", color=style.RED, label="upright, a saddle")
    middle.plot(bent_loads, [stiffness for _, stiffness, _ in bent], color=style.BLUE, label="bent, stable")
    middle.axhline(0, color=style.GREY, lw=0.6)
    middle.set(xlabel=r"load $\rho S g L^3 / EI$", ylabel="relative stiffness")
    for load, dashes in ((8.2, ":"), (10.0, "-."), (20.0, "-")):
        i = int(np.argmin(abs(bent_loads - load)))
        right.plot(*rod.shape(bent[i][2]), dashes, color=style.BLUE, label=f"load {load:g}")
    right.plot([0, 0], [0, 1], color="black", lw=0.8)
    right.margins(0.06)
    right.set(xlabel="x / length", ylabel="z / length", aspect="equal")
    right.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), handlelength=1.6)
    style.legend_over(figure, middle)
    style.save(figure, output)
    print("loses stability at", critical)


if __name__ == "__main__":
    main()
