"""Two stages: μ is worth its own objective, β its lower bound; α and b belong to the SVM with the kernel that the
weights make, and are judged as such.
"""

from __future__ import annotations

import numpy as np

from ...formulations import Points, Task
from ...formulations.alignment import Alignment, AlignmentTask
from ...formulations.families.two_stage import PairTask, TwoStage
from ...formulations.svm import SVM
from ...problem.stack import Array, KernelStack
from ..answers import Answer, in_shape, of_shape
from ..case import AnswerPart, Case, Violation
from ..domain import negative
from ..uniqueness import FINEST, Bowl, Ends, Range, ends_of, in_bowl, wide
from .family import FamilyJudge, given_weights
from .single_task import added_risk, alpha_violations, machine_alpha

MOST_PAIRS = 1000  # beyond, the programs take seconds


class TwoStageJudge(FamilyJudge[TwoStage | Alignment, PairTask | AlignmentTask]):
    slow, second_stage = True, True
    in_points = ("weights", "beta")

    def points(self, formulation: TwoStage | Alignment, task: PairTask | AlignmentTask, answer: Answer) -> Points:
        weights = given_weights(formulation, task, answer)
        if isinstance(task, AlignmentTask):
            size = float(weights @ task.products @ weights)
            along = max(float(task.target @ weights), 0.0)
            return Points([weights], [weights * along / size if size > 0 else weights])
        beta = of_shape("beta", answer.multipliers.get("beta"), task.labels.shape)
        return Points([] if beta is None else [beta], [weights])

    def parts(self, case: Case, answer: Answer, rigorous: bool) -> list[AnswerPart]:
        task, formulation, parts = case.task, case.formulation, []
        weights = of_shape("weights", answer.weights, (task.count,))
        if weights is not None:
            side = "lower" if formulation.maximises else "upper"
            value = getattr(formulation, side)(task, weights).value
            parts.append(AnswerPart("weights", (negative("weights", weights),), side, value))
        if answer.multipliers.get("beta") is not None and not formulation.maximises:
            beta = in_shape("beta", answer.multipliers["beta"], task.labels.shape)
            size = float(task.weight.max())
            over = max(0.0, float(np.max(beta - task.weight)), -float(beta.min())) / size
            parts.append(
                AnswerPart("beta", (Violation("0 ≤ β ≤ w", over),), "lower", formulation.lower(task, beta).value)
            )
        if answer.alpha is not None or answer.bias is not None:
            parts += _second_stage(case, answer, case.reference.weights if weights is None else weights)
        return parts

    def ranges(self, case: Case, tolerance: float) -> list[Range] | None:
        """`ts` is strictly convex; without any weight there is no size that differences could be measured by."""
        if case.formulation.name == "ts":
            return []
        if not case.reference.weights.any():
            return None
        if case.formulation.maximises:
            return in_bowl(case, alignment_bowl(case, max(tolerance, FINEST)))
        return wide(case, pair_ends(case, max(tolerance, FINEST)))


def alignment_bowl(case: Case, tolerance: float) -> Bowl | None:
    """The alignment's square is what the program has: twice the alignment times what is off."""
    task, weights = case.task, case.reference.weights
    size, along = float(weights @ task.products @ weights), float(task.target @ weights)
    if size <= 0 or along <= 0:
        return None
    mu = weights * (along / size)
    slack = np.maximum(2 * (task.products @ mu - task.target), 0.0)
    budget = 2 * tolerance * case.known.scale * case.known.upper
    return Bowl(mu, slack, task.products, 1.0, budget, False, 1 / float(np.linalg.norm(mu)))


def pair_ends(case: Case, tolerance: float) -> Ends | None:
    """`ts_l1`: unknowns μ and ξ."""
    from scipy import sparse

    task, pairs = case.task, len(case.task.labels)
    if pairs > MOST_PAIRS:
        return None
    margins = sparse.csr_matrix(-(task.labels[:, None] * task.examples))
    cost = sparse.csr_matrix(np.concatenate([np.full(task.count, task.lam), task.weight])[None])
    rows = sparse.vstack([sparse.hstack([margins, -sparse.identity(pairs)]), cost]).tocsr()
    return ends_of(task.count, rows, np.append(-np.ones(pairs), case.known.upper + tolerance * case.known.scale))


def _second_stage(case: Case, answer: Answer, weights: Array) -> list[AnswerPart]:
    """α and bias of the SVMs with the kernel that the weights make, each measured by its own SVM's value."""
    instance, y = case.instance, case.reference.y
    alpha, bias = of_shape("alpha", answer.alpha, y.shape), of_shape("bias", answer.bias, y.shape[:-1])
    kernel = KernelStack(instance.kernels, symmetric=instance.symmetric).combined(np.maximum(weights, 0.0))
    box, note = case.parameters["C"] * instance.sample_weight, "in the second stage's SVM"
    excesses, added, violations = [0.0], [0.0], []
    for k, labels in enumerate(np.atleast_2d(y)):
        task = Task(kernel[None], labels, box)
        best = machine_alpha(task, np.ones(1))
        upper, scale = SVM.upper(task, (best * labels)[None]).value, SVM.lower(task, best).largest_term or 1.0
        given = [best] if alpha is None else [best, np.atleast_2d(alpha)[k]]
        if alpha is not None:
            violations += alpha_violations(task, given[1])
            excesses.append((upper - SVM.lower(task, given[1]).value) / scale)
        if bias is not None:
            outputs = [task.evaluate((each * labels)[None])[0] for each in given]
            added.append(min(added_risk(task, out, float(np.atleast_1d(bias)[k])) for out in outputs) / scale)
    parts = [] if alpha is None else [AnswerPart("alpha", tuple(violations), excess=max(excesses), note=note)]
    return parts if bias is None else [*parts, AnswerPart("bias", excess=max(added), note=note)]
