"""Charts of what was found about single kernels: held-out scores, weights of resamples, and weights of every class.

Kernels go from top to bottom as in `weights`. A mark is a mean, its line one standard deviation on either side: over
folds for scores, over bootstrap samples for weights.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...errors import InputError
from ..importance import KernelImportance
from ._style import COLOURS, FAINT, INK, PAPER, axes, legend, name_of_kernels, words

Array = NDArray[np.float64]
DROPS = (("drop_without", "left out", "o", COLOURS[0]), ("drop_permuted", "permuted", "s", COLOURS[1]))
ROOM, MARGIN = 0.28, 1.4  # inches for a kernel, and for axis and legend
CELL, WIDEST = 0.3, 9.0  # inches of a cell of the heat map, and of its widest figure
FEW = 60  # cells in which the weights are written
COLOUR_MAP, LEVELS = "cividis", 16  # its lightness grows evenly: readable in grey, and by the colour-blind
LIGHT = 0.55  # share of the largest weight from which on a cell is light, and its text dark
DARK_TEXT, LIGHT_TEXT = "#101010", "#f0f0f0"  # on the colours of cells, whatever the page's are


def importance(importance: KernelImportance, ax: Any = None) -> Any:
    """Draw by how much the held-out score drops if a kernel is left out, and if the test samples' rows of it are
    permuted."""
    columns = importance.columns
    drops = [drop for drop in DROPS if drop[0] in columns]
    if not drops:
        raise InputError("importance: nothing was left out or permuted: ask for answers=['without', 'permuted']")
    ax, handles = _rows(importance, ax), []
    for (name, _, marker, colour), shift in zip(drops, (-0.15, 0.15) if len(drops) > 1 else (0.0,), strict=True):
        handles.append(_marks(ax, columns[name], columns[f"{name}_std"], shift, marker, colour))
    ax.axvline(0.0, color=INK, linewidth=0.8)
    ax.set(xlabel=f"drop in {importance.scoring}, held out")
    legend(ax, handles, [label for _, label, _, _ in drops])
    return ax


def alone(importance: KernelImportance, ax: Any = None) -> Any:
    """Draw the held-out score of each kernel alone, beside that of all kernels, a line with its standard deviation."""
    if importance.alone is None or importance.scores is None:
        raise InputError("alone: no kernel was fitted alone: ask for answers=['alone']")
    ax, mean, spread = _rows(importance, ax), importance.scores.mean(), importance.scores.std()
    handles = [_marks(ax, importance.columns["alone"], importance.columns["alone_std"], 0.0, "o", COLOURS[0])]
    ax.axvspan(mean - spread, mean + spread, color=FAINT, alpha=0.25, linewidth=0)
    handles.append(ax.axvline(mean, color=COLOURS[1], linestyle="--", linewidth=1.3))
    ax.set(xlabel=f"{importance.scoring}, held out")
    legend(ax, handles, ["one kernel alone", "all kernels"])
    return ax


def stability(importance: KernelImportance, ax: Any = None) -> Any:
    """Draw the weights of all resamples as dots, their mean and standard deviation, the weight of the fit on all
    samples as an open diamond, and how often a kernel is selected. Of several machines it is the mean weight."""
    if importance.resampled is None:
        raise InputError("stability: weights were not resampled: ask for answers=['stability']")
    ax, columns, rows = _rows(importance, ax), importance.columns, np.arange(len(importance.names))
    weights = importance.resampled.mean(axis=1)
    dots = {"linestyle": "none", "marker": ".", "markersize": 4, "color": FAINT, "alpha": 0.6}
    handles = ax.plot(weights.ravel(), np.tile(rows + 0.22, len(weights)), **dots)
    handles.append(_marks(ax, columns["resampled"], columns["resampled_std"], -0.05, "o", COLOURS[0]))
    diamond = {"linestyle": "none", "marker": "D", "markersize": 6, "markerfacecolor": "none", "markeredgecolor": INK}
    handles += ax.plot(columns["weight"], rows - 0.05, **diamond)
    ax.axvline(0.0, color=INK, linewidth=0.8)
    right = ax.secondary_yaxis("right")
    right.set_yticks(rows, [f"{share:.0%}" for share in columns["selected"]])
    right.tick_params(length=0)
    right.set_ylabel("selected")
    ax.set(xlabel="share of the weights")
    legend(ax, handles, ["a resample", "mean and deviation", "all samples"])
    return ax


def classes(
    weights: ArrayLike | KernelImportance, names: Sequence[Any] | None = None, machines: Sequence[Any] | None = None,
    ax: Any = None,
) -> Any:  # fmt: skip
    """Draw the weights of every machine, such as a class against the rest, as a heat map: machines from top to bottom,
    kernels from left to right. `weights` has one row for each machine, or is what `kernel_importance` returned."""
    if isinstance(weights, KernelImportance):
        names, machines, weights = weights.names, weights.machines, weights.weights
    heights = _heights(weights)
    rows, columns = heights.shape
    if machines is not None and len(machines) != rows:
        raise InputError(f"machines: {len(machines)} names for {rows} rows of weights: give one per row")
    labels = name_of_kernels(names, columns)
    size = min(WIDEST, 2.6 + max(CELL, 0.45 if heights.size <= FEW else 0.0) * columns)
    ax = axes(ax, (size, 1.5 + CELL * rows))
    import matplotlib

    largest = float(np.nanmax(heights, initial=0.0)) or 1.0
    colours = matplotlib.colormaps[COLOUR_MAP].resampled(LEVELS)
    drawn = ax.pcolormesh(heights, cmap=colours, vmin=0.0, vmax=largest, edgecolors=PAPER, linewidth=0.5)
    if heights.size <= FEW:
        for (row, column), height in np.ndenumerate(heights):
            ink = DARK_TEXT if height > LIGHT * largest else LIGHT_TEXT
            text = "–" if np.isnan(height) else f"{height:.2f}"
            ax.text(column + 0.5, row + 0.5, text, ha="center", va="center", fontsize="x-small", color=ink)
    small = "small" if max(rows, columns) <= 16 else "x-small"
    slant = {"rotation": 45, "ha": "right", "rotation_mode": "anchor"} if columns <= 16 else {"rotation": 90}
    steep = slant if max(map(len, labels)) > 4 else {}
    ax.set_xticks(np.arange(columns) + 0.5, labels, parse_math=False, fontsize=small, **steep)
    shown = [words(name) for name in (machines if machines is not None else range(1, rows + 1))]
    ax.set_yticks(np.arange(rows) + 0.5, shown, parse_math=False, fontsize=small)
    ax.set(xlim=(0, columns), ylim=(rows, 0))
    ax.tick_params(length=0)
    ax.figure.colorbar(drawn, ax=ax, label="kernel weight")
    return ax


def _heights(weights: ArrayLike) -> Array:
    try:
        heights = np.atleast_2d(np.asarray(weights, dtype=float))
    except (TypeError, ValueError):
        heights = np.empty(0)
    if heights.ndim != 2 or not heights.size or np.isinf(heights).any():
        raise InputError("classes: weights are no table of finite numbers: give one row for each machine")
    return heights


def _rows(importance: KernelImportance, ax: Any) -> Any:
    """Return axes with one row for each kernel."""
    count = len(importance.names)
    ax = axes(ax, (5.6, MARGIN + ROOM * count))
    ax.set_yticks(np.arange(count), name_of_kernels(importance.names, count), parse_math=False)
    ax.set(ylim=(count - 0.5, -0.5))
    ax.grid(True, axis="y", color=FAINT, alpha=0.3, linewidth=0.5)
    ax.set_axisbelow(True)
    return ax


def _marks(ax: Any, mean: Array, spread: Array, shift: float, marker: str, colour: str) -> Any:
    look = {"color": colour, "marker": marker, "markersize": 5, "markeredgecolor": INK, "markeredgewidth": 0.6}
    return ax.errorbar(mean, np.arange(len(mean)) + shift, xerr=spread, linestyle="none", elinewidth=1.4, **look)
