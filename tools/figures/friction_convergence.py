#!/usr/bin/python3
"""How the friction solvers converge: friction_convergence.py --program TRESSE [-o docs/figures/friction_convergence.svg].

The problem is one step of a bundle of spaghetti that lands on a plate (scenes/spaghetti.toml); its largest island is solved
by every solver from zero impulses, and by plain Gauss-Seidel, written here with the exact solution of one contact. The package
`tresse` must be found (PYTHONPATH)."""

import argparse
import pathlib
import subprocess
import tempfile

import matplotlib
import numpy as np

matplotlib.use("Agg")
matplotlib.rcParams.update({"svg.hashsalt": "tresse", "svg.fonttype": "none", "font.size": 11})
import matplotlib.pyplot as plt  # noqa: E402

from tresse import friction  # noqa: E402

SCENE = pathlib.Path(__file__).resolve().parents[2] / "scenes/spaghetti.toml"
STEP = 64
SWEEPS = 400
SOLVERS = (("hybrid-gauss-seidel", "hybrid Gauss-Seidel", "#0072b2", "-"),
           ("alart-curnier-newton", "Newton, Alart-Curnier", "#d55e00", "-"),
           ("fischer-burmeister-newton", "Newton, Fischer-Burmeister", "#e69f00", "--"),
           ("cadoux", "Cadoux's fixed point", "#009e73", "-."))


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
    figure, axes = plt.subplots(figsize=(7.2, 4))
    plain = plain_sweeps(problem)
    axes.loglog(plain[:, 0], plain[:, 1], color="#777777", label="plain Gauss-Seidel")
    for name, label, colour, style in SOLVERS:
        found = friction.solve(problem, solver=name, tolerance=1e-12, measure="scaled", threads=1)
        history = found.history[found.history[:, 0] > 0]
        print(name, found.status, found.iterations, found.newton_steps, found.scaled_error)
        axes.loglog(history[:, 0], np.maximum(history[:, 1], 1e-15), style, color=colour, label=label, marker=".", ms=5)
    axes.set(xlabel="iterations: sweeps, Newton steps or convex problems", ylabel="residual (scaled) [-]", ylim=(1e-16, 10))
    axes.axhline(1e-12, color="#444444", lw=0.8, ls=":")
    axes.legend(loc=(0.4, 0.04), fontsize=9)
    figure.tight_layout()
    figure.savefig(options.output, dpi=110, metadata={"Date": None} if options.output.endswith(".svg") else None)


if __name__ == "__main__":
    main()
