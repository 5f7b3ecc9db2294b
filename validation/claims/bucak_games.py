"""Bucak et al. 2010, games on which Algorithm 1 is cheap to play, for its readings and its bound.

In both α = C for any weights, so that the losses H_k(p) = nC − ½ Σ_a p_a q_a^k are a game with a matrix, and every
kernel serves one class.

- The pair: two samples, C = 1, classes (+,+) and (+,−), kernels ½ 11' and ¼ vv', v = (1,−1). H_1 = 2 − p_1 and
  H_2 = 2 − ½ p_2, with the saddle point p = γ = (⅓, ⅔). λ0 C = 1.
- Hadamard classes: n = m samples, C = 1, the rows y_a of a Hadamard matrix as classes, kernels (λ0/n) y_a y_a'. No
  |f(x_i)| exceeds λ0 C ≤ 1, and H_k = nC (1 − ½ λ0 C p_k), with the saddle point p = γ = 1/m. λ0 C may be small.
"""

from __future__ import annotations

import math
from functools import cache
from typing import NamedTuple

import numpy as np

from bucak_forms import Array

KERNELS = np.array([[[0.5, 0.5], [0.5, 0.5]], [[0.25, -0.25], [-0.25, 0.25]]])
SIGNS = np.array([[1.0, 1.0], [1.0, -1.0]])
HALVES = np.einsum("ki,aij,kj->ka", SIGNS, KERNELS, SIGNS) / 2  # ½ q_a^k at α = 1
LARGEST_EIGENVALUE = float(np.linalg.eigvalsh(KERNELS).max())
RUNS = 32
FARTHEST = 30.0  # logits are kept within ±30: beyond, a share is below 1e-13 and never drawn


# -------------------------------------------------------------------------------------------- the pair
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
    """Algorithm 1 on the pair, RUNS times side by side; one logit for γ and one for p."""
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
    """Δ on the pair in closed form: both terms are at a vertex."""
    worst = 2 - np.minimum(HALVES[0, 0] * p, HALVES[1, 1] * (1 - p))
    best = 2 - np.maximum(HALVES[0, 0] * gamma, HALVES[1, 1] * (1 - gamma))
    return worst - best


# ------------------------------------------------------------------------------------ Hadamard classes
class Hadamard(NamedTuple):
    """m classes, λ0 C and δ; steps and their size η."""

    classes: int
    reach: float
    delta: float
    steps: int
    size: float


@cache
def hadamard_gaps(game: Hadamard, runs: int = 16) -> Array:
    """Δ of the averages of the repaired algorithm, C = 1, `runs` times side by side.

    A class is drawn from γ' in two parts: with probability δ from equal shares, else from γ.
    """
    m, reach, delta, steps, size = game
    random, every = np.random.default_rng(0), np.arange(runs)
    logits, sums = np.zeros((2, m, runs)), np.zeros((2, m, runs))  # of γ and of p
    for start in range(0, steps, 10_000):
        logits -= logits.max(axis=1, keepdims=True)
        luck = random.random((2, min(10_000, steps - start), runs))
        even = np.where(luck[0] < delta, random.integers(m, size=luck[0].shape), -1)
        for chosen, lucky in zip(even, luck[1], strict=True):
            shares = np.exp(logits)
            ladder = shares[0].cumsum(axis=0)
            j = np.where(chosen < 0, (ladder < lucky * ladder[-1]).sum(axis=0), chosen)
            shares /= shares.sum(axis=1, keepdims=True)
            sums += shares
            own, weight = shares[:, j, every]
            drawn = (1 - delta) * own + delta / m
            logits[0, j, every] += size * m * (1 - reach / 2 * weight) / drawn
            logits[1, j, every] += size * m * reach / 2 * own / drawn
    gamma, p = sums / steps
    return m * reach / 2 * (gamma.max(axis=0) - p.min(axis=0))


def hadamard(classes: int, spread: float, delta: float, steps: int) -> Hadamard:
    """λ0 C = spread·δ/m, and the η that makes the printed bound (d = 1) least."""
    size = math.sqrt(2 * math.log(classes) / (steps * (1 + spread**2 / 2))) / classes
    return Hadamard(classes, spread * delta / classes, delta, steps, size)
