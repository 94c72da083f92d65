"""What the tests of exports share: a run to export, and its frames as trajectory.h5 has them."""

import pathlib
import subprocess

import h5py
import numpy as np

SCENE = pathlib.Path(__file__).resolve().parents[1] / "readers/scene.toml"
SINGLE = 4e-7  # two roundings of single precision, and of coordinates some 4 cm large


class Run:
    def __init__(self, folder):
        with h5py.File(folder / "trajectory.h5") as file:
            self.time = file["time"][:]
            self.points = file["fibres/points"][:]
            self.begin = file["fibres/point_offsets"][:]
            self.radius = file["fibres/radius"][:]
            self.force = file["fibres/force"][:]
            self.group = file["fibres/group"][:]
            self.groups = [name.decode() for name in file["fibres/group_names"][:]]
            self.obstacles = [name.decode() for name in file["obstacles/names"][:]]
            self.reference = file["obstacles/reference"][:]
            self.position = file["obstacles/position"][:]
            self.frame = file["obstacles/frame"][:]
            offsets = file["contacts/frame_offsets"][:]
            names = ("point_a", "point_b", "force", "normal", "gap", "state")
            values = {name: file["contacts/" + name][:] for name in names}
            self.contacts = [
                {name: value[offsets[i] : offsets[i + 1]] for name, value in values.items()}
                for i in range(len(self.time))
            ]

    def group_points(self, frame, group):
        """Points of the fibres of a group, (n, 3)."""
        fibres = np.flatnonzero(self.group == group)
        return np.concatenate([self.points[frame, self.begin[i] : self.begin[i + 1]] for i in fibres])

    def moved(self, frame, obstacle, points):
        """Where points of an obstacle's reference pose stand."""
        turned = (points - self.reference[obstacle]) @ self.frame[frame, obstacle].T
        return self.position[frame, obstacle] + turned


def make_run(program, folder):
    subprocess.run([program, "run", str(SCENE), "-o", "run", "--quiet"], cwd=folder, check=True, timeout=300)
    return Run(folder / "run")


def export(program, folder, *words):
    result = subprocess.run(
        [program, "export", "run", "--quiet", *words], cwd=folder, capture_output=True, text=True, timeout=300
    )
    assert result.returncode == 0 and not result.stderr, f"export {words}: {result.stderr}"


def near(found, expected, what, scale=0.05):
    """Within single precision at coordinates of size `scale`."""
    found, expected = np.asarray(found, float), np.asarray(expected, float)
    assert found.shape == expected.shape, f"{what}: shape {found.shape}, expected {expected.shape}"
    worst = np.abs(found - expected).max() if found.size else 0.0
    assert worst <= SINGLE * scale, f"{what}: off by {worst}"
