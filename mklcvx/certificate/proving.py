"""The certificate of a single task's point: plain passes first, slices and a sharper δ only where they are needed."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

from ..errors import InternalError
from ..formulations import SingleTask, Task
from . import between
from .own import OwnCoefficients
from .record import Certificate, limit_of, settled
from .ridge import combined_ridge
from .rounding import Array
from .single import Evaluation, Proved


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
    for sliced in (False, True) if low is None else (True,):
        if coefficients is not None:
            found = OwnCoefficients(formulation, task, alpha, mu, coefficients, sliced, side).bounds()
        else:
            at = Evaluation(formulation, task, alpha, mu, sliced, low, side)
            found = bare = at.bounds(0.0)
            if sliced or low is not None or settled(found.certificate, tolerance):
                delta = combined_ridge(task, at.mu, task.bias, harmless(at, bare.certificate, tolerance))
                found = with_ridge(at, delta, bare)
        if settled(found.certificate, tolerance):
            break
    return replace(found, limit=limit_of(found.certificate, tolerance))


def exactly_feasible(task: Task, alpha: Array) -> bool:
    """Whether 0 ≤ α ≤ C, y'α = 0 with a bias and Σα = 1 for loss nu hold: sums are exact where they vanish."""
    inside = bool((alpha >= 0).all() and (alpha <= task.box).all())
    balanced = not task.bias or math.fsum(alpha * task.y) == 0
    return inside and balanced and (task.loss == "c" or math.fsum([*alpha, -1.0]) == 0)


def with_ridge(at: Evaluation, delta: float, bare: Proved) -> Proved:
    """The certificate with δ; what it has cost is what the gap has grown by."""
    if delta == 0:
        return bare
    found = at.bounds(delta)
    share = max(found.certificate.gap - bare.certificate.gap, 0.0)
    rounding = bare.certificate.rounding
    return replace(found, certificate=replace(found.certificate, ridge_share=share, rounding=rounding))


def harmless(at: Evaluation, bare: Certificate, tolerance: float) -> float:
    """A δ that costs a hundredth of the tolerance, or of the gap that is there without it: no sharper one is needed."""
    cost = float(at.task.box.max()) * math.fsum(at.alpha)
    allowed = max(tolerance * bare.scale, bare.gap)
    return 1e-2 * allowed / cost if cost > 0 else math.inf
