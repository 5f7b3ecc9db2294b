"""Mistakes in the objective, the bias or α of an answer: how it must be changed to undo them.

At the optimum of a single task the value is P + R + L = G − P + R: the norms' part P, the price R(μ) of the weights,
the loss L and the gain G. A ½ that is missing from P makes L + 2P + R in the primal and G − 2P + R in the dual. Other
families have less to forget: the price of the weights or the loss in two stages, the entropy of the weights in the
smoothed hypergraph, tr(A) between the trace that is minimised and the eigenvalues that are summed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

import numpy as np

from ..answers import Answer
from ..case import Case
from .mistakes import VANISHING, Hypotheses, Hypothesis, Trial, Trials
from .mistakes_in_weights import weights_norm

DISTINCT = 3  # values of α between its bounds that make it recognisable in another order
FACTORS = (
    ("objective_sign", -1.0, "'s sign: the negative of a maximum was minimised, or the reverse"),
    ("objective_half", 2.0, ", which is half of what it should be: a ½ too many or too few"),
    ("objective_half", 0.5, ", which is twice of what it should be: a ½ too many or too few"),
)
Own = Callable[[Case], Iterable[tuple[str, float]]]  # what a family has beside what all have


# ---------------------------------------------------------------------------------------------------------- objective
def objective_factor(case: Case, answer: Answer) -> Trials:
    for name, factor, words in FACTORS if answer.objective else ():
        right = replace(answer, objective=factor * (answer.objective or 0.0))
        yield Trial(name, f"right but for the objective{words}", right)


def objective_units(own: Own = lambda case: ()) -> Hypothesis:
    """A factor between the objective and ours: a mean where a sum is meant, or the reverse."""

    def hypothesis(case: Case, answer: Answer) -> Trials:
        n, price = case.instance.samples, case.parameters.get("C", 1.0)
        plain = (("divided by n", float(n)), ("multiplied by n", 1 / n), *own(case), ("divided by C", price))
        for words, factor in plain if answer.objective else ():
            if factor != 1:
                right = replace(answer, objective=(answer.objective or 0.0) * factor)
                yield Trial("objective_units", f"right but for the objective, which is {words}", right)

    return hypothesis


def objective_terms(own: Own) -> Hypothesis:
    """A term that was added to the optimal value, or taken from it."""

    def hypothesis(case: Case, answer: Answer) -> Trials:
        for words, added in own(case) if answer.objective is not None else ():
            if added:
                right = replace(answer, objective=(answer.objective or 0.0) - added)
                yield Trial("objective_terms", f"right but for the objective, {words}", right)

    return hypothesis


def single_task_terms(case: Case) -> Iterator[tuple[str, float]]:
    formulation, task, found = case.formulation, case.task, case.reference
    regulariser, weights = formulation.regulariser, np.nan_to_num(found.weights)
    price = 0.0 if regulariser is None else float(np.sum(regulariser.value(weights, **task.own)))
    norms = float(formulation.penalty(found.norms, **task.own)) - price
    loss = found.objective - norms - price
    yield "from which the penalty R of the weights is missing", -price
    yield "from which the loss is missing: only the norms are counted", -loss
    yield "from which the loss and the penalty R of the weights are missing", -loss - price
    if "C" in case.parameters:
        yield "in which the loss is not multiplied by C", loss / case.parameters["C"] - loss
    yield "in which the loss is divided by n, a mean", loss / case.instance.samples - loss
    yield "in whose quadratic term the ½ is missing, in the dual; or the norms are missing in the primal", -norms
    yield "in whose quadratic term the ½ is missing, in the primal; or the dual's linear term alone", norms


# ---------------------------------------------------------------------------------------------------------- bias and α
def classes_swapped(case: Case, answer: Answer) -> Trials:
    if answer.coefficients is not None:
        words = "right for the classes swapped: the decision function has the other sign"
        bias = None if answer.bias is None else -answer.bias
        yield Trial("classes_swapped", words, replace(answer, coefficients=-answer.coefficients, bias=bias))


def bias_sign(case: Case, answer: Answer) -> Trials:
    """The sign of the bias, or 0 in its place."""
    if answer.bias is not None and np.any(answer.bias):
        words = "right but for the sign of the bias: f + b is meant, not f − b (or the classes are swapped)"
        yield Trial("bias_sign", words, replace(answer, bias=-answer.bias))
    elif answer.bias is not None:
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
    alpha, price = answer.alpha, case.parameters.get("C", 1.0)
    if alpha is None or not np.any(alpha):
        return
    if "nu" in case.parameters:
        words = "right but for the size of α, which sums to one in the ν-form"
        yield Trial("alpha_units", words, replace(answer, alpha=alpha / alpha.sum()))
    elif price != 1:
        words = "right but for the size of α, which is between 0 and C: it was handed over in units of C"
        yield Trial("alpha_units", words, replace(answer, alpha=alpha * price))


def samples_order(case: Case, answer: Answer) -> Trials:
    """The same α in another order, found by ranking; told only where α has values of its own between the bounds."""
    alpha, ours = answer.alpha, case.reference.alpha
    if alpha is None or ours is None or alpha.size != ours.size:
        return
    inside = ours[(ours > VANISHING * ours.max()) & (ours < (1 - VANISHING) * ours.max())]
    if len(np.unique(inside.round(9))) >= DISTINCT:
        ranked = np.empty_like(ours)
        ranked[np.argsort(ours, kind="stable")] = np.sort(np.ravel(alpha))
        words = "right but for the order of the samples: the same α, of other samples"
        yield Trial("samples_order", words, replace(answer, alpha=ranked))


ANSWERS: Hypotheses = (
    objective_factor, classes_swapped, bias_sign, alpha_signed, alpha_units, weights_norm,
)  # fmt: skip
