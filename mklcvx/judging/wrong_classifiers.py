"""Usual mistakes in what makes the classifier of weights and α: the coefficients μ_m α∘y, and the bias."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..answers import Answer
from ..formulations import SingleTask
from ..formulations._stack import Array
from .case import Case
from .trial import Hypothesis, Trial, Trials
from .wrong_weights import SAME, given_weights


def coefficients(case: Case, answer: Answer) -> Trials:
    """Labels or weights that are missing from the coefficients, or weights that are in them twice."""
    given = answer.coefficients
    if given is None or not isinstance(case.formulation, SingleTask):
        return
    if given.shape != (case.task.count, case.task.samples):
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


def bias_of_bounded(case: Case, answer: Answer) -> Trials:
    """The mean of y − f over all support vectors, where only those below the bound have y f = 1."""
    alpha = case.reference.alpha if answer.alpha is None else np.ravel(answer.alpha)
    if answer.bias is None or not isinstance(case.formulation, SingleTask) or not case.parameters["bias"]:
        return
    task, right = case.task, case.reference.bias
    if alpha is None or len(alpha) != task.samples or not (alpha > 0).any():
        return
    signed = alpha * task.y
    left = task.y - task.combined(np.maximum(_weights(case, answer), 0.0)) @ signed
    everyone = float(left[alpha > SAME * alpha.max()].mean())
    if abs(everyone - answer.bias) <= SAME * max(1.0, abs(everyone)):
        words = "it is the mean over all support vectors, and those at the bound do not tell it"
    else:
        words = f"{float(answer.bias):.6g} was handed over where {float(right):.6g} belongs"
    yield Trial("bias_wrong", f"right but for the bias: {words}", replace(answer, bias=None))


def _weights(case: Case, answer: Answer) -> Array:
    given = given_weights(case, answer)
    return np.nan_to_num(case.reference.weights) if given is None else given


CLASSIFIERS: tuple[Hypothesis, ...] = (coefficients, bias_of_bounded)
