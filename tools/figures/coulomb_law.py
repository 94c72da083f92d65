#!/usr/bin/python3
"""Coulomb's cone and the three states of a contact: coulomb_law.py [-o docs/figures/coulomb_law.svg].

Each panel is the plane of the normal and of the direction of sliding: the cone, the impulse r that acts on body b and the
velocity u of b relative to a."""

import argparse
import pathlib
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "python"))
from tresse_plot import style  # noqa: E402

style.for_files()
import matplotlib.pyplot as plt  # noqa: E402

CONE, IMPULSE, VELOCITY = "#e6e6e6", style.BLUE, style.RED
MU = 0.6
REACH = 1.15


def panel(axes, name, impulse, velocity, at):
    axes.fill([-MU * REACH, 0, MU * REACH], [REACH, 0, REACH], color=CONE, zorder=0)
    axes.plot([-MU * REACH, 0, MU * REACH], [REACH, 0, REACH], color=style.GREY, lw=1)
    axes.axhline(0, color=style.INK, lw=1)
    arrow = {"width": 0.008, "angles": "xy", "scale_units": "xy", "scale": 1, "zorder": 3}
    if impulse:
        axes.quiver(0, 0, *impulse, color=IMPULSE, **arrow)
        axes.text(impulse[0] - 0.03, 0.85 * impulse[1], "$r$", color=IMPULSE, ha="right", fontsize=14)
    else:
        axes.plot(0, 0, "o", color=IMPULSE, zorder=3)
        axes.text(-0.08, 0.07, "$r = 0$", color=IMPULSE, ha="right", fontsize=14)
    if velocity:
        axes.quiver(*at, *velocity, color=VELOCITY, **arrow)
        axes.text(at[0] + velocity[0] + 0.03, at[1] + velocity[1] + 0.07, "$u$", color=VELOCITY, fontsize=14)
    else:
        axes.text(0.12, -0.2, "$u = 0$", color=VELOCITY, fontsize=14)
    axes.grid(False)
    axes.spines[["left", "bottom"]].set_visible(False)
    axes.set(xlim=(-0.95, 0.95), ylim=(-0.32, 1.25), xticks=[], yticks=[], xlabel="tangential", aspect="equal")
    axes.text(0, 1.29, name, ha="center", fontsize=12)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-o", "--output", default="docs/figures/coulomb_law.svg")
    figure, axes = plt.subplots(1, 3, figsize=(9, 3.6), layout="constrained")
    panel(axes[0], "open", None, (0.3, 0.5), (0, 0))
    panel(axes[1], "stick", (-0.25, 0.8), None, (0, 0))
    panel(axes[2], "slide", (-MU * 0.9, 0.9), (0.55, 0), (0, 0))
    axes[0].set_ylabel("normal")
    axes[2].annotate("", (0, 0.55), (MU * 0.55, 0.55), arrowprops={"arrowstyle": "<->", "color": "#555555"})
    axes[2].text(MU * 0.25, 0.6, r"$\mu\, r_N$", color=style.INK, ha="center")
    axes[2].text(0.4, 1.0, "$K$", color=style.INK)
    style.save(figure, parser.parse_args().output)


if __name__ == "__main__":
    main()
