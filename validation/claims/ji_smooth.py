"""Ji et al. 2008, Section 3: the exchange of minimum and maximum, and the smoothed problem."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import cvxpy as cp
import numpy as np
from scipy.special import logsumexp

from claim import Measured, claims_of
from ji_graph import generated
from ji_shared import (
    Array,
    Problem,
    cone_program,
    correlated,
    declared_inner,
    digits,
    exact,
    optimum,
    smooth,
)
from optima import root


def points(problem: Problem, count: int = 12) -> Iterator[Array]:
    """Random Z of sizes from far below the minimiser's to far above; where the scores are near, and where not."""
    rng = np.random.default_rng(7)
    size = np.linalg.norm(problem.best_z(np.full(problem.count, 1 / problem.count)))
    for scale in np.geomspace(0.03, 30, count):
        z = rng.normal(size=problem.h.shape)
        yield z * (scale * size / np.linalg.norm(z))


def exchanged(mixtures: bool) -> Measured:
    """max over θ of min over Z, by column generation or over single kernels, against min over Z of the maximum."""
    worst, numbers = 0.0, {}
    for name, problem in (("digits", digits(24)), ("synthetic", correlated(1, lam=0.02))):
        singles = [float(theta @ problem.scores(problem.best_z(theta))) for theta in np.eye(problem.count)]
        left = generated(problem).value if mixtures else max(singles)
        right = cone_program(problem, problem.h)
        worst = max(worst, abs(left - right))
        numbers |= {f"{name}: max min": left, f"{name}: min max": right}
    return Measured(worst, numbers)


def kink(mu: float) -> Measured:
    """The jump of the slope at the minimiser of f, along the direction in which two tied kernels differ most."""
    problem = replace(digits(), mu=mu if mu > 0 else 1.0)
    z = problem.best_z(exact(problem).weights)
    tied = np.argsort(problem.scores(z))[::-1][:2]
    direction = (problem.kernels[tied[0]] - problem.kernels[tied[1]]) @ z
    direction /= np.linalg.norm(direction)
    value: Callable[[Array], float] = problem.smoothed if mu > 0 else problem.largest
    step = 1e-6
    right = (value(z + step * direction) - value(z)) / step
    left = (value(z) - value(z - step * direction)) / step
    return Measured(abs(right - left), {"slope on the left": left, "on the right": right})


def entropic(problem: Problem, scores: Array, total: float = 1.0) -> tuple[float, Array]:
    """The problem (9) by a conic solver, with θ adding up to `total`: its value and θ."""
    theta = cp.Variable(len(scores), nonneg=True)
    objective = scores @ theta + problem.mu * cp.sum(cp.entr(theta))
    return optimum(cp.Maximize(objective), [cp.sum(theta) == total]), np.asarray(theta.value)


def log_sum(inner: float) -> Measured:
    """(10) with exp(inner·S_j/μ) against (9)."""
    problem, worst, numbers = digits(), 0.0, {}
    for number, z in enumerate(points(problem, 6)):
        scores = problem.scores(z)
        solved, _ = entropic(problem, scores)
        formula = problem.mu * float(logsumexp(inner * scores / problem.mu))
        worst = max(worst, abs(solved - formula) / max(1.0, abs(solved)))
        if number in (2, 3):
            numbers |= {f"(9), Z no. {number}": solved, f"(10), Z no. {number}": formula}
    return Measured(worst, numbers)


def multiplier(sign: float) -> Measured:
    """f_μ = μ − β; β is minus the derivative of (9)'s value with respect to what θ adds up to."""
    problem = digits()
    z = problem.best_z(np.full(problem.count, 1 / problem.count))
    scores, step = problem.scores(z), 1e-2
    more, less = (entropic(problem, scores, 1 + side * step)[0] for side in (1, -1))
    beta = -(more - less) / (2 * step)
    value, _ = entropic(problem, scores)
    predicted = problem.mu - sign * beta
    return Measured(abs(value - predicted), {"(9)": value, "μ − β": predicted, "β": beta})


def closed_weights(factor: float) -> Measured:
    """θ_j = exp(factor·(S_j − f_μ)/μ) against the maximiser of (9)."""
    problem, worst = digits(), 0.0
    for z in points(problem, 6):
        scores = problem.scores(z)
        _, theta = entropic(problem, scores)
        worst = max(worst, float(np.abs(np.exp(factor * (scores - problem.smoothed(z)) / problem.mu) - theta).max()))
    return Measured(worst, {"largest distance": worst})


def tied_ray(problem: Problem) -> Array:
    """A direction along which two kernels have equal scores but different gradients, however far one goes."""
    values, vectors = np.linalg.eigh(problem.kernels[0] - problem.kernels[1])
    balanced = np.sqrt(values[-1]) * vectors[:, 0] + np.sqrt(-values[0]) * vectors[:, -1]
    return np.outer(balanced / np.linalg.norm(balanced), np.eye(1, problem.h.shape[1])[0])


def two_kernels(problem: Problem) -> Problem:
    return replace(problem, kernels=problem.kernels[:2])


def segments() -> Iterator[tuple[Problem, Array, Array]]:
    """Random ones, and across the places where two kernels tie, a few μ long in score."""
    rng = np.random.default_rng(3)
    for problem in (digits(), correlated(0)):
        pair = two_kernels(problem)
        for z in points(problem):
            yield problem, z, z + rng.normal(size=z.shape) * np.abs(z).mean()
            tied = np.linalg.norm(z) * tied_ray(pair)
            across = (pair.kernels[0] - pair.kernels[1]) @ tied
            step = 4 * pair.mu * pair.lam / np.vdot(across, across) * across
            yield pair, tied - step, tied + step


def midpoints(sign: float) -> Measured:
    """How far f_μ at the middle of a segment exceeds the mean of its ends, in units of μ; μ of either sign."""
    worst, count = -np.inf, 0
    for problem, first, second in segments():
        mu = sign * problem.mu
        start, middle, end = (
            float(logsumexp(problem.scores(z) / mu)) * sign for z in (first, (first + second) / 2, second)
        )
        worst, count = max(worst, middle - (start + end) / 2), count + 1
    return Measured(max(0.0, worst), {"middle less mean, at most": worst, "segments": count})


def fourteen(inner: Callable[[float], float]) -> Measured:
    """(14) as a cone program with `inner(μ)` times tr(Z'H) in the exponent, against the certified minimum of (13)."""
    worst, numbers = 0.0, {}
    for name, problem in (("digits", digits()), ("synthetic", correlated(0))):
        z = cp.Variable(problem.h.shape)
        u, v = cp.Variable(problem.count), cp.Variable(problem.count)
        exponents = u + v - inner(problem.mu) * declared_inner(z, problem.h)
        cones = [problem.mu * u >= cp.sum_squares(z) / 4]
        for j, kernel in enumerate(problem.kernels):
            cones.append(problem.mu * v[j] >= cp.sum_squares(root(kernel).T @ z) / (4 * problem.lam))
        value = optimum(cp.Minimize(problem.mu * cp.log_sum_exp(exponents)), cones)
        certified = smooth(problem).certificate.upper
        worst = max(worst, abs(value - certified))
        numbers |= {f"{name}: (14)": value, f"{name}: (13)": certified}
    return Measured(worst, numbers)


def band(width: Callable[[float], float]) -> Measured:
    """How far f_μ leaves [f, f + μ·width(p)], in units of μ, at random Z and at 0."""
    below = above = 0.0
    for problem in (digits(), correlated(0), replace(digits(), mu=1e-3)):
        for z in (np.zeros_like(problem.h), *points(problem)):
            gap = (problem.smoothed(z) - problem.largest(z)) / problem.mu
            below, above = max(below, -gap), max(above, gap / float(width(problem.count)))
    return Measured(max(below, above - 1), {"share of the band, at most": above})


def gap_by_entropy(correction: float) -> Measured:
    """f_μ − f against μ·entropy − correction·Σ_j θ_j (f − S_j), in units of μ."""
    problem, worst, numbers = digits(), 0.0, {}
    for number, z in enumerate(points(problem, 6)):
        theta, scores = problem.shares(z), problem.scores(z)
        entropy = -float(np.sum(theta * np.log(np.maximum(theta, 1e-300))))
        gap = (problem.smoothed(z) - scores.max()) / problem.mu
        predicted = entropy - correction * float(theta @ (scores.max() - scores)) / problem.mu
        worst = max(worst, abs(gap - predicted))
        if number in (2, 3, 4):
            numbers |= {f"(f_μ − f)/μ, Z no. {number}": gap, f"predicted, Z no. {number}": predicted}
    return Measured(worst, numbers)


def largest_entropy(logarithm: Callable[[float], float]) -> Measured:
    worst, numbers = 0.0, {}
    for p in (2, 5, 23):
        theta = cp.Variable(p, nonneg=True)
        largest = optimum(cp.Maximize(cp.sum(cp.entr(theta))), [cp.sum(theta) == 1])
        uneven = float(np.abs(np.asarray(theta.value) - 1 / p).max())
        worst = max(worst, abs(largest - float(logarithm(p))), uneven)
        numbers[f"largest entropy, p = {p}"] = largest
    return Measured(worst, numbers)


claim = claims_of("ji")
CLAIMS = (
    claim("Eq. (7)", exchanged, printed=True, mutated=False),
    claim("Eqs (8) to (10)", kink, printed=0.1, mutated=0.0),
    claim("Lemma 3.1, Eq. (10)", log_sum, printed=1.0, mutated=0.9),
    claim("Lemma 3.1, proof: f_μ = μ − β", multiplier, printed=1.0, mutated=-1.0),
    claim("Lemma 3.1, Eq. (12)", closed_weights, printed=1.0, mutated=0.5),
    claim("Lemma 3.2", midpoints, printed=1.0, mutated=-1.0),
    claim(
        "Lemma 3.2, proof, Eq. (14)",
        fourteen,
        printed=lambda mu: 1.0,
        repaired=lambda mu: 1 / mu,
        mutated=lambda mu: 0.5 / mu,
    ),
    claim("Lemma 3.3", band, printed=np.log, mutated=lambda p: np.log(p) / 2),
    claim("Lemma 3.3, proof: the gap", gap_by_entropy, printed=0.0, repaired=1.0, mutated=2.0),
    claim("Lemma 3.3, proof: entropy", largest_entropy, printed=np.log, mutated=np.log2),
)
