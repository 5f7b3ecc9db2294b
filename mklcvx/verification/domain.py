"""Where the weights of a single task may lie, by how much given weights violate that, and the feasible ones near them.

A regulariser has a domain {μ ≥ 0, ψ(μ) = 0 or ≤ 0, μ ≤ cap}: a point, the simplex, a box in it, a ball, or all μ ≥ 0.
In the block-∞ formulations μ_m = 2c t_m/t_j^e with the shares t_j on the simplex of groups and t_m on that of each
group, so that W_j = Σ_{m∈j} μ_m gives t_j = (2c/W_j)^{1/e}, and Σ t_j = 1 is the constraint (e = 0: W_j = 2c).
Violations are relative: the share by which the weights, or their sum, would have to change.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from ..formulations import SingleTask, Task
from ..formulations._formulation import Own
from ..formulations._groups import group_sums
from ..formulations._regulariser import Between, Constraint, Regulariser
from ..problem.stack import Array
from .case import Violation

DOUBLINGS = 200
Placed = tuple[tuple[Violation, ...], Array]  # what weights violate, and the feasible ones that they become


def placed(formulation: SingleTask, task: Task, weights: Array) -> Placed:
    """Put weights of a single task into their domain; all must be finite."""
    if formulation.between is not None:
        return _between(formulation.between, task, weights)
    assert formulation.regulariser is not None
    return _regularised(formulation.regulariser, task.count, task.own, weights)


def on_simplex(name: str, weights: Array) -> Placed:
    """Put weights onto the simplex."""
    positive = np.maximum(weights, 0.0)
    feasible = positive / positive.sum() if positive.any() else np.full(len(weights), 1 / len(weights))
    return (negative(name, weights), Violation(f"Σ {name} = 1", abs(float(weights.sum()) - 1))), feasible


def negative(name: str, weights: Array) -> Violation:
    size = float(np.abs(weights).max(initial=0.0))
    return Violation(f"{name} ≥ 0", max(0.0, -float(weights.min(initial=0.0))) / (size or 1.0))


def relative(bias: float | Array, outputs: Array) -> float:
    """The size of a bias where there should be none, beside that of the outputs."""
    return float(np.abs(bias).max(initial=0.0)) / (float(np.abs(outputs).max(initial=0.0)) or 1.0)


def outside_box(alpha: Array, box: Array) -> list[Violation]:
    size = float(box.max())
    below, above = max(0.0, -float(alpha.min())), max(0.0, float(np.max(alpha - box)))
    return [Violation("α ≥ 0", below / size), Violation("α ≤ C", above / size)]


def outside_bounds(task: Task, alpha: Array) -> list[Violation]:
    """By how much α leaves the bounds of its loss, which may be open on one side or on both."""
    low, high = task.low, task.limit
    if not low.any() and np.array_equal(high, task.box):
        return outside_box(alpha, task.box)
    ends = np.concatenate([-low, high])
    size = float(ends[np.isfinite(ends)].max(initial=0.0)) or float(np.abs(alpha).max()) or 1.0
    sides = (("α ≥", low, low - alpha), ("α ≤", high, alpha - high))
    return [
        Violation(f"{relation} {_bound(ends)}", max(0.0, float(over.max())) / size)
        for relation, ends, over in sides
        if np.isfinite(ends).all()
    ]


def too_long(feasible: Array, shortened: Array) -> list[Violation]:
    """α beyond the domain of U*, which its lower bound `shortened`: the dual has constraints of its own there."""
    size = float(np.abs(shortened).max(initial=0.0))
    by = float(np.abs(feasible).max(initial=0.0)) / size - 1 if size > 0 else 0.0
    return [Violation("β'K_mβ within its bound", by)] if by > 0 else []


def _bound(ends: Array) -> str:
    """A bound that all samples share, as a number."""
    return f"{ends[0]:.6g}" if np.ptp(ends) == 0 else "its bound"


def _regularised(regulariser: Regulariser, count: int, own: Mapping[str, Own], weights: Array) -> Placed:
    below, positive, constraint = negative("weights", weights), np.maximum(weights, 0.0), regulariser.constraint
    if regulariser.alone(count, **own):
        fixed = regulariser.start(count, **own)
        distance = float(np.abs(weights - fixed).max() / fixed.max())
        return (Violation(f"weights = {fixed[0]:.6g}", distance),), fixed
    if constraint is None:
        return (below,), positive
    if constraint.curved:
        shrink = to_boundary(constraint, own, positive)
        outside = Violation("weights in the ball", max(0.0, 1 / shrink - 1))
        return (below, outside), positive * min(shrink, 1.0)
    violations, feasible = on_simplex("weights", weights)
    if regulariser.cap is None:
        return violations, feasible
    cap = regulariser.cap(**own)
    over = Violation(f"weights ≤ {cap:.6g}", max(0.0, float(weights.max()) / cap - 1))
    return (*violations, over), _capped(feasible, cap)


def to_boundary(constraint: Constraint, own: Mapping[str, Own], weights: Array) -> float:
    """The factor that brings weights to the boundary ψ = 0; infinite for zero weights."""
    if not weights.any():
        return float("inf")
    unit = weights / weights.max()
    low, high = 0.0, 1.0
    while float(np.sum(constraint.value(high * unit, **own))) < 1:
        high *= 2
    for _ in range(DOUBLINGS):
        middle = (low + high) / 2
        if middle in (low, high):
            break
        inside = float(np.sum(constraint.value(middle * unit, **own))) <= 1
        low, high = (middle, high) if inside else (low, middle)
    return low / float(weights.max())


def _capped(weights: Array, cap: float) -> Array:
    """Cut weights on the simplex at a cap, and give the rest to the others in proportion to their room."""
    cut = np.minimum(weights, cap)
    room = cap - cut
    missing = 1 - cut.sum()
    return np.minimum(cut + room * (missing / room.sum()), cap) if missing > 0 and room.sum() > 0 else cut


def shares(between: Between, task: Task, weights: Array) -> tuple[Array, Array, NDArray[np.intp]]:
    """The shares of weights of a block-∞ formulation: t_j of the groups, NaN where a group has no weight, and t_m
    within them; and the groups."""
    groups, exponent = between.groups(task.count, **task.own), between.exponent(**task.own)
    totals = group_sums(weights, groups)
    used = totals > 0
    t = np.full(len(totals), np.nan)
    ratio = 2 * between.price / totals[used]
    t[used] = ratio ** (1 / exponent) if exponent > 0 else 1 / ratio  # e = 0: how far W_j is from where it must be
    return t, np.divide(weights, totals[groups], out=np.zeros(len(weights)), where=used[groups]), groups


def _between(between: Between, task: Task, weights: Array) -> Placed:
    below, positive = negative("weights", weights), np.maximum(weights, 0.0)
    exponent = between.exponent(**task.own)
    t, _, groups = shares(between, task, positive)
    seen, total = np.isfinite(t), float(np.nansum(t))
    if exponent == 0:
        off = float(np.abs(t[seen] - 1).max(initial=0.0))
        return (below, Violation("weights of each group sum to 1", off)), positive / np.where(seen, t, 1.0)[groups]
    if not seen.any():
        return (below, Violation("some weight > 0", 1.0)), positive
    off = abs(total - 1) if seen.all() else max(0.0, total - 1)
    constraint = "Σ 1/(2·weights) = 1" if exponent == 1 else f"Σ (weights of a group)^(−{1 / exponent:.3g}) = 1"
    return (below, Violation(constraint, off)), positive * (total**exponent if off else 1.0)
