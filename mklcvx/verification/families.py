"""Every family's answers, part by part; the parts that are missing are solved for where a judgement needs them.

Many labels: p on the simplex is worth Σ_k H_k(p) (the largest H_k(p)), each an SVM; α and γ are worth their lower
bound, and where γ is missing the best one is taken, a linear program: max over γ ∈ Δ of Σ γ_k 1'α^k − max_a ½ Σ_k γ_k
q_a^k. Two stages: μ is worth its own objective, β its lower bound; α and b belong to the SVM with the kernel that the
weights make, and are judged as such. Hypergraphs: θ proves a lower bound, Z an upper one, eigenvalues are claims.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ..errors import InputError
from ..formulations import SingleTask, Task
from ..formulations.families.hypergraph import Embedding, Hypergraph, solved
from ..formulations.families.multi_label import ClassDual, ClassPrimal, LabelTask, MultiLabel
from ..formulations.ml_sum import ML_SUM
from ..formulations.svm import SVM
from ..problem.stack import Array, KernelStack
from .answers import FINE, Answer, in_shape, of_shape
from .case import Case
from .domain import negative, on_simplex
from .parts import Enclosure, Part, Violation
from .single_task import added_risk, alpha_violations, machine_alpha, single_task_parts


def proved_parts(case: Case, answer: Answer, rigorous: bool = False) -> list[Part]:
    """What the parts of an answer violate, prove and claim; unless `rigorous`, up to rounding."""
    with np.errstate(all="ignore"):
        if isinstance(case.formulation, SingleTask):
            parts = single_task_parts(case, answer, rigorous)
        else:
            parts = _family(case)(case, answer)
    if answer.objective is not None:
        parts.append(Part("objective", (), "claim", answer.objective))
    return parts


def judged_parts(case: Case, answer: Answer, rigorous: bool = False) -> tuple[list[Part], Enclosure]:
    """Every part of the answer, measured, and what is known of the optimal value with the help of the answer. Plain
    bounds are for hypotheses; a verdict is `rigorous`."""
    parts = proved_parts(case, answer, rigorous)
    if answer.bounds is not None:
        parts.append(_claimed_bounds(case, *answer.bounds))
    if not any(part.conclusive for part in parts):
        raise InputError(
            f"answer: has nothing that can be judged for {case.formulation.name}: write weights, alpha or objective"
        )
    known = case.known.tightened([part for part in parts if part.proves != "claim"])
    return [part.measured(known) for part in parts], known


def _claimed_bounds(case: Case, lower: float, upper: float) -> Part:
    """A claimed certificate is true or false, whatever the rest is worth."""
    known = case.known
    low = Violation("lower ≤ optimum", max(0.0, lower - known.upper) / known.scale)
    high = Violation("optimum ≤ upper", max(0.0, known.lower - upper) / known.scale)
    return Part("certificate", (low, high), decided=True)


def _family(case: Case) -> Any:
    if isinstance(case.formulation, MultiLabel):
        return _many_labels
    return _hypergraph if isinstance(case.formulation, Hypergraph) else _two_stages


# --------------------------------------------------------------------------------------------------- many labels
def _many_labels(case: Case, answer: Answer) -> list[Part]:
    task, formulation, parts = case.task, case.formulation, []
    weights = of_shape("weights", answer.weights, (task.count,))
    alpha = of_shape("alpha", answer.alpha, task.signs.shape)
    gamma = of_shape("gamma", answer.multipliers.get("gamma"), (task.classes,))
    coefficients = of_shape("coefficients", answer.coefficients, (task.classes, task.count, task.samples))
    minimax = formulation.name == "ml_minimax"
    if weights is not None:
        violations, feasible = on_simplex("weights", weights)
        value = _classes_value(task, feasible, minimax)
        parts.append(Part("weights", tuple(violations), "upper", value, note="one SVM per class with these weights"))
    if gamma is not None and minimax:
        violations, shares = on_simplex("gamma", gamma)
        value = _weighted_optimum(task, shares)
        parts.append(Part("gamma", tuple(violations), "lower", value, note="the optimum with these weights of classes"))
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
    from ..solvers.conic import solve_declared

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


# ---------------------------------------------------------------------------------------------------- two stages
def _two_stages(case: Case, answer: Answer) -> list[Part]:
    task, formulation, parts = case.task, case.formulation, []
    weights = of_shape("weights", answer.weights, (task.count,))
    if weights is not None:
        violations = (negative("weights", weights),)
        if formulation.maximises:
            parts.append(Part("weights", violations, "lower", formulation.lower(task, weights).value))
        else:
            parts.append(Part("weights", violations, "upper", formulation.upper(task, weights).value))
    if answer.multipliers.get("beta") is not None and not formulation.maximises:
        beta = in_shape("beta", answer.multipliers["beta"], task.labels.shape)
        size = float(task.weight.max())
        over = max(0.0, float(np.max(beta - task.weight)), -float(beta.min())) / size
        parts.append(Part("beta", (Violation("0 ≤ β ≤ w", over),), "lower", formulation.lower(task, beta).value))
    if answer.alpha is not None or answer.bias is not None:
        parts += _second_stage(case, answer, case.reference.weights if weights is None else weights)
    return parts


def _second_stage(case: Case, answer: Answer, weights: Array) -> list[Part]:
    """α and bias of the SVMs with the kernel that the weights make, each measured by its own SVM's value."""
    instance, count = case.instance, case.reference.y.ndim
    signs = np.atleast_2d(case.reference.y)
    shape = signs.shape if count == 2 else signs.shape[1:]
    alpha, bias = of_shape("alpha", answer.alpha, shape), of_shape("bias", answer.bias, shape[:-1])
    kernel = KernelStack(instance.kernels, symmetric=instance.symmetric).combined(np.maximum(weights, 0.0))
    box, note = case.parameters["C"] * instance.sample_weight, "in the second stage's SVM"
    excesses, added, violations = [0.0], [0.0], []
    for k, labels in enumerate(signs):
        task = Task(kernel[None], labels, box)
        best = machine_alpha(task, np.ones(1))
        upper, scale = SVM.upper(task, (best * labels)[None]).value, SVM.lower(task, best).largest_term or 1.0
        if alpha is not None:
            own = np.atleast_2d(alpha)[k]
            violations += alpha_violations(task, own)
            excesses.append((upper - SVM.lower(task, own).value) / scale)
        if bias is not None:
            given = [best, *([] if alpha is None else [np.atleast_2d(alpha)[k]])]
            outputs = [task.evaluate((one * labels)[None])[0] for one in given]
            added.append(min(added_risk(task, out, float(np.atleast_1d(bias)[k])) for out in outputs) / scale)
    parts = [] if alpha is None else [Part("alpha", tuple(violations), excess=max(excesses), note=note)]
    return parts if bias is None else [*parts, Part("bias", excess=max(added), note=note)]


# --------------------------------------------------------------------------------------------------- hypergraphs
def _hypergraph(case: Case, answer: Answer) -> list[Part]:
    task, parts = case.task, []
    weights = of_shape("weights", answer.weights, (task.count,))
    if weights is not None:
        violations, theta = on_simplex("weights", weights)
        value = case.formulation.lower(task, Embedding(theta, solved(task, theta))).value
        parts.append(Part("weights", tuple(violations), "lower", value))
    z = of_shape("Z", answer.multipliers.get("Z"), task.h.shape)
    if z is not None:
        parts.append(Part("Z", (), "upper", case.formulation.upper(task, z).value))
    return parts + _eigenvalues(case, answer)


def _eigenvalues(case: Case, answer: Answer) -> list[Part]:
    """For the exact form their sum is tr(C) plus the optimal value."""
    if answer.multipliers.get("eigenvalues") is None or case.task.smoothing is not None:
        return []
    values = in_shape("eigenvalues", answer.multipliers["eigenvalues"], (case.task.h.shape[1],))
    claim = float(values.sum()) - float(np.sum(case.task.h**2))
    return [Part("eigenvalues", (), "claim", claim, note="their sum less tr(C)")]
