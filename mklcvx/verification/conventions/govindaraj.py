"""govindaraj_li, govindaraj_ckl — Li-MKL and CKL as the thesis states them: shares λ, not weights.

govindaraj_li:

    primal   min over w, b, ξ               max_k ‖w_k‖² + C Σ_i ξ_i
    dual     min over α ∈ S, λ ∈ Δ          ½ α'Q(λ)α − 1'α,           Q(λ) = ½ Σ_k Y K_k Y/λ_k

is our `li` with the same C, its dual minimised, so that its value is minus ours. The stationarity condition
λ_k w_k = ½ Σ_i α_i y_i x_i^k makes the kernel of the decision function Σ_k K_k/(2λ_k): **weights are 1/(2λ), not λ**,
and the kernel with the largest λ has the smallest weight. Where λ_k = 0 (possible with low-rank kernels) the weight is
undefined and only coefficients say what f_k is; without coefficients, f_k is taken to be 0.

govindaraj_ckl, groups j of kernels k:

    primal   min over w, b, ξ                              max_j (Σ_k ‖w_jk‖)² + C Σ_i ξ_i
    dual     min over λ_j ∈ Δ, max over α ∈ S, γ ∈ Δ of    1'α − ¼ Σ_j Σ_k λ_jk α'Q_jk α/γ_j

is our `ckl`, value for value, with weights λ_jk/(2γ_j). Proof: the dual for fixed λ and γ is the SVM with that kernel.
Back, Σ over a group of the weights is 1/(2γ_j), because the λ_jk sum to one. (The thesis's algorithm prints the
combined kernel without the ½; the conversion follows the dual.)
An answer here: weights = λ, alpha = α ≥ 0, bias = b, objective = the minimum (li), the saddle value (ckl); ckl
needs the multiplier `gamma` (J,), groups in the order of their numbers.

Reference: Govindaraj 2009, Eqs (1) to (9), (10) to (13).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...errors import InputError
from ...problem.instance import Instance
from ..answers import Answer, of_shape
from ._convention import AnswerMap, Array, Convention, Problem, Reweighing
from ._parameters import C, sample_side


def li(instance: Instance, parameters: dict[str, Any]) -> Problem:
    return Problem("li", sample_side(parameters), instance, AnswerMap(objective=-1.0))


def ckl(instance: Instance, parameters: dict[str, Any]) -> Problem:
    if instance.groups is None:
        raise InputError("govindaraj_ckl needs groups of kernels, the instance has none: give one integer per kernel")
    return Problem("ckl", sample_side(parameters), instance)


def halved_inverse(answer: Answer, instance: Instance) -> Array:
    """share/(2γ) of every kernel, where γ > 0; undefined where only coefficients could tell."""
    shares, gamma = _shares(answer, instance)
    undefined = 0.0 if answer.coefficients is None else np.nan
    return np.where(gamma > 0, shares / (2 * np.where(gamma > 0, gamma, 1.0)), undefined)


def _shares(answer: Answer, instance: Instance) -> tuple[Array, Array]:
    weights = np.nan_to_num(np.asarray(answer.weights, dtype=float))
    if instance.groups is None:
        return np.ones_like(weights), weights
    groups = instance.groups
    gamma = of_shape("gamma", answer.multipliers.get("gamma"), (int(groups.max()) + 1,))
    if gamma is None:
        raise InputError("answer: has weights λ but no gamma, one per group: write the multiplier gamma as well")
    return weights, gamma[groups]


def inverse_shares(weights: Array, instance: Instance) -> tuple[Array, dict[str, Any]]:
    """λ = 1/(2 weight); an undefined weight has λ = 0."""
    seen = np.nan_to_num(weights) > 0
    return np.where(seen, 1 / (2 * np.where(seen, weights, 1.0)), 0.0), {}


def group_shares(weights: Array, instance: Instance) -> tuple[Array, dict[str, Any]]:
    groups = np.asarray(instance.groups)
    known = np.nan_to_num(weights)
    sums = np.bincount(groups, weights=known)
    gamma = np.where(sums > 0, 1 / (2 * np.where(sums > 0, sums, 1.0)), 0.0)
    return np.where(sums[groups] > 0, known / np.where(sums > 0, sums, 1.0)[groups], 0.0), {"gamma": gamma}


def _ungrouped(answer: Answer, instance: Instance) -> Array:
    return halved_inverse(answer, instance.with_kernels(instance.kernels, groups=None))


GOVINDARAJ_LI = Convention(
    name="govindaraj_li",
    title="Li-MKL of the thesis: shares λ, whose weights are 1/(2λ), and a minimised dual",
    reference="Govindaraj 2009",
    theorem=__doc__,
    parameters=(C,),
    problem=li,
    theirs=lambda ours: sample_side(ours.parameters),
    serves=("li",),
    reweighing=Reweighing(_ungrouped, inverse_shares),
)

GOVINDARAJ_CKL = Convention(
    name="govindaraj_ckl",
    title="CKL of the thesis: shares λ within groups and γ between them, whose weights are λ/(2γ)",
    reference="Govindaraj 2009",
    theorem=__doc__,
    parameters=(C,),
    problem=ckl,
    theirs=lambda ours: sample_side(ours.parameters),
    serves=("ckl",),
    reweighing=Reweighing(halved_inverse, group_shares, needs=("gamma",)),
)
