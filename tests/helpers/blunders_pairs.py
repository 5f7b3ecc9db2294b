"""Solvers for the two stages: weights from pairs of samples, then a machine."""

from __future__ import annotations

from functools import cache

import cvxpy as cp
import numpy as np

from blunders import N, centred, kernels, mistake, signs, single, solved
from mklcvx import Solution
from wrong_answers import Case, Parts, parts

PAIRS = np.triu_indices(N)


def k_machine(weight: np.ndarray, lam: float, *, positive: bool = True) -> Parts:
    """The linear machine in K-space with any weights of the ordered pairs, by CVXPY."""
    t, mu = np.outer(signs(), signs()), cp.Variable(4, nonneg=positive)
    margins = sum(mu[m] * (t * k) for m, k in enumerate(kernels()))
    problem = cp.Problem(cp.Minimize(lam / 2 * cp.sum_squares(mu) + cp.sum(cp.multiply(weight, cp.pos(1 - margins)))))
    problem.solve(solver="CLARABEL", tol_gap_abs=1e-10, tol_gap_rel=1e-10)
    return {"weights": np.asarray(mu.value), "objective": float(problem.value)}


@mistake(
    single,
    "ts",
    "pairs of a sample with itself left out",
    named="pairs",
    pattern=r"diagonal|itself|i < j|pair",
    lam=0.1,
)
def ts_without_diagonal(_: Case) -> Parts:
    found = k_machine(np.triu(np.full((N, N), 2 / (N * (N - 1))), 1), 0.1)
    return found | {"weights": np.maximum(found["weights"], 0)}


@mistake(single, "ts", "all n² ordered pairs", named="pairs", pattern=r"ordered|twice|both|pair", lam=0.1)
def ts_ordered_pairs(_: Case) -> Parts:
    found = k_machine(np.full((N, N), 1 / N**2), 0.1)
    return found | {"weights": np.maximum(found["weights"], 0)}


@mistake(
    single,
    "ts",
    "λ‖μ‖², the ½ forgotten",
    named="parameter",
    pattern=r"½|half|2λ|factor|twice|doubled|lam = 0\.2|λ = 0\.2",
    lam=0.1,
)
def ts_half_forgotten(_: Case) -> Parts:
    return parts(solved("ts", lam=0.2), "alpha", "weights", "alpha", "objective")


@mistake(
    single,
    "ts",
    "the loss summed over pairs, not averaged",
    named="parameter",
    pattern=r"\bN\b|pairs|sum|mean|number of",
    lam=0.1,
)
def ts_loss_summed(_: Case) -> Parts:
    found = solved("ts", lam=0.1 / len(PAIRS[0]))
    return {"weights": found.weights, "objective": found.objective * len(PAIRS[0])}


@mistake(
    single,
    "ts",
    "solved without μ ≥ 0, negative weights cut off afterwards",
    named="weights_clipped",
    pattern=r"≥ 0|negativ|clip|cut",
    lam=0.1,
)
def ts_clipped(_: Case) -> Parts:
    found = k_machine(np.triu(np.full((N, N), 2 / (N * (N + 1)))), 0.1, positive=False)
    return {"weights": np.maximum(found["weights"], 0)}


@mistake(single, "ts", "kernels centred first, as the paper does", named="kernels_centred", pattern=r"centr", lam=0.1)
def ts_centred(_: Case) -> Parts:
    return parts(solved("ts", centred(kernels()), lam=0.1), "alpha", "weights", "alpha", "objective")


@mistake(single, "ts", "both kinds of pairs given half of the weight", named="parameter", pattern=r"balanc", lam=0.1)
def ts_balanced(_: Case) -> Parts:
    return parts(solved("ts", lam=0.1, balanced=True), "alpha", "weights", "alpha", "objective")


@mistake(
    single, "ts_l1", "the ℓ2 penalty minimised", named="formulation ts", pattern=r"\bts\b|ℓ2|‖μ‖²|squared", lam=0.1
)
def ts_l1_solved_as_ts(_: Case) -> Parts:
    return parts(solved("ts", lam=0.1), "alpha", "weights", "alpha", "objective")


@mistake(
    single,
    "ts_l1",
    "the price taken for that of the mean over n samples: λ/n",
    named="parameter",
    pattern=r"λ|lam|\bn\b",
    lam=0.1,
)
def ts_l1_lambda_over_n(_: Case) -> Parts:
    return parts(solved("ts_l1", lam=0.1 / N), "alpha", "weights", "alpha", "objective")


@mistake(
    single,
    "ts",
    "the second stage's SVM on the sum of the kernels, the weights forgotten",
    named="second_stage",
    pattern=r"second stage|sum|weights|α",
    lam=0.1,
    C=1.0,
)
def ts_second_stage_on_the_sum(_: Case) -> Parts:
    return {"weights": solved("ts", lam=0.1).weights, "alpha": solved("sum", C=1.0).alpha}


@cache
def alignment_right() -> Solution:
    return solved("alignment")


@mistake(
    single,
    "alignment",
    "the normalised alignment as objective",
    named="objective_units",
    pattern=r"‖T‖|\bn\b|normalis|\[−1, 1\]|cosine",
)
def alignment_normalised(_: Case) -> Parts:
    return {"weights": alignment_right().weights, "objective": alignment_right().multipliers["normalised"]}


@mistake(single, "alignment", "kernels centred first", named="kernels_centred", pattern=r"centr")
def alignment_centred(_: Case) -> Parts:
    return parts(solved("alignment", centred(kernels())), "alpha", "weights", "alpha", "objective")


@mistake(
    single,
    "alignment",
    "each kernel's own alignment taken as its weight",
    named="approximate",
    pattern=r"approximate|own alignment|each kernel|independent",
)
def alignment_independent(_: Case) -> Parts:
    return {"weights": solved("alignment", approximate=True).weights}


@mistake(
    single,
    "alignment",
    "linear system solved, negative weights cut off",
    named="weights_clipped",
    pattern=r"≥ 0|negativ|clip|cut",
)
def alignment_clipped(_: Case) -> Parts:
    gram, pull = np.einsum("aij,bij->ab", kernels(), kernels()), np.einsum("aij,i,j->a", kernels(), signs(), signs())
    weights = np.maximum(np.linalg.solve(gram, pull), 0)
    return {"weights": weights / np.linalg.norm(weights)}


@mistake(
    single,
    "alignment",
    "the value of the quadratic program handed over",
    named="objective_units",
    pattern=r"square|−alignment|quadratic|QP|sign",
)
def alignment_value_of_program(_: Case) -> Parts:
    return {"weights": alignment_right().weights, "objective": -(alignment_right().objective ** 2)}
