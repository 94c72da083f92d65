"""The viewer's page of a run inside a notebook: `tresse export --format html` in a frame of its own."""

from __future__ import annotations

import html
import pathlib
import shutil
import subprocess
import tempfile

from tresse import _core

HEIGHT = 620  # pixels
MOST_FRAMES = 100
LARGEST = 20  # MB: it is kept in the notebook


def program() -> str | None:
    """`tresse` beside this package, in its build or installation, else the one in the path."""
    for folder in pathlib.Path(_core.__file__).resolve().parents[:6]:
        if (found := folder / "bin/tresse").is_file():
            return str(found)
    return shutil.which("tresse")


def page(folder: pathlib.Path, frames: int) -> tuple[str, str]:
    """The page with some of the frames, or why there is none."""
    if (found := program()) is None:
        return "", "the program tresse was not found, in the path or beside this package"
    reason = ""
    stride = -(-frames // MOST_FRAMES)
    with tempfile.TemporaryDirectory() as name:
        file = pathlib.Path(name) / "run.html"
        while stride <= frames:
            words = [found, "export", str(folder), "-o", str(file), "--frames", f"::{stride}", "--quiet"]
            result = subprocess.run([*words, "--largest-page", str(LARGEST)], capture_output=True, text=True, check=False)
            if result.returncode == 0:
                return file.read_text(encoding="utf-8"), ""
            reason = result.stderr.strip().removeprefix("tresse: ")
            if "larger than" not in reason:
                break
            stride *= 4
    return "", reason or "the run has no frames"


def in_notebook(folder: pathlib.Path, frames: int, text: str) -> str:
    """HTML: the page in an iframe; where there is none, `text` and the reason."""
    content, reason = page(folder, frames)
    if reason:
        return f"<code>{html.escape(text)}</code><br>No viewer: {html.escape(reason)}"
    return f'<iframe srcdoc="{html.escape(content)}" width="100%" height="{HEIGHT}" style="border: 0"></iframe>'
