"""Scenes, from files or from code; one reader for both, so that checks and messages are the same."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tresse import _core
from tresse._core import InvalidInput
from tresse._names import Named

__all__ = ["FibreGroup", "Parameter", "Scene"]

Array = NDArray[np.float64]


class Parameter(NamedTuple):
    """An entry of the table [parameters]."""

    value: float | bool | str  #: resolved: a number in SI units, a truth value, or a word
    unit: str  #: of the value; empty: none
    written: str  #: in use, as written
    description: str


class FibreGroup(NamedTuple):
    """A table [[fibres]]: what is the same for all of its fibres, of strands that of the first."""

    model: str
    material: str
    elements: int
    length: float  #: [m]
    radius: float  #: with which a fibre touches, the largest half-axis of its sections [m]
    mass: float  #: of one fibre [kg]
    bending_stiffness: Array  #: (2) about n1 and n2 at the root, EI1 and EI2 [N m^2]
    twisting_stiffness: float  #: at the root, GJ [N m^2]


class Scene:
    """A checked scene; docs/reference/scenes.md and schema() list its tables and keys.

        tresse.Scene({"fibres": [{"name": "hair", "material": "human-hair", "length": "10 cm",
                                  "elements": 10, "radius": "40 um"}]})
        tresse.Scene.load("scenes/comb.toml", fibres=25, friction=0.3)

    `tables` are those of a scene file as nested dicts, lists and arrays; or the file's path. `parameters`, also of load(), replace
    [parameters] of the scene, or as "table.key" settings, as `--set` does. Raises InvalidInput with the program's
    message."""

    def __init__(self, tables: Mapping[str, Any] | str | os.PathLike, parameters: Mapping[str, Any] | None = None, *, name: str = "scene"):
        if isinstance(tables, (str, os.PathLike)):
            self._core = _core.Scene.load(os.fspath(tables), _settings(parameters or {}))
            return
        if not isinstance(tables, Mapping):
            raise InvalidInput(f"{name}: found {type(tables).__name__}, expected a dict of tables or a file")
        try:
            text = _document(tables, name)
        except RecursionError as error:
            raise InvalidInput(f"{name}: tables within tables without end, expected those of a scene file") from error
        self._core = _core.Scene.parse(text, name, _settings(parameters or {}))

    @classmethod
    def load(cls, path: str | os.PathLike, parameters: Mapping[str, Any] | None = None, **more: Any) -> Scene:
        """Reads a file. `more`: parameters by name."""
        out = cls.__new__(cls)
        out._core = _core.Scene.load(os.fspath(path), _settings({**(parameters or {}), **more}))
        return out

    @classmethod
    def parse(cls, text: str, parameters: Mapping[str, Any] | None = None, *, name: str = "scene") -> Scene:
        """From TOML."""
        out = cls.__new__(cls)
        out._core = _core.Scene.parse(text, name, _settings(parameters or {}))
        return out

    @staticmethod
    def schema() -> dict[str, Any]:
        """The JSON schema of `tables`: keys, units, ranges, words, defaults and meanings, as `tresse schema` prints it."""
        return json.loads(_core.scene_schema())

    @property
    def title(self) -> str:
        return self._core.title

    @property
    def time_step(self) -> float:
        """[s]"""
        return self._core.time_step

    @property
    def time_step_reason(self) -> str:
        """Why the program chose the time step; empty where the scene gives it."""
        return self._core.time_step_reason

    @property
    def duration(self) -> float:
        """[s]"""
        return self._core.duration

    @property
    def parameters(self) -> dict[str, Parameter]:
        return Named("parameter", {name: Parameter(_word(value, unit), unit, written, text)
                                   for name, written, value, unit, text in self._core.parameters()})  # fmt: skip

    @property
    def groups(self) -> dict[str, FibreGroup]:
        """The tables [[fibres]] by name."""
        return Named("group", {name: FibreGroup(*values) for name, values in self._core.groups().items()})

    def resolved(self) -> str:
        """The scene as TOML without parameters, every value in SI units, every default written out: `scene.toml` of a
        run."""
        return self._core.resolved()

    def __repr__(self):
        return f"Scene({self.title!r})" if self.title else "Scene()"


def _word(value, unit):
    if value in ("true", "false") and not unit:
        return value == "true"
    try:
        return float(value)
    except ValueError:
        return value


def _settings(parameters):
    return [(str(name), _setting(value, str(name))) for name, value in parameters.items()]


def _setting(value, name):
    value = value.item() if isinstance(value, np.generic) else value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return repr(value)
    if isinstance(value, str):
        return value
    raise InvalidInput(f"parameter {name}: found {type(value).__name__}, expected a number, a truth value or a text")


def _document(tables, name):
    """TOML of nested dicts: a line for each key of a table, so that lines in messages are of use."""
    loose = {k: v for k, v in tables.items() if not isinstance(v, Mapping)}
    out = [f"{_key(k)} = {_value(v, f'{name}: {k}')}" for k, v in loose.items()]
    for key, table in tables.items():
        if isinstance(table, Mapping):
            out += ["", f"[{_key(key)}]"]
            out += [f"{_key(k)} = {_value(v, f'{name}: {key}.{k}')}" for k, v in table.items()]
    return "\n".join(out) + "\n"


def _value(value, where):
    if isinstance(value, np.ndarray) or isinstance(value, np.generic):
        value = value.tolist()
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return repr(value)
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{_key(k)} = {_value(v, f'{where}.{k}')}" for k, v in value.items()) + " }"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(_value(v, f"{where}[{i}]") for i, v in enumerate(value)) + "]"
    raise InvalidInput(f"{where} is {type(value).__name__}; expected a number, a text, a truth value, a list or a dict")


def _key(key):
    key = str(key)
    plain = key and all(c.isascii() and (c.isalnum() or c in "_-") for c in key)
    return key if plain else _text(key)


def _text(text):
    named = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r"}
    return '"' + "".join(named.get(c, f"\\u{ord(c):04X}" if ord(c) < 32 or ord(c) == 127 else c) for c in text) + '"'
