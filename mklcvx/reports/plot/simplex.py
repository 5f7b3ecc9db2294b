"""The value over the weights of three kernels, in barycentric coordinates, and the way an algorithm takes through it.

A point μ of the simplex is drawn at Σ_m μ_m v_m with v_1, v_2, v_3 the corners of a triangle. Its value is what the
best classifier with these weights costs (`verify` judges weights by the same number); for a maximum, what the weights
prove. Where the domain is a ball, a point of the triangle stands for the weights in its direction on the boundary.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...errors import InputError
from ...problem.instance import Instance
from ...verification.answers import Answer
from ._style import COLOURS, FAINT, INK, axes, legend, look, words
from .lines import Trace, as_named, rows_of

Array = NDArray[np.float64]
CORNERS = np.array([[0.0, 0.0], [1.0, 0.0], [0.5, np.sqrt(0.75)]])
FINE = 1e-6
LEVELS = 10


def landscape(
    instance: Instance,
    formulation: str,
    trace: Mapping[str, Trace] | Trace | None = None,
    ax: Any = None,
    resolution: int = 20,
    **parameters: Any,
) -> Any:
    """Contours of the value over the simplex of three kernels, the optimum as a star, and the weights of one trace, or
    of several by name. (resolution + 1)(resolution + 2)/2 machines are solved for it."""
    from ...verification.judging import pose

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
    for index, (name, one) in enumerate({} if trace is None else as_named(trace).items()):
        way = np.array([row.weights for row in rows_of(one)])
        if len(way):
            places = way / way.sum(axis=1, keepdims=True) @ CORNERS
            style = look(index + 1)
            handles += ax.plot(*places.T, **style._asdict(), markersize=4, linewidth=1.2, markerfacecolor="none")
            names.append(name)
    best = case.reference.weights
    place = best / best.sum() @ CORNERS
    handles += ax.plot(*place, linestyle="none", marker="*", markersize=13, color=COLOURS[0], markeredgecolor=INK)
    legend(ax, handles, [*names, "optimum"], loc="upper left")
    return ax


def _value(case: Any, point: Array) -> float:
    """What weights in this direction are worth; NaN outside the domain."""
    from ...verification.families import proved_parts

    feasible = _placed(case, point)
    if feasible is None:
        return float("nan")
    part = next(part for part in proved_parts(case, Answer(weights=feasible)) if part.name == "weights")
    return float("nan") if part.value is None else part.value


def _placed(case: Any, point: Array) -> Array | None:
    """Of families that are not in the table, weights lie on the simplex."""
    placed = PLACED.get(case.formulation.family)
    return point if placed is None else placed(case, point)


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


PLACED: dict[str, Callable[[Any, Array], Array | None]] = {
    "single task": _of_task,
    "two stages": _of_stages,
}


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
    ax.set_aspect("equal")
    ax.set_xlim(-0.12, 1.12)
    ax.set_ylim(-0.1, 0.96)
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
