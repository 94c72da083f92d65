#!/usr/bin/env python3
"""`tresse render`: several pictures, videos, moving cameras and contact forces: render_test.py --program TRESSE."""

import argparse
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import matplotlib.image
import numpy as np

SCENE = pathlib.Path(__file__).resolve().parents[2] / "scenes/inclined_plane.toml"
FIBRES = "fibre"
SMALL = ["--height", "48", "--samples", "4"]


class Renderer:
    def __init__(self, program, folder):
        self.program, self.folder = program, folder
        self("run", SCENE, "-o", "run", "--until", "0.05", "--quiet", "--set", "output.every=10")

    def __call__(self, *words):
        return subprocess.run([self.program, *map(str, words)], cwd=self.folder, capture_output=True, text=True,
                              timeout=200, check=False)  # fmt: skip

    def draw(self, *words):
        """Exit status and what was said."""
        size = [] if "--width" in words else ["--width", "64"]
        result = self("render", "run", *SMALL, *size, *words)
        return result.returncode, result.stderr

    def picture(self, name):
        return matplotlib.image.imread(self.folder / name)[:, :, :3]


def sequences(render):
    status, said = render.draw("-o", "a.png", "--frames", "::2", "--orbit", "90")
    names = sorted(path.name for path in render.folder.glob("a_*.png"))
    if status or len(names) < 2 or names[0] != "a_0000.png":
        yield f"pictures: {status} {said} {names}"
        return
    render.draw("-o", "b.png", "--frames", "::2")
    if not np.array_equal(render.picture("a_0000.png"), render.picture("b_0000.png")):
        yield "the camera has turned in the first picture, or does not see what it sees of all frames"
    if np.array_equal(render.picture(names[0]), render.picture(names[-1])):
        yield "the camera has not turned in the last picture"


def real_time(render):
    """As many pictures as the time needs, whatever the frames are."""
    pictures = {}
    for name, words in (("real", ["--speed", "1", "--rate", "100"]), ("slow", ["--speed", "0.25", "--rate", "100"])):  # fmt: skip
        status, said = render.draw("-o", f"{name}.png", "--frames", "::", *words)
        if status:
            yield f"{name}: {said}"
            return
        pictures[name] = len(list(render.folder.glob(f"{name}_*.png")))
    if (pictures["real"], pictures["slow"]) != (6, 21):  # of 0.05 s
        yield f"pictures of 0.05 s: {pictures}"


def contacts(render):
    """Colours that are not in the picture without."""
    for name, words in (("without.png", []), ("with.png", ["--contacts"])):
        if render.draw("-o", name, "--frame", "-1", *words)[0]:
            yield f"{name}: not drawn"
            return
    changed = np.abs(render.picture("with.png") - render.picture("without.png")).max(axis=2) > 0.1  # the same bytes but for the arrows
    if changed.sum() < 2:
        yield f"forces are not seen: {changed.sum()} pixels differ"


def looks(render):
    """Fibres and obstacles take the colours that they are given; a ground is seen."""
    for name, words in (("plain.png", []), ("green.png", ["--hair", "red", "--hair", f"{FIBRES}=#00ff00"]),
                        ("plane.png", ["--colour", "plane=#0000ff"])):  # fmt: skip
        status, said = render.draw("-o", name, "--frame", "-1", *words)
        if status:
            yield f"{name}: {said}"
            return
    plain = render.picture("plain.png")
    for name, channel in (("green.png", 1), ("plane.png", 2)):
        shift = render.picture(name) - plain
        others = [c for c in range(3) if c != channel]
        if (shift[:, :, channel] - shift[:, :, others].max(axis=2)).max() < 0.2:
            yield f"{name}: its colour is not seen"
    render("run", SCENE.with_name("swing.toml"), "-o", "swing", "--until", "0.01", "--quiet")
    for name, words in (("air.png", []), ("ground.png", ["--ground"])):
        render("render", "swing", "-o", name, "--width", "64", *SMALL, *words)
    if not np.abs(render.picture("ground.png") - render.picture("air.png")).max() > 0.1:
        yield "no ground is seen"


def videos(render):
    status, said = render.draw("-o", "v.mp4", "--speed", "0", "--rate", "10", "--camera-to", "0.3,0,0.2")
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
        if [stream.get(key) for key in ("color_space", "color_range", "color_primaries")] != ["bt709", "tv", "bt709"]:
            yield f"video: a player has to guess its colours: {stream}"
    first = subprocess.run(["ffmpeg", "-v", "error", "-i", "v.mp4", "-frames:v", "1", "-f", "rawvideo", "-pix_fmt", "rgb24", "-"],
                           cwd=render.folder, capture_output=True, check=True).stdout  # fmt: skip
    shift = np.frombuffer(first, np.uint8).reshape(48, 64, 3) / 255.0 - render.picture("b_0000.png")
    if not np.abs(shift.mean(axis=(0, 1))).max() < 0.01:
        yield f"video: its colours are not those of the picture: {shift.mean(axis=(0, 1))}"


def rays(render):
    """Rays that smooth places do without, and a filter, both of which can be turned off."""
    render("run", SCENE.with_name("swing.toml"), "-o", "swing", "--until", "0.01", "--quiet")
    for name, words in (("spared.png", []), ("all.png", ["--noise", "0"]), ("plain.png", ["--noise", "0", "--smoothing", "0"])):
        render("render", "swing", "-o", name, "--width", "48", "--height", "48", "--samples", "40", *words)
    if np.array_equal(render.picture("spared.png"), render.picture("all.png")):
        yield "--noise 0 draws no more rays"
    if np.array_equal(render.picture("all.png"), render.picture("plain.png")):
        yield "--smoothing 0 changes nothing"


def sides(render):
    """--from: the eye stands straight on that side of the run, and of the two sides of an axis it stands on both."""
    eyes = {}
    for side in ("front", "back", "left", "right", "side", "top", "bottom"):
        status, said = render.draw("-o", f"{side}.png", "--from", side, "--framing", "whole")
        found = re.search(r"seen from (\S+)$", said)
        if status != 0 or not found:
            yield f"--from {side}: {status} {said}"
            return
        eyes[side] = np.array([float(x) for x in found[1].split(",")])
    for axis, low, high in ((0, "left", "right"), (1, "front", "back"), (2, "bottom", "top")):
        if not eyes[low][axis] < min(eyes[other][axis] for other in eyes if other not in (low, "side")):
            yield f"{low}: {eyes[low]}"
        if not eyes[high][axis] > max(eyes[other][axis] for other in eyes if other not in (high, "side")):
            yield f"{high}: {eyes[high]}"
    if not np.array_equal(eyes["side"], eyes["right"]):
        yield f"side {eyes['side']} is not right {eyes['right']}"


def refusals(render):
    before = sorted(path.name for path in render.folder.iterdir())
    for words, wanted in (
        (["-o", "x.gif"], "ends in .png or .mp4"),
        (["-o", "x.png", "--orbit", "10"], "a camera that moves"),
        (["-o", "x.png", "--from", "aside"], "--from"),
        (["-o", "x.png", "--from", "top", "--camera", "0,0,1"], "--camera"),
        (["-o", "x.mp4", "--frame", "3"], "--frames"),
        (["-o", "x.mp4", "--frames", "700"], "700"),
        (["-o", "x.mp4", "--frames", "a:b"], "a:b"),
        (["-o", "x.mp4", "--rate", "0"], "--rate"),
        (["-o", "x.png", "--speed", "1"], "--speed"),
        (["-o", "x.mp4", "--speed", "-1"], "--speed: found -1"),
        (["-o", "x.mp4", "--speed", "1e-9"], "at most 100000 pictures"),
        (["-o", "x.png", "--noise", "-1"], "noise -1"),
        (["-o", "x.png", "--hair", "green"], "--hair: green"),
        (["-o", "x.png", "--hair", "nobody=red"], '"nobody"'),
        (["-o", "x.png", "--colour", "plan=#123456"], '"plane"'),
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
        wrong = [f"{test.__name__}: {line}" for test in (sequences, real_time, contacts, looks, rays, videos, sides, refusals) for line in test(render)]
    print("\n".join(wrong) or "pictures, videos and forces are drawn")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
