"""What the pictures share: colours that colour-blind readers can tell apart, labelled axes, one way to save."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np

mpl.use("Agg")
import matplotlib.pyplot as plt

from mklcvx.io.writing import write_whole

# Okabe and Ito's colours, each with a marker of its own.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#7F7F7F")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
LINES = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)))


def style(index: int) -> dict[str, Any]:
    i = index % len(COLOURS)
    return {"color": COLOURS[i], "marker": MARKERS[i], "markersize": 4, "linewidth": 1.4}


@contextmanager
def panels(path: Path, count: int, height: float = 3.4, width: float = 4.4) -> Iterator[list[Any]]:
    """Axes side by side, saved as a small PNG when they are drawn."""
    path.parent.mkdir(parents=True, exist_ok=True)
    figure, axes = plt.subplots(1, count, figsize=(width * count, height), squeeze=False)
    try:
        yield list(axes[0])
        for axis in axes[0]:
            axis.grid(alpha=0.25)
            if axis.get_legend_handles_labels()[1]:
                axis.legend(fontsize=7, frameon=False, handlelength=4)
        figure.tight_layout()
        write_whole(path, lambda file: figure.savefig(file, dpi=110, format="png"))
    finally:
        plt.close(figure)


def label(axis: Any, title: str, x: str, y: str, log: str = "") -> None:
    axis.set_title(title, fontsize=9)
    axis.set_xlabel(x, fontsize=8)
    axis.set_ylabel(y, fontsize=8)
    axis.tick_params(labelsize=7)
    drawn = [line.get_ydata() for line in axis.get_lines()]
    if "x" in log:
        axis.set_xscale("log")
    if "y" in log and any((values > 0).any() for values in map(np.asarray, drawn)):
        axis.set_yscale("log")


def line(index: int) -> dict[str, Any]:
    """A line that differs from its neighbours without colours too: by marker and by dashes."""
    return {**style(index), "linestyle": LINES[index % len(LINES)]}


def legend(axis: Any, names: Sequence[str]) -> None:
    """The names of the lines in a panel of their own, where they cover nothing."""
    for index, name in enumerate(names):
        axis.plot([], [], label=name, **line(index))
    axis.set_axis_off()


def ticks(axis: Any, sizes: Sequence[float]) -> None:
    """The sizes themselves on a logarithmic axis."""
    axis.set_xticks(sizes, [f"{size:g}" for size in sizes])
    axis.set_xticks([], minor=True)
