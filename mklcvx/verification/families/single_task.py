"""Single tasks, part by part.

Weights μ are worth what the best classifier with them costs, V(μ) = max over α of gain(α) − ½ Σ μ_m q_m(α) + R(μ),
never below the optimum: the SVM with these weights is solved for it. In the block-∞ formulations t and λ of the
weights are judged apart (`blockwise`). α is worth its lower bound, coefficients their upper bound with the best bias, a
bias what it adds to the risk of the classifier it comes with. Bounds are proved where that is asked for, else plain.

Do the parts belong together?

The saddle function φ(μ, α) = gain(α) − ½ Σ μ_m q_m(α) + R(μ) lies between what the weights are worth and what α proves:

    V(μ) = max over α of φ ≥ φ(μ, α) ≥ min over μ of φ = lower(α).

V(μ) − φ says how far α is from being the SVM's solution at these weights, φ − lower(α) how far the weights are from
being those that α implies; both vanish at the optimum and add up to the gap. (In the block-∞ formulations φ can also
lie below lower(α); the distance counts.) Coefficients belong to weights and α if f_m = μ_m K_m(α∘y), in the norm of
the kernels' space.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ...certificate import Certificate
from ...errors import InputError
from ...formulations import Implied, SingleTask, Task
from ...problem.stack import Array
from ..answers import FINE, Answer, in_shape, of_shape
from ..blockwise import saddle_excess
from ..case import FINER, Case, Part, Violation
from ..domain import placed
from ..multipliers import multiplier_parts
from ..proved_answers import alpha_lower, answer_certificate, upper_certificate, weights_upper
from ..uniqueness import FINEST, MOST, Program, Range, in_program
from .family import Family


class SingleTasks(Family):
    def certificate(self, formulation: Any, task: Any, answer: Answer, tolerance: float) -> Certificate:
        weights, alpha, coefficients = arrays(task, answer)
        low = of_shape("alpha_low", answer.alpha_low, (task.samples,))
        if alpha is None and coefficients is None and weights is not None:
            alpha = _machine_alpha(task, weights)
        return answer_certificate(formulation, task, weights, alpha, coefficients, low, tolerance)

    def parts(self, case: Case, answer: Answer, rigorous: bool) -> list[Part]:
        task, parts = case.task, []
        weights, alpha, coefficients = arrays(task, answer)
        if weights is not None:
            parts.append(weights_part(case, weights, coefficients is not None, rigorous))
        if alpha is not None:
            parts.append(alpha_part(case, alpha, rigorous))
        if coefficients is not None:
            parts.append(coefficients_part(case, coefficients, weights, rigorous))
        if answer.bias is not None:
            parts.append(bias_part(case, weights, alpha, coefficients, float(in_shape("bias", answer.bias, ()))))
        return parts + multiplier_parts(case, alpha, answer)

    def together(self, case: Case, answer: Answer) -> dict[str, float]:
        """Distances of the parts, relative to the problem's scale; empty where there is one."""
        task, scale = case.task, case.known.scale
        weights, alpha, coefficients = arrays(task, answer)
        if weights is None or alpha is None or not np.isfinite(weights).all() or not (weights > 0).any():
            return {}
        lower = case.formulation.lower(task, alpha)
        feasible = placed(case.formulation, task, weights).weights
        _, best = worth(case.formulation, task, feasible)
        _, here = worth(case.formulation, task, feasible, lower.alpha)
        found = {
            "alpha_at_weights": max(best - here, 0.0) / scale,
            "weights_at_alpha": abs(here - lower.value) / scale,
        }
        if coefficients is not None:
            implied = np.outer(weights, alpha * task.y)
            distance, size = (np.linalg.norm(task.evaluate(c)[1]) for c in (coefficients - implied, implied))
            found["coefficients"] = float(distance / (size or 1.0))
        return found

    def ranges(self, case: Case, tolerance: float) -> list[Range] | None:
        if not _linear(case):
            return []
        small = case.task.samples <= MOST**0.5 * 4
        return in_program(case, _program(case, max(tolerance, FINEST))) if small else None


def _machine_alpha(task: Task, weights: Array) -> Array:
    from ...solvers.svm import Machine

    if not (weights > 0).any():
        raise InputError("answer: no weight is positive, and there is no alpha: write alpha as well")
    return Machine(task, FINE)(task.combined(np.maximum(weights, 0.0)))


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


def _program(case: Case, tolerance: float) -> Program:
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


def arrays(task: Task, answer: Answer) -> tuple[Array | None, Array | None, Array | None]:
    """Weights, α and coefficients in their shapes."""
    weights = of_shape("weights", answer.weights, (task.count,), undefined=answer.coefficients is not None)
    alpha = of_shape("alpha", answer.alpha, (task.samples,))
    return weights, alpha, of_shape("coefficients", answer.coefficients, (task.count, task.samples))


# ------------------------------------------------------------------------------------------------------- weights
def weights_part(case: Case, weights: Array, spelled_out: bool, rigorous: bool) -> Part:
    """In a block-∞ formulation the weight of a kernel that hardly sees α means nothing: there coefficients, where they
    are `spelled_out`, are judged instead."""
    if not np.isfinite(weights).all():
        return Part("weights", note="some are undefined: the coefficients are judged in their place")
    violations, feasible = placed(case.formulation, case.task, weights)
    shown = tuple(violations)
    if case.formulation.between is not None and spelled_out:
        return Part("weights", shown, note="the coefficients are judged in their place")
    if case.formulation.between is None:
        value = _proved_worth(case, feasible) if rigorous else worth(case.formulation, case.task, feasible)[0]
        return Part("weights", shown, "upper", value, note="the SVM with these weights")
    if (feasible > 0).all():
        return Part("weights", shown, excess=saddle_excess(case, feasible), note="t and λ of the weights, judged apart")
    signed = machine_alpha(case.task, feasible) * case.task.y
    if rigorous:
        value = upper_certificate(case.formulation, case.task, signed * case.task.y, np.outer(feasible, signed)).upper
    else:
        value = case.formulation.upper(case.task, Implied(feasible, signed)).value
    return Part("weights", shown, "upper", value, note="the SVM with these weights")


def _proved_worth(case: Case, weights: Array) -> float:
    alpha = machine_alpha(case.task, weights)
    return weights_upper(case.formulation, case.task, weights, alpha, FINER * case.tolerance)


def machine_alpha(task: Task, weights: Array) -> Array:
    """α of the SVM with these weights; zero if there are none."""
    from ...solvers.svm import Machine

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


# --------------------------------------------------------------------------------------------------- α, bias, the rest
def alpha_part(case: Case, alpha: Array, rigorous: bool) -> Part:
    task, formulation = case.task, case.formulation
    value = alpha_lower(formulation, task, alpha) if rigorous else formulation.lower(task, alpha).value
    return Part("alpha", tuple(alpha_violations(task, alpha)), "lower", value)


def coefficients_part(case: Case, coefficients: Array, weights: Array | None, rigorous: bool) -> Part:
    task, formulation = case.task, case.formulation
    if rigorous:
        nothing = task.feasible(np.zeros(task.samples))
        value = upper_certificate(formulation, task, nothing, coefficients, weights).upper
    else:
        value = formulation.upper(task, coefficients).value
    return Part("coefficients", (), "upper", value, note="with the best bias")


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
        return Part("bias", (Violation("bias = 0", abs(bias)),), decided=True)
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
