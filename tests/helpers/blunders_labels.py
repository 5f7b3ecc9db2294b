"""Solvers for many labels and for hypergraphs."""

from __future__ import annotations

from functools import cache

import cvxpy as cp
import numpy as np

from blunders import N, kernels, labelled, mistake, solved, unit_trace
from mklcvx import Instance, Solution, solve
from wrong_answers import Case, Parts


@cache
def ml_sum_right() -> Solution:
    return solved("ml_sum", on=labelled, C=1.0)


def one_class(k: int, **parameters: object) -> Solution:
    return solve(Instance(kernels(), 2.0 * labelled().targets.values[:, k] - 1), "l1", **parameters)


def label_machine(signed: np.ndarray, *, bias: bool = False) -> Parts:
    """The dual of ml_sum with any signs in place of the labels, with or without a bias per class, by CVXPY."""
    alpha, tau = cp.Variable((3, N), nonneg=True), cp.Variable()
    seen = cp.multiply(signed, alpha)
    cuts = [cp.sum_squares(seen @ np.linalg.cholesky(k)) / 2 <= tau for k in kernels()]
    equal = [cp.sum(seen, axis=1) == 0] if bias else []
    problem = cp.Problem(cp.Maximize(cp.sum(alpha) - tau), [alpha <= 1, *cuts, *equal])
    problem.solve(solver="CLARABEL")
    weights = np.array([float(np.squeeze(cut.dual_value)) for cut in cuts])
    return {"weights": weights / weights.sum(), "alpha": np.clip(alpha.value, 0, 1), "objective": problem.value}


@mistake(
    labelled,
    "ml_sum",
    "weights of every class learned apart, then averaged",
    named="weights_of_classes",
    pattern=r"each class|every class|apart|separate|own weights|per class",
    C=1.0,
)
def ml_sum_classes_apart(_: Case) -> Parts:
    return {"weights": np.mean([one_class(k, C=1.0, bias=False).weights for k in range(3)], axis=0)}


@mistake(labelled, "ml_sum", "weights of the first class alone", named="weights_of_classes", pattern=r"class", C=1.0)
def ml_sum_first_class_only(_: Case) -> Parts:
    return {"weights": one_class(0, C=1.0, bias=False).weights}


@mistake(labelled, "ml_sum", "a bias for every class", named="bias_added", pattern=r"bias", C=1.0)
def ml_sum_with_bias(_: Case) -> Parts:
    values = labelled().targets.values.T
    return label_machine(2.0 * values - 1, bias=True)


@mistake(
    labelled,
    "ml_sum",
    "C divided by the number of samples",
    named="C_over_n",
    pattern=r"C.{0,30}(n\b|samples)|mean",
    C=1.0,
)
def ml_sum_c_over_n(_: Case) -> Parts:
    found = solved("ml_sum", on=labelled, C=1.0 / N)
    return {"weights": found.weights, "alpha": found.alpha, "objective": found.objective}


@mistake(
    labelled, "ml_minimax", "the sum over classes minimised", named="formulation ml_sum", pattern=r"ml_sum|sum", C=1.0
)
def ml_minimax_sum_solved(_: Case) -> Parts:
    return {"weights": ml_sum_right().weights, "alpha": ml_sum_right().alpha, "objective": ml_sum_right().objective}


@mistake(
    labelled,
    "ml_sum",
    "objective the mean over the classes",
    named="objective_units",
    pattern=r"class|mean|k\b|divided",
    C=1.0,
)
def ml_sum_objective_mean(_: Case) -> Parts:
    return {"weights": ml_sum_right().weights, "objective": ml_sum_right().objective / 3}


@mistake(
    labelled, "ml_sum", "the classes' α in another order", named="classes_order", pattern=r"order|permut|class", C=1.0
)
def ml_sum_classes_in_another_order(_: Case) -> Parts:
    return {"weights": ml_sum_right().weights, "alpha": ml_sum_right().alpha[[1, 2, 0]]}


@mistake(labelled, "ml_sum", "labels left at 0 and 1", named="labels_zero_one", pattern=r"\b0\b.*1|labels?|−1", C=1.0)
def ml_sum_labels_zero_one(_: Case) -> Parts:
    return label_machine(labelled().targets.values.T.astype(float))


@mistake(
    labelled, "ml_minimax", "β of the dual returned, not divided by γ", named="alpha_beta", pattern=r"γ|gamma|β", C=1.0
)
def ml_minimax_beta(_: Case) -> Parts:
    found = solved("ml_minimax", on=labelled, C=1.0)
    return {
        "weights": found.weights,
        "alpha": found.multipliers["gamma"][:, None] * found.alpha,
        "objective": found.objective,
    }


@mistake(labelled, "ml_minimax", "kernels of unit trace", named="kernels_trace", pattern=r"trace", C=1.0)
def ml_minimax_unit_trace(_: Case) -> Parts:
    found = solved("ml_minimax", unit_trace(kernels()), labelled, C=1.0)
    return {"weights": found.weights, "objective": found.objective}


@cache
def hypergraph_right() -> Solution:
    return solved("hypergraph", on=labelled, lam=2.0)


@mistake(
    labelled,
    "hypergraph",
    "Zhou's Laplacian in place of the clique's",
    named="parameter",
    pattern=r"zhou|expansion",
    lam=2.0,
)
def hypergraph_zhou(_: Case) -> Parts:
    found = solved("hypergraph", on=labelled, lam=2.0, expansion="zhou")
    return {"weights": found.weights, "objective": found.objective}


@mistake(
    labelled,
    "hypergraph",
    "K λ where K/λ stands",
    named="parameter",
    pattern=r"1/λ|1/lam|reciprocal|invers|revers|lam = 0\.5|λ = 0\.5",
    lam=2.0,
)
def hypergraph_lambda_inverted(_: Case) -> Parts:
    found = solved("hypergraph", on=labelled, lam=0.5)
    return {"weights": found.weights, "objective": found.objective}


@mistake(
    labelled,
    "hypergraph",
    "unit traces inside, as the paper has them",
    named="kernels_trace",
    pattern=r"trace",
    lam=2.0,
)
def hypergraph_unit_trace(_: Case) -> Parts:
    found = solved("hypergraph", unit_trace(kernels()), labelled, lam=2.0)
    return {"weights": found.weights, "objective": found.objective}


@mistake(
    labelled,
    "hypergraph",
    "the trace that is minimised handed over as objective",
    named="objective_sign",
    pattern=r"sign|minus|negative|−",
    lam=2.0,
)
def hypergraph_objective_sign(_: Case) -> Parts:
    return {"weights": hypergraph_right().weights, "objective": -hypergraph_right().objective}


@mistake(
    labelled,
    "hypergraph",
    "the sum of the eigenvalues as objective: tr C + γ*",
    named="objective_terms",
    pattern=r"tr\(C\)|tr C|eigenvalue|trace of C",
    lam=2.0,
)
def hypergraph_objective_eigenvalues(_: Case) -> Parts:
    return {
        "weights": hypergraph_right().weights,
        "objective": float(hypergraph_right().multipliers["eigenvalues"].sum()),
    }


@mistake(
    labelled, "hypergraph", "Z = A⁻¹H, the 2 forgotten", named="Z_half", pattern=r"½|half|\b2\b|factor|twice", lam=2.0
)
def hypergraph_z_halved(_: Case) -> Parts:
    return {"weights": hypergraph_right().weights, "multipliers": {"Z": hypergraph_right().multipliers["Z"] / 2}}


@mistake(
    labelled,
    "hypergraph_smooth",
    "the smoothing forgotten",
    named="formulation hypergraph",
    pattern=r"hypergraph\b(?!_)|smoothing|μ",
    lam=2.0,
    smoothing=0.1,
)
def hypergraph_smooth_not_smoothed(_: Case) -> Parts:
    return {"weights": hypergraph_right().weights, "objective": hypergraph_right().objective}


@mistake(
    labelled,
    "hypergraph_smooth",
    "log of the mean of the exponentials: lower by μ log M",
    named="objective_terms",
    pattern=r"log M|mean|log",
    lam=2.0,
    smoothing=0.1,
)
def hypergraph_smooth_log_mean(_: Case) -> Parts:
    found = solved("hypergraph_smooth", on=labelled, lam=2.0, smoothing=0.1)
    return {"weights": found.weights, "objective": found.objective - 0.1 * float(np.log(4))}


@mistake(
    labelled,
    "hypergraph_smooth",
    "exp(S μ) where exp(S/μ) stands",
    named="parameter",
    pattern=r"1/μ|reciprocal|invers|revers|smoothing = 2|μ = 2",
    lam=2.0,
    smoothing=0.5,
)
def hypergraph_smooth_inverted(_: Case) -> Parts:
    found = solved("hypergraph_smooth", on=labelled, lam=2.0, smoothing=2.0)
    return {"weights": found.weights, "objective": found.objective}
