"""Answers to single tasks, part by part.

Weights μ are worth what the best classifier with them costs, V(μ) = max over α of gain(α) − ½ Σ μ_m q_m(α) + R(μ),
never below the optimum: the SVM with these weights is solved for it. (In the block-∞ formulations t and λ of the
weights are judged apart. For fixed λ the optimum over α and t is no lower, for fixed t the optimum over α and λ is no
higher than that of the problem; both are problems of the same kind.) α is worth its lower bound, coefficients their
upper bound with the best bias, a bias what it adds to the risk of the classifier it comes with.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ..answers import FINE, Answer, in_shape, of_shape
from ..formulations import Implied, SingleTask, Task
from ..formulations._stack import Array
from .case import Case
from .domain import placed, shares
from .parts import Part, Violation

SINGLE_GROUPS = "vskl"  # with s = 2 it adds the largest q of every group, which is what is left when t is held


def single_task_parts(case: Case, answer: Answer) -> list[Part]:
    task, parts = case.task, []
    weights, alpha, coefficients = arrays(task, answer)
    if weights is not None:
        parts.append(weights_part(case, weights, spelled_out=coefficients is not None))
    if alpha is not None:
        parts.append(alpha_part(case, alpha))
    if coefficients is not None:
        bound = case.formulation.upper(task, coefficients)
        parts.append(Part("coefficients", (), "upper", bound.value, note="with the best bias"))
    if answer.bias is not None:
        parts.append(bias_part(case, weights, alpha, coefficients, float(in_shape("bias", answer.bias, ()))))
    return parts + multiplier_parts(task, answer)


def arrays(task: Task, answer: Answer) -> tuple[Array | None, Array | None, Array | None]:
    """Weights, α and coefficients in their shapes."""
    weights = of_shape("weights", answer.weights, (task.count,), undefined=answer.coefficients is not None)
    alpha = of_shape("alpha", answer.alpha, (task.samples,))
    return weights, alpha, of_shape("coefficients", answer.coefficients, (task.count, task.samples))


# ------------------------------------------------------------------------------------------------------- weights
def weights_part(case: Case, weights: Array, spelled_out: bool) -> Part:
    """In a block-∞ formulation the weight of a kernel that hardly sees α means nothing: there coefficients, where they
    are `spelled_out`, are judged instead."""
    if not np.isfinite(weights).all():
        return Part("weights", note="some are undefined: the coefficients are judged in their place")
    violations, feasible = placed(case.formulation, case.task, weights)
    shown = tuple(violations)
    if case.formulation.between is not None and spelled_out:
        return Part("weights", shown, note="the coefficients are judged in their place")
    if case.formulation.between is None:
        value, _ = worth(case.formulation, case.task, feasible)
        return Part("weights", shown, "upper", value, note="the SVM with these weights")
    if (feasible > 0).all():
        return Part(
            "weights", shown, excess=_saddle_excess(case, feasible), note="t and λ of the weights, judged apart"
        )
    alpha = machine_alpha(case.task, feasible)
    bound = case.formulation.upper(case.task, Implied(feasible, alpha * case.task.y))
    return Part("weights", shown, "upper", bound.value, note="the SVM with these weights")


def machine_alpha(task: Task, weights: Array) -> Array:
    """α of the SVM with these weights; zero if there are none."""
    from ..solvers._machine import Machine

    if not weights.any():
        return task.feasible(np.zeros(task.samples))
    return task.feasible(Machine(task, FINE)(task.combined(weights)))


def worth(formulation: SingleTask, task: Task, weights: Array, alpha: Array | None = None) -> tuple[float, float]:
    """½ Σ μ q + R(μ) + risk of the classifier that feasible weights make with α, or with their own SVM's; and the
    saddle function gain(α) − ½ Σ μ q + R(μ) there."""
    alpha = machine_alpha(task, weights) if alpha is None else alpha
    regulariser = formulation.regulariser
    price = 0.0 if regulariser is None else float(np.sum(regulariser.value(weights, **task.own)))
    cost = float(weights @ task.correlations(alpha) ** 2) / 2
    outputs, _ = task.evaluate(Implied(weights, alpha * task.y))
    return cost + price + task.risk(outputs).value, task.gain(alpha) - cost + price


def _saddle_excess(case: Case, weights: Array) -> float:
    """How far the optimum with λ held lies above, or the one with t held below, the optimum."""
    task, formulation, known = case.task, case.formulation, case.known
    t, within, groups = shares(formulation, task, weights)
    common = {"C": case.parameters["C"], "bias": case.parameters["bias"]}
    excess = 0.0
    if len(t) < len(groups):
        joined = np.stack([task.combined(np.where(groups == j, within, 0.0)) for j in range(len(t))])
        own = {"s": case.parameters["s"]} if "s" in case.parameters else {}
        held = _optimum(case, joined, formulation.name, np.arange(len(t)), **common, **own)
        excess = (held.upper - known.lower) / known.scale
    if len(t) > 1:
        totals = np.bincount(groups, weights=weights)[groups]
        scaled = np.stack([total * kernel for total, kernel in zip(totals, task.each_kernel(), strict=True)])
        held = _optimum(case, scaled, SINGLE_GROUPS, groups, **common, s=2.0)
        excess = max(excess, (known.upper - held.lower) / known.scale)
    return max(excess, 0.0)


def _optimum(case: Case, kernels: Array, name: str, groups: Any, **given: Any) -> Any:
    from ..solving import solve

    instance = case.instance
    changed = instance.with_kernels(
        kernels, names=None, groups=groups, test_kernels=None, test_y=None, test_diagonals=None
    )
    return solve(changed, name, solver="interior", tol=1e-10, **given).certificate


# --------------------------------------------------------------------------------------------------- α, bias, the rest
def alpha_part(case: Case, alpha: Array) -> Part:
    return Part(
        "alpha", tuple(alpha_violations(case.task, alpha)), "lower", case.formulation.lower(case.task, alpha).value
    )


def alpha_violations(task: Task, alpha: Array) -> list[Violation]:
    size, total = float(task.box.max()), float(np.abs(alpha).sum()) or 1.0
    found = [
        Violation("α ≥ 0", max(0.0, -float(alpha.min())) / size),
        Violation("α ≤ C", max(0.0, float(np.max(alpha - task.box))) / size),
    ]
    if task.bias:
        found.append(Violation("y'α = 0", abs(float(task.y @ alpha)) / total))
    if task.loss == "nu":
        found.append(Violation("Σ α = 1", abs(float(alpha.sum()) - 1)))
    return found


def bias_part(case: Case, weights: Array | None, alpha: Array | None, coefficients: Array | None, bias: float) -> Part:
    """What the bias adds to the risk: of the coefficients given; else the least of what it adds to the risk of the
    classifiers that the weights and α, the weights alone, and the certified optimum make."""
    task = case.task
    if not task.bias:
        return Part("bias", (Violation("bias = 0", abs(bias)),))
    if coefficients is not None:
        candidates, note = [coefficients], "for the coefficients given"
    else:
        candidates, note = [case.reference.all_coefficients], "for the optimal classifier"
        if weights is not None and np.isfinite(weights).all() and (weights > 0).any():
            positive = np.maximum(weights, 0.0)
            own = [machine_alpha(task, positive), *([] if alpha is None else [alpha])]
            candidates += [np.outer(positive, one * task.y) for one in own]
            note = "for the classifier of the weights"
    added = [added_risk(task, task.evaluate(candidate)[0], bias) for candidate in candidates]
    return Part("bias", excess=min(added) / case.known.scale, note=note)


def added_risk(task: Task, outputs: Array, bias: float) -> float:
    """risk with this bias (and the best ρ) less the risk with the best."""
    held = replace(task, bias=False)
    return max(held.risk(outputs + bias).value - task.risk(outputs).value, 0.0)


def multiplier_parts(task: Task, answer: Answer) -> list[Part]:
    """Multipliers that live on simplices: λ of li and of each of ckl's and vskl's groups, γ of ckl's groups."""
    parts, given = [], answer.multipliers
    groups = task.own.get("groups")
    if given.get("lambda") is not None:
        share = in_shape("lambda", given["lambda"], (task.count,))
        sums = np.atleast_1d(share.sum() if groups is None else np.bincount(groups, weights=share))
        parts.append(_simplices("lambda", share, sums))
    if given.get("gamma") is not None and groups is not None:
        gamma = in_shape("gamma", given["gamma"], (int(groups.max()) + 1,))
        parts.append(_simplices("gamma", gamma, np.atleast_1d(gamma.sum())))
    return parts


def _simplices(name: str, values: Array, sums: Array) -> Part:
    below = Violation(f"{name} ≥ 0", max(0.0, -float(values.min())))
    return Part(name, (below, Violation(f"Σ {name} = 1", float(np.abs(sums - 1).max()))))
