"""Stepping, states, driving and the files of a run, against the program and against scenes that move by themselves."""

import importlib.util
import os
import pathlib
import signal
import subprocess
import threading
import time
import tomllib

import h5py
import numpy as np
import pytest
import tresse

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = os.environ.get("TRESSE_PROGRAM", str(ROOT / "build/release/bin/tresse"))
SHORT = {"settle_time": 0.2, "entry_time": 0.5, "duration": 1.2}


def comb_of(scenes, **parameters):
    return script(scenes / "comb.py").comb(**parameters)


def script(path):
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def program_runs(scene, folder, *more):
    subprocess.run([PROGRAM, "run", scene, "-o", folder, "--quiet", *more], check=True, timeout=300)


def without_times(path):
    """Rows of steps.csv but for the wall-clock columns."""
    return [line.rsplit(",", 4)[0] for line in path.read_text(encoding="utf-8").splitlines()]


def assert_same_run(a, b):
    assert (a / "forces.csv").read_bytes() == (b / "forces.csv").read_bytes()
    assert (a / "scene.toml").read_bytes() == (b / "scene.toml").read_bytes()
    assert (a / "trajectory.h5").read_bytes() == (b / "trajectory.h5").read_bytes()
    assert without_times(a / "steps.csv") == without_times(b / "steps.csv")
    assert {p.name for p in a.iterdir()} == {p.name for p in b.iterdir()}


def test_a_run_leaves_the_bytes_of_the_program(scenes, tmp_path):
    settings = [f"--set={name}={value}" for name, value in SHORT.items()]
    program_runs(scenes / "comb.toml", tmp_path / "program", *settings)
    ended = tresse.Simulation(tresse.Scene.load(scenes / "comb.toml", SHORT)).run(output=tmp_path / "python")
    assert ended.outcome == "finished" and ended.sound
    assert_same_run(tmp_path / "python", tmp_path / "program")


def test_the_comb_written_in_python_leaves_the_bytes_of_the_toml(scenes, tmp_path):
    assert len((scenes / "comb.py").read_text(encoding="utf-8").splitlines()) <= 34
    settings = [f"--set={name}={value}" for name, value in SHORT.items()]
    program_runs(scenes / "comb.toml", tmp_path / "toml", *settings)
    program_runs(tmp_path / "toml" / "scene.toml", tmp_path / "resolved")  # without the parameters in its comments
    tresse.Simulation(comb_of(scenes, **SHORT)).run(output=tmp_path / "python")
    assert_same_run(tmp_path / "python", tmp_path / "resolved")
    assert (tmp_path / "python" / "forces.csv").read_bytes() == (tmp_path / "toml" / "forces.csv").read_bytes()
    with h5py.File(tmp_path / "python/trajectory.h5") as a, h5py.File(tmp_path / "toml/trajectory.h5") as b:
        names = []
        b.visititems(lambda name, item: names.append(name) if hasattr(item, "shape") else None)
        for name in names:
            assert name == "scene" or np.array_equal(a[name][()], b[name][()]), name


def test_interrupted_and_resumed_is_the_same_run(scenes, tmp_path):
    scene = comb_of(scenes, **SHORT)
    tresse.Simulation(scene).run(output=tmp_path / "whole")
    first = tresse.Simulation(scene)
    ended = first.run(output=tmp_path / "parts", callback=lambda s: s.steps < 777)
    assert ended.outcome == "interrupted" and first.steps == 777
    second = tresse.Simulation(scene, threads=1)
    second.run(output=tmp_path / "parts", resume=True)
    assert second.steps == 1200
    assert_same_run(tmp_path / "parts", tmp_path / "whole")
    with pytest.raises(tresse.InvalidInput, match="scene"):
        tresse.Simulation(comb_of(scenes, friction=0.2, **SHORT)).run(output=tmp_path / "parts", resume=True)


def test_a_kept_state_goes_on_as_the_run_did(scenes, tmp_path):
    scene = comb_of(scenes, fibres=9, **SHORT)
    run = tresse.Simulation(scene)
    run.run(until=0.5, output=tmp_path / "run")
    kept = tresse.Simulation.from_state(tmp_path / "run/checkpoint.h5", threads=1)
    assert kept.time == run.time and kept.scene.duration == scene.duration
    pressed = 0
    for _ in range(50):
        run.step()
        kept.step()
        assert np.array_equal(kept.forces["comb"], run.forces["comb"])
        pressed += run.forces["comb"].any()
    assert pressed > 5
    again = tresse.Simulation.from_state(tmp_path / "run/checkpoint.h5")
    assert again.run(until=0.55, output=tmp_path / "python").outcome == "finished"
    program_runs(tmp_path / "run/checkpoint.h5", tmp_path / "program", "--until=0.55")
    assert_same_run(tmp_path / "python", tmp_path / "program")
    assert np.array_equal(tresse.load(tmp_path / "python").force("comb")[1][-1], run.forces["comb"])


def test_ctrl_c_leaves_a_checkpoint(scenes, tmp_path):
    simulation = tresse.Simulation(comb_of(scenes, **SHORT))

    def interrupt(s):
        if s.steps == 20:
            os.kill(os.getpid(), signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        simulation.run(output=tmp_path / "run", callback=interrupt)
    assert simulation.steps in (20, 21)
    assert tresse.load(tmp_path / "run").summary["status"] == "interrupted"
    assert len(tresse.load(tmp_path / "run").steps) == simulation.steps
    simulation.run(until=0.1)
    assert simulation.steps == 100


def test_a_run_without_files_tells_how_it_went(scenes, tmp_path):
    """The same as one with files says."""
    for more in ({}, {"solver.tolerance": 1e-30}):
        scene = tresse.Scene.load(scenes / "comb.toml", {**SHORT, **more})
        told = tresse.Simulation(scene).run()
        assert told == tresse.Simulation(scene).run(output=tmp_path / "run")
        assert told.outcome == "finished" and told.sound == (not more)
    simulation = tresse.Simulation(scene)
    assert simulation.run(until=0.01).outcome == "interrupted"
    assert simulation.run(callback=lambda s: False).outcome == "interrupted" and simulation.steps == 11


def test_what_a_callback_raises_comes_out(scenes, tmp_path):
    simulation = tresse.Simulation(comb_of(scenes, **SHORT))

    def fail(s):
        raise KeyError("mine")

    for output in (None, tmp_path / "run"):
        with pytest.raises(KeyError, match="mine"):
            simulation.run(callback=fail, output=output)
    assert simulation.steps == 2
    with pytest.raises(tresse.InvalidInput, match="already running"):
        simulation.run(callback=tresse.Simulation.step)


def test_held_points_tell_their_loads(scenes, tmp_path):
    simulation = tresse.Simulation(tresse.Scene.load(scenes / "plectoneme.toml"))
    assert [load.force.tolist() for load in simulation.holds] == [[0, 0, 0]]
    simulation.run(until=0.02, output=tmp_path / "run")
    (load,) = simulation.holds
    last = (tmp_path / "run/holds.csv").read_text(encoding="utf-8").splitlines()[-1].split(",")
    assert (load.hold, load.fibre) == (last[1], int(last[2]))
    assert [*load.force, *load.moment, load.error] == [float(word) for word in last[3:]]
    assert np.linalg.norm(load.force) > 0
    results = tresse.load(tmp_path / "run")
    time, force = results.hold(load.hold)
    assert time.tolist() == results.steps["time"].tolist() and force[-1].tolist() == load.force.tolist()
    size = np.linalg.norm(force, axis=1)
    (told,) = results.summary["holds"]
    assert told["name"] == load.hold and told["mean_force"] == pytest.approx(size.mean(), rel=1e-12)
    assert told["max_force"] == pytest.approx(size.max(), rel=1e-15) and told["max_force_time"] == time[size.argmax()]
    with pytest.raises(tresse.InvalidInput, match=f"no hold 'nail', expected one of: {load.hold}"):
        results.hold("nail")


def test_internal_loads(scenes, tmp_path):
    """Before the first step they carry the weight of what lies beyond; at any step they are those of the frames."""
    simulation = tresse.Simulation(tresse.Scene.load(scenes / "swing.toml", duration=0.01))
    (own,) = simulation.internal_loads
    weight = 1000 * np.pi * 0.001**2 * 9.81 * (0.2 - own.arc_length)
    assert np.linalg.norm(own.force, axis=1) == pytest.approx(weight, abs=1e-12)
    assert own.force.shape == own.moment.shape == own.position.shape
    simulation.run(output=tmp_path / "run")
    (own,) = simulation.internal_loads
    frame = tresse.load(tmp_path / "run").frames[-1]
    assert frame["step"] == simulation.steps
    assert np.array_equal(own.force, frame["fibres/force"]) and np.array_equal(own.moment, frame["fibres/moment"])
    assert np.array_equal(own.position, frame["fibres/points"])


def test_a_script_pulls_until_it_feels_a_tension(scenes):
    """scenes/plectoneme.py, with hardly a turn and few elements: the bent cord is drawn straight."""
    told = script(scenes / "plectoneme.py").pull(0.02, rest=0.2, turns=0.2, elements=8, time_step=2e-3)
    assert [row[0] for row in told] == ["wound", "pulled", "held", "let back", "rested"]
    wound, pulled, held, back, rested = told
    assert wound[3] < 0.02 <= pulled[3] and pulled[2] > 0.05
    assert held[2] == pytest.approx(pulled[2], abs=1e-3) and back[2] == pytest.approx(0, abs=1e-9)
    assert rested[3] == pytest.approx(wound[3], abs=2e-3)


def test_steps_are_those_of_a_run(scenes, tmp_path):
    scene = tresse.Scene.load(scenes / "three_point_bending.toml", natural_curvature=10)
    simulation = tresse.Simulation(scene)
    rows = [simulation.step() for _ in range(50)]
    forces, contacts = simulation.forces, simulation.contacts
    tresse.Simulation(scene).run(until=50 * scene.time_step, output=tmp_path / "run")
    results = tresse.load(tmp_path / "run")
    assert [row["time"] for row in rows] == results.steps["time"].tolist()
    assert [row["elastic"] for row in rows] == results.steps["elastic"].tolist()
    assert forces["support"].tolist() == results.force("support")[1][-1].tolist()
    assert contacts.dtype["force"].shape == (3,) and len(contacts) > 0
    assert (contacts["fibre_a"] == 0).all() and (contacts["obstacle_b"] == 0).all()
    assert contacts["force"].sum(axis=0) == pytest.approx(forces["support"], rel=1e-9)
    assert np.linalg.norm(contacts["normal"], axis=1) == pytest.approx(1.0)


def free_fibre(**more):
    return tresse.Scene({
        "simulation": {"time_step": 1e-3, "gravity": 0.0},
        "fibres": [{"name": "rod", "material": "nylon", "length": 0.1, "elements": 3, "radius": 1e-3,
                    "root": {"condition": "free"}, **more}],
    })  # fmt: skip


def test_states_are_set_and_read():
    simulation = tresse.Simulation(free_fibre())
    bent = np.array([[1, 2, 30], [0, 1, -20], [0, 0, 5.0]])
    simulation.set_curvatures(0, bent, -bent)
    assert np.array_equal(simulation.curvatures(0), bent) and np.array_equal(simulation.rates(0), -bent)
    frame = np.array([[0, 0, 1], [1, 0, 0], [0, 1, 0.0]])
    simulation.set_root(0, [1, 2, 3], frame, [0.5, 0, 0])
    assert simulation.root(0).position.tolist() == [1, 2, 3] and np.array_equal(simulation.root(0).frame, frame)
    assert np.array_equal(simulation.curvatures(0), bent)
    rod = tresse.rods.SuperHelix([0.1 / 3] * 3, bent, [1, 2, 3], frame, 1e-3)
    line = simulation.centreline(0, 4)
    assert line.shape == (13, 3) and simulation.centrelines[0].shape == (25, 3)
    assert line == pytest.approx(rod.position(np.linspace(0, 0.1, 13)), abs=1e-15)
    simulation.step()
    assert simulation.root(0).position[0] > 1
    with pytest.raises(tresse.InvalidInput, match="curvatures: found 3 numbers"):
        simulation.set_curvatures(0, [0, 0, 1])
    with pytest.raises(tresse.InvalidInput, match="fibre: found 1, expected 0 to 0"):
        simulation.curvatures(1)


def bending(motion):
    return tresse.Scene({
        "simulation": {"time_step": 1e-3, "gravity": 0.0},
        "fibres": [{"name": "rod", "material": "nylon", "length": 0.1, "elements": 5, "radius": 1e-3,
                    "root": {"motion": motion.get("root", {})}}],
        "obstacles": [{"name": "bar", "shape": "cylinder", "center": [0.05, -0.0121, 0], "axis": [0, 0, 1], "radius": 0.01,
                       "length": 0.1, "motion": motion.get("bar", {})}],
    })  # fmt: skip


def test_driven_is_as_prescribed():
    moving = tresse.Simulation(bending({"bar": {"velocity": [0, 0.05, 0], "angular_velocity": [0, 0, 2]},
                                        "root": {"velocity": [0, 0.01, 0]}}))  # fmt: skip
    by_velocity, by_pose = (tresse.Simulation(bending({})) for _ in range(2))
    by_velocity.drive_obstacle("bar", [0, 0.05, 0], [0, 0, 2])
    by_velocity.drive_root(0, [0, 0.01, 0])

    def steer(_=None):
        t = by_pose.time + 1e-3
        c, s = np.cos(2 * t), np.sin(2 * t)
        by_pose.drive_obstacle(0, position=[0.05, -0.0121 + 0.05 * t, 0], frame=[[c, -s, 0], [s, c, 0], [0, 0, 1]])
        by_pose.drive_root(0, position=[0, 0.01 * t, 0])

    steer()
    for simulation, callback in ((moving, None), (by_velocity, None), (by_pose, steer)):
        simulation.run(until=0.1, callback=callback)
    force = moving.forces["bar"]
    assert np.linalg.norm(force) > 0.01
    for simulation in (by_velocity, by_pose):
        assert simulation.obstacle("bar").position == pytest.approx(moving.obstacle(0).position, abs=1e-12)
        assert simulation.obstacle("bar").frame == pytest.approx(moving.obstacle(0).frame, abs=1e-12)
        assert simulation.root(0).position == pytest.approx([0, 0.001, 0], abs=1e-12)
    # The scene's root moves from the first step on, the driven one starts: a jolt that the bar feels for a while.
    assert by_pose.forces["bar"] == pytest.approx(by_velocity.forces["bar"], rel=1e-6)
    assert np.linalg.norm(by_velocity.forces["bar"] - force) < 0.1 * np.linalg.norm(force)


def test_a_fast_obstacle_is_met():
    simulation = tresse.Simulation(bending({}))
    simulation.drive_obstacle("bar", [0, 2.0, 0], duration=0.02)  # two radii of the fibre a step
    simulation.run(until=0.03)
    middle = simulation.centreline(0)[20]
    assert middle[1] > simulation.obstacle("bar").position[1]
    assert simulation.obstacle("bar").position[1] == pytest.approx(-0.0121 + 0.04)


@pytest.mark.parametrize("call, words", [
    (lambda s: s.drive_obstacle("comb", [0, 0, 0]), "obstacle: found 'comb', expected one of: bar"),
    (lambda s: s.drive_obstacle(3, [0, 0, 0]), "obstacle: there is none"),
    (lambda s: s.drive_obstacle("bar"), "either a velocity or a position"),
    (lambda s: s.drive_obstacle("bar", [0, 0, 0], duration=0.0), "duration: expected"),
    (lambda s: s.drive_obstacle("bar", [0, np.inf, 0]), "velocity: found a number that is not finite"),
    (lambda s: s.drive_root(2, [0, 0, 0]), "fibre"),
    (lambda s: s.set_root(0, [0, 0, 0], np.eye(3)), "root: is not free"),
    (lambda s: s.run(until=-1), "until: found -1, expected a time"),
    (lambda s: s.run(resume=True), "resume: found no output"),
    (lambda s: s.centreline(0, 0), "points_per_element: found 0"),
    (lambda s: tresse.Simulation(s.scene, threads=0), "threads: found 0"),
    (lambda s: tresse.Simulation("comb.toml"), "found str, expected a Scene"),
    (lambda s: tresse.Simulation.from_state("none.h5"), "none.h5"),
    (lambda s: tresse.Simulation.from_state(ROOT / "scenes/comb.toml"), "comb.toml: is a scene, expected a state"),
    (lambda s: tresse.Simulation(tresse.Scene({"fibres": [
        {"name": "a", "material": "nylon", "length": 0.1, "elements": 3, "radius": 1e-3, "root": {"position": [0, y, 0]}}
        for y in (0,)] + [{"name": "b", "material": "nylon", "length": 0.1, "elements": 3, "radius": 1e-3}]})), "at the start"),
])  # fmt: skip
def test_refusals_are_one_line(call, words):
    with pytest.raises(tresse.InvalidInput, match=words) as caught:
        call(tresse.Simulation(bending({})))
    assert "\n" not in str(caught.value)


def test_free_things_are_not_driven():
    with pytest.raises(tresse.InvalidInput, match="not clamped"):
        tresse.Simulation(free_fibre()).drive_root(0, [0, 0, 0])


def test_ctrl_c_within_a_step(data):
    simulation = tresse.Simulation(tresse.Scene.load(data / "hard_steps" / "unreachable_tolerance.toml"))
    threading.Timer(3.0, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    begin = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        while True:
            simulation.step()
    assert time.monotonic() - begin < 8.0
    assert np.isfinite(simulation.time)


def test_threads_do_not_change_the_result(scenes):
    ends = []
    for threads in (1, 2):
        simulation = tresse.Simulation(tresse.Scene.load(scenes / "comb.toml", fibres=9, **SHORT), threads=threads)
        simulation.run(until=0.05)
        ends.append(np.concatenate(simulation.centrelines).tobytes())
    assert ends[0] == ends[1]


def test_a_repaired_step_is_that_of_the_other_scheme(scenes):
    """In a combed wisp with few segments contacts turn up at the end of a step, and the step is solved again with them.
    From the same state both schemes, whose inertial forces differ little, then come to the same velocities."""
    wisp = tresse.Scene.load(scenes / "comb.toml", fibres=9, detection="segments", proxy_segments=40)
    settings = tomllib.loads(wisp.resolved())
    settings["simulation"]["scheme"] = "semi-implicit"
    carried, other = tresse.Simulation(wisp), tresse.Simulation(tresse.Scene(settings))
    for step in range(680):
        compared = step >= 650
        if compared:
            for f in range(9):
                other.set_curvatures(f, carried.curvatures(f), carried.rates(f))
        carried.step()
        other.step()
        if compared:
            rates, expected = (np.array([each.rates(f) for f in range(9)]) for each in (carried, other))
            # The inertial forces make 0.3 % here.
            assert np.abs(rates - expected).max() < 0.02 * np.abs(expected).max()


def test_other_threads_run_while_a_simulation_steps(scenes):
    simulation = tresse.Simulation(comb_of(scenes))
    ticks, done = [], threading.Event()

    def tick():
        while not done.wait(1e-4):
            ticks.append(1)

    other = threading.Thread(target=tick)
    other.start()
    simulation.run(until=0.5)
    done.set()
    other.join()
    assert len(ticks) > 5


def test_nothing_leaks(scenes):
    scene = comb_of(scenes)

    def once():
        simulation = tresse.Simulation(scene, threads=1)
        simulation.run(until=0.005, callback=lambda s: (s.contacts, s.centrelines, s.forces) and None)
        tresse.rods.SuperClothoid([0.1] * 20, np.ones((21, 3)), section=1e-4).mass_matrix()
        tresse.friction.solve(tresse.friction.Problem(np.eye(90), -np.ones(90), 0.3))
        for bad in (lambda: simulation.curvatures(7), lambda: tresse.Scene({})):
            with pytest.raises(tresse.InvalidInput):
                bad()

    def memory():
        return int(pathlib.Path("/proc/self/statm").read_text(encoding="ascii").split()[1]) * 4096

    for _ in range(30):
        once()
    before = memory()
    for _ in range(150):
        once()
    # A lost simulation of 12 elements is some 100 kB each time, a lost array of 20 clothoids 30 kB.
    assert memory() - before < 150 * 10_000


OVERLAPPING = """
simulation = {{ time_step = 0.001, duration = 0.01 }}
fibres = [
  {{ name = "a", material = "nylon", length = 0.1, elements = 2, radius = 0.001, root = {{ position = [0, 0, 0] }} }},
  {{ name = "b", material = "nylon", length = 0.1, elements = 2, radius = 0.001, root = {{ position = [0, {0}, 0] }} }},
  {{ name = "c", material = "nylon", length = 0.1, elements = 2, radius = 0.001, root = {{ position = [1, 0, 0] }} }},
]
"""


def test_strands_that_overlap_at_the_start_are_left_out_on_request_and_named():
    scene = tresse.Scene.parse(OVERLAPPING.format(0.001))
    for help, hint in (({}, "push_out=True moves them"), ({"push_out": True}, "leave_out=True leaves fibres out")):
        with pytest.raises(tresse.InvalidInput, match=rf"overlap.*; expected bodies apart \({hint}\)$"):
            tresse.Simulation(scene, **help)
    simulation = tresse.Simulation(scene, leave_out=True)
    assert len(simulation.left_out) == 1 and "of 'b' is left out" in simulation.left_out[0], simulation.left_out
    assert simulation.fibres == 2
    apart = tresse.Simulation(tresse.Scene.parse(OVERLAPPING.format(0.1)), leave_out=True)
    assert apart.fibres == 3 and not apart.left_out
