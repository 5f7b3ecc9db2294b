"""Kernel weights: the exact ones, and somebody's candidate beside them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...errors import InputError
from ._style import COLOURS, HATCH, INK, PAPER, axes, legend, name_of_kernels


def weights(
    weights: ArrayLike, names: Sequence[Any] | None = None, ax: Any = None, candidate: ArrayLike | None = None
) -> Any:
    """One bar per kernel, the first on top; filled for `weights`, hatched for the `candidate`. A weight that is NaN is
    undefined, and said to be."""
    exact = _numbers("weights", weights)
    given = None if candidate is None else _numbers("candidate", candidate)
    if given is not None and len(given) != len(exact):
        raise InputError(f"candidate has {len(given)} weights for {len(exact)} kernels: give one per kernel")
    labels, rows = name_of_kernels(names, len(exact)), np.arange(len(exact), dtype=np.float64)
    pair = given is not None
    ax = axes(ax, (5.6, 1.2 + (0.42 if pair else 0.28) * len(exact)))
    height, shift = (0.38, 0.2) if pair else (0.7, 0.0)
    filled = _bars(ax, rows - shift, exact, height, color=COLOURS[0], edgecolor=INK)
    if given is not None:
        hatched = _bars(ax, rows + shift, given, height, color=PAPER, edgecolor=INK, hatch=HATCH)
        legend(ax, [filled, hatched], ["exact", "candidate"], loc="best")
    ax.axvline(0.0, color=INK, linewidth=0.8)
    ax.set_yticks(rows, labels, parse_math=False)
    ax.set_ylim(len(exact) - 0.5, -0.5)
    ax.set_xlabel("kernel weight")
    return ax


def _bars(ax: Any, rows: NDArray[Any], values: NDArray[np.float64], height: float, **look: Any) -> Any:
    for row in rows[np.isnan(values)]:
        ax.annotate("undefined", (0.0, row), xytext=(4, 0), textcoords="offset points", va="center", fontsize="small")
    return ax.barh(rows, np.nan_to_num(values), height, linewidth=0.8, **look)


def _numbers(name: str, values: ArrayLike) -> NDArray[np.float64]:
    try:
        numbers = np.asarray(values, dtype=float)
    except (TypeError, ValueError):
        raise InputError(f"{name}: no list of numbers: give one per kernel") from None
    if numbers.ndim != 1 or not len(numbers) or np.isinf(numbers).any():
        raise InputError(f"{name} of shape {numbers.shape}: give one finite number per kernel, NaN where undefined")
    return numbers
