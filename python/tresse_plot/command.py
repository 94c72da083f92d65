"""The command line of the module; `tresse plot` passes its arguments on. Exit status 2 and one line on bad input."""

import argparse
import functools
import io
import os
import pathlib
import sys
import warnings

from tresse_plot.tables import LeftOut, PlotError, has_rows, is_comparison, is_sweep, plain, run_labels


def _parse(arguments):
    parser = argparse.ArgumentParser(prog="tresse plot")
    parser.add_argument("runs", nargs="+")
    parser.add_argument("-o", "--output", required=True)
    parser.add_argument("--what", choices=("auto", "forces", "holds", "roots", "energies", "solver", "shape",
                                             "grains", "sweep", "comparison", "convergence"),
                        default="auto")  # fmt: skip
    parser.add_argument("--x")
    parser.add_argument("--y", action="append", default=[])
    parser.add_argument("--title")
    parser.add_argument("--label", action="append", default=[])
    parser.add_argument("--quiet", action="store_true")
    parser.add_argument("--compare", choices=("auto", "yes", "no"), default="auto")
    return parser.parse_args(arguments)


def _labelled(runs, labels):
    if labels and len(labels) != len(runs):
        raise PlotError(f"{len(labels)} labels for {len(runs)} runs: expected one each")
    return list(zip(map(plain, labels) if labels else run_labels(runs), runs))


def _what(options):
    """The figure that suits the first folder where none is asked for."""
    first = options.runs[0]
    if options.what != "auto":
        return options.what
    if is_sweep(first):
        return "sweep"
    if is_comparison(first):
        return "comparison"
    if has_rows(first, "shape.csv"):
        return "shape"
    if options.x or options.y:
        return "columns"
    if has_rows(first, "grains.csv"):
        return "grains"
    tables = (("forces", "forces.csv"), ("holds", "holds.csv"), ("roots", "roots.csv"))
    return next((what for what, table in tables if has_rows(first, table)), "forces")


def _drawer(options, runs):
    """The function that draws what is asked for, given the runs and a title."""
    from tresse_plot import figures, sweeps

    what = _what(options)
    if (options.x or options.y) and what not in ("columns", "sweep"):
        raise PlotError(f"--what {what}: found --x or --y beside it; they choose columns, expected one or the other")
    if what == "sweep":
        return functools.partial(sweeps.sweep, x=options.x, y=options.y)
    if what == "comparison":
        from tresse_plot.comparison import comparison

        return comparison
    if what == "grains":
        from tresse_plot.grains import grains

        return grains
    if what == "columns":
        if not options.y:
            raise PlotError("--x: found no --y beside it; expected the columns to draw")
        return functools.partial(figures.columns, x=options.x or "time", y=options.y)
    comparing = {"forces": figures.compare, "holds": figures.compare_holds, "roots": figures.compare_roots}
    if what in comparing and (options.compare == "yes" or (options.compare == "auto" and len(runs) == 2)):
        return comparing[what]
    return getattr(figures, what)


def _write(figure, output):
    """Complete or not at all."""
    from tresse_plot import style

    buffer = io.BytesIO()
    style.save(figure, buffer, pathlib.Path(output).suffix.lower()[1:])
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
        from tresse_plot import style
    except ImportError as error:
        raise PlotError(f"plots need matplotlib ({error}): install python3-matplotlib") from error
    style.for_files()
    draw = _drawer(options, runs)
    try:
        _write(draw(runs, title=options.title and plain(options.title)), options.output)
    except (ArithmeticError, LookupError, ValueError) as error:
        raise PlotError(f"{runs[0][1]}: its numbers cannot be drawn: {' '.join(str(error).split())}") from error


def main(arguments):
    others = warnings.showwarning

    def show(message, category, *where):
        if category is not LeftOut:
            others(message, category, *where)
        elif "--quiet" not in arguments:
            print(f"tresse: {message}", file=sys.stderr)

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("always", LeftOut)
            warnings.showwarning = show
            run(arguments)
    except PlotError as error:
        print(f"tresse: {error}", file=sys.stderr)
        return 2
    return 0
