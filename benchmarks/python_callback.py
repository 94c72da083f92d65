#!/usr/bin/env python3
"""What a Python callback costs: benchmarks/python_callback.py. Processor time of steps of scenes/comb.py with one and without, alternating."""

import argparse
import importlib.util
import pathlib
import statistics
import time

import tresse

SCENE = pathlib.Path(__file__).resolve().parents[1] / "scenes" / "comb.py"
STEPS, ROUNDS, SETTLED = 1000, 9, 4.2


def main():
    argparse.ArgumentParser(description=__doc__).parse_args()
    spec = importlib.util.spec_from_file_location("comb", SCENE)
    comb = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(comb)
    scene = comb.comb(natural_curvature=100.0)
    ratios = []
    callbacks = {"none": None, "empty": lambda s: None, "forces": lambda s: s.forces}
    times = {name: [] for name in callbacks}
    for _ in range(ROUNDS):
        for name in callbacks:
            simulation = tresse.Simulation(scene, threads=1)
            simulation.run(until=SETTLED)
            begin = time.thread_time()
            simulation.run(until=SETTLED + STEPS * scene.time_step, callback=callbacks[name])
            times[name].append(time.thread_time() - begin)
        ratios.append([times[name][-1] / times["none"][-1] for name in ("empty", "forces")])
    for k, name in enumerate(("empty", "forces")):
        print(f"{name}: {statistics.median(r[k] for r in ratios):.3f} times as long "
              f"({STEPS} steps, {1e3 * min(times['none']):.1f} ms without, {1e3 * min(times[name]):.1f} ms with)")  # fmt: skip


if __name__ == "__main__":
    main()
