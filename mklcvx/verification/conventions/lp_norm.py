"""shogun_lp, kloft_lp — Lp-MKL, in Shogun and in Kloft et al.

kloft_lp, form = ivanov (their (P), the one that the experiments use):

    min over θ ≥ 0, ‖θ‖_p ≤ 1, w, b    ½ Σ_m ‖w_m‖²/θ_m + C Σ_i ξ_i

is `lp` with the same C and p, word for word (p = 1 is `l1`, p = 2 is `l2`).

kloft_lp, form = tikhonov:

    min over θ ≥ 0, w, b    ½ Σ_m ‖w_m‖²/θ_m + (μ/k) ‖θ‖_p^k + C Σ_i ξ_i,         k = power, 2 unless given

Its dual is max 1'α − (1/2μ) ‖½ q(α)‖²_{p/(p−1)} for k = 2. Conversion: the same with C t, t = ‖θ‖_p at their optimum,
weights θ/t and α t; t is solved for. Proof: `_scaled_ball`, with κ = μ. For k = p the penalty is (μ/p) Σ θ_m^p.
There is one C for every (C, μ), and many (C, μ) for one of ours.
An answer here: weights = θ, alpha = α ≥ 0, bias = b, objective = the primal's.

shogun_lp (MKLClassification, set_mkl_norm(p)): the same as ivanov, stated as a minimised dual

    min over α ∈ S of   −1'α + max over ‖β‖_p ≤ 1 of Σ_m β_m ½ q_m(α),

whose value is minus ours. set_C(c_neg, c_pos) gives the classes prices of their own: `C` is c_neg, `C_positive` is
c_pos, the sample weights of the positive class being multiplied by their ratio. set_mkl_block_norm(q), 1 ≤ q < 2, is
p = q/(2−q), because min over ‖β‖_p ≤ 1 of Σ a_m²/β_m is ‖a‖² in the norm 2p/(p+1). get_alphas() are α∘y, of the support
vectors alone, counted from 0; get_bias() is b, to be added; get_subkernel_weights() are β. The solver ST_ELASTICNET
solves another problem.
An answer here: weights = β, alpha = α∘y (for all samples, or with multiplier `support`), bias = b, objective = the
minimum.

References: Kloft et al. 2011, Eqs (4), (5), Theorem 1; Sonnenburg et al. 2010 and Shogun's MKL.cpp.
"""

from __future__ import annotations

import numpy as np

from ...formulations.lp import BALL
from ...problem.instance import Instance
from ._convention import AnswerMap, C, Convention, ConvertedProblem, Parameters, number, positive, sample_side
from ._scaled_ball import Penalty, Tikhonov

PRICE = positive("mu", "μ", "price of ‖θ‖_p (form tikhonov)")
POWER = number("power", "exponent of ‖θ‖_p (form tikhonov)", "k ≥ 1", lambda v: v >= 1, 2.0)
POSITIVE = number(
    "C_positive", "price of a positive sample's slack", "C_positive ≥ 0; 0: the same as C", lambda v: v >= 0, 0.0
)
BLOCK = number("block_norm", "norm of the ‖w_m‖ instead of p", "1 ≤ q < 2; 0: p", lambda v: v == 0 or 1 <= v < 2, 0.0)


def ball(p: float) -> tuple[str, dict[str, float]]:
    """Our formulation for weights in the ℓp ball, and its own parameters."""
    return (f"l{p:g}", {}) if p in (1, 2) else ("lp", {"p": p})


def kloft(instance: Instance, parameters: Parameters) -> ConvertedProblem:
    name, own = ball(parameters["p"])
    if parameters["form"] == "ivanov":
        return ConvertedProblem(name, {**sample_side(parameters), **own}, instance)
    penalty = Penalty(parameters["mu"], parameters["power"])
    return Tikhonov(instance, name, own, parameters["C"], parameters["bias"], penalty).as_ours()


def shogun(instance: Instance, parameters: Parameters) -> ConvertedProblem:
    q, positive = parameters["block_norm"], parameters["C_positive"]
    name, own = ball(q / (2 - q) if q else parameters["p"])
    if positive:
        ratio = np.where(instance.y > 0, positive / parameters["C"], 1.0)
        instance = instance.with_kernels(instance.kernels, sample_weight=instance.sample_weight * ratio)
    answers = AnswerMap(alpha=instance.y, objective=-1.0)
    return ConvertedProblem(name, {**sample_side(parameters), **own}, instance, answers)


KLOFT_LP = Convention(
    name="kloft_lp",
    title="Lp-MKL of Kloft et al.: the ball (Ivanov) or a penalty on the weights (Tikhonov)",
    reference="Kloft et al. 2011",
    parameters=(C, BALL, PRICE, POWER),
    choices={"form": ("ivanov", "tikhonov")},
    problem=kloft,
    serves=("l1", "l2", "lp"),
)

SHOGUN_LP = Convention(
    name="shogun_lp",
    title="Lp-MKL in Shogun: a minimised dual, α with the label's sign",
    reference="Sonnenburg et al. 2010",
    parameters=(C, BALL, POSITIVE, BLOCK),
    problem=shogun,
    serves=("l1", "l2", "lp"),
)
