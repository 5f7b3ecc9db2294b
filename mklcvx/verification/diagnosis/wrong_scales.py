"""Usual mistakes in the size of kernels and weights: a ½, another radius of the weights' ball, another elastic net.

With kernels sK_m and weights μ_m/s the classifiers are the same, f_m = μ_m K_m(α∘y), and ‖f_m‖² is 1/s of what it was:
a penalty times 1/s, or weights whose sum, or norm, is s in place of 1, is our problem with kernels sK_m. Its author
hands over the weights of sK_m, or those of K_m, which are s times as large.

The elastic net rΣμ + (1−r)Σμ² ≤ 1 is told from two others in the same way, μ = tν with ν in ours at another r':
with Σμ²/2, r' = rt; with ‖μ‖, where the gradients r + (1−r)μ/‖μ‖ and r'/t + 2(1−r')μ/t² must be parallel at the weights
given.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from ...problem.instance import Instance
from ..answers import Answer
from ..case import Case
from ..domain import to_boundary
from .trial import Trial, Trials
from .wrong_weights import SAME, given_weights, size_in_words


def half(case: Case, answer: Answer) -> Trials:
    for factor, where in ((2.0, "q where ½ q is meant"), (0.5, "‖f‖² where ½ ‖f‖² is meant, or ¼ q where ½ q is")):
        words = f"optimal for a ½ missing or doubled: {where} (every kernel times {factor:g})"
        for changed in _both_ways(answer, factor):
            yield Trial("half", words, changed, instance=_enlarged(case, factor))
    for factor in (0.5, 2.0) if "C" in case.parameters else ():
        given = {**case.parameters, "C": case.parameters["C"] * factor}
        yield Trial("half", f"optimal for C times {factor:g}: a ½ missing or doubled", answer, parameters=given)


def radius(case: Case, answer: Answer) -> Trials:
    """Weights on the boundary of a ball, or a simplex, of another size than ours."""
    weights, formulation = given_weights(case, answer), case.formulation
    if weights is None or formulation.regulariser is None:
        return
    constraint = formulation.regulariser.constraint
    if constraint is None or not (weights > 0).any():
        return
    factor = 1 / to_boundary(constraint, case.task.own, np.maximum(weights, 0.0))
    if abs(factor - 1) > SAME:
        words = f"optimal for weights that {size_in_words(weights)}: {factor:.6g} times as large as they may be"
        yield Trial("weights_radius", words, _of_kernels_times(answer, factor), instance=_enlarged(case, factor))


def elastic_net(case: Case, answer: Answer) -> Trials:
    weights = given_weights(case, answer)
    if "l1_ratio" not in case.parameters or weights is None or not 0 < case.parameters["l1_ratio"] < 1:
        return
    for words, t, ratio in _nets(case.parameters["l1_ratio"], float(weights.sum()), float(np.linalg.norm(weights))):
        given = {**case.parameters, "l1_ratio": min(ratio, 1.0)}
        changed = _of_kernels_times(answer, t)
        yield Trial("elastic_net", f"optimal for {words}", changed, _enlarged(case, t), parameters=given)


def _nets(r: float, total: float, norm: float) -> Iterator[tuple[str, float, float]]:
    """Other nets in words, with t and r' of ours that has the same solution."""
    t = (np.sqrt(r * r + 2 * (1 - r)) - r) / (1 - r)
    yield "r Σμ + (1 − r) Σμ²/2 ≤ 1, as scikit-learn has it: the squares carry no ½ here", t, r * t
    if norm > 0 and abs(r * total + (1 - r) * norm - 1) <= SAME:
        curve = (1 - r) / (2 * r * norm)
        share = 1 / (total + curve * norm**2)  # r'/t, from rΣμ + (1−r)Σμ² = 1 in ν
        t = (np.sqrt(1 + 4 * curve / share) - 1) / (2 * curve)
        yield "r Σμ + (1 − r) ‖μ‖ ≤ 1: the norm is to be squared", t, share * t


def _both_ways(answer: Answer, factor: float) -> Iterator[Answer]:
    scaled = _of_kernels_times(answer, factor)
    yield replace(scaled, weights=answer.weights)
    if answer.weights is not None:
        yield scaled


def _of_kernels_times(answer: Answer, factor: float) -> Answer:
    """Weights and coefficients of the kernels times the factor that make the same classifiers."""
    weights, coefficients = (None if one is None else one / factor for one in (answer.weights, answer.coefficients))
    return replace(answer, weights=weights, coefficients=coefficients)


def _enlarged(case: Case, factor: float) -> Instance:
    return case.instance.with_kernels(np.asarray(case.instance.kernels, dtype=float) * factor)
