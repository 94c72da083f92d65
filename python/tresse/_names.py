"""What is looked up by name says which names there are."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

import numpy as np

from tresse._core import InvalidInput


class UnknownName(InvalidInput, KeyError):
    """A name that is not there, as the KeyError of a dict."""

    __module__ = "tresse"
    __str__ = ValueError.__str__


def unknown(kind: str, name: object, names: Iterable[str], *, where: str = "", hint: str = "") -> UnknownName:
    """The error of a name of this kind that is none of `names`."""
    known = list(names)
    near = difflib.get_close_matches(str(name), known, n=1)
    meant = f"; did you mean '{near[0]}'?" if near else ""
    return UnknownName(f"{where}no {kind} '{name}', expected one of: {', '.join(known) or 'none'}{meant}{hint}")


class Named(dict):
    """A dict whose error of a missing key lists those that there are."""

    def __init__(self, kind: str, values):
        super().__init__(values)
        self._kind = kind

    def __missing__(self, name):
        raise unknown(self._kind, name, self)


class Table(np.ndarray):
    """A structured array whose error of a missing column lists those that there are. A column is a plain array."""

    hint = ""

    def __array_finalize__(self, other):
        self.hint = getattr(other, "hint", "")

    def __getitem__(self, key):
        names = self.dtype.names or ()
        if isinstance(key, str) and key not in names:
            raise unknown("column", key, names, hint=self.hint)
        out = super().__getitem__(key)
        return out.view(np.ndarray) if isinstance(out, Table) and out.dtype.names is None else out
