#!/usr/bin/env python3
"""The server of tresse view, from outside: view_test.py --program TRESSE. The page itself: viewer/tests/browser.mjs."""

import argparse
import contextlib
import csv
import http.client
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import struct
import subprocess
import tempfile
import time

import h5py
import numpy as np

SCENE = pathlib.Path(__file__).resolve().parents[2] / "scenes/three_point_bending.toml"
SECRET = "what-nobody-may-read"
# Two threads, held in two places each, that hang between them.
HELD_SCENE = """
[simulation]
time_step = 1e-3
duration = 0.3
[output]
every = 7
[[fibres]]
name = "thread"
material = "nylon"
length = 0.1
elements = 8
radius = 1e-4
root = { position = [0, 0, 0], tangent = [0, 1, 0] }
grid = { count = 2, spacing = 0.01 }
[[fibres.holds]]
name = "a, middle"
at = 0.04
[[fibres.holds]]
name = "tip"
"""
PAGE = "<!doctype html><title>page</title>"


class Failed(Exception):
    pass


def expect(condition, what):
    if not condition:
        raise Failed(what)


class Viewer:
    """tresse view on a folder or on two of them, and one request at a time."""

    def __init__(self, program, folder, assets, *options):
        runs = [str(run) for run in (folder if isinstance(folder, tuple) else (folder,))]
        command = [program, "view", *runs, "--no-open", "--assets", str(assets), *options]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        line = self.process.stdout.readline()
        match = re.fullmatch(r"http://127\.0\.0\.1:(\d+)/\n", line)
        if not match:
            raise Failed(f"printed {line!r} {self.process.communicate()[1]!r}")
        self.port = int(match[1])

    def request(self, path, method="GET", headers=None, body=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        connection.request(method, path, body=body, headers=headers or {})
        answer = connection.getresponse()
        content = answer.read()
        connection.close()
        return answer.status, content, answer.headers

    def json(self, path):
        status, content, _ = self.request(path)
        expect(status == 200, f"{path}: {status} {content[:200]}")
        return json.loads(content)

    def frame(self, generation, index):
        return self.request(f"/api/frame?generation={generation}&index={index}")

    def raw(self, text):
        """Bytes as they are, which http.client would not send."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=20) as connection:
            connection.sendall(text)
            connection.shutdown(socket.SHUT_WR)
            out = b""
            while True:
                with contextlib.suppress(ConnectionResetError):
                    part = connection.recv(65536)
                    if part:
                        out += part
                        continue
                return out

    def wait(self, condition, seconds=30):
        end = time.monotonic() + seconds
        while True:
            state = self.json("/api/state")
            if condition(state):
                return state
            expect(time.monotonic() < end, f"never came true; last {state}")
            time.sleep(0.1)

    def end(self):
        self.process.send_signal(signal.SIGTERM)
        status = self.process.wait(timeout=20)
        expect(status == 0, f"ended with status {status}: {self.process.stderr.read()}")


@contextlib.contextmanager
def viewing(*arguments):
    viewer = Viewer(*arguments)
    try:
        yield viewer
        viewer.end()
    finally:
        viewer.process.kill()
        viewer.process.wait()


def listening(pid):
    """Addresses on which a process listens, as /proc/net/tcp has them."""
    sockets = set()
    for descriptor in pathlib.Path(f"/proc/{pid}/fd").iterdir():
        with contextlib.suppress(OSError):
            sockets.add(os.readlink(descriptor))
    found = []
    for table in ("tcp", "tcp6"):
        for line in pathlib.Path(f"/proc/{pid}/net/{table}").read_text(encoding="ascii").splitlines()[1:]:
            words = line.split()
            if words[3] == "0A" and f"socket:[{words[9]}]" in sockets:
                found.append(words[1].split(":")[0])
    return found


def parse_frame(content):
    time_, step, points, obstacles, contacts, _ = struct.unpack_from("<2d4I", content)
    numbers = np.frombuffer(content, "<f4", offset=32)
    return time_, int(step), numbers[: 3 * points].reshape(-1, 3), obstacles, contacts, len(content)


def answers_like_the_files(program, run, assets):
    with viewing(program, run, assets) as viewer, h5py.File(run / "trajectory.h5") as file:
        expect(listening(viewer.process.pid) == ["0100007F"], f"listens on {listening(viewer.process.pid)}")
        state = viewer.json("/api/state")
        generation = state["generation"]
        expect(state["frames"] == len(file["time"]) and not state["live"] and not state["error"], f"{state}")
        status, content, headers = viewer.request("/")
        expect(status == 200 and content.decode() == PAGE and "default-src 'none'" in headers["Content-Security-Policy"],
               f"/: {status} {content} {headers}")
        status, content, headers = viewer.request("/index.html", "HEAD")
        expect(status == 200 and content == b"" and int(headers["Content-Length"]) == len(PAGE), "HEAD")
        description = viewer.json("/api/run")
        expect(description["scene"] == file["scene"][()].decode(), "scene")
        expect(description["obstacle_names"] == ["support"], f"{description['obstacle_names']}")
        _, content, _ = viewer.request(f"/api/times?generation={generation}&from=2")
        expect(np.array_equal(np.frombuffer(content), file["time"][2:]), "times")
        for index in (0, 7, len(file["time"]) - 1):
            _, content, _ = viewer.frame(generation, index)
            t, step, points, obstacles, contacts, size = parse_frame(content)
            expect(t == file["time"][index] and step == file["step"][index], "time and step")
            expect(np.array_equal(points, file["fibres/points"][index].astype("<f4")), "points")
            begin, end = file["contacts/frame_offsets"][index : index + 2]
            expect((obstacles, contacts) == (1, end - begin), "counts")
            expect(size == 36 + 4 * (points.size + 15 * obstacles + 16 * contacts), f"size {size}")
        quantity_tests(viewer, generation, file)
        for path in (f"/api/frame?generation={generation}&index={state['frames']}", "/api/frame?generation=9&index=0",
                     f"/api/frame?generation={generation}", f"/api/frame?generation={generation}&index=-1",
                     f"/api/frame?generation={generation}&index=99999999999999999999",
                     f"/api/quantity?generation={generation}&index=0&name=colour", "/api/", "/api/nothing"):
            status, content, _ = viewer.request(path)
            expect(status == 404 and "\n" not in json.loads(content)["error"], f"{path}: {status} {content}")


def two_runs_are_served_beside_each_other(program, run, assets):
    scene, other = run.parent / "held2.toml", run.parent / "other/run"
    scene.write_text(HELD_SCENE, encoding="utf-8")
    subprocess.run([program, "run", str(scene), "-o", str(other), "--quiet"], check=True, timeout=120)
    with viewing(program, (run, other / "trajectory.h5"), assets) as viewer, h5py.File(other / "trajectory.h5") as file:
        expect(viewer.json("/api/runs") == {"runs": [f"{run.parent.name}/run", "other/run"]}, f"{viewer.json('/api/runs')}")
        expect(viewer.json("/api/run") == viewer.json("/api/runs/0/run"), "paths without a number mean the first run")
        expect(viewer.json("/api/runs/1/state")["frames"] == len(file["time"]), "frames of the second")
        expect(viewer.json("/api/runs/1/run")["group_names"] == ["thread"], "the second is another")
        status, content, _ = viewer.request("/api/runs/1/frame?generation=1&index=3")
        expect(status == 200 and parse_frame(content)[0] == file["time"][3], f"a frame of the second: {status}")
        for path in ("/api/runs/2/state", "/api/runs/", "/api/runs/1", "/api/runs/01/state", "/api/runs/-1/state"):
            expect(viewer.request(path)[0] == 404, path)
    for runs, names in (((run,), ["run"]), ((run, run), ["run", "run"]), ((run, other.parent / "../live2"), ["run", "live2"])):
        if runs[-1].name == "live2":
            shutil.copytree(run, run.parent / "live2")
        with viewing(program, runs, assets) as viewer:
            expect(viewer.json("/api/runs")["runs"] == names, f"names of {runs}")
    for runs, words in (((run, run, run), "3 runs; expected one, or two"), ((run, run.parent / "none"), "none: no such folder")):
        command = [program, "view", *map(str, runs), "--no-open", "--assets", str(assets)]
        result = subprocess.run(command, capture_output=True, text=True, timeout=60)
        expect(result.returncode == 2 and result.stderr.count("\n") == 1 and words in result.stderr, f"{result}")


def surfaces_stand_in_the_frames(program, run, assets):
    folder = run.parent / "cloth"
    scene = SCENE.with_name("cloth_incline.toml")
    command = [program, "run", str(scene), "-o", str(folder), "--quiet", "--until", "0.02", "--set", "resolution=4"]
    subprocess.run(command, check=True, timeout=120)
    with viewing(program, folder, assets) as viewer, h5py.File(folder / "trajectory.h5") as file:
        names = [name.decode() for name in file["surfaces/names"]]
        face = file["surfaces/face"][:]
        expect(viewer.json("/api/run")["surface_names"] == names and len(names) == 1, f"names {names}")
        _, content, _ = viewer.request("/api/layout?generation=1")
        vertices = file[f"surfaces/{names[0]}/vertices"]
        end = np.frombuffer(content, "<i4")[-4 - face.size :]
        expect(np.array_equal(end, [1, len(face), vertices.shape[1], len(face), *face.ravel()]), f"faces {end[:8]}")
        for index in (0, len(vertices) - 1):
            _, content, _ = viewer.frame(1, index)
            count = vertices.shape[1]
            expect(np.frombuffer(content, "<u4")[-1 - 3 * count] == count, "number of vertices")
            expect(np.array_equal(np.frombuffer(content, "<f4")[-3 * count :], vertices[index].astype("<f4").ravel()),
                   f"vertices of frame {index}")  # fmt: skip


def quantity_tests(viewer, generation, file):
    def quantity(name, index):
        status, content, _ = viewer.request(f"/api/quantity?generation={generation}&index={index}&name={name}")
        expect(status == 200, f"{name}: {status} {content}")
        return np.frombuffer(content, "<f4")

    index = len(file["time"]) - 1
    points = file["fibres/points"][index - 1 : index + 1]
    speed = np.linalg.norm(points[1] - points[0], axis=1) / np.diff(file["time"][index - 1 : index + 1])
    expect(np.allclose(quantity("speed", index), speed, rtol=1e-5, atol=1e-9), "speed")
    expect(not quantity("speed", 0).any(), "speed of the first frame")
    expect(np.allclose(quantity("tension", index), file["fibres/force"][index, :, 0], rtol=1e-6), "tension")
    bending = np.hypot(*file["fibres/moment"][index, :, 1:].T)
    expect(np.allclose(quantity("bending", index), bending, rtol=1e-5), "bending")
    # The fibre starts with its natural curvature all along.
    expect(np.allclose(quantity("curvature", 0), 20.0, rtol=1e-3), f"curvature {quantity('curvature', 0)}")


def curves_keep_the_extremes(program, run, assets):
    with open(run / "forces.csv", newline="", encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream))
    with viewing(program, run, assets) as viewer:
        forces = viewer.json("/api/forces")
        steps = viewer.json("/api/steps")
    curves = forces["obstacles"]["support"]
    count = len(curves["from"])
    expect(1000 <= count <= 2048, f"{count} stretches of {len(rows)} rows")
    column = forces["columns"].index("fy")
    values = [float(row["fy"]) for row in rows]
    expect(min(curves["least"][column]) == min(values) and max(curves["greatest"][column]) == max(values), "extremes")
    expect(curves["from"][0] == float(rows[0]["time"]) and curves["to"][-1] == float(rows[-1]["time"]), "ends")
    expect(steps["columns"][:2] == ["contacts", "iterations"], f"{steps['columns']}")


def holds_carry_what_their_table_says(program, run, assets):
    scene, folder = run.parent / "held.toml", run.parent / "held"
    scene.write_text(HELD_SCENE, encoding="utf-8")
    subprocess.run([program, "run", str(scene), "-o", str(folder), "--quiet"], check=True, timeout=120)
    with open(folder / "holds.csv", newline="", encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream))
    with viewing(program, folder, assets) as viewer, h5py.File(folder / "trajectory.h5") as file:
        table = viewer.json("/api/holds")
        expect(table["columns"] == ["force", "fx", "fy", "fz"], f"{table['columns']}")
        holds = [(hold["name"], hold["fibre"]) for hold in table["holds"]]
        expect(holds == [("a, middle", 0), ("tip", 0), ("a, middle", 1), ("tip", 1)], f"{holds}")
        expect(np.allclose([hold["at"] for hold in table["holds"]], [0.04, 0.1, 0.04, 0.1]), f"{table['holds'][0]['at']}")
        for (name, fibre), hold in zip(holds, table["holds"]):
            mine = [float(row["fz"]) for row in rows if (row["hold"], int(row["fibre"])) == (name, fibre)]
            expect(hold["curves"]["least"][3] == mine, f"curve of {name}, fibre {fibre}")
        for index, t in enumerate(file["time"]):
            status, content, _ = viewer.request(f"/api/hold_loads?generation=1&index={index}")
            loads = np.frombuffer(content, "<f4").reshape(-1, 3)
            expect(status == 200 and loads.shape == (4, 3), f"{status} {loads.shape}")
            now = {(row["hold"], int(row["fibre"])): row for row in rows if float(row["time"]) == t}
            if index == 0:
                expect(not now and np.isnan(loads).all(), f"loads before the first step: {loads}")
                continue
            true = [[float(now[hold][axis]) for axis in ("fx", "fy", "fz")] for hold in holds]
            expect(np.array_equal(loads, np.array(true, dtype="<f4")), f"loads at {t}: {loads}, {true}")
        expect(viewer.request(f"/api/hold_loads?generation=1&index={len(file['time'])}")[0] == 404, "loads of no frame")
    (folder / "holds.csv").rename(run.parent / "holds.csv")
    (folder / "holds.csv").symlink_to(run.parent / "holds.csv")
    with viewing(program, folder, assets) as viewer:
        for path in ("/api/holds", "/api/hold_loads?generation=1&index=1"):
            status, content, _ = viewer.request(path)
            expect(status == 404 and b"leads out" in content, f"{path}: {status} {content}")
    with viewing(program, run, assets) as viewer:
        expect(viewer.json("/api/holds")["holds"] == [], "holds where nothing is held")
        status, content, _ = viewer.request("/api/hold_loads?generation=1&index=1")
        expect((status, content) == (200, b""), f"{status} {content}")


def nothing_else_can_be_read_or_written(program, run, assets):
    (run.parent / "secret.txt").write_text(SECRET, encoding="utf-8")
    before = {p.name: (p.stat().st_mtime_ns, p.stat().st_size) for p in run.iterdir()}
    with viewing(program, run, assets) as viewer:
        names = ["secret.txt", "run/../../secret.txt", str(run.parent / "secret.txt").lstrip("/"), "etc/passwd"]
        prefixes = ["/", "/../", "/assets/../../", "/%2e%2e/", "/..%2f", "/%2e%2e%2f%2e%2e%2f", "/..\\", "//", "/./../",
                    "/%252e%252e/", "/index.html/../../", "/assets/%00/../", "/\0../", "http://127.0.0.1/../"]
        for name in names:
            for prefix in prefixes:
                host = f"Host: 127.0.0.1:{viewer.port}\r\nConnection: close\r\n\r\n"
                answer = viewer.raw(f"GET {prefix}{name} HTTP/1.1\r\n{host}".encode("latin-1"))
                expect(SECRET.encode() not in answer and b"root:" not in answer and b" 200 " not in answer[:20],
                       f"{prefix}{name}: {answer[:200]}")
        for name in ("summary.json", "steps.csv", "trajectory.h5", "scene.toml"):
            expect(viewer.request(f"/{name}")[0] == 404, f"/{name} is served")
        for method in ("POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "MKCOL"):
            status, _, _ = viewer.request("/api/state", method, body=b"x")
            expect(status in (400, 405), f"{method}: {status}")
        for host in ("evil.example", "127.0.0.1", f"evil.example:{viewer.port}", "", f"127.0.0.1:{viewer.port + 1}"):
            expect(viewer.request("/api/state", headers={"Host": host})[0] in (400, 403), f"host {host!r}")
        expect(viewer.request("/api/state", headers={"Host": f"localhost:{viewer.port}"})[0] == 200, "localhost")
        expect(viewer.request("/api/state", headers={"Sec-Fetch-Site": "cross-site"})[0] == 403, "cross-site")
        for noise in (b"\0" * 2000, b"GET / HTTP/9.9\r\n\r\n", b"GET " + b"a" * 100000, b"\r\n\r\n", b"GET / HTTP/1.1\r\n" * 50):
            viewer.raw(noise)
        viewer.json("/api/state")
    after = {p.name: (p.stat().st_mtime_ns, p.stat().st_size) for p in run.iterdir()}
    expect(before == after, "the folder has changed")


def links_that_lead_out_are_refused(program, run, assets):
    folder = run.parent / "linked"
    folder.mkdir()
    for name in ("trajectory.h5", "summary.json"):
        (folder / name).symlink_to(run / name)
    result = subprocess.run([program, "view", str(folder), "--no-open", "--assets", str(assets)], capture_output=True,
                            text=True, timeout=60)
    expect(result.returncode == 2 and "leads out of the folder" in result.stderr, f"{result}")
    (folder / "trajectory.h5").unlink()
    # Nor may a trajectory take its numbers from another file.
    for way in ("link", "virtual", "raw"):
        shutil.copy(run / "trajectory.h5", folder)
        with h5py.File(folder / "trajectory.h5", "r+") as file:
            shape = file["fibres/points"].shape
            del file["fibres/points"]
            if way == "link":
                file["fibres/points"] = h5py.ExternalLink(str(run / "trajectory.h5"), "fibres/points")
            elif way == "virtual":
                layout = h5py.VirtualLayout(shape, "<f8")
                layout[:] = h5py.VirtualSource(str(run / "trajectory.h5"), "fibres/points", shape)
                file.create_virtual_dataset("fibres/points", layout)
            else:
                outside = [(str(run.parent / "secret.txt"), 0, h5py.h5f.UNLIMITED)]
                file.create_dataset("fibres/points", shape, "<f8", external=outside)
        with viewing(program, folder, assets) as viewer:
            status, content, _ = viewer.frame(1, 0)
            expect(status == 404 and b"fibres/points" in content, f"{way}: {status} {content[:200]}")
    shutil.copy(run / "trajectory.h5", folder)
    (folder / "steps.csv").symlink_to("/etc/passwd")
    with viewing(program, folder, assets) as viewer:
        expect(viewer.json("/api/state")["summary"] == {}, "a linked summary.json is served")
        status, content, _ = viewer.request("/api/steps")
        expect(status == 404 and b"leads out" in content, f"{status} {content}")
        (folder / "steps.csv").unlink()
        os.mkfifo(folder / "steps.csv")
        expect(viewer.request("/api/steps")[0] == 404, "a pipe as steps.csv")


def damaged_files_and_a_vanished_folder_are_told(program, run, assets):
    folder = run.parent / "damaged"
    shutil.copytree(run, folder)
    (folder / "trajectory.log").unlink()  # which a run that was stopped by --until keeps
    whole = (folder / "trajectory.h5").read_bytes()
    with viewing(program, folder, assets) as viewer:
        first = viewer.json("/api/state")
        for content in (whole[: len(whole) // 2], b"", b"\0" * 4096, os.urandom(1 << 16)):
            (folder / "new.h5").write_bytes(content)
            os.replace(folder / "new.h5", folder / "trajectory.h5")
            (folder / "summary.json").write_bytes(content[:9999])
            (folder / "steps.csv").write_bytes(content)
            (folder / "forces.csv").write_bytes(content)
            state = viewer.wait(lambda s: s["error"])
            expect("trajectory.h5" in state["error"] and "\n" not in state["error"], f"{state['error']}")
            viewer.request("/api/steps")
            viewer.request("/api/forces")
            expect(viewer.frame(first["generation"], 3)[0] == 404, "a frame of a damaged file")
        shutil.rmtree(folder)
        state = viewer.wait(lambda s: "no such" in s["error"])
        shutil.copytree(run, folder)
        state = viewer.wait(lambda s: not s["error"])
        expect(viewer.frame(state["generation"], 3)[0] == 200, "not back")
        log = (folder / "trajectory.log").read_bytes()
        for content in (log[:100], b"", os.urandom(1 << 16)):
            (folder / "trajectory.log").write_bytes(content)
            state = viewer.wait(lambda s: s["error"])
            expect("trajectory.log" in state["error"], f"{state['error']}")
        (folder / "trajectory.log").write_bytes(log[: len(log) // 2] + os.urandom(len(log) // 2))
        state = viewer.wait(lambda s: not s["error"])
        expect(0 < state["frames"] < 151 and viewer.frame(state["generation"], 3)[0] == 200, f"{state}")


def bad_use_is_one_line(program, run, assets):
    with viewing(program, run, assets) as first, viewing(program, run, assets) as second:
        expect(first.port != second.port, "two viewers at one port")
        cases = [([str(run), "--port", str(first.port)], "taken"), ([str(run / "none")], "no such folder"),
                 ([str(assets)], "trajectory.h5"), ([str(run), "--port", "99999"], "--port"),
                 ([str(run / "steps.csv")], "is a file; expected the folder of a run, here ")]
        for arguments, words in cases:
            result = subprocess.run([program, "view", *arguments, "--no-open", "--assets", str(assets)],
                                    capture_output=True, text=True, timeout=60)
            expect(result.returncode == 2 and result.stderr.count("\n") == 1 and words in result.stderr, f"{result}")
    result = subprocess.run([program, "view", str(run), "--no-open", "--assets", str(run)], capture_output=True,
                            text=True, timeout=60)
    expect(result.returncode == 2 and "index.html" in result.stderr, f"{result}")


def slow_clients_keep_nobody_waiting(program, run, assets):
    """Forty that send a letter now and then; the page is there at once, and so is the end."""
    with viewing(program, run, assets) as viewer:
        slow = [socket.create_connection(("127.0.0.1", viewer.port), timeout=20) for _ in range(40)]
        for k in range(3):
            for client in slow:
                with contextlib.suppress(ConnectionError):  # the server has lost patience
                    client.sendall(b"GET / HTTP/1.1\r\n"[4 * k : 4 * k + 4])
            begin = time.monotonic()
            expect(viewer.request("/")[0] == 200 and viewer.json("/api/state")["frames"] > 0, "no answer")
            expect(time.monotonic() - begin < 2, f"{time.monotonic() - begin:.1f} s for an answer")
            time.sleep(1)
        viewer.process.terminate()
        begin = time.monotonic()
        expect(viewer.process.wait(20) == 0 and time.monotonic() - begin < 3, "no end while others are connected")
        for client in slow:
            client.close()


def ranges_are_not_multiplied(program, run, assets):
    ranges = ",".join(f"{k}-" for k in range(1500))
    with viewing(program, run, assets) as viewer:
        for path in ("/", "/api/steps", "/api/frame?generation=1&index=0"):
            whole = viewer.request(path)[1]
            for value in ("bytes=0-3", "bytes=" + ranges, "bytes=" + "0-1," * 1900 + "0-1", "bytes=" + "1" * 7000 + "-", "bytes=5-1"):
                try:
                    status, content, _ = viewer.request(path, headers={"Range": value})
                except (http.client.HTTPException, ConnectionError):  # too long a header
                    continue
                good = (status == 200 and content == whole) or (status in (400, 414, 416, 431) and len(content) < 1000)
                expect(good, f"{path} {value[:30]}: {status}, {len(content)} bytes of {len(whole)}")
        expect(viewer.process.poll() is None and viewer.request("/")[0] == 200, "the viewer is gone")


def a_live_run_is_followed(program, run, assets):
    folder = run.parent / "live"
    process = subprocess.Popen([program, "run", str(SCENE), "-o", str(folder), "--quiet", "--threads", "1", "--set",
                                "time_step=2e-5", "--set", "output.every=20", "--set", "max_indentation=0.02"])
    try:
        end = time.monotonic() + 60
        while not (folder / "trajectory.log").exists() or (folder / "trajectory.log").stat().st_size < 20000:
            expect(time.monotonic() < end and process.poll() is None, "the run did not begin")
            time.sleep(0.05)
        with viewing(program, folder, assets) as viewer:
            state = viewer.wait(lambda s: s["live"])
            later = viewer.wait(lambda s: s["frames"] > state["frames"] + 5)
            expect(later["generation"] == state["generation"] and later["status"] == "running", f"{later}")
            status, content, _ = viewer.frame(later["generation"], later["frames"] - 1)
            expect(status == 200 and parse_frame(content)[0] > 0, "the latest frame")
            process.kill()
            process.wait()
            os.utime(folder / "trajectory.log", (0, 0))
            os.utime(folder / "steps.csv", (0, 0))
            state = viewer.wait(lambda s: not s["live"])
            expect(state["status"] == "running" and state["frames"] >= later["frames"], f"{state}")
            size = (folder / "trajectory.log").stat().st_size
            os.truncate(folder / "trajectory.log", size - 700)
            cut = viewer.wait(lambda s: s["frames"] < state["frames"])
            expect(viewer.frame(cut["generation"], cut["frames"] - 1)[0] == 200, "the last whole frame")
            shutil.rmtree(folder)
            shutil.copytree(run, folder)
            viewer.wait(lambda s: s["generation"] > cut["generation"] and not s["error"])
    finally:
        process.kill()
        process.wait()


def run_with_view_leaves_the_same_bytes(program, run, _assets):
    """Whether or not the page was built; without it the viewer says so and the run goes on."""
    folder = run.parent / "watched"
    result = subprocess.run([*run_command(program), "-o", str(folder), "--view"], capture_output=True, text=True, timeout=120)
    expect(result.returncode == 0, f"{result}")
    expect(result.stdout.startswith("http://127.0.0.1:") or "page is not built" in result.stderr or not result.stdout, f"{result}")
    for name in ("trajectory.h5", "forces.csv", "checkpoint.h5"):
        expect((folder / name).read_bytes() == (run / name).read_bytes(), f"{name} differs")


def run_command(program):
    return [program, "run", str(SCENE), "--until", "0.3", "--quiet", "--set", "friction=0.3", "--set", "output.every=20"]


TESTS = (answers_like_the_files, surfaces_stand_in_the_frames, two_runs_are_served_beside_each_other, curves_keep_the_extremes, holds_carry_what_their_table_says, nothing_else_can_be_read_or_written,
         links_that_lead_out_are_refused, damaged_files_and_a_vanished_folder_are_told, bad_use_is_one_line,
         slow_clients_keep_nobody_waiting, ranges_are_not_multiplied, a_live_run_is_followed, run_with_view_leaves_the_same_bytes)  # fmt: skip


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True)
    program = os.path.abspath(parser.parse_args().program)
    bad = []
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        assets = folder / "assets"
        assets.mkdir()
        (assets / "index.html").write_text(PAGE, encoding="utf-8")
        run = folder / "run"
        subprocess.run([*run_command(program), "-o", str(run)], check=True, timeout=120)
        for test in TESTS:
            try:
                test(program, run, assets)
            except (Failed, OSError, http.client.HTTPException, subprocess.SubprocessError, ValueError) as error:
                bad.append(f"{test.__name__}: {type(error).__name__}: {error}")
    print("\n".join(bad) if bad else f"{len(TESTS)} tests")
    return 1 if bad else 0


if __name__ == "__main__":
    raise SystemExit(main())
