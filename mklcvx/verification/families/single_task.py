"""Single tasks. Do the parts of an answer belong together?

The saddle function φ(μ, α) = gain(α) − ½ Σ μ_m q_m(α) + R(μ) lies between what the weights are worth and what α proves:

    V(μ) = max over α of φ ≥ φ(μ, α) ≥ min over μ of φ = lower(α).

V(μ) − φ says how far α is from being the SVM's solution at these weights, φ − lower(α) how far the weights are from
being those that α implies; both vanish at the optimum and add up to the gap. (In the block-∞ formulations φ can also
lie below lower(α); the distance counts.) Coefficients belong to weights and α if f_m = μ_m K_m(α∘y), in the norm of
the kernels' space.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...certificate import Certificate
from ...errors import InputError
from ...formulations import Task
from ...problem.stack import Array
from ..answer import FINE, Answer, of_shape
from ..case import Case
from ..domain import placed
from ..parts import Part
from ..proved_answers import answer_certificate
from ..single_task import arrays, single_task_parts, worth
from ..uniqueness import FINEST, MOST, Program, Range, in_program
from .family import Family


class SingleTasks(Family):
    def certificate(self, formulation: Any, task: Any, answer: Answer, tolerance: float) -> Certificate:
        weights = of_shape("weights", answer.weights, (task.count,), undefined=answer.coefficients is not None)
        alpha = of_shape("alpha", answer.alpha, (task.samples,))
        low = of_shape("alpha_low", answer.alpha_low, (task.samples,))
        coefficients = of_shape("coefficients", answer.coefficients, (task.count, task.samples))
        if alpha is None and coefficients is None and weights is not None:
            alpha = _machine_alpha(task, weights)
        return answer_certificate(formulation, task, weights, alpha, coefficients, low, tolerance)

    def parts(self, case: Case, answer: Answer, rigorous: bool) -> list[Part]:
        return single_task_parts(case, answer, rigorous)

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
