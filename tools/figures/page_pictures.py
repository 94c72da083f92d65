#!/usr/bin/python3
"""Draws pictures of the pages by the commands of their pages: page_pictures.py PAGE [NAME...], as in

    tools/figures/page_pictures.py docs/start/gallery.md knot plectoneme

A picture docs/images/NAME.png, also PREFIX_NAME.png with the PREFIX of the page, comes from the line of its page that is
`tresse render` or `tresse plot` with `-o NAME.png`, and from the runs and inversions that this line reads. All renderings have one size, and so have the plots of a gallery.
"""

import argparse
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

from PIL import Image  # of Debian's python3-pil, which matplotlib needs

ROOT = pathlib.Path(__file__).resolve().parents[2]
PREFIXES = {"gallery": "gallery_", "gallery_friction": "gallery_", "first_scene": "start_", "keep_a_groom": "stays_"}
SIZE = {"--width": "640", "--height": "400", "--samples": "128"}  # where the page's line says nothing else


def lines_of(page):
    """The commands of a page as lists of words."""
    text = page.read_text(encoding="utf-8").replace("\\\n", " ")
    blocks = re.findall(r"(?m)^```sh\n(.*?)^```$", text, re.DOTALL)
    return [shlex.split(line, comments=True) for block in blocks for line in block.splitlines() if line.strip()]


def output(words):
    return words[words.index("-o") + 1] if "-o" in words else ""


class Pictures:
    """Of one page, drawn in a folder where `scenes` and the page's own files are."""

    def __init__(self, page, program, folder):
        self.page, self.program, self.folder = page, program, folder
        self.prefix = PREFIXES.get(page.stem, "")
        self.lines = lines_of(page)
        for name in ("scenes", "benchmarks"):
            if not (folder / name).exists():
                (folder / name).symlink_to(ROOT / name)
        for mark, body in re.findall(r"(?m)^<!-- (file: [^\n]*|python) -->\n```\w+\n(.*?)^```$", page.read_text(encoding="utf-8"), re.DOTALL):
            if mark == "python":
                subprocess.run([sys.executable, "-c", body], cwd=folder, check=True)
            else:
                name, _, more = mark.removeprefix("file: ").partition(",")
                with open(folder / name, "a" if more else "w", encoding="utf-8") as stream:
                    stream.write(body)

    def names(self):
        """Those that both the page shows and one of its lines draws."""
        shown = re.findall(rf"images/{self.prefix}(\w+)\.png", self.page.read_text(encoding="utf-8"))
        return [name for name in shown if self.line(name)]

    def line(self, name):
        found = [words for words in self.lines if words[1:2] in (["render"], ["plot"]) and pathlib.Path(output(words)).name == f"{name}.png"]
        return found[0] if found else None

    def draw(self, name):
        words = self.line(name)
        self.call_before(words)
        if words[1] == "render":
            words = [*words, *(word for option, value in SIZE.items() if option not in words for word in (option, value))]
        self.call(words)
        picture = Image.open(self.folder / output(words)).convert("RGB")
        if words[1] == "plot" and self.prefix == "gallery_":
            picture = picture.resize((int(SIZE["--width"]), int(SIZE["--height"])), Image.Resampling.LANCZOS)
        if words[1] == "plot":  # few colours take a third of the bytes; in a picture they would be seen as bands
            picture = picture.quantize(256, dither=Image.Dither.NONE)
        picture.save(ROOT / f"docs/images/{self.prefix}{name}.png", optimize=True)

    def call_before(self, words):
        """The lines whose folders, or files in them, a line reads, unless they are there."""
        read = {place for word in words for place in (word, str(pathlib.Path(word).parent))} - {output(words)}
        for before in self.lines[: self.lines.index(words)]:
            if before[1:2] in (["run"], ["static"], ["invert"]) and output(before) in read and not (self.folder / output(before)).exists():
                self.call_before(before)
                self.call(before)

    def call(self, words):
        print(shlex.join(words), file=sys.stderr)
        done = subprocess.run([self.program, *words[1:], "--quiet"] if words[1] != "static" else [self.program, *words[1:]],
                              cwd=self.folder, stdout=subprocess.DEVNULL, check=False)  # fmt: skip
        if done.returncode not in (0, 3):  # 3: a run whose verdict is not sound
            raise SystemExit(f"{shlex.join(words)}: exit status {done.returncode}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("page", type=pathlib.Path)
    parser.add_argument("names", nargs="*", metavar="NAME", help="without the prefix of the page (default: all)")
    parser.add_argument("--program", type=pathlib.Path, default=ROOT / "build/release/bin/tresse",
                        help="the tresse that draws (default: that of build/release)")  # fmt: skip
    parser.add_argument("--work", type=pathlib.Path, help="a folder that keeps the runs, and whose runs are not run again (default: none is kept)")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        pictures = Pictures(arguments.page.resolve(), arguments.program.resolve(), (arguments.work or pathlib.Path(temporary)).resolve())
        unknown = [name for name in arguments.names if not pictures.line(name)]
        if unknown:
            parser.error(f"{unknown[0]}: no line of {arguments.page} draws it; expected some of: {', '.join(pictures.names())}")
        for name in arguments.names or pictures.names():
            pictures.draw(name)


if __name__ == "__main__":
    main()
