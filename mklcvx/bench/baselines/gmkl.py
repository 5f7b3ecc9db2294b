"""gmkl — MKL with priced weights: an ℓ1 or ℓ2 regulariser, prior weights σ, and linear constraints Aμ ≥ p.

    primal   min over μ ≥ 0, f_1..f_M, b    ½ Σ_m ‖f_m‖²/μ_m + σ'μ + (λ/2) ‖μ‖² + risk(Σ_m f_m + b),      Aμ ≥ p
    dual     max over α ∈ S, δ ≥ 0          gain(α) + p'δ − (1/(2λ)) Σ_m (½ q_m(α) + (A'δ)_m − σ_m)₊²       (l2)
             max over α ∈ S, δ ≥ 0          gain(α) + p'δ,       ½ q_m(α) + (A'δ)_m ≤ σ_m for every m       (l1: λ = 0)

From one to the other. δ are the multipliers of Aμ ≥ p. What is left is linear in μ, plus (λ/2) ‖μ‖²: the least over μ
≥ 0 of Σ μ_m (σ_m − (A'δ)_m − ½ q_m) + (λ/2) μ_m². With λ = 0 it is finite, and zero, only where every bracket is ≥ 0:
a kernel is used where its constraint is tight, and σ_m is what using it costs.

    recovery      f_m = μ_m K_m(α∘y).   l2: μ_m = (½ q_m + (A'δ)_m − σ_m)₊/λ.   Without A, in terms of norms:
                  l1: μ_m = ‖f_m‖/√(2σ_m);   l2: λμ_m³ + σ_mμ_m² = ‖f_m‖²/2
    multipliers   weights = μ, the multipliers of the dual's constraints; alpha (n,); delta, one per row of A

As a regulariser on weights: R(μ) = σ'μ + (λ/2) ‖μ‖² where Aμ ≥ p, R*(v) = min over δ ≥ 0 of Σ (v + A'δ − σ)₊²/(2λ) −
p'δ. For l1 without A the penalty is Σ_m √(2σ_m) ‖f_m‖: a group lasso that is not squared.
Parameters: C > 0, loss c only (in the ν-form the l1 problem has the value 0 or −∞); σ > 0 for l1 (default 1), σ ≥ 0
for l2 (default 0); λ > 0 for l2 (default 1); A and p, by default none, refused where no μ ≥ 0 meets them.
Degenerate cases: l2 with σ = 0 and no A is `square` with θ = 1/λ. A = (1', −1'), p = (1, −1) is the simplex: l1 with
even σ is `l1` plus σ, l2 with σ = 0 is `sm2` with θ = 1/λ. l1 without A has the f of `l1` with C/τ, where τ =
√(2σ)/Σ‖f‖ at that f, for even σ. Where σ is so large that no α reaches ½ q_m = σ_m, the l1 answer is f = 0 but for the
bias.

Many labels: one problem each, and the certificate of the sum.
Reference: Varma & Ray 2007 (l1, σ, Aμ ≥ p); Varma & Babu 2009 (l2; sums of kernels are its convex case).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ...certificate import CertifiedPoint, certify, joined
from ...formulations import Implied, Points, Task
from ...formulations._cvxpy import cp
from ...formulations._dual import Multipliers
from ...formulations._primal import Functions
from ...formulations._regulariser import Regulariser
from ...problem.instance import Instance
from ...problem.numbers import check_tolerance
from ...solvers.conic import UNITS, solve_declared
from ...solvers.second_stage import machine
from ._model import Baseline, shortfall
from ._per_label import Label, per_label
from ._priced import Array, Priced, PricedAlpha, PricedDual, PricedPrimal, Weighted, best_weights, penalty

TOLERANCE = 1e-8


class PricedWeights(Regulariser):
    """R(μ) = σ'μ + (λ/2) ‖μ‖², A aside."""

    constraint = None

    def value(self, mu: Array, sigma: Array, lam: float, A: Array, p: Array) -> Array:
        return np.asarray(sigma * mu + lam / 2 * mu**2)

    def slope(self, mu: Array, sigma: Array, lam: float, A: Array, p: Array) -> Array:
        return np.asarray(sigma + lam * mu)

    def curvature(self, mu: Array, sigma: Array, lam: float, A: Array, p: Array) -> Array:
        return np.full(len(mu), lam)

    def best_weights(self, a: Array, sigma: Array, lam: float, A: Array, p: Array) -> Array:
        return best_weights(a, sigma, lam, A, p)

    def penalty(self, a: Array, sigma: Array, lam: float, A: Array, p: Array) -> float:
        return penalty(a, sigma, lam, A, p)[0]

    def conjugate(self, v: Array, sigma: Array, lam: float, A: Array, p: Array) -> float:
        """At δ = 0: all of it where there is no A, else no less."""
        excess = np.maximum(v - sigma, 0.0)
        if lam == 0:
            return np.inf if excess.any() else 0.0
        return float(excess @ excess / (2 * lam))

    def multipliers(self, v: Array, sigma: Array, lam: float, A: Array, p: Array) -> dict[str, Any]:
        return {}


class GeneralisedMKL(Priced):
    regulariser = PricedWeights()
    losses = ("c",)

    def declare_primal(self, task: Task) -> PricedPrimal:
        sigma, lam, A, p = (task.own[name] for name in ("sigma", "lam", "A", "p"))
        f, mu = Functions(task), cp.Variable(task.count, nonneg=True)
        ratios, epigraph = f.over(mu)
        within = [A @ mu >= p] if len(p) else []
        objective = cp.sum(ratios) / 2 + sigma @ mu + lam / 2 * cp.sum_squares(mu) + f.risk
        problem = cp.Problem(cp.Minimize(objective), [f.margins, *epigraph, *within])
        return PricedPrimal(problem, f.w, f.margins, mu, within)

    def declare_dual(self, task: Task) -> PricedDual:
        sigma, lam, A, p = (task.own[name] for name in ("sigma", "lam", "A", "p"))
        alpha, delta = Multipliers(task), cp.Variable(len(p), nonneg=True) if len(p) else None
        room = sigma - A.T @ delta if delta is not None else sigma
        cost = -(p @ delta) if delta is not None else 0
        if lam:
            zeta = cp.Variable(task.count, nonneg=True)
            room, cost = room + zeta, cost + cp.sum_squares(zeta) / (2 * lam)
        cuts = [half_q <= room[m] for m, half_q in enumerate(alpha.half_q)]
        problem = cp.Problem(cp.Maximize(alpha.gain - cost), [*alpha.feasible, *cuts])
        return PricedDual(problem, alpha.alpha, cuts, delta)

    def rescale(self, own: Mapping[str, Any], factor: float) -> Mapping[str, Any]:
        return {**own, "sigma": own["sigma"] * factor, "lam": own["lam"] * factor}


GMKL = GeneralisedMKL(
    name="gmkl",
    title="priced weights: ℓ1 or ℓ2, prior weights, linear constraints",
    reference="Varma & Ray 2007; Varma & Babu 2009",
    theorem=__doc__ or "",
    parameters=(),
)


def optimum(task: Task, tol: float) -> CertifiedPoint:
    """Our interior-point method without A: where its weights meet Aμ ≥ p, that is all. Else the declarations."""
    from ...solvers.interior.single_task import InteriorSingle
    from ...solvers.registry import drive

    free = replace(task, own={**task.own, "A": np.zeros((0, task.count)), "p": np.zeros(0)})
    alone, _ = drive(InteriorSingle(), GMKL, free, tol)
    functions = Weighted(alone.upper.coefficients, alone.upper.mu)
    best = certify(GMKL, task, Points([alone.lower.alpha], [functions, *GMKL.at_hand(task).primals]))
    for unit in UNITS:
        if best.certificate.proves(tol):
            break
        point = _sharper(task, solve_declared(GMKL, task, tol, units=(unit,))[0])
        lower = max(best.lower, point.lower, key=lambda bound: bound.value)
        best = joined(GMKL, lower, min(best.upper, point.upper, key=lambda bound: bound.value))
    return best


def _sharper(task: Task, point: CertifiedPoint) -> CertifiedPoint:
    """With the SVM at the weights found: its value is off by the square of what the weights are off."""
    mu = point.upper.mu
    if not mu.any():
        return point
    _, alpha = machine(task.combined(mu), task.y, task.box, task.bias)
    candidates = Points([PricedAlpha(alpha, point.lower.delta)], [Weighted(Implied(mu, alpha * task.y), mu)])
    return certify(GMKL, task, candidates, point)


def gmkl(
    instance: Instance,
    C: float = 1.0,
    regulariser: str = "l1",
    sigma: ArrayLike | None = None,
    lam: float | None = None,
    A: ArrayLike | None = None,
    p: ArrayLike | None = None,
    *,
    bias: bool = True,
    tol: float = TOLERANCE,
) -> Baseline:
    """The certified optimum, for y, or for every class or label against the rest."""
    given = {"C": C, "regulariser": regulariser, "sigma": sigma, "lam": lam, "A": A, "p": p, "bias": bias}
    parameters: dict[str, Any] = {}
    check_tolerance(tol)

    def learn(single: Instance) -> Label:
        task, resolved = GMKL.task(single, given)
        parameters.update(resolved)
        point = optimum(task, tol)
        lower, upper = point.lower, point.upper
        multipliers = {"alpha": lower.alpha, "delta": lower.delta, "norms": upper.norms}
        message = shortfall(point, tol)
        return Label(upper.coefficients, upper.risk.bias, upper.mu, point.certificate, multipliers, message)

    return per_label("gmkl", instance, parameters, learn)
