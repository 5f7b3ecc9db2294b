"""How far optimal weights may differ: kernels that can stand in for each other.

Hold α at the optimum and let g_m = K_m(α∘y). The classifier Σ μ_m g_m + b costs

    P(μ, b, ξ) = ½ Σ μ_m q_m(α) + Σ C_i ξ_i,      ξ_i ≥ 0,  ξ_i ≥ 1 − y_i (Σ_m μ_m g_m(x_i) + b),

which is linear, and no less than what μ is worth. So {μ feasible: P ≤ v* + ε} contains optimal weights only, up to ε,
and linear programs tell how far each weight can go in it. (Loss nu: ρ in place of 1, and −ρ in the cost. Many labels:
a sum over classes, or the largest. Block-∞: the norms Σ_{m∈j} μ_m √q_m of groups stay where they are, and the risk is
what is bounded.) A strictly convex R or ball, and fixed weights, leave one optimum only. Two stages and hypergraphs
have inequalities of their own (`uniqueness_families`).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..problem.stack import Array
from .case import Case
from .uniqueness_families import Bowl, farthest
from .uniqueness_families import ends as bowl_ends

WIDE = 0.02  # a weight that can move by this share of the largest is not determined
FINEST = 1e-7  # relative: what linear programs can tell apart
MOST = 20_000  # entries of a program's matrix divided by its number of kernels: beyond, nothing is said


class Range(NamedTuple):
    """A kernel whose weight may lie anywhere from `low` to `high`, for suitable weights of the others."""

    kernel: str
    low: float
    high: float


class Program(NamedTuple):
    """min/max of a weight: rows @ x ≤ bounds, equal @ x = totals; the first M unknowns are the weights."""

    rows: Array
    bounds: Array
    equal: Array
    totals: Array
    limits: list[tuple[float | None, float | None]]


def in_program(case: Case, program: Program) -> list[Range] | None:
    """The weights that a program leaves loose."""
    ends = []
    for m in range(case.instance.count):
        low, high = _end(program, m, 1), _end(program, m, -1)
        if low is None or high is None:
            return None
        ends.append((low, -high))
    return wide(case, ends)


def in_bowl(case: Case, bowl: Bowl | None) -> list[Range] | None:
    """Where the ends found are no proof that there are no others, one is looked for."""
    if bowl is None:
        return None
    if 2 * farthest(bowl) <= WIDE * case.reference.weights.max():
        return []
    ends = bowl_ends(bowl)
    return None if ends is None else wide(case, ends) or None


def wide(case: Case, ends: list[tuple[float, float]]) -> list[Range]:
    """The weights that are not determined."""
    found, optimal = [], np.nan_to_num(case.reference.weights)
    for name, weight, (low, high) in zip(case.instance.names, optimal, ends, strict=True):
        low, high = min(low, weight), max(high, weight)
        if high - low > WIDE * optimal.max():
            found.append(Range(name, float(low), float(high)))
    return found


def _end(program: Program, m: int, sign: int) -> float | None:
    """The least of ±μ_m; None if the program finds nothing, since the certified point is not sharp enough."""
    from scipy.optimize import linprog

    direction = np.zeros(program.rows.shape[1])
    direction[m] = sign
    options = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}
    found = linprog(direction, *program, options=options)
    return float(found.fun) if found.success else None
