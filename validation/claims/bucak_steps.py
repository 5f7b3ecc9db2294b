"""Bucak et al. 2010, the algorithm: Eqs (7) to (9), Proposition 1 and Algorithm 1."""

from __future__ import annotations

from typing import NamedTuple

import cvxpy as cp
import numpy as np

from bucak_forms import CLASSES, PAPER, POINTS, PRICE, WINE, Array
from claim import Claim, Measured
from mklcvx.solvers.measures import saddle_gap

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


CLAIMS: tuple[Claim, ...] = (
    Claim(
        PAPER,
        "Eq. (7)",
        "Multiplicative steps with exponents −η_p ∂L/∂p and −η_γ ∂L/∂γ solve (5).",
        "Δ of the averages of 400 steps, η = 0.01, relative to Δ at the start",
        0.1,
        measure_update,
        printed=-1,
        repaired=1,
        repair="+η_γ in the exponent of γ, which ascends; Algorithm 1 has it so",
        mutated=0,
        mutation="γ not moved at all",
        remark="A sign may be noise of the conversion",
        proof="that of Theorem 1 below the tables, without its noise, up to a distance of order η",
    ),
    Claim(
        PAPER,
        "below Eq. (6), the potentials",
        "The mirror step with Φ_p = (η_p/η_γ) Σ p ln p and Φ_γ = Σ γ ln γ is (7).",
        "largest difference of a weight between the prox step, by a conic solver, and (7), at η_p = 4 η_γ",
        1e-3,
        measure_potential,
        printed=1,
        repaired=-1,
        repair="the ratio inverted, η_γ/η_p",
        mutated=0,
        mutation="no ratio",
        remark="One step size, η_γ, serves both blocks, as Φ_γ without a factor implies",
    ),
    Claim(
        PAPER,
        "Algorithm 1, step 7",
        "Algorithm 1 makes the steps of (7); it moves p with η_γ.",
        "largest difference of a weight after one step, at η_p = 4 η_γ",
        1e-9,
        measure_step_size,
        printed=0.0,
        repaired=1.0,
        repair="η_p for p",
        mutated=0.5,
        mutation="the geometric mean of the two step sizes",
        remark="No difference where η_p = η_γ, as in all of the paper's experiments",
    ),
    Claim(
        PAPER,
        "Proposition 1",
        "With a class drawn from γ, (8) and (9) are unbiased for (6).",
        "largest difference between expectation and gradient, relative, without smoothing",
        1e-10,
        measure_expectations,
        printed=LITERAL,
        mutated=LITERAL._replace(class_powers=(0, 0)),
        mutation="(9) not divided by γ_k",
    ),
    Claim(
        PAPER,
        "Proposition 1 with smoothing, Eq. (9)",
        "Drawing the class from γ' = (1−δ)γ + δ/m leaves (9), divided by γ_k, unbiased.",
        "largest difference between expectation and gradient, relative, at δ = 0.2",
        1e-10,
        measure_class_expectation,
        printed=SAMPLED_SMOOTHLY,
        repaired=WEIGHTED,
        repair="divided by γ'_k",
        mutated=SAMPLED_SMOOTHLY._replace(class_powers=(0, 2)),
        mutation="divided by γ'_k squared",
    ),
    Claim(
        PAPER,
        "Proposition 1 with smoothing, Eq. (8)",
        "Drawing the class from γ' leaves (8) unbiased for ∂L/∂p at γ.",
        "largest difference between expectation and gradient, relative, at δ = 0.2",
        1e-10,
        measure_weight_expectation,
        printed=SAMPLED_SMOOTHLY,
        repaired=WEIGHTED,
        repair="(8) multiplied by γ_k/γ'_k",
        mutated=SAMPLED_SMOOTHLY._replace(weight_powers=(1, -1)),
        mutation="(8) multiplied by γ'_k/γ_k",
        remark="Without the weight it is unbiased for the gradient at γ', another point",
    ),
    Claim(
        PAPER,
        "Section 2.1, smoothing",
        "Sampling from γ', with γ left as it is, bounds the norm of (9), by (m/δ)·max H since γ'_k ≥ δ/m.",
        "largest entry of (9) relative to (m/δ)·max H, with γ_k down to 1e-8",
        1.0,
        measure_norm,
        printed=SAMPLED_SMOOTHLY,
        repaired=WEIGHTED,
        repair="(9) divided by γ'_k, the probability with which k is drawn",
        mutated=SAMPLED_SMOOTHLY._replace(class_powers=(0, 2)),
        mutation="divided by γ'_k squared",
        proof="H_k ≤ max H and γ'_k ≥ δ/m",
    ),
)
