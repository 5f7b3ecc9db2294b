"""Kumar et al. 2012, Section 3: good kernels, Lemmas 3.2 and 3.3, Theorems 3.1 and 3.4.

Distributions are finite, with features φ(x) in the plane, so that expectations are sums and classifiers can be listed:
directions times radii. The K-classifier is h(z) = z₁ + z₂ for the kernels z_m = φ_m(x)φ_m(x'), the induced kernel φ'φ.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from claim import Measured, claims_of
from kumar_method import Array

ANGLES = np.linspace(0, 2 * np.pi, 360, endpoint=False)
DIRECTIONS = np.column_stack([np.cos(ANGLES), np.sin(ANGLES)])


def hinge(margins: Array) -> Array:
    return np.maximum(0.0, 1.0 - margins)


@dataclass(frozen=True)
class Distribution:
    """Atoms (φ(x), y) with probabilities; `signed` holds y φ(x)."""

    signed: Array
    probability: Array
    margin: float

    @cached_property
    def radius(self) -> float:
        """R: h(z_xx) ≤ R², and h(z_xx') no more, by Cauchy and Schwarz."""
        return float(np.linalg.norm(self.signed, axis=1).max())

    @cached_property
    def pair_losses(self) -> Array:
        return hinge(self.signed @ self.signed.T / self.margin)

    @cached_property
    def pair_loss(self) -> float:
        """HL, the expected K-space hinge loss."""
        return float(self.probability @ self.pair_losses @ self.probability)

    @cached_property
    def directions(self) -> Array:
        """The unit vectors of the kernel's own space, which has only two of them where the features are collinear."""
        _, sizes, axes = np.linalg.svd(self.signed)
        return DIRECTIONS if sizes[1] > 1e-9 * sizes[0] else np.array([axes[0], -axes[0]])


def lopsided() -> Distribution:
    """One dimension: y x = 1 with probability 0.07 and −0.22 otherwise."""
    return Distribution(np.array([[1.0, 0.0], [-0.22, 0.0]]), np.array([0.07, 0.93]), 0.05)


def random(seed: int, size: float, atoms: int = 12) -> Distribution:
    """Two noisy classes about opposite points, some atoms on the wrong side; `size` is about R."""
    rng = np.random.default_rng(seed)
    signed = size * (np.array([0.6, 0.0]) + 0.3 * rng.normal(size=(atoms, 2)))
    signed[: atoms // 6] *= -1
    return Distribution(signed, rng.dirichlet(np.ones(atoms)), 0.3 * size**2)


DISTRIBUTIONS = (lopsided(), random(1, 1.0), random(2, 3.0), random(3, 0.5), random(4, 3.0))
BALL = np.concatenate([radius * DIRECTIONS for radius in np.linspace(0, 1, 41)])


# ------------------------------------------------------------------------- good kernels and Lemma 3.2
class Good(NamedTuple):
    """Which norms w may have, and the margin γ/R^power."""

    whole_ball: bool
    power: float


def measure_lemma(good: Good) -> Measured:
    """By how much the least loss of an admissible w exceeds HL; the lopsided distribution and four random ones."""
    excesses, numbers = [], {}
    for place, law in enumerate(DISTRIBUTIONS):
        mean = law.probability @ law.signed  # the proof's own classifier is this, divided by R
        candidates = np.vstack([BALL, mean / law.radius]) if good.whole_ball else law.directions
        losses = hinge(candidates @ law.signed.T * law.radius**good.power / law.margin) @ law.probability
        excesses.append(float(losses.min()) - law.pair_loss)
        if place == 0:
            numbers = {"HL, lopsided": law.pair_loss, "least loss, lopsided": float(losses.min())}
    return Measured(max(0.0, *excesses), {**numbers, "largest excess": max(excesses)})


# ----------------------------------------------------------------------- Lemma 3.3 and Theorem 3.1
CONFIDENCE = 0.1  # δ
SIZES = (5, 20, 80, 1000)


def errors_after_training(law: Distribution, margin: float, size: int, runs: int = 300) -> Array:
    """P[y f̂(x) ≤ 0] of the minimiser over the ball of the mean hinge loss, for `runs` samples of that size."""
    counts = np.random.default_rng(size).multinomial(size, law.probability, size=runs)
    scores = BALL @ law.signed.T
    chosen = (counts @ hinge(scores / margin).T).argmin(axis=1)
    return (scores[chosen] <= 0) @ law.probability


def measure_learning(floor: float) -> Measured:
    """Lemma 3.3 with floor·ε and 1 for the constant; ε is the least expected loss over the ball."""
    rates, gaps = [], []
    for law in DISTRIBUTIONS:
        margin = law.margin / law.radius
        epsilon = float((hinge(BALL @ law.signed.T / margin) @ law.probability).min())
        for size in SIZES:
            root = law.radius / margin * math.sqrt(math.log(1 / CONFIDENCE) / size)
            errors = errors_after_training(law, margin, size)
            rates.append(float(np.mean(errors > floor * epsilon + root)))
            gaps.append(float(errors.mean()) - epsilon)
    numbers = {"largest rate of violations": max(rates), "largest mean error − ε": max(gaps)}
    return Measured(max(rates), numbers)


def measure_generalisation(floor: float) -> Measured:
    """Theorem 3.1 with floor·HL and 1 for the constant, learning as in Lemma 3.3 at margin γ/R."""
    rates, gaps = [], []
    for law in DISTRIBUTIONS:
        for size in SIZES:
            root = law.radius**2 / law.margin * math.sqrt(math.log(1 / CONFIDENCE) / size)
            errors = errors_after_training(law, law.margin / law.radius, size)
            rates.append(float(np.mean(errors > floor * law.pair_loss + root)))
            gaps.append(float(errors.mean()) - law.pair_loss)
    numbers = {"largest rate of violations": max(rates), "largest mean error − HL": max(gaps)}
    return Measured(max(rates), numbers)


def measure_composition(power: int) -> Measured:
    """Lemma 3.3's root at Lemma 3.2's margin γ/R, against √(R^power ln(1/δ)/(γ² n))."""
    ratios = []
    for law in DISTRIBUTIONS:
        from_lemmas = law.radius / (law.margin / law.radius)
        ratios.append(from_lemmas / math.sqrt(law.radius**power / law.margin**2))
    return Measured(max(abs(ratio - 1) for ratio in ratios), {"least ratio": min(ratios), "largest": max(ratios)})


# ----------------------------------------------------------------------------------------- Theorem 3.4
def deviation(law: Distribution, size: int, confidence: float, factor: float = 2.0) -> float:
    bound = 1 + law.radius**2 / law.margin
    return math.sqrt(factor * bound**2 * math.log(1 / confidence) / size)


def mean_pair_losses(law: Distribution, size: int, runs: int = 2000) -> Array:
    """2/(n(n−1)) Σ_{i<j} of the hinge losses, for `runs` samples."""
    counts = np.random.default_rng(size).multinomial(size, law.probability, size=runs).astype(float)
    ordered = np.einsum("ra,ab,rb->r", counts, law.pair_losses, counts) - counts @ np.diag(law.pair_losses)
    return ordered / (size * (size - 1))


def measure_concentration(root: float) -> Measured:
    """Rates of violation relative to δ, for δ = 0.05, 0.3 and 0.7."""
    ratios, biases = [], []
    for law in DISTRIBUTIONS:
        for size in (5, 20, 80):
            means = mean_pair_losses(law, size)
            biases.append(abs(float(means.mean()) - law.pair_loss) / (float(means.std()) / math.sqrt(len(means))))
            for confidence in (0.05, 0.3, 0.7):
                bounds = means + root * deviation(law, size, confidence)
                ratios.append(float(np.mean(law.pair_loss > bounds)) / confidence)
    numbers = {"largest rate of violations/δ": max(ratios), "largest bias, in standard errors": max(biases)}
    return Measured(max(ratios), numbers)


def measure_constant(factor: float) -> Measured:
    """The bounded differences that the root stands on: samples that all agree, one replaced by its opposite."""
    size, law = 8, Distribution(np.array([[1.0, 0.0], [-1.0, 0.0]]), np.array([0.5, 0.5]), 0.5)
    agreeing = np.tile(law.signed[0], (size, 1))
    replaced = agreeing.copy()
    replaced[0] *= -1
    pairs = np.triu_indices(size, k=1)
    before, after = (hinge((s @ s.T)[pairs] / law.margin).mean() for s in (agreeing, replaced))
    needed = math.sqrt(size * (after - before) ** 2 * math.log(1 / CONFIDENCE) / 2)  # McDiarmid
    stated = deviation(law, size, CONFIDENCE, factor)
    return Measured(abs(stated / needed - 1), {"root": stated, "McDiarmid's": needed})


def measure_footnote(learned_on_it: bool) -> Measured:
    """x ∈ {−1,+1}^p without any relation to y, K_m = x_m x'_m: HL = 1 for each kernel, R = γ = 1.

    h is the kernel with the least loss on one sample; the bound is evaluated on that sample or on another. A kernel's
    loss depends only on the number of samples with y x_m = 1, which is binomial: a pair disagrees, at a loss of 2, if
    it has one of these and one other.
    """
    rng, size, confidence, kernels = np.random.default_rng(5), 16, 0.2, 2**18
    root = math.sqrt(2 * (1 + 1) ** 2 * math.log(1 / confidence) / size)
    violations = []
    for _ in range(30):
        training, fresh = rng.binomial(size, 0.5, size=kernels), rng.binomial(size, 0.5, size=kernels)
        chosen = (training * (size - training)).argmin()
        agreeing = int((training if learned_on_it else fresh)[chosen])
        loss = 2 * agreeing * (size - agreeing) / math.comb(size, 2)
        violations.append(loss + root < 1.0)
    rate = float(np.mean(violations))
    return Measured(rate / confidence, {"rate of violations": rate, "δ": confidence, "root": root})


claim = claims_of("kumar")
CLAIMS = (
    claim(
        "Definition and Lemma 3.2",
        measure_lemma,
        printed=Good(whole_ball=False, power=1.0),
        repaired=Good(whole_ball=True, power=1.0),
        mutated=Good(whole_ball=True, power=-1.0),
    ),
    claim("Lemma 3.3", measure_learning, tolerance=CONFIDENCE, printed=1.0, mutated=0.0),
    claim("Theorem 3.1", measure_generalisation, tolerance=CONFIDENCE, printed=1.0, mutated=0.0),
    claim("Theorem 3.1 from the lemmas", measure_composition, printed=4, mutated=2),
    claim("Theorem 3.4", measure_concentration, printed=1.0, mutated=0.0),
    claim("Theorem 3.4, the constant", measure_constant, printed=2.0, mutated=0.5),
    claim("Footnote 4", measure_footnote, printed=False, mutated=True),
)
