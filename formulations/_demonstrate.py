"""A theorem at work: both programs of a formulation solved on a small problem, and the bounds that their points prove.

Every formulation's file does this when it is run: python -m mklcvx.formulations.l1
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..problem.instance import Instance
from ._cvxpy import cp
from ._formulation import Formulation


class Demonstration(NamedTuple):
    """Two declared values, by a solver, and two bounds without one."""

    primal: float
    dual: float
    lower: float
    upper: float

    @property
    def apart(self) -> float:
        """The distance of the outermost of the four, relative to the largest."""
        return (max(self) - min(self)) / max(abs(value) for value in self)


def small_instance(formulation: Formulation, samples: int = 16, count: int = 4) -> Instance:
    """Gaussian kernels of several widths on two clouds of points, and the targets and groups that are needed."""
    rng = np.random.default_rng(0)
    y = np.where(np.arange(samples) % 2 == 0, 1, -1)
    points = rng.normal(size=(samples, 2)) + y[:, None]
    distances = ((points[:, None] - points) ** 2).sum(axis=-1)
    widths = 4.0 ** -np.arange(1 if formulation.single_kernel else count)
    given: dict[str, Any] = {"y": y}
    if formulation.many_labels:
        given = {"labels": np.stack([y > 0, points[:, 0] > points[:, 1]], axis=1).astype(int)}
    if formulation.needs_groups:
        given["groups"] = np.arange(count) % 2
    return Instance(np.exp(-widths[:, None, None] * distances), **given)


def demonstration(formulation: Formulation, instance: Instance, **parameters: Any) -> Demonstration:
    task, _ = formulation.task(instance, parameters)
    programs = formulation.declare_primal(task), formulation.declare_dual(task)
    primal, dual = (formulation.stated(float(one.problem.solve(solver=cp.CLARABEL))) for one in programs)
    points = formulation.from_primal(programs[0], task, 1.0), formulation.from_dual(programs[1], task, 1.0)
    lower = max(formulation.lower(task, point).value for found in points for point in found.duals)
    upper = min(formulation.upper(task, point).value for found in points for point in found.primals)
    return Demonstration(primal, dual, lower, upper)


def demonstrate(formulation: Formulation) -> Demonstration:
    """Print the theorem's statement, and what it comes to on a small problem."""
    found = demonstration(formulation, small_instance(formulation))
    print(formulation.theorem.partition("From one to the other")[0].rstrip())
    print(f"\ndeclared     primal {found.primal:.10f}    dual  {found.dual:.10f}")
    print(f"recomputed   lower  {found.lower:.10f}    upper {found.upper:.10f}")
    print(f"apart        {found.apart:.1e}, relatively")
    return found
