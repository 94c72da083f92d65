"""The figures of docs/measured/three_point_bending.md, as small SVG files that are the same bytes for the same numbers."""

import pathlib
import sys

import numpy as np

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "python"))
from tresse_plot import style  # noqa: E402

style.for_files()
import matplotlib.pyplot as plt  # noqa: E402  (after the choice of the backend)

COLOURS = (style.BLUE, style.GREEN, style.ORANGE, style.RED)
GREY = style.GREY


def save(figure, folder, name):
    style.save(figure, folder / f"three_point_bending_{name}.svg")


def forces(folder, curves):
    """`curves`: (natural curvature, friction) -> (measured, reference)."""
    figure, axes = plt.subplots(1, 2, figsize=(9, 4.2), sharey=True, layout="constrained")
    for axis, friction in zip(axes, (0.0, 0.5)):
        of_friction = [(k, pair) for (k, mu), pair in curves.items() if mu == friction]
        for colour, (curvature, (measured, expected)) in zip(COLOURS, of_friction):
            thin = slice(None, None, 100)
            axis.plot(measured.indentation[thin], measured.force[thin], color=colour, lw=1.5, label=f"curvature {curvature} 1/m")
            axis.plot(expected.indentation[::3], expected.force[::3], "o", color=colour, ms=3, mfc="white", mew=0.8)
        axis.plot([], [], "o", color=GREY, ms=3, mfc="white", mew=0.8, label="elastica")
        axis.set(title=f"friction {friction:g}", xlabel="indentation  $\\delta / \\Delta$", xlim=(0, 0.3))
    axes[0].set_ylim(bottom=0.0)
    axes[0].set_ylabel("force  $F \\Delta^2 / 48 B$")
    style.legend_over(figure, axes[0])
    save(figure, folder, "forces")


def zoom(folder, certified, segments):
    figure, axes = plt.subplots(2, 1, figsize=(9, 5.6), layout="constrained")
    for curve, colour, name in ((segments, style.RED, "segments (100)"), (certified, style.BLUE, "certified")):
        near = (curve.indentation > 0.1) & (curve.indentation < 0.13)
        axes[0].plot(curve.indentation[near][::3], curve.force[near][::3], color=colour, lw=1.0, label=name)
    axes[0].set(ylabel="force  $F \\Delta^2 / 48 B$", xlim=(0.1, 0.13), title="around the largest force, 30 1/m")
    style.legend_above(axes[0])
    over = (certified.indentation > 0.02) & (certified.indentation < 0.25)
    ratio = (segments.force[over] / certified.force[over] - 1.0) * 100.0
    axes[1].plot(certified.indentation[over][::8], ratio[::8], color=style.RED, lw=0.6)
    axes[1].axhline(0.0, color=style.BLUE, lw=1.0)
    axes[1].set(xlabel="indentation  $\\delta / \\Delta$", ylabel="segments over certified - 1 [%]", xlim=(0.02, 0.25))
    save(figure, folder, "zoom")


def jumps_against_curvature(folder, curvatures, jumps):
    fields = (("ratio", "L1 norm of (segments / certified)'"), ("ratio_per_junction", "L1 norm per junction passed"),
              ("peak_to_peak", "peak to peak, over the largest force"))  # fmt: skip
    figure, axes = plt.subplots(1, 3, figsize=(9, 3.4), layout="constrained")
    for axis, (field, name) in zip(axes, fields):
        values = np.array([getattr(j, field) for j in jumps])
        axis.plot(curvatures, values, "o", color=style.BLUE, ms=4)
        axis.plot(curvatures, np.polyval(np.polyfit(curvatures, values, 1), curvatures), color=GREY, lw=1.0, ls="--")
        axis.margins(0.05)
        axis.set(ylabel=name, xlabel="natural curvature [1/m]", ylim=(min(0.0, -0.03 * values.max()), None))
        axis.ticklabel_format(axis="y", style="sci", scilimits=(0, 0))
    save(figure, folder, "curvature")


def jumps_against_length(folder, lengths, jumps, coarse):
    """`coarse`: the same with a step ten times longer."""
    lengths = np.array(lengths) * 1e3
    figure, axes = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
    for axis, field, name in zip(axes, ("peak_to_peak", "derivative"), ("peak to peak", "L1 norm of the derivative")):
        for of_step, colour, step in ((jumps, style.BLUE, "step 1e-4 s"), (coarse, COLOURS[2], "step 1e-3 s")):
            axis.loglog(lengths, [getattr(j, field) for j in of_step], "o-", color=colour, ms=4, lw=1.0, label=step)
        axis.set(title=name, xlabel="length of a segment [mm]")
        axis.set_xticks(lengths, [f"{h:g}" for h in lengths])
        axis.minorticks_off()
    guide = np.array([lengths.min(), lengths.max()])
    axes[0].loglog(guide, jumps[-1].peak_to_peak * guide / guide[0], color=GREY, lw=1.0, ls="--", label="length to the 1")
    axes[0].set_xticks(lengths, [f"{h:g}" for h in lengths])
    axes[0].minorticks_off()
    axes[0].set_ylabel("(segments - certified) / largest")
    axes[1].set_ylim(5e-3, 0.2)
    for axis in axes:
        axis.margins(0.05)
    style.legend_over(figure, axes[0])
    save(figure, folder, "refinement")


def convergence(folder, elements, sizes):
    """`sizes`: natural curvature -> root mean square error for each number of elements."""
    figure, axis = plt.subplots(figsize=(9, 4), layout="constrained")
    for colour, (curvature, size) in zip(COLOURS, sizes.items()):
        axis.loglog(elements, size, "o-", color=colour, ms=4, lw=1.0, label=f"{curvature} 1/m")
    guide = np.array(elements, dtype=float)
    axis.loglog(guide, 1.3 * sizes[0][0] * (guide / guide[0]) ** -2.0, color=GREY, lw=1.0, ls="--", label="elements to the -2")
    axis.set(xlabel="elements of the half rod", ylabel="rms error / largest force")
    axis.set_xticks(elements, [str(n) for n in elements])
    axis.minorticks_off()
    axis.margins(0.05)
    style.legend_over(figure, axis)
    save(figure, folder, "convergence")
