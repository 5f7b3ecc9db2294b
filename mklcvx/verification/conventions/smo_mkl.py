"""smo_mkl, spg_gmkl — SMO-MKL and SPG-GMKL: kernels of unit trace inside, a squared p-norm penalty on the weights.

Both codes are one program, built on LIBSVM. With more than one kernel it first divides every kernel by its trace; write
K_m for the result.

smo_mkl:

    min over d ≥ 0, w, b    ½ Σ_m ‖w_m‖²/d_m + (λ/2) ‖d‖_p² + C Σ_i ξ_i
    max over α ∈ S          1'α − (1/(8λ)) ‖q(α)‖²_{p/(p−1)}

p = 2 is `square` with θ = 1/λ. Proof: the same R(μ) = ‖μ‖²/(2θ), and in the dual (θ/2) Σ (½ q_m)² = ‖q‖²/(8λ). Any
other p is `_scaled_ball` with κ = λ, k = 2: `lp` with C t, t = ‖d‖_p at their optimum, which is solved for; weights
d/t, α t.

spg_gmkl: the penalty is λ r(d), over a set that is chosen:

    regulariser l2, l1, lp    r = ½ ‖d‖₂², ½ ‖d‖₁², ½ ‖d‖_p²
    set orthant               d ≥ 0: as smo_mkl
    set simplex               Σd = 1 as well: l2 is `sm2` with θ = 1/λ; l1 is constant there: `l1`, plus λ/2

The simplex with another p, and the entropic regulariser, are no formulation of ours.

With a single kernel the program scales nothing and regularises nothing: it is `svm`, the objective LIBSVM's minimised
one. A model's `coef` are d, to be multiplied with K_m; sv_coef are α times ±1, + for the class `first_label`, which
LIBSVM before version 3.17 takes to be that of the first sample; the decision function is Σ − rho, and positive for
`first_label`.
An answer here: weights = d, alpha = sv_coef (for all samples, or with multiplier `sv_indices`, counted from 1), bias =
rho, objective = the maximum.

References: Vishwanathan et al. 2010, Eqs (6), (10); Jain et al. 2012; their program, svm.cpp.
"""

from __future__ import annotations

from dataclasses import replace

from ...errors import InputError
from ...problem.instance import Instance
from ._convention import (
    AnswerMap,
    C,
    Convention,
    ConvertedProblem,
    Parameters,
    number,
    positive,
    sample_side,
    unit_trace,
)
from ._scaled_ball import Penalty, Tikhonov
from .lp_norm import ball
from .svc import FIRST_LABEL, class_order

LAM = positive("lam", "λ", "price of the penalty on weights")
SQUARED_BALL = number("p", "norm of the penalty on weights", "p ≥ 1", lambda v: v >= 1, 2.0)
NORM = {"l2": 2.0, "l1": 1.0}
NOTE = "every kernel is divided by its trace"


def smo(instance: Instance, parameters: Parameters) -> ConvertedProblem:
    side, price = sample_side(parameters), parameters["lam"]
    if instance.count == 1:
        return _in_class_order(ConvertedProblem("svm", side, instance), parameters, objective=-1.0)
    scaled, _ = unit_trace(instance)
    if parameters["p"] == 2:
        return _in_class_order(
            ConvertedProblem("square", {**side, "theta": 1 / price}, scaled, notes=(NOTE,)), parameters
        )
    problem = Tikhonov(scaled, *ball(parameters["p"]), parameters["C"], parameters["bias"], Penalty(price, 2)).as_ours()
    return _in_class_order(replace(problem, notes=(NOTE, *problem.notes)), parameters)


def spg(instance: Instance, parameters: Parameters) -> ConvertedProblem:
    regulariser, side, price = parameters["regulariser"], sample_side(parameters), parameters["lam"]
    p = NORM.get(regulariser, parameters["p"])
    if parameters["set"] == "orthant" or instance.count == 1:
        return smo(instance, {**parameters, "p": p})
    if p not in NORM.values():
        raise InputError(
            f"regulariser {regulariser} with p = {p:g} on the simplex is no formulation of ours: "
            "take p = 1 or 2, or set=orthant"
        )
    scaled, _ = unit_trace(instance)
    if p == 1:
        return _in_class_order(ConvertedProblem("l1", side, scaled, AnswerMap(shift=-price / 2), (NOTE,)), parameters)
    return _in_class_order(ConvertedProblem("sm2", {**side, "theta": 1 / price}, scaled, notes=(NOTE,)), parameters)


def _in_class_order(
    problem: ConvertedProblem, parameters: Parameters, objective: float | None = None
) -> ConvertedProblem:
    order = class_order(problem.instance, parameters["first_label"])
    answers = replace(problem.answers, **{**order, "alpha": problem.answers.alpha * order["alpha"]})
    return replace(problem, answers=answers if objective is None else replace(answers, objective=objective))


SMO_MKL = Convention(
    name="smo_mkl",
    title="SMO-MKL: kernels of unit trace, λ/2 times the squared p-norm of the weights",
    reference="Vishwanathan et al. 2010",
    parameters=(C, LAM, SQUARED_BALL, FIRST_LABEL),
    problem=smo,
    serves=("square", "l1", "lp", "svm"),
    support=("sv_indices", 1),
)

SPG_GMKL = Convention(
    name="spg_gmkl",
    title="SPG-GMKL: kernels of unit trace, a regulariser and a set for the weights",
    reference="Jain et al. 2012",
    parameters=(C, LAM, SQUARED_BALL, FIRST_LABEL),
    choices={"regulariser": ("l2", "l1", "lp"), "set": ("orthant", "simplex")},
    problem=spg,
    serves=("square", "sm2", "l1", "lp", "svm"),
    support=("sv_indices", 1),
)
