"""Mistakes with many labels, with pairs of samples, and with hypergraphs."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
from scipy.optimize import minimize

from mistakes import centred, mistake, of_unit_trace
from mklcvx import Instance
from wrong_answers import Case, Parts, parts


# --------------------------------------------------------------------------------------------------------- many labels
@mistake(
    "labels-overlapping", "ml_sum", "another formulation was solved: ml_minimax", C=1.0, named="formulation ml_minimax"
)
def worst_class_for_sum(case: Case) -> Parts:
    return parts(case.other("ml_minimax"))


@mistake(
    "labels-overlapping", "ml_minimax", "another formulation was solved: ml_sum", C=1.0, named="formulation ml_sum"
)
def sum_for_worst_class(case: Case) -> Parts:
    return parts(case.other("ml_sum"))


@mistake(
    "four-classes",
    "ml_sum",
    "the objective is the mean over the classes",
    C=1.0,
    named="objective_units: mean over 4 classes",
)
def mean_over_classes(case: Case) -> Parts:
    return {**parts(case.right), "objective": case.right.objective / 4}


@mistake("labels-overlapping", "ml_minimax", "β = γα is handed over where α is meant", C=1.0, named="alpha_beta")
def beta_for_alpha(case: Case) -> Parts:
    gamma = case.right.multipliers["gamma"]
    said = parts(case.right, "weights", "objective")
    return {**said, "alpha": gamma[:, None] * case.right.alpha, "multipliers": {"gamma": gamma}}


@mistake("four-classes", "ml_sum", "α carries the labels' signs", C=1.0, named="alpha_signed")
def signed_alpha_of_classes(case: Case) -> Parts:
    return {**parts(case.right, "weights", "objective"), "alpha": case.right.alpha * case.right.y}


@mistake("four-classes", "ml_sum", "the classes are in another order", C=1.0, named="classes_order")
def classes_in_another_order(case: Case) -> Parts:
    return {**parts(case.right, "weights", "objective"), "alpha": case.right.alpha[[1, 2, 3, 0]]}


@mistake("labels-missing", "ml_sum", "C was divided by the number of samples", C=1.0, named="C_over_n")
def c_over_n_for_labels(case: Case) -> Parts:
    return parts(case.other(C=1 / case.instance.samples), "weights", "alpha", "objective")


@mistake("labels-missing", "ml_minimax", "C was divided by the number of labels", C=1.0, named="C_over_labels")
def c_over_labels(case: Case) -> Parts:
    return parts(case.other(C=1 / case.right.alpha.shape[0]), "weights", "alpha", "objective")


@mistake(
    "labels-overlapping",
    "ml_sum",
    "every class was given weights of its own, then they were averaged",
    C=1.0,
    named="weights_of_classes",
)
def weights_class_by_class(case: Case) -> Parts:
    signs = case.right.y
    apart = [case.other("l1", Instance(case.instance.kernels, y), bias=False).weights for y in signs]
    return {"weights": np.mean(apart, axis=0)}


@mistake(
    "labels-overlapping", "ml_sum", "the average kernel was taken, no weights were learned", C=1.0, named="kernels_even"
)
def even_weights_for_labels(case: Case) -> Parts:
    return {"weights": np.full(case.instance.count, 1 / case.instance.count)}


@mistake("labels-overlapping", "ml_sum", "every class has a bias, the formulation has none", C=1.0, named="bias_added")
def biases_for_labels(case: Case) -> Parts:
    return label_machine(case, case.right.y, bias=True)


@mistake(
    "labels-overlapping",
    "ml_sum",
    "labels 0 and 1 were used as numbers, they should be −1 and +1",
    C=1.0,
    named="labels_zero_one",
)
def labels_as_zero_and_one(case: Case) -> Parts:
    return label_machine(case, np.maximum(case.right.y, 0.0), bias=False)


def label_machine(case: Case, signs: np.ndarray, bias: bool) -> Parts:
    """The dual of ml_sum, declared once more, for any signs."""
    kernels, (k, n) = case.instance.kernels, signs.shape
    alpha, tau = cp.Variable((k, n), nonneg=True), cp.Variable()
    signed = cp.multiply(signs, alpha)
    roots = [np.linalg.cholesky(kernel + 1e-10 * np.eye(n)) for kernel in kernels]
    cuts = [cp.sum_squares(signed @ root) / 2 <= tau for root in roots]
    limits = [alpha <= 1.0, *([cp.sum(signed, axis=1) == 0] if bias else [])]
    problem = cp.Problem(cp.Maximize(cp.sum(alpha) - tau), [*cuts, *limits])
    problem.solve(solver="CLARABEL")
    weights = np.array([max(float(np.ravel(cut.dual_value)[0]), 0.0) for cut in cuts])
    said = {"weights": weights / weights.sum(), "alpha": np.clip(alpha.value, 0.0, 1.0)}
    return {**said, "objective": float(problem.value)}


# --------------------------------------------------------------------------------------------------------------- pairs
def pair_machine(case: Case, which: str, nonnegative: bool = True, square: bool = True) -> Parts:
    """ts with other pairs: `ordered` all of them, `apart` those of different samples."""
    together, n = case.instance.targets.together(), case.instance.samples
    rows, columns = {"upper": np.triu_indices(n), "apart": np.triu_indices(n, 1), "ordered": np.indices((n, n))}[which]
    z = case.instance.kernels[:, rows.ravel(), columns.ravel()].T * together[rows.ravel(), columns.ravel()][:, None]
    mu = cp.Variable(case.instance.count, nonneg=nonnegative)
    penalty = case.parameters["lam"] * (cp.sum_squares(mu) / 2 if square else cp.sum(mu))
    problem = cp.Problem(cp.Minimize(penalty + cp.sum(cp.pos(1 - z @ mu)) / len(z)))
    problem.solve(solver="CLARABEL")
    return {"weights": mu.value, "objective": float(problem.value)}


@mistake(
    "breast_cancer-kumar",
    "ts",
    "all n² ordered pairs were taken, not those with i ≤ j",
    lam=0.01,
    named="pairs: ordered pairs",
)
def ordered_pairs(case: Case) -> Parts:
    return pair_machine(case, "ordered")


@mistake(
    "breast_cancer-kumar",
    "ts",
    "pairs of a sample with itself were left out",
    lam=0.01,
    named="pairs: different samples",
)
def no_diagonal(case: Case) -> Parts:
    return pair_machine(case, "apart")


@mistake(
    "breast_cancer-kumar",
    "ts",
    "the constraint μ ≥ 0 is missing: some weights are negative",
    lam=0.01,
    named="unconstrained",
)
def negative_weights(case: Case) -> Parts:
    return pair_machine(case, "upper", nonnegative=False)


@mistake(
    "breast_cancer-kumar", "ts", "the weights are normalised to sum to one", lam=0.01, named="weights_norm: sum to 1"
)
def pair_weights_sum_to_one(case: Case) -> Parts:
    return {"weights": case.right.weights / case.right.weights.sum()}


@mistake(
    "clouds", "ts", "the loss was summed over the pairs, not averaged", lam=0.1, named="parameter: the loss summed"
)
def loss_summed(case: Case) -> Parts:
    n = case.instance.samples
    return parts(case.other(lam=0.1 / (n * (n + 1) / 2)), "weights")


@mistake(
    "breast_cancer-kumar", "ts", "λ is off by two: λ‖μ‖² where λ/2 ‖μ‖² is meant", lam=0.01, named="parameter: 2 lam"
)
def pairs_without_half(case: Case) -> Parts:
    return parts(case.other(lam=0.02), "weights", "objective")


@mistake("clouds", "ts", "C = 1/λ was given to a solver that wants λ", lam=0.1, named="parameter: 1/lam")
def lam_upside_down(case: Case) -> Parts:
    return parts(case.other(lam=10.0), "weights", "objective")


@mistake("clouds", "ts", "another formulation was solved: ts_l1", lam=0.1, named="formulation ts_l1")
def sparse_for_ridge(case: Case) -> Parts:
    return parts(case.other("ts_l1"), "weights", "objective")


@mistake("clouds", "ts_l1", "another formulation was solved: ts", lam=0.1, named="formulation ts")
def ridge_for_sparse(case: Case) -> Parts:
    return parts(case.other("ts"), "weights", "objective")


@mistake(
    "four-classes",
    "ts",
    "positive and negative pairs were balanced, which was not asked for",
    lam=0.05,
    named="parameter: balanced = True",
)
def balanced_uninvited(case: Case) -> Parts:
    return parts(case.other(balanced=True), "weights", "objective")


@mistake("clouds", "ts_l1", "the kernels were centred", lam=0.01, named="kernels_centred")
def pairs_centred(case: Case) -> Parts:
    return parts(case.other(instance=centred(case.instance)), "weights", "objective")


@mistake(
    "wine-kumar",
    "ts_l1",
    "the weights are β's: handed over in another order of kernels",
    lam=0.01,
    named="weights_order",
)
def pair_kernels_backwards(case: Case) -> Parts:
    return {"weights": case.right.weights[::-1]}


@mistake(
    "clouds",
    "alignment",
    "the objective is squared: the value of the quadratic program, −alignment²",
    named="objective_units: square of the alignment",
)
def value_of_the_program(case: Case) -> Parts:
    return {**parts(case.right, "weights"), "objective": -(case.right.objective**2)}


@mistake("clouds", "alignment", "the objective is divided by ‖T‖ = n: a cosine", named="objective_units: divided by n")
def cosine(case: Case) -> Parts:
    return {**parts(case.right, "weights"), "objective": case.right.objective / case.instance.samples}


@mistake("clouds", "alignment", "the kernels were centred", named="kernels_centred")
def alignment_centred(case: Case) -> Parts:
    return parts(case.other(instance=centred(case.instance)), "weights", "objective")


@mistake("clouds", "alignment", "every kernel's own alignment was taken: the approximate variant", named="approximate")
def own_alignments(case: Case) -> Parts:
    return parts(case.other(approximate=True), "weights", "objective")


@mistake("wine-kumar", "alignment", "the constraint μ ≥ 0 is missing: some weights are negative", named="unconstrained")
def unconstrained_alignment(case: Case) -> Parts:
    flat = case.instance.kernels.reshape(case.instance.count, -1)
    weights = np.linalg.lstsq(flat.T, case.instance.targets.together().ravel().astype(float), rcond=None)[0]
    return {"weights": weights / np.linalg.norm(weights)}


@mistake(
    "breast_cancer-kumar", "alignment", "only pairs with i ≤ j were counted, not all ordered ones", named="pairs: i ≤ j"
)
def half_of_the_pairs(case: Case) -> Parts:
    upper = np.triu_indices(case.instance.samples)
    flat, target = case.instance.kernels[:, *upper], case.instance.targets.together()[upper]
    v = cp.Variable(case.instance.count, nonneg=True)
    cp.Problem(cp.Minimize(cp.sum_squares(flat.T @ v - target))).solve(solver="CLARABEL")
    return {"weights": v.value / np.linalg.norm(v.value)}


# --------------------------------------------------------------------------------------------------------- hypergraphs
def embedded(case: Case, instance: Instance | None = None, **changed: object) -> Parts:
    found = case.other(instance=instance, **changed)
    return {**parts(found, "weights", "objective"), "multipliers": {"Z": found.multipliers["Z"]}}


@mistake(
    "labels-overlapping",
    "hypergraph",
    "the objective has the other sign: tr instead of −tr",
    lam=1.0,
    named="objective_sign",
)
def trace_of_the_inverse(case: Case) -> Parts:
    return {**parts(case.right, "weights"), "objective": -case.right.objective}


@mistake(
    "labels-overlapping",
    "hypergraph",
    "the sum of eigenvalues is reported: tr C + γ",
    lam=1.0,
    named="objective_terms: tr(A)",
)
def sum_of_eigenvalues(case: Case) -> Parts:
    return {**parts(case.right, "weights"), "objective": float(np.sum(case.right.multipliers["eigenvalues"]))}


@mistake(
    "labels-overlapping",
    "hypergraph",
    "another expansion was used: zhou",
    lam=1.0,
    expansion="clique",
    named="parameter: zhou",
)
def another_expansion(case: Case) -> Parts:
    return parts(case.other(expansion="zhou"), "weights", "objective")


@mistake("labels-dependent", "hypergraph", "1/λ was taken for λ", lam=0.1, named="parameter: 1/lam")
def ridge_upside_down(case: Case) -> Parts:
    return embedded(case, lam=10.0)


@mistake(
    "labels-overlapping",
    "hypergraph",
    "λ was multiplied by the number of samples: K + nλI",
    lam=0.1,
    named="parameter: lam n",
    other_words=True,  # with kernels of trace n, λ times n is their unit trace
)
def ridge_times_n(case: Case) -> Parts:
    return embedded(case, lam=0.1 * case.instance.samples)


@mistake("four-classes", "hypergraph", "the kernels were scaled to unit trace", lam=1.0, named="kernels_trace")
def embedding_of_unit_trace(case: Case) -> Parts:
    return embedded(case, of_unit_trace(case.instance))


@mistake(
    "labels-overlapping",
    "hypergraph",
    "another formulation was solved: hypergraph_smooth",
    lam=1.0,
    named="formulation hypergraph_smooth",
)
def smooth_for_sharp(case: Case) -> Parts:
    return parts(case.other("hypergraph_smooth"), "weights", "objective")


@mistake(
    "labels-overlapping",
    "hypergraph_smooth",
    "another formulation was solved: hypergraph",
    lam=1.0,
    smoothing=0.1,
    named="formulation hypergraph",
)
def sharp_for_smooth(case: Case) -> Parts:
    return parts(case.other("hypergraph", smoothing=None), "weights", "objective")


@mistake(
    "labels-rare",
    "hypergraph_smooth",
    "the entropy is missing from the objective",
    lam=1.0,
    smoothing=0.5,
    named="objective_terms: entropy",
)
def objective_without_entropy(case: Case) -> Parts:
    theta = case.right.weights
    entropy = -np.sum(theta * np.log(theta))
    return {**parts(case.right, "weights"), "objective": case.right.objective - 0.5 * entropy}


@mistake(
    "labels-rare",
    "hypergraph_smooth",
    "1/μ was taken for the smoothing μ",
    lam=1.0,
    smoothing=0.05,
    named="parameter: 1/smoothing",
)
def smoothing_upside_down(case: Case) -> Parts:
    return embedded(case, smoothing=20.0)


@mistake("labels-overlapping", "hypergraph", "Z is half of what it should be: A⁻¹H", lam=1.0, named="Z_half")
def half_of_z(case: Case) -> Parts:
    return {**parts(case.right, "weights"), "multipliers": {"Z": case.right.multipliers["Z"] / 2}}


@mistake(
    "labels-missing",
    "hypergraph",
    "the average kernel was taken, no weights were learned",
    lam=1.0,
    named="kernels_even",
)
def even_weights_for_hypergraph(case: Case) -> Parts:
    return {"weights": np.full(case.instance.count, 1 / case.instance.count)}


@mistake(
    "labels-overlapping",
    "hypergraph_smooth",
    "stopped early: a few gradient steps on Z",
    lam=1.0,
    smoothing=0.1,
    named="stopped_early",
)
def few_steps_on_z(case: Case) -> Parts:
    h = incidence(case)
    found = minimize(smoothed, np.zeros(h.size), (case.instance.kernels, h, 0.1), "L-BFGS-B", options={"maxiter": 4})
    return {"weights": shares(found.x.reshape(h.shape), case.instance.kernels, h, 0.1), "objective": float(found.fun)}


def incidence(case: Case) -> np.ndarray:
    """H with HH' = C of the clique expansion."""
    labels = np.maximum(case.instance.targets.signs(case.formulation), 0.0).T
    degrees = labels @ labels.sum(axis=0)
    return labels / np.sqrt(np.where(degrees > 0, degrees, 1.0))[:, None]


def scores(z: np.ndarray, kernels: np.ndarray, h: np.ndarray) -> np.ndarray:
    return np.array([np.vdot(z, z) / 4 + np.vdot(z, kernel @ z) / 4 - np.vdot(z, h) for kernel in kernels])


def smoothed(flat: np.ndarray, kernels: np.ndarray, h: np.ndarray, smoothing: float) -> float:
    s = scores(flat.reshape(h.shape), kernels, h)
    return float(s.max() + smoothing * np.log(np.sum(np.exp((s - s.max()) / smoothing))))


def shares(z: np.ndarray, kernels: np.ndarray, h: np.ndarray, smoothing: float) -> np.ndarray:
    s = scores(z, kernels, h)
    raw = np.exp((s - s.max()) / smoothing)
    return raw / raw.sum()
