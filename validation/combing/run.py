#!/usr/bin/env python3
"""A second of combing from one checkpoint: the force on the comb with contact on the smooth curves, with segments in
their place, and with three times the friction [crespel2024, figures 1 and 15].

Goes on from a wisp that a comb already draws down: benchmarks/states/wavy.h5 (nine of 225 fibres side by side under one
comb) or, with --copies 1, the checkpoint of one of them, which benchmarks/make_states leaves in FOLDER/runs/wavy.combed.
Prints a table (claim, asked, measured, pass) and draws the forces. Exit status: 0 every claim holds, 1 one does not, 2
bad usage or a run failed. Needs the Python package (PYTHONPATH=build/release/python); some hours on two cores.
"""

import argparse
import pathlib
import subprocess
import sys
import tomllib

import numpy as np
import tresse

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCENE = ROOT / "scenes" / "comb.toml"

# The wisp of benchmarks/make_states, but for what a case changes.
FIBRES, PITCHES = 225, 10
WISP = {
    "natural_curvature": 60,
    "friction": 0.1,
    "duration": 60,
    "comb_speed": "2.5cm/s",
    "onset_time": 2,
    "settle_time": 2.3,
    "entry_time": 0.5,
    "clearance": "7mm",
    "tooth_length": "24mm",
    "time_step": 1e-3,
    "tolerance": 1e-9,
    "max_iterations": 500,
    "output.points_per_element": 1,
}
WAY = np.array([0.5, 0.0, -1.0]) / np.sqrt(1.25)  # of the comb: half as far forwards as down (scenes/comb.toml)

CASES = {
    "certified": {},
    "segments": {"detection": "segments", "proxy_segments": 100},
    "dirty": {"friction": 0.3},
}

ARRIVING = "arriving.txt"  # left in each case's folder

# Steps that are left out: what a packed state has lost of its velocities, and the drag of settling, which is let go, swing out.
FIRST = 20

# What is asked. Every tolerance of this validation is here.
ASKED = {
    # Largest change of the force from one step to the next, over its mean. Impacts are left out: steps in which hairs
    # come to teeth that they did not touch in the step before, and then press on them with as much as the change.
    "jump": 0.01,
    # Median change with segments over that with smooth contact.
    "roughness_ratio": 2.0,
    # How far the force with segments ends up from that with smooth contact (mean of the last tenth), over the mean.
    "drift": 0.02,
    # What is left of the energy lost, without what friction, damping and the scheme's elastic part take, over it.
    "books": 0.05,
}
BOOK_STEPS = 50  # beyond the end of the smooth run


class Force:
    """The force on the comb after every step [N]."""

    def __init__(self, folder):
        self.time, self.vector = (column[FIRST:] for column in tresse.load(folder).force("comb"))
        self.size = np.linalg.norm(self.vector, axis=1)
        self.mean = self.size.mean()
        self.jumps = np.linalg.norm(np.diff(self.vector, axis=0), axis=1) / self.mean
        arriving = np.loadtxt(folder / ARRIVING)[FIRST + 1 :] / self.mean
        self.impacts = (self.jumps > ASKED["jump"]) & (arriving >= self.jumps)

        pull = -self.vector @ WAY
        self.pull = pull.mean()
        self.pull_jumps = np.abs(np.diff(pull)) / self.pull

    def late(self):
        return self.vector[-max(1, len(self.vector) // 10) :].mean(axis=0)

    def windows(self):
        """Means of 50 steps."""
        count = max(1, len(self.vector) // 50)
        return np.array([part.mean(axis=0) for part in np.array_split(self.vector, count)])


class Arrivals:
    """Of every step the force [N] of hairs on teeth that they did not press on in the step before."""

    def __init__(self):
        self.touching = None
        self.forces = []

    def __call__(self, simulation):
        rows = simulation.contacts
        rows = rows[(rows["obstacle_b"] >= 0) & rows["force"].any(axis=1)]
        pairs = list(zip(rows["fibre_a"].tolist(), rows["part_b"].tolist()))
        before = set(pairs) if self.touching is None else self.touching
        new = [pair not in before for pair in pairs]
        self.forces.append(np.linalg.norm(rows["force"][new].sum(axis=0)))
        self.touching = set(pairs)


def simulate(arguments, name):
    folder = arguments.output / name
    if name not in arguments.run:
        return Force(folder)
    state = arguments.output / f"{name}.h5"
    wide = {"fibres": FIBRES * arguments.copies}
    if arguments.copies > 1:
        wide["teeth"] = PITCHES * arguments.copies + 1
    settings = [f"--set={key}={value}" for key, value in {**WISP, **wide, **CASES[name]}.items()]
    packed = [arguments.program, "bench", "state", arguments.wisp, SCENE, *settings, "-o", state]
    subprocess.run(packed, check=True)
    simulation = tresse.Simulation.from_state(state, arguments.threads)
    arrivals = Arrivals()
    ended = simulation.run(simulation.time + arguments.seconds, arrivals, folder)
    print(f"{name}: {ended.verdict}", file=sys.stderr)
    if ended.outcome != "finished":
        raise RuntimeError(f"{name}: {ended.outcome}")
    np.savetxt(folder / ARRIVING, arrivals.forces)
    return Force(folder)


class Books:
    """Where the energy goes [J]: `lost` (work done less energy gained), of it `friction` and `damping`, and `scheme`,
    half of dq.K dq a step, which the backward Euler step takes from the elastic energy; its half of dv.M dv isn't in it."""

    def __init__(self, checkpoint, threads):
        simulation = tresse.Simulation.from_state(checkpoint, threads)
        scene = tomllib.loads(simulation.scene.resolved())
        hair, fibre, dt = scene["materials"]["hair"], scene["fibres"][0], simulation.scene.time_step
        area_moment = np.pi * fibre["section"]["half_axis_1"][0] ** 4 / 4  # round
        bending = hair["young_modulus"] * area_moment
        stiffness = np.array([bending / (1 + hair["poisson_ratio"]), bending, bending])
        lengths = np.array(fibre["element_lengths"])

        def account(report):
            return report["work_external"] - report["kinetic"] - report["elastic"] - report["gravity"]

        before = account(simulation.step())
        self.friction = self.damping = self.scheme = 0.0
        for _ in range(BOOK_STEPS):
            after = account(simulation.step())
            rows = simulation.contacts
            pressing = np.sum(rows["force"] * rows["normal"], axis=1)
            tangential = np.linalg.norm(rows["force"] - pressing[:, None] * rows["normal"], axis=1)
            self.friction += dt * np.sum(tangential * rows["slip"])
            rates = np.array([simulation.rates(f).reshape(-1, 3) for f in range(simulation.fibres)])
            squares = np.einsum("fei,e,i->", rates**2, lengths, stiffness)
            self.damping += dt * hair["damping_time"] * squares
            self.scheme += dt**2 / 2 * squares
        self.lost = after - before
        self.left = self.lost - self.friction - self.damping - self.scheme


def claims(forces, books):
    smooth = forces["certified"]
    rows = []

    def add(claim, asked, measured, holds):
        rows.append((claim, asked, measured, {True: "yes", False: "NO", None: "-"}[holds]))

    for name, force in forces.items():
        add(f"mean force, {name}", "-", f"{1e3 * force.mean:.3f} mN", None)
    rest = smooth.jumps[~smooth.impacts]
    add("largest jump, certified, without impacts", f"<= {ASKED['jump']:.0%}", f"{rest.max():.2%}", bool(rest.max() <= ASKED["jump"]))
    for name, force in forces.items():
        jumps = force.jumps
        large = (jumps > ASKED["jump"]).sum()
        add(f"jumps, {name}: median, 99 of 100, largest", "-",
            f"{np.median(jumps):.1e}, {np.percentile(jumps, 99):.1e}, {jumps.max():.1e}", None)  # fmt: skip
        add(f"steps above {ASKED['jump']:.0%}, {name}; of them impacts", "-", f"{large} of {len(jumps)}; {force.impacts.sum()}", None)
    add("pull along the comb's way, certified; jumps: median; steps above", "-",
        f"{1e3 * smooth.pull:.3f} mN; {np.median(smooth.pull_jumps):.1e}; {(smooth.pull_jumps > ASKED['jump']).sum()}", None)  # fmt: skip
    ratio = np.median(forces["segments"].jumps) / np.median(smooth.jumps)
    add("median jump, segments over certified", f">= {ASKED['roughness_ratio']:g}", f"{ratio:.1f}",
        bool(ratio >= ASKED["roughness_ratio"]))  # fmt: skip
    apart = np.linalg.norm(forces["segments"].windows() - smooth.windows(), axis=1).max() / smooth.mean
    add("means of 50 steps, segments from certified, farthest", "-", f"{apart:.1%}", None)
    drift = np.linalg.norm(forces["segments"].late() - smooth.late()) / smooth.mean
    add("drift, segments", f">= {ASKED['drift']:.0%}", f"{drift:.1%}", bool(drift >= ASKED["drift"]))
    more = forces["dirty"].mean / smooth.mean
    add("mean force, friction 0.3 over 0.1", "> 1", f"{more:.2f}", bool(more > 1.0))
    parts = ", ".join(f"{getattr(books, part) / books.lost:.1%}" for part in ("friction", "damping", "scheme"))
    add(f"energy lost in {BOOK_STEPS} steps; by friction, damping, scheme", "-", f"{books.lost:.3g} J; {parts}", None)
    left = abs(books.left) / books.lost
    add("energy unaccounted for", f"<= {ASKED['books']:.0%}", f"{left:.1%}", bool(left <= ASKED["books"]))
    return rows


def text_of(rows):
    rows = [("claim", "asked", "measured", "pass"), *rows]
    widths = [max(len(row[i]) for row in rows) for i in range(4)]
    lines = ["| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths)) + " |" for row in rows]
    lines.insert(1, "|" + "|".join("-" * (width + 2) for width in widths) + "|")
    return "\n".join(lines)


def draw(forces, path):
    sys.path.append(str(ROOT / "python"))
    from tresse_plot import style

    style.for_files()
    from matplotlib import pyplot

    figure, (left, right) = pyplot.subplots(1, 2, figsize=(9, 3.8), layout="constrained")
    for name, colour, label in (
        ("dirty", style.ORANGE, "smooth curves, friction 0.3"),
        ("segments", style.RED, "100 segments a hair, 0.1"),
        ("certified", style.BLUE, "smooth curves, 0.1"),
    ):
        force = forces[name]
        left.plot(force.time, 1e3 * force.size, color=colour, linewidth=0.8, label=label)
        if name != "dirty":
            right.semilogy(force.time[1:], force.jumps, ".", color=colour, markersize=2, rasterized=True)
    right.axhline(ASKED["jump"], color=style.GREY, linewidth=0.8)
    style.legend_over(figure, left)
    left.set_ylim(bottom=0)
    left.set_ylabel("force on the comb [mN]")
    right.set_ylabel("change from step to step, over the mean")
    for axes in (left, right):
        axes.set_xlabel("time [s]")
    style.save(figure, path)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("wisp", type=pathlib.Path, nargs="?", default=ROOT / "benchmarks/states/wavy.h5",
        help="checkpoint or packed state (benchmarks/states/wavy.h5)")  # fmt: skip
    parser.add_argument("--copies", type=int, default=9, help="wisps in it side by side (9)")
    parser.add_argument("--program", type=pathlib.Path, default=ROOT / "build/release/bin/tresse")
    parser.add_argument("--output", type=pathlib.Path, default=ROOT / "out/combing")
    parser.add_argument("--figure", type=pathlib.Path, help="where the picture goes (OUTPUT/combing.svg)")
    parser.add_argument("--seconds", type=float, default=1.0)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--run", nargs="*", choices=CASES, default=list(CASES), metavar="CASE",
        help=f"of {', '.join(CASES)}; the others are read from OUTPUT (all)")  # fmt: skip
    arguments = parser.parse_args()
    for path in (arguments.wisp, arguments.program):
        if not path.is_file():
            parser.error(f"{path}: no such file")
    arguments.output.mkdir(parents=True, exist_ok=True)
    try:
        forces = {name: simulate(arguments, name) for name in CASES}
        books = Books(arguments.output / "certified/checkpoint.h5", arguments.threads)
    except (subprocess.CalledProcessError, RuntimeError, tresse.InvalidInput, OSError) as error:
        print(error, file=sys.stderr)
        return 2
    rows = claims(forces, books)
    print(text_of(rows))
    draw(forces, arguments.figure or arguments.output / "combing.svg")
    return 1 if any(row[3] == "NO" for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
