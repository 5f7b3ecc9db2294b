"""Govindaraj 2009, section 5: composite kernel learning (CKL), its dual and its alternating algorithm."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial

import cvxpy as cp
import numpy as np
from numpy.typing import NDArray

from claim import Measured, claims_of
from govindaraj_setting import (
    Array,
    C,
    Hyperplane,
    combined,
    multipliers_of_margins,
    one_group,
    one_kernel_per_group,
    optimum,
    ordinary,
    solved,
    squares,
    svm,
)
from mklcvx.problem.instance import Instance
from optima import against, middle


def members(instance: Instance) -> list[NDArray[np.intp]]:
    """The kernels of every descriptor."""
    return [np.flatnonzero(instance.groups == j) for j in range(instance.groups.max() + 1)]


def ckl_optimum() -> float:
    return middle(optimum(ordinary(), "ckl"))


# --------------------------------------------------------------------------------- the primal and the dual
def composite_norm(power: int) -> float:
    """min of max_j (Σ_k ‖w_jk‖)^power + C Σξ, as printed with power 2."""
    plane, largest = Hyperplane(ordinary()), cp.Variable()
    bounds = [cp.sum(plane.norms[group]) <= largest for group in members(ordinary())]
    return plane.least(cp.power(largest, power), bounds)


def inner_minimum_first(quarter: float) -> float:
    """max over α, γ of min over λ of 1'α − quarter · Σ_j Σ_k λ_jk α'Q_jkα/γ_j: the inner minimum is at a vertex."""
    instance = ordinary()
    alpha, conditions, seen = multipliers_of_margins(instance)
    gamma, ratios = cp.Variable(instance.groups.max() + 1), cp.Variable(instance.groups.max() + 1)
    epigraph = [cp.quad_over_lin(z, gamma[j]) <= ratios[j] for z, j in zip(seen, instance.groups, strict=True)]
    conditions = [*conditions, *epigraph, cp.sum(gamma) == 1]
    return solved(cp.Maximize(cp.sum(alpha) - quarter * cp.sum(ratios)), conditions)


def outer_minimum_at(weights: Callable[[], Array]) -> float:
    """max over α, γ of 1'α − ¼ Σ_j α'(Σ_k λ_jk Q_jk)α/γ_j at given λ: an upper bound on the least over λ."""
    instance, rates = ordinary(), weights()
    alpha, conditions, seen = multipliers_of_margins(instance)
    gamma, ratios = cp.Variable(instance.groups.max() + 1), cp.Variable(instance.groups.max() + 1)
    epigraph = [
        cp.quad_over_lin(cp.hstack([np.sqrt(rates[k]) * seen[k] for k in group]), gamma[j]) <= ratios[j]
        for j, group in enumerate(members(instance))
    ]
    conditions = [*conditions, *epigraph, cp.sum(gamma) == 1]
    return solved(cp.Maximize(cp.sum(alpha) - cp.sum(ratios) / 4), conditions)


def optimal_shares() -> Array:
    return optimum(ordinary(), "ckl").multipliers["lambda"]


def equal_shares() -> Array:
    return np.full(ordinary().count, 0.5)


def equal_priority(of: str) -> Measured:
    """Largest over smallest, minus one, of the descriptors' Σ_k ‖w_jk‖ or of the single norms."""
    norms = optimum(ordinary(), "ckl").norms
    parts = np.array([norms[group].sum() for group in members(ordinary())]) if of == "descriptors" else norms
    used = float((norms > 1e-4 * norms.max()).sum())
    numbers = {"least": float(parts.min()), "greatest": float(parts.max()), "kernels in use": used}
    return Measured(float(parts.max() / max(parts.min(), 1e-9) - 1), numbers)


def closed_form(group_value: Callable[[Array], float]) -> Measured:
    """γ ∝ √D with D_j = group_value(q_jk) against the least of Eq. (13) by a cone solver, on random α."""
    instance, rng = ordinary(), np.random.default_rng(0)
    errors, last = [], {}
    for _ in range(5):
        q = squares(instance, rng.uniform(0, C, instance.samples))
        worst = np.array([q[group].max() for group in members(instance)])
        gamma = cp.Variable(len(worst))
        least = solved(cp.Minimize(worst @ cp.inv_pos(gamma)), [cp.sum(gamma) == 1])
        roots = np.sqrt([group_value(q[group]) for group in members(instance)])
        value = float(np.sum(worst / (roots / roots.sum())))
        errors.append(abs(value - least) / least)
        last = {"closed form": value, "least": least}
    return Measured(max(errors), last)


# ------------------------------------------------------------------------------------------ the algorithm
@dataclass(frozen=True)
class Alternation:
    """Factor of the combined kernel Σ_j Σ_k λ_jk K_jk/γ_j; what a group's D and next λ are, given its λ and q; and
    how many SVMs, γ ∝ √D following each, come between two steps of λ."""

    factor: float
    D: Callable[[Array, Array], float]
    shares: Callable[[Array, Array], Array]
    svms: int = 1
    rounds: int = 200


def of_the_largest(shares: Array, q: Array) -> float:
    return q.max()


def of_the_mixture(shares: Array, q: Array) -> float:
    return shares @ q


def largest_takes_all(shares: Array, q: Array) -> Array:
    return np.where(np.arange(len(q)) == np.argmax(q), 1.0, 0.0)


def in_proportion_to_norms(shares: Array, q: Array) -> Array:
    """λ_jk ∝ ‖w_jk‖ ∝ λ_jk √q_jk: the λ that makes the primal least for the w at hand."""
    parts = shares * np.sqrt(q)
    return parts / parts.sum()


LITERALLY = Alternation(1.0, of_the_largest, largest_takes_all)
WITH_HALF = Alternation(0.5, of_the_largest, largest_takes_all)
WITH_QUARTER = Alternation(0.25, of_the_largest, largest_takes_all)
GRADUALLY = Alternation(0.5, of_the_mixture, in_proportion_to_norms, svms=4, rounds=120)
GRADUALLY_WITHOUT_HALF = Alternation(1.0, of_the_mixture, in_proportion_to_norms, svms=4, rounds=60)


@cache
def trajectory(instance: Instance, way: Alternation) -> Array:
    """The dual's value 1'α − ¼ (Σ_j √D_j)² at the end of every round."""
    groups = members(instance)
    gamma = np.full(len(groups), 1 / len(groups))
    shares = 1 / np.bincount(instance.groups)[instance.groups]
    values = []
    for _ in range(way.rounds):
        for _ in range(way.svms):
            weights = way.factor * shares / gamma[instance.groups]
            alpha = svm(combined(instance, weights), instance.y)
            q = squares(instance, alpha)
            roots = np.sqrt([way.D(shares[group], q[group]) for group in groups])
            gamma = roots / roots.sum()
        for group in groups:
            shares[group] = way.shares(shares[group], q[group])
        largest = np.sqrt([q[group].max() for group in groups])
        values.append(float(alpha.sum() - largest.sum() ** 2 / 4))
    return np.array(values)


def cycles(values: Array) -> bool:
    """Whether the last rounds repeat with a period of 2 to 8 instead of settling."""
    tail, size = values[-40:], np.abs(values).max()
    moving = np.ptp(tail) > 1e-3 * size
    return bool(moving and any(np.abs(tail[p:] - tail[:-p]).max() < 1e-5 * size for p in range(2, 9)))


def convergence(way: Alternation, instances: Callable[[], list[Instance]]) -> Measured:
    """The worst of the last ten rounds, on the first instance; how many instances end in a cycle."""
    first, *others = instances()
    best = middle(optimum(first, "ckl"))
    values = trajectory(first, way)
    tail = values[-10:]
    numbers = {"last rounds from": float(tail.min()), "to": float(tail.max()), "optimum": best}
    if others:
        numbers[f"cycles of {1 + len(others)}"] = float(sum(cycles(trajectory(i, way)) for i in (first, *others)))
    return Measured(float(np.abs(tail - best).max() / best), numbers)


def a_dozen() -> list[Instance]:
    return [ordinary(seed) for seed in range(12)]


def grouped_singly() -> list[Instance]:
    return [one_kernel_per_group()]


claim = claims_of("govindaraj")
CLAIMS = (
    claim(
        "Eqs (10), (11)", against(ckl_optimum, composite_norm, ("printed primal", "certified")), printed=2, mutated=1
    ),
    claim("Section 5, priority", equal_priority, printed="descriptors", mutated="kernels"),
    claim("Eq. (12)", against(ckl_optimum, inner_minimum_first, ("dual", "primal")), printed=1 / 4, mutated=1 / 2),
    claim(
        "After Eq. (12)",
        against(partial(inner_minimum_first, 1 / 4), outer_minimum_at, ("min-max", "max-min")),
        printed=optimal_shares,
        mutated=equal_shares,
    ),
    claim("Eq. (13)", closed_form, printed=np.max, mutated=np.sum),
    claim(
        "Section 5, algorithm",
        partial(convergence, instances=a_dozen),
        printed=LITERALLY,
        repaired=GRADUALLY,
        mutated=GRADUALLY_WITHOUT_HALF,
    ),
    claim(
        "Section 5, algorithm with the dual's ½",
        partial(convergence, instances=a_dozen),
        printed=WITH_HALF,
        repaired=GRADUALLY,
        mutated=GRADUALLY_WITHOUT_HALF,
    ),
    claim(
        "Section 5, one kernel per descriptor",
        partial(convergence, instances=grouped_singly),
        printed=LITERALLY,
        repaired=WITH_HALF,
        mutated=WITH_QUARTER,
    ),
    claim(
        "Eqs (12), (5)",
        against(
            lambda: middle(optimum(ordinary(), "li")),
            lambda instance: middle(optimum(instance(), "ckl")),
            ("CKL", "Li-MKL"),
        ),
        printed=one_kernel_per_group,
        mutated=ordinary,
    ),
    claim(
        "Eq. (10), (L1-MKL)",
        against(
            lambda: middle(optimum(one_group(), "ckl")),
            lambda share: 2 * middle(optimum(ordinary(), "l1", C * share)),
            ("2 · L1-MKL(C/2)", "CKL"),
        ),
        printed=1 / 2,
        mutated=1.0,
    ),
)
