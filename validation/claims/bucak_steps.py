"""Bucak et al. 2010, the algorithm: Eqs (7) to (9), Proposition 1 and Algorithm 1."""

from __future__ import annotations

from typing import NamedTuple

import cvxpy as cp
import numpy as np

from bucak_forms import CLASSES, POINTS, PRICE, WINE, Array
from bucak_saddle_gap import saddle_gap
from claim import Measured, claims_of

WEIGHTS, SHARES = POINTS[2]
DELTA = 0.2  # the paper's own


# ----------------------------------------------------------------------------------------------- Eq. (7)
def exponential_step(point: Array, exponent: Array) -> Array:
    moved = point * np.exp(exponent - exponent.max())
    return moved / moved.sum()


def averaged(sign: int, steps: int = 400, size: float = 0.01) -> tuple[Array, Array]:
    """Eq. (7) with exact gradients, γ's exponent with `sign`; the averages of (10)."""
    p, gamma = np.full(4, 1 / 4), np.full(3, 1 / 3)
    total_p, total_gamma = np.zeros(4), np.zeros(3)
    for _ in range(steps):
        total_p, total_gamma = total_p + p, total_gamma + gamma
        alphas = CLASSES.machines(p)
        halves = CLASSES.halves(alphas)
        losses = alphas.sum(axis=1) - halves @ p
        p, gamma = exponential_step(p, size * gamma @ halves), exponential_step(gamma, sign * size * losses)
    return total_p / steps, total_gamma / steps


def measure_update(sign: int) -> Measured:
    start = saddle_gap(WINE, np.full(4, 1 / 4), np.full(3, 1 / 3), C=PRICE)[1]
    reached = saddle_gap(WINE, *averaged(sign), C=PRICE)[1]
    return Measured(reached / start, {"Δ at the start": start, "Δ of the averages": reached})


def measure_potential(power: int) -> Measured:
    """The prox step with η_γ and Φ_p = (η_p/η_γ)^power Σ p ln p, solved as a conic program, against (7)."""
    for_p, for_gamma = 0.02, 0.005
    slope = -SHARES @ CLASSES.halves(CLASSES.machines(WEIGHTS))
    ratio = (for_p / for_gamma) ** power
    p = cp.Variable(4, nonneg=True)
    divergence = cp.sum(cp.kl_div(p, WEIGHTS))
    problem = cp.Problem(cp.Minimize(slope @ p + ratio / for_gamma * divergence), [cp.sum(p) == 1])
    problem.solve(solver="CLARABEL")
    stated = exponential_step(WEIGHTS, -for_p * slope)
    error = float(np.abs(p.value - stated).max())
    return Measured(error, {"largest weight by (7)": stated.max(), "by the potential": float(p.value[stated.argmax()])})


def measure_step_size(share: float) -> Measured:
    """Algorithm 1's step for p with η = η_γ^(1−share) η_p^share, against (7)'s, which has η_p."""
    for_p, for_gamma = 0.02, 0.005
    slope = -SHARES @ CLASSES.halves(CLASSES.machines(WEIGHTS))
    stated = exponential_step(WEIGHTS, -for_p * slope)
    taken = exponential_step(WEIGHTS, -(for_gamma ** (1 - share)) * for_p**share * slope)
    largest = stated.argmax()
    numbers = {"largest weight by (7)": stated[largest], "by Algorithm 1": taken[largest]}
    return Measured(float(np.abs(taken - stated).max()), numbers)


# --------------------------------------------------------------------------- Eqs (8) and (9), smoothing
class Estimate(NamedTuple):
    """From which distribution a class is drawn, and which powers of γ and γ' divide (8) and (9)."""

    smooth: bool
    weight_powers: tuple[int, int] = (0, 0)
    class_powers: tuple[int, int] = (1, 0)

    def drawn(self, gamma: Array) -> Array:
        return smoothed(gamma) if self.smooth else gamma

    def for_weights(self, gamma: Array, halves: Array) -> Array:
        """(8) for every class that may be drawn, (m, s)."""
        return -halves / divisor(gamma, self.weight_powers)[:, None]

    def for_classes(self, gamma: Array, losses: Array) -> Array:
        """The entry of (9) that is not zero, for every class that may be drawn, (m,)."""
        return losses / divisor(gamma, self.class_powers)


def smoothed(gamma: Array, delta: float = DELTA) -> Array:
    return (1 - delta) * gamma + delta / len(gamma)


def divisor(gamma: Array, powers: tuple[int, int]) -> Array:
    return gamma ** powers[0] * smoothed(gamma) ** powers[1]


def measure_expectations(estimate: Estimate) -> Measured:
    """Both expectations, summed exactly over the class that is drawn, against (6)."""
    one, other = measure_weight_expectation(estimate), measure_class_expectation(estimate)
    numbers = {f"for p: {name}": value for name, value in one.numbers.items()}
    numbers |= {f"for γ: {name}": value for name, value in other.numbers.items()}
    return Measured(max(one.error, other.error), numbers)


def measure_weight_expectation(estimate: Estimate) -> Measured:
    halves = CLASSES.halves(CLASSES.machines(WEIGHTS))
    expected = estimate.drawn(SHARES) @ estimate.for_weights(SHARES, halves)
    return compared(expected, -SHARES @ halves)


def measure_class_expectation(estimate: Estimate) -> Measured:
    losses = CLASSES.losses(WEIGHTS)
    return compared(estimate.drawn(SHARES) * estimate.for_classes(SHARES, losses), losses)


def compared(expected: Array, true: Array) -> Measured:
    worst = np.abs(expected - true).argmax()
    error = float(np.abs(expected - true)[worst] / np.abs(true).max())
    return Measured(error, {"expectation": expected[worst], "gradient": true[worst]})


def measure_norm(estimate: Estimate) -> Measured:
    """The largest entry of (9) relative to (m/δ)·max H, while γ leaves all but one class."""
    losses = CLASSES.losses(WEIGHTS)
    bound = len(losses) / DELTA * losses.max()
    rest = 10.0 ** -np.arange(1, 9)
    entries = [np.abs(estimate.for_classes(np.array([1 - 2 * r, r, r]), losses)).max() for r in rest]
    return Measured(max(entries) / bound, {"largest entry": max(entries), "(m/δ)·max H": bound})


LITERAL = Estimate(smooth=False)
SAMPLED_SMOOTHLY = Estimate(smooth=True)
WEIGHTED = Estimate(smooth=True, weight_powers=(-1, 1), class_powers=(0, 1))


claim = claims_of("bucak")
CLAIMS = (
    claim("Eq. (7)", measure_update, printed=-1, repaired=1, mutated=0),
    claim("below Eq. (6), the potentials", measure_potential, printed=1, repaired=-1, mutated=0),
    claim("Algorithm 1, step 7", measure_step_size, printed=0.0, repaired=1.0, mutated=0.5),
    claim("Proposition 1", measure_expectations, printed=LITERAL, mutated=LITERAL._replace(class_powers=(0, 0))),
    claim(
        "Proposition 1 with smoothing, Eq. (9)",
        measure_class_expectation,
        printed=SAMPLED_SMOOTHLY,
        repaired=WEIGHTED,
        mutated=SAMPLED_SMOOTHLY._replace(class_powers=(0, 2)),
    ),
    claim(
        "Proposition 1 with smoothing, Eq. (8)",
        measure_weight_expectation,
        printed=SAMPLED_SMOOTHLY,
        repaired=WEIGHTED,
        mutated=SAMPLED_SMOOTHLY._replace(weight_powers=(1, -1)),
    ),
    claim(
        "Section 2.1, smoothing",
        measure_norm,
        printed=SAMPLED_SMOOTHLY,
        repaired=WEIGHTED,
        mutated=SAMPLED_SMOOTHLY._replace(class_powers=(0, 2)),
    ),
)
