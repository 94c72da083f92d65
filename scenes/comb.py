"""scenes/comb.toml written in Python: combing.comb(fibres=1) gives the same run. Try: python3 scenes/comb.py"""
from math import ceil, sqrt

import tresse


def comb(fibres=1, natural_curvature=60.0, friction=0.1, settle_time=4.0, duration=20.0, entry_time=3.0, time_step=1e-3):
    half_width = ceil(sqrt(fibres)) * 0.13e-3 / 2
    clearance = half_width + min(2 / max(natural_curvature, 1), 0.04) + 0.003
    start, entered = -(clearance + (2 * clearance + 0.008)), -(clearance + 0.003)  # of the handle
    way = max(duration - settle_time - entry_time, time_step) * 0.025 / sqrt(1 + 0.5**2)
    times = settle_time, settle_time + entry_time, max(duration, settle_time + entry_time + time_step)
    moves = [0, 0, 0], [entered - start, 0, 0], [entered - start + 0.5 * way, 0, -way]
    return tresse.Scene({
        "title": f"Combing, {fibres} fibres, natural curvature {natural_curvature:g} 1/m, friction {friction:g}",
        "simulation": {"time_step": time_step, "duration": duration, "gravity": 9.81},
        "solver": {"tolerance": 1e-12, "max_iterations": 500},
        "output": {"every": 40, "checkpoint_every": 1000},
        "materials": {"hair": {"density": "1 g/cm^3", "young_modulus": "1 GPa", "poisson_ratio": 0.48, "damping_time": "2 ms"}},
        "friction": {"default": friction, "pairs": [{"between": ["hair", "comb"], "coefficient": friction}]},
        "fibres": [{"name": "hair", "material": "hair", "length": "30.5 cm", "elements": 12, "radius": "50 um", "drag": 1e-4,
                    "natural_curvature": natural_curvature, "natural_curvature_onset": settle_time / 2, "initial_curvature": 0,
                    "root": {"tangent": ["sin(10 deg)", 0, "-cos(10 deg)"], "normal": [0, 1, 0]},
                    "grid": {"count": fibres, "spacing": "0.13 mm", "jitter": "(0.13 mm - 2 * 50 um) / 4"}}],
        "obstacles": [{"name": "comb", "shape": "comb", "base": [start, 0, -0.02], "tooth_direction": [1, 0, 0],
                       "row_direction": [0, 1, 0], "teeth": 17, "tooth_length": 2 * clearance + 0.008,
                       "motion": {"keyframes": [{"time": t, "displacement": d} for t, d in zip(times, moves)]}}]})  # fmt: skip


if __name__ == "__main__":
    print(tresse.Simulation(comb()).run(output="out/comb").verdict)
