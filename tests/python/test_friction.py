"""The friction solvers: the law written out once more, forms of W, files, refusals."""

import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse
import tresse
from tresse import friction


def random_problem(contacts=6, seed=0):
    rng = np.random.default_rng(seed)
    factor = rng.normal(size=(3 * contacts, 4 * contacts))
    return factor @ factor.T, rng.normal(size=3 * contacts), np.full(contacts, 0.4)


def assert_obeys_the_law(problem, found, tolerance):
    r, u = found.reaction.reshape(-1, 3), (problem.W @ found.reaction + problem.q).reshape(-1, 3)
    for r_i, u_i, mu in zip(r, u, problem.mu):
        slip, grip = np.linalg.norm(u_i[1:]), np.linalg.norm(r_i[1:])
        assert r_i[0] >= -tolerance and u_i[0] >= -tolerance and abs(r_i[0] * u_i[0]) <= tolerance
        assert grip <= mu * r_i[0] + tolerance
        assert np.linalg.norm(slip * r_i[1:] + mu * r_i[0] * u_i[1:]) <= tolerance


@pytest.mark.parametrize("solver", friction.SOLVERS)
def test_every_solver_obeys_the_law(solver):
    problem = friction.Problem(*random_problem())
    found = friction.solve(problem, solver=solver, tolerance=1e-12)
    assert found.converged and found.status == "converged" and found.residual <= 1e-12
    assert found.residual == friction.natural_map_error(problem, found.reaction)
    assert found.scaled_error == friction.scaled_error(problem, found.reaction)
    assert_obeys_the_law(problem, found, 1e-10)


def test_forms_of_w_are_the_same_problem(tmp_path):
    W, q, mu = random_problem()
    W[0:3, 9:12] = W[9:12, 0:3] = 0.0
    wanted = friction.solve(friction.Problem(W, q, 0.4)).reaction
    blocks = [(i, j, W[3 * i : 3 * i + 3, 3 * j : 3 * j + 3]) for i in range(6) for j in range(6) if (i, j) not in ((0, 3), (3, 0))]
    friction.Problem(W, q, mu).write(tmp_path / "problem.hdf5")
    forms = [
        friction.Problem(scipy.sparse.csr_matrix(W), q.reshape(-1, 3), mu),
        friction.Problem(scipy.sparse.coo_matrix(W), q, mu),
        friction.Problem(blocks[::-1], q, mu),
        friction.Problem.read(tmp_path / "problem.hdf5"),
    ]
    for problem in forms:
        assert np.array_equal(problem.W, W)
        assert np.array_equal(friction.solve(problem).reaction, wanted)
    assert np.array_equal(friction.solve(str(tmp_path / "problem.hdf5"), threads=2).reaction, wanted)


def test_a_certificate_where_walls_close_in():
    rows = np.eye(3)
    opposite = np.block([[rows, -rows], [-rows, rows]])
    found = friction.Problem(opposite, [-1, 0, 0, -1, 0, 0], 0.5).certificate()
    assert found.proves_none and found.least_impulse > 1e8
    np.testing.assert_allclose(found.weights, np.sqrt([0.5, 0.5]), rtol=1e-9)
    assert abs(found.closing - np.sqrt(2)) < 1e-9
    assert not friction.Problem(opposite, [-1, 0, 0, 2, 0, 0], 0.5).certificate().proves_none


def test_what_is_missed_is_no_exception():
    found = friction.solve(friction.Problem(*random_problem(60)), solver="cadoux", tolerance=1e-15, max_iterations=1)
    assert not found.converged and found.residual > 1e-15


@pytest.mark.parametrize("change, words", [
    ({"q": np.zeros(5)}, "q: found 5 numbers, expected three a contact"),
    ({"W": np.eye(6)}, r"W: found an array of shape \(6, 6\), expected \(3, 3\)"),
    ({"W": scipy.sparse.eye(6)}, r"W: found a matrix of shape \(6, 6\)"),
    ({"W": [(0, 4, np.eye(3))]}, r"W: found a block at \(0, 4\)"),
    ({"q": [[1, 2], 3]}, r"q: found .*, expected numbers"),
    ({"q": "abc"}, "q: found 'abc', expected numbers"),
    ({"W": [("a", 0, np.eye(3))]}, "W: found a block at"),
    ({"W": [(0, 0, np.eye(2))]}, r"W: found an array of shape \(2, 2\)"),
    ({"W": []}, "W: found an array of shape"),
    ({"mu": [-0.1]}, "friction coefficient"),
    ({"mu": [0.1, 0.2]}, "mu: found an array of shape"),
    ({"W": np.full((3, 3), np.inf)}, "W: found a number that is not finite"),
])  # fmt: skip
def test_bad_problems_are_one_line(change, words):
    with pytest.raises(tresse.InvalidInput, match=words) as caught:
        friction.Problem(**{"W": np.eye(3), "q": [-1, 0, 0], "mu": [0.3], **change})
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("more, words", [
    ({"solver": "magic"}, "solver: found 'magic', expected one of: hybrid-gauss-seidel"),
    ({"tolerance": 0.0}, "tolerance"),
    ({"max_iterations": 0}, "iterations"),
    ({"guess": [0.0]}, "guess: found an array of shape"),
    ({"measure": "other"}, "measure: found 'other'"),
])  # fmt: skip
def test_bad_options_are_one_line(more, words):
    with pytest.raises(tresse.InvalidInput, match=words):
        friction.solve(friction.Problem(np.eye(3), [-1, 0, 0], 0.3), **more)


def test_files_that_fail(tmp_path):
    with pytest.raises(tresse.InvalidInput, match="nothing.hdf5: No such file"):
        friction.Problem.read(tmp_path / "nothing.hdf5")
    with pytest.raises(tresse.SystemFailure, match="missing") as caught:
        friction.Problem(*random_problem()).write(tmp_path / "missing" / "problem.hdf5")
    assert isinstance(caught.value, OSError)


def test_many_solves_take_no_more_memory_than_a_few():
    """An arena of threads for every call would leave some kilobytes behind each time."""
    script = """
import resource
import threading
import tresse
problem = tresse.friction.Problem([[2.0, 0, 0], [0, 2.0, 0], [0, 0, 2.0]], [-1.0, 0.5, 0.25], [0.7])
def solve(count):
    for _ in range(count):
        tresse.friction.solve(problem, threads=2)
def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss  # [KiB]
solve(300)
before = peak()
solve(3000)
for _ in range(20):
    thread = threading.Thread(target=solve, args=(50,))
    thread.start()
    thread.join()
print(peak() - before)
"""
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert int(result.stdout) < 3000
