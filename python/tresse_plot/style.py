"""One look for every figure: Okabe and Ito's colours, which colour-blind readers tell apart; few lines, units on axes."""

import pathlib

import matplotlib
import matplotlib.pyplot as plt

BLUE, ORANGE, GREEN, RED, PURPLE, SKY = "#0072B2", "#E69F00", "#009E73", "#D55E00", "#CC79A7", "#56B4E9"
INK, GREY, PALE = "#222222", "#8a8a8a", "#c9c9c9"
CYCLE = (BLUE, RED, GREEN, PURPLE, ORANGE, SKY)


def apply():
    plt.rcParams.update({
        "figure.dpi": 150, "savefig.dpi": 150, "savefig.facecolor": "white",
        "font.family": "sans-serif", "font.sans-serif": ["DejaVu Sans"], "font.size": 10.5,
        "axes.titlesize": 12.5, "axes.titleweight": "bold", "axes.titlelocation": "left", "axes.titlepad": 10,
        "axes.labelsize": 10.5, "axes.edgecolor": GREY, "axes.linewidth": 0.8, "axes.labelcolor": INK,
        "axes.spines.top": False, "axes.spines.right": False, "axes.xmargin": 0.0, "axes.grid": True, "axes.axisbelow": True,
        "axes.prop_cycle": matplotlib.cycler(color=CYCLE),
        "grid.color": "#e6e6e6", "grid.linewidth": 0.7, "xtick.color": INK, "ytick.color": INK,
        "xtick.labelsize": 9.5, "ytick.labelsize": 9.5, "xtick.major.size": 3, "ytick.major.size": 3,
        "lines.linewidth": 1.3, "lines.solid_capstyle": "round", "legend.frameon": False, "legend.fontsize": 10,
        "svg.hashsalt": "tresse", "svg.fonttype": "path",
    })  # fmt: skip


def for_files():
    """The same for a program that writes files and opens no window."""
    matplotlib.use("Agg")
    apply()


def save(figure, target, kind=None):
    """Without dates: the same numbers give the same bytes. `target`: a path, or a stream if `kind` (png, svg, pdf) is given."""
    kind = kind or pathlib.Path(target).suffix.lower()[1:]
    figure.savefig(target, format=kind, metadata={"Software": None} if kind == "png" else {"Date": None})
    plt.close(figure)


def legend_over(figure, axis, ncols=6):
    """One legend for all panels of a figure with a constrained layout, above them: the labels of one of them."""
    handles, labels = axis.get_legend_handles_labels()
    inches = 0.1 + 0.24 * -(-len(labels) // ncols)
    figure.get_layout_engine().set(rect=(0, 0, 1, 1 - inches / figure.get_figheight()))
    figure.legend(handles, labels, loc="upper center", ncols=ncols, columnspacing=1.4, handlelength=1.8)


def legend_on_top(axis, ncols):
    """Above the middle of one panel."""
    axis.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=ncols, columnspacing=1.2, handlelength=1.6)


def legend_above(axis):
    """In the line of the title, at its right end, where no curve passes."""
    axis.legend(loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=6, borderaxespad=0.2, columnspacing=1.4,
                handlelength=1.6)  # fmt: skip


def force_unit(largest):
    """(factor, unit) in which the largest force reads as a small number."""
    for factor, unit in ((1.0, "N"), (1e3, "mN"), (1e6, "µN")):
        if largest * factor >= 1.0:
            return factor, unit
    return (1e9, "nN") if largest > 0 else (1.0, "N")


def energy_unit(largest):
    factor, unit = force_unit(largest)
    return factor, unit.replace("N", "J")
