#!/usr/bin/python3
"""Energy over time of the schemes: scheme_energy.py [-o docs/figures/scheme_energy.svg].

Left: the swinging rod of scenes/swing.toml (super-helix, 12 elements, steps of 1 ms, no damping). Right: a free rod that
is let go with twist and bend, without gravity, at three steps. The package `tresse` must be found (PYTHONPATH)."""

import argparse
import pathlib

import matplotlib
import numpy as np

matplotlib.use("Agg")
matplotlib.rcParams.update({"svg.hashsalt": "tresse", "svg.fonttype": "none", "font.size": 11})
import matplotlib.pyplot as plt  # noqa: E402

import tresse  # noqa: E402

SWING = pathlib.Path(__file__).resolve().parents[2] / "scenes/swing.toml"
SCHEMES = (("carried", 1.0, "carried", "#0072b2", "-"), ("semi-implicit", 1.0, "semi-implicit", "#d55e00", "--"),
           ("nonlinear", 1.0, "nonlinear, Euler", "#009e73", "-."), ("nonlinear", 0.5, "nonlinear, midpoint", "#555555", "-"),
           ("semi-implicit", 0.5, "semi-implicit, theta = 1/2", "#cc79a7", ":"))


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
    figure, (left, right) = plt.subplots(1, 2, figsize=(9.6, 3.9))
    for scheme, theta, label, colour, style in SCHEMES:
        time, total = swing(scheme, theta)
        every = 10 if len(time) == 10000 else 1
        left.plot(time[::every], (total - total[0])[::every], style, color=colour, label=label)
    left.set(xlabel="time [s]", ylabel="change of energy over\nlargest elastic energy [-]", ylim=(-0.4, 0.1))
    left.legend(fontsize=8, loc="lower left")
    for dt, colour in ((1e-3, "#0072b2"), (1e-4, "#d55e00"), (1e-5, "#009e73")):
        for scheme, style in (("carried", "-"), ("semi-implicit", ":")):
            time, total = released(scheme, dt, 0.05)
            print(scheme, dt, len(time), total[0], total.max(), total[-1])
            right.semilogy(1e3 * time, 1e3 * total, style, color=colour, label=f"{scheme}, {1e3 * dt:g} ms")
    right.set(xlabel="time [ms]", ylabel="kinetic and elastic energy [mJ]")
    right.legend(fontsize=8)
    figure.tight_layout()
    figure.savefig(options.output, dpi=110, metadata={"Date": None} if options.output.endswith(".svg") else None)


if __name__ == "__main__":
    main()
