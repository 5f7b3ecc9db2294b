"""Multipliers of single tasks: shares on simplices, judged by what fixing them costs, and τ, judged by the dual's cost.

A block-∞ problem is a game, max over α and t_j of min over t_m of gain(α) − c Σ_j t_j^{−e} Σ_{m∈j} t_m q_m(α), with the
shares t_j of the groups and t_m of the kernels within their group. Fixing the t_m can only raise its value, fixing the
t_j can only lower it, and at the optimum neither does. With either fixed, the problem is of the same kind: one kernel
Σ t_m K_m per group; or kernels times 2c/t_j^e of which the best of each group counts, `vskl` at s = 2. Both are posed
in factors, because rounding would make kernels of low rank indefinite.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..certificate.regularisers import regulariser_of
from ..formulations._groups import group_sums
from ..problem.factors import in_factors
from ..problem.instance import no_test_samples
from ..problem.stack import Array
from .answers import Answer, in_shape
from .case import AnswerPart, Case, Violation
from .domain import shares

THRESHOLDS = ("sm1", "sm2", "smp", "elastic", "block_elastic")  # where τ is a threshold over the kernels
BEST_OF_GROUPS = "vskl"


def multiplier_parts(case: Case, alpha: Array | None, answer: Answer) -> list[AnswerPart]:
    """`lambda` holds the shares of the kernels of li, or within the groups of ckl and vskl, `gamma` those of ckl's
    groups: they are judged by what fixing them costs. τ is judged by the dual's cost at the α it comes with."""
    task, given, parts = case.task, answer.multipliers, []
    blockwise = case.formulation.between is not None
    measured = blockwise and answer.coefficients is None
    if blockwise and given.get("lambda") is not None:
        share = in_shape("lambda", given["lambda"], (task.count,))
        if "groups" in task.own:
            sums = group_sums(share, task.own["groups"])
            excess = held_within(case, np.maximum(share, 0.0)) if measured else None
            parts.append(_on_simplices("lambda", share, sums, excess))
        else:
            parts.append(_between_groups(case, "lambda", share, measured))
    if case.formulation.name == "ckl" and given.get("gamma") is not None:
        gamma = in_shape("gamma", given["gamma"], (int(task.own["groups"].max()) + 1,))
        parts.append(_between_groups(case, "gamma", gamma, measured))
    if given.get("tau") is not None and alpha is not None:
        parts.append(_tau_part(case, alpha, float(in_shape("tau", given["tau"], ()))))
    return parts


def _between_groups(case: Case, name: str, t: Array, measured: bool) -> AnswerPart:
    excess = held_between(case, t) if measured and (t > 0).all() and len(t) > 1 else None
    return _on_simplices(name, t, t.sum(keepdims=True), excess)


def _on_simplices(name: str, values: Array, sums: Array, excess: float | None) -> AnswerPart:
    below = Violation(f"{name} ≥ 0", max(0.0, -float(values.min())))
    return AnswerPart(name, (below, Violation(f"Σ {name} = 1", float(np.abs(sums - 1).max()))), excess=excess)


def _tau_part(case: Case, alpha: Array, tau: float) -> AnswerPart:
    """The distance of the dual's cost at τ, a threshold over the kernels or the cost itself, from the least cost."""
    task, name, cost = case.task, case.formulation.name, tau
    roots = case.formulation.lower(task, alpha).roots
    if name == "elastic" and tau <= 0 and task.own["l1_ratio"] < 1 and roots.any():
        return AnswerPart("tau", (Violation("tau > 0", 1.0),))
    if name in THRESHOLDS:
        cost = regulariser_of(name, task.count, task.own).conjugate(roots**2 / 2, tau)
    least = case.formulation.conjugate(roots, **task.own)
    return AnswerPart("tau", excess=abs(cost - least) / case.known.scale, note="at the α given")


# ------------------------------------------------------------------------------------------------------- fixed shares
def saddle_excess(case: Case, weights: Array) -> float:
    """What fixing the shares of the weights costs, within groups or between them, whichever is more."""
    t, within, _ = shares(case.formulation.between, case.task, weights)
    inside = held_within(case, within) if len(t) < case.task.count else 0.0
    return max(inside, held_between(case, t) if len(t) > 1 else 0.0)


def held_within(case: Case, within: Array) -> float:
    """How far fixing the shares within groups raises the optimum: a problem with one kernel per group."""
    groups, own = case.formulation.between.groups(case.task.count, **case.task.own), {}
    if "s" in case.parameters:
        own["s"] = case.parameters["s"]
    each = np.arange(int(groups.max()) + 1)
    joined = np.stack([case.task.combined(np.where(groups == j, within, 0.0)) for j in each])
    held = _optimum(case, joined, case.formulation.name, each, **own)
    return max(held.upper - case.known.lower, 0.0) / case.known.scale


def held_between(case: Case, t: Array) -> float:
    """How far fixing t_j lowers the optimum: kernels times 2c/t_j^e, of which the best of each group counts."""
    between, own = case.formulation.between, case.task.own
    groups = between.groups(case.task.count, **own)
    sizes = (2 * between.price / t ** between.exponent(**own))[groups]
    scaled = np.stack([size * kernel for size, kernel in zip(sizes, case.task.each_kernel(), strict=True)])
    held = _optimum(case, scaled, BEST_OF_GROUPS, groups, s=2.0)
    return max(case.known.upper - held.lower, 0.0) / case.known.scale


def _optimum(case: Case, kernels: Array, name: str, groups: Any, **own: Any) -> Any:
    from ..solvers.interior.engine import InteriorPoint
    from ..solvers.solving import solve

    changed = case.instance.with_kernels(
        in_factors(kernels), names=None, groups=groups, **no_test_samples(case.instance)
    )
    given = {**case.sample_side, **own}
    solver = InteriorPoint.name if InteriorPoint.takes(case.task) else "auto"
    return solve(changed, name, solver=solver, tol=1e-10, **given).certificate
