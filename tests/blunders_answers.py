"""Blunders of single-task solvers that solved the right problem, or half of it, and handed over something else."""

from __future__ import annotations

from functools import cache

import numpy as np
from blunders import Answer, N, all_of, blunder, kernels, signs, single, solved
from sklearn.svm import SVC

from mklcvx import Solution, solve

# ---- weights --------------------------------------------------------------------------------------------------------


@cache
def l1_right() -> Solution:
    return solved("l1", C=1.0)


@blunder(
    "l1",
    "weights in reverse order, the stack having been read from MATLAB's last axis",
    r"order|revers|permut",
    on=single,
    C=1.0,
)
def l1_kernels_reversed() -> Answer:
    return all_of(l1_right()) | {"weights": l1_right().weights[::-1]}


@blunder(
    "elastic",
    "kernels sorted by their alignment, weights returned in that order",
    r"order|revers|permut",
    on=single,
    C=1.0,
    l1_ratio=0.5,
)
def elastic_kernels_sorted() -> Answer:
    found = solved("elastic", C=1.0, l1_ratio=0.5)
    return all_of(found) | {"weights": found.weights[[2, 0, 3, 1]]}


@blunder(
    "square",
    "weights brought to sum one for the table",
    r"normalis|sum.*(one|1)|simplex|scale",
    on=single,
    C=1.0,
    theta=0.3,
)
def square_weights_sum_one() -> Answer:
    found = solved("square", C=1.0, theta=0.3)
    return {"weights": found.weights / found.weights.sum(), "alpha": found.alpha, "bias": found.bias}


@blunder("lp", "weights brought to ‖μ‖₂ = 1 in spite of p", r"norm|ℓ2|ball|scale", on=single, C=1.0, p=1.2)
def lp_weights_of_unit_euclidean_norm() -> Answer:
    found = solved("lp", C=1.0, p=1.2)
    return {"weights": found.weights / np.linalg.norm(found.weights), "alpha": found.alpha}


@blunder(
    "l1",
    "roots of the weights returned, those that scale the features",
    r"root|square|power|exponent",
    on=single,
    C=1.0,
)
def l1_roots_of_weights() -> Answer:
    return {"weights": np.sqrt(l1_right().weights), "alpha": l1_right().alpha, "bias": l1_right().bias}


@blunder(
    "sm2",
    "μ ∝ ‖f‖², the exponent of the closed form wrong",
    r"square|power|exponent|‖f|norms",
    on=single,
    C=1.0,
    theta=1.0,
)
def sm2_weights_from_squared_norms() -> Answer:
    found = solved("sm2", C=1.0, theta=1.0)
    squares = found.weights**2
    return {"weights": squares / squares.sum(), "alpha": found.alpha, "objective": found.objective}


@blunder(
    "lp",
    "the weights' closed form for p = 1 in the last step",
    r"norms?|p = 1|l1|exponent|closed|belong|stale|not.*(from|of) this α",
    on=single,
    C=1.0,
    p=2.5,
)
def lp_last_step_of_another_p() -> Answer:
    found = solved("lp", C=1.0, p=2.5)
    q = np.einsum("i,mij,j->m", found.alpha * signs(), kernels(), found.alpha * signs())
    norms = found.weights * np.sqrt(q)
    return {"weights": norms / norms.sum(), "alpha": found.alpha, "bias": found.bias}


@blunder(
    "sm1",
    "l1 solved, its weights clipped at θ and brought back to sum one",
    r"clip|cut|box|truncat",
    on=single,
    C=1.0,
    theta=0.4,
)
def sm1_clipped() -> Answer:
    clipped = np.minimum(l1_right().weights, 0.4)
    for _ in range(200):
        clipped = np.minimum(clipped / clipped.sum(), 0.4)
    return {"weights": clipped}


@blunder(
    "l2",
    "weights below 0.1 set to zero afterwards",
    r"threshold|small weights|zero|truncat|left out|dropp|clip|cut",
    on=single,
    C=1.0,
)
def l2_weights_thresholded() -> Answer:
    found = solved("l2", C=1.0)
    least = np.sort(found.weights)[0]
    return {"weights": np.where(found.weights > least, found.weights, 0.0), "alpha": found.alpha}


@blunder("li", "λ where the weight is 1/(2λ)", r"1/\(2λ\)|λ", on=single, C=1.0)
def li_shares_for_weights() -> Answer:
    found = solved("li", C=1.0)
    return all_of(found) | {"weights": found.multipliers["lambda"]}


@blunder("li", "weights 1/λ, the 2 of 1/(2λ) forgotten", r"1/\(2λ\)|½|half|doubled|twice|factor|1/λ", on=single, C=1.0)
def li_two_forgotten() -> Answer:
    found = solved("li", C=1.0)
    return all_of(found) | {"weights": 1 / found.multipliers["lambda"]}


@blunder("ckl", "λ of the groups' simplices returned, γ forgotten", r"λ|γ|lambda|gamma|share", on=single, C=1.0)
def ckl_shares_for_weights() -> Answer:
    found = solved("ckl", C=1.0)
    return all_of(found) | {"weights": found.multipliers["lambda"]}


@blunder("l1", "weights and α of unlike iterations: α of the even start, weights one step ahead",
         r"early|belong|stale|iteration|converge|together", on=single, C=1.0)  # fmt: skip
def l1_stale_alpha() -> Answer:
    return {"weights": l1_right().weights, "alpha": solved("average", C=1.0).alpha}


@blunder(
    "sm2",
    "α of the last step with the even weights of the start",
    r"belong|stale|even|uniform|equal|average|start|together",
    on=single,
    C=1.0,
    theta=5.0,
)
def sm2_stale_weights() -> Answer:
    found = solved("sm2", C=1.0, theta=5.0)
    return {"weights": np.full(4, 0.25), "alpha": found.alpha, "bias": found.bias}


# ---- stopped early, rounded ---------------------------------------------------------------------------------------


@blunder("l1", "the weights' change below 1e-2 taken for convergence", r"early|stopp|converge", on=single, C=1.0)
def l1_stopped_early() -> Answer:
    return all_of(solve(single(), "l1", C=1.0, solver="analytic", tol=1e-2))


@blunder("sum", "LIBSVM's stopping tolerance", r"early|stopp|converge", on=single, C=10.0)
def sum_libsvm_tolerance() -> Answer:
    svm = SVC(C=10.0, kernel="precomputed", tol=0.2).fit(kernels().sum(axis=0), signs())
    alpha = np.zeros(N)
    alpha[svm.support_] = np.abs(svm.dual_coef_[0])
    return {"alpha": alpha, "bias": float(svm.intercept_[0])}


@blunder(
    "sm1",
    "everything computed in single precision",
    r"single precision|float32",
    on=single,
    tol=1e-10,
    C=1.0,
    theta=0.4,
)
def sm1_single_precision() -> Answer:
    found = solved("sm1", C=1.0, theta=0.4)
    return {name: np.float32(value) for name, value in all_of(found).items()}


# ---- α, b and coefficients ----------------------------------------------------------------------------------------


@blunder("elastic", "α∘y returned", r"label|sign|∘ ?y", on=single, C=1.0, l1_ratio=0.8)
def elastic_signed_alpha() -> Answer:
    found = solved("elastic", C=1.0, l1_ratio=0.8)
    return all_of(found) | {"alpha": found.alpha * signs()}


@blunder("square", "α divided by C, the box being [0, 1] inside", r"C\b|scale|factor", on=single, C=4.0, theta=0.5)
def square_alpha_over_c() -> Answer:
    found = solved("square", C=4.0, theta=0.5)
    return all_of(found) | {"alpha": found.alpha / 4.0}


@blunder(
    "l2", "samples sorted by class for the solver, α returned in that order", r"order|permut|sort", on=single, C=1.0
)
def l2_sorted_samples() -> Answer:
    found = solved("l2", C=1.0)
    return all_of(found) | {"alpha": found.alpha[np.argsort(-signs(), kind="stable")]}


@blunder("sum", "rho returned for b", r"bias|sign of b|rho|−b", on=single, C=1.0)
def sum_rho() -> Answer:
    found = solved("sum", C=1.0)
    return all_of(found) | {"bias": -found.bias}


@blunder(
    "average",
    "the class with the smaller label called positive",
    r"label|class.*(swap|exchang|other)|bias.*sign|sign.*bias",
    on=single,
    C=1.0,
)
def average_classes_exchanged() -> Answer:
    found = solved("average", C=1.0)
    return {"alpha": found.alpha * -signs(), "bias": -found.bias}


@blunder("l1", "b the mean over all support vectors, bounded ones too", r"bias|\bb\b", on=single, C=1.0)
def l1_bias_over_bounded() -> Answer:
    found = l1_right()
    f = np.tensordot(found.weights, kernels(), 1) @ (found.alpha * signs())
    return all_of(found) | {"bias": float((signs() - f)[found.alpha > 1e-6].mean())}


@blunder("sm2", "α in LIBSVM's ν-form, with sum νn", r"ν|nu\b|1'α|sum|scale|factor", on=single, nu=0.5, theta=1.0)
def sm2_nu_sum() -> Answer:
    found = solved("sm2", nu=0.5, theta=1.0)
    return {"weights": found.weights, "alpha": found.alpha * 0.5 * N}


@blunder("l2", "coefficients without the weights: c_m = α∘y", r"weight", on=single, C=1.0)
def l2_coefficients_without_weights() -> Answer:
    found = solved("l2", C=1.0)
    return {"coefficients": np.tile(found.alpha * signs(), (4, 1)), "bias": found.bias}


@blunder("l1", "coefficients μ_m α without the labels", r"label|sign|∘ ?y", on=single, C=1.0)
def l1_coefficients_without_labels() -> Answer:
    return {"coefficients": l1_right().weights[:, None] * l1_right().alpha, "bias": l1_right().bias}


@blunder("lp", "coefficients carry the weight twice", r"twice|square|μ²|weight", on=single, C=1.0, p=2.0)
def lp_coefficients_weighted_twice() -> Answer:
    found = solved("lp", C=1.0, p=2.0)
    return {"weights": found.weights, "coefficients": found.weights[:, None] ** 2 * (found.alpha * signs())}


# ---- objective ------------------------------------------------------------------------------------------------------


@blunder("smp", "the minimised dual's value handed over", r"sign|negative|minus|−", on=single, C=1.0, theta=1.0, p=1.5)
def smp_objective_of_other_sign() -> Answer:
    found = solved("smp", C=1.0, theta=1.0, p=1.5)
    return all_of(found) | {"objective": -found.objective}


@blunder(
    "sm2",
    "objective without the price of the weights",
    r"penalty|regularis|R\(μ\)|‖μ‖²|price",
    on=single,
    C=1.0,
    theta=0.5,
)
def sm2_objective_without_penalty() -> Answer:
    found = solved("sm2", C=1.0, theta=0.5)
    return all_of(found) | {"objective": found.objective - float(found.weights @ found.weights)}


@blunder("l1", "objective divided by n", r"\bn\b|samples|mean", on=single, C=1.0)
def l1_objective_over_n() -> Answer:
    return all_of(l1_right()) | {"objective": l1_right().objective / N}


@blunder(
    "elastic",
    "objective is 1'α, the quadratic part forgotten",
    r"1'α|linear|quadratic|gain|sum of α|without the",
    on=single,
    C=1.0,
    l1_ratio=0.5,
)
def elastic_objective_linear_part() -> Answer:
    found = solved("elastic", C=1.0, l1_ratio=0.5)
    return all_of(found) | {"objective": float(found.alpha.sum())}


@blunder("ckl", "objective alone, of ½ max_j (Σ‖f‖)² + CΣξ", r"½|half|factor", on=single, C=1.0)
def ckl_objective_with_half() -> Answer:
    return {"objective": solved("ckl", C=2.0).objective / 2}


@blunder("lp", "objective alone, C divided by n", r"C.{0,30}(n\b|samples)|mean", on=single, C=1.0, p=1.5)
def lp_objective_alone_c_over_n() -> Answer:
    return {"objective": solved("lp", C=1.0 / N, p=1.5).objective}


@blunder("l1", "hinge loss of the objective without C", r"\bC\b|slack|loss|risk", on=single, C=3.0)
def l1_objective_loss_without_c() -> Answer:
    found = solved("l1", C=3.0)
    penalty = float(found.alpha.sum() - found.objective)  # ½ Σ μ q at the optimum
    return all_of(found) | {"objective": penalty + (found.objective - penalty) / 3.0}
