"""Norms a_m = ‖f_m‖ and roots d_m = √q_m of an optimum, for every penalty, and what they cost.

At an optimum U(a) + U*(d) = Σ a_m d_m, with weights μ_m = a_m/d_m. A plan is made for a given Σ a_m d_m, or for less:
that sum is Σ_i β_i f(x_i), and labels leave little choice of it. `priced` evaluates R(μ) and R*(½q) exactly.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from flint import fmpq

from planted_losses import fraction, power

ZERO = fmpq(0)


class Plan(NamedTuple):
    """Roots d of all kernels, norms a of those that are used, the first ones; the last of these is a power of two."""

    roots: list[Fraction]
    norms: list[Fraction]
    own: dict[str, float]

    @property
    def total(self) -> Fraction:
        return sum((a * d for a, d in zip(self.norms, self.roots, strict=False)), Fraction(0))


def root_below(x: Fraction, parts: int = 4) -> Fraction:
    """A multiple of a power of two whose square is at most x."""
    while True:
        found = Fraction(math.isqrt(int(x * parts**2)), parts)
        if found:
            return found
        parts *= 4


def split(rng: np.random.Generator, total: Fraction, count: int) -> list[Fraction]:
    """Positive parts of a total, the last a power of two."""
    last = Fraction(2) ** (math.floor(math.log2(total)) - (int(rng.integers(1, 3)) if count > 1 else 0))
    shares = rng.integers(1, 4, size=count - 1) if count > 1 else []
    steps = [int(s) for s in shares]
    unit = (total - last) / (1 << max(sum(steps), 1).bit_length())
    parts = [unit * s for s in steps]
    if parts:
        parts[0] += total - last - sum(parts)
    return [*parts, last] if count > 1 else [total]


def below_one(rng: np.random.Generator) -> Fraction:
    return fraction(rng, 0, 7)


def l1(rng: np.random.Generator, used: int, rest: int, budget: Fraction) -> Plan:
    top = Fraction(2) ** math.floor(math.log2(root_below(budget))) if used == 1 else root_below(budget)
    return Plan([top] * used + [top * below_one(rng) for _ in range(rest)], split(rng, top, used), {})


def sum_(rng: np.random.Generator, used: int, rest: int, budget: Fraction, each: int = 1) -> Plan:
    """`each` is the number of kernels for the mean of them."""
    size = Fraction(2) ** math.floor(math.log2(root_below(budget / (each * used))))
    norms = [*(size * fraction(rng, 1, 8) for _ in range(used - 1)), size]
    return Plan([each * a for a in norms], norms, {})


def average(rng: np.random.Generator, used: int, rest: int, budget: Fraction) -> Plan:
    return sum_(rng, used, rest, budget, used)


def group_lasso(rng: np.random.Generator, used: int, rest: int, budget: Fraction) -> Plan:
    lam = power(rng, -1, 1)
    total = budget / lam
    if used == 1:
        total = Fraction(2) ** math.floor(math.log2(total))
    return Plan(
        [lam] * used + [lam * below_one(rng) for _ in range(rest)], split(rng, total, used), {"lam": float(lam)}
    )


def block_elastic(rng: np.random.Generator, used: int, rest: int, budget: Fraction) -> Plan:
    r = fraction(rng, 1, 3, 4)
    sizes = [*(fraction(rng, 1, 4, 1) for _ in range(used - 1)), Fraction(1)]
    tau = r * sum(sizes)
    roots = [tau + (1 - r) * a for a in sizes]
    total = sum(a * d for a, d in zip(sizes, roots, strict=True))
    unit = Fraction(2) ** math.floor(math.log2(budget / total) / 2)
    roots += [tau * below_one(rng) for _ in range(rest)]
    return Plan([d * unit for d in roots], [a * unit for a in sizes], {"l1_ratio": float(r)})


def square(rng: np.random.Generator, used: int, rest: int, budget: Fraction) -> Plan:
    theta = power(rng, -1, 1)
    size = Fraction(2) ** math.floor(math.log2(budget / (theta * used)) / 4)
    roots = [*(size * fraction(rng, 1, 4, 4) for _ in range(used - 1)), size]
    return Plan(roots, [theta * d**3 / 2 for d in roots], {"theta": float(theta)})


def sm1(rng: np.random.Generator, used: int, rest: int, budget: Fraction) -> Plan:
    """The first kernel has the largest weight, ½; the others share as much."""
    base = Fraction(2) ** math.floor(math.log2(budget / 4) / 2)
    first = base * fraction(rng, 9, 12)
    if used == 1:
        return l1(rng, used, rest, budget)._replace(own={"theta": 1.0})
    roots = [first, *[base] * (used - 1), *(base * below_one(rng) for _ in range(rest))]
    return Plan(roots, [first / 2, *split(rng, base / 2, used - 1)], {"theta": 0.5})


PLANS: dict[str, Callable[[np.random.Generator, int, int, Fraction], Plan]] = {
    "svm": sum_, "sum": sum_, "average": average, "l1": l1, "sm1": sm1, "square": square, "group_lasso": group_lasso,
    "block_elastic": block_elastic,
}  # fmt: skip
ALL_USED = ("svm", "sum", "average", "square")  # no kernel is left out


# ------------------------------------------------------------------------------------------------------ exact values
class Priced(NamedTuple):
    """R(μ), and at least R*(½q)."""

    value: fmpq
    conjugate: fmpq


def priced(name: str, mu: Sequence[fmpq], q: Sequence[fmpq], d: Sequence[fmpq], own: dict[str, fmpq]) -> Priced:
    """μ is checked to lie in the domain of R. Of `block_elastic` d² must be q."""
    halves, assured = [x / 2 for x in q], [min(mu) >= 0]
    value, conjugate = ZERO, sum(halves, ZERO)
    if name in ("svm", "sum"):
        assured.append(all(m == 1 for m in mu))
    elif name == "average":
        assured.append(all(m * len(mu) == 1 for m in mu))
        conjugate = conjugate / len(mu)
    elif name in ("l1", "sm1", "ml_sum", "ml_minimax"):
        cap = own.get("theta", fmpq(1))
        assured.append(sum(mu, ZERO) == 1 and max(mu) <= cap)
        conjugate = min(tau + cap * sum((v - tau for v in halves if v > tau), ZERO) for tau in halves)
    elif name == "square":
        value = sum((m * m for m in mu), ZERO) / (2 * own["theta"])
        conjugate = own["theta"] / 2 * sum((v * v for v in halves), ZERO)
    elif name == "group_lasso":
        price = own["lam"] * own["lam"] / 2
        assured.append(max(halves) <= price)
        value, conjugate = price * sum(mu, ZERO), ZERO
    else:
        r = own["l1_ratio"]
        assured.append(sum((r * m / (1 - (1 - r) * m) for m in mu), ZERO) <= 1 and all(m <= 1 for m in mu))
        assured.append(all(x * x == y for x, y in zip(d, q, strict=True)))
        tau = r * sum((m * x for m, x in zip(mu, d, strict=True)), ZERO)
        conjugate = tau * tau / (2 * r) + sum(((x - tau) ** 2 for x in d if x > tau), ZERO) / (2 * (1 - r))
    assert all(assured), f"{name}: outside of its domain"
    return Priced(value, conjugate)
