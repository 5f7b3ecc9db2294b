"""The value over the weights of two kernels with its cutting planes, and of three kernels over the simplex.

**Two kernels**: column generation step by step. Every α found is a plane below the value, and the master descends to
the lowest point of the highest planes.

    V(μ) = max over α of Σ_m μ_m S_m(α),      S_m(α) = gain(α) − ½ q_m(α)

is convex in μ, and on μ = (t, 1 − t) each α_k gives a straight line that touches it where α_k was found.

**Three kernels**: a point μ of the simplex is drawn at Σ_m μ_m v_m with v_1, v_2, v_3 the corners of a triangle. Its
value is what the best classifier with these weights costs (`verify` judges weights by the same number); for a maximum,
what the weights prove. Where the domain is a ball, a point of the triangle stands for the weights in its direction on
the boundary.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ... import formulations
from ...errors import InputError
from ...problem.instance import Instance
from ...verification.answers import Answer
from ._style import COLOURS, FAINT, INK, LINES, axes, legend, look, words
from .charts import Trace, as_named, rows_of

Array = NDArray[np.float64]
SVM_TOLERANCE = 1e-8  # of the cutting planes' SVMs
CORNERS = np.array([[0.0, 0.0], [1.0, 0.0], [0.5, np.sqrt(0.75)]])
FINE = 1e-6
LEVELS = 10


def cutting_planes(
    instance: Instance, formulation: str = "l1", steps: int = 4, ax: Any = None, resolution: int = 60, **parameters: Any
) -> Any:
    """Draw the state of SILP after `steps` cuts: the value over the weights of two kernels, the planes found so far and
    their numbers, their upper envelope, which the master minimises, and its iterates. Draw steps = 1, 2, 3 … on
    separate axes to see the algorithm at work."""
    from ...formulations import _silp
    from ...solvers.driver import Problem
    from ...solvers.published.silp import SILP
    from ...solvers.svm import fit

    chosen = formulations.get(formulation)
    if formulation not in SILP.serves:
        raise InputError(f"cutting_planes: {formulation} has none: choose one of {', '.join(SILP.serves)}")
    if instance.count != 2:
        raise InputError(f"cutting_planes: the instance has {instance.count} kernels: select two")
    if steps < 1:
        raise InputError(f"steps = {steps} is below 1: give the number of cuts")
    task, _ = chosen.task(instance, parameters)
    problem, cap = Problem(chosen, task, SVM_TOLERANCE), min(1.0, _silp.cap(task.own))
    algorithm = SILP()
    state = algorithm.start(problem)
    visited = [float(state.weights[0])]
    while len(state.rows) < steps and not state.stop_reason:
        state = algorithm.step(problem, state)
        visited.append(float(state.weights[0]))
    t = np.linspace(1 - cap, cap, resolution)
    value = np.array([fit(problem, np.array([share, 1 - share])).value for share in t])
    rows = np.stack(state.rows)
    return _draw(axes(ax), t, value, rows, np.array(visited[: len(rows)]), words(instance.names[0]))


def _draw(ax: Any, t: Array, value: Array, rows: Array, visited: Array, name: str) -> Any:
    planes = rows[:, :1] * t + rows[:, 1:] * (1 - t)
    envelope = planes.max(axis=0)
    handles = ax.plot(t, value, color=INK, linewidth=2)
    for index, plane in enumerate(planes):
        ax.plot(t, plane, color=FAINT, linestyle=LINES[1 + index % 3], linewidth=1)
    handles += ax.plot(t, envelope, color=COLOURS[0], linestyle="--", linewidth=2)
    heights = rows[:, 0] * visited + rows[:, 1] * (1 - visited)  # where a plane was found it touches the value
    dots = {"linestyle": "none", "marker": "o", "markerfacecolor": COLOURS[1], "markeredgecolor": INK}
    handles += ax.plot(visited, heights, clip_on=False, zorder=3, **dots)
    for number, place in enumerate(zip(visited, heights, strict=True), start=1):
        ax.annotate(str(number), place, xytext=(0, 6), textcoords="offset points", ha="center", fontsize="small")
    spread = float(np.ptp(value)) or 1.0
    low, high = min(envelope.min(), value.min()) - 0.15 * spread, value.max() + 0.15 * spread
    ax.set(ylim=(low, high), xlim=(t[0], t[-1]), ylabel="value")
    ax.set_xlabel(f"weight of {name}", parse_math=False)
    legend(ax, handles, ["value V(μ)", "highest plane", "SVM solved here"])
    return ax


def landscape(
    instance: Instance,
    formulation: str,
    trace: Mapping[str, Trace] | Trace | None = None,
    ax: Any = None,
    resolution: int = 20,
    **parameters: Any,
) -> Any:
    """Draw contours of the value over the simplex of three kernels, the optimum as a star, and the weights of one
    trace, or of several by name. This solves (resolution + 1)(resolution + 2)/2 SVMs."""
    from ...verification.case import pose

    if instance.count != 3:
        raise InputError(f"landscape: the instance has {instance.count} kernels: select three")
    if resolution < 2:
        raise InputError(f"resolution = {resolution} is below 2: give the number of steps along an edge")
    case = pose(instance, formulation, parameters, FINE)
    grid = np.array([(i, j, resolution - i - j) for i in range(resolution + 1) for j in range(resolution + 1 - i)])
    points = grid / resolution
    values = np.array([_value(case, point) for point in points])
    ax = axes(ax, (5.0, 4.3))
    _triangle(ax, instance)
    _contours(ax, points @ CORNERS, values)
    handles, names = [], []
    for index, (name, run) in enumerate({} if trace is None else as_named(trace).items()):
        way = np.array([row.weights for row in rows_of(run)])
        if len(way):
            places = way / way.sum(axis=1, keepdims=True) @ CORNERS
            handles += ax.plot(*places.T, **look(index + 1), markersize=4, linewidth=1.2, markerfacecolor="none")
            names.append(name)
    best = case.reference.weights
    place = best / best.sum() @ CORNERS
    handles += ax.plot(*place, linestyle="none", marker="*", markersize=13, color=COLOURS[0], markeredgecolor=INK)
    legend(ax, handles, [*names, "optimum"], loc="upper left")
    return ax


def _value(case: Any, point: Array) -> float:
    """Return the value of weights in this direction; NaN outside the domain."""
    from ...verification.families import proved_parts

    placed = PLACED.get(case.formulation.family)
    feasible = point if placed is None else placed(case, point)
    if feasible is None:
        return float("nan")
    part = next(part for part in proved_parts(case, Answer(weights=feasible)) if part.name == "weights")
    return float("nan") if part.value is None else part.value


def _of_stages(case: Any, point: Array) -> Array:
    if not case.formulation.maximises:
        raise _refused(case.formulation.name)
    return point


def _of_task(case: Any, point: Array) -> Array | None:
    from ...verification.domain import to_boundary

    regulariser, own = case.formulation.regulariser, case.task.own
    if regulariser is None or regulariser.constraint is None or regulariser.alone(case.task.count, **own):
        raise _refused(case.formulation.name)
    if regulariser.constraint.curved:
        return np.asarray(point * to_boundary(regulariser.constraint, own, point))
    return None if regulariser.cap is not None and point.max() > regulariser.cap(**own) * (1 + 1e-9) else point


# Of families that are not in the table, weights lie on the simplex.
PLACED: dict[str, Callable[[Any, Array], Array | None]] = {"single task": _of_task, "two stages": _of_stages}


def _refused(name: str) -> InputError:
    return InputError(
        f"landscape: the weights of {name} lie on no simplex and no ball: choose for example l1, sm1 or l2"
    )


def _triangle(ax: Any, instance: Instance) -> None:
    ax.fill(*CORNERS.T, facecolor="none", edgecolor=INK, linewidth=1)
    for corner, name, offset in zip(CORNERS, instance.names, ((0, -14), (0, -14), (0, 6)), strict=True):
        ax.annotate(
            words(name, 20), corner, xytext=offset, textcoords="offset points", ha="center", parse_math=False,
            annotation_clip=False,
        )  # fmt: skip
    ax.set(aspect="equal", xlim=(-0.12, 1.12), ylim=(-0.1, 0.96))
    ax.set_axis_off()


def _contours(ax: Any, places: Array, values: Array) -> None:
    from matplotlib.tri import Triangulation

    known = np.isfinite(values)
    if known.sum() < 3:
        return
    mesh = Triangulation(*places.T)
    mesh.set_mask(~known[mesh.triangles].all(axis=1))
    filled = np.where(known, values, values[known].max())
    lines = ax.tricontour(mesh, filled, levels=LEVELS, colors=FAINT, linewidths=0.8)
    ax.clabel(lines, fontsize="x-small", fmt="%.4g")
