#!/usr/bin/python3
"""How the friction solvers converge: friction_convergence.py --program TRESSE [-o docs/figures/friction_convergence.svg].

The problem is one step of a bundle of spaghetti that lands on a plate (scenes/spaghetti.toml); its largest island is solved
by every solver from zero impulses, and by plain Gauss-Seidel, written here with the exact solution of one contact. The package
`tresse` must be found (PYTHONPATH)."""

import argparse
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
from tresse import friction

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "python"))
from tresse_plot import style  # noqa: E402

style.for_files()
import matplotlib.pyplot as plt  # noqa: E402

SCENE = pathlib.Path(__file__).resolve().parents[2] / "scenes/spaghetti.toml"
STEP = 64
SWEEPS = 400
SOLVERS = (("hybrid-gauss-seidel", "hybrid Gauss-Seidel", style.BLUE, "-"),
           ("alart-curnier-newton", "Newton, Alart-Curnier", style.RED, "-"),
           ("fischer-burmeister-newton", "Newton, Fischer-Burmeister", style.ORANGE, "--"),
           ("cadoux", "Cadoux's fixed point", style.GREEN, "-."))


def dumped_problem(program):
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([program, "run", SCENE, "-o", f"{folder}/run", "--set", "tolerance=1e-6", "--set", "solver.max_iterations=300",
                        "--until", str(STEP / 1000), "--threads", "1", "--quiet", "--dump-friction", f"{folder}/problems",
                        "--dump-steps", str(STEP)], check=False, stdout=subprocess.DEVNULL)  # fmt: skip
        return friction.Problem.read(f"{folder}/problems/step-{STEP}.hdf5")


def largest_island(problem):
    n = problem.contacts
    W = problem.W
    touches = np.abs(W).reshape(n, 3, n, 3).max(axis=(1, 3)) > 0
    left, islands = set(range(n)), []
    while left:
        todo, island = [left.pop()], set()
        while todo:
            i = todo.pop()
            island.add(i)
            near = left.intersection(np.flatnonzero(touches[i]).tolist())
            left -= near
            todo += near
        islands.append(sorted(island))
    some = max(islands, key=len)
    rows = (3 * np.array(some)[:, None] + np.arange(3)).ravel()
    return friction.Problem(W[np.ix_(rows, rows)], problem.q[rows], problem.mu[some])


def plain_sweeps(problem):
    W, q, mu, n = problem.W, problem.q, problem.mu, problem.contacts
    blocks = [W[3 * i : 3 * i + 3, 3 * i : 3 * i + 3] for i in range(n)]
    r, errors = np.zeros(3 * n), []
    for sweep in range(1, SWEEPS + 1):
        for i in range(n):
            at = slice(3 * i, 3 * i + 3)
            free = W[at] @ r + q[at] - blocks[i] @ r[at]
            r[at] = friction.solve(friction.Problem(blocks[i], free, mu[i]), tolerance=1e-14, guess=r[at]).reaction
        if sweep < 10 or sweep % 10 == 0:
            errors.append((sweep, friction.scaled_error(problem, r)))
    return np.array(errors)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", required=True)
    parser.add_argument("-o", "--output", default="docs/figures/friction_convergence.svg")
    options = parser.parse_args()
    problem = largest_island(dumped_problem(options.program))
    print(problem.contacts, "contacts")
    figure, axes = plt.subplots(figsize=(9, 4.6), layout="constrained")
    plain = plain_sweeps(problem)
    axes.loglog(plain[:, 0], plain[:, 1], color=style.GREY, label="plain Gauss-Seidel")
    for name, label, colour, dashes in SOLVERS:
        found = friction.solve(problem, solver=name, tolerance=1e-12, measure="scaled", threads=1)
        history = found.history[found.history[:, 0] > 0]
        print(name, found.status, found.iterations, found.newton_steps, found.scaled_error)
        axes.loglog(history[:, 0], np.maximum(history[:, 1], 1e-15), dashes, color=colour, label=label, marker=".", ms=5)
    axes.set(xlabel="iterations: sweeps, Newton steps or convex problems", ylabel="residual (scaled) [-]", ylim=(1e-16, 10))
    axes.margins(x=0.02)
    axes.axhline(1e-12, color=style.INK, lw=0.8, ls=":")
    style.legend_over(figure, axes, ncols=3)
    style.save(figure, options.output)


if __name__ == "__main__":
    main()
