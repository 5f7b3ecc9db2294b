"""Single tasks whose weights have prices: the points of `gmkl`, and what they prove.

A dual point is (α, δ), a primal one (f, μ); an α alone stands for δ = 0, functions alone for the weights that suit
them best. R(μ) = σ'μ + (λ/2) ‖μ‖² where Aμ ≥ p, as `gmkl` states it; own parameters are `sigma`, `lam` (0 for l1), `A`
and `p`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from ...errors import InputError
from ...formulations import Implied, Points, Task
from ...formulations._dual import DualProgram
from ...formulations._formulation import Parameter, as_choice
from ...formulations._primal import PrimalProgram
from ...formulations._roots import increasing_roots
from ...formulations.families.single_task import OnWeights
from ...formulations.losses import Risk
from ...problem.instance import Instance
from ...problem.stack import Array

REGULARISERS = ("l1", "l2")
ROUNDING = 1e-12
NOTHING = 1e-12  # a residual that counts as none: the constraints contradict each other
LAM = Parameter("lam", "price of ½ ‖μ‖² (l2)", "λ > 0", lambda v, _: v > 0, lambda _: 1.0, "1")


class PricedAlpha(NamedTuple):
    alpha: Array
    delta: Array


class Weighted(NamedTuple):
    """f_m = K_m c_m and the weights μ that go with it."""

    coefficients: Any
    mu: Array


class PricedLower(NamedTuple):
    value: float
    alpha: Array
    roots: Array
    largest_term: float
    delta: Array


class WeightedUpper(NamedTuple):
    value: float
    coefficients: Array
    norms: Array
    risk: Risk
    largest_term: float
    mu: Array


@dataclass(frozen=True)
class PricedPrimal(PrimalProgram):
    mu: Any
    within: Any


@dataclass(frozen=True)
class PricedDual(DualProgram):
    delta: Any


def best_weights(a: Array, sigma: Array, lam: float, A: Array, p: Array) -> Array:
    """The least ½ a²/μ + σμ + (λ/2) μ² of every kernel, A aside."""
    return _at_prices(a, sigma, lam, np.zeros(len(a)))


def _at_prices(a: Array, prices: Array, lam: float, otherwise: Array) -> Array:
    """The same at prices that may not be positive; `otherwise` where there is then no least."""
    if lam == 0:
        return np.divide(a, np.sqrt(2 * np.maximum(prices, 0.0)), out=otherwise.copy(), where=prices > 0)
    highest = np.cbrt(a**2 / (2 * lam)) + np.maximum(-prices, 0.0) / lam
    return increasing_roots(lambda mu: lam * mu**3 + prices * mu**2 - a**2 / 2, highest)


def penalty(a: Array, sigma: Array, lam: float, A: Array, p: Array, mu: Array | None = None) -> tuple[float, Array]:
    """½ Σ a²/μ + R(μ) at feasible weights: those given, or the best ones, moved to where Aμ ≥ p."""
    mu = best_weights(a, sigma, lam, A, p) if mu is None else mu
    within = nearest_within(mu, A, p)
    if within is None or (a[within == 0] > 0).any():
        return np.inf, mu
    used = within > 0
    return float(np.sum(a[used] ** 2 / within[used]) / 2 + sigma @ within + lam / 2 * (within @ within)), within


class Priced(OnWeights):
    """Its points carry more than those of other single tasks: δ beside α, and μ beside the functions."""

    @property
    def described_parameters(self) -> list[tuple[str, str]]:
        own = [
            ("regulariser", "l1 or l2; default l1"),
            ("sigma", "prices of the weights, one or one per kernel; σ > 0 (l2: σ ≥ 0); default 1 (l2: 0)"),
            LAM.described,
            ("A", "rows of the constraints Aμ ≥ p; default none"),
            ("p", "their least values; default none"),
        ]
        return [*super().described_parameters, *own]

    def task(self, instance: Instance, given: Mapping[str, Any]) -> tuple[Task, dict[str, Any]]:
        """`given` may have regulariser, sigma, lam, A and p beside what every single task takes."""
        names = ("regulariser", "sigma", "lam", "A", "p")
        task, resolved = super().task(instance, {key: value for key, value in given.items() if key not in names})
        chosen = as_choice("regulariser", given.get("regulariser"), REGULARISERS)
        if chosen == "l1" and given.get("lam") is not None:
            raise InputError(
                "parameter lam is given with regulariser l1, which has no square: leave it out, or take l2"
            )
        lam = LAM.resolve(given.get("lam"), self.name, instance.count) if chosen == "l2" else 0.0
        sigma = _prices(given.get("sigma"), instance.count, chosen)
        rows, least = _constraints(given.get("A"), given.get("p"), instance.count)
        own = {"sigma": sigma, "lam": lam, "A": rows, "p": least}
        return replace(task, own=own), {**resolved, "regulariser": chosen, **own}

    def lower(self, task: Task, point: Array | PricedAlpha) -> PricedLower:  # type: ignore[override]
        """gain(α) + p'δ − …; for l1, (α, δ) are first scaled to where every ½ q_m + (A'δ)_m is at most σ_m."""
        sigma, lam, rows, least = (task.own[name] for name in ("sigma", "lam", "A", "p"))
        alpha, delta = point if isinstance(point, PricedAlpha) else (point, np.zeros(len(least)))
        alpha, delta = task.feasible(alpha), np.maximum(np.nan_to_num(delta), 0.0)
        roots = task.correlations(alpha)
        load = roots**2 / 2 + rows.T @ delta
        if lam == 0:
            share = float(min(1.0, np.min(np.divide(sigma, load, out=np.ones(len(load)), where=load > 0))))
            alpha, delta, roots = alpha * np.sqrt(share), delta * share, roots * np.sqrt(share)
            cost = 0.0
        else:
            excess = np.maximum(load - sigma, 0.0)
            cost = float(excess @ excess / (2 * lam))
        gain, priced = task.gain(alpha), float(least @ delta)
        return PricedLower(gain + priced - cost, alpha, roots, max(gain, abs(priced), cost), delta)

    def upper(self, task: Task, point: Any) -> WeightedUpper:  # type: ignore[override]
        coefficients, mu = point if isinstance(point, Weighted) else (point, None)
        outputs, norms = task.evaluate(coefficients)
        (cost, within), risk = penalty(norms, **task.own, mu=mu), task.risk(outputs)
        largest = max(cost, risk.largest_term)
        return WeightedUpper(cost + risk.value, np.asarray(coefficients), norms, risk, largest, within)

    def from_primal(self, program: PricedPrimal, task: Task, unit: float) -> Points:  # type: ignore[override]
        """The functions with three sets of weights: the best without A, the solver's own, and those that its prices of
        A imply, which vanish as the norms do; and f_m = μ_m K_m(α∘y), which divides by no weight."""
        (alpha,), (coefficients,) = super().from_primal(program, task, unit)
        mu = np.maximum(np.asarray(program.mu.value, dtype=float), 0.0)
        delta = np.ravel(program.within[0].dual_value) if program.within else np.zeros(0)
        norms = np.array([float(np.linalg.norm(w.value)) for w in program.coordinates])
        implied = _at_prices(norms, task.own["sigma"] - task.own["A"].T @ delta, task.own["lam"], mu)
        functions = [coefficients, Weighted(coefficients, mu), Weighted(coefficients, implied)]
        short = Weighted(Implied(mu, np.maximum(alpha, 0.0) * task.y), mu)
        return Points([PricedAlpha(alpha, delta / unit)], [*functions, short])

    def from_dual(self, program: PricedDual, task: Task, unit: float) -> Points:  # type: ignore[override]
        (alpha,), _ = super().from_dual(program, task, unit)
        delta = np.zeros(0) if program.delta is None else np.asarray(program.delta.value, dtype=float) / unit
        mu = np.maximum([float(np.ravel(cut.dual_value)[0]) for cut in program.cuts], 0.0)
        return Points([PricedAlpha(alpha, delta)], [Weighted(Implied(mu, alpha * task.y), mu)])


def _prices(sigma: Any, count: int, regulariser: str) -> Array:
    """One price per kernel, or one for all."""
    least = "positive" if regulariser == "l1" else "not negative"
    default = 1.0 if regulariser == "l1" else 0.0
    try:
        given = np.asarray(default if sigma is None else sigma, dtype=float)
        prices = np.broadcast_to(given, (count,)).copy()
    except (TypeError, ValueError):
        shape = np.shape(sigma)
        raise InputError(f"sigma of shape {shape}: give one number, or {count}, one per kernel") from None
    if not np.isfinite(prices).all() or (prices < 0).any() or (regulariser == "l1" and (prices == 0).any()):
        raise InputError(f"sigma has the entry {prices.min():g}: with regulariser {regulariser} it must be {least}")
    return prices


def _constraints(rows: Any, least: Any, count: int) -> tuple[Array, Array]:
    """A (rows, M) and p (rows,), refused where no μ ≥ 0 meets them."""
    if rows is None and least is None:
        return np.zeros((0, count)), np.zeros(0)
    if rows is None or least is None:
        raise InputError("A and p belong together, one of them is missing: give both, or neither")
    try:
        A, p = np.atleast_2d(np.asarray(rows, dtype=float)), np.atleast_1d(np.asarray(least, dtype=float))
    except (TypeError, ValueError):
        raise InputError(f"A and p are no arrays of numbers: give A (rows, {count}) and p (rows,)") from None
    if A.ndim != 2 or A.shape[1] != count or p.shape != (len(A),):
        raise InputError(
            f"A has shape {A.shape}, p {p.shape}: give A (rows, {count}) and p (rows,), a row per constraint"
        )
    if not (np.isfinite(A).all() and np.isfinite(p).all()):
        raise InputError("A and p have entries that are not finite: give finite numbers")
    if nearest_within(np.zeros(count), A, p) is None:
        raise InputError("A and p leave no weights: no μ ≥ 0 meets Aμ ≥ p; drop or loosen a row")
    return A, p


def nearest_within(mu: Array, rows: Array, least: Array) -> Array | None:
    """The weights nearest to μ that are not negative and meet Aμ ≥ p up to rounding; None where there are none."""
    mu = np.maximum(mu, 0.0)
    for _ in range(3):  # the second time it mends what rounding left of a large step
        if meets(mu, rows, least):
            return mu
        step = _least_step(np.vstack([rows, np.eye(len(mu))]), np.concatenate([least - rows @ mu, -mu]))
        if step is None:
            return None
        mu = np.maximum(mu + step, 0.0)
    return mu if meets(mu, rows, least) else None


def meets(mu: Array, rows: Array, least: Array) -> bool:
    sizes = np.abs(rows) @ np.abs(mu) + np.abs(least)
    return bool((rows @ mu - least >= -ROUNDING * sizes).all())


def _least_step(rows: Array, least: Array) -> Array | None:
    """The least x with Gx ≥ h, by least distance programming (Lawson & Hanson 1974, chapter 23):

        u = argmin over u ≥ 0 of ‖G'u‖² + (h'u − 1)²,    x = G'u/(1 − h'u)

    There is no such x exactly where the minimum is zero.
    """
    from scipy.optimize import nnls

    lengths = np.linalg.norm(rows, axis=1)
    if (least[lengths == 0] > 0).any():
        return None
    rows, least = rows[lengths > 0] / lengths[lengths > 0, None], least[lengths > 0] / lengths[lengths > 0]
    size = float(least.max())
    system = np.vstack([rows.T, least / size])
    wanted = np.append(np.zeros(rows.shape[1]), 1.0)
    price, distance = nnls(system, wanted, maxiter=100 * system.shape[1])
    residual = system @ price - wanted
    if distance <= NOTHING or -residual[-1] <= NOTHING:
        return None
    return np.asarray(-residual[:-1] / residual[-1] * size)
