"""Many labels: weights μ are worth Σ_k H_k(μ), or the largest H_k(μ), each the value of an SVM; α and γ are worth their
lower bound. Where γ is missing, the best one is computed by a linear program, max over γ ∈ Δ of
Σ_k γ_k 1'α^k − max_m ½ Σ_k γ_k q_m^k.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ...errors import InputError
from ...formulations import Points, Task
from ...formulations.families.multi_label import ClassDual, ClassPrimal, LabelTask, MultiLabel
from ...formulations.ml_sum import ML_SUM
from ...formulations.svm import SVM
from ...problem.stack import Array
from ..answers import FINE, Answer, in_shape, of_shape
from ..case import AnswerPart, Case, Violation
from ..domain import on_simplex, outside_box, relative
from ..uniqueness import FINEST, TIGHT, LinearProgram, Range, ends_of, wide
from .family import FamilyJudge
from .joint import arrays as of_outputs
from .single_task import machine_alpha

MOST = 20_000  # entries of a linear program's rows: with more, nothing is said of ranges of weights
IDLE = 1e-6  # share of the largest γ up to which a class does not count


class MultiLabelJudge(FamilyJudge[MultiLabel, LabelTask]):
    slow, biased, machines = True, False, True

    def points(self, formulation: MultiLabel, task: LabelTask, answer: Answer) -> Points:
        weights, alpha, gamma, coefficients = arrays(task, answer)
        gamma = np.ones(task.classes) if gamma is None else gamma
        if weights is None or alpha is None or weights.sum() <= 0 or gamma.sum() <= 0:
            raise InputError("answer: weights or alpha are missing, or all zero: write both")
        if coefficients is None:
            coefficients = weights[None, :, None] * (alpha * task.signs)[:, None, :] / weights.sum()
        return Points([ClassDual(gamma[:, None] * alpha, gamma)], [ClassPrimal(coefficients, weights)])

    def parts(self, case: Case, answer: Answer, rigorous: bool) -> list[AnswerPart]:
        task, formulation, parts = case.task, case.formulation, []
        weights, alpha, gamma, coefficients = arrays(task, answer)
        minimax, feasible = formulation.name == "ml_minimax", np.ones(task.count)
        if weights is not None:
            violations, feasible = on_simplex("weights", weights)
            value = _classes_value(task, feasible, minimax)
            parts.append(AnswerPart("weights", violations, "upper", value, note="one SVM per class with these weights"))
        if gamma is not None and minimax:
            violations, shares = on_simplex("gamma", gamma)
            value = _weighted_optimum(task, shares)
            note = "the optimum with these weights of classes"
            parts.append(AnswerPart("gamma", violations, "lower", value, note=note))
        if alpha is not None:
            parts.append(_class_alpha(case, alpha, gamma if minimax else None))
        if coefficients is not None:
            shared = np.sqrt(np.maximum(np.ones(task.classes) @ task.evaluate(coefficients)[1], 0.0))
            if weights is None and shared.any():
                feasible = shared
            bound = formulation.upper(task, ClassPrimal(coefficients, feasible))
            parts.append(AnswerPart("coefficients", (), "upper", bound.value))
        if answer.bias is not None:
            bias = in_shape("bias", answer.bias, np.shape(answer.bias))
            parts.append(AnswerPart("bias", (Violation("bias = 0", relative(bias, np.zeros(0))),), decided=True))
        return parts

    def ranges(self, case: Case, tolerance: float) -> list[Range] | None:
        if case.task.samples * case.task.classes * (1 + case.task.classes) > MOST:
            return None
        return wide(case, ends_of(case.task.count, *_program(case, max(tolerance, FINEST)), options=TIGHT))


def arrays(task: LabelTask, answer: Answer) -> tuple[Array | None, Array | None, Array | None, Array | None]:
    """Weights, α, γ and coefficients in their shapes."""
    weights, alpha, coefficients = of_outputs(task, answer)
    return weights, alpha, of_shape("gamma", answer.multipliers.get("gamma"), (task.classes,)), coefficients


def _classes_value(task: LabelTask, weights: Array, minimax: bool) -> float:
    kernel, values = task.combined(weights), []
    for signs in task.signs:
        single = Task(kernel[None], signs, task.box, "c", False)
        alpha = machine_alpha(single, np.ones(1))
        values.append(SVM.upper(single, (alpha * single.y)[None]).value)
    return max(values) if minimax else float(task.importance @ values)


def _weighted_optimum(task: LabelTask, gamma: Array) -> float:
    """min over μ of Σ γ_k H_k(μ), which is at most the optimum of the minimax form: `ml_sum` with weighted classes."""
    from ...solvers.conic import solve_declared

    point, _ = solve_declared(ML_SUM, replace(task, importance=gamma), FINE)
    return float(point.lower.value)


def _class_alpha(case: Case, alpha: Array, gamma: Array | None) -> AnswerPart:
    task, note = case.task, ""
    feasible = np.clip(alpha, 0.0, task.box)
    if case.formulation.name == "ml_sum":
        gamma = np.ones(task.classes)
    elif gamma is None or not (gamma > 0).any():
        gamma, note = best_gamma(task, feasible), "with the best γ for it"
    gamma = np.maximum(gamma, 0.0)
    free = list(map(str, np.array(case.instance.targets.names)[gamma <= IDLE * gamma.max()]))
    if free:  # only the worst classes have any γ
        note = "; ".join([note] * bool(note) + [f"of no account for {', '.join(free)}, whose γ is 0: not judged there"])
    value = case.formulation.lower(task, ClassDual(gamma[:, None] * feasible, gamma)).value
    return AnswerPart("alpha", tuple(outside_box(alpha, task.box)), "lower", value, note=note)


def best_gamma(task: LabelTask, alpha: Array) -> Array:
    """The γ that makes the lower bound of α largest."""
    from scipy.optimize import linprog

    gains, halves = alpha.sum(axis=1), task.q(alpha) / 2
    cuts = np.hstack([halves.T, -np.ones((task.count, 1))])
    simplex = np.hstack([np.ones((1, task.classes)), [[0.0]]])
    limits = [(0, 1)] * task.classes + [(0, None)]
    best = linprog(np.append(-gains, 1.0), cuts, np.zeros(task.count), simplex, [1.0], limits).x
    return np.asarray(best[:-1]) if best is not None else np.full(task.classes, 1 / task.classes)


def _program(case: Case, tolerance: float) -> LinearProgram:
    """Unknowns μ and ξ of every class, as `linprog` takes them."""
    task, alpha = case.task, np.asarray(case.reference.alpha)
    n, count, classes = task.samples, task.count, task.classes
    halves, top = task.q(alpha) / 2, case.known.upper + tolerance * case.known.scale
    images = np.stack([[kernel @ beta for beta in alpha * task.signs] for kernel in task.each_kernel()], axis=2)
    margins = np.hstack([-(task.signs[:, :, None] * images).reshape(n * classes, count), -np.eye(n * classes)])
    costs = np.hstack([halves, np.kron(np.eye(classes), task.box)])
    costs = costs if case.formulation.name == "ml_minimax" else np.sum(costs, axis=0)[None]
    bounds = np.concatenate([-np.ones(n * classes), np.full(len(costs), top)])
    equal = np.concatenate([np.ones(count), np.zeros(n * classes)])[None]
    return np.vstack([margins, costs]), bounds, equal, np.ones(1), [(0.0, 1.0)] * count + [(0.0, None)] * (n * classes)
