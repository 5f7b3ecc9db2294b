"""The penalties U of norms and their conjugates U*, from above, in balls.

Both grow with every argument, so they are evaluated at upper ends s_m ≥ ‖f_m‖² and q_m ≥ q_m(α). Where the theorem
has a closed form, that is evaluated; where it has a minimum, any feasible point of the minimum bounds it from above:

    U(a)  ≤ ½ Σ_m a_m²/μ_m + R(μ)                   for weights μ that satisfy the constraint exactly
    U*(d) ≤ τ + Σ_m (price of (½ d_m² − τ)₊)        for any τ

so that μ and τ, found in double precision, need no accuracy for the bound to hold.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from flint import arb, fmpq

from .balls import Array, added, exact, exacts, filled, largest, on_simplex, power, top

LEAST_SHARE = 2.0**-100  # of a kernel that is used: a weight of zero would cost infinitely much


@dataclass(frozen=True)
class Case:
    """A formulation's own parameters as exact numbers, its groups, and the μ and τ found in double precision."""

    count: int
    own: Mapping[str, fmpq]
    groups: Sequence[int]
    mu: Array
    tau: float

    @property
    def theta(self) -> fmpq:
        return self.own["theta"]

    @property
    def cap(self) -> fmpq:
        """The box of `sm1`; a θ that rounding has put below 1/M is 1/M."""
        return max(self.theta, fmpq(1, self.count))


Above = Callable[[list[arb], Case], arb]


def case_of(formulation: Any, own: Mapping[str, Any], norms: Array, roots: Array) -> Case:
    weights = np.nan_to_num(formulation.weights(norms, roots, **own))
    used = np.maximum(weights, np.where(norms > 0, LEAST_SHARE, 0.0))
    numbers = {name: exact(value) for name, value in own.items() if name != "groups"}
    groups = [int(j) for j in own.get("groups", np.arange(len(norms)))]
    tau = formulation.multipliers(norms, roots, **own).get("tau", 0.0)
    return Case(len(norms), numbers, groups, used, float(tau))


# ------------------------------------------------------------------------------------------------------ shapes
def roots_of(squares: list[arb]) -> list[arb]:
    return [square.sqrt().upper() for square in squares]


def within_groups(values: list[arb], case: Case, join: Callable[[list[arb]], arb]) -> list[arb]:
    members = [[v for v, j in zip(values, case.groups, strict=True) if j == group] for group in set(case.groups)]
    return [top(join(part)) for part in members]


def p_norm(values: list[arb], p: fmpq) -> arb:
    return power(top(added(power(value, p) for value in values)), 1 / p)


def shared(squares: list[arb], mu: Sequence[Any]) -> arb:
    """½ Σ s_m/μ_m."""
    return added(s / arb(weight) for s, weight in zip(squares, mu, strict=True) if s != 0) / 2


def excess(halves: list[arb], tau: Any) -> list[arb]:
    """(v_m − τ)₊."""
    return [top(half - arb(tau)) for half in halves]


def conjugate_exponent(p: fmpq) -> fmpq:
    return p / (p - 1)


def half(q: list[arb]) -> list[arb]:
    return [value / 2 for value in q]


# ------------------------------------------------------------------------------------------------------- U
def box_penalty(s: list[arb], case: Case) -> arb:
    return shared(s, filled(exacts(case.mu), [case.cap] * case.count, fmpq(1)))


def power_penalty(s: list[arb], case: Case) -> arb:
    """The simplex with (c/p) Σ μ^p, c = (2(p−1)/(θp))^{p−1}; `sm2` is p = 2."""
    p, mu = case.own.get("p", fmpq(2)), on_simplex(case.mu)
    price = power(arb(2 * (p - 1) / (case.theta * p)), p - 1)
    return shared(s, mu) + price / arb(p) * added(power(arb(weight), p) for weight in mu)


def net_penalty(s: list[arb], case: Case) -> arb:
    """μ stretched until r Σμ + (1−r) Σμ² = 1."""
    r, mu = case.own["l1_ratio"], exacts(case.mu)
    linear, quadratic = arb(r * sum(mu)), arb((1 - r) * sum(weight**2 for weight in mu))
    return shared(s, mu) * (linear + (linear**2 + 4 * quadratic).sqrt()) / 2


def square_penalty(s: list[arb], case: Case) -> arb:
    sizes = added(power(value, fmpq(2, 3)) for value in s)
    return sizes * arb(3) / 2 / power(arb(4 * case.theta), fmpq(1, 3))


def ball_penalty(s: list[arb], case: Case) -> arb:
    p = case.own.get("p", fmpq(2))
    return power(top(added(power(value, p / (p + 1)) for value in s)), (p + 1) / p) / 2


def between_penalty(s: list[arb], case: Case) -> arb:
    sums = within_groups(roots_of(s), case, added)
    return p_norm(sums, case.own["s"]) ** 2 / 2


# ------------------------------------------------------------------------------------------------------- U*
def box_conjugate(q: list[arb], case: Case) -> arb:
    return arb(case.tau) + arb(case.cap) * added(excess(half(q), case.tau))


def power_conjugate(q: list[arb], case: Case) -> arb:
    exponent = conjugate_exponent(case.own.get("p", fmpq(2)))
    return arb(case.tau) + arb(case.theta) / 2 * added(power(z, exponent) for z in excess(half(q), case.tau))


def net_conjugate(q: list[arb], case: Case) -> arb:
    r, tau = case.own["l1_ratio"], exact(case.tau)
    if r == 1 or tau <= 0:
        return largest(half(q)) if r == 1 else added(half(q))  # μ ≤ 1 in the set, so Σv bounds its support
    return arb(tau) + added(z**2 for z in excess(half(q), r * tau)) / arb(4 * (1 - r) * tau)


def ball_conjugate(q: list[arb], case: Case) -> arb:
    p = case.own.get("p", fmpq(2))
    return largest(half(q)) if p == 1 else p_norm(half(q), conjugate_exponent(p))


def between_conjugate(q: list[arb], case: Case) -> arb:
    return p_norm(within_groups(roots_of(q), case, largest), conjugate_exponent(case.own["s"])) ** 2 / 2


SUM: tuple[Above, Above] = (lambda s, case: added(s) / 2, lambda q, case: added(q) / 2)

ABOVE: Mapping[str, tuple[Above, Above]] = {
    "svm": SUM,
    "sum": SUM,
    "average": (lambda s, case: case.count * added(s) / 2, lambda q, case: added(q) / (2 * case.count)),
    "l1": (lambda s, case: added(roots_of(s)) ** 2 / 2, lambda q, case: largest(q) / 2),
    "sm1": (box_penalty, box_conjugate),
    "sm2": (power_penalty, power_conjugate),
    "smp": (power_penalty, power_conjugate),
    "square": (square_penalty, lambda q, case: arb(case.theta) / 2 * added(v**2 for v in half(q))),
    "l2": (ball_penalty, ball_conjugate),
    "lp": (ball_penalty, ball_conjugate),
    "elastic": (net_penalty, net_conjugate),
    "li": (lambda s, case: largest(s), lambda q, case: added(roots_of(q)) ** 2 / 4),
    "ckl": (
        lambda s, case: largest(within_groups(roots_of(s), case, added)) ** 2,
        lambda q, case: added(within_groups(roots_of(q), case, largest)) ** 2 / 4,
    ),
    "vskl": (between_penalty, between_conjugate),
}
