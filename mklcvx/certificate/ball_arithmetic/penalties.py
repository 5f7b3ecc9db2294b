"""Regularisers of weights, R and R*, and penalties of norms where there are no weights, U and U*, in balls.

    R(μ)    for weights that are made to satisfy the constraint exactly: any such μ gives an upper bound
    R*(v)   from above; where it is a minimum over τ, any τ gives a lower bound, so that τ needs no accuracy

`li`, `ckl` and `vskl` have U(a) and U*(d) of the norms a_m and of the roots d_m = √max(q_m, 0). All of them grow with
every argument, so that they may be evaluated at upper ends.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np
from flint import arb, fmpq

from .balls import (
    ONE,
    ZERO,
    Array,
    added,
    exact,
    exacts,
    fraction,
    largest,
    on_simplex,
    power,
    rounded_down,
    top,
    total,
)

LEAST_SHARE = 2.0**-100  # of a kernel that is used: a weight of zero would cost infinitely much
GRID_BITS = 160  # weights that were divided are rounded down to multiples of 2^−GRID_BITS


class Case:
    """A formulation's own parameters as exact numbers, the number of kernels and their groups."""

    def __init__(self, name: str, own: Mapping[str, Any], count: int) -> None:
        self.name, self.count = name, count
        self.own = {key: exact(value) for key, value in own.items() if key != "groups"}
        self.groups = [int(j) for j in own.get("groups", np.arange(count))]
        self.theta, self.p = self.own.get("theta", ONE), self.own.get("p", fmpq(2))

    @property
    def cap(self) -> fmpq:
        """The box of `sm1`; a θ that rounding has put below 1/M is the next multiple of 2⁻⁵² that is not."""
        return max(self.theta, fmpq(-(-(2**52) // self.count), 2**52))

    # ------------------------------------------------------------------------------------------------ weights
    def feasible(self, weights: Array, used: Iterable[bool]) -> list[fmpq]:
        """The weights, moved to where R is finite; a kernel that is used gets a positive weight."""
        if self.name in ("svm", "sum"):
            return [ONE] * self.count
        if self.name == "average":
            return [fmpq(1, self.count)] * self.count
        least = np.where(np.fromiter(used, dtype=bool, count=self.count), LEAST_SHARE, 0.0)
        given = np.maximum(np.nan_to_num(weights, posinf=0.0), least)
        if self.name in ("l1", "sm1", "sm2", "smp"):
            return on_simplex(given, self.cap if self.name == "sm1" else ONE)
        mu = exacts(given)
        if self.name in ("square", "group_lasso"):
            return mu
        if self.name == "block_elastic":
            return self._with_shares([min(weight, ONE) for weight in mu], self.own["l1_ratio"])
        if self.name != "elastic":
            return shrunk(mu, p_norm([arb(weight) for weight in mu], self.p))
        r = self.own["l1_ratio"]
        linear, quadratic = arb(r * total(mu)), arb((1 - r) * total(weight**2 for weight in mu))
        return shrunk(mu, (linear + (linear**2 + 4 * quadratic).sqrt()) / 2)

    def _with_shares(self, mu: list[fmpq], r: fmpq) -> list[fmpq]:
        """Weights of `block_elastic`, whose shares rμ/(1 − (1−r)μ) are divided by their sum where that exceeds one."""
        shares = [r * weight / (1 - (1 - r) * weight) for weight in mu] if r > 0 else []
        if r == 0 or total(shares) <= 1:
            return mu if r > 0 else [ONE] * self.count
        shares = [share / total(shares) for share in shares]
        return rounded_to_grid([share / (r + (1 - r) * share) for share in shares])

    def price(self, mu: list[fmpq]) -> arb:
        """R(μ)."""
        if self.name == "group_lasso":
            return arb(self.own["lam"] ** 2 / 2 * total(mu))
        if self.name in ("sm2", "smp"):
            p = self.p
            factor = power(arb(2 * (p - 1) / (self.theta * p)), p - 1)
            return factor / arb(p) * added(power(arb(weight), p) for weight in mu)
        return arb(total(weight**2 for weight in mu) / (2 * self.theta)) if self.name == "square" else arb(0)

    # --------------------------------------------------------------------------------------------- conjugates
    def conjugate(self, q: list[arb], taus: Iterable[float]) -> arb:
        """R*(½q), or U*(√q), from above: the least of what some τ give."""
        found = [CONJUGATES[self.name](q, self, exact(tau)) for tau in taus]
        finite = [value for value in found if value.is_finite()]
        return min(finite, key=lambda value: value.upper(), default=arb.pos_inf())

    def shortened(self, q: list[arb]) -> fmpq:
        """A t ≤ 1 with a finite conjugate at t²q, exactly: an α may see too much of a kernel of `group_lasso`."""
        if self.name != "group_lasso" or self.conjugate(q, [0.0]).is_finite():
            return ONE
        shorter = (arb(self.own["lam"]) / top(largest(q)).sqrt().upper()).lower()
        return exact(rounded_down(shorter * (1 - 2.0**-50)))  # less than this is the radius of the next q

    def penalty(self, a: list[arb]) -> arb:
        """U(a) of formulations without weights."""
        return PENALTIES[self.name](a, self)


def shrunk(mu: list[fmpq], size: arb) -> list[fmpq]:
    """μ divided by the size where that exceeds one."""
    above = fraction(size.upper())
    if above <= 1:
        return mu
    return rounded_to_grid([weight / fmpq(above.numerator, above.denominator) for weight in mu])


def rounded_to_grid(mu: list[fmpq]) -> list[fmpq]:
    """μ, rounded down."""
    return [fmpq((int(weight.p) << GRID_BITS) // int(weight.q), 1 << GRID_BITS) for weight in mu]


# ------------------------------------------------------------------------------------------------------ shapes
def half(q: list[arb]) -> list[arb]:
    return [value / 2 for value in q]


def positive(values: list[arb]) -> list[arb]:
    return [top(value) for value in values]


def roots_of(squares: list[arb]) -> list[arb]:
    return [top(square).sqrt().upper() for square in squares]


def within_groups(values: list[arb], case: Case, join: Callable[[list[arb]], arb]) -> list[arb]:
    members = [[v for v, j in zip(values, case.groups, strict=True) if j == group] for group in set(case.groups)]
    return [top(join(part)) for part in members]


def largest_roots(q: list[arb], case: Case) -> list[arb]:
    """The largest √q_m of every group."""
    return within_groups(roots_of(q), case, largest)


def p_norm(values: list[arb], p: fmpq) -> arb:
    return power(top(added(power(value, p) for value in values)), 1 / p)


def excess(halves: list[arb], tau: fmpq) -> list[arb]:
    """(v_m − τ)₊."""
    return [top(value - arb(tau)) for value in halves]


def conjugate_exponent(p: fmpq) -> fmpq:
    return p / (p - 1)


# ------------------------------------------------------------------------------------------------- R*, U* and U
def power_conjugate(q: list[arb], case: Case, tau: fmpq) -> arb:
    exponent = conjugate_exponent(case.p)
    return arb(tau) + arb(case.theta) / 2 * added(power(z, exponent) for z in excess(half(q), tau))


def net_conjugate(q: list[arb], case: Case, tau: fmpq) -> arb:
    r = case.own["l1_ratio"]
    if r == 1:
        return top(largest(half(q)))  # the weights may be zero
    if tau <= ZERO:
        return added(positive(half(q)))  # μ ≤ 1 in the set, so Σv₊ bounds its support
    return arb(tau) + added(z**2 for z in excess(half(q), r * tau)) / arb(4 * (1 - r) * tau)


def block_net_conjugate(q: list[arb], case: Case, tau: fmpq) -> arb:
    r, roots = case.own["l1_ratio"], roots_of(q)
    if r == 1 or r == 0:
        return largest(roots) ** 2 / 2 if r == 1 else added(q) / 2
    level = max(tau, ZERO)
    return arb(level**2 / (2 * r)) + added(z**2 for z in excess(roots, level)) / arb(2 * (1 - r))


def ball_conjugate(q: list[arb], case: Case, tau: fmpq) -> arb:
    v = positive(half(q))
    return largest(v) if case.p == 1 else p_norm(v, conjugate_exponent(case.p))


CONJUGATES: Mapping[str, Callable[[list[arb], Case, fmpq], arb]] = {
    "svm": lambda q, case, tau: added(q) / 2,
    "sum": lambda q, case, tau: added(q) / 2,
    "average": lambda q, case, tau: added(q) / (2 * case.count),
    "l1": lambda q, case, tau: largest(q) / 2,
    "sm1": lambda q, case, tau: arb(tau) + arb(case.cap) * added(excess(half(q), tau)),
    "sm2": power_conjugate,
    "smp": power_conjugate,
    "square": lambda q, case, tau: arb(case.theta) / 2 * added(v**2 for v in positive(half(q))),
    "l2": ball_conjugate,
    "lp": ball_conjugate,
    "elastic": net_conjugate,
    "block_elastic": block_net_conjugate,
    "group_lasso": lambda q, case, tau: arb(0) if largest(q) <= arb(case.own["lam"] ** 2) else arb.pos_inf(),
    "li": lambda q, case, tau: added(roots_of(q)) ** 2 / 4,
    "ckl": lambda q, case, tau: added(largest_roots(q, case)) ** 2 / 4,
    "vskl": lambda q, case, tau: p_norm(largest_roots(q, case), conjugate_exponent(case.own["s"])) ** 2 / 2,
}

PENALTIES: Mapping[str, Callable[[list[arb], Case], arb]] = {
    "li": lambda a, case: largest(a) ** 2,
    "ckl": lambda a, case: largest(within_groups(a, case, added)) ** 2,
    "vskl": lambda a, case: p_norm(within_groups(a, case, added), case.own["s"]) ** 2 / 2,
}
