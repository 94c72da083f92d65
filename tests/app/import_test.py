#!/usr/bin/env python3
"""Fibres of scenes from files, as check and run take them: import_test.py reads|fits --program TRESSE."""

import os
import pathlib
import re
import struct
import subprocess

import h5py
import numpy as np
from export_runs import Run, export
from parts import run_part

GROUP = """
[simulation]
gravity = GRAVITY
[output]
points_per_element = POINTS
[contact]
fibre_contact = false
self_contact = false
[[fibres]]
name = "hair"
model = "MODEL"
material = "human-hair"
RADIUS
from = { FROM }
"""


def scene(folder, source, model="super-helix", radius='radius = "50 um"', more="", points=8, gravity=0):
    text = GROUP + more
    for name, value in (("MODEL", model), ("RADIUS", radius), ("FROM", source), ("POINTS", points), ("GRAVITY", gravity)):
        text = text.replace(name, str(value))
    (folder / "scene.toml").write_text(text)


def call(program, folder, *words):
    return subprocess.run([program, *words], cwd=folder, capture_output=True, text=True, timeout=300)


def check_fit(program, folder):
    """(strands, fewest and most elements, largest and mean distance) that tresse check tells."""
    result = call(program, folder, "check", "scene.toml")
    assert result.returncode == 0, result.stderr
    found = re.search(r"from (\S+): (\d+) strands?, (?:(\d+) to )?(\d+) elements?(?: each)?; .* (\S+) m from .* most, (\S+) m", result.stdout)
    assert found, result.stdout
    return int(found[2]), int(found[3] or found[4]), int(found[4]), float(found[5]), float(found[6])


def first_points(program, folder):
    """Centrelines at t = 0, of which the run's resolved scene gives the same again."""
    result = call(program, folder, "run", "scene.toml", "-o", "out", "--quiet", "--until", "0")
    assert result.returncode == 0, result.stderr
    with h5py.File(folder / "out/trajectory.h5") as file:
        points, begin = file["fibres/points"][0], file["fibres/point_offsets"][:]
        radius = file["fibres/radius"][:]
    result = call(program, folder, "run", "out/scene.toml", "-o", "again", "--quiet", "--until", "0")
    assert result.returncode == 0, result.stderr
    with h5py.File(folder / "again/trajectory.h5") as file:
        assert (file["fibres/points"][0] == points).all(), "the resolved scene has other fibres"
    return [points[a:b] for a, b in zip(begin, begin[1:])], [radius[a:b] for a, b in zip(begin, begin[1:])]


def distance(points, curve):
    """Largest from the points to a polyline."""
    a, b = curve[:-1], curve[1:]
    along = np.einsum("pij,ij->pi", points[:, None] - a, b - a) / ((b - a) ** 2).sum(axis=1)
    foot = a + np.clip(along, 0, 1)[..., None] * (b - a)
    return np.linalg.norm(points[:, None] - foot, axis=2).min(axis=1).max()


def strands(count, seed=3):
    """Messy wavy hair, in cm, of different lengths and numbers of points."""
    random = np.random.default_rng(seed)
    out = []
    for i in range(count):
        t = np.linspace(0, 1, 30 + 7 * i)[:, None]
        axis = np.array([0.2, 0.1 * i, -1.0]) * (6 + i)
        phase = 25 * t + i
        wave = 0.3 * np.hstack([np.cos(phase), np.sin(phase), 0 * t])
        out.append((t * axis + wave + random.normal(0, 2e-3, (len(t), 3)) + [i, 0, 0]).astype(np.float32))
    return out


def write_hair(path, rows, thickness=None, cut=None, header_points=None):
    points = np.concatenate(rows).astype("<f4")
    flags = 3 | (4 if thickness is not None else 0)
    head = b"HAIR" + struct.pack("<IIIIff3f", len(rows), header_points or len(points), flags, 0, 1.0, 0.0, 1, 1, 1)
    data = head + bytes(128 - len(head)) + np.array([len(r) - 1 for r in rows], "<u2").tobytes() + points.tobytes()
    if thickness is not None:
        data += np.full(len(points), thickness, "<f4").tobytes()
    path.write_bytes(data[:cut])


def check_hair(program, folder):
    rows = strands(4)
    write_hair(folder / "wavy.hair", rows, thickness=0.008)
    for model in ("super-helix", "super-clothoid", "discrete-elastic-rod", "mass-spring"):
        scene(folder, 'file = "wavy.hair", unit = "1 cm", tolerance = "0.5 mm"', model, radius="", points=200)
        count, least, most, largest, mean = check_fit(program, folder)
        assert count == 4 and 1 <= least <= most < 60 and mean <= largest <= 5.001e-4, (least, most, largest)
        if "super" not in model:
            continue
        curves, radii = first_points(program, folder)
        for row, curve, radius in zip(rows, curves, radii):
            # The trajectory's own polyline cuts corners of the fibre by less than 10 um.
            assert distance(0.01 * row, curve) < 5.1e-4, model
            assert np.allclose(radius, 4e-5)
    scene(folder, 'file = "wavy.hair", unit = "1 cm", elements = 9, every = 2, position = [0, 0, 1]')
    count, least, most, *_ = check_fit(program, folder)
    assert (count, least, most) == (2, 9, 9)
    curves, _ = first_points(program, folder)
    assert np.allclose(curves[1][0], 0.01 * rows[2][0] + [0, 0, 1], atol=2e-3)
    scene(folder, 'file = "wavy.hair", unit = "1 cm", elements = 9', radius="natural_curvature = 0")
    assert check_fit(program, folder)[0] == 4
    assert re.search(r"natural turns 0\b", call(program, folder, "check", "scene.toml").stdout)


MADE = """
[simulation]
time_step = "1 ms"
duration = "0.03 s"
gravity = 9.81
[output]
every = 10
[[fibres]]
name = 'curls, "tight"'
model = "MODEL"
material = "human-hair"
length = "5 cm"
elements = 6
radius = "50 um"
natural_curvature = [20, 60, 10]
root = { condition = "free", angular_velocity = [20, 30, 0], position = ["0 cm", "0 cm", "15 mm"] }
grid = { count = 3, spacing = "6 mm", twist = 3 }
"""
LENGTH = 0.05
# What single precision keeps of coordinates of up to 4 cm: each is rounded by 2e-9 m. CSV has all digits, and helices
# are found to these; a clothoid's fit ends where single precision does.
SINGLE = 1e-7 * LENGTH
DOUBLE = 1e-12 * LENGTH


def check_round_trips(program, folder):
    """As many elements as made the points: the fitted fibres go through them as exactly as the files have them."""
    for model in ("super-helix", "super-clothoid"):
        (folder / "made.toml").write_text(MADE.replace("MODEL", model))
        assert call(program, folder, "run", "made.toml", "-o", "run", "--quiet").returncode == 0
        run = Run(folder / "run")
        for name, words, source in (
            ("r.obj", ["obj", "--frames", "3"], ""),
            ("p.obj", ["obj", "--frames", "3", "--polylines"], ""),
            ("r.csv", ["csv"], ", frame = 3"),
            ("r.usda", ["usda"], ", frame = -1"),
        ):
            export(program, folder, "--format", *words, "-o", name)
            kept = DOUBLE if name.endswith(".csv") and model == "super-helix" else SINGLE
            # CSV and USD have the radius with the points.
            radius = 'radius = "50 um"' if name.endswith(".obj") else ""
            scene(folder, f'file = "{name}"{source}, elements = 6', model, radius=radius)
            count, _, _, largest, _ = check_fit(program, folder)
            print(f"{model} {name}: {largest:.3g} m from the points, {largest / LENGTH:.2g} of the length")
            assert count == 3 and largest < kept, f"{name}: {largest}"
            curves, radii = first_points(program, folder)
            for fibre, curve in enumerate(curves):
                assert np.allclose(radii[fibre], 5e-5, rtol=1e-7 if name.endswith(".usda") else 1e-15), name
                points = run.points[3, run.begin[fibre] : run.begin[fibre + 1]]
                # The same points, as they are at equal arc lengths of the same fibre.
                assert np.abs(points - curve).max() < 10 * kept, f"{name}: {np.abs(points - curve).max()}"


def check_runs(program, folder):
    """A run of imported fibres: without the file it goes on where it stopped, with the same bytes."""
    write_hair(folder / "run.hair", strands(3), thickness=0.008)
    scene(folder, 'file = "run.hair", unit = "1 cm", tolerance = "0.5 mm"', "super-clothoid", radius="", gravity=9.81)
    for name, until in (("whole", "0.04"), ("parts", "0.02")):
        result = call(program, folder, "run", "scene.toml", "-o", name, "--quiet", "--until", until)
        assert result.returncode == 0, result.stderr
    (folder / "run.hair").unlink()
    result = call(program, folder, "run", "parts/scene.toml", "-o", "parts", "--quiet", "--resume", "--until", "0.04")
    assert result.returncode == 0, result.stderr
    with h5py.File(folder / "whole/trajectory.h5") as whole, h5py.File(folder / "parts/trajectory.h5") as parts:
        for name in ("time", "fibres/points", "fibres/force", "fibres/moment", "fibres/curvature"):
            assert (whole[name][:] == parts[name][:]).all(), name
        assert len(whole["time"]) > 2 and np.isfinite(whole["fibres/points"][:]).all()
        moved = np.abs(whole["fibres/points"][-1] - whole["fibres/points"][0]).max()
        assert moved > 1e-5, "gravity pulls them out of their natural shape"


def write_csv(path, rows):
    lines = [f"{i},{x:.17g},{y:.17g},{z:.17g}" for i, row in enumerate(rows) for x, y, z in row]
    path.write_text("\n".join(["fibre,x,y,z", *lines]) + "\n")


def row_length(row):
    return np.linalg.norm(np.diff(row, axis=0), axis=1).sum()


def check_corners(program, folder):
    """Sharp hairpins are as long as their polylines, within the tolerance, and nothing is remarked."""
    t = np.linspace(0, 1, 12)
    rows = [np.array(row, float) for row in (
        [(0, 0, 0), (0, 0, 0.01), (0, 0, 0.02), (0.05, 0, 0), (0.05, 0, 0.01), (0.05, 0, 0.02)],
        [(0, 0, 0), (0, 0, 0.01), (0, 0, 0.02), (0.002, 0, 0.01), (0.004, 0, 0)],
        [(0, 0, 0), (0, 0, 0.01), (0, 0, 0.02), (0.01, 0, 0.02), (0.02, 0, 0.02)],
        [(0, 0, 0), (0.01, 0, 0), (0.02, 0, 0), (0.01, 0, 0.002), (0, 0, 0.004), (0.01, 0, 0.006), (0.02, 0, 0.008)],
        np.stack([np.where(t < 0.5, t, 1 - t) * 0.1, 0 * t, 0.002 * (t > 0.5)], 1),
    )]  # fmt: skip
    write_csv(folder / "kink.csv", rows)
    for model in ("super-helix", "super-clothoid"):
        scene(folder, 'file = "kink.csv", tolerance = "0.1 mm"', model, points=30)
        assert "strand" not in call(program, folder, "run", "scene.toml", "-o", "out", "--quiet", "--until", "0").stderr
        curves, _ = first_points(program, folder)
        for row, curve in zip(rows, curves):
            assert abs(row_length(curve) / row_length(row) - 1) < 0.005, (row_length(curve), row_length(row))
            assert distance(row, curve) <= 1e-4


def check_few_points(program, folder):
    """4 to 8 points of a smooth curve are met to 10 um where half as many elements could not."""
    for count in range(4, 9):
        points = [(0.001 * i * i, 0, 0.01 * i) for i in range(count)]
        lines = [f"v {x:g} {y:g} {z:g}" for x, y, z in points]
        (folder / "few.obj").write_text("\n".join([*lines, "l " + " ".join(str(i + 1) for i in range(count))]) + "\n")
        scene(folder, 'file = "few.obj", tolerance = "10 um"')
        _, _, _, largest, _ = check_fit(program, folder)
        assert largest <= 1e-5, (count, largest)
        assert "expected" not in call(program, folder, "check", "scene.toml").stdout


def check_remarks(program, folder):
    """What is not as was asked is told once, with the worst strand and how many are like it."""
    random = np.random.default_rng(1)
    line = np.linspace(0, 0.1, 40)[:, None] * [0, 0, 1]
    noisy = [line + random.normal(0, size, line.shape) for size in (0, 5e-5, 1e-4)]
    angle = np.linspace(0, 6 * np.pi, 19)[:, None]
    curl = np.hstack([0.01 * np.cos(angle), 0.01 * np.sin(angle), 0.002 * angle])
    write_csv(folder / "told.csv", [*noisy, curl])
    scene(folder, 'file = "told.csv", tolerance = "20 um"')
    result = call(program, folder, "check", "scene.toml")
    lines = [one for one in result.stdout.splitlines() if one.startswith("scene.toml:")]
    place = r"scene\.toml:\d+:\d+: fibres 'hair' from told\.csv: "
    assert re.fullmatch(place + r"strand 2 is \S+ m from its points; expected at most the tolerance of 2e-05 m; 1 strand like it", lines[0]), lines
    assert re.fullmatch(place + r"strand 3 is 1\.0\d+ times as long as the polyline of its points; expected 0\.99 to 1\.01", lines[1]), lines
    assert len(lines) == 2, lines
    for command in (("run", "--until", "0", "--quiet"), ("static",)):
        result = call(program, folder, *command, "scene.toml", "-o", "out")
        assert [one for one in result.stderr.splitlines() if one.startswith("scene.toml:")] == lines, result.stderr
    scene(folder, 'file = "told.csv", elements = 8')
    assert "tolerance" not in call(program, folder, "check", "scene.toml").stdout, "none was asked for"


def check_left_out(program, folder):
    """A strand that its model cannot follow is left out and named; the others are there."""
    straight = np.linspace(0, 1, 3)[:, None] * [0.1, 0, 0]
    back = np.array([(0, 0, 0), (0.1, 0, 0), (0.05, 0, 0)])
    write_csv(folder / "bent.csv", [straight, back, straight, back])
    scene(folder, 'file = "bent.csv", elements = 2', "mass-spring")
    result = call(program, folder, "check", "scene.toml")
    assert check_fit(program, folder)[0] == 2
    assert "from bent.csv: strand 1 is left out: fit: the points turn back at node 1" in result.stdout, result.stdout
    assert "expected less than 3; 1 strand like it\n" in result.stdout, result.stdout


def check_threads(program, folder):
    rows = strands(9)
    write_hair(folder / "many.hair", rows, thickness=0.008)
    scene(folder, 'file = "many.hair", unit = "1 cm"', radius="")
    texts = []
    for threads in ("1", "4"):
        result = call(program, folder, "run", "scene.toml", "-o", "t" + threads, "--quiet", "--until", "0", "--threads", threads)
        assert result.returncode == 0, result.stderr
        texts.append((folder / f"t{threads}/scene.toml").read_bytes())
    assert texts[0] == texts[1], "fits depend on the number of threads"


def check_kept_fits(program, folder):
    """Fits that a call made are taken by the next: the same bits. Whatever is wrong with what is kept, they are made anew."""
    write_csv(folder / "kept.csv", strands(4))
    scene(folder, 'file = "kept.csv", elements = 5')
    cache = folder / "cache"
    place = cache / "tresse"

    def environment(**more):
        return {**{k: v for k, v in os.environ.items() if k != "TRESSE_CACHE"}, "XDG_CACHE_HOME": str(cache), **more}

    def resolved(**more):
        words = [program, "run", "scene.toml", "-o", "kept", "--quiet", "--until", "0"]
        result = subprocess.run(words, cwd=folder, env=environment(**more), capture_output=True, text=True, timeout=300)
        assert result.returncode == 0 and "cache" not in result.stderr, result
        return (folder / "kept/scene.toml").read_bytes()

    def used():
        """Whether the one kept file was read or written, by its time, which is set back."""
        [file] = place.iterdir()
        fresh = file.stat().st_mtime > 1e9
        os.utime(file, (1e8, 1e8))
        return fresh

    plain = resolved(TRESSE_CACHE="off")
    assert not cache.exists()
    assert resolved() == plain and used()
    [file] = place.iterdir()
    good = file.read_bytes()
    assert resolved() == plain and used() and file.read_bytes() == good
    assert resolved(TRESSE_CACHE="off") == plain and not used()
    for bad in (good[:-1], good[: len(good) // 2] + b"?" + good[len(good) // 2 + 1 :], b"", b"of another program"):
        file.write_bytes(bad)
        assert resolved() == plain and file.read_bytes() == good
    file.unlink()
    file.mkdir()
    assert resolved() == plain and list(place.iterdir()) == [file]
    file.rmdir()
    # Many at once, on one place: each has the bits, and one file is left.
    words = [program, "run", "scene.toml", "--quiet", "--until", "0", "-o"]
    many = [subprocess.Popen([*words, f"many{i}"], cwd=folder, env=environment(), stderr=subprocess.DEVNULL) for i in range(6)]
    assert [one.wait(timeout=300) for one in many] == [0] * 6
    assert {(folder / f"many{i}/scene.toml").read_bytes() for i in range(6)} == {plain}
    assert [f.read_bytes() for f in place.iterdir()] == [good]
    # Other fits have a place of their own.
    scene(folder, 'file = "kept.csv", elements = 6')
    assert resolved() != plain and len(list(place.iterdir())) == 2
    # No such place, none that can be written, or only that of the home folder.
    (folder / "no_folder").write_text("")
    for nowhere in (str(folder / "no_folder"), "/proc/none"):
        resolved(XDG_CACHE_HOME=nowhere)
    resolved(XDG_CACHE_HOME="relative", HOME=str(folder / "home"))
    assert len(list((folder / "home/.cache/tresse").iterdir())) == 1 and not (folder / "relative").exists()
    resolved(XDG_CACHE_HOME="", HOME="")


def check_bad_strands(program, folder):
    """A strand that is none is left out and named, once a command; the others are there."""
    rows = strands(5)
    rows[1] = rows[1][:1]
    rows[2][8] = rows[2][7]
    rows[3][4, 0] = np.inf
    write_hair(folder / "some.hair", rows, thickness=0.008)
    write_csv(folder / "far.csv", [rows[0], rows[4] * 1e7])
    scene(folder, 'file = "far.csv", elements = 9')
    result = call(program, folder, "check", "scene.toml")
    assert result.returncode == 0 and "from far.csv: strand 1 is left out: it lies beyond" in result.stdout, result.stdout + result.stderr
    scene(folder, 'file = "some.hair", unit = "1 cm", elements = 9, every = 2', radius="")
    expected = (
        "2 of 5 strands are left out: strand 1 has 1 point; expected at least two; strand 3 has a point 4 that is not finite",
        "1 point that repeats the one before is left out, of strand 2",
    )
    result = call(program, folder, "check", "scene.toml")
    assert result.returncode == 0, result.stderr
    for text in expected:
        assert result.stdout.count(f"scene.toml:14:17: fibres 'hair' from some.hair: {text}") == 1, result.stdout
    curves, _ = first_points(program, folder)
    assert len(curves) == 2 and np.allclose(curves[1][0], 0.01 * rows[4][0], atol=2e-3), "every second of those that are left"
    result = call(program, folder, "run", "scene.toml", "-o", "left_out", "--quiet", "--until", "0")
    assert result.returncode == 0 and all(result.stderr.count(text) == 1 for text in expected), result.stderr


def check_units_of_file(program, folder):
    (folder / "mm.csv").write_text("strand;x [mm];y [mm];z [mm];diameter [um]\n0;0;0;0;80\n0;0;0;2,5;80\n0;0;0;5;80\n")
    scene(folder, 'file = "mm.csv", elements = 1', radius="")
    curves, radii = first_points(program, folder)
    assert np.allclose(curves[0][-1], [0, 0, 0.005], atol=1e-12) and np.allclose(radii[0], 4e-5)
    scene(folder, 'file = "mm.csv", unit = "1 cm"', radius="")
    result = call(program, folder, "check", "scene.toml")
    assert result.returncode == 2 and "unit is given for a file that names its own; expected none" in result.stderr, result.stderr


def check_thickness_of_header(program, folder):
    write_hair(folder / "default.hair", strands(1))
    scene(folder, 'file = "default.hair", unit = "1 mm", elements = 9', radius="")
    _, radii = first_points(program, folder)
    assert np.allclose(radii[0], 5e-4), "the header of the test's files says 1"
    data = bytearray((folder / "default.hair").read_bytes())
    data[20:24] = bytes(4)
    (folder / "default.hair").write_bytes(data)
    result = call(program, folder, "check", "scene.toml")
    expected = "the file has no thickness of its points, and its header says 0 for all"
    assert result.returncode == 2 and expected in result.stderr and result.stderr.count("\n") == 1, result.stderr


def check_refusals(program, folder):
    rows = strands(2)
    write_hair(folder / "cut.hair", rows, cut=500)
    write_hair(folder / "short.hair", rows, cut=40)
    write_hair(folder / "lies.hair", rows, header_points=99)
    write_hair(folder / "one.hair", rows)
    bad = rows[0].copy()
    bad[5, 1] = np.nan
    write_hair(folder / "nan.hair", [bad])
    (folder / "text.hair").write_text("x,y,z\n0,0,0\n")
    (folder / "none.csv").write_text("")
    head = b"HAIR" + struct.pack("<IIII", 2**32 - 1, 2**32 - 1, 2, 2**32 - 1)
    (folder / "huge.hair").write_bytes(head + bytes(128 - len(head)))
    head = b"HAIR" + struct.pack("<IIII", 2**32 - 1, 2**32 - 1, 3, 0)
    (folder / "many.hair").write_bytes(head + bytes(128 - len(head)))
    (folder / "back.csv").write_text("x,y,z\n0,0,0\n1,0,0\n0.5,0,0\n")
    (folder / "empty.obj").write_text("v 0 0 0\n")
    (folder / "far.obj").write_text("v 0 0 0\nl 1 2\n")
    (folder / "word.csv").write_text("x,y,z\n0,0,zero\n")
    (folder / "big.csv").write_text("x,y,z\n0,0,0\n0,0,1e400\n")
    (folder / "no.csv").write_text("x,y\n0,0\n")
    (folder / "no.usda").write_text('#usda 1.0\ndef BasisCurves "a" {\n  int[] curveVertexCounts = [3]\n')
    (folder / "few.usda").write_text(
        '#usda 1.0\ndef BasisCurves "a" {\n  token type = "linear"\n  int[] curveVertexCounts = [3]\n'
        "  point3f[] points = [(0, 0, 0), (1, 0, 0)]\n}\n"
    )
    for source, expected in (
        ('file = "none.hair"', "none.hair: No such file or directory; expected a file"),
        ('file = "scene.toml"', "scene.toml: expected a name that ends in .hair, .obj, .csv or .usda"),
        ('file = "cut.hair"', "cut.hair: ends after 500 bytes, within its points; expected at least"),
        ('file = "short.hair"', "short.hair: ends after 40 bytes, within its header; expected at least 128"),
        ('file = "lies.hair"', "its header says 99; expected the same"),
        ('file = "text.hair"', 'text.hair: does not start with "HAIR"; expected a .hair file'),
        ('file = "huge.hair"', "huge.hair: its 4294967295 strands have"),
        ('file = "many.hair"', "many.hair: ends after 128 bytes, within its numbers of segments"),
        ('file = "none.csv"', "none.csv:1: is empty; expected a header with x, y and z"),
        ('file = "nan.hair"', "nan.hair: holds no strand that can be read; strand 0 has a point 5 that is not finite"),
        ('file = "empty.obj"', "empty.obj: holds no polyline; expected at least one"),
        ('file = "far.obj"', "far.obj: holds no strand that can be read; strand 0 (line 2) names '2', which is no vertex"),
        ('file = "word.csv"', 'strand 0 (line 2) has "zero" in line 2; expected a number'),
        ('file = "big.csv"', 'strand 0 (line 2) has "1e400" in line 3; expected a number'),
        ('file = "no.csv"', "no.csv:1: has no column z; expected a header with x, y and z"),
        ('file = "no.usda"', "no.usda:"),
        ('file = "few.usda"', 'BasisCurves "a" (line 2) has a curve of 3 points where 2 are left'),
        ('file = "one.hair", unit = "2 s"', "from.unit"),
        ('file = "one.hair", lenght = 3', "lenght"),
        ('elements = 3', 'from has no "file"'),
    ):
        scene(folder, source)
        result = call(program, folder, "check", "scene.toml")
        assert result.returncode == 2 and expected in result.stderr, f"{source}: {result.returncode} {result.stderr}"
        assert result.stderr.count("\n") == 1 and "scene.toml:" in result.stderr, result.stderr
    scene(folder, 'file = "back.csv", elements = 2', "mass-spring")
    result = call(program, folder, "check", "scene.toml")
    assert result.returncode == 2 and "strand 0: fit: the points turn back at node 1" in result.stderr, result.stderr
    for more in ("length = 1", "grid = { count = 4, spacing = 1 }", "root = { position = [0, 0, 1] }", "holds = [{}]", "strands = [{}]"):
        scene(folder, 'file = "wavy.hair"', more=more + "\n")
        result = call(program, folder, "check", "scene.toml")
        assert result.returncode == 2 and result.stderr.count("\n") == 1, f"{more}: {result.returncode} {result.stderr}"


READS = (check_hair, check_runs, check_corners, check_few_points, check_remarks, check_left_out, check_bad_strands,
         check_units_of_file, check_thickness_of_header, check_refusals)  # fmt: skip

if __name__ == "__main__":
    os.environ["TRESSE_CACHE"] = "off"
    run_part({"reads": READS, "fits": (check_round_trips, check_threads, check_kept_fits)})
