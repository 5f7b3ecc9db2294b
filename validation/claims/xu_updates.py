"""Xu et al. 2013, section IV: the weights' closed form, Lemmas 7 and 8, the gradient step, Algorithms 1 and 2."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import partial

import cvxpy as cp
import numpy as np

from claim import Measured, claims_of
from optima import middle
from xu_setting import BOX, PRICE, Array, combined, halves, optimum, ordinary, solved, svm

THETA = 0.05  # of the square hinge loss with C-SVC
Rule = Callable[[Array, float], Array | None]  # weights from √a, sorted down, and θ; None where it says nothing


# ------------------------------------------------------------------------------ Eq. (21): the weights' own problem
def best_weights(roots: Array, theta: float) -> Array:
    """min Σ a_m/μ_m over Σμ = 1, 0 ≤ μ ≤ θ by bisection of the multiplier: μ = min(θ, √a/√λ)."""
    low, high = 0.0, 1e9
    for _ in range(200):
        scale = (low + high) / 2
        low, high = (low, scale) if np.minimum(theta, roots * scale).sum() > 1 else (scale, high)
    return np.minimum(theta, roots * high)


def draws(theta_at: Callable[[int, np.random.Generator], float], count: int = 300) -> list[tuple[Array, float]]:
    """Random √a, sorted down, every second with ties, and a θ."""
    rng = np.random.default_rng(0)
    found = []
    for i in range(count):
        size = int(rng.integers(2, 8))
        roots = rng.integers(1, 5, size) / 1.0 if i % 2 else rng.uniform(0.1, 3, size)
        found.append((np.sort(roots)[::-1], theta_at(size, rng)))
    return found


def above_the_least(size: int, rng: np.random.Generator) -> float:
    return float(rng.uniform(1.02 / size, 1.1))


def at_the_least(size: int, rng: np.random.Generator) -> float:
    return 1 / size


def exactly(cases: list[tuple[Array, float]]) -> list[tuple[Array, Fraction]]:
    """The cases in rational arithmetic, θ = 1/M exactly."""
    return [(np.array([Fraction(root) for root in roots]), Fraction(1, len(roots))) for roots, _ in cases]


def filled(roots: Array, theta: float, capped: int) -> Array:
    """Eq. (25): θ for the first ω, the rest in proportion to √a."""
    mu = np.full(len(roots), theta)
    mu[capped:] = (1 - capped * theta) * roots[capped:] / roots[capped:].sum()
    return mu


def lemma_8(roots: Array, theta: float, shift: int = 0, strict: bool = True) -> Array | None:
    """The least p with √a_{p+1}(1 − pθ)/Σ_{m>p} √a_m < θ, and Eq. (25); None if there is no such p."""
    for p in range(len(roots)):
        rest = roots[p:].sum()
        if rest == 0:
            return None
        ratio = roots[max(p - shift, 0)] * (1 - p * theta) / rest
        if ratio < theta or (not strict and ratio == theta):
            return filled(roots, theta, p)
    return None


def with_the_least_box_apart(roots: Array, theta: float) -> Array | None:
    """θ = 1/M leaves no choice; above it, Lemma 8."""
    return np.full(len(roots), theta) if theta * len(roots) <= 1 + 1e-12 else lemma_8(roots, theta)


def multiplied_out(roots: Array, theta: float) -> Array:
    """√a_{p+1}(1 − pθ) ≤ θ Σ_{m>p} √a_m, and equal shares of what is left where the rest vanishes."""
    for p in range(len(roots)):
        rest = roots[p:].sum()
        if roots[p] * (1 - p * theta) <= theta * rest:
            if rest > 0:
                return filled(roots, theta, p)
            return np.concatenate([np.full(p, theta), np.full(len(roots) - p, (1 - p * theta) / (len(roots) - p))])
    return np.full(len(roots), theta)


def agreement(rule: Rule, cases: list[tuple[Array, float]]) -> Measured:
    """The share of cases in which the rule has no answer, or not the least Σ a_m/μ_m (0/0 = 0)."""
    silent = wrong = 0
    for roots, theta in cases:
        found = rule(roots, theta)
        if found is None:
            silent += 1
            continue
        found, roots, theta = found.astype(float), roots.astype(float), float(theta)
        used = roots > 0
        least, value = (np.sum(roots[used] ** 2 / mu[used]) for mu in (best_weights(roots, theta), found))
        feasible = abs(found.sum() - 1) <= 1e-9 and found.max() <= theta + 1e-9
        wrong += not (feasible and value <= least * (1 + 1e-9))
    numbers = {"cases": float(len(cases)), "without an answer": float(silent), "wrong": float(wrong)}
    return Measured((silent + wrong) / len(cases), numbers)


def agreement_at_the_least_box(rule: Rule) -> Measured:
    """At θ = 1/M, in rational arithmetic; beside it, how often ≤ for < has no answer in floating point."""
    cases = draws(at_the_least)
    found = agreement(rule, exactly(cases))
    silent = sum(lemma_8(roots, theta, strict=False) is None for roots, theta in cases)
    return Measured(found.error, {**found.numbers, "without an answer with ≤ in floating point": float(silent)})


VANISHING = [
    (np.array([1.0, 0.0]), 0.5),
    (np.array([1.0, 0.0, 0.0]), 0.5),
    (np.array([2.0, 1.0, 0.0, 0.0]), 0.4),
    (np.array([3.0, 1.0, 0.0]), 0.6),
]


def order_of_caps(larger: bool) -> Measured:
    """Lemma 7 on random a: a capped weight, and one of a larger (or smaller) a that is not capped."""
    broken = pairs = 0
    for roots, theta in draws(above_the_least):
        capped = best_weights(roots, theta) >= theta * (1 - 1e-9)
        before = roots[:, None] > roots[None, :] if larger else roots[:, None] < roots[None, :]
        concerned = before & capped[None, :]
        pairs += int(concerned.sum())
        broken += int((concerned & ~capped[:, None]).sum())
    return Measured(float(broken), {"pairs concerned": float(pairs), "counterexamples": float(broken)})


# ---------------------------------------------------------------------------------------------------- Algorithm 1
def block_descent(version: tuple[Array, int]) -> Measured:
    """Algorithm 1 from a start, with a_m = ½ μ_m^power q_m (2 as printed), 400 SVMs; SVM values against the optimum of
    sm1."""
    mu, power = version
    instance, best = ordinary(), middle(optimum("sm1", C=PRICE, theta=BOX))
    values = []
    for _ in range(400):
        value, alpha = svm(combined(mu), instance.y)
        values.append(value)
        roots = np.sqrt(mu**power * halves(alpha))
        order = np.argsort(-roots, kind="stable")
        following = np.empty_like(mu)
        following[order] = lemma_8(roots[order], BOX)
        mu = following
    numbers = {f"excess after {count} SVMs": values[count - 1] / best - 1 for count in (1, 10, 100, 400)}
    numbers["largest rise in a step"] = float(max(0.0, np.max(np.diff(values)) / best))
    return Measured(abs(values[-1] / best - 1), numbers)


EVENLY = np.full(5, 0.2)
WITHOUT_THE_FIRST = np.array([0.0, 0.25, 0.25, 0.25, 0.25])


# ---------------------------------------------------------------------------------------------------- Algorithm 2
def penalised(mu: Array) -> tuple[float, Array]:
    """Eq. (13) with C-SVC as a function of μ, and α."""
    value, alpha = svm(combined(mu), ordinary().y)
    return value + float(mu @ mu) / (2 * THETA), alpha


def gradient(mu: Array, alpha: Array, half: float = 1 / 2, sign: float = 1.0) -> Array:
    """Eq. (26): −h_m + μ_m/θ, h_m = ½ (α⊙y)'K_m(α⊙y)."""
    return -2 * half * halves(alpha) + sign * mu / THETA


def against_differences(half: float) -> Measured:
    rng, step = np.random.default_rng(0), 1e-4
    errors = []
    for mu in rng.dirichlet(np.full(ordinary().count, 5.0), 3):
        given = gradient(mu, penalised(mu)[1], half)
        slopes = [
            (penalised(mu + step * e)[0] - penalised(mu - step * e)[0]) / (2 * step) for e in np.eye(ordinary().count)
        ]
        errors.append(float(np.max(np.abs(given - slopes)) / np.max(np.abs(slopes))))
    return Measured(max(errors), {"first slope by (26)": float(given[0]), "by differences": float(slopes[0])})


def project(x: Array, shift: int = 0) -> Array:
    """Onto the simplex by sorting: the largest k with x_(k) > (Σ_{i≤k} x_(i) − 1)/k gives the threshold."""
    falling = np.sort(x)[::-1]
    levels = (np.cumsum(falling) - 1) / np.arange(1, len(x) + 1)
    last = max(int(np.flatnonzero(falling > levels)[-1]) - shift, 0)
    return np.maximum(x - levels[last], 0.0)


def projection(shift: int) -> Measured:
    """Against the quadratic program, by a cone solver, on random points."""
    errors = []
    for x in np.random.default_rng(0).normal(size=(10, 6)):
        mu = cp.Variable(6, nonneg=True)
        solved(cp.Minimize(cp.sum_squares(mu - x)), [cp.sum(mu) == 1])
        errors.append(float(np.max(np.abs(project(x, shift) - mu.value))))
    return Measured(max(errors), {"largest distance": max(errors)})


def projected_descent(sign: float) -> Measured:
    """Algorithm 2: a projected gradient step (with sign · μ/θ) whose size is halved until the value falls enough."""
    best = middle(optimum("sm2", C=PRICE, theta=THETA))
    mu = np.full(ordinary().count, 1 / ordinary().count)
    mu[0], mu[1] = 2 * mu[0], 0.0
    value, alpha = penalised(mu)
    steps = svms = 0
    size = 1.0
    while steps < 200 and size > 1e-12:
        slope = gradient(mu, alpha, sign=sign)
        trial = project(mu - size * slope)
        there, alpha_there = penalised(trial)
        svms += 1
        if there <= value + 0.1 * float(slope @ (trial - mu)) and there < value:
            mu, value, alpha, size = trial, there, alpha_there, 2 * size
            steps += 1
        else:
            size /= 2
    numbers = {"value": value, "optimum": best, "steps": float(steps), "SVMs": float(svms)}
    return Measured(abs(value / best - 1), numbers)


claim = claims_of("xu")
CLAIMS = (
    claim("Lemma 7", order_of_caps, printed=True, mutated=False),
    claim(
        "Lemma 8, Eq. (25), θ > 1/M",
        partial(agreement, cases=draws(above_the_least)),
        printed=lemma_8,
        mutated=partial(lemma_8, shift=1),
    ),
    claim(
        "Lemma 8, θ = 1/M",
        agreement_at_the_least_box,
        printed=lemma_8,
        repaired=with_the_least_box_apart,
        mutated=partial(filled, capped=1),
    ),
    claim(
        "Lemma 8, a_m = 0",
        partial(agreement, cases=VANISHING),
        printed=lemma_8,
        repaired=multiplied_out,
        mutated=partial(lemma_8, shift=1),
    ),
    claim("Algorithm 1", block_descent, printed=(EVENLY, 2), mutated=(EVENLY, 1)),
    claim(
        "Algorithm 1, line 1", block_descent, printed=(WITHOUT_THE_FIRST, 2), repaired=(EVENLY, 2), mutated=(EVENLY, 1)
    ),
    claim("Eq. (26)", against_differences, printed=1 / 2, mutated=1.0),
    claim("Eq. (27)", projection, printed=0, mutated=1),
    claim("Algorithm 2", projected_descent, printed=1.0, mutated=-1.0),
)
