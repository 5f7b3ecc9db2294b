"""Blunders of single-task solvers that solved another problem: other parameters, another loss, other kernels."""

from __future__ import annotations

from functools import cache
from typing import Any

import cvxpy as cp
import numpy as np
from blunders import (
    Answer,
    N,
    all_of,
    blunder,
    centred,
    features,
    gaussian,
    kernels,
    signs,
    single,
    solved,
    unit_diagonal,
    unit_trace,
)

from mklcvx import Instance, solve

# ---- C and the loss -----------------------------------------------------------------------------------------------


@blunder("l1", "C is the price of the mean slack in the paper; multiplied by n to undo it, once too often",
         r"C.{0,30}(n\b|samples)|C.*total|times n", on=single, C=0.7)  # fmt: skip
def l1_c_times_n() -> Answer:
    return all_of(solved("l1", C=0.7 * N))


@blunder(
    "smp", "C divided by n, the loss being a mean", r"C.{0,30}(n\b|samples)|mean", on=single, C=2.0, theta=1.0, p=1.5
)
def smp_c_over_n() -> Answer:
    return all_of(solved("smp", C=2.0 / N, theta=1.0, p=1.5))


@cache
def alone() -> Instance:
    return Instance(kernels()[1:2], signs())


@blunder(
    "svm", "Pegasos called with λ = C where C = 1/(λn)", r"1/\(.{0,3}n|λ|lambda|pegasos|C = 0\.1\b", on=alone, C=0.5
)
def svm_pegasos() -> Answer:
    return all_of(solve(alone(), "svm", C=1 / (0.5 * N)))


@blunder(
    "vskl",
    "the box of the SMO code left at its default, C = 1",
    r"C = 1\b|other C|another C|\bC\b.*1",
    on=single,
    C=5.0,
    s=3.0,
)
def vskl_default_c() -> Answer:
    return all_of(solved("vskl", C=1.0, s=3.0))


@blunder(
    "l1",
    "squared hinge loss: K + I/C without an upper bound on α",
    r"squared? hinge|squared? (loss|slack)|ℓ2|L2.SVM",
    on=single,
    C=1.0,
)
def l1_squared_hinge() -> Answer:
    return all_of(solved("l1", kernels() + np.eye(N), C=1e5), "bias")


@blunder(
    "average",
    "least squares SVM: equality constraints, a linear system",
    r"squares?|squared|negative|bound",
    on=single,
    C=1.0,
)
def average_least_squares() -> Answer:
    y, k = signs(), kernels().mean(axis=0)
    system = np.block([[np.zeros((1, 1)), y[None]], [y[:, None], np.outer(y, y) * k + np.eye(N)]])
    found = np.linalg.solve(system, np.concatenate([[0.0], np.ones(N)]))
    return {"alpha": found[1:], "bias": found[0]}


@cache
def weighted() -> Instance:
    return Instance(kernels(), signs(), sample_weight=np.linspace(0.4, 2.0, N))


@blunder(
    "l2",
    "sample weights not read from the file",
    r"sample.?weight|weights? of (the )?(samples|classes)|unweighted",
    on=weighted,
    C=1.0,
)
def l2_sample_weights_ignored() -> Answer:
    return all_of(solved("l2", C=1.0))


@cache
def class_weighted() -> Instance:
    return Instance(kernels(), signs(), class_weight={-1: 1.0, 1: 3.0})


@blunder(
    "l1",
    "class weights given to the other class",
    r"class.?weight|(classes|weights).*(swap|exchang|other)|sample.?weight",
    on=class_weighted,
    C=1.0,
)
def l1_class_weights_exchanged() -> Answer:
    return all_of(solve(Instance(kernels(), signs(), class_weight={-1: 3.0, 1: 1.0}), "l1", C=1.0))


@blunder("l1", "bias regularised: a constant added to every kernel, and no equality constraint",
         r"bias.*(regularis|penal|constant|paid)|constant.*kernel", on=single, C=1.0)  # fmt: skip
def l1_bias_in_the_kernel() -> Answer:
    found = solved("l1", kernels() + 1.0, C=1.0, bias=False)
    return {"weights": found.weights, "alpha": found.alpha, "objective": found.objective}


@blunder("elastic", "no equality constraint in the box solver; b computed from a support vector afterwards",
         r"bias|y'α", on=single, C=1.0, l1_ratio=0.4)  # fmt: skip
def elastic_without_bias() -> Answer:
    found = solved("elastic", C=1.0, l1_ratio=0.4, bias=False)
    f = np.tensordot(found.weights, kernels(), 1) @ (found.alpha * signs())
    free = int(np.argmin(np.abs(found.alpha - 0.5)))
    return all_of(found) | {"bias": signs()[free] - f[free]}


@blunder("square", "one pass less over the samples: the last one never enters the working set",
         r"sample.*(left out|dropp|omit|missing|never|last|without)", on=single, C=3.0, theta=0.5)  # fmt: skip
def square_last_sample_dropped() -> Answer:
    part = Instance(kernels()[:, :-1, :-1], signs()[:-1])
    found = solve(part, "square", C=3.0, theta=0.5)
    return all_of(found) | {"alpha": np.append(found.alpha, 0.0)}


@blunder("sum", "one label misread", r"label", on=single, C=1.0)
def sum_one_label_misread() -> Answer:
    y = signs().copy()
    y[4] = -y[4]
    return all_of(solve(Instance(kernels(), y), "sum", C=1.0))


# ---- parameters of the weights ------------------------------------------------------------------------------------


@blunder("lp", "p and its conjugate exponent confused", r"conjugate|p/\(p|p = 3\b", on=single, C=1.0, p=1.5)
def lp_conjugate() -> Answer:
    return all_of(solved("lp", C=1.0, p=3.0))


@blunder(
    "lp",
    "p is the exponent of the block norm in the author's paper: r = 2p/(p+1)",
    r"block norm|2p/\(p|exponent|p = 1\.2\b|other p|another p",
    on=single,
    C=1.0,
    p=2.5,
)
def lp_block_norm_exponent() -> Answer:
    return all_of(solved("lp", C=1.0, p=2 * 2.5 / 3.5))


@blunder(
    "smp",
    "the exponent of the loss where that of the penalty is meant",
    r"conjugate|p/\(p|p = 3\b",
    on=single,
    C=1.0,
    theta=2.0,
    p=1.5,
)
def smp_conjugate() -> Answer:
    return all_of(solved("smp", C=1.0, theta=2.0, p=3.0))


@blunder(
    "sm2",
    "θ taken for the price of the weights: 1/θ",
    r"1/θ|1/theta|revers|reciprocal|invers|θ = 0\.25|theta = 0\.25",
    on=single,
    C=1.0,
    theta=4.0,
)
def sm2_theta_inverted() -> Answer:
    return all_of(solved("sm2", C=1.0, theta=0.25))


@blunder(
    "sm2",
    "penalty ‖μ‖²/θ, its ½ forgotten",
    r"½|half|θ/2|theta/2|θ = 0\.4|theta = 0\.4|factor",
    on=single,
    C=1.0,
    theta=0.8,
)
def sm2_half_of_penalty_forgotten() -> Answer:
    return all_of(solved("sm2", C=1.0, theta=0.4))


@blunder("square", "λ = 1/θ handed over as θ", r"1/θ|1/theta|reciprocal|invers|revers", on=single, C=1.0, theta=0.2)
def square_lambda_for_theta() -> Answer:
    return all_of(solved("square", C=1.0, theta=5.0))


@blunder(
    "elastic",
    "l1_ratio belongs to the other term",
    r"1 − (r|l1_ratio)|1 - (r|l1_ratio)|other term|l1_ratio = 0\.7|exchang|swap",
    on=single,
    C=1.0,
    l1_ratio=0.3,
)
def elastic_ratio_of_other_term() -> Answer:
    return all_of(solved("elastic", C=1.0, l1_ratio=0.7))


@blunder(
    "elastic", "scikit-learn's elastic net: the squares carry a ½", r"½|half|scikit", on=single, C=1.0, l1_ratio=0.5
)
def elastic_with_a_half() -> Answer:
    # r Σμ + (1−r)/2 Σμ² ≤ 1 with μ = tν is r' Σν + (1−r') Σν² ≤ 1 with r' = rt where rt + (1−r)t²/2 = 1
    r = 0.5
    t = (-r + np.sqrt(r**2 + 2 * (1 - r))) / (1 - r)
    found = solved("elastic", t * kernels(), C=1.0, l1_ratio=r * t)
    return all_of(found) | {"weights": t * found.weights}


@blunder(
    "elastic",
    "‖μ‖₂ in place of Σμ², as one page of the source prints it",
    r"‖μ‖|not squared|unsquared|without.*square|norm",
    on=single,
    C=1.0,
    l1_ratio=0.5,
)
def elastic_norm_not_squared() -> Answer:
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


@blunder("sm1", "the box on the weights forgotten", r"l1|box|at most θ|≤ θ|theta", on=single, C=1.0, theta=0.3)
def sm1_without_box() -> Answer:
    return all_of(solved("l1", C=1.0))


@blunder("sm1", "θ = 1/k where k itself was meant to be read; 1/(kM) came out too small and was lifted to 1/M",
         r"average|uniform|equal|θ = 0\.25|theta = 0\.25|1/M", on=single, C=1.0, theta=0.4)  # fmt: skip
def sm1_theta_at_its_least() -> Answer:
    return all_of(solved("average", C=1.0))


@blunder("vskl", "s left at its default", r"s = 2\b|default|other s\b|another s\b", on=single, C=1.0, s=5.0)
def vskl_default_s() -> Answer:
    return all_of(solved("vskl", C=1.0, s=2.0))


@blunder("ckl", "groups counted from one, the last kernel of each given to the next", r"group", on=single, C=1.0)
def ckl_groups_off_by_one() -> Answer:
    return all_of(solve(Instance(kernels(), signs(), groups=np.roll([0, 0, 1, 1], 1)), "ckl", C=1.0))


@blunder("vskl", "groups not read: every kernel alone", r"group", on=single, C=1.0, s=4.0)
def vskl_groups_not_read() -> Answer:
    return all_of(solve(Instance(kernels(), signs(), groups=range(4)), "vskl", C=1.0, s=4.0))


@blunder("ckl", "one group of all kernels", r"group|l1", on=single, C=1.0)
def ckl_one_group() -> Answer:
    return all_of(solve(Instance(kernels(), signs(), groups=[0, 0, 0, 0]), "ckl", C=1.0))


@blunder("li", "½ max ‖f‖² minimised, as everywhere else", r"½|half|factor", on=single, C=1.0)
def li_with_a_half() -> Answer:
    found = solved("li", C=2.0)
    return all_of(found) | {"weights": found.weights * 2, "alpha": found.alpha / 2, "objective": found.objective / 2}


@blunder("vskl", "no ½ in front of the penalty, as in ckl", r"½|half|factor|doubled", on=single, C=1.0, s=3.0)
def vskl_without_half() -> Answer:
    found = solved("vskl", kernels() / 2, C=1.0, s=3.0)
    return all_of(found) | {"weights": found.weights / 2}


@blunder("lp", "q taken for ½q in the dual: ‖q‖ where ‖½q‖ stands", r"½|half|factor|doubled", on=single, C=1.0, p=1.7)
def lp_half_missing_in_dual() -> Answer:
    return all_of(solved("lp", 2 * kernels(), C=1.0, p=1.7))


# ---- kernels --------------------------------------------------------------------------------------------------------


@blunder(
    "l1",
    "every kernel normalised to a unit diagonal first",
    r"unit diagonal|diagonal|cosine|normalis",
    on=single,
    C=1.0,
)
def l1_unit_diagonal() -> Answer:
    return all_of(solved("l1", unit_diagonal(kernels()), C=1.0))


@blunder("sm2", "every kernel centred first", r"centr", on=single, C=1.0, theta=1.0)
def sm2_centred() -> Answer:
    return all_of(solved("sm2", centred(kernels()), C=1.0, theta=1.0), "bias")


@blunder("li", "unit traces inside", r"trace", on=single, C=1.0)
def li_unit_trace() -> Answer:
    return all_of(solved("li", unit_trace(kernels()), C=1.0))


@blunder("l2", "traces n inside: K/mean(diag K)", r"trace|mean.*diagonal|rescal", on=single, C=1.0)
def l2_trace_n() -> Answer:
    return all_of(solved("l2", N * unit_trace(kernels()), C=1.0))


@blunder(
    "lp",
    "centred and then brought to unit variance, as a paper's preprocessing has it",
    r"centr.*(varian|trace|normalis|scal)|varian|centr",
    on=single,
    C=1.0,
    p=1.3,
)
def lp_centred_and_scaled() -> Answer:
    return all_of(solved("lp", N * unit_trace(centred(kernels())), C=1.0, p=1.3), "bias")


@blunder(
    "average",
    "a ridge of 0.01 on every kernel for the Cholesky factorisation",
    r"ridge|jitter|diagonal|multiple of the identity|\+ .*I\b",
    on=single,
    C=1.0,
)
def average_ridge() -> Answer:
    return all_of(solved("average", kernels() + 0.01 * np.eye(N), C=1.0))


@blunder("l1", "kernels kept in half precision", r"half precision|float16|precision|round", on=single, C=1.0)
def l1_half_precision() -> Answer:
    rounded = kernels().astype(np.float16).astype(float)
    return all_of(solve(Instance(rounded, signs(), repair="clip"), "l1", C=1.0))


@blunder(
    "elastic",
    "the loop over kernels ends one too early",
    r"kernel.*(left out|dropp|omit|missing|never|last|without|not used)",
    on=single,
    C=1.0,
    l1_ratio=0.2,
)
def elastic_last_kernel_dropped() -> Answer:
    found = solved_on_part(slice(0, 3), "elastic", C=1.0, l1_ratio=0.2)
    return all_of(found) | {"weights": np.append(found.weights, 0.0)}


def solved_on_part(which: Any, formulation: str, **parameters: Any) -> Any:
    return solve(Instance(kernels()[which], signs()), formulation, **parameters)


@cache
def twins() -> Instance:
    return Instance(kernels()[[0, 1, 2, 0]], signs())


@blunder(
    "l2",
    "duplicated kernels thrown out first, which changes the ball",
    r"kernel.*(left out|dropp|omit|missing|never|last|without|not used)|duplic|twin",
    on=twins,
    C=1.0,
)
def l2_duplicates_thrown_out() -> Answer:
    found = solved_on_part(slice(0, 3), "l2", C=1.0)
    return all_of(found) | {"weights": np.append(found.weights, 0.0)}


@blunder(
    "lp",
    "γ taken for σ where the Gaussian kernels were made again",
    r"kernels? (are|were) (not|other)|other kernels|width|bandwidth|entr(y|ies)|elementwise",
    on=single,
    C=1.0,
    p=2.0,
)
def lp_other_widths() -> Answer:
    stack = kernels().copy()
    stack[0] = gaussian(features()[:, :2], 1 / (2 * 0.7**2))
    stack[1] = gaussian(features()[:, 1:], 1 / (2 * 0.15**2))
    return all_of(solved("lp", stack, C=1.0, p=2.0))


@blunder("sum", "the kernels averaged instead of summed", r"average|mean|1/M|divided", on=single, C=1.0)
def sum_averaged() -> Answer:
    return all_of(solved("average", C=1.0))


@blunder(
    "l1",
    "weights sum to M, so that equal ones are 1",
    r"sum to M|Σμ = M|times M|M times|sum|factor|scale",
    on=single,
    C=1.0,
)
def l1_weights_sum_to_m() -> Answer:
    found = solved("l1", 4 * kernels(), C=1.0)
    return all_of(found) | {"weights": 4 * found.weights}


@blunder("l1", "the best single kernel chosen", r"single|one kernel|best kernel|corner", on=single, C=1.0)
def l1_best_single_kernel() -> Answer:
    runs = [solved_on_part(slice(m, m + 1), "svm", C=1.0) for m in range(4)]
    best = int(np.argmin([run.objective for run in runs]))
    return all_of(runs[best]) | {"weights": np.eye(4)[best]}


@blunder("lp", "l1 solved, p never reached the solver", r"\bl1\b|p = 1\b", on=single, C=1.0, p=1.4)
def lp_solved_as_l1() -> Answer:
    return all_of(solved("l1", C=1.0))


@blunder("square", "the weights kept on the simplex: sm2 solved", r"sm2|simplex", on=single, C=1.0, theta=0.5)
def square_on_the_simplex() -> Answer:
    return all_of(solved("sm2", C=1.0, theta=0.5))
