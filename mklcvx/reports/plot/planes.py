"""Column generation for two kernels, step by step: every α found is a plane below the value, and the master descends
to the lowest point of the highest planes.

    V(μ) = max over α of Σ_m μ_m S_m(α),      S_m(α) = gain(α) − ½ q_m(α)

is convex in μ, and on μ = (t, 1 − t) each α_k gives a straight line that touches it where α_k was found.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ... import formulations
from ...errors import InputError
from ...problem.instance import Instance
from ._style import COLOURS, FAINT, INK, LINES, axes, legend, words

Array = NDArray[np.float64]
FINE = 1e-8  # of the SVMs


def cutting_planes(
    instance: Instance,
    formulation: str = "l1",
    steps: int = 4,
    ax: Any = None,
    resolution: int = 60,
    **parameters: Any,
) -> Any:
    """The state of SILP after `steps` cuts: the value over the weights of two kernels, the planes found so far with
    their numbers, their upper envelope, which the master minimises, and where it went. Draw steps = 1, 2, 3 … on axes
    of their own to see it at work."""
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
    problem, cap = Problem(chosen, task, FINE), min(1.0, _silp.cap(task.own))
    algorithm, visited = SILP(), []
    state = algorithm.start(problem)
    visited.append(float(state.weights[0]))
    while len(state.rows) < steps and not state.dead_end:
        state = algorithm.step(problem, state)
        visited.append(float(state.weights[0]))
    t = np.linspace(1 - cap, cap, resolution)
    value = np.array([fit(problem, np.array([one, 1 - one])).value for one in t])
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
    ax.set_ylim(min(envelope.min(), value.min()) - 0.15 * spread, value.max() + 0.15 * spread)
    ax.set_xlim(t[0], t[-1])
    ax.set_xlabel(f"weight of {name}", parse_math=False)
    ax.set_ylabel("value")
    legend(ax, handles, ["value V(μ)", "highest plane", "SVM solved here"], loc="best")
    return ax
