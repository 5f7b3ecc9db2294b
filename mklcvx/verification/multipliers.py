"""Multipliers of single tasks: those on simplices, worth what holding them costs, and τ, worth the cost it makes."""

from __future__ import annotations

import numpy as np

from ..certificate.regularisers import regulariser_of
from ..formulations._groups import group_sums
from ..problem.stack import Array
from .answers import Answer, in_shape
from .blockwise import held_between, held_within
from .case import Case, Part, Violation

THRESHOLDS = ("sm1", "sm2", "smp", "elastic")  # where τ is a threshold over the kernels, not the cost itself


def multiplier_parts(case: Case, alpha: Array | None, answer: Answer) -> list[Part]:
    """λ of li's kernels and of each of ckl's and vskl's groups, γ of ckl's groups, on simplices and worth what holding
    them costs; τ, the dual's own, is worth its cost at the α it comes with."""
    task, given, parts = case.task, answer.multipliers, []
    blockwise = case.formulation.between is not None
    measured = blockwise and answer.coefficients is None
    if blockwise and given.get("lambda") is not None:
        share = in_shape("lambda", given["lambda"], (task.count,))
        if "groups" in task.own:
            sums = group_sums(share, task.own["groups"])
            parts.append(
                _simplices("lambda", share, sums, held_within(case, np.maximum(share, 0.0)) if measured else None)
            )
        else:
            parts.append(_simplices("lambda", share, share.sum(keepdims=True), _held(case, share, measured)))
    if case.formulation.name == "ckl" and given.get("gamma") is not None:
        gamma = in_shape("gamma", given["gamma"], (int(task.own["groups"].max()) + 1,))
        parts.append(_simplices("gamma", gamma, gamma.sum(keepdims=True), _held(case, gamma, measured)))
    if given.get("tau") is not None and alpha is not None:
        parts.append(_tau_part(case, alpha, float(in_shape("tau", given["tau"], ()))))
    return parts


def _held(case: Case, t: Array, measured: bool) -> float | None:
    return held_between(case, t) if measured and (t > 0).all() and len(t) > 1 else None


def _simplices(name: str, values: Array, sums: Array, excess: float | None) -> Part:
    below = Violation(f"{name} ≥ 0", max(0.0, -float(values.min())))
    return Part(name, (below, Violation(f"Σ {name} = 1", float(np.abs(sums - 1).max()))), excess=excess)


def _tau_part(case: Case, alpha: Array, tau: float) -> Part:
    """The dual's cost at τ, less the least: what a threshold over kernels adds, or how far a plain cost is off."""
    task, name = case.task, case.formulation.name
    roots = case.formulation.lower(task, alpha).roots
    least = case.formulation.conjugate(roots, **task.own)
    if name == "elastic" and tau <= 0 and task.own["l1_ratio"] < 1 and roots.any():
        return Part("tau", (Violation("tau > 0", 1.0),))
    cost = tau
    if name in THRESHOLDS:
        cost = regulariser_of(name, task.count, task.own).conjugate(roots**2 / 2, tau)
    return Part("tau", excess=abs(cost - least) / case.known.scale, note="at the α given")
