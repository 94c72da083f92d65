#!/usr/bin/python3
"""The figure of docs/guide/cable.md: the tension along the cable of scenes/cable_over_pulleys.toml while it slides, and the ratio of the
loads of its two hands against friction, beside the capstan formula.

    tresse sweep scenes/cable_over_pulleys.toml --vary friction=0,0.1,0.2,0.3,0.4 -o out/cables
    /usr/bin/python3 tools/figures/cable.py out/cables docs/figures/cable.svg
"""

import argparse
import csv
import pathlib
import sys

import h5py
import numpy as np

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "python"))
from tresse_plot import style  # noqa: E402

style.for_files()
import matplotlib.pyplot as plt  # noqa: E402

BEGIN, END = 0.4, 1.1  # while the cable slides [s]


def loads(folder):
    """Mean load of the hand and of the far hand while the cable slides [N]."""
    with open(folder / "holds.csv", newline="", encoding="utf-8") as stream:
        rows = [row for row in csv.DictReader(stream) if BEGIN < float(row["time"]) < END]
    return [np.mean([float(row["fz"]) for row in rows if row["hold"] == name]) for name in ("hand", "far hand")]


def tension(folder):
    """Arc length on the cable's path from the hand [m], and the mean tension there [N]."""
    with h5py.File(folder / "trajectory.h5") as file:
        time = file["time"][:]
        slides = (time > BEGIN) & (time < END)
        way = 0.1 - 0.04 * smooth((time[slides] - 0.2) / 1.0)  # what is left of the 10 cm below pulley 1
        along = file["fibres/arc_length"][:]
        pulls = file["fibres/force"][:][slides, :, 0]
    places = np.linspace(-0.05, 0.48, 107)  # from where the cable meets pulley 1
    return places, np.mean([np.interp(places, along - 0.1 - moved, row) for moved, row in zip(0.1 - way, pulls)], axis=0)


def smooth(x):
    return x * x * (3 - 2 * x)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("sweep", type=pathlib.Path, help="its folder")
    parser.add_argument("output", metavar="OUTPUT.svg", type=pathlib.Path)
    options = parser.parse_args()
    sweep, output = options.sweep, options.output
    with open(sweep / "sweep.csv", newline="", encoding="utf-8") as stream:
        cases = {float(row["friction"]): sweep / f"case-{i:03d}" for i, row in enumerate(csv.DictReader(stream))}
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.9), layout="constrained")
    quarter, ring = np.pi / 2 * 0.0515, 0.0515
    for begin, name in ((0, "pulley 1"), (quarter + 0.2, "pulley 2")):
        left.axvspan(1e2 * begin, 1e2 * (begin + quarter), color="#f0f0f0", lw=0)
        left.text(1e2 * (begin + quarter / 2), 3.05, name, ha="center", color=style.INK)
    for mu, colour in ((0.0, style.GREY), (0.2, style.BLUE), (0.3, style.RED)):
        places, pulls = tension(cases[mu])
        left.plot(1e2 * places, pulls, color=colour, label=f"friction {mu:g}")
        angle = (np.clip(places, 0, quarter) + np.clip(places - quarter - 0.2, 0, quarter)) / ring
        law = np.mean(pulls[-15:-5]) * np.exp(mu * (np.pi - angle))
        left.plot(1e2 * places, law, "--", color=colour, lw=1)
    left.plot([], [], "--", color=style.INK, lw=1, label="capstan formula")
    left.set(xlabel="along the cable, from pulley 1 [cm]", ylabel="tension [N]", ylim=(0, 3.3))
    style.legend_on_top(left, 2)
    mus = np.array(sorted(cases))
    ratio = np.array([np.divide(*loads(cases[mu])) for mu in mus])
    fine = np.linspace(0, mus[-1] + 0.02, 100)
    right.semilogy(fine, np.exp(np.pi * fine), "--", color=style.INK, lw=1, label="exp(friction × π)")
    right.semilogy(mus, ratio, "o", color=style.BLUE, clip_on=False, label="load of the hand / far hand")
    right.set(xlabel="friction coefficient", ylabel="ratio of loads", yticks=[1, 2, 3, 4], yticklabels=["1", "2", "3", "4"])
    right.minorticks_off()
    style.legend_on_top(right, 1)
    style.save(figure, output)


if __name__ == "__main__":
    main()
