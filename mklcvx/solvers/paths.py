"""`path`: one formulation along a grid of parameters, every point certified, each run starting where the last ended.

The optimum moves little when a parameter does. Where the same bounds hold at the next point, a few equations give its
optimum directly; otherwise the method starts from an interior point of the last run that is still far enough from all
bounds (`solvers._interior_single`).
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..certificate.solution import Solution
from ..errors import InputError
from ..problem.instance import Instance
from ..problem.preprocessing import Preprocessing
from .solving import prepared, solved

Array = NDArray[np.float64]
LARGEST = 100_000  # points of a grid


@dataclass(frozen=True)
class Path:
    """The solutions along a grid, in its order; arrays have one row for every point."""

    grid: tuple[dict[str, Any], ...]
    solutions: tuple[Solution, ...]

    @property
    def weights(self) -> Array:
        return np.stack([solution.weights for solution in self.solutions])

    @property
    def objectives(self) -> Array:
        return np.array([solution.objective for solution in self.solutions])

    @property
    def bounds(self) -> Array:
        """Lower and upper, (points, 2)."""
        return np.array([(s.certificate.lower, s.certificate.upper) for s in self.solutions])

    @property
    def gaps(self) -> Array:
        """The certified relative gaps."""
        return np.array([solution.certificate.relative_gap for solution in self.solutions])

    @property
    def certified(self) -> bool:
        return all(solution.certified for solution in self.solutions)

    def values(self, parameter: str) -> NDArray[Any]:
        """A parameter along the path."""
        return np.array([solution.parameters[parameter] for solution in self.solutions])

    def as_json_lines(self) -> str:
        return "".join(json_line(solution) + "\n" for solution in self.solutions)


def path(
    instance: Instance,
    formulation: str,
    grid: Mapping[str, Sequence[Any]],
    *,
    solver: str = "auto",
    tol: float | None = None,
    time_limit: float | None = None,
    max_iter: int | None = None,
    report: Callable[[str], None] = lambda _: None,
    preprocessing: Preprocessing | None = None,
    **parameters: Any,
) -> Path:
    """Solve a formulation at every point of a grid, for example {"C": [0.1, 1, 10]}; several parameters make all
    combinations, the last one running fastest. `time_limit` and `max_iter` hold for each point."""
    points = combinations(grid, parameters)
    made = each(
        instance, formulation, points, solver=solver, tol=tol, time_limit=time_limit, max_iter=max_iter,
        report=report, preprocessing=preprocessing, **parameters,
    )  # fmt: skip
    return Path(tuple(points), tuple(made))


def each(
    instance: Instance, formulation: str, points: Sequence[Mapping[str, Any]], *, solver: str = "auto",
    tol: float | None = None, time_limit: float | None = None, max_iter: int | None = None,
    report: Callable[[str], None] = lambda _: None, preprocessing: Preprocessing | None = None, **parameters: Any,
) -> Iterator[Solution]:  # fmt: skip
    """One solution after the other, as they are found."""
    method = prepared(formulation, solver, tol, time_limit, max_iter, None)
    warm: Any = None
    given: dict[str, Any] = {"time_limit": time_limit, "max_iter": max_iter, "options": {}, "callback": lambda _: None}
    for number, point in enumerate(points):
        report(f"{formulation}: point {number + 1} of {len(points)}, {described(point)}")
        settings = {**parameters, **point}
        found, warm = solved(
            instance, formulation, method, tol, settings, preprocessing, report=lambda _: None, warm=warm, **given
        )
        yield found


def combinations(grid: Mapping[str, Sequence[Any]], fixed: Mapping[str, Any]) -> list[dict[str, Any]]:
    if not grid:
        raise InputError("grid: no parameter is varied: give for example C=0.1,1,10")
    lists = {name: list(np.atleast_1d(np.asarray(values, dtype=object))) for name, values in grid.items()}
    for name, values in lists.items():
        if not values:
            raise InputError(f"grid {name}: it has no values: give at least one, for example {name}=0.1,1,10")
        if name in fixed:
            raise InputError(f"parameter {name} is both fixed and varied: keep one")
    count = int(np.prod([float(len(values)) for values in lists.values()]))
    if count > LARGEST:
        raise InputError(f"grid: {count} points are too many: give at most {LARGEST}")
    return [dict(zip(lists, values, strict=True)) for values in itertools.product(*lists.values())]


def json_line(solution: Solution) -> str:
    return json.dumps(solution.as_dict(), allow_nan=False)


def described(point: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} = {value}" for name, value in point.items())
