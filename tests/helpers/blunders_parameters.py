"""Solvers whose weights obeyed another rule: other parameters, another ½, other groups, another formulation."""

from __future__ import annotations

import cvxpy as cp
import numpy as np

from blunders import N, kernels, mistake, signs, single, solved
from mklcvx import Instance, solve
from wrong_answers import Case, Parts, parts


@mistake(
    single,
    "lp",
    "p and its conjugate exponent confused",
    named="parameter",
    pattern=r"conjugate|p/\(p|p = 3\b",
    C=1.0,
    p=1.5,
)
def lp_conjugate(_: Case) -> Parts:
    return parts(solved("lp", C=1.0, p=3.0))


@mistake(
    single,
    "lp",
    "p is the exponent of the block norm in the author's paper: r = 2p/(p+1)",
    named="parameter",
    pattern=r"block norm|2p/\(p|exponent|p = 1\.2\b|other p|another p",
    C=1.0,
    p=2.5,
)
def lp_block_norm_exponent(_: Case) -> Parts:
    return parts(solved("lp", C=1.0, p=2 * 2.5 / 3.5))


@mistake(
    single,
    "smp",
    "the exponent of the loss where that of the penalty is meant",
    named="parameter",
    pattern=r"conjugate|p/\(p|p = 3\b",
    C=1.0,
    theta=2.0,
    p=1.5,
)
def smp_conjugate(_: Case) -> Parts:
    return parts(solved("smp", C=1.0, theta=2.0, p=3.0))


@mistake(
    single,
    "sm2",
    "θ taken for the price of the weights: 1/θ",
    named="parameter",
    pattern=r"1/θ|1/theta|revers|reciprocal|invers|θ = 0\.25|theta = 0\.25",
    C=1.0,
    theta=4.0,
)
def sm2_theta_inverted(_: Case) -> Parts:
    return parts(solved("sm2", C=1.0, theta=0.25))


@mistake(
    single,
    "sm2",
    "penalty ‖μ‖²/θ, its ½ forgotten",
    named="parameter",
    pattern=r"½|half|θ/2|theta/2|θ = 0\.4|theta = 0\.4|factor",
    C=1.0,
    theta=0.8,
)
def sm2_half_of_penalty_forgotten(_: Case) -> Parts:
    return parts(solved("sm2", C=1.0, theta=0.4))


@mistake(
    single,
    "square",
    "λ = 1/θ handed over as θ",
    named="parameter",
    pattern=r"1/θ|1/theta|reciprocal|invers|revers",
    C=1.0,
    theta=0.2,
)
def square_lambda_for_theta(_: Case) -> Parts:
    return parts(solved("square", C=1.0, theta=5.0))


@mistake(
    single,
    "elastic",
    "l1_ratio belongs to the other term",
    named="parameter",
    pattern=r"1 − (r|l1_ratio)|1 - (r|l1_ratio)|other term|l1_ratio = 0\.7|exchang|swap",
    C=1.0,
    l1_ratio=0.3,
)
def elastic_ratio_of_other_term(_: Case) -> Parts:
    return parts(solved("elastic", C=1.0, l1_ratio=0.7))


@mistake(
    single,
    "block_elastic",
    "l1_ratio belongs to the squared norms",
    named="parameter",
    pattern=r"1 − (r|l1_ratio)|1 - (r|l1_ratio)|other term|l1_ratio = 0\.7|exchang|swap",
    C=1.0,
    l1_ratio=0.3,
)
def block_elastic_ratio_of_other_term(_: Case) -> Parts:
    return parts(solved("block_elastic", C=1.0, l1_ratio=0.7))


@mistake(
    single,
    "group_lasso",
    "the mean of the losses in place of their sum",
    named="C_over_n",
    pattern=r"n\b|mean|number of samples",
    C=1.0,
    lam=0.5,
)
def group_lasso_with_the_mean_of_the_losses(_: Case) -> Parts:
    return parts(solved("group_lasso", C=1.0 / N, lam=0.5))


@mistake(
    single,
    "elastic",
    "scikit-learn's elastic net: the squares carry a ½",
    named="elastic_net",
    pattern=r"½|half|scikit",
    C=1.0,
    l1_ratio=0.5,
)
def elastic_with_a_half(_: Case) -> Parts:
    # r Σμ + (1−r)/2 Σμ² ≤ 1 with μ = tν is r' Σν + (1−r') Σν² ≤ 1 with r' = rt where rt + (1−r)t²/2 = 1
    r = 0.5
    t = (-r + np.sqrt(r**2 + 2 * (1 - r))) / (1 - r)
    found = solved("elastic", t * kernels(), C=1.0, l1_ratio=r * t)
    return parts(found) | {"weights": t * found.weights}


@mistake(
    single,
    "elastic",
    "‖μ‖₂ in place of Σμ², as one page of the source prints it",
    named="elastic_net",
    pattern=r"‖μ‖|not squared|unsquared|without.*square|norm",
    C=1.0,
    l1_ratio=0.5,
)
def elastic_norm_not_squared(_: Case) -> Parts:
    alpha, v, tau, y = cp.Variable(N, nonneg=True), cp.Variable(4), cp.Variable(), signs()
    factors = [np.linalg.cholesky(k) for k in kernels()]
    cuts = [cp.sum_squares(factor.T @ cp.multiply(y, alpha)) / 2 <= v[m] for m, factor in enumerate(factors)]
    # support function of {μ ≥ 0, ½ Σμ + ½ ‖μ‖ ≤ 1}: least τ with ‖(v − ½τ)₊‖ ≤ ½τ
    ball = [cp.norm(cp.pos(v - tau / 2)) <= tau / 2]
    problem = cp.Problem(cp.Maximize(cp.sum(alpha) - tau), [alpha <= 1, y @ alpha == 0, *cuts, *ball])
    problem.solve(solver="CLARABEL")
    return {
        "weights": np.array([float(np.squeeze(c.dual_value)) for c in cuts]),
        "alpha": alpha.value,
        "objective": problem.value,
    }


@mistake(
    single,
    "sm1",
    "the box on the weights forgotten",
    named="formulation l1",
    pattern=r"l1|box|at most θ|≤ θ|theta",
    C=1.0,
    theta=0.3,
)
def sm1_without_box(_: Case) -> Parts:
    return parts(solved("l1", C=1.0))


@mistake(
    single,
    "sm1",
    "θ = 1/k where k itself was meant to be read; 1/(kM) came out too small and was lifted to 1/M",
    named="formulation average",
    pattern=r"average|uniform|equal|θ = 0\.25|theta = 0\.25|1/M",
    C=1.0,
    theta=0.4,
)
def sm1_theta_at_its_least(_: Case) -> Parts:
    return parts(solved("average", C=1.0))


@mistake(
    single,
    "vskl",
    "s left at its default",
    named="parameter",
    pattern=r"s = 2\b|default|other s\b|another s\b",
    C=1.0,
    s=5.0,
)
def vskl_default_s(_: Case) -> Parts:
    return parts(solved("vskl", C=1.0, s=2.0))


@mistake(
    single,
    "ckl",
    "groups counted from one, the last kernel of each given to the next",
    named="groups",
    pattern=r"group",
    C=1.0,
)
def ckl_groups_off_by_one(_: Case) -> Parts:
    return parts(solve(Instance(kernels(), signs(), groups=np.roll([0, 0, 1, 1], 1)), "ckl", C=1.0))


@mistake(single, "vskl", "groups not read: every kernel alone", named="groups", pattern=r"group", C=1.0, s=4.0)
def vskl_groups_not_read(_: Case) -> Parts:
    return parts(solve(Instance(kernels(), signs(), groups=range(4)), "vskl", C=1.0, s=4.0))


@mistake(single, "ckl", "one group of all kernels", named="groups", pattern=r"group|l1", C=1.0)
def ckl_one_group(_: Case) -> Parts:
    return parts(solve(Instance(kernels(), signs(), groups=[0, 0, 0, 0]), "ckl", C=1.0))


@mistake(single, "li", "½ max ‖f‖² minimised, as everywhere else", named="half", pattern=r"½|half|factor", C=1.0)
def li_with_a_half(_: Case) -> Parts:
    found = solved("li", C=2.0)
    return parts(found) | {"weights": found.weights * 2, "alpha": found.alpha / 2, "objective": found.objective / 2}


@mistake(
    single,
    "vskl",
    "no ½ in front of the penalty, as in ckl",
    named="half",
    pattern=r"½|half|factor|doubled",
    C=1.0,
    s=3.0,
)
def vskl_without_half(_: Case) -> Parts:
    found = solved("vskl", kernels() / 2, C=1.0, s=3.0)
    return parts(found) | {"weights": found.weights / 2}


@mistake(
    single,
    "lp",
    "q taken for ½q in the dual: ‖q‖ where ‖½q‖ stands",
    named="half",
    pattern=r"½|half|factor|doubled",
    C=1.0,
    p=1.7,
)
def lp_half_missing_in_dual(_: Case) -> Parts:
    return parts(solved("lp", 2 * kernels(), C=1.0, p=1.7))
