"""Where the weights of a single task may lie, by how much given ones leave it, and the nearest that do not.

Family A has a domain {μ ≥ 0, ψ(μ) = 0 or ≤ 0, μ ≤ cap}: a point, the simplex, a box in it, a ball, or all μ ≥ 0. In
the block-∞ formulations μ_m = 2c λ_m/t_j^e with t on the simplex of groups and λ on that of each group, so that
W_j = Σ_{m∈j} μ_m gives t_j = (2c/W_j)^{1/e}, and Σ t_j = 1 is the constraint (e = 0: W_j = 2c).
Violations are relative: by which share of themselves must the weights, or their sum, change?
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from ..formulations import SingleTask, Task
from ..formulations._groups import group_sums
from ..formulations._regulariser import Constraint, Regulariser
from ..problem.stack import Array
from .case import Violation

DOUBLINGS = 200


class Placed(NamedTuple):
    """What weights violate, and the feasible ones that they become."""

    violations: list[Violation]
    weights: Array


def placed(formulation: SingleTask, task: Task, weights: Array) -> Placed:
    """Weights of a single task in their domain; undefined ones must not be among them."""
    if formulation.between is not None:
        return _between(formulation, task, weights)
    assert formulation.regulariser is not None
    return _regularised(formulation.regulariser, task.count, task.own, weights)


def on_simplex(name: str, weights: Array) -> Placed:
    """Non-negative, and summing to one."""
    total = float(weights.sum())
    positive = np.maximum(weights, 0.0)
    feasible = positive / positive.sum() if positive.any() else np.full(len(weights), 1 / len(weights))
    return Placed([negative(name, weights), Violation(f"Σ {name} = 1", abs(total - 1))], feasible)


def negative(name: str, weights: Array) -> Violation:
    size = float(np.abs(weights).max(initial=0.0))
    return Violation(f"{name} ≥ 0", max(0.0, -float(weights.min(initial=0.0))) / (size or 1.0))


def _regularised(regulariser: Regulariser, count: int, own: Mapping[str, Any], weights: Array) -> Placed:
    if regulariser.alone(count, **own):
        fixed = regulariser.start(count, **own)
        distance = float(np.abs(weights - fixed).max() / fixed.max())
        return Placed([Violation(f"weights = {fixed[0]:.6g}", distance)], fixed)
    constraint, below = regulariser.constraint, negative("weights", weights)
    positive = np.maximum(weights, 0.0)
    if constraint is None:
        return Placed([below], positive)
    if constraint.curved:
        return _in_ball(constraint, own, below, positive)
    found = on_simplex("weights", weights)
    if regulariser.cap is None:
        return found
    cap = regulariser.cap(**own)
    over = Violation(f"weights ≤ {cap:.6g}", max(0.0, float(weights.max()) / cap - 1))
    return Placed([*found.violations, over], _capped(found.weights, cap))


def _in_ball(constraint: Constraint, own: Mapping[str, Any], below: Violation, weights: Array) -> Placed:
    shrink = to_boundary(constraint, own, weights)
    inside = weights * min(shrink, 1.0)
    return Placed([below, Violation("weights in the ball", max(0.0, 1 / shrink - 1))], inside)


def to_boundary(constraint: Constraint, own: Mapping[str, Any], weights: Array) -> float:
    """The factor that brings weights to where ψ = 0; infinite for zero weights."""
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
    """On the simplex below a cap: what is cut off goes to the others, in proportion to their room."""
    cut = np.minimum(weights, cap)
    room = cap - cut
    missing = 1 - cut.sum()
    return np.minimum(cut + room * (missing / room.sum()), cap) if missing > 0 and room.sum() > 0 else cut


class Shares(NamedTuple):
    """t of the groups and λ of the kernels within them; groups without weight have t = NaN."""

    t: Array
    within: Array
    groups: Any


def shares(formulation: SingleTask, task: Task, weights: Array) -> Shares:
    """t and λ of weights of a block-∞ formulation."""
    assert formulation.between is not None
    between, own = formulation.between, task.own
    groups = between.groups(task.count, **own)
    totals = group_sums(weights, groups)
    used = totals > 0
    exponent = between.exponent(**own)
    t = np.full(len(totals), np.nan)
    ratio = 2 * between.price / totals[used]
    t[used] = ratio ** (1 / exponent) if exponent > 0 else 1 / ratio  # e = 0: how far W_j is from where it must be
    within = np.divide(weights, totals[groups], out=np.zeros(len(weights)), where=used[groups])
    return Shares(t, within, groups)


def _between(formulation: SingleTask, task: Task, weights: Array) -> Placed:
    below, positive = negative("weights", weights), np.maximum(weights, 0.0)
    assert formulation.between is not None
    exponent = formulation.between.exponent(**task.own)
    t, _, groups = shares(formulation, task, positive)
    seen, total = np.isfinite(t), float(np.nansum(t))
    if exponent == 0:
        off = float(np.abs(t[seen] - 1).max(initial=0.0))
        scaled = positive / np.where(seen, t, 1.0)[groups]
        return Placed([below, Violation("weights of each group sum to 1", off)], scaled)
    if not seen.any():
        return Placed([below, Violation("some weight > 0", 1.0)], positive)
    off = abs(total - 1) if seen.all() else max(0.0, total - 1)
    constraint = "Σ 1/(2·weights) = 1" if exponent == 1 else f"Σ (weights of a group)^(−{1 / exponent:.3g}) = 1"
    return Placed([below, Violation(constraint, off)], positive * (total**exponent if off else 1.0))
