"""Pulls on the plectoneme of scenes/plectoneme.toml by hand: once it is wound its root is drawn away until the cord carries a given tension, which no
keyframe knows beforehand, then held, then let back. Try: python3 scenes/plectoneme.py 0.15"""
import pathlib
import sys

import tresse


def pull(tension=0.15, speed=0.04, rest=1.0, output=None, **parameters):
    """Draws the root away at `speed` [m/s] until the clamp feels `tension` [N], waits for `rest` [s], comes back and waits.
    Returns (what it had done, time, way of the root [m], tension [N], moment [N m]) at the end of each."""
    scene = tresse.Scene.load(pathlib.Path(__file__).with_suffix(".toml"), {"rest": 100, **parameters})  # wound, then held
    simulation = tresse.Simulation(scene)
    turned = 1 + float(parameters.get("turns", 8)) / 2  # when all turns are in
    plan, told = ["wound", "pulled", "held", "let back", "rested"], []

    def hand(s):
        way, pulls = -s.root(0).position[0], -s.holds[0].force[0]
        since = s.time - (told[-1][1] if told else turned)
        if not [since >= rest, pulls >= tension, since >= rest, way < 1e-9, since >= rest][len(told)]:
            return True
        told.append((plan[len(told)], s.time, way, pulls, -s.holds[0].moment[0]))
        if told[-1][0] == "wound":
            s.drive_root(0, [-speed, 0, 0])
        elif told[-1][0] == "pulled":
            s.drive_root(0, [0, 0, 0])
        elif told[-1][0] == "held":
            s.drive_root(0, [speed, 0, 0], duration=way / speed)
        return len(told) < len(plan)

    simulation.run(until=90.0, callback=hand, output=output)
    return told


if __name__ == "__main__":
    for what, time, way, pulls, moment in pull(*map(float, sys.argv[1:])):
        print(f"{what:8s} t = {time:5.2f} s, root drawn by {1e3 * way:4.1f} mm, tension {pulls:.4f} N, moment {moment:.3g} N m")
