#!/usr/bin/env python3
"""`tresse render`: several pictures, videos, moving cameras and contact forces: render_test.py --program TRESSE."""

import argparse
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

import matplotlib.image
import numpy as np

SCENE = pathlib.Path(__file__).resolve().parents[2] / "scenes/inclined_plane.toml"
SMALL = ["--width", "64", "--height", "48", "--samples", "4"]


class Renderer:
    def __init__(self, program, folder):
        self.program, self.folder = program, folder
        self("run", SCENE, "-o", "run", "--until", "0.05", "--quiet", "--set", "output.every=10")

    def __call__(self, *words):
        return subprocess.run([self.program, *map(str, words)], cwd=self.folder, capture_output=True, text=True,
                              timeout=200, check=False)  # fmt: skip

    def draw(self, *words):
        """Exit status and what was said."""
        result = self("render", "run", *SMALL, *words)
        return result.returncode, result.stderr

    def picture(self, name):
        return matplotlib.image.imread(self.folder / name)[:, :, :3]


def sequences(render):
    status, said = render.draw("-o", "a.png", "--frames", "::2", "--orbit", "90")
    names = sorted(path.name for path in render.folder.glob("a_*.png"))
    if status or len(names) < 2 or names[0] != "a_0000.png":
        yield f"pictures: {status} {said} {names}"
        return
    render.draw("-o", "b.png", "--frames", "0:0")
    if not np.array_equal(render.picture("a_0000.png"), render.picture("b_0000.png")):
        yield "the camera has turned in the first picture, or does not see what it sees of all frames"
    if np.array_equal(render.picture(names[0]), render.picture(names[-1])):
        yield "the camera has not turned in the last picture"


def contacts(render):
    """Green or orange that is not in the picture without."""
    for name, words in (("without.png", []), ("with.png", ["--contacts"])):
        if render.draw("-o", name, "--frame", "-1", *words)[0]:
            yield f"{name}: not drawn"
            return
    red, green, blue = np.moveaxis(render.picture("with.png"), 2, 0)
    coloured = ((green > blue + 0.15) & (green > red + 0.1)) | (red > blue + 0.3)
    red, green, blue = np.moveaxis(render.picture("without.png"), 2, 0)
    before = ((green > blue + 0.15) & (green > red + 0.1)) | (red > blue + 0.3)
    if coloured.sum() < before.sum() + 5:
        yield f"forces are not seen: {coloured.sum()} coloured pixels, {before.sum()} without"


def videos(render):
    status, said = render.draw("-o", "v.mp4", "--rate", "10", "--camera-to", "0.3,0,0.2")
    if shutil.which("ffmpeg") is None:
        if status != 2 or "ffmpeg" not in said or (render.folder / "v.mp4").exists():
            yield f"without ffmpeg: {status} {said}"
        return
    if status:
        yield f"video: {said}"
        return
    if shutil.which("ffprobe"):
        probe = subprocess.run(["ffprobe", "-v", "error", "-count_frames", "-show_streams", "-of", "json", "v.mp4"],
                               cwd=render.folder, capture_output=True, text=True, check=True)  # fmt: skip
        stream = json.loads(probe.stdout)["streams"][0]
        count = len(list(render.folder.glob("a_*.png")))
        if (stream["width"], stream["height"]) != (64, 48) or int(stream["nb_read_frames"]) < count:
            yield f"video: {stream}"


def refusals(render):
    before = sorted(path.name for path in render.folder.iterdir())
    for words, wanted in (
        (["-o", "x.gif"], "ends in .png or .mp4"),
        (["-o", "x.png", "--orbit", "10"], "a camera that moves"),
        (["-o", "x.mp4", "--frame", "3"], "--frames"),
        (["-o", "x.mp4", "--frames", "700"], "700"),
        (["-o", "x.mp4", "--frames", "a:b"], "a:b"),
        (["-o", "x.mp4", "--rate", "0"], "--rate"),
        (["-o", "x.mp4", "--width", "63"], "even"),
        (["-o", "none/x.mp4"], "none/x.mp4"),
    ):
        status, said = render.draw(*words)
        if status != 2 or wanted not in said or said.count("\n") != 1:
            yield f"{' '.join(words)}: {status} {said}"
    left = sorted(path.name for path in render.folder.iterdir())
    if left != before:
        yield f"refusals left {set(left) - set(before)}"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", required=True)
    program = parser.parse_args().program
    with tempfile.TemporaryDirectory() as folder:
        render = Renderer(program, pathlib.Path(folder))
        wrong = [f"{test.__name__}: {line}" for test in (sequences, contacts, videos, refusals) for line in test(render)]
    print("\n".join(wrong) or "pictures, videos and forces are drawn")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
