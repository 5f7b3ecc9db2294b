"""Blunders of solvers for many labels, two stages and hypergraphs."""

from __future__ import annotations

from functools import cache

import cvxpy as cp
import numpy as np
from blunders import Answer, N, all_of, blunder, centred, kernels, labelled, signs, single, solved, unit_trace

from mklcvx import Instance, Solution, solve

PAIRS = np.triu_indices(N)

# ---- many labels ----------------------------------------------------------------------------------------------------


@cache
def ml_sum_right() -> Solution:
    return solved("ml_sum", on=labelled, C=1.0)


def one_class(k: int, **parameters: object) -> Solution:
    return solve(Instance(kernels(), 2.0 * labelled().targets.values[:, k] - 1), "l1", **parameters)


def label_machine(signed: np.ndarray, *, bias: bool = False) -> Answer:
    """The dual of ml_sum with any signs in place of the labels, with or without a bias per class, by CVXPY."""
    alpha, tau = cp.Variable((3, N), nonneg=True), cp.Variable()
    seen = cp.multiply(signed, alpha)
    cuts = [cp.sum_squares(seen @ np.linalg.cholesky(k)) / 2 <= tau for k in kernels()]
    equal = [cp.sum(seen, axis=1) == 0] if bias else []
    problem = cp.Problem(cp.Maximize(cp.sum(alpha) - tau), [alpha <= 1, *cuts, *equal])
    problem.solve(solver="CLARABEL")
    weights = np.array([float(np.squeeze(cut.dual_value)) for cut in cuts])
    return {"weights": weights / weights.sum(), "alpha": np.clip(alpha.value, 0, 1), "objective": problem.value}


@blunder(
    "ml_sum",
    "weights of every class learned apart, then averaged",
    r"each class|every class|apart|separate|own weights|per class",
    on=labelled,
    C=1.0,
)
def ml_sum_classes_apart() -> Answer:
    return {"weights": np.mean([one_class(k, C=1.0, bias=False).weights for k in range(3)], axis=0)}


@blunder("ml_sum", "weights of the first class alone", r"class", on=labelled, C=1.0)
def ml_sum_first_class_only() -> Answer:
    return {"weights": one_class(0, C=1.0, bias=False).weights}


@blunder("ml_sum", "a bias for every class", r"bias", on=labelled, C=1.0)
def ml_sum_with_bias() -> Answer:
    values = labelled().targets.values.T
    return label_machine(2.0 * values - 1, bias=True)


@blunder("ml_sum", "C divided by the number of samples", r"C.{0,30}(n\b|samples)|mean", on=labelled, C=1.0)
def ml_sum_c_over_n() -> Answer:
    found = solved("ml_sum", on=labelled, C=1.0 / N)
    return {"weights": found.weights, "alpha": found.alpha, "objective": found.objective}


@blunder("ml_minimax", "the sum over classes minimised", r"ml_sum|sum", on=labelled, C=1.0)
def ml_minimax_sum_solved() -> Answer:
    return {"weights": ml_sum_right().weights, "alpha": ml_sum_right().alpha, "objective": ml_sum_right().objective}


@blunder("ml_sum", "objective the mean over the classes", r"class|mean|k\b|divided", on=labelled, C=1.0)
def ml_sum_objective_mean() -> Answer:
    return {"weights": ml_sum_right().weights, "objective": ml_sum_right().objective / 3}


@blunder("ml_sum", "the classes' α in another order", r"order|permut|class", on=labelled, C=1.0)
def ml_sum_classes_in_another_order() -> Answer:
    return {"weights": ml_sum_right().weights, "alpha": ml_sum_right().alpha[[1, 2, 0]]}


@blunder("ml_sum", "labels left at 0 and 1", r"\b0\b.*1|labels?|−1", on=labelled, C=1.0)
def ml_sum_labels_zero_one() -> Answer:
    return label_machine(labelled().targets.values.T.astype(float))


@blunder("ml_minimax", "β of the dual returned, not divided by γ", r"γ|gamma|β", on=labelled, C=1.0)
def ml_minimax_beta() -> Answer:
    found = solved("ml_minimax", on=labelled, C=1.0)
    return {
        "weights": found.weights,
        "alpha": found.multipliers["gamma"][:, None] * found.alpha,
        "objective": found.objective,
    }


@blunder("ml_minimax", "kernels of unit trace", r"trace", on=labelled, C=1.0)
def ml_minimax_unit_trace() -> Answer:
    found = solved("ml_minimax", unit_trace(kernels()), labelled, C=1.0)
    return {"weights": found.weights, "objective": found.objective}


# ---- two stages -----------------------------------------------------------------------------------------------------


def k_machine(weight: np.ndarray, lam: float, *, positive: bool = True) -> Answer:
    """The linear machine in K-space with any weights of the ordered pairs, by CVXPY."""
    t, mu = np.outer(signs(), signs()), cp.Variable(4, nonneg=positive)
    margins = sum(mu[m] * (t * k) for m, k in enumerate(kernels()))
    problem = cp.Problem(cp.Minimize(lam / 2 * cp.sum_squares(mu) + cp.sum(cp.multiply(weight, cp.pos(1 - margins)))))
    problem.solve(solver="CLARABEL", tol_gap_abs=1e-10, tol_gap_rel=1e-10)
    return {"weights": np.asarray(mu.value), "objective": float(problem.value)}


@blunder("ts", "pairs of a sample with itself left out", r"diagonal|itself|i < j|pair", on=single, lam=0.1)
def ts_without_diagonal() -> Answer:
    found = k_machine(np.triu(np.full((N, N), 2 / (N * (N - 1))), 1), 0.1)
    return found | {"weights": np.maximum(found["weights"], 0)}


@blunder("ts", "all n² ordered pairs", r"ordered|twice|both|pair", on=single, lam=0.1)
def ts_ordered_pairs() -> Answer:
    found = k_machine(np.full((N, N), 1 / N**2), 0.1)
    return found | {"weights": np.maximum(found["weights"], 0)}


@blunder("ts", "λ‖μ‖², the ½ forgotten", r"½|half|2λ|factor|twice|doubled|lam = 0\.2|λ = 0\.2", on=single, lam=0.1)
def ts_half_forgotten() -> Answer:
    return all_of(solved("ts", lam=0.2), "alpha", "bias")


@blunder("ts", "the loss summed over pairs, not averaged", r"\bN\b|pairs|sum|mean|number of", on=single, lam=0.1)
def ts_loss_summed() -> Answer:
    found = solved("ts", lam=0.1 / len(PAIRS[0]))
    return {"weights": found.weights, "objective": found.objective * len(PAIRS[0])}


@blunder("ts", "solved without μ ≥ 0, negative weights cut off afterwards", r"≥ 0|negativ|clip|cut", on=single, lam=0.1)
def ts_clipped() -> Answer:
    found = k_machine(np.triu(np.full((N, N), 2 / (N * (N + 1)))), 0.1, positive=False)
    return {"weights": np.maximum(found["weights"], 0)}


@blunder("ts", "kernels centred first, as the paper does", r"centr", on=single, lam=0.1)
def ts_centred() -> Answer:
    return all_of(solved("ts", centred(kernels()), lam=0.1), "alpha", "bias")


@blunder("ts", "both kinds of pairs given half of the weight", r"balanc", on=single, lam=0.1)
def ts_balanced() -> Answer:
    return all_of(solved("ts", lam=0.1, balanced=True), "alpha", "bias")


@blunder("ts_l1", "the ℓ2 penalty minimised", r"\bts\b|ℓ2|‖μ‖²|squared", on=single, lam=0.1)
def ts_l1_solved_as_ts() -> Answer:
    return all_of(solved("ts", lam=0.1), "alpha", "bias")


@blunder("ts_l1", "the price taken for that of the mean over n samples: λ/n", r"λ|lam|\bn\b", on=single, lam=0.1)
def ts_l1_lambda_over_n() -> Answer:
    return all_of(solved("ts_l1", lam=0.1 / N), "alpha", "bias")


@blunder(
    "ts",
    "the second stage's SVM on the sum of the kernels, the weights forgotten",
    r"second stage|sum|weights|α",
    on=single,
    lam=0.1,
    C=1.0,
)
def ts_second_stage_on_the_sum() -> Answer:
    return {"weights": solved("ts", lam=0.1).weights, "alpha": solved("sum", C=1.0).alpha}


@cache
def alignment_right() -> Solution:
    return solved("alignment")


@blunder("alignment", "the normalised alignment as objective", r"‖T‖|\bn\b|normalis|\[−1, 1\]|cosine", on=single)
def alignment_normalised() -> Answer:
    return {"weights": alignment_right().weights, "objective": alignment_right().multipliers["normalised"]}


@blunder("alignment", "kernels centred first", r"centr", on=single)
def alignment_centred() -> Answer:
    return all_of(solved("alignment", centred(kernels())), "alpha", "bias")


@blunder(
    "alignment",
    "each kernel's own alignment taken as its weight",
    r"approximate|own alignment|each kernel|independent",
    on=single,
)
def alignment_independent() -> Answer:
    return {"weights": solved("alignment", approximate=True).weights}


@blunder("alignment", "linear system solved, negative weights cut off", r"≥ 0|negativ|clip|cut", on=single)
def alignment_clipped() -> Answer:
    gram, pull = np.einsum("aij,bij->ab", kernels(), kernels()), np.einsum("aij,i,j->a", kernels(), signs(), signs())
    weights = np.maximum(np.linalg.solve(gram, pull), 0)
    return {"weights": weights / np.linalg.norm(weights)}


@blunder(
    "alignment", "the value of the quadratic program handed over", r"square|−alignment|quadratic|QP|sign", on=single
)
def alignment_value_of_program() -> Answer:
    return {"weights": alignment_right().weights, "objective": -(alignment_right().objective ** 2)}


# ---- hypergraphs ----------------------------------------------------------------------------------------------------


@cache
def hypergraph_right() -> Solution:
    return solved("hypergraph", on=labelled, lam=2.0)


@blunder("hypergraph", "Zhou's Laplacian in place of the clique's", r"zhou|expansion", on=labelled, lam=2.0)
def hypergraph_zhou() -> Answer:
    found = solved("hypergraph", on=labelled, lam=2.0, expansion="zhou")
    return {"weights": found.weights, "objective": found.objective}


@blunder(
    "hypergraph",
    "K λ where K/λ stands",
    r"1/λ|1/lam|reciprocal|invers|revers|lam = 0\.5|λ = 0\.5",
    on=labelled,
    lam=2.0,
)
def hypergraph_lambda_inverted() -> Answer:
    found = solved("hypergraph", on=labelled, lam=0.5)
    return {"weights": found.weights, "objective": found.objective}


@blunder("hypergraph", "unit traces inside, as the paper has them", r"trace", on=labelled, lam=2.0)
def hypergraph_unit_trace() -> Answer:
    found = solved("hypergraph", unit_trace(kernels()), labelled, lam=2.0)
    return {"weights": found.weights, "objective": found.objective}


@blunder(
    "hypergraph", "the trace that is minimised handed over as objective", r"sign|minus|negative|−", on=labelled, lam=2.0
)
def hypergraph_objective_sign() -> Answer:
    return {"weights": hypergraph_right().weights, "objective": -hypergraph_right().objective}


@blunder(
    "hypergraph",
    "the sum of the eigenvalues as objective: tr C + γ*",
    r"tr\(C\)|tr C|eigenvalue|trace of C",
    on=labelled,
    lam=2.0,
)
def hypergraph_objective_eigenvalues() -> Answer:
    return {
        "weights": hypergraph_right().weights,
        "objective": float(hypergraph_right().multipliers["eigenvalues"].sum()),
    }


@blunder("hypergraph", "Z = A⁻¹H, the 2 forgotten", r"½|half|\b2\b|factor|twice", on=labelled, lam=2.0)
def hypergraph_z_halved() -> Answer:
    return {"weights": hypergraph_right().weights, "multipliers": {"Z": hypergraph_right().multipliers["Z"] / 2}}


@blunder(
    "hypergraph_smooth",
    "the smoothing forgotten",
    r"hypergraph\b(?!_)|smoothing|μ",
    on=labelled,
    lam=2.0,
    smoothing=0.1,
)
def hypergraph_smooth_not_smoothed() -> Answer:
    return {"weights": hypergraph_right().weights, "objective": hypergraph_right().objective}


@blunder(
    "hypergraph_smooth",
    "log of the mean of the exponentials: lower by μ log M",
    r"log M|mean|log",
    on=labelled,
    lam=2.0,
    smoothing=0.1,
)
def hypergraph_smooth_log_mean() -> Answer:
    found = solved("hypergraph_smooth", on=labelled, lam=2.0, smoothing=0.1)
    return {"weights": found.weights, "objective": found.objective - 0.1 * float(np.log(4))}


@blunder(
    "hypergraph_smooth",
    "exp(S μ) where exp(S/μ) stands",
    r"1/μ|reciprocal|invers|revers|smoothing = 2|μ = 2",
    on=labelled,
    lam=2.0,
    smoothing=0.5,
)
def hypergraph_smooth_inverted() -> Answer:
    found = solved("hypergraph_smooth", on=labelled, lam=2.0, smoothing=2.0)
    return {"weights": found.weights, "objective": found.objective}
