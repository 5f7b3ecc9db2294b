"""Single tasks: weights and α make the classifier, and every one of them can be mistaken."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ....problem.stack import Array
from ...answers import Answer
from ...case import Case
from ...families import judged_parts
from ..mistakes import Mistakes
from ..trial import Trial, Trials
from ..wrong_answers import ANSWERS, samples_order
from ..wrong_data import least_squares, sample_weights, squared_hinge
from ..wrong_kernels import KERNELS, constant_added, kernels_rescaled
from ..wrong_objectives import objective_terms, objective_units, single_task_terms
from ..wrong_problems import bias_setting, defaults, other_formulation, own_parameters, price_scaled
from ..wrong_scales import elastic_net, half, radius
from ..wrong_subsets import SUBSETS, label_misread, samples_left_out
from ..wrong_weights import (
    SAME,
    clipped,
    given_weights,
    weights_cut,
    weights_norms,
    weights_of_the_start,
    weights_order,
    weights_power,
    weights_reciprocal,
    weights_within_groups,
)  # fmt: skip


def weights_capped(case: Case, answer: Answer) -> Trials:
    """θ on the weights of `l1`."""
    regulariser = case.formulation.regulariser
    if regulariser is not None and regulariser.cap is not None and given_weights(case, answer) is not None:
        yield from clipped(case, answer, "the box weights ≤ θ", _cut_at(case, case.parameters["theta"]))


def _cut_at(case: Case, cap: float) -> list[Array]:
    """Weights of `l1` clipped once, and again and again while they are brought back to sum one."""
    from ....solvers.solving import solve

    given = {key: value for key, value in case.parameters.items() if key != "theta"}
    once = np.minimum(solve(case.instance, "l1", **given).weights, cap)
    again = once
    for _ in range(100):
        again = np.minimum(again / again.sum(), cap)
    return [once, again]


def coefficients(case: Case, answer: Answer) -> Trials:
    """Labels or weights that are missing from the coefficients, or weights that are in them twice."""
    given = answer.coefficients
    if given is None or given.shape != (case.task.count, case.task.samples):
        return
    weights, signs = _weights(case, answer)[:, None], case.task.y
    with np.errstate(all="ignore"):
        once = np.where(weights > 0, given / weights, 0.0)
    for name, words, meant in (
        ("coefficients_signed", "they lack the label's sign, μ α∘y is meant", given * signs),
        ("coefficients_weights", "they lack the weights, μ α∘y is meant", given * weights),
        ("coefficients_weights", "they lack the weights and the label's sign, μ α∘y is meant", given * weights * signs),
        ("coefficients_weights", "they have the weights twice, μ α∘y is meant", once),
    ):
        said = f"right but for the coefficients: {words}"
        yield Trial(name, said, replace(answer, coefficients=meant))
        if answer.bias is not None:  # it may have been found with the wrong ones
            yield Trial(name, f"{said}; and for the bias", replace(answer, coefficients=meant, bias=None))


def bias_wrong(case: Case, answer: Answer) -> Trials:
    """Nothing but the bias; perhaps the mean of y − f over all support vectors, where only those below the bound have
    y f = 1. A solver that stops early is off by δ in the bias and by δ² in the value: then it is not the bias alone."""
    alpha = case.reference.alpha if answer.alpha is None else np.ravel(answer.alpha)
    if answer.bias is None or not case.parameters["bias"]:
        return
    task, given, right = case.task, float(answer.bias), float(case.reference.bias)
    if alpha is None or len(alpha) != task.samples or not (alpha > 0).any():
        return
    parts = {part.name: part.off for part in judged_parts(case, answer)[0]}
    own = parts.pop("bias")
    if max(parts.values(), default=0.0) > own**2:
        return
    signed = alpha * task.y
    left = task.y - task.combined(np.maximum(_weights(case, answer), 0.0)) @ signed
    everyone = float(left[alpha > SAME * alpha.max()].mean())
    words = f"{given:.6g} was handed over where {right:.6g} belongs"
    if abs(everyone - given) <= SAME * abs(everyone - right):
        words = "it is the mean over all support vectors, and those at the bound do not tell it"
    yield Trial("bias_wrong", f"right but for the bias: {words}", replace(answer, bias=None))


def _weights(case: Case, answer: Answer) -> Array:
    given = given_weights(case, answer)
    return np.nan_to_num(case.reference.weights) if given is None else given


SINGLE_TASKS = Mistakes(
    answers=(*ANSWERS, weights_reciprocal),
    objectives=(objective_units(), objective_terms(single_task_terms)),
    rules=(samples_order, weights_capped),
    weights=(
        weights_order, weights_cut, weights_within_groups, weights_norms, weights_power, weights_of_the_start,
        coefficients,
    ),
    problems=(bias_setting, kernels_rescaled, price_scaled, half, other_formulation, own_parameters, defaults),
    subsets=(radius, elastic_net, *SUBSETS, samples_left_out, label_misread),
    data=(sample_weights, squared_hinge, least_squares),
    kernels=(constant_added, *KERNELS),
    last=(bias_wrong,),
    machines=True,
)  # fmt: skip
