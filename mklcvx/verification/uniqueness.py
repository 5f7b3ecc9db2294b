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

from typing import Any, NamedTuple

import numpy as np

from ..formulations import SingleTask
from ..formulations.families.multi_label import MultiLabel
from ..problem.stack import Array
from .case import Case
from .uniqueness_families import alignment_bowl, farthest, hypergraph_bowl, pair_ends
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


def ranges(case: Case, tolerance: float) -> list[Range] | None:
    """Kernels whose weights may differ at this tolerance; none if they are unique; None where it is not known."""
    if case.formulation.name in ("alignment", "hypergraph", "ts_l1"):
        return _of_other_families(case, max(tolerance, FINEST))
    program = _program(case, max(tolerance, FINEST))
    if program is None:
        return None if _open(case) else []
    ends = []
    for m in range(case.instance.count):
        low, high = _end(program, m, 1), _end(program, m, -1)
        if low is None or high is None:
            return None
        ends.append((low, -high))
    return _wide(case, ends)


def _wide(case: Case, ends: list[tuple[float, float]]) -> list[Range]:
    """The weights that are not determined."""
    found, optimal = [], np.nan_to_num(case.reference.weights)
    for name, weight, (low, high) in zip(case.instance.names, optimal, ends, strict=True):
        low, high = min(low, weight), max(high, weight)
        if high - low > WIDE * optimal.max():
            found.append(Range(name, float(low), float(high)))
    return found


def _of_other_families(case: Case, tolerance: float) -> list[Range] | None:
    """Where the ends found are no proof that there are no others, one is looked for."""
    if not case.reference.weights.any():
        return None  # there is no size that differences could be measured by
    if case.formulation.name == "ts_l1":
        ends = pair_ends(case, tolerance)
        return None if ends is None else _wide(case, ends)
    bowl = (alignment_bowl if case.formulation.name == "alignment" else hypergraph_bowl)(case, tolerance)
    if bowl is None:
        return None
    if 2 * farthest(bowl) <= WIDE * case.reference.weights.max():
        return []
    ends = bowl_ends(bowl)
    return None if ends is None else _wide(case, ends) or None


def _end(program: Program, m: int, sign: int) -> float | None:
    """The least of ±μ_m; None if the program finds nothing, since the certified point is not sharp enough."""
    from scipy.optimize import linprog

    direction = np.zeros(program.rows.shape[1])
    direction[m] = sign
    options = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}
    found = linprog(direction, *program, options=options)
    return float(found.fun) if found.success else None


def _open(case: Case) -> bool:
    """Whether optimal weights can be several at all."""
    return _linear(case) if isinstance(case.formulation, SingleTask) else isinstance(case.formulation, MultiLabel)


def _linear(case: Case) -> bool:
    """Whether neither R nor the boundary of the domain is curved."""
    formulation, own = case.formulation, case.task.own
    if formulation.between is not None:
        return True
    regulariser, probe = formulation.regulariser, np.full(case.task.count, 0.5)
    if regulariser.alone(case.task.count, **own) or regulariser.constraint is None:
        return False
    curved = regulariser.constraint.curvature(probe, **own).any() or regulariser.curvature(probe, **own).any()
    return not curved


def _program(case: Case, tolerance: float) -> Program | None:
    task, formulation = case.task, case.formulation
    if isinstance(formulation, MultiLabel):
        small = task.samples * task.classes * (1 + task.classes) <= MOST
        return _of_labels(case, tolerance) if small else None
    if not isinstance(formulation, SingleTask) or not _linear(case) or task.samples > MOST**0.5 * 4:
        return None
    return _of_task(case, tolerance)


def _of_task(case: Case, tolerance: float) -> Program:
    """Unknowns μ, b, ρ, ξ."""
    task, alpha = case.task, case.reference.alpha
    n, count, budget = task.samples, task.count, tolerance * case.known.scale
    roots = task.correlations(alpha)
    margins = task.y[:, None] * task.images(alpha * task.y).T
    level = np.full((n, 1), 1.0 if task.loss == "nu" else 0.0)
    rows = np.hstack([-margins, -task.y[:, None], level, -np.eye(n)])
    bounds = np.zeros(n) if task.loss == "nu" else -np.ones(n)
    risk = np.concatenate([[0.0, -1.0 if task.loss == "nu" else 0.0], task.box])
    free: tuple[float | None, float | None] = (None, None) if task.bias else (0.0, 0.0)
    others = [free, (None, None), *[(0.0, None)] * n]
    between = case.formulation.between
    if between is None:
        cost = np.concatenate([roots**2 / 2, risk])
        cap = case.formulation.regulariser.cap
        top = None if cap is None else cap(**task.own)
        equal = np.concatenate([np.ones(count), np.zeros(n + 2)])[None]
        return Program(
            np.vstack([rows, cost]), np.append(bounds, case.known.upper + budget), equal, np.ones(1),
            [*[(0.0, top)] * count, *others],
        )  # fmt: skip
    norms, groups = case.reference.norms, between.groups(count, **task.own)
    sums = np.stack([np.where(groups == j, roots, 0.0) for j in range(groups.max() + 1)])
    lengths = np.bincount(groups, weights=norms) * (1 + tolerance)
    largest = case.reference.objective - _penalty(case) + budget
    within = np.hstack([sums, np.zeros((len(sums), n + 2))])
    cost = np.concatenate([np.zeros(count), risk])
    limits = [(0.0, 0.0 if root == 0 else None) for root in roots]
    return Program(
        np.vstack([rows, within, cost]), np.concatenate([bounds, lengths, [largest]]),
        np.zeros((1, count + n + 2)), np.zeros(1), [*limits, *others],
    )  # fmt: skip


def _penalty(case: Case) -> float:
    return float(case.formulation.penalty(case.reference.norms, **case.task.own))


def _of_labels(case: Case, tolerance: float) -> Program:
    """Unknowns p and ξ of every class."""
    task, alpha = case.task, np.asarray(case.reference.alpha)
    n, count, classes = task.samples, task.count, task.classes
    halves, top = task.correlations(alpha) / 2, case.known.upper + tolerance * case.known.scale
    rows: list[Any] = []
    costs = []
    for k in range(classes):
        images = np.stack([kernel @ (alpha[k] * task.signs[k]) for kernel in task.each_kernel()], axis=1)
        slack = np.zeros((n, n * classes))
        slack[:, k * n : (k + 1) * n] = -np.eye(n)
        rows.append(np.hstack([-task.signs[k][:, None] * images, slack]))
        price = np.zeros(n * classes)
        price[k * n : (k + 1) * n] = task.box
        costs.append(np.concatenate([halves[k], price]))
    together = np.stack(costs) if case.formulation.name == "ml_minimax" else np.sum(costs, axis=0)[None]
    equal = np.concatenate([np.ones(count), np.zeros(n * classes)])[None]
    return Program(
        np.vstack([*rows, together]), np.concatenate([-np.ones(n * classes), np.full(len(together), top)]),
        equal, np.ones(1), [*[(0.0, 1.0)] * count, *[(0.0, None)] * (n * classes)],
    )  # fmt: skip
