"""Solvers that solved the right problem and handed over something else for α, b, coefficients or the value."""

from __future__ import annotations

import numpy as np

from blunders import N, kernels, l1_right, mistake, signs, single, solved
from wrong_answers import Case, Parts, parts


@mistake(single, "elastic", "α∘y returned", named="alpha_signed", pattern=r"label|sign|∘ ?y", C=1.0, l1_ratio=0.8)
def elastic_signed_alpha(_: Case) -> Parts:
    found = solved("elastic", C=1.0, l1_ratio=0.8)
    return parts(found) | {"alpha": found.alpha * signs()}


@mistake(
    single,
    "square",
    "α divided by C, the box being [0, 1] inside",
    named="alpha_units",
    pattern=r"C\b|scale|factor",
    C=4.0,
    theta=0.5,
)
def square_alpha_over_c(_: Case) -> Parts:
    found = solved("square", C=4.0, theta=0.5)
    return parts(found) | {"alpha": found.alpha / 4.0}


@mistake(
    single,
    "l2",
    "samples sorted by class for the solver, α returned in that order",
    named="samples_order",
    pattern=r"order|permut|sort",
    C=1.0,
)
def l2_sorted_samples(_: Case) -> Parts:
    found = solved("l2", C=1.0)
    return parts(found) | {"alpha": found.alpha[np.argsort(-signs(), kind="stable")]}


@mistake(single, "sum", "rho returned for b", named="bias_sign", pattern=r"bias|sign of b|rho|−b", C=1.0)
def sum_rho(_: Case) -> Parts:
    found = solved("sum", C=1.0)
    return parts(found) | {"bias": -found.bias}


@mistake(
    single,
    "average",
    "the class with the smaller label called positive",
    named="bias_sign + alpha_signed",
    pattern=r"label|class.*(swap|exchang|other)|bias.*sign|sign.*bias",
    C=1.0,
)
def average_classes_exchanged(_: Case) -> Parts:
    found = solved("average", C=1.0)
    return {"alpha": found.alpha * -signs(), "bias": -found.bias}


@mistake(
    single,
    "l1",
    "b the mean over all support vectors, bounded ones too",
    named="bias_wrong",
    pattern=r"bias|\bb\b",
    C=1.0,
)
def l1_bias_over_bounded(_: Case) -> Parts:
    found = l1_right()
    f = np.tensordot(found.weights, kernels(), 1) @ (found.alpha * signs())
    return parts(found) | {"bias": float((signs() - f)[found.alpha > 1e-6].mean())}


@mistake(
    single,
    "sm2",
    "α in LIBSVM's ν-form, with sum νn",
    named="alpha_units",
    pattern=r"ν|nu\b|1'α|sum|scale|factor",
    nu=0.5,
    theta=1.0,
)
def sm2_nu_sum(_: Case) -> Parts:
    found = solved("sm2", nu=0.5, theta=1.0)
    return {"weights": found.weights, "alpha": found.alpha * 0.5 * N}


@mistake(
    single, "l2", "coefficients without the weights: c_m = α∘y", named="coefficients_weights", pattern=r"weight", C=1.0
)
def l2_coefficients_without_weights(_: Case) -> Parts:
    found = solved("l2", C=1.0)
    return {"coefficients": np.tile(found.alpha * signs(), (4, 1)), "bias": found.bias}


@mistake(
    single,
    "l1",
    "coefficients μ_m α without the labels",
    named="coefficients_signed",
    pattern=r"label|sign|∘ ?y",
    C=1.0,
)
def l1_coefficients_without_labels(_: Case) -> Parts:
    return {"coefficients": l1_right().weights[:, None] * l1_right().alpha, "bias": l1_right().bias}


@mistake(
    single,
    "lp",
    "coefficients carry the weight twice",
    named="coefficients_weights",
    pattern=r"twice|square|μ²|weight",
    C=1.0,
    p=2.0,
)
def lp_coefficients_weighted_twice(_: Case) -> Parts:
    found = solved("lp", C=1.0, p=2.0)
    return {"weights": found.weights, "coefficients": found.weights[:, None] ** 2 * (found.alpha * signs())}


@mistake(
    single,
    "smp",
    "the minimised dual's value handed over",
    named="objective_sign",
    pattern=r"sign|negative|minus|−",
    C=1.0,
    theta=1.0,
    p=1.5,
)
def smp_objective_of_other_sign(_: Case) -> Parts:
    found = solved("smp", C=1.0, theta=1.0, p=1.5)
    return parts(found) | {"objective": -found.objective}


@mistake(
    single,
    "sm2",
    "objective without the price of the weights",
    named="objective_terms",
    pattern=r"penalty|regularis|R\(μ\)|‖μ‖²|price",
    C=1.0,
    theta=0.5,
)
def sm2_objective_without_penalty(_: Case) -> Parts:
    found = solved("sm2", C=1.0, theta=0.5)
    return parts(found) | {"objective": found.objective - float(found.weights @ found.weights)}


@mistake(single, "l1", "objective divided by n", named="objective_units", pattern=r"\bn\b|samples|mean", C=1.0)
def l1_objective_over_n(_: Case) -> Parts:
    return parts(l1_right()) | {"objective": l1_right().objective / N}


@mistake(
    single,
    "elastic",
    "objective is 1'α, the quadratic part forgotten",
    named="objective_terms",
    pattern=r"1'α|linear|quadratic|gain|sum of α|without the",
    C=1.0,
    l1_ratio=0.5,
)
def elastic_objective_linear_part(_: Case) -> Parts:
    found = solved("elastic", C=1.0, l1_ratio=0.5)
    return parts(found) | {"objective": float(found.alpha.sum())}


@mistake(single, "ckl", "objective alone, of ½ max_j (Σ‖f‖)² + CΣξ", named="half", pattern=r"½|half|factor", C=1.0)
def ckl_objective_with_half(_: Case) -> Parts:
    return {"objective": solved("ckl", C=2.0).objective / 2}


@mistake(
    single,
    "lp",
    "objective alone, C divided by n",
    named="C_over_n",
    pattern=r"C.{0,30}(n\b|samples)|mean",
    C=1.0,
    p=1.5,
)
def lp_objective_alone_c_over_n(_: Case) -> Parts:
    return {"objective": solved("lp", C=1.0 / N, p=1.5).objective}


@mistake(
    single,
    "l1",
    "hinge loss of the objective without C",
    named="objective_terms",
    pattern=r"\bC\b|slack|loss|risk",
    C=3.0,
)
def l1_objective_loss_without_c(_: Case) -> Parts:
    found = solved("l1", C=3.0)
    penalty = float(found.alpha.sum() - found.objective)  # ½ Σ μ q at the optimum
    return parts(found) | {"objective": penalty + (found.objective - penalty) / 3.0}
