#!/usr/bin/python3
"""Energy over time of the schemes: scheme_energy.py [-o docs/figures/scheme_energy.svg].

Left: the swinging rod of scenes/swing.toml (super-helix, 12 elements, steps of 1 ms, no damping). Right: a free rod that
is let go with twist and bend, without gravity, at three steps. The package `tresse` must be found (PYTHONPATH)."""

import argparse
import pathlib
import sys

import numpy as np
import tresse

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "python"))
from tresse_plot import style  # noqa: E402

style.for_files()
import matplotlib.pyplot as plt  # noqa: E402

SWING = pathlib.Path(__file__).resolve().parents[2] / "scenes/swing.toml"
SCHEMES = (("carried", 1.0, "carried", style.BLUE, "-"), ("semi-implicit", 1.0, "semi-implicit", style.RED, "--"),
           ("nonlinear", 1.0, "nonlinear, Euler", style.GREEN, "-."), ("nonlinear", 0.5, "nonlinear, midpoint", style.INK, "-"),
           ("semi-implicit", 0.5, "semi-implicit, theta = 1/2", style.PURPLE, ":"))


def swing(scheme, theta):
    scene = tresse.Scene.load(SWING, model="super-helix", elements=12, scheme=scheme, theta=theta)
    simulation = tresse.Simulation(scene)
    rows = []
    while simulation.time < 10.0 - 1e-9:
        report = simulation.step()
        if not report["finite"]:
            break
        rows.append((report["time"], report["kinetic"] + report["elastic"] + report["gravity"], report["elastic"]))
    time, total, elastic = np.array(rows).T
    return time, total / elastic.max()


def released(scheme, dt, duration):
    scene = tresse.Scene({
        "simulation": {"time_step": dt, "duration": duration, "gravity": 0.0, "scheme": scheme},
        "contact": {"self_contact": False},
        "materials": {"rubber": {"density": 1000, "young_modulus": 1e7, "poisson_ratio": 0.4, "damping_time": 0}},
        "fibres": [{"name": "rod", "material": "rubber", "length": 0.2, "elements": 6, "radius": 1e-3,
                    "model": "super-helix", "root": {"condition": "free"}}],
    })  # fmt: skip
    simulation = tresse.Simulation(scene)
    simulation.set_curvatures(0, np.tile([30.0, 10.0, 5.0], (6, 1)))
    rows = []
    while simulation.time < duration - 0.5 * dt:
        report = simulation.step()
        if not report["finite"]:
            break
        rows.append((report["time"], report["kinetic"] + report["elastic"]))
    time, total = np.array(rows).T
    return time, total


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-o", "--output", default="docs/figures/scheme_energy.svg")
    options = parser.parse_args()
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 4.4), layout="constrained")
    for scheme, theta, label, colour, dashes in SCHEMES:
        time, total = swing(scheme, theta)
        every = 10 if len(time) == 10000 else 1
        left.plot(time[::every], (total - total[0])[::every], dashes, color=colour, label=label)
    left.set(xlabel="time [s]", ylabel="change of energy over\nlargest elastic energy [-]", ylim=(-0.4, 0.1))
    style.legend_on_top(left, 2)
    for dt, colour in ((1e-3, style.BLUE), (1e-4, style.RED), (1e-5, style.GREEN)):
        for scheme, dashes in (("carried", "-"), ("semi-implicit", ":")):
            time, total = released(scheme, dt, 0.05)
            print(scheme, dt, len(time), total[0], total.max(), total[-1])
            right.semilogy(1e3 * time, 1e3 * total, dashes, color=colour, label=f"{scheme}, {1e3 * dt:g} ms")
    right.set(xlabel="time [ms]", ylabel="kinetic and elastic energy [mJ]")
    style.legend_on_top(right, 2)
    style.save(figure, options.output)


if __name__ == "__main__":
    main()
