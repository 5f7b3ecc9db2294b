"""Mistakes with one label per sample in what is handed over: the right answer, written down wrongly."""

from __future__ import annotations

import numpy as np

from mistakes import mistake
from wrong_answers import Case, Parts, parts


@mistake(
    "planted-l1-unequal",
    "l1",
    "the weights are normalised in the ℓ2 norm, they should sum to one",
    C=1.0,
    named="weights_norm: ‖·‖₂ = 1",
)
def weights_of_unit_length(case: Case) -> Parts:
    said = parts(case.right)
    return {**said, "weights": said["weights"] / np.linalg.norm(said["weights"])}


@mistake(
    "noise-0",
    "l1",
    "the weights are normalised by the largest, they should sum to one",
    C=1.0,
    named="weights_norm: largest 1",
)
def largest_weight_is_one(case: Case) -> Parts:
    said = parts(case.right)
    return {**said, "weights": said["weights"] / said["weights"].max()}


@mistake(
    "clouds",
    "l2",
    "the weights are normalised to sum to one, their ℓ2 norm should be one",
    C=2.0,
    named="weights_norm: sum to 1",
)
def l2_weights_sum_to_one(case: Case) -> Parts:
    said = parts(case.right, "weights", "alpha")
    return {**said, "weights": said["weights"] / said["weights"].sum()}


@mistake("clouds", "lp", "the weights are ‖f‖, not the weights that go with them", C=1.0, p=1.5, named="weights_norms")
def norms_for_weights(case: Case) -> Parts:
    norms = case.right.norms
    return {**parts(case.right), "weights": norms / np.sum(norms**1.5) ** (1 / 1.5)}


@mistake(
    "noise-60",
    "l1",
    "the ½ in front of the quadratic term is missing from the objective",
    C=1.0,
    named="objective_terms: in the dual",
)
def dual_without_half(case: Case) -> Parts:
    said = case.right
    signed = said.alpha * case.instance.y
    largest = max(signed @ kernel @ signed for kernel in case.instance.kernels)
    return {**parts(said), "objective": said.alpha.sum() - largest}


@mistake(
    "clouds",
    "sm1",
    "the objective is twice as large: Lanckriet's max 2·1'α − …",
    C=1.0,
    theta=0.4,
    named="objective_half",
)
def doubled_objective(case: Case) -> Parts:
    return {**parts(case.right), "objective": 2 * case.right.objective}


@mistake(
    "redundancy-4",
    "elastic",
    "the objective has the other sign: a minimised dual",
    C=0.1,
    l1_ratio=0.5,
    named="objective_sign",
)
def minimised_dual(case: Case) -> Parts:
    return {**parts(case.right), "objective": -case.right.objective}


@mistake(
    "clouds", "l1", "the objective is divided by the number of samples", C=1.0, named="objective_units: divided by n"
)
def mean_objective(case: Case) -> Parts:
    return {**parts(case.right), "objective": case.right.objective / case.instance.samples}


@mistake(
    "clouds",
    "average",
    "the loss is missing from the objective: only ½‖f‖² is reported",
    C=1.0,
    named="objective_terms: the loss is missing",
)
def objective_without_loss(case: Case) -> Parts:
    said = case.right
    signed = said.alpha * case.instance.y
    return {**parts(said), "objective": signed @ case.instance.kernels.mean(axis=0) @ signed / 2}


@mistake(
    "planted-sm2",
    "sm2",
    "the penalty ‖μ‖²/(2θ) is missing from the objective",
    C=1.0,
    theta=1.0,
    named="objective_terms: penalty R",
)
def objective_without_penalty(case: Case) -> Parts:
    said = case.right
    return {**parts(said), "objective": said.objective - said.weights @ said.weights / 2}


@mistake("planted-l1", "l1", "α carries the labels' signs: scikit-learn's dual_coef_", C=1.0, named="alpha_signed")
def alpha_with_signs(case: Case) -> Parts:
    return {**parts(case.right), "alpha": case.right.alpha * case.instance.y}


@mistake("mixed", "l2", "α is divided by C", C=4.0, named="alpha_units")
def alpha_in_units_of_c(case: Case) -> Parts:
    return {**parts(case.right), "alpha": case.right.alpha / 4.0}


@mistake("imbalanced", "sum", "the bias has the other sign: −rho", C=1.0, named="bias_sign")
def rho_for_bias(case: Case) -> Parts:
    return {**parts(case.right), "bias": -case.right.bias}


@mistake("noise-0", "average", "the bias was forgotten: 0 is reported", C=1.0, named="bias_omitted")
def bias_of_zero(case: Case) -> Parts:
    return {**parts(case.right), "bias": 0.0}


@mistake(
    "breast_cancer-kumar",
    "smp",
    "the kernels' weights are in the reverse order",
    C=1.0,
    theta=1.0,
    p=2.5,
    named="weights_order",
)
def kernels_backwards(case: Case) -> Parts:
    return {**parts(case.right), "weights": case.right.weights[::-1]}


@mistake("noise-0", "l1", "the weights are shifted by one kernel: counting from one", C=1.0, named="weights_order")
def weights_off_by_one(case: Case) -> Parts:
    return {**parts(case.right), "weights": np.roll(case.right.weights, 1)}


@mistake(
    "breast_cancer-kumar", "l1", "α is in another order of the samples: class by class", C=1.0, named="samples_order"
)
def samples_by_class(case: Case) -> Parts:
    order = np.argsort(-case.instance.y, kind="stable")
    return {**parts(case.right), "alpha": case.right.alpha[order]}


@mistake("clouds", "l1", "the numbers are rounded to three digits", C=1.0, named="few_decimals")
def three_digits(case: Case) -> Parts:
    said = parts(case.right)
    return {name: np.round(value, 3) for name, value in said.items()}


@mistake("noise-0", "l1", "small weights were set to zero and the others rescaled", C=1.0, named="weights_cut")
def small_weights_cut(case: Case) -> Parts:
    weights = np.where(case.right.weights > 0.08, case.right.weights, 0.0)
    return {"weights": weights / weights.sum()}


@mistake("planted-li", "li", "λ is handed over where the weight 1/(2λ) is meant", C=1.0, named="weights_reciprocal")
def lambda_for_weights(case: Case) -> Parts:
    return {**parts(case.right), "weights": case.right.multipliers["lambda"]}


@mistake("clouds", "li", "the weights are 1/λ: twice what they should be", C=1.0, named="weights_norm: times 0.5")
def li_weights_without_half(case: Case) -> Parts:
    return {**parts(case.right), "weights": 1 / case.right.multipliers["lambda"]}


@mistake(
    "planted-square", "square", "the weights are θq: twice θ·½q", C=1.0, theta=1.0, named="weights_norm: times 0.5"
)
def square_weights_without_half(case: Case) -> Parts:
    signed = case.right.alpha * case.instance.y
    q = np.array([signed @ kernel @ signed for kernel in case.instance.kernels])
    return {"weights": q, "alpha": case.right.alpha}


@mistake(
    "clouds", "ckl", "the weights are λ within the groups, without the groups' 1/(2γ)", C=1.0, named="weights_groups"
)
def shares_for_weights(case: Case) -> Parts:
    return {**parts(case.right), "weights": case.right.multipliers["lambda"]}
