"""Arguments to arrays of the wanted shape; every refusal is one line."""

import numpy as np

from tresse._core import InvalidInput


def array(value, name, shape, what="numbers"):
    """Finite doubles of `shape`, in which None is any size."""
    try:
        out = np.asarray(value, dtype=float)
    except (TypeError, ValueError) as error:
        raise InvalidInput(f"{name}: found {_shown(value)}, expected {what}") from error
    fits = len(out.shape) == len(shape) and all(w is None or w == s for w, s in zip(shape, out.shape))
    if not fits:
        wanted = "(" + ", ".join("n" if w is None else str(w) for w in shape) + ("," if len(shape) == 1 else "") + ")"
        raise InvalidInput(f"{name}: found an array of shape {out.shape}, expected {wanted}")
    if not np.isfinite(out).all():
        raise InvalidInput(f"{name}: found a number that is not finite, expected finite numbers")
    return out


def flat(value, name):
    """Finite doubles in one row, whatever the shape."""
    try:
        value = np.asarray(value, dtype=float).reshape(-1)
    except (TypeError, ValueError) as error:
        raise InvalidInput(f"{name}: found {_shown(value)}, expected numbers") from error
    return array(value, name, (None,))


def positive(value, name):
    """One finite number above 0."""
    number = float(array(value, name, (), "a number"))
    if not number > 0.0:
        raise InvalidInput(f"{name}: found {number:g}, expected a number above 0")
    return number


def frame(value, name="frame"):
    """A rotation whose columns are (n0, n1, n2); the identity for None."""
    if value is None:
        return np.eye(3)
    out = array(value, name, (3, 3))
    error = np.abs(out.T @ out - np.eye(3)).max()
    if error > 1e-9:
        raise InvalidInput(f"{name}: columns are off orthonormal by {error:.3g}, expected at most 1e-09")
    if np.linalg.det(out) < 0.0:
        raise InvalidInput(f"{name}: found a left-handed frame, expected n2 = n0 x n1")
    return out


def _shown(value):
    text = " ".join(repr(value).split())
    return text if len(text) <= 40 else text[:40] + "..."
