"""What t and λ of a block-∞ formulation are worth, each held while the rest is at its best.

The problem is a game, max over α and t of min over λ of gain(α) − c Σ_j t_j^{−e} Σ_{m∈j} λ_m q_m(α). Holding λ can only
raise its value, holding t can only lower it, and at the optimum neither does. Held, both are problems of the same
kind: one kernel Σ λ_m K_m per group; or kernels times 2c/t_j^e of which the best of each group counts, `vskl` at s = 2.
Both are posed in factors, for rounding would make kernels of low rank indefinite.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..problem.factors import in_factors
from ..problem.stack import Array
from .case import Case
from .domain import shares

BEST_OF_GROUPS = "vskl"


def saddle_excess(case: Case, weights: Array) -> float:
    t, within, _ = shares(case.formulation, case.task, weights)
    return max(
        held_within(case, within) if len(t) < case.task.count else 0.0, held_between(case, t) if len(t) > 1 else 0.0
    )


def _groups(case: Case) -> Any:
    return case.formulation.between.groups(case.task.count, **case.task.own)


def held_within(case: Case, within: Array) -> float:
    """How far the optimum with λ held lies above the optimum: a problem with one kernel per group."""
    groups, own = _groups(case), {"s": case.parameters["s"]} if "s" in case.parameters else {}
    count = int(groups.max()) + 1
    joined = np.stack([case.task.combined(np.where(groups == j, within, 0.0)) for j in range(count)])
    held = _optimum(case, joined, case.formulation.name, np.arange(count), **own)
    return max(held.upper - case.known.lower, 0.0) / case.known.scale


def held_between(case: Case, t: Array) -> float:
    """How far the optimum with t held lies below the optimum: kernels times 2c/t_j^e, of each group the best counts."""
    between, groups = case.formulation.between, _groups(case)
    sizes = (2 * between.price / t ** between.exponent(**case.task.own))[groups]
    scaled = np.stack([size * kernel for size, kernel in zip(sizes, case.task.each_kernel(), strict=True)])
    held = _optimum(case, scaled, BEST_OF_GROUPS, groups, s=2.0)
    return max(case.known.upper - held.lower, 0.0) / case.known.scale


def _optimum(case: Case, kernels: Array, name: str, groups: Any, **own: Any) -> Any:
    from ..solvers.solving import solve

    instance, given = case.instance, {"C": case.parameters["C"], "bias": case.parameters["bias"], **own}
    changed = instance.with_kernels(
        in_factors(kernels), names=None, groups=groups, test_kernels=None, test_y=None, test_diagonals=None
    )
    return solve(changed, name, solver="interior", tol=1e-10, **given).certificate
