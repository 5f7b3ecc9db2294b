"""`solve_path`: one formulation along a grid of parameters, each point certified and started where the last ended.

The optimum moves little when a parameter does. Where the same bounds hold at the next point, a few equations give its
optimum directly; otherwise the method starts from an interior point of the last run that is still far enough from all
bounds (`solvers.interior.single_task`).
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ..certificate.machines import Machines
from ..certificate.solution import Solution
from ..defaults import SOLVER
from ..errors import InputError, Interrupted, clipped, remedy
from ..formulations._formulation import Given, Own, Parameters
from ..problem.arguments import takes_kernels
from ..problem.checks import check_functions, check_name
from ..problem.instance import Instance
from ..problem.numbers import AnyArray
from ..problem.preprocessing import Preprocessing
from ..problem.stack import Array
from .registry import Options
from .solving import prepared, solved

LARGEST = 100_000  # points of a grid


@dataclass(frozen=True)
class RegularizationPath:
    """Solutions along a grid of parameters, in the order of the grid.

    Arrays have one row for each point.

    Parameters
    ----------
    grid : tuple of dict
        Values of the parameters that vary, one dict for each point.
    solutions : tuple of Solution
        One solution for each point; for several classes one `Machines`, if the formulation tells two apart.

    Examples
    --------
    >>> import mklcvx
    >>> path = mklcvx.solve_path(mklcvx.zoo.by_hand(), "l1", {"C": [0.5, 1.0]})
    >>> path.weights.shape, path.certified
    ((2, 2), True)
    """

    grid: tuple[Parameters, ...]
    solutions: tuple[Solution | Machines, ...]

    def __repr__(self) -> str:
        ends = f"from {described(self.grid[0])} to {described(self.grid[-1])}" if self.grid else "empty"
        certified = sum(solution.certified for solution in self.solutions)
        return f"RegularizationPath({len(self.grid)} points, {ends}; {certified} certified)"

    @property
    def weights(self) -> Array:
        """Kernel weights, (points, M); of several machines (points, machines, M)."""
        return np.stack([solution.weights for solution in self.solutions])

    @property
    def objectives(self) -> Array:
        """Objective values, (points,); of several machines (points, machines)."""
        return np.array([solution.objective for solution in self.solutions])

    @property
    def bounds(self) -> Array:
        """Lower and upper bounds, (points, 2); of several machines those of the widest gap."""
        return np.array([(s.certificate.lower, s.certificate.upper) for s in self.solutions])

    @property
    def gaps(self) -> Array:
        """Certified relative gaps, (points,)."""
        return np.array([solution.certificate.relative_gap for solution in self.solutions])

    @property
    def certified(self) -> bool:
        """Whether every point is certified."""
        return all(solution.certified for solution in self.solutions)

    def values(self, parameter: str) -> AnyArray:
        """Return a parameter along the path.

        Parameters
        ----------
        parameter : str
            Name of the parameter.

        Returns
        -------
        ndarray
            One value for each point.
        """
        check_name("parameter", parameter, () if not self.solutions else self.solutions[0].parameters)
        return np.array([solution.parameters[parameter] for solution in self.solutions])


@takes_kernels
def solve_path(
    instance: Instance,
    formulation: str,
    grid: Mapping[str, Sequence[object]],
    *,
    solver: str = SOLVER,
    tol: float | None = None,
    time_limit: float | None = None,
    max_iter: int | None = None,
    report: Callable[[str], None] = lambda _: None,
    preprocessing: Preprocessing | None = None,
    **parameters: Own,
) -> RegularizationPath:
    """Solve a formulation at every point of a grid.

    Each run starts where the last one ended. Several parameters make all combinations, the last one running fastest.

    Parameters
    ----------
    instance : Instance
        Kernels and targets. In its place, kernels (M, n, n) and y (n,) can be given as two arguments.
    formulation : str
        Name of the formulation.
    grid : dict
        Values of each parameter that varies, for example {"C": [0.1, 1, 10]}.
    solver : str, default="auto"
        Name of the solver.
    tol : float, optional
        Relative gap that every certificate must prove. The default is the solver's own tolerance.
    time_limit : float, optional
        Seconds for each point.
    max_iter : int, optional
        Iterations for each point.
    report : callable, optional
        Function that is called with one line of text before each point.
    preprocessing : Preprocessing, optional
        Steps that were applied to the kernels. They travel with the solutions.
    **parameters : dict
        Parameters of the formulation that do not vary.

    Returns
    -------
    RegularizationPath
        One solution for each point; `certified` says whether all of them are.

    Raises
    ------
    InputError
        If an argument cannot be used.
    KeyboardInterrupt
        At Ctrl-C. Its `solution` is the path of the points that were finished.

    Examples
    --------
    >>> import mklcvx
    >>> path = mklcvx.solve_path(mklcvx.zoo.by_hand(), "l1", {"C": [0.5, 1.0]})
    >>> path
    RegularizationPath(2 points, from C = 0.5 to C = 1.0; 2 certified)
    """
    check_functions(report=report)
    points, limits = combinations(grid, parameters), {"time_limit": time_limit, "max_iter": max_iter}
    options: Parameters = {"report": report, "preprocessing": preprocessing, **limits, **parameters}
    return collected(points, each(instance, formulation, points, solver=solver, tol=tol, **options))


def collected(points: Sequence[Parameters], made: Iterator[Solution | Machines]) -> RegularizationPath:
    """The path of all points; an interrupt carries that of the points that were finished."""
    solutions: list[Solution | Machines] = []
    try:
        for solution in made:
            solutions.append(solution)
    except KeyboardInterrupt:
        raise Interrupted(RegularizationPath(tuple(points[: len(solutions)]), tuple(solutions))) from None
    return RegularizationPath(tuple(points), tuple(solutions))


def each(
    instance: Instance, formulation: str, points: Sequence[Given], *, solver: str = SOLVER,
    tol: float | None = None, time_limit: float | None = None, max_iter: int | None = None,
    report: Callable[[str], None] = lambda _: None, preprocessing: Preprocessing | None = None,
    options: Options | None = None, **parameters: Own,
) -> Iterator[Solution]:  # fmt: skip
    """One solution after the other, as they are found. What depends on kernels and weights alone is computed once."""
    method = prepared(formulation, solver, tol, time_limit, max_iter, options)
    given: Parameters = {"time_limit": time_limit, "max_iter": max_iter, "options": dict(options or {}), "warm": None}
    given |= {"report": lambda _: None, "callback": lambda _: None}
    known = instance if (instance.memory and instance.memory.keeps) or len(points) < 2 else instance.remembering()
    try:
        for number, point in enumerate(points):
            report(f"{formulation}: point {number + 1} of {len(points)}, {described(point)}")
            settings = {**parameters, **point}
            solution, given["warm"] = solved(known, formulation, method, tol, settings, preprocessing, **given)
            yield solution
    finally:
        if known is not instance:
            known.forget()


def combinations(grid: Mapping[str, Sequence[object]], fixed: Given) -> list[Parameters]:
    if not isinstance(grid, Mapping) or not grid:
        example = remedy("{'C': [0.1, 1, 10]}", "C=0.1,1,10")
        fault = "no parameter is varied" if isinstance(grid, Mapping) else f"{clipped(repr(grid), 40)} is no dict"
        raise InputError(f"grid: {fault}: give for example {example}")
    lists = {name: _listed(values) for name, values in grid.items()}
    for name, values in lists.items():
        if not values:
            raise InputError(f"grid {name}: it has no values: give at least one")
        if name in fixed:
            raise InputError(f"parameter {name} is both fixed and varied: keep one")
    count = int(np.prod([float(len(values)) for values in lists.values()]))
    if count > LARGEST:
        raise InputError(f"grid: {count} points are too many: give at most {LARGEST}")
    return [dict(zip(lists, values, strict=True)) for values in itertools.product(*lists.values())]


def _listed(values: object) -> list[object]:
    """The values of a parameter, or its only one."""
    listed = values.tolist() if isinstance(values, np.ndarray | np.generic | memoryview) else values
    return list(listed) if isinstance(listed, Sequence) and not isinstance(listed, str | bytes) else [listed]


def json_line(solution: Solution | Machines) -> str:
    return json.dumps(solution.as_dict(), allow_nan=False)


def described(point: Given) -> str:
    return ", ".join(f"{name} = {value}" for name, value in point.items())
