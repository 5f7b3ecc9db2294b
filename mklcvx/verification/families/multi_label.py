"""Many labels: p on the simplex is worth Σ_k H_k(p) (the largest H_k(p)), each an SVM; α and γ are worth their lower
bound, and where γ is missing the best one is taken, a linear program: max over γ ∈ Δ of Σ γ_k 1'α^k − max_a ½ Σ_k γ_k
q_a^k. The parts that are missing are solved for where a judgement needs them.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ...errors import InputError
from ...formulations import Points, Task
from ...formulations.families.multi_label import ClassDual, ClassPrimal, LabelTask
from ...formulations.ml_sum import ML_SUM
from ...formulations.svm import SVM
from ...problem.stack import Array
from ..answers import FINE, Answer, in_shape, of_shape
from ..case import Case, Part, Violation
from ..domain import on_simplex
from ..uniqueness import FINEST, MOST, Program, Range, in_program
from .family import Family
from .single_task import machine_alpha


class ManyLabels(Family):
    slow, biased = True, False

    def points(self, formulation: Any, task: Any, answer: Answer) -> Points:
        shape = task.signs.shape
        weights = of_shape("weights", answer.weights, (task.count,))
        alpha = of_shape("alpha", answer.alpha, shape)
        gamma = of_shape("gamma", answer.multipliers.get("gamma", np.ones(task.classes)), shape[:1])
        coefficients = of_shape("coefficients", answer.coefficients, (task.classes, task.count, task.samples))
        if weights is None or alpha is None or gamma is None or weights.sum() <= 0 or gamma.sum() <= 0:
            raise InputError("answer: weights or alpha are missing, or all zero: write both")
        if coefficients is None:
            coefficients = weights[None, :, None] * (alpha * task.signs)[:, None, :] / weights.sum()
        return Points([ClassDual(gamma[:, None] * alpha, gamma)], [ClassPrimal(coefficients, weights)])

    def parts(self, case: Case, answer: Answer, rigorous: bool) -> list[Part]:
        task, formulation, parts = case.task, case.formulation, []
        weights = of_shape("weights", answer.weights, (task.count,))
        alpha = of_shape("alpha", answer.alpha, task.signs.shape)
        gamma = of_shape("gamma", answer.multipliers.get("gamma"), (task.classes,))
        coefficients = of_shape("coefficients", answer.coefficients, (task.classes, task.count, task.samples))
        minimax = formulation.name == "ml_minimax"
        if weights is not None:
            violations, feasible = on_simplex("weights", weights)
            value = _classes_value(task, feasible, minimax)
            parts.append(
                Part("weights", tuple(violations), "upper", value, note="one SVM per class with these weights")
            )
        if gamma is not None and minimax:
            violations, shares = on_simplex("gamma", gamma)
            value = _weighted_optimum(task, shares)
            parts.append(
                Part("gamma", tuple(violations), "lower", value, note="the optimum with these weights of classes")
            )
        if alpha is not None:
            parts.append(_class_alpha(case, alpha, gamma if minimax else None))
        if coefficients is not None:
            shared = np.sqrt(np.maximum(np.ones(task.classes) @ task.evaluate(coefficients)[1], 0.0))
            given = shared if weights is None else on_simplex("weights", weights).weights
            bound = formulation.upper(task, ClassPrimal(coefficients, given if given.any() else np.ones(task.count)))
            parts.append(Part("coefficients", (), "upper", bound.value))
        if answer.bias is not None:
            bias = in_shape("bias", answer.bias, np.shape(answer.bias))
            parts.append(Part("bias", (Violation("bias = 0", float(np.abs(bias).max(initial=0.0))),), decided=True))
        return parts

    def ranges(self, case: Case, tolerance: float) -> list[Range] | None:
        small = case.task.samples * case.task.classes * (1 + case.task.classes) <= MOST
        return in_program(case, _program(case, max(tolerance, FINEST))) if small else None


def class_tasks(task: LabelTask, kernel: Array) -> list[Task]:
    return [Task(kernel[None], signs, task.box, "c", False) for signs in task.signs]


def _classes_value(task: LabelTask, weights: Array, minimax: bool) -> float:
    kernel, values = task.combined(weights), []
    for single in class_tasks(task, kernel):
        alpha = machine_alpha(single, np.ones(1))
        values.append(SVM.upper(single, (alpha * single.y)[None]).value)
    return max(values) if minimax else float(task.importance @ values)


def _weighted_optimum(task: LabelTask, gamma: Array) -> float:
    """min over p of Σ γ_k H_k(p), which is at most the optimum of the minimax form: `ml_sum` with weighted classes."""
    from ...solvers.conic import solve_declared

    point, _ = solve_declared(ML_SUM, replace(task, importance=gamma), FINE)
    return float(point.lower.value)


def _class_alpha(case: Case, alpha: Array, gamma: Array | None) -> Part:
    task, size = case.task, float(case.task.box.max())
    violations = (
        Violation("α ≥ 0", max(0.0, -float(alpha.min())) / size),
        Violation("α ≤ C", max(0.0, float(np.max(alpha - task.box))) / size),
    )
    feasible, note = np.clip(alpha, 0.0, task.box), ""
    if case.formulation.name == "ml_sum":
        gamma = np.ones(task.classes)
    elif gamma is None or not (gamma > 0).any():
        gamma, note = best_gamma(task, feasible), "with the best γ for it"
    gamma = np.maximum(gamma, 0.0)
    value = case.formulation.lower(task, ClassDual(gamma[:, None] * feasible, gamma)).value
    return Part("alpha", violations, "lower", value, note=note)


def best_gamma(task: LabelTask, alpha: Array) -> Array:
    """The γ that makes the lower bound of α largest."""
    from scipy.optimize import linprog

    gains, halves = alpha.sum(axis=1), task.correlations(alpha) / 2
    cuts = np.hstack([halves.T, -np.ones((task.count, 1))])
    simplex = np.hstack([np.ones((1, task.classes)), [[0.0]]])
    limits = [(0, 1)] * task.classes + [(0, None)]
    found = linprog(np.append(-gains, 1.0), cuts, np.zeros(task.count), simplex, [1.0], limits)
    return np.asarray(found.x[:-1]) if found.x is not None else np.full(task.classes, 1 / task.classes)


def _program(case: Case, tolerance: float) -> Program:
    """Unknowns p and ξ of every class."""
    task, alpha = case.task, np.asarray(case.reference.alpha)
    n, count, classes = task.samples, task.count, task.classes
    halves, top = task.correlations(alpha) / 2, case.known.upper + tolerance * case.known.scale
    rows: list[Any] = []
    costs = []
    for k in range(classes):
        images = np.stack([kernel @ (alpha[k] * task.signs[k]) for kernel in task.each_kernel()], axis=1)
        slack = np.zeros((n, n * classes))
        slack[:, k * n : (k + 1) * n] = -np.eye(n)
        rows.append(np.hstack([-task.signs[k][:, None] * images, slack]))
        price = np.zeros(n * classes)
        price[k * n : (k + 1) * n] = task.box
        costs.append(np.concatenate([halves[k], price]))
    together = np.stack(costs) if case.formulation.name == "ml_minimax" else np.sum(costs, axis=0)[None]
    equal = np.concatenate([np.ones(count), np.zeros(n * classes)])[None]
    return Program(
        np.vstack([*rows, together]), np.concatenate([-np.ones(n * classes), np.full(len(together), top)]),
        equal, np.ones(1), [*[(0.0, 1.0)] * count, *[(0.0, None)] * (n * classes)],
    )  # fmt: skip
