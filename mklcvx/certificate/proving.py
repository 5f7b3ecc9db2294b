"""The certificate of a single task's point: plain passes first, slices and a sharper δ only where they are needed."""

from __future__ import annotations

import math
from typing import Any

from ..errors import InternalError
from ..formulations import SingleTask, Task
from . import between
from .record import plain_or_sharp, settled
from .ridge import combined_ridge
from .rounding import Array
from .single import Evaluation, OwnCoefficients, Proved, harmless


def certified(
    formulation: SingleTask, task: Task, alpha: Array, mu: Array, tolerance: float, coefficients: Array | None = None,
    low: Array | None = None, side: Any = None,
) -> Proved:  # fmt: skip
    """The certificate of α with weights μ, or with coefficients of their own: in plain passes, then in slices. `side`
    takes the place of the formulation's regulariser."""
    alpha = task.feasible(alpha)
    if not exactly_feasible(task, alpha):
        raise InternalError("the equalities of alpha do not hold exactly")
    if formulation.between is not None:
        return between.certified(formulation, task, alpha, mu, tolerance, coefficients)

    def evaluate(sliced: bool) -> Proved:
        if coefficients is not None:
            return OwnCoefficients(formulation, task, alpha, mu, coefficients, sliced, side).bounds()
        at = Evaluation(formulation, task, alpha, mu, sliced, low, side)
        bare = at.bounds(0.0)
        if not sliced and not settled(bare.certificate, tolerance):
            return bare
        cost = float(task.box.max()) * math.fsum(alpha)
        delta = combined_ridge(task, at.mu, task.bias, harmless(cost, bare.certificate, tolerance))
        return at.bounds(delta).beside(bare) if delta else bare

    return plain_or_sharp(evaluate, tolerance) if low is None else evaluate(True)


def exactly_feasible(task: Task, alpha: Array) -> bool:
    """Whether α is in its box and its equalities hold, y'α = 0 with a bias and 1'α = 1 where the margin is free: sums
    are exact where they vanish."""
    inside = bool((alpha >= 0).all() and (alpha <= task.loss_function.limit(task.box)).all())
    rows, totals = task.equalities()
    return inside and all(math.fsum([*(row * alpha), -total]) == 0 for row, total in zip(rows, totals, strict=True))
