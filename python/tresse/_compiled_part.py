"""Looks for the compiled part of the package, and says in one line why it cannot be had."""

import pathlib
import sys


def reason(error: ImportError) -> str:
    """Why `tresse._core` cannot be imported here."""
    folder = pathlib.Path(__file__).parent
    for path in sorted(folder.glob("_core.cpython-*.so")):
        tag = path.name.split("-")[1]  # 311
        if sys.implementation.cache_tag == f"cpython-{tag}":
            return f"tresse: {error}"
        return (
            f"tresse was built for python{tag[0]}.{tag[1:]}; {sys.executable} is Python "
            f"{sys.version_info.major}.{sys.version_info.minor}"
        )
    return f"tresse: {folder} is without its compiled part, which ./demo --build-only makes"


try:
    from tresse import _core  # noqa: F401
except ImportError as error:
    raise ImportError(reason(error)) from None
