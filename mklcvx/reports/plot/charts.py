"""Charts: kernel weights as bars, optimality conditions of the samples, certified gaps, weights along a parameter,
predictions beside what was observed.

The optimality conditions are α against the margin. At the optimum every sample lies on a staircase: α = 0 beyond the
level, anything between 0 and C at it, α = C short of it. The level is 1, or ρ for loss nu. Of any loss the staircase is
minus its slope; for real targets it stands over the residuals.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...certificate.residuals import sample_side
from ...certificate.run import Row
from ...certificate.solution import Solution
from ...errors import InputError
from ...formulations.losses import COUNTS, LABELS, NONE, REAL, Loss
from ...problem.checks import check_type
from ...problem.instance import Instance
from ...problem.numbers import as_real_array
from ...solvers.paths import RegularizationPath
from ._style import COLOURS, FAINT, HATCH, INK, PAPER, axes, legend, look, name_of_kernels

SMALLEST = 1e-16  # smaller gaps are drawn here: they are beyond double precision
AGAINST = {"iteration": "iterations", "svm_solves": "SVM fits", "seconds": "seconds"}
LINEAR = 10  # iterations before a long axis becomes logarithmic
WIDE = 20.0  # ratio of a parameter's ends from which its axis is logarithmic
SEEN = 1e-6  # of the largest weight: kernels that never exceed it are drawn faintly, without a name
EDGE = 1e-7  # of C: an interior-point method is this far from 0 and from C
KINDS = (("α = 0", "o", PAPER), ("0 < α < C", "D", COLOURS[0]), ("α = C", "s", COLOURS[1]))
NAMES_OF_REAL = ("α = 0", "α between its bounds", "α at a bound")
AXIS = {LABELS: "margin y f(x)", REAL: "residual y − f(x)", COUNTS: "residual y − exp f(x)", NONE: "f(x)"}
FAR = 10.0  # times the largest weight: ends beyond are arrows
FARTHEST = 1e100  # numbers beyond it are drawn there: what is drawn is subtracted and scaled
FINE = 2000  # points of a staircase that is no pair of lines

Trace = Solution | Sequence[Row]


def weights(
    weights: ArrayLike, names: Sequence[Any] | None = None, ax: Any = None, candidate: ArrayLike | None = None,
    interval: ArrayLike | None = None,
) -> Any:  # fmt: skip
    """Draw one bar per kernel, from top to bottom: filled for `weights`, hatched for the `candidate`, with a line for
    each `interval` (M, 2). A weight that is NaN is marked as undefined, and an end that is infinite is an arrow."""
    exact = _numbers("weights", weights)
    given = None if candidate is None else _numbers("candidate", candidate)
    if given is not None and len(given) != len(exact):
        raise InputError(f"candidate has {len(given)} weights for {len(exact)} kernels: give one per kernel")
    labels, rows = name_of_kernels(names, len(exact)), np.arange(len(exact), dtype=np.float64)
    room, height, shift = (0.28, 0.7, 0.0) if given is None else (0.42, 0.38, 0.2)
    ax = axes(ax, (5.6, 1.2 + room * len(exact)))
    filled = _bars(ax, rows - shift, exact, height, color=COLOURS[0], edgecolor=INK)
    if interval is not None:
        ends = as_real_array(interval, "interval", "two ends for each kernel")
        _intervals(ax, rows - shift, ends, float(np.nanmax(exact, initial=0.0)))
    if given is not None:
        hatched = _bars(ax, rows + shift, given, height, color=PAPER, edgecolor=INK, hatch=HATCH)
        legend(ax, [filled, hatched], ["exact", "candidate"])
    ax.axvline(0.0, color=INK, linewidth=0.8)
    ax.set_yticks(rows, labels, parse_math=False)
    ax.set(ylim=(len(exact) - 0.5, -0.5), xlabel="kernel weight")
    return ax


def _intervals(ax: Any, rows: NDArray[Any], ends: NDArray[Any], largest: float) -> None:
    if ends.shape != (len(rows), 2) or np.isnan(ends).any():
        raise InputError(f"interval of shape {ends.shape}: give two ends for each of {len(rows)} kernels")
    finite = ends[np.isfinite(ends) & (ends <= FAR * largest)]
    farthest = 1.1 * max(float(finite.max(initial=0.0)), largest)
    for row, (low, high) in zip(rows, ends, strict=True):
        end, marker = (farthest, ">") if high > farthest else (high, "|")
        ax.plot([low, end], [row, row], color=INK, linewidth=1.6, solid_capstyle="butt")
        ax.plot([low], [row], color=INK, marker="|", markersize=6)
        ax.plot([end], [row], color=INK, marker=marker, markersize=6)


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
    the conditions require; for real targets against y − f(x), for counts against y − exp f(x). The instance is the one
    that was solved, after any preprocessing."""
    samples = sample_side(instance, solution)
    margins, shares = (np.clip(values.ravel(), -FARTHEST, FARTHEST) for values in (samples.margins, samples.shares))
    loss = samples.loss
    if loss is None:
        name = solution.parameters["loss"]
        raise InputError(f"kkt: loss {name} compares the outputs of a sample, which has no margin: draw another loss")
    ax, level, real = axes(ax), samples.level, loss.targets in (REAL, COUNTS)
    least = 0.3 * (abs(level) or 1.0)  # on either side, so that rounding errors are not magnified
    low, high = np.nanmin(margins, initial=level - least), np.nanmax(margins, initial=level + least)
    room = 0.06 * (high - low)
    x, y = _staircase(loss, low - room, level, high + room)
    ax.plot(x, y, color=FAINT, linewidth=4, alpha=0.5, solid_capstyle="butt", zorder=1)
    smallest, largest = (ends[0] for ends in loss.bounds(np.zeros(1), np.ones(1)))
    if loss.targets == COUNTS:  # whose bounds no sample reaches
        smallest, largest = -np.inf, np.inf
    zero, bound = np.abs(shares) <= EDGE, (shares <= min(smallest, -EDGE) + EDGE) | (shares >= largest - EDGE)
    handles, names = [], []
    named = (
        NAMES_OF_REAL if real else [name if np.isfinite(largest) else name.removesuffix(" < C") for name, *_ in KINDS]
    )
    kinds = zip((zero, ~zero & ~bound, ~zero & bound), named, KINDS, strict=True)
    for chosen, name, (_, marker, color) in kinds:
        if chosen.any():
            dots = {"linestyle": "none", "marker": marker, "markersize": 5, "markerfacecolor": color}
            handles += ax.plot(margins[chosen], shares[chosen], markeredgecolor=INK, markeredgewidth=0.7, **dots)
            names.append(f"{name}: {int(np.sum(chosen))}")
    bottom, top = np.nanmin(shares, initial=y.min()), np.nanmax(shares, initial=y.max())
    ends = bottom - 0.08 * (top - bottom), top + 0.08 * (top - bottom)
    ax.set(xlim=(low - room, high + room), ylim=ends, xlabel=AXIS[loss.targets])
    ax.set_ylabel("α / C")
    legend(ax, handles, names)
    return ax


def _staircase(loss: Loss, low: float, level: float, high: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """α/C over margins or residuals: one step where the gain is linear, else minus the slope of the loss, by fine
    differences."""
    if loss.targets == COUNTS:  # α/C is the residual
        return np.array([low, high]), np.array([low, high])
    if loss.targets != REAL and not loss.curvature(np.full(1, 0.5), np.ones(1), np.ones(1)).any():
        return np.array([low, level, level, high]), np.array([1.0, 1.0, 0.0, 0.0])
    x, step = np.linspace(low, high, FINE, retstep=True)
    z, y = (-x, np.zeros(FINE)) if loss.targets == REAL else (x, np.ones(FINE))
    rho = level if loss.level_name else 0.0
    below, above = (loss.value(z + shift, y, np.ones(FINE), rho) for shift in (-step / 4, step / 4))
    return x, (below - above) / (step / 2)


# ------------------------------------------------------------------------------------------------------- regression
def predictions(observed: ArrayLike, predicted: ArrayLike, ax: Any = None) -> Any:
    """Draw predicted values against observed ones, one mark for each sample; on the line they are equal."""
    x, y = _pairs(observed, predicted)
    own, ax = ax is None, axes(ax, (4.4, 4.0))
    low, high = min(x.min(), y.min()), max(x.max(), y.max())
    room = 0.05 * ((high - low) or 1.0)
    ends = low - room, high + room
    ax.plot(ends, ends, color=FAINT, linewidth=1.2, zorder=1)
    _marks(ax, x, y, own)
    ax.set(xlim=ends, ylim=ends, xlabel="observed", ylabel="predicted")
    return ax


def residuals(observed: ArrayLike, predicted: ArrayLike, ax: Any = None) -> Any:
    """Draw the residuals, observed less predicted, against the predicted values, one mark for each sample."""
    x, y = _pairs(observed, predicted)
    own, ax = ax is None, axes(ax)
    ax.axhline(0.0, color=FAINT, linewidth=1.2, zorder=1)
    _marks(ax, y, x - y, own)
    ax.set(xlabel="predicted", ylabel="observed − predicted")
    return ax


def _marks(ax: Any, x: NDArray[np.float64], y: NDArray[np.float64], own: bool) -> None:
    columns = (x[:, None], y[:, None]) if x.ndim == 1 else (x, y)
    handles = []
    for index, (across, up) in enumerate(zip(columns[0].T, columns[1].T, strict=True)):
        style = {**look(index), "linestyle": "none", "markersize": 4, "markeredgecolor": INK, "markeredgewidth": 0.5}
        handles += ax.plot(across, up, **style)
    if len(handles) > 1:
        legend(ax, handles, [f"output {index + 1}" for index in range(len(handles))], own)


def _pairs(observed: ArrayLike, predicted: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    x, y = np.asarray(observed), np.asarray(predicted)
    numbers = x.dtype.kind in "biuf" and y.dtype.kind in "biuf" and np.isfinite(x).all() and np.isfinite(y).all()
    if not numbers or x.shape != y.shape or x.ndim not in (1, 2) or not x.size:
        words = "give finite numbers of one shape, (t,) or (t, k)"
        raise InputError(f"observed of shape {x.shape}, predicted of shape {y.shape}: {words}")
    return x.astype(float), y.astype(float)


def gaps(traces: Mapping[str, Trace] | Trace, ax: Any = None, against: str = "iteration") -> Any:
    """Draw the certified relative gap on a logarithmic axis, one line for each solver.

    `traces` maps names to solutions, or to their traces. A solver without a trace is a dotted line at its final gap.
    `against` is "iteration", "svm_solves" or "seconds"; solvers that fit no SVMs have no line over `svm_solves`.
    """
    if not isinstance(against, str) or against not in AGAINST:
        raise InputError(f"against = {against!r:.40} is unknown: give one of {', '.join(AGAINST)}")
    own, ax, handles, shown, ends = ax is None, axes(ax), [], [], [0.0]
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
    legend(ax, handles, shown, own)
    return ax


def as_named(traces: Mapping[str, Trace] | Trace) -> dict[str, Trace]:
    """Return traces by name; a single solution is named after its solver."""
    alone = traces.solver if isinstance(traces, Solution) else "trace"
    named = dict(traces) if isinstance(traces, Mapping) else {alone: traces}
    if not named:
        raise InputError("traces: there is none: give at least one solution")
    for name, trace in named.items():
        rows = trace if isinstance(trace, list | tuple) else []
        if not isinstance(trace, Solution) and not (rows and all(isinstance(row, Row) for row in rows)):
            raise InputError(f"trace {name!r}: neither a solution nor rows of a trace: give one of them")
    return named


def rows_of(trace: Trace) -> list[Row]:
    return list(trace.trace if isinstance(trace, Solution) else trace)


def path(path: RegularizationPath, parameter: str, ax: Any = None) -> Any:
    """Draw kernel weights along a parameter such as C, θ or p; kernels that are never used are faint and unnamed. Of
    several machines the mean is drawn."""
    check_type(RegularizationPath, "what solve_path returned", path=path)
    check_type(str, "the name of one", parameter=parameter)
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
    weights = path.weights if path.weights.ndim == 2 else path.weights.mean(axis=1)
    x, heights, names = x[order], weights[order], path.solutions[0].names
    handles: list[Any] = []
    own, ax, shown = ax is None, axes(ax), []
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
    legend(ax, handles, shown, own)
    return ax
