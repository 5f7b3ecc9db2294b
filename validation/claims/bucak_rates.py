"""Bucak et al. 2010, how fast: Theorem 1 in its readings, Corollary 1 and what follows from it.

The game: two samples, C = 1, classes (+,+) and (+,−), kernels ½ 11' and ¼ vv', v = (1,−1). No |f(x_i)| exceeds 1, so
that α = 1 for any weights and the losses are H_1 = 2 − p_1 and H_2 = 2 − ½ p_2: a game with a matrix, in which every
kernel serves one class. Its saddle point is p = γ = (⅓, ⅔). One logit for γ and one for p make it cheap.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import NamedTuple

import numpy as np
from bucak_forms import PAPER, Array
from claim import Claim, Measured

KERNELS = np.array([[[0.5, 0.5], [0.5, 0.5]], [[0.25, -0.25], [-0.25, 0.25]]])
SIGNS = np.array([[1.0, 1.0], [1.0, -1.0]])
HALVES = np.einsum("ki,aij,kj->ka", SIGNS, KERNELS, SIGNS) / 2  # ½ q_a^k at α = 1
LARGEST_EIGENVALUE = float(np.linalg.eigvalsh(KERNELS).max())
RUNS = 32
SMOOTHING = 0.5  # δ
FARTHEST = 30.0  # logits are kept within ±30: beyond, a share is below 1e-13 and never drawn


class Reading(NamedTuple):
    """Which shares draw the class, which divide (9), whether (8) has the weight γ_k/γ'_k, and the sign of γ's step."""

    draw_smoothed: bool
    divide_by_smoothed: bool
    weigh: bool = False
    sign: int = 1


TEXT = Reading(draw_smoothed=True, divide_by_smoothed=False)
PRINTED_ALGORITHM = Reading(draw_smoothed=False, divide_by_smoothed=False)
SMOOTHED = Reading(draw_smoothed=True, divide_by_smoothed=True)
UNBIASED = Reading(draw_smoothed=True, divide_by_smoothed=True, weigh=True)
DESCENDING = UNBIASED._replace(sign=-1)


class Played(NamedTuple):
    """Averages of γ_1 and p_1, and the last γ_1, in every run."""

    gamma: Array
    p: Array
    last: Array


def logistic(logit: Array) -> Array:
    return 1 / (1 + np.exp(-logit))


@cache
def play(reading: Reading, size: float, steps: int, delta: float) -> Played:
    """Algorithm 1, RUNS times side by side."""
    luck = np.random.default_rng(0).random((steps, RUNS))
    class_logit, weight_logit, gamma = np.zeros(RUNS), np.zeros(RUNS), np.full(RUNS, 0.5)
    gamma_sum, p_sum = np.zeros(RUNS), np.zeros(RUNS)
    for lucky in luck:
        gamma, p = logistic(class_logit), logistic(weight_logit)
        gamma_sum += gamma
        p_sum += p
        smooth = (1 - delta) * gamma + delta / 2
        first = lucky < (smooth if reading.draw_smoothed else gamma)
        own, drawn = np.where(first, gamma, 1 - gamma), np.where(first, smooth, 1 - smooth)
        losses = 2 - np.where(first, HALVES[0, 0] * p, HALVES[1, 1] * (1 - p))
        jump = losses / (drawn if reading.divide_by_smoothed else own)
        class_logit += reading.sign * size * np.where(first, jump, -jump)
        pull = np.where(first, HALVES[0, 0], -HALVES[1, 1])
        weight_logit += size * (pull * own / drawn if reading.weigh else pull)
        np.clip(class_logit, -FARTHEST, FARTHEST, out=class_logit)
    return Played(gamma_sum / steps, p_sum / steps, gamma)


def saddle_gaps(gamma: Array, p: Array) -> Array:
    """Δ in closed form: both terms are at a vertex."""
    worst = 2 - np.minimum(HALVES[0, 0] * p, HALVES[1, 1] * (1 - p))
    best = 2 - np.maximum(HALVES[0, 0] * gamma, HALVES[1, 1] * (1 - gamma))
    return worst - best


def constant(classes: float, delta: float, largest: float, samples: int, price: float, d: float = 1.0) -> float:
    """What η_γ is multiplied with in Theorem 1."""
    return d * classes**2 / (2 * delta**2) * largest**2 * samples**2 * price**4 + samples**2 * price**2


def game_bound(size: float, steps: int, delta: float) -> float:
    return 2 * math.log(2) / (size * steps) + size * constant(2, delta, LARGEST_EIGENVALUE, 2, 1.0)


# ------------------------------------------------------------------------------------------- Theorem 1
def measure_bound(reading: Reading) -> Measured:
    """The step size that makes the bound least, so that it falls as 1/√T."""
    ratios, numbers = [], {}
    for steps in (1_000, 10_000, 100_000):
        size = math.sqrt(2 * math.log(2) / (steps * constant(2, SMOOTHING, LARGEST_EIGENVALUE, 2, 1.0)))
        played = play(reading, size, steps, SMOOTHING)
        gap, bound = float(saddle_gaps(played.gamma, played.p).mean()), game_bound(size, steps, SMOOTHING)
        ratios.append(gap / bound)
        numbers |= {f"Δ after {steps} steps": gap, f"bound after {steps}": bound}
    return Measured(max(ratios), numbers)


def measure_printed_algorithm(reading: Reading) -> Measured:
    size, steps, delta = 0.01, 30_000, 1.0
    played = play(reading, size, steps, delta)
    gap, bound = float(saddle_gaps(played.gamma, played.p).mean()), game_bound(size, steps, delta)
    locked = float(np.mean(np.minimum(played.last, 1 - played.last) < 1e-4))
    return Measured(gap / bound, {"Δ": gap, "bound": bound, "runs that end with one class alone": locked})


# ------------------------------------------------------------------------------------------ Corollary 1
MANY = np.geomspace(1e4, 1e12, 9)  # numbers of classes
DELTAS = np.geomspace(1e-3, 1.0, 31)
KERNEL_COUNT, SAMPLES, STEPS = 10, 100, 1e6


def theorem_bound(classes: float, delta: float, size: float) -> float:
    logs = math.log(classes) + math.log(KERNEL_COUNT)
    return logs / (size * STEPS) + size * constant(classes, delta, 1.0, SAMPLES, 1.0)


def growth(values: list[float]) -> float:
    """The exponent with which values grow in the number of classes."""
    return float(np.polyfit(np.log(MANY), np.log(values), 1)[0])


def measure_probability(delta_of: Callable[[float], float]) -> Measured:
    """γ' at γ = one class alone, for 2 to 100 classes."""
    least = min((1 - delta_of(m)) * share + delta_of(m) / m for m in (2, 10, 20, 102) for share in (0.0, 1.0))
    return Measured(max(0.0, -least), {"δ at m = 10": delta_of(10), "least entry of γ'": least})


def measure_rate(exponent: float) -> Measured:
    """Theorem 1's bound with δ = m^exponent and the printed η_γ, relative to n m^⅓ √(ln m/T)."""
    ratios = []
    for m in MANY:
        rate = m ** (1 / 3) * math.sqrt(math.log(m) / STEPS)
        ratios.append(theorem_bound(m, m**exponent, rate / (SAMPLES * m ** (2 / 3))) / (SAMPLES * rate))
    return Measured(abs(growth(ratios)), {"growth of the ratio": growth(ratios)})


def least_bound(classes: float) -> float:
    """Theorem 1's bound, least over η_γ and over δ ∈ (0, 1]."""
    logs = math.log(classes) + math.log(KERNEL_COUNT)
    factors = [constant(classes, delta, 1.0, SAMPLES, 1.0) for delta in DELTAS]
    return min(theorem_bound(classes, d, math.sqrt(logs / (STEPS * f))) for d, f in zip(DELTAS, factors, strict=True))


def measure_sublinearity(exponent: float) -> Measured:
    found = growth([least_bound(m) / math.sqrt(math.log(m) + math.log(KERNEL_COUNT)) for m in MANY])
    return Measured(abs(found - exponent), {"exponent of m": found, "stated": exponent})


def measure_cost(powers: tuple[float, float]) -> Measured:
    """Steps, each with one SVM, until Corollary 1's rate n m^⅓ √(ln m/T) is at 0.01, against m^a (ln m)^b."""
    steps = [(SAMPLES * m ** (1 / 3) * math.sqrt(math.log(m)) / 0.01) ** 2 for m in MANY]
    ratios = [t / (m ** powers[0] * math.log(m) ** powers[1]) for t, m in zip(steps, MANY, strict=True)]
    left = growth(ratios)
    return Measured(abs(left), {"exponent of m in the steps": growth(steps), "left over": left})


THEOREM = (
    "The expected Δ of the averages is at most (ln m + ln s)/(η_γ T) + η_γ (d m² λ0² n² C⁴/(2δ²) + n² C²), "
    "d a constant; "
)
LIMIT = float(saddle_gaps(np.array((1 / 3 - SMOOTHING / 2) / (1 - SMOOTHING)), np.array(1 / 3)))
GROWING = "The gap does not fall with the bound, so that no constant d saves it"

CLAIMS: tuple[Claim, ...] = (
    Claim(
        PAPER,
        "Theorem 1, the text",
        THEOREM + "a class is drawn from γ', and (9) divides by γ.",
        "largest ratio of the mean gap of 32 runs to the bound with d = 1, δ = 0.5, T up to 1e5",
        1.0,
        measure_bound,
        printed=TEXT,
        repaired=UNBIASED,
        repair="(9) divided by γ'_k and (8) multiplied by γ_k/γ'_k",
        mutated=DESCENDING,
        mutation="the repaired one with γ descending",
        remark=GROWING,
    ),
    Claim(
        PAPER,
        "Theorem 1, γ' throughout",
        THEOREM + "a class is drawn from γ', and (9) divides by γ'.",
        "largest ratio of the mean gap of 32 runs to the bound with d = 1, δ = 0.5, T up to 1e5",
        1.0,
        measure_bound,
        printed=SMOOTHED,
        repaired=UNBIASED,
        repair="(8) multiplied by γ_k/γ'_k as well",
        mutated=DESCENDING,
        mutation="the repaired one with γ descending",
        remark=f"p answers γ' while γ is averaged: the limit has γ = (γ* − δ/m)/(1 − δ), Δ = {LIMIT:.3g}. {GROWING}",
    ),
    Claim(
        PAPER,
        "Theorem 1, Algorithm 1 as printed",
        THEOREM + "a class is drawn from γ, and γ' is computed but not used.",
        "ratio of the mean gap of 32 runs to the bound with d = 1, η = 0.01, T = 3e4, and δ = 1, which the iterates do "
        "not depend on",
        1.0,
        measure_printed_algorithm,
        printed=PRINTED_ALGORITHM,
        repaired=UNBIASED,
        repair="drawn from γ', (9) divided by γ'_k, (8) multiplied by γ_k/γ'_k",
        mutated=DESCENDING,
        mutation="the repaired one with γ descending",
        remark="A rarely drawn class jumps by η H/γ_k, takes all of γ, and no other is drawn again. Shown for d = 1",
    ),
    Claim(
        PAPER,
        "Corollary 1, δ",
        "δ = m^⅔ is a mass of probability: it makes γ' = (1−δ)γ + δ/m a distribution.",
        "the most negative entry of γ', m = 2 to 102",
        0.0,
        measure_probability,
        printed=lambda m: m ** (2 / 3),
        mutated=lambda m: m ** (1 / 3),
        mutation="δ = m^⅓",
        control=lambda m: m ** (-2 / 3),
        remark="m^⅔ exceeds 1 for every m > 1; that no δ ≤ 1 saves the rate is shown below",
    ),
    Claim(
        PAPER,
        "Corollary 1, arithmetic",
        "With δ = m^⅔ and η_γ = m^(−⅓) √(ln m/T)/n the bound of Theorem 1 is of the order n m^⅓ √(ln m/T).",
        "exponent of m in bound/(n m^⅓ √(ln m/T)), m = 1e4 to 1e12",
        0.05,
        measure_rate,
        printed=2 / 3,
        mutated=-2 / 3,
        mutation="δ = m^(−⅔), which could be a probability",
        remark="λ0 counts as a constant here; for kernels of unit diagonal it may be as large as n",
    ),
    Claim(
        PAPER,
        "Corollary 1, sublinear",
        "Theorem 1 makes the gap grow as m^⅓ (times √ln m) with the number of classes, for δ a probability.",
        "difference between the stated exponent and that of the least bound over η_γ and δ ≤ 1",
        0.05,
        measure_sublinearity,
        printed=1 / 3,
        repaired=1.0,
        repair="the exponent is 1: linear",
        mutated=0.0,
        mutation="exponent 0",
    ),
    Claim(
        PAPER,
        "Abstract and below Corollary 1, the complexity",
        "The cost in SVMs is of the order m^⅓ √ln m.",
        "exponent of m left over in the number of steps that Corollary 1's own rate needs for a given gap",
        0.05,
        measure_cost,
        printed=(1 / 3, 0.5),
        repaired=(2 / 3, 1.0),
        repair="m^⅔ ln m: the rate falls with √T only",
        mutated=(1 / 3, 1.0),
        mutation="m^⅓ ln m",
        remark="The printed order is that of the gap after T steps, √(1/T) included, not that of a cost",
    ),
)
