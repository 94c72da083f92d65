"""The Python of the documents does what they say: every block runs, in order, in a folder of its own."""

import re

import matplotlib
import pytest

matplotlib.use("Agg")


@pytest.mark.parametrize("page", ["python.md", "python_tutorial.md"])
def test_the_blocks_of_a_page_run(page, scenes, tmp_path, monkeypatch):
    text = (scenes.parent / "docs/guide" / page).read_text(encoding="utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    assert len(blocks) > 4
    monkeypatch.chdir(tmp_path)
    names = {}
    for block in blocks:
        exec(compile(block, page, "exec"), names)
    assert list(tmp_path.glob("*.png"))
