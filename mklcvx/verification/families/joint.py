"""Joint outputs: weights μ are worth what the best functions with them cost, α its lower bound, coefficients their
upper one, biases what they add to the risk. Bounds of weights and α pay for rounding where that is asked for.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ...certificate.joint import JointEvaluation, of_functions
from ...certificate.regularisers import Square, regulariser_of
from ...certificate.ridge import combined_ridge
from ...certificate.rounding import total_above
from ...errors import InputError
from ...formulations import Points, RankOneCoefficients
from ...formulations.families.joint import JointOutputs, JointTask
from ...formulations.families.multi_label import LabelTask
from ...formulations.svm import SVM
from ...problem.stack import Array
from ..answers import FINE, Answer, in_shape, of_shape
from ..case import AnswerPart, Case, Violation
from ..domain import placed, too_long
from ..proved_answers import NO_PRICE, centred, weights_for_functions
from .family import FamilyJudge
from .single_task import bias_part


class JointJudge(FamilyJudge[JointOutputs, JointTask]):
    slow, machines = True, True
    in_points = ("weights", "alpha", "coefficients")

    def points(self, formulation: JointOutputs, task: JointTask, answer: Answer) -> Points:
        weights, alpha, coefficients = arrays(task, answer)
        if coefficients is None and weights is not None and alpha is not None:
            coefficients = np.asarray(RankOneCoefficients(weights, alpha * task.signs))
        if alpha is None and coefficients is None:
            raise InputError("answer: alpha or coefficients are missing: write weights and alpha, or coefficients")
        return Points([] if alpha is None else [alpha], [] if coefficients is None else [coefficients])

    def parts(self, case: Case, answer: Answer, rigorous: bool) -> list[AnswerPart]:
        task, formulation, parts = case.task, case.formulation, []
        weights, alpha, coefficients = arrays(task, answer)
        if weights is not None:
            violations, feasible = placed(formulation.single, task, weights)
            note = "the best functions with these weights"
            parts.append(AnswerPart("weights", violations, "upper", _worth(case, feasible, rigorous), note=note))
        if alpha is not None:
            side = regulariser_of(formulation.name, task.count, task.own)
            feasible = task.feasible(alpha)
            lower = formulation.lower(task, alpha)
            value, broken = lower.value, alpha_violations(task, alpha, feasible) + too_long(feasible, lower.alpha)
            if rigorous:  # the lower bound asks for no weights
                value = JointEvaluation(side, task, feasible, np.zeros(task.count), sliced=True).lower
            parts.append(AnswerPart("alpha", tuple(broken), "lower", value))
        if coefficients is not None:
            upper = formulation.upper(task, coefficients).value
            value = _functions_upper(case, coefficients, weights) if rigorous else upper
            parts.append(AnswerPart("coefficients", (), "upper", value, note="with the best biases"))
        if answer.bias is not None:
            ours = case.reference.all_coefficients if coefficients is None else coefficients
            bias = in_shape("bias", answer.bias, (task.outputs,))[:, None]
            note = "for the optimal functions" if coefficients is None else "for the coefficients given"
            parts.append(bias_part(case, bias, [ours], note))
        return parts


def arrays(task: JointTask | LabelTask, answer: Answer) -> tuple[Array | None, Array | None, Array | None]:
    """Weights, α and coefficients in their shapes."""
    outputs, samples = task.signs.shape
    weights, alpha = (
        of_shape("weights", answer.weights, (task.count,)),
        of_shape("alpha", answer.alpha, task.signs.shape),
    )
    return weights, alpha, of_shape("coefficients", answer.coefficients, (outputs, task.count, samples))


def _worth(case: Case, weights: Array, rigorous: bool) -> float:
    """R(μ) + the optimal value with the kernel K(μ)."""
    from ...solvers.conic import solve_declared

    task, side = case.task, regulariser_of(case.formulation.name, case.task.count, case.task.own)
    mu = side.held(weights)
    alone = replace(task, kernels=task.combined(mu)[None], own={}, symmetric=True, sizes=None, offsets=None)
    point, _ = solve_declared(JointOutputs.of(SVM), alone.centred(), FINE)
    if not rigorous:
        return float(point.upper.value + side.value(mu))
    at = JointEvaluation(Square(task.count, NO_PRICE), task, task.feasible(point.lower.alpha), mu, sliced=True)
    certificate = at.bounds(combined_ridge(task, mu, task.bias)).certificate
    return total_above([certificate.upper, side.value(mu)])


def _functions_upper(case: Case, coefficients: Array, weights: Array | None) -> float:
    """The upper bound of functions, with the weights given or those that fit them best."""
    task, single = case.task, case.formulation.single
    nothing, own = task.feasible(np.zeros(task.y.shape)), centred(coefficients) if task.bias else coefficients
    norms, used = task.evaluate(own)[1], np.asarray(own.any(axis=(0, 2)))
    side = regulariser_of(case.formulation.name, task.count, task.own)
    tried = weights_for_functions(single.weights(norms, np.zeros(task.count), **task.own), used, weights)
    return min(of_functions(side, task, nothing, mu, own).upper for mu in tried)


def alpha_violations(task: JointTask, alpha: Array, feasible: Array) -> list[Violation]:
    """How far α is from its feasible set, and from sums of zero over the samples."""
    size = float(np.abs(alpha).max(initial=0.0)) or 1.0
    violations = [Violation("α feasible", float(np.abs(alpha - feasible).max()) / size)]
    if task.bias:
        sums = np.abs((alpha * task.signs).sum(axis=1)).max()
        violations.append(Violation("Σ β = 0", float(sums) / (float(np.abs(alpha).sum()) or 1.0)))
    return violations
