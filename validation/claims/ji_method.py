"""Ji et al. 2008, Section 4: Nesterov's method as Table 1 prints it, its rate, and what the rate is compared with."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import NamedTuple

import cvxpy as cp
import numpy as np

from claim import Measured, claims_of
from ji_lipschitz import constant, least_radius, start_constant
from ji_shared import Array, Problem, correlated, digits, exact, excess, optimum, smooth


class Iteration(NamedTuple):
    value: float  # f_μ(Z^{i+1})
    largest: float  # f(Z^{i+1})
    before: float  # f_μ(X^i)
    constant: float  # L_i


class Run(NamedTuple):
    """Table 1 on a problem: f_μ(X⁰), what every iteration left, and the last Z."""

    start: float
    iterations: list[Iteration]
    z: Array


def table_one(problem: Problem, rounds: int) -> Run:
    """Nesterov's method with back-tracking, line by line; μ is the problem's."""
    z = q = np.zeros_like(problem.h)
    t, constant_so_far = 1.0, start_constant(problem)
    iterations = []
    for _ in range(rounds):
        x = z - (z + q) / t
        value, slope = problem.smoothed(x), problem.gradient(x)
        square = float(np.vdot(slope, slope))
        while problem.smoothed(x - slope / constant_so_far) > value - square / (2 * constant_so_far):
            constant_so_far *= 2
        z = x - slope / constant_so_far
        q = q + t / constant_so_far * slope
        t = (1 + np.sqrt(1 + 4 * t**2)) / 2
        iterations.append(Iteration(problem.smoothed(z), problem.largest(z), value, constant_so_far))
        if square < 1e-24:  # at the minimum to rounding, where back-tracking compares noise with noise
            break
    return Run(problem.smoothed(np.zeros_like(problem.h)), iterations, z)


def chain(n: int = 200, condition: float = 1e4) -> Problem:
    """One kernel, the path's Laplacian, and a label at its end: the quadratic on which first-order methods are slow."""
    kernel = (2 * np.eye(n) - np.eye(n, k=1) - np.eye(n, k=-1)) / (2 * n)
    return Problem(kernel[None], np.eye(n, 1), float(np.linalg.eigvalsh(kernel)[-1]) / condition)


class Known(NamedTuple):
    """A run with what it is judged by: lower bounds on min f_μ and min f, and the squared distance to Z*."""

    problem: Problem
    run: Run
    least_smoothed: float
    least: float
    distance: float

    @property
    def bound(self) -> float:
        """4 L_μ R_μ², L_μ taken at R_μ."""
        square = least_radius(self.problem)
        return 4 * constant(self.problem, square) * square

    @property
    def counts(self) -> Array:
        """i + 1 for every iteration i."""
        return np.arange(len(self.run.iterations)) + 2.0


def known(problem: Problem, rounds: int) -> Known:
    smoothed = smooth(problem)
    distance = float(np.sum(problem.best_z(smoothed.weights) ** 2))
    least = exact(problem).certificate.lower
    return Known(problem, table_one(problem, rounds), smoothed.certificate.lower, least, distance)


@cache
def runs() -> dict[str, Known]:
    """Table 1 with μ = 1/N on problems of several kinds."""
    settings = ((0.1, 50), (0.02, 50), (0.02, 200), (0.001, 200))
    kinds = {f"digits, λ = {lam:g}, N = {rounds}": (digits(lam=lam), rounds) for lam, rounds in settings}
    kinds |= {f"synthetic no. {seed}": (correlated(seed, lam=0.02), 100) for seed in range(4)}
    kinds |= {"a chain": (chain(), 150)}
    return {name: known(replace(problem, mu=1 / rounds), rounds) for name, (problem, rounds) in kinds.items()}


def rate(power: float) -> Measured:
    """f_μ(Z^{i+1}) − min f_μ against 4 L_μ R_μ²/(i + 1)^power at every iteration."""
    ratios, condition, backtracked, sharp = {}, -np.inf, 0.0, 0.0
    for name, case in runs().items():
        gaps = np.array([iteration.value - case.least_smoothed for iteration in case.run.iterations])
        found = np.array([iteration.constant for iteration in case.run.iterations])
        ratios[name] = float(np.max(gaps * case.counts**power / case.bound))
        sharp = max(sharp, float(np.max(gaps * case.counts**2 / (2 * found * case.distance))))
        condition = max(condition, max(iteration.before for iteration in case.run.iterations) - case.run.start)
        backtracked = max(backtracked, found[-1] / constant(case.problem, least_radius(case.problem)))
    chosen = {name: ratio for name, ratio in ratios.items() if name in ("digits, λ = 0.02, N = 200", "a chain")}
    numbers = {"runs": len(ratios)} | {f"ratio, {name}": ratio for name, ratio in chosen.items()}
    numbers |= {"with 2 L_i and the true distance": sharp, "f_μ(X^i) − f_μ(X⁰), at most": condition}
    return Measured(excess(max(ratios.values())), numbers | {"L_i/L_μ, at most": backtracked})


@cache
def long_run() -> Known:
    """A large fixed μ and many iterations, so that μ log p is what remains of the right side of (21)."""
    return known(digits(24, lam=0.1, mu=0.5), 4000)


def both_errors(part: float) -> Measured:
    """f(Z^{i+1}) − min f against part·μ log p + 4 L_μ R_μ²/(i + 1)², at every iteration."""
    worst, numbers = 0.0, {}
    for case in (*runs().values(), long_run()):
        smoothing, tail = case.problem.mu * np.log(case.problem.count), case.bound / case.counts**2
        gaps = np.array([iteration.largest - case.least for iteration in case.run.iterations])
        worst = max(worst, float(np.max(gaps / (part * smoothing + tail))))
        numbers = {"f(Z) − min f": gaps[-1], "μ log p": smoothing, "last term": tail[-1], "iterations": len(gaps)}
    return Measured(excess(worst), {"largest ratio": worst} | {f"μ = ½: {key}": v for key, v in numbers.items()})


def order(power: float) -> Measured:
    """The exponent of N in the right side of (21) with μ = N^−power, between N = 10⁴ and 10⁶."""
    problem = digits(24)

    def bound(rounds: float) -> float:
        chosen = replace(problem, mu=rounds**-power)
        square = least_radius(chosen)
        return chosen.mu * np.log(problem.count) + 4 * constant(chosen, square) * square / (rounds + 1) ** 2

    exponent = float(np.log(bound(1e6) / bound(1e4)) / np.log(100))
    least = exact(problem).certificate.lower
    numbers = {"exponent": exponent}
    for rounds in (50, 200, 800):
        last = table_one(replace(problem, mu=rounds**-power), rounds).iterations[-1]
        numbers[f"N (f(Z) − min f), N = {rounds}"] = rounds * (last.largest - least)
    return Measured(abs(exponent + 1), numbers)


def final_weights(factor: float) -> Measured:
    """θ by (12) at Table 1's last Z (S_j times `factor`) against the semidefinite program over θ with the entropy."""
    problem = correlated(0, mu=0.02)
    scores = factor * problem.scores(table_one(problem, 400).z) / problem.mu
    found = np.exp(scores - scores.max())
    found /= found.sum()
    theta = cp.Variable(problem.count, nonneg=True)
    kernel = cp.sum([theta[j] * k for j, k in enumerate(problem.kernels)])
    trace = cp.matrix_frac(problem.h, np.eye(len(problem.c)) + kernel / problem.lam)
    optimum(cp.Maximize(problem.mu * cp.sum(cp.entr(theta)) - trace), [cp.sum(theta) == 1])
    error = float(np.abs(found - np.asarray(theta.value)).max())
    return Measured(error, {"largest weight by (12)": found.max(), "by the program": float(np.max(theta.value))})


claim = claims_of("ji")
CLAIMS = (
    claim("Eq. (20), Table 1", rate, printed=2, mutated=4),
    claim("Eq. (21)", both_errors, printed=1.0, mutated=0.0),
    claim("Sec. 4, O(1/N)", order, printed=1.0, mutated=2.0),
    claim("Sec. 4, weights", final_weights, printed=1.0, mutated=0.5),
)
