#!/usr/bin/env python3
"""`tresse fit` from outside: fit_test.py --program TRESSE. Curves are rebuilt from fit.json with NumPy alone."""

import argparse
import json
import pathlib
import struct
import subprocess
import sys
import tempfile

import numpy as np

CORPUS = pathlib.Path(__file__).resolve().parents[1] / "data/corpus"


def fit(program, folder, *words):
    return subprocess.run([program, "fit", *map(str, words)], cwd=folder, capture_output=True, text=True, timeout=300, check=False)


def turned(k, u):
    """Rotation over a length u, and its integral's first column, by Rodrigues' formula."""
    w = np.array([[0, -k[2], k[1]], [k[2], 0, -k[0]], [-k[1], k[0], 0]])
    size = np.linalg.norm(k)
    if size * u < 1e-9:
        return np.eye(3) + u * w, u * np.array([1.0, 0, 0])
    a, b, c = np.sin(size * u) / size, (1 - np.cos(size * u)) / size**2, (size * u - np.sin(size * u)) / size**3
    return np.eye(3) + a * w + b * w @ w, (u * np.eye(3) + b * w + c * w @ w)[:, 0]


def curve(strand, parts=400):
    x, frame = np.array(strand["position"]), np.array(strand["frame"]).T
    out = [x]
    for length, k in zip(strand["lengths"], strand["curvatures"]):
        out += [x + frame @ turned(k, length * j / parts)[1] for j in range(1, parts + 1)]
        x, frame = out[-1], frame @ turned(k, length)[0]
    return np.array(out)


def strands(count, points=60, noise=0.0):
    random = np.random.default_rng(5)
    s = np.linspace(0, 1, points)
    out = []
    for _ in range(count):
        a, b, c = random.uniform(0.5, 1.5, 3)
        row = np.stack([a * np.sin(3 * s), b * np.cos(4 * s), 2 * c * s + 0.2 * s**3], axis=1)
        out.append(5 * row + noise * random.normal(size=row.shape))
    return out


def write_csv(path, rows):
    lines = [f"{i},{x!r},{y!r},{z!r}" for i, row in enumerate(rows) for x, y, z in row.tolist()]
    path.write_text("strand,x,y,z\n" + "\n".join(lines) + "\n")


def write_hair(path, rows, thickness):
    """Cem Yuksel's format: segments, points and one thickness for all."""
    head = b"HAIR" + struct.pack("<IIIIff3f", len(rows), sum(map(len, rows)), 3, 0, thickness, 0.0, 0, 0, 0) + bytes(88)
    counts = np.array([len(row) - 1 for row in rows], "<u2").tobytes()
    path.write_bytes(head + counts + np.concatenate(rows).astype("<f4").tobytes())


def distances(program, folder):
    """Errors are those of the points, for both methods; least squares are nearer in the mean."""
    rows = strands(6)
    write_csv(folder / "groom.csv", rows)
    means = {}
    for method in ("floating", "least-squares"):
        told = fit(program, folder, "groom.csv", "-o", method, "--method", method, "--elements", 10, "--unit", 0.01)
        if told.returncode != 0:
            yield f"{method}: {told.returncode}: {told.stderr}"
            continue
        out = json.loads((folder / method / "fit.json").read_text())
        if len(out["strands"]) != 6 or out["method"] != method:
            yield f"{method}: {len(out['strands'])} strands of {out['method']}"
        means[method] = out["mean_error"]
        for strand, row in zip(out["strands"], rows):
            at = curve(strand)
            near = np.array([np.linalg.norm(at - 0.01 * p, axis=1).min() for p in row])
            step = np.linalg.norm(np.diff(at, axis=0), axis=1).max()
            if len(strand["lengths"]) != 10 or np.abs(strand["max_error"] - near.max()) > 0.02 * near.max() + step**2 / near.max():
                yield f"{method}: {strand['name']}: told {strand['max_error']}, found {near.max()}"
            if not 0 < strand["seconds"] or strand["least_squares"] != (method == "least-squares"):
                yield f"{method}: {strand['name']}: {strand['seconds']} s, least squares {strand['least_squares']}"
            if strand["max_error"] > 0.002 * 0.01 * np.linalg.norm(np.diff(row, axis=0), axis=1).sum() * 5:
                yield f"{method}: {strand['name']}: {strand['max_error']} m off"
    if len(means) == 2 and not means["least-squares"] < means["floating"]:
        yield f"least squares are off by {means['least-squares']}, floating tangents by {means['floating']}"


def formats(program, folder):
    """Every format that is imported, and strands that cannot be read are told."""
    rows = strands(3, points=30)
    write_hair(folder / "groom.hair", rows, 0.01)
    for name, count in (("groom.hair", 3), (CORPUS / "blender_curve.obj", None), (CORPUS / "blender_bezier.usda", None),
                        (CORPUS / "blender_hair_curves.usda", None), (CORPUS / "bars.csv", None)):  # fmt: skip
        told = fit(program, folder, name, "-o", "formats", "--elements", 8, "--quiet")
        out = json.loads((folder / "formats/fit.json").read_text()) if told.returncode == 0 else {"strands": []}
        if not out["strands"] or (count and len(out["strands"]) != count):
            yield f"{name}: {len(out['strands'])} strands, {told.returncode}: {told.stderr}"


def noise(program, folder):
    """Noise makes no coils: strands that it bends go to least squares, and turn as clean ones do."""
    turns = {}
    for level in (0.0, 2e-3):
        write_csv(folder / "noisy.csv", strands(8, noise=level))
        told = fit(program, folder, "noisy.csv", "-o", "noisy", "--elements", 12, "--unit", 0.01)
        out = json.loads((folder / "noisy/fit.json").read_text()) if told.returncode == 0 else {"strands": []}
        turns[level] = sum(length * np.linalg.norm(k) for s in out["strands"] for length, k in zip(s["lengths"], s["curvatures"]))
    if not 0 < turns[2e-3] < 1.15 * turns[0.0]:
        yield f"turns of {turns}"


BAD = [
    (["none.csv"], "none.csv: No such file"),
    (["coil.csv"], "coil.csv: strand 0: fit: the curve turns by"),
    (["thick.hair"], "thick.hair: strand 0: is 1 m long and has a radius of 2 m; expected it longer"),
    (["point.csv"], "point.csv: holds no strand that can be read; strand 0"),
    (["good.csv", "--elements", "0"], "--elements: found 0; expected 1 to 1000"),
    (["good.csv", "--method", "magic"], "--method: found magic; expected floating or least-squares"),
    (["good.csv", "--unit=-1"], "--unit: expects a length above 0 [m]"),
    (["good.csv", "-o", "mine"], "holds 'notes.txt' and nothing of a fit of tresse"),
]


def bad_input(program, folder):
    """One line each, status 2, and nothing written."""
    s = np.linspace(0, 60, 400)
    write_csv(folder / "coil.csv", [np.stack([np.cos(s), np.sin(s), 0.02 * s], axis=1)])
    write_hair(folder / "thick.hair", [np.array([[0.0, 0, 0], [0.5, 0, 0], [1, 0, 0]])], 4.0)
    write_csv(folder / "point.csv", [np.zeros((3, 3))])
    write_csv(folder / "good.csv", strands(1))
    (folder / "mine").mkdir()
    (folder / "mine/notes.txt").write_text("mine\n")
    for words, message in BAD:
        defaults = ([] if "-o" in words else ["-o", "bad"]) + ([] if "--elements" in words else ["--elements", "3"])
        told = fit(program, folder, *words, *defaults)
        lines = told.stderr.strip().splitlines()
        if told.returncode != 2 or len(lines) != 1 or message not in told.stderr or (folder / "bad/fit.json").exists():
            yield f"{words}: {told.returncode}: {told.stderr}"
    # A strand that cannot be fitted is left out and told; the others are there.
    write_csv(folder / "both.csv", [np.stack([np.cos(s), np.sin(s), 0.02 * s], axis=1), strands(1)[0]])
    told = fit(program, folder, "both.csv", "-o", "both", "--elements", "6")
    out = json.loads((folder / "both/fit.json").read_text()) if told.returncode == 0 else {"strands": []}
    if [strand["name"] for strand in out["strands"]] != ["strand 1"] or "both.csv: strand 0 is left out: fit: the curve turns" not in told.stderr:
        yield f"both.csv: {out['strands']}, {told.stderr}"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", required=True)
    program = str(pathlib.Path(parser.parse_args().program).resolve())
    failed = False
    for check in (distances, formats, noise, bad_input):
        with tempfile.TemporaryDirectory() as folder:
            for wrong in check(program, pathlib.Path(folder)):
                failed = True
                print(f"{check.__name__}: {wrong}")
    sys.exit(failed)


if __name__ == "__main__":
    main()
