"""The discrete frictional contact problem: u = W r + q, (r_i, u_i) in Coulomb's law, normal component first.

    from tresse import friction
    problem = friction.Problem(W, q, mu)            # W dense (3n, 3n), a scipy.sparse matrix, or blocks
    found = friction.solve(problem, solver="auto")
    found.reaction, found.velocity, found.residual
"""

from __future__ import annotations

import os
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tresse import _core
from tresse._arrays import array, flat
from tresse._core import InvalidInput

__all__ = ["Certificate", "Problem", "SOLVERS", "Solution", "alart_curnier_error", "natural_map_error", "scaled_error", "solve"]

SOLVERS: tuple[str, ...] = tuple(_core.solver_names)
Array = NDArray[np.float64]


class Problem:
    """n contacts, checked once.

    W   Delassus operator [1/kg]: (3n, 3n) array, any scipy.sparse matrix, or a list of (row, column, block (3, 3))
        by contacts
    q   relative velocity without impulses (3n) or (n, 3) [m/s]
    mu  friction coefficients (n), or one for all; >= 0"""

    def __init__(self, W, q: ArrayLike, mu: ArrayLike):
        q = flat(q, "q")
        if q.size == 0 or q.size % 3:
            raise InvalidInput(f"q: found {q.size} numbers, expected three a contact")
        n = q.size // 3
        mu = np.full(n, array(mu, "mu", ())) if np.ndim(mu) == 0 else array(mu, "mu", (n,))
        if hasattr(W, "tobsr"):
            self._core = _core.FrictionProblem.of_blocks(*_sparse(W, n), q, mu)
        elif _is_listed(W):
            self._core = _core.FrictionProblem.of_blocks(*_listed(W, n), q, mu)
        else:
            self._core = _core.FrictionProblem.of_dense(array(W, "W", (3 * n, 3 * n)), q, mu)

    @classmethod
    def read(cls, path: str | os.PathLike) -> Problem:
        """FCLIB HDF5 or Siconos text (.dat). Planar problems are embedded: the second tangent is free of coupling."""
        out = cls.__new__(cls)
        out._core = _core.FrictionProblem.read(os.fspath(path))
        return out

    def write(self, path: str | os.PathLike) -> None:
        """FCLIB HDF5, local form; whole or not at all."""
        self._core.write(os.fspath(path))

    @property
    def contacts(self) -> int:
        return self._core.contacts

    @property
    def dimension(self) -> int:
        """3, or 2 of a planar file."""
        return self._core.dimension

    @property
    def q(self) -> Array:
        """(3n) [m/s]"""
        return self._core.q

    @property
    def mu(self) -> Array:
        """(n)"""
        return self._core.mu

    @property
    def W(self) -> Array:
        """Dense copy (3n, 3n) [1/kg]."""
        n, begin, blocks = self.contacts, self._core.row_begin(), self._core.blocks()
        out = np.zeros((n, 3, n, 3))
        for row in range(n):
            out[row, :, self._core.columns()[begin[row] : begin[row + 1]], :] = blocks[begin[row] : begin[row + 1]]
        return out.reshape(3 * n, 3 * n)

    def velocity(self, reaction: ArrayLike) -> Array:
        """u = W r + q (3n) [m/s]."""
        return self._core.velocity(_reaction(reaction))

    def certificate(self) -> Certificate:
        """Whether impulses of ordinary size can obey the law at all: for problems that no solver ends on."""
        return Certificate(*self._core.certificate())

    def __repr__(self):
        return f"Problem({self.contacts} contacts)"


class Certificate(NamedTuple):
    """Weights of the normals with W^T (weights, 0, 0) ~ 0 and q_N . weights < 0 (Farkas' lemma): the law wants
    weights . u_N >= 0, which takes impulses of `least_impulse` at least."""

    weights: Array  #: (n), >= 0, of norm 1; zero where there is nothing to tell
    closing: float  #: -q_N . weights [m/s]: how fast bodies close in where no impulses can keep them apart
    least_impulse: float  #: no impulses of a smaller 2-norm obey the law [N s]
    proves_none: bool  #: that is a million times what an ordinary problem takes: there is no solution


class Solution:
    """How a solve ended. Not converged: the best iterate found."""

    def __init__(self, solver: str, measure: str, core: _core.FrictionSolution):
        self.solver = solver
        self.reaction: Array = core.reaction  #: r (3n) [N s]
        self.velocity: Array = core.velocity  #: u = W r + q, recomputed (3n) [m/s]
        self.status: str = core.status  #: "converged", "max_iterations", "stalled", "no_solution", "not_finite"
        self.converged: bool = core.converged
        self.iterations: int = core.iterations
        self.newton_steps: int = core.newton_steps
        self.islands: int = core.islands
        self.unsolvable: list[int] = core.unsolvable  #: contacts proved without solution
        self.natural_map_error: float = core.natural_map_error  #: recomputed, as friction.natural_map_error()
        self.scaled_error: float = core.scaled_error
        #: what the tolerance was on
        self.residual: float = self.scaled_error if measure == "scaled" else self.natural_map_error
        self.history: Array = core.history  #: (k, 3): iterations, measure, seconds

    def __repr__(self):
        return f"Solution({self.status}, residual {self.residual:.3g}, {self.iterations} iterations)"


def solve(problem: Problem | str | os.PathLike, *, solver: str = "auto", tolerance: float = 1e-10,
          max_iterations: int = 10000, measure: str = "natural-map", guess: ArrayLike | None = None, facets: int = 0,
          threads: int | None = None) -> Solution:  # fmt: skip
    """Solves a problem, or the one of a file.

    solver          one of SOLVERS; all solve the same exact law
    tolerance       on `measure`: "natural-map", the field's common one, or "scaled", that of runs
    max_iterations  sweeps, Newton steps or convex problems
    guess           (3n) where to start [N s]; 0
    facets          3 or more: a pyramid instead of Coulomb's cone, another law, for comparison

    A solve that misses its tolerance is no exception: look at `converged`. The result does not depend on `threads`."""
    if not isinstance(problem, Problem):
        problem = Problem.read(problem)
    start = np.zeros(3 * problem.contacts) if guess is None else array(flat(guess, "guess"), "guess", (3 * problem.contacts,))
    found = _core.solve(problem._core, start, solver, measure, tolerance, max_iterations, facets, threads)
    return Solution(solver, measure, found)


def natural_map_error(problem: Problem, reaction: ArrayLike) -> float:
    """|r - P_K(r - (u + mu |u_T| e_N))| / max(|q|, |r|, |u|), u recomputed: the field's common measure."""
    return problem._core.natural_map_error(_reaction(reaction))


def scaled_error(problem: Problem, reaction: ArrayLike) -> float:
    """The same after scaling each contact by sqrt(tr W_ii / 3): the `residual` of runs."""
    return problem._core.scaled_error(_reaction(reaction))


def alart_curnier_error(problem: Problem, reaction: ArrayLike) -> float:
    """Alart and Curnier's residual after the same scaling."""
    return problem._core.alart_curnier_error(_reaction(reaction))


def _reaction(value):
    return flat(value, "reaction")


def _sparse(W, n):
    if W.shape != (3 * n, 3 * n):
        raise InvalidInput(f"W: found a matrix of shape {W.shape}, expected {(3 * n, 3 * n)}")
    rows = W.tobsr((3, 3)).copy()
    rows.sum_duplicates()
    rows.sort_indices()
    return rows.indptr.tolist(), rows.indices.tolist(), array(rows.data, "W", (None, 3, 3))


def _is_listed(W):
    return isinstance(W, (list, tuple)) and all(isinstance(e, (list, tuple)) and len(e) == 3 and np.ndim(e[0]) == 0 for e in W) \
        and any(np.ndim(e[2]) == 2 for e in W)  # fmt: skip


def _listed(W, n):
    blocks = {}
    for row, column, block in W:
        try:
            key = int(row), int(column)
        except (TypeError, ValueError) as error:
            raise InvalidInput(f"W: found a block at ({row!r}, {column!r}), expected contacts") from error
        if not (0 <= key[0] < n and 0 <= key[1] < n):
            raise InvalidInput(f"W: found a block at {key}, expected contacts from 0 to {n - 1}")
        blocks[key] = blocks.get(key, 0.0) + array(block, "W", (3, 3))
    order = sorted(blocks)
    begin = np.searchsorted([row for row, _ in order], np.arange(n + 1))
    return begin.tolist(), [c for _, c in order], np.array([blocks[key] for key in order])
