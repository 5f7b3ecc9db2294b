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

import numpy as np

from ...errors import InputError
from ...problem.instance import Instance
from ..answers import Answer, of_shape
from ._convention import AnswerMap, Array, Convention, ConvertedProblem, Parameters, Reweighing, sample_side


def li(instance: Instance, parameters: Parameters) -> ConvertedProblem:
    return ConvertedProblem("li", sample_side(parameters), instance, AnswerMap(objective=-1.0))


def ckl(instance: Instance, parameters: Parameters) -> ConvertedProblem:
    if instance.groups is None:
        raise InputError("govindaraj_ckl needs groups of kernels, the instance has none: give one integer per kernel")
    return ConvertedProblem("ckl", sample_side(parameters), instance)


def li_weights(answer: Answer, instance: Instance) -> Array:
    return _over_twice(answer, np.ones(instance.count), np.nan_to_num(np.asarray(answer.weights, dtype=float)))


def ckl_weights(answer: Answer, instance: Instance) -> Array:
    groups = np.asarray(instance.groups)
    gamma = of_shape("gamma", answer.multipliers.get("gamma"), (int(groups.max()) + 1,))
    if gamma is None:
        raise InputError("answer: has weights λ but no gamma, one per group: write the multiplier gamma as well")
    return _over_twice(answer, np.nan_to_num(np.asarray(answer.weights, dtype=float)), gamma[groups])


def _over_twice(answer: Answer, shares: Array, gamma: Array) -> Array:
    """share/(2γ) of every kernel, where γ > 0; undefined where only coefficients could tell."""
    undefined = np.full(len(shares), 0.0 if answer.coefficients is None else np.nan)
    return np.divide(shares, 2 * gamma, out=undefined, where=gamma > 0)


def li_shares(weights: Array, instance: Instance) -> tuple[Array, Parameters]:
    """λ = 1/(2 weight); an undefined weight has λ = 0."""
    return np.divide(0.5, weights, out=np.zeros(len(weights)), where=np.nan_to_num(weights) > 0), {}


def ckl_shares(weights: Array, instance: Instance) -> tuple[Array, Parameters]:
    groups, known = np.asarray(instance.groups), np.nan_to_num(weights)
    sums = np.bincount(groups, weights=known)
    gamma = np.divide(0.5, sums, out=np.zeros(len(sums)), where=sums > 0)
    shares = np.divide(known, sums[groups], out=np.zeros(len(known)), where=sums[groups] > 0)
    return shares, {"gamma": gamma}


GOVINDARAJ_LI = Convention(
    name="govindaraj_li",
    title="Li-MKL of the thesis: shares λ, whose weights are 1/(2λ), and a minimised dual",
    reference="Govindaraj 2009",
    problem=li,
    serves=("li",),
    reweighing=Reweighing(li_weights, li_shares),
)

GOVINDARAJ_CKL = Convention(
    name="govindaraj_ckl",
    title="CKL of the thesis: shares λ within groups and γ between them, whose weights are λ/(2γ)",
    reference="Govindaraj 2009",
    problem=ckl,
    serves=("ckl",),
    reweighing=Reweighing(ckl_weights, ckl_shares, needs=("gamma",)),
)
