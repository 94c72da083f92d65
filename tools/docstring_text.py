"""Sphinx extension: docstrings that are plain text with `code` and indented lines of code, as they read in help()."""

import re


def as_text(paragraph):
    """Markdown's `code` as RST's, and nothing else with a meaning of its own."""
    parts = re.split(r"`+([^`]+)`+", " ".join(paragraph))
    text = "".join(f"``{part}``" if i % 2 else re.sub(r"([*_|\\])", r"\\\1", part) for i, part in enumerate(parts))
    return "\\" + text if re.match(r"\(?\w+[.)]\s", text) else text  # "(3) [m]" counts nothing


def converted(lines):
    """The same text in RST."""
    out, paragraph = [], []

    def end():
        if paragraph:
            out.extend([as_text(paragraph), ""])
            paragraph.clear()

    literal = False
    for line in [*lines, ""]:
        if line.startswith("    ") and (literal or not paragraph):
            out.extend([line] if literal else ["::", "", line])
            literal = True
        elif not line.strip():
            end()
            out.append("")
        else:
            literal = False
            if line.lstrip().startswith("- "):
                end()
            paragraph.append(line.strip())
    return out


def setup(app):
    def process(_app, _what, _name, _thing, _options, lines):
        lines[:] = converted(lines)

    app.connect("autodoc-process-docstring", process)
    return {"parallel_read_safe": True}
