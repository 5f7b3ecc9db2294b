"""Usual mistakes in what was handed over, one small function each: how the answer must be changed to undo it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..answers import Answer
from ..case import Case
from .trial import Hypothesis, Trial, Trials
from .wrong_weights import weights_norm

DISTINCT = 3  # values of α between its bounds that make it recognisable in another order


def objective_sign(case: Case, answer: Answer) -> Trials:
    if answer.objective:
        words = "right but for the objective's sign: the negative of a maximum was minimised, or the reverse"
        yield Trial("objective_sign", words, replace(answer, objective=-answer.objective))


def objective_half(case: Case, answer: Answer) -> Trials:
    if answer.objective:
        for factor, fault in ((2.0, "half"), (0.5, "twice")):
            words = f"right but for the objective, which is {fault} of what it should be: a ½ too many or too few"
            yield Trial("objective_half", words, replace(answer, objective=factor * answer.objective))


def bias_sign(case: Case, answer: Answer) -> Trials:
    if answer.bias is not None and np.any(answer.bias):
        words = "right but for the sign of the bias: f + b is meant, not f − b (or the classes are swapped)"
        yield Trial("bias_sign", words, replace(answer, bias=-answer.bias))


def bias_dropped(case: Case, answer: Answer) -> Trials:
    if answer.bias is not None and not np.any(answer.bias):
        right = np.array2string(np.asarray(case.reference.bias), precision=6)
        words = f"right but for the bias: 0 was handed over where {right} belongs"
        yield Trial("bias_omitted", words, replace(answer, bias=None))


def alpha_signed(case: Case, answer: Answer) -> Trials:
    alpha, y = answer.alpha, case.reference.y
    if alpha is not None and (np.asarray(alpha) < 0).any() and alpha.size == y.size:
        signed = alpha.reshape(y.shape) * y
        words = "right but for α, which carries the label's sign: α∘y was handed over where α ≥ 0 is meant"
        yield Trial("alpha_signed", words, replace(answer, alpha=signed))
        yield Trial("alpha_signed", f"{words}, and the classes are swapped", replace(answer, alpha=-signed))
        yield Trial("alpha_signed", "right but for the sign of α", replace(answer, alpha=-alpha))


def alpha_units(case: Case, answer: Answer) -> Trials:
    alpha = answer.alpha
    if alpha is None or not np.any(alpha):
        return
    if "nu" in case.parameters:
        words = "right but for the size of α, which sums to one in the ν-form"
        yield Trial("alpha_units", words, replace(answer, alpha=alpha / alpha.sum()))
    elif "C" in case.parameters and case.parameters["C"] != 1:
        price = case.parameters["C"]
        words = "right but for the size of α, which is between 0 and C: it was handed over in units of C"
        yield Trial("alpha_units", words, replace(answer, alpha=alpha * price))


def classes_swapped(case: Case, answer: Answer) -> Trials:
    if answer.coefficients is not None:
        words = "right for the classes swapped: the decision function has the other sign"
        bias = None if answer.bias is None else -answer.bias
        yield Trial("classes_swapped", words, replace(answer, coefficients=-answer.coefficients, bias=bias))


def samples_order(case: Case, answer: Answer) -> Trials:
    """The same α in another order, found by ranking; told only where α has values of its own between the bounds."""
    alpha, ours = answer.alpha, case.reference.alpha
    if alpha is None or ours is None or alpha.size != ours.size:
        return
    inside = ours[(ours > 1e-6 * ours.max()) & (ours < (1 - 1e-6) * ours.max())]
    if len(np.unique(inside.round(9))) >= DISTINCT:
        ranked = np.empty_like(ours)
        ranked[np.argsort(ours, kind="stable")] = np.sort(np.ravel(alpha))
        words = "right but for the order of the samples: the same α, of other samples"
        yield Trial("samples_order", words, replace(answer, alpha=ranked))


ANSWERS: tuple[Hypothesis, ...] = (
    objective_sign, objective_half, classes_swapped, bias_sign, bias_dropped, alpha_signed, alpha_units, weights_norm,
)  # fmt: skip
