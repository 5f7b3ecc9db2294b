"""Bucak et al. 2010, the saddle: convexity of L(p, γ), and Proposition 2 on the distance Δ(p, γ) from its optimum."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from itertools import pairwise

import numpy as np

from bucak_forms import CLASSES, POINTS, PRICE, WINE, Array, certified
from bucak_saddle_gap import saddle_gap
from claim import Measured, claims_of


def measure_convexity(sign: int) -> Measured:
    """How far sign·L(p, γ) is above its chords in p, and how far L is from its chords in γ."""
    rises, bends = [], []
    for (p, gamma), (q, other) in pairwise(POINTS):
        chord = (CLASSES.lagrangian(p, gamma) + CLASSES.lagrangian(q, gamma)) / 2
        rises.append(sign * (CLASSES.lagrangian((p + q) / 2, gamma) - chord) / chord)
        chord = (CLASSES.lagrangian(p, gamma) + CLASSES.lagrangian(p, other)) / 2
        bends.append(abs(CLASSES.lagrangian(p, (gamma + other) / 2) - chord) / chord)
    error = max(0.0, *rises, *bends)
    return Measured(error, {"largest rise above a chord in p": max(rises), "largest bend in γ": max(bends)})


# ----------------------------------------------------------------------------------------- Proposition 2
@cache
def gap_between(weights: tuple[float, ...], gamma: tuple[float, ...]) -> float:
    """The middle of the certified bounds on Δ(p, γ)."""
    return sum(saddle_gap(WINE, weights, gamma, C=PRICE)) / 2


def gap(p: Array, gamma: Array) -> float:
    return gap_between(tuple(p), tuple(gamma))


def without_max(p: Array, gamma: Array) -> float:
    """Δ with the mean over the classes in place of the largest."""
    losses = CLASSES.losses(p)
    return gap(p, gamma) - float(losses.max() - losses.mean())


def without_min(p: Array, gamma: Array) -> float:
    """Δ with L(p, γ) in place of its least value over p'."""
    losses = CLASSES.losses(p)
    return float(losses.max() - gamma @ losses)


def measure_sign_of_gap(distance: Callable[[Array, Array], float]) -> Measured:
    """At random points, and at γ = the worst class alone, where the second term is largest."""
    hardest = np.eye(3)[CLASSES.losses(POINTS[0][0]).argmax()]
    values = [distance(p, gamma) for p, gamma in [*POINTS, (POINTS[0][0], hardest)]]
    return Measured(max(0.0, -min(values)), {"least of Δ": min(values), "largest of Δ": max(values)})


def measure_gap_at_saddle(share: float) -> Measured:
    """Δ at the certified weights, and γ moved by `share` towards equal shares."""
    solution = certified("ml_minimax")
    gamma = (1 - share) * solution.multipliers["gamma"] + share / 3
    lower, upper = saddle_gap(WINE, solution.weights, gamma, C=PRICE)
    value = solution.certificate.upper
    return Measured(max(abs(lower), abs(upper)) / value, {"Δ at most": upper, "optimum": value})


def measure_joint_convexity(distance: Callable[[Array, Array], float]) -> Measured:
    rises = []
    for (p, gamma), (q, other) in pairwise(POINTS):
        chord = (distance(p, gamma) + distance(q, other)) / 2
        rises.append(distance((p + q) / 2, (gamma + other) / 2) - chord)
    return Measured(max(0.0, *rises), {"largest rise above a chord": max(rises)})


claim = claims_of("bucak")
CLAIMS = (
    claim("Section 2.2", measure_convexity, printed=1, mutated=-1),
    claim("Proposition 2.1", measure_sign_of_gap, printed=gap, mutated=without_max),
    claim("Proposition 2.2", measure_gap_at_saddle, printed=0.0, mutated=0.3),
    claim("Proposition 2.3", measure_joint_convexity, printed=gap, mutated=without_min),
)
