"""Bucak et al. 2010, how fast: Corollary 1 and what follows from it, with Theorem 1's bound as printed."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from bucak_theorem import Setting, printed, printed_factor, proved
from claim import Measured, claims_of

# ------------------------------------------------------------------------------------------ Corollary 1
MANY = np.geomspace(1e4, 1e12, 9)  # numbers of classes
DELTAS = np.geomspace(1e-3, 1.0, 31)
KERNEL_COUNT, SAMPLES, STEPS = 10, 100, 1e6


def setting(classes: float, delta: float) -> Setting:
    """With λ0 = C = 1."""
    return Setting(classes, KERNEL_COUNT, delta, SAMPLES, SAMPLES)


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
        bound = printed(setting(m, m**exponent), rate / (SAMPLES * m ** (2 / 3)), STEPS)
        ratios.append(bound / (SAMPLES * rate))
    return Measured(abs(growth(ratios)), {"growth of the ratio": growth(ratios)})


def least_bound(classes: float) -> float:
    """Theorem 1's bound, least over η_γ and over δ ∈ (0, 1]."""
    settings = [setting(classes, delta) for delta in DELTAS]
    return min(printed(at, math.sqrt(at.logs / (STEPS * printed_factor(at))), STEPS) for at in settings)


def proved_bound(classes: float) -> float:
    """The proved one at δ = ½, so late that the η which balances its terms is short."""
    at, late = setting(classes, 0.5), 1e20
    return proved(at, math.sqrt(at.logs / (0.75 * classes * late)) / SAMPLES, late)


def measure_sublinearity(exponent: float) -> Measured:
    roots = [math.sqrt(setting(m, 1.0).logs) for m in MANY]
    found, other = (
        growth([bound(m) / root for m, root in zip(MANY, roots, strict=True)]) for bound in (least_bound, proved_bound)
    )
    numbers = {"exponent of m": found, "stated": exponent, "in the bound that is proved, late": other}
    return Measured(abs(found - exponent), numbers)


def measure_cost(powers: tuple[float, float]) -> Measured:
    """Steps, each with one SVM, until Corollary 1's rate n m^⅓ √(ln m/T) is at 0.01, against m^a (ln m)^b."""
    steps = [(SAMPLES * m ** (1 / 3) * math.sqrt(math.log(m)) / 0.01) ** 2 for m in MANY]
    ratios = [t / (m ** powers[0] * math.log(m) ** powers[1]) for t, m in zip(steps, MANY, strict=True)]
    left = growth(ratios)
    return Measured(abs(left), {"exponent of m in the steps": growth(steps), "left over": left})


claim = claims_of("bucak")
CLAIMS = (
    claim(
        "Corollary 1, δ",
        measure_probability,
        printed=lambda m: m ** (2 / 3),
        mutated=lambda m: m ** (1 / 3),
        control=lambda m: m ** (-2 / 3),
    ),
    claim("Corollary 1, arithmetic", measure_rate, printed=2 / 3, mutated=-2 / 3),
    claim("Corollary 1, sublinear", measure_sublinearity, printed=1 / 3, repaired=1.0, mutated=0.0),
    claim(
        "Abstract and below Corollary 1, the complexity",
        measure_cost,
        printed=(1 / 3, 0.5),
        repaired=(2 / 3, 1.0),
        mutated=(1 / 3, 1.0),
    ),
)
