"""Solvers that handed over other weights than those they had, or had not finished."""

from __future__ import annotations

import numpy as np
from sklearn.svm import SVC

from blunders import N, kernels, l1_right, mistake, signs, single, solved
from mklcvx import solve
from wrong_answers import Case, Parts, parts


@mistake(
    single,
    "l1",
    "weights in reverse order, the stack having been read from MATLAB's last axis",
    named="weights_order",
    pattern=r"order|revers|permut",
    C=1.0,
)
def l1_kernels_reversed(_: Case) -> Parts:
    return parts(l1_right()) | {"weights": l1_right().weights[::-1]}


@mistake(
    single,
    "elastic",
    "kernels sorted by their alignment, weights returned in that order",
    named="weights_order",
    pattern=r"order|revers|permut",
    C=1.0,
    l1_ratio=0.5,
)
def elastic_kernels_sorted(_: Case) -> Parts:
    found = solved("elastic", C=1.0, l1_ratio=0.5)
    return parts(found) | {"weights": found.weights[[2, 0, 3, 1]]}


@mistake(
    single,
    "square",
    "weights brought to sum one for the table",
    named="weights_norm",
    pattern=r"normalis|sum.*(one|1)|simplex|scale",
    C=1.0,
    theta=0.3,
)
def square_weights_sum_one(_: Case) -> Parts:
    found = solved("square", C=1.0, theta=0.3)
    return {"weights": found.weights / found.weights.sum(), "alpha": found.alpha, "bias": found.bias}


@mistake(
    single,
    "lp",
    "weights brought to ‖μ‖₂ = 1 in spite of p",
    named="weights_norm",
    pattern=r"norm|ℓ2|ball|scale",
    C=1.0,
    p=1.2,
)
def lp_weights_of_unit_euclidean_norm(_: Case) -> Parts:
    found = solved("lp", C=1.0, p=1.2)
    return {"weights": found.weights / np.linalg.norm(found.weights), "alpha": found.alpha}


@mistake(
    single,
    "l1",
    "roots of the weights returned, those that scale the features",
    named="weights_power",
    pattern=r"root|square|power|exponent",
    C=1.0,
)
def l1_roots_of_weights(_: Case) -> Parts:
    return {"weights": np.sqrt(l1_right().weights), "alpha": l1_right().alpha, "bias": l1_right().bias}


@mistake(
    single,
    "sm2",
    "μ ∝ ‖f‖², the exponent of the closed form wrong",
    named="weights_power",
    pattern=r"square|power|exponent|‖f|norms",
    C=1.0,
    theta=1.0,
)
def sm2_weights_from_squared_norms(_: Case) -> Parts:
    found = solved("sm2", C=1.0, theta=1.0)
    squares = found.weights**2
    return {"weights": squares / squares.sum(), "alpha": found.alpha, "objective": found.objective}


@mistake(
    single,
    "lp",
    "the weights' closed form for p = 1 in the last step",
    named="weights_norms",
    pattern=r"norms?|p = 1|l1|exponent|closed|belong|stale|not.*(from|of) this α",
    C=1.0,
    p=2.5,
)
def lp_last_step_of_another_p(_: Case) -> Parts:
    found = solved("lp", C=1.0, p=2.5)
    q = np.einsum("i,mij,j->m", found.alpha * signs(), kernels(), found.alpha * signs())
    norms = found.weights * np.sqrt(q)
    return {"weights": norms / norms.sum(), "alpha": found.alpha, "bias": found.bias}


@mistake(
    single,
    "sm1",
    "l1 solved, its weights clipped at θ and brought back to sum one",
    named="weights_clipped",
    pattern=r"clip|cut|box|truncat",
    C=1.0,
    theta=0.4,
)
def sm1_clipped(_: Case) -> Parts:
    clipped = np.minimum(l1_right().weights, 0.4)
    for _ in range(200):
        clipped = np.minimum(clipped / clipped.sum(), 0.4)
    return {"weights": clipped}


@mistake(
    single,
    "l2",
    "weights below 0.1 set to zero afterwards",
    named="weights_cut",
    pattern=r"threshold|small weights|zero|truncat|left out|dropp|clip|cut",
    C=1.0,
)
def l2_weights_thresholded(_: Case) -> Parts:
    found = solved("l2", C=1.0)
    least = np.sort(found.weights)[0]
    return {"weights": np.where(found.weights > least, found.weights, 0.0), "alpha": found.alpha}


@mistake(single, "li", "λ where the weight is 1/(2λ)", named="weights_reciprocal", pattern=r"1/\(2λ\)|λ", C=1.0)
def li_shares_for_weights(_: Case) -> Parts:
    found = solved("li", C=1.0)
    return parts(found) | {"weights": found.multipliers["lambda"]}


@mistake(
    single,
    "li",
    "weights 1/λ, the 2 of 1/(2λ) forgotten",
    named="weights_norm",
    other_words=True,  # optimal "times 0.5"
    pattern=r"1/\(2λ\)|½|half|doubled|twice|factor|1/λ",
    C=1.0,
)
def li_two_forgotten(_: Case) -> Parts:
    found = solved("li", C=1.0)
    return parts(found) | {"weights": 1 / found.multipliers["lambda"]}


@mistake(
    single,
    "ckl",
    "λ of the groups' simplices returned, γ forgotten",
    named="weights_groups",
    pattern=r"λ|γ|lambda|gamma|share",
    C=1.0,
)
def ckl_shares_for_weights(_: Case) -> Parts:
    found = solved("ckl", C=1.0)
    return parts(found) | {"weights": found.multipliers["lambda"]}


@mistake(
    single,
    "l1",
    "weights and α of unlike iterations: α of the even start, weights one step ahead",
    named="alpha_stale",
    pattern=r"early|belong|stale|iteration|converge|together",
    C=1.0,
)
def l1_stale_alpha(_: Case) -> Parts:
    return {"weights": l1_right().weights, "alpha": solved("average", C=1.0).alpha}


@mistake(
    single,
    "sm2",
    "α of the last step with the even weights of the start",
    named="weights_even",
    pattern=r"belong|stale|even|uniform|equal|average|start|together",
    C=1.0,
    theta=5.0,
)
def sm2_stale_weights(_: Case) -> Parts:
    found = solved("sm2", C=1.0, theta=5.0)
    return {"weights": np.full(4, 0.25), "alpha": found.alpha, "bias": found.bias}


@mistake(
    single,
    "l1",
    "the weights' change below 1e-2 taken for convergence",
    named="stopped_early",
    pattern=r"early|stopp|converge",
    C=1.0,
)
def l1_stopped_early(_: Case) -> Parts:
    return parts(solve(single(), "l1", C=1.0, solver="analytic", tol=1e-2))


@mistake(single, "sum", "LIBSVM's stopping tolerance", named="stopped_early", pattern=r"early|stopp|converge", C=10.0)
def sum_libsvm_tolerance(_: Case) -> Parts:
    svm = SVC(C=10.0, kernel="precomputed", tol=0.2).fit(kernels().sum(axis=0), signs())
    alpha = np.zeros(N)
    alpha[svm.support_] = np.abs(svm.dual_coef_[0])
    return {"alpha": alpha, "bias": float(svm.intercept_[0])}


@mistake(
    single,
    "sm1",
    "everything computed in single precision",
    named="single_precision",
    pattern=r"single precision|float32",
    tol=1e-10,
    C=1.0,
    theta=0.4,
)
def sm1_single_precision(_: Case) -> Parts:
    found = solved("sm1", C=1.0, theta=0.4)
    return {name: np.float32(value) for name, value in parts(found).items()}
