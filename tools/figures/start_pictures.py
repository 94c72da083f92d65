#!/usr/bin/python3
"""The pictures of docs/start/first_scene.md, from the scene and the commands of that page.

Ten seconds on two cores.
"""

import argparse
import pathlib
import re
import subprocess
import tempfile

from PIL import Image  # of Debian's python3-pil, which matplotlib needs

ROOT = pathlib.Path(__file__).resolve().parents[2]
IMAGES = ROOT / "docs/images"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program", nargs="?", type=pathlib.Path, default=ROOT / "build/release/bin/tresse",
                        help="the tresse that draws (default: that of build/release)")  # fmt: skip
    program = parser.parse_args().program.resolve()
    page = (ROOT / "docs/start/first_scene.md").read_text(encoding="utf-8")
    scene = re.search(r"<!-- file: hair.toml -->\n```toml\n(.*?)```", page, re.DOTALL)[1]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "hair.toml").write_text(scene, encoding="utf-8")
        for pattern, more in (
            ("tresse run hair.toml -o out/hair", ["--quiet"]),
            ("tresse render out/hair .*", ["--width", "640", "--height", "400", "--samples", "256"]),
            ("tresse plot out/hair -o .*", []),
        ):
            words = re.search(f"^{pattern}$", page, re.MULTILINE)[0].split()[1:]
            subprocess.run([program, *words, *more], cwd=folder, check=True)
        Image.open(folder / "out/hair.png").save(IMAGES / "start_hair.png", optimize=True)
        # Few colours take a third of the bytes; on the bar they would be seen as bands.
        plot = Image.open(folder / "out/hair_force.png").convert("RGB")
        plot.quantize(256, dither=Image.Dither.NONE).save(IMAGES / "start_force.png", optimize=True)


if __name__ == "__main__":
    main()
