"""The command line of the module; `tresse plot` passes its arguments on. Exit status 2 and one line on bad input."""

import argparse
import io
import os
import pathlib
import sys

from tresse_plot.tables import PlotError, plain


def _parse(arguments):
    parser = argparse.ArgumentParser(prog="tresse plot")
    parser.add_argument("runs", nargs="+")
    parser.add_argument("-o", "--output", required=True)
    parser.add_argument("--what", choices=("forces", "energies", "solver", "sweep", "convergence"), default="forces")
    parser.add_argument("--title")
    parser.add_argument("--label", action="append", default=[])
    parser.add_argument("--compare", choices=("auto", "yes", "no"), default="auto")
    return parser.parse_args(arguments)


def _labelled(runs, labels):
    if labels and len(labels) != len(runs):
        raise PlotError(f"{len(labels)} labels for {len(runs)} runs: expected one each")
    return list(zip(map(plain, labels or [pathlib.Path(run).resolve().name for run in runs]), runs))


def _write(figure, output):
    """Complete or not at all."""
    kind = pathlib.Path(output).suffix.lower()
    # No dates: the same tables give the same bytes.
    metadata = {"Software": None} if kind == ".png" else {"Date": None}
    buffer = io.BytesIO()
    figure.savefig(buffer, format=kind[1:], metadata=metadata)
    unfinished = output + ".unfinished"
    try:
        with open(unfinished, "wb") as stream:
            stream.write(buffer.getvalue())
            stream.flush()
            os.fsync(stream.fileno())
        os.replace(unfinished, output)
    except OSError as error:
        raise PlotError(f"{output}: cannot be written: {error.strerror}") from error
    finally:
        if os.path.exists(unfinished):
            os.remove(unfinished)


def run(arguments):
    options = _parse(arguments)
    if pathlib.Path(options.output).suffix.lower() not in (".png", ".svg", ".pdf"):
        raise PlotError(f"{options.output}: expected a name that ends in .png, .svg or .pdf")
    runs = _labelled(options.runs, options.label)
    try:
        import matplotlib

        matplotlib.use("Agg")  # no window
        from tresse_plot import figures, style, sweeps
    except ImportError as error:
        raise PlotError(f"plots need matplotlib ({error}): install python3-matplotlib") from error
    style.apply()
    draw = sweeps.sweep if options.what == "sweep" else getattr(figures, options.what)
    if options.what == "forces" and (options.compare == "yes" or (options.compare == "auto" and len(runs) == 2)):
        draw = figures.compare
    try:
        _write(draw(runs, options.title and plain(options.title)), options.output)
    except (ArithmeticError, LookupError, ValueError) as error:
        raise PlotError(f"{runs[0][1]}: its numbers cannot be drawn: {' '.join(str(error).split())}") from error


def main(arguments):
    try:
        run(arguments)
    except PlotError as error:
        print(f"tresse: {error}", file=sys.stderr)
        return 2
    return 0
