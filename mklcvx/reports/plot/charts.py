"""Charts: kernel weights as bars, optimality conditions of the samples, certified gaps, weights along a parameter.

The optimality conditions are α against the margin. At the optimum every sample lies on a staircase: α = 0 beyond the
level, anything between 0 and C at it, α = C short of it. The level is 1, or ρ for loss nu.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...certificate.residuals import sample_side
from ...certificate.run import Row
from ...certificate.solution import Solution
from ...errors import InputError
from ...problem.instance import Instance
from ._style import COLOURS, FAINT, HATCH, INK, PAPER, axes, legend, look, name_of_kernels

if TYPE_CHECKING:
    from ...solvers.paths import RegularizationPath

SMALLEST = 1e-16  # smaller gaps are drawn here: they are beyond double precision
AGAINST = {"iteration": "iterations", "svm_solves": "SVM fits", "seconds": "seconds"}
LINEAR = 10  # iterations before a long axis becomes logarithmic
WIDE = 20.0  # ratio of a parameter's ends from which its axis is logarithmic
SEEN = 1e-6  # of the largest weight: kernels that never exceed it are drawn faintly, without a name
EDGE = 1e-7  # of C: an interior-point method is this far from 0 and from C
KINDS = (("α = 0", "o", PAPER), ("0 < α < C", "D", COLOURS[0]), ("α = C", "s", COLOURS[1]))

Trace = Solution | Sequence[Row]


def weights(
    weights: ArrayLike, names: Sequence[Any] | None = None, ax: Any = None, candidate: ArrayLike | None = None
) -> Any:
    """Draw one bar per kernel, from top to bottom: filled for `weights`, hatched for the `candidate`. A weight that is
    NaN is marked as undefined."""
    exact = _numbers("weights", weights)
    given = None if candidate is None else _numbers("candidate", candidate)
    if given is not None and len(given) != len(exact):
        raise InputError(f"candidate has {len(given)} weights for {len(exact)} kernels: give one per kernel")
    labels, rows = name_of_kernels(names, len(exact)), np.arange(len(exact), dtype=np.float64)
    room, height, shift = (0.28, 0.7, 0.0) if given is None else (0.42, 0.38, 0.2)
    ax = axes(ax, (5.6, 1.2 + room * len(exact)))
    filled = _bars(ax, rows - shift, exact, height, color=COLOURS[0], edgecolor=INK)
    if given is not None:
        hatched = _bars(ax, rows + shift, given, height, color=PAPER, edgecolor=INK, hatch=HATCH)
        legend(ax, [filled, hatched], ["exact", "candidate"], loc="best")
    ax.axvline(0.0, color=INK, linewidth=0.8)
    ax.set_yticks(rows, labels, parse_math=False)
    ax.set(ylim=(len(exact) - 0.5, -0.5), xlabel="kernel weight")
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


def kkt(instance: Instance, solution: Solution, ax: Any = None) -> Any:
    """Draw α/C against y f(x) for every sample (and label), marked as 0, free or at the bound, over the staircase that
    the conditions require. The instance is the one that was solved, after any preprocessing."""
    samples = sample_side(instance, solution)
    margins, shares = samples.margins.ravel(), samples.shares.ravel()
    ax, level = axes(ax), samples.level
    least = 0.3 * (abs(level) or 1.0)  # on either side, so that rounding errors are not magnified
    low, high = min(margins.min(), level - least), max(margins.max(), level + least)
    room = 0.06 * (high - low)
    stairs = [low - room, level, level, high + room], [1.0, 1.0, 0.0, 0.0]
    ax.plot(*stairs, color=FAINT, linewidth=4, alpha=0.5, solid_capstyle="butt", zorder=1)
    free = (shares > EDGE) & (shares < 1 - EDGE)
    handles, names = [], []
    for chosen, (name, marker, color) in zip((shares <= EDGE, free, shares >= 1 - EDGE), KINDS, strict=True):
        if chosen.any():
            dots = {"linestyle": "none", "marker": marker, "markersize": 5, "markerfacecolor": color}
            handles += ax.plot(margins[chosen], shares[chosen], markeredgecolor=INK, markeredgewidth=0.7, **dots)
            names.append(f"{name}: {int(np.sum(chosen))}")
    ax.set(xlim=(low - room, high + room), ylim=(-0.08, 1.08), xlabel="margin y f(x)", ylabel="α / C")
    legend(ax, handles, names, loc="best")
    return ax


def gaps(traces: Mapping[str, Trace] | Trace, ax: Any = None, against: str = "iteration") -> Any:
    """Draw the certified relative gap on a logarithmic axis, one line for each solver.

    `traces` maps names to solutions, or to their traces. A solver without a trace is a dotted line at its final gap.
    `against` is "iteration", "svm_solves" or "seconds"; solvers that fit no SVMs have no line over `svm_solves`.
    """
    if against not in AGAINST:
        raise InputError(f"against = {against!r} is unknown: give one of {', '.join(AGAINST)}")
    ax, handles, shown, ends = axes(ax), [], [], [0.0]
    for index, (name, trace) in enumerate(as_named(traces).items()):
        rows, style = rows_of(trace), look(index)
        if against == "svm_solves" and not (rows and rows[-1].svm_solves):
            continue
        shown.append(name)
        if rows:
            x = np.array([getattr(row, against) for row in rows], dtype=float)
            y = np.maximum([row.gap for row in rows], SMALLEST)
            handles += ax.plot(x, y, **style, markersize=4, markevery=max(1, len(rows) // 12), linewidth=1.3)
            ends.append(float(x[-1]))
        elif isinstance(trace, Solution):
            level = max(trace.certificate.relative_gap, SMALLEST)
            handles.append(ax.axhline(level, color=style["color"], linestyle=(0, (1, 3)), linewidth=1.3))
    ax.set_yscale("log")
    if against != "seconds" and max(ends) > 10 * LINEAR:
        ax.set_xscale("symlog", linthresh=LINEAR)
    ax.set_xlim(left=0)
    ax.set(xlabel=AGAINST[against], ylabel="certified relative gap")
    ax.grid(True, color=FAINT, alpha=0.3, linewidth=0.5)
    legend(ax, handles, shown)
    return ax


def as_named(traces: Mapping[str, Trace] | Trace) -> dict[str, Trace]:
    """Return traces by name; a single solution is named after its solver."""
    alone = traces.solver if isinstance(traces, Solution) else "trace"
    named = dict(traces) if isinstance(traces, Mapping) else {alone: traces}
    if not named:
        raise InputError("traces: there is none: give at least one solution")
    for name, trace in named.items():
        if not isinstance(trace, Solution) and not (len(trace) and all(isinstance(row, Row) for row in trace)):
            raise InputError(f"trace {name!r}: neither a solution nor rows of a trace: give one of them")
    return named


def rows_of(trace: Trace) -> list[Row]:
    return list(trace.trace if isinstance(trace, Solution) else trace)


def path(path: RegularizationPath, parameter: str, ax: Any = None) -> Any:
    """Draw kernel weights along a parameter such as C, θ or p; kernels that are never used are faint and unnamed."""
    if not path.solutions or parameter not in path.solutions[0].parameters:
        known = ", ".join(path.grid[0]) if path.grid else "no parameter"
        raise InputError(f"parameter {parameter!r}: the path does not have it, it runs along {known}: name that")
    others = [name for name in path.grid[0] if name != parameter and len({point[name] for point in path.grid}) > 1]
    if others:
        raise InputError(f"path: {', '.join(others)} varies too: give a path along {parameter} alone")
    try:
        x = np.asarray(path.values(parameter), dtype=float)
    except (TypeError, ValueError):
        raise InputError(f"parameter {parameter!r}: its values are no numbers: name one that has some") from None
    order = np.argsort(x, kind="stable")
    x, heights, names = x[order], path.weights[order], path.solutions[0].names
    handles: list[Any] = []
    ax, shown = axes(ax), []
    largest = np.nanmax(heights, initial=0.0)
    for m, name in enumerate(names):
        if np.nanmax(heights[:, m], initial=0.0) <= SEEN * largest:
            ax.plot(x, heights[:, m], color=FAINT, linewidth=0.6)
            continue
        handles += ax.plot(x, heights[:, m], **look(len(handles)), markersize=4, linewidth=1.3)
        shown.append(name)
    if x[0] > 0 and x[-1] >= WIDE * x[0]:
        ax.set_xscale("log")
    ax.axhline(0.0, color=INK, linewidth=0.6)
    ax.set(xlabel={"theta": "θ", "nu": "ν", "lam": "λ"}.get(parameter, parameter), ylabel="kernel weight")
    legend(ax, handles, shown)
    return ax
