"""Ji et al. 2008, Section 2: the embedding, its kernel form, and the semi-infinite linear program."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import cvxpy as cp
import numpy as np
from scipy.linalg import eigh, orthogonal_procrustes
from scipy.optimize import linprog

from claim import Measured, claims_of
from ji_shared import (
    Array,
    Problem,
    cone_program,
    correlated,
    declared_inner,
    declared_quadratic,
    digits,
    exact,
    expanded,
    optimum,
    unit_trace,
)

CUTS = 80


def uniform(problem: Problem) -> Array:
    return problem.kernel(np.full(problem.count, 1 / problem.count))


def whitening(kernel: Array, lam: float) -> Array:
    """U with U'(K² + λK)U = I, one column for each dimension of K's range."""
    values, vectors = np.linalg.eigh(kernel)
    keep = values > len(values) * np.finfo(float).eps * values[-1]
    return vectors[:, keep] / np.sqrt(values[keep] ** 2 + lam * values[keep])


def lowest(objective: Array, white: Array, columns: int) -> tuple[float, Array]:
    """min of tr(B' objective B) subject to Eq. (2)'s constraint, and its B."""
    values, vectors = np.linalg.eigh(white.T @ objective @ white)
    return float(values[:columns].sum()), white @ vectors[:, :columns]


def embedded(problem: Problem, theta: Array) -> float:
    """The maximum of Eq. (2): a sum of generalised eigenvalues of (KCK, K² + λK)."""
    kernel = problem.kernel(theta)
    return -lowest(-kernel @ problem.c @ kernel, whitening(kernel, problem.lam), problem.labels.shape[1])[0]


def ridged_trace(problem: Problem, ridge: float) -> tuple[Array, Array]:
    """KLK + ridge·λK, the objective of Eq. (1) in terms of B with `ridge` times λI added, and the whitening of (2)."""
    kernel = uniform(problem)
    laplacian = np.eye(len(kernel)) - problem.c
    return kernel @ laplacian @ kernel + ridge * problem.lam * kernel, whitening(kernel, problem.lam)


def one_against_two(ridge: float) -> Measured:
    worst, numbers = 0.0, {}
    for name, problem in (("digits", digits()), ("synthetic", correlated(0, lam=0.2))):
        objective, white = ridged_trace(problem, ridge)
        kernel, columns = uniform(problem), problem.labels.shape[1]
        least, _ = lowest(objective, white, columns)
        _, maximiser = lowest(-kernel @ problem.c @ kernel, white, columns)
        there = float(np.trace(maximiser.T @ objective @ maximiser))
        worst = max(worst, abs(there - least) / max(abs(there), abs(least)))
        numbers |= {f"{name}: minimum of (1)": least, f"{name}: (1) at the maximiser of (2)": there}
    return Measured(worst, numbers)


def representer(ridge: float) -> Measured:
    """A feature space with as many directions beside the samples as there are labels; Gaussian kernels have more."""
    problem = digits()
    columns = problem.labels.shape[1]
    objective, white = ridged_trace(problem, ridge)
    spanned, _ = lowest(objective, white, columns)
    values, vectors = np.linalg.eigh(uniform(problem))
    features = np.vstack([np.sqrt(np.maximum(values, 0))[:, None] * vectors.T, np.zeros((columns, len(values)))])
    outer, identity = features @ features.T, np.eye(len(features))
    inner = features @ (np.eye(len(values)) - problem.c) @ features.T
    constraint = outer + problem.lam * identity
    free = float(eigh(inner + ridge * problem.lam * identity, constraint, eigvals_only=True)[:columns].sum())
    return Measured(abs(spanned - free) / columns, {"W = φ(X)B": spanned, "any W": free})


def canonical(label_ridge: float) -> Measured:
    """(2) with C = Y(Y'Y + ridge)⁻¹Y' against canonical correlations from their own eigenproblem."""
    problem = digits()
    kernel, labels = uniform(problem), problem.labels
    n, k = labels.shape
    c = labels @ np.linalg.inv(labels.T @ labels + label_ridge * np.eye(k)) @ labels.T
    white = whitening(kernel, problem.lam)
    found = np.linalg.eigvalsh(white.T @ kernel @ c @ kernel @ white)[::-1][:k]
    across = np.zeros((n + k, n + k))
    across[:n, n:] = kernel @ labels
    within = np.zeros_like(across)
    within[:n, :n], within[n:, n:] = kernel @ kernel + problem.lam * kernel, labels.T @ labels
    correlations = eigh(across + across.T, within, eigvals_only=True)[::-1][:k]
    error = float(np.abs(found - correlations**2).max())
    return Measured(error, {"largest eigenvalue of (2)": found[0], "largest squared correlation": correlations[0] ** 2})


def same_features(up_to: str) -> Measured:
    """Two feature maps of one kernel matrix, compared as they are, up to a rotation, or up to a scale."""
    kernel = uniform(digits())
    values, vectors = np.linalg.eigh(kernel)
    first, second = np.linalg.cholesky(kernel), vectors * np.sqrt(values)
    fitted = {
        "nothing": second,
        "rotation": second @ orthogonal_procrustes(second, first)[0],
        "scale": second * np.vdot(first, second) / np.vdot(second, second),
    }[up_to]
    apart = float(np.linalg.norm(first - fitted) / np.linalg.norm(first))
    return Measured(
        apart, {"kernels apart by": float(np.abs(second @ second.T - kernel).max()), "maps apart by": apart}
    )


def fixed_weights(coefficient: float) -> Measured:
    """For given θ: the maximum of (2) against tr(C) + min over Z of Σ θ_j S_j(Z), the latter by a solver."""
    problem, rng, numbers, worst = correlated(0), np.random.default_rng(0), {}, 0.0
    for trial in range(3):
        theta = rng.dirichlet(np.ones(problem.count))
        z = cp.Variable(problem.h.shape)
        quadratic = declared_quadratic(problem, z, problem.kernel(theta), coefficient)
        least = optimum(cp.Minimize(quadratic - declared_inner(z, problem.h)))
        left, right = embedded(problem, theta), float(np.trace(problem.c)) + least
        worst = max(worst, abs(left - right))
        numbers |= {f"(2), θ no. {trial + 1}": left, f"by S, θ no. {trial + 1}": right}
    return Measured(worst, numbers)


class Generated(NamedTuple):
    """Column generation: the last master problem's γ and θ; after every cut, its γ and the best that any θ achieved."""

    value: float
    theta: Array
    values: list[float]
    reached: list[float]

    def gap(self, cuts: int) -> float:
        return self.values[min(cuts, len(self.values)) - 1] - self.reached[min(cuts, len(self.reached)) - 1]


def generated(problem: Problem, coefficient: float = 0.25) -> Generated:
    """Theorem 2.1 by column generation: a linear program over the cuts so far, and the Z that violates (5) most."""
    altered = replace(problem, lam=problem.lam * 0.25 / coefficient)
    p, rows, values, reached = problem.count, [], [], []
    theta = np.full(p, 1 / p)
    for _ in range(CUTS):
        rows.append(altered.scores(altered.best_z(theta)))
        reached.append(float(theta @ rows[-1]))
        master = linprog(
            np.append(np.zeros(p), -1.0),
            A_ub=np.column_stack([-np.array(rows), np.ones(len(rows))]),
            b_ub=np.zeros(len(rows)),
            A_eq=np.append(np.ones(p), 0.0)[None],
            b_eq=[1.0],
            bounds=[(0, None)] * p + [(None, None)],
        )
        theta = master.x[:-1]
        values.append(-master.fun)
        if values[-1] - max(reached) < 1e-9:
            break
    return Generated(values[-1], theta, values, list(np.maximum.accumulate(reached)))


def four_programs(coefficient: float) -> Measured:
    """The linear program, the cone program over Z, the semidefinite one over θ and the eigenvalues, one optimum."""
    worst, numbers = 0.0, {}
    for name, problem in (("digits", digits(24)), ("synthetic", correlated(0))):
        certificate = exact(problem).certificate
        theta = cp.Variable(problem.count, nonneg=True)
        kernel = cp.sum([theta[j] * k for j, k in enumerate(problem.kernels)])
        trace = cp.matrix_frac(problem.h, np.eye(len(problem.c)) + kernel / problem.lam)
        values = {
            "linear program": generated(problem, coefficient).value,
            "semidefinite program": -optimum(cp.Minimize(trace), [cp.sum(theta) == 1]),
        }
        weights = np.maximum(theta.value, 0)
        values["eigenvalues − tr(C)"] = embedded(problem, weights / weights.sum()) - float(np.trace(problem.c))
        values["certified"] = certificate.upper
        worst = max(worst, max(abs(value - certificate.upper) for value in values.values()) + certificate.gap)
        numbers |= {f"{name}: {key}": value for key, value in values.items()}
    return Measured(worst, numbers)


def best_kernel(coefficient: float) -> Measured:
    """How far the linear program's θ falls short of the largest value that (2) has for any kernel in the set."""
    problem = digits()
    best = float(np.trace(problem.c)) + exact(problem).certificate.upper
    reached = embedded(problem, generated(problem, coefficient).theta)
    singles = max(embedded(problem, theta) for theta in np.eye(problem.count))
    return Measured(best - reached, {"(2) at the program's θ": reached, "upper bound": best, "best single": singles})


def too_few_dimensions(columns: int) -> Measured:
    """Two kernels of rank one: B'(K² + λK)B has rank two, whatever B; how near to I (columns × columns) can it be?"""
    rng, base = np.random.default_rng(0), correlated(0)
    features = rng.normal(size=(2, len(base.labels)))
    problem = replace(base, kernels=unit_trace(features[:, :, None] * features[:, None, :]))
    solution = exact(problem)
    white = whitening(problem.kernel(solution.weights), problem.lam)
    attained = np.zeros(columns)
    attained[: white.shape[1]] = 1.0
    numbers = {
        "rank of K": white.shape[1],
        "labels": problem.labels.shape[1],
        "tr(C) + γ": float(np.trace(problem.c)) + solution.objective,
        "eigenvalues on K's range": embedded(problem, solution.weights),
    }
    return Measured(float(np.linalg.norm(np.eye(columns) - np.diag(attained))), numbers)


def semidefinite(loops: float) -> Measured:
    numbers, worst = {}, 0.0
    for name, labels in (("digits", digits().labels), ("synthetic", correlated(0).labels)):
        for expansion in ("clique", "star", "kcca"):
            smallest = float(np.linalg.eigvalsh(expanded(labels, expansion, loops))[0])
            worst = max(worst, -smallest)
            numbers[f"{name}: smallest eigenvalue, {expansion}"] = smallest
    return Measured(worst, numbers)


def rank(predicted: str) -> Measured:
    """Four properties of digits, and two properties with their opposites: even or odd, round or not."""
    labels = digits().labels
    opposites = np.column_stack([labels[:, :2], 1 - labels[:, :2]])
    numbers, worst = {}, 0.0
    for name, y in (("independent labels", labels), ("labels with opposites", opposites)):
        guess = {"labels": y.shape[1], "rank": np.linalg.matrix_rank(y), "rows": len(np.unique(y, axis=0))}[predicted]
        numbers[f"{name}: predicted"] = int(guess)
        for expansion in ("clique", "star", "kcca"):
            found = int(np.linalg.matrix_rank(expanded(y, expansion), tol=1e-10))
            worst = max(worst, abs(found - int(guess)))
            numbers[f"{name}: rank, {expansion}"] = found
    return Measured(worst, numbers)


def any_factor(stretch: float) -> Measured:
    """The cone program with H turned by a rotation (and its first column stretched) against the certified optimum."""
    problem, rng = correlated(0), np.random.default_rng(0)
    columns = problem.h.shape[1]
    turn = np.linalg.qr(rng.normal(size=(columns, columns)))[0] * np.where(np.arange(columns) == 0, stretch, 1.0)
    value, certified = cone_program(problem, problem.h @ turn), exact(problem).certificate.upper
    return Measured(abs(value - certified), {"with another H": value, "certified": certified})


def alike(frequencies: tuple[float, float]) -> Measured:
    """Labels given to between the least and the largest fraction of samples; distance from Zhou et al.'s C."""
    n, k, apart = 80, 8, {"star": 0.0, "clique": 0.0}
    for seed in range(4):
        rng, labels = np.random.default_rng(seed), np.zeros((n, k))
        for label, size in zip(labels.T, np.rint(n * np.geomspace(*frequencies, k)).astype(int), strict=True):
            label[rng.permutation(n)[:size]] = 1
        labels = labels[labels.any(axis=1)]
        target = expanded(labels, "zhou")
        for expansion in apart:
            distance = float(np.linalg.norm(expanded(labels, expansion) - target) / np.linalg.norm(target))
            apart[expansion] = max(apart[expansion], distance)
    numbers = {f"{expansion} apart by": value for expansion, value in apart.items()}
    for name, labels in (("digits", digits().labels), ("synthetic", correlated(0).labels)):
        away = expanded(labels, "star") - expanded(labels, "zhou")
        numbers[f"star, {name}"] = float(np.linalg.norm(away) / np.linalg.norm(expanded(labels, "zhou")))
    return Measured(max(apart.values()), numbers)


claim = claims_of("ji")
CLAIMS = (
    claim("Eqs (1), (2)", one_against_two, printed=0.0, repaired=1.0, mutated=2.0),
    claim("Eq. (1), representer step", representer, printed=0.0, repaired=1.0, mutated=-1.0),
    claim("Eq. (2), KCCA", canonical, printed=0.0, mutated=1.0),
    claim("Sec. 2.2, feature map", same_features, printed="nothing", repaired="rotation", mutated="scale"),
    claim("Theorem 2.1, given weights", fixed_weights, printed=0.25, mutated=0.5),
    claim("Theorem 2.1, values", four_programs, printed=0.25, mutated=0.5),
    claim("Theorem 2.1, kernel", best_kernel, printed=0.25, mutated=0.5),
    claim("Theorem 2.1, any kernels", too_few_dimensions, printed=3, repaired=2, mutated=4),
    claim("Theorem 2.1, H", any_factor, printed=1.0, mutated=1.2),
    claim("Sec. 2.2, C semidefinite", semidefinite, printed=0.0, repaired=1.0, mutated=-1.0),
    claim("Sec. 2.2, rank of C", rank, printed="labels", repaired="rank", mutated="rows"),
    claim("Sec. 5, expansions", alike, printed=(0.03, 0.6), repaired=(0.3, 0.3), mutated=(0.03, 0.9)),
)
