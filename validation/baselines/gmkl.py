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
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from mklcvx.certificate import CertifiedPoint, certify, joined
from mklcvx.formulations import Points, RankOneCoefficients, Task
from mklcvx.formulations._dual import DualProgram
from mklcvx.formulations._formulation import Parameter, as_choice
from mklcvx.formulations._primal import PrimalProgram
from mklcvx.formulations.families.single_task import Functions, Multipliers, OnWeights
from mklcvx.formulations.losses import Risk
from mklcvx.solvers.conic import UNITS, solve_declared
from mklcvx.solvers.driver import drive
from mklcvx.solvers.interior.single_task import InteriorSingle
from mklcvx.solvers.second_stage import machine

from ._model import Array, Baseline, InputError, Instance, Label, check_tolerance, cp, per_label, shortfall
from ._priced import PricedWeights, as_constraints, as_prices, weights_at_prices

OWN = ("sigma", "lam", "A", "p")
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


class GeneralisedMKL(OnWeights):
    """A dual point is (α, δ), a primal point (f, μ). An α alone stands for δ = 0, functions alone for their best
    weights."""

    regulariser: ClassVar[PricedWeights] = PricedWeights()
    losses = ("c",)

    def primal(self, f: Functions, sigma: Array, lam: float, A: Array, p: Array) -> cp.Problem:
        mu = cp.Variable(f.count, nonneg=True, name="mu")
        ratios, epigraph = f.over(mu)
        within = [A @ mu >= p] if len(p) else []
        objective = cp.sum(ratios) / 2 + sigma @ mu + lam / 2 * cp.sum_squares(mu) + f.risk
        return cp.Problem(cp.Minimize(objective), [f.margins, *epigraph, *within])

    def dual(
        self, alpha: Multipliers, sigma: Array, lam: float, A: Array, p: Array
    ) -> tuple[cp.Problem, list[cp.Constraint]]:
        room, cost = sigma, 0
        if len(p):
            delta = cp.Variable(len(p), nonneg=True, name="delta")
            room, cost = sigma - A.T @ delta, -(p @ delta)
        if lam:
            zeta = cp.Variable(alpha.count, nonneg=True)
            room, cost = room + zeta, cost + cp.sum_squares(zeta) / (2 * lam)
        kernel_constraints = [half_q <= room[m] for m, half_q in enumerate(alpha.half_q)]
        return cp.Problem(cp.Maximize(alpha.gain - cost), [*alpha.feasible, *kernel_constraints]), kernel_constraints

    def rescale(self, own: Mapping[str, Any], factor: float) -> Mapping[str, Any]:
        return {**own, "sigma": own["sigma"] * factor, "lam": own["lam"] * factor}

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

    def task(self, instance: Instance, params: Mapping[str, Any]) -> tuple[Task, dict[str, Any]]:
        """`params` may have regulariser, sigma, lam, A and p besides the parameters of every single task."""
        others = {key: value for key, value in params.items() if key not in ("regulariser", *OWN)}
        task, resolved = super().task(instance, others)
        chosen = as_choice("regulariser", params.get("regulariser"), ("l1", "l2"))
        if chosen == "l1" and params.get("lam") is not None:
            raise InputError(
                "parameter lam is given with regulariser l1, which has no square: leave it out, or take l2"
            )
        lam = LAM.resolve(params.get("lam"), self.name, instance.count) if chosen == "l2" else 0.0
        sigma = as_prices(params.get("sigma"), instance.count, chosen)
        rows, least = as_constraints(params.get("A"), params.get("p"), instance.count)
        own = {"sigma": sigma, "lam": lam, "A": rows, "p": least}
        return replace(task, own=own), {**resolved, "regulariser": chosen, **own}

    def lower(self, task: Task, point: Array | PricedAlpha) -> PricedLower:  # type: ignore[override]
        """gain(α) + p'δ − …; for l1, (α, δ) are first scaled to where every ½ q_m + (A'δ)_m is at most σ_m."""
        sigma, lam, rows, least = (task.own[name] for name in OWN)
        alpha, delta = point if isinstance(point, PricedAlpha) else (point, np.zeros(len(least)))
        alpha, delta = task.feasible(alpha), np.maximum(np.nan_to_num(delta), 0.0)
        roots = task.root_q(alpha)
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
        mu = self.regulariser.best_weights(norms, **task.own) if mu is None else mu
        (cost, within), risk = self.regulariser.feasible_penalty(norms, mu, **task.own), task.risk(outputs)
        largest = max(cost, risk.largest_term)
        return WeightedUpper(cost + risk.value, np.asarray(coefficients), norms, risk, largest, within)

    def from_primal(self, program: PrimalProgram, task: Task, unit: float) -> Points:
        """The functions with three sets of weights: the best without A, the solver's own, and those implied by its
        multipliers of A, which vanish as the norms do; and f_m = μ_m K_m(α∘y), which divides by no weight."""
        (alpha,), (coefficients,) = super().from_primal(program, task, unit)
        sigma, lam, A, p = (task.own[name] for name in OWN)
        mu = np.maximum(np.asarray(program.problem.var_dict["mu"].value, dtype=float), 0.0)
        delta = np.ravel(program.problem.constraints[-1].dual_value) if len(p) else np.zeros(0)
        norms = np.array([float(np.linalg.norm(w.value)) for w in program.coordinates])
        implied = weights_at_prices(norms, sigma - A.T @ delta, lam, mu)
        functions = [coefficients, Weighted(coefficients, mu), Weighted(coefficients, implied)]
        short = Weighted(RankOneCoefficients(mu, np.maximum(alpha, 0.0) * task.y), mu)
        return Points([PricedAlpha(alpha, delta / unit)], [*functions, short])

    def from_dual(self, program: DualProgram, task: Task, unit: float) -> Points:
        (alpha,), _ = super().from_dual(program, task, unit)
        delta = program.problem.var_dict["delta"].value / unit if len(task.own["p"]) else np.zeros(0)
        mu = np.maximum([float(np.ravel(cut.dual_value)[0]) for cut in program.cuts], 0.0)
        return Points([PricedAlpha(alpha, delta)], [Weighted(RankOneCoefficients(mu, alpha * task.y), mu)])


GMKL = GeneralisedMKL(
    name="gmkl",
    title="priced weights: ℓ1 or ℓ2, prior weights, linear constraints",
    reference="Varma & Ray 2007; Varma & Babu 2009",
    theorem=__doc__ or "",
    parameters=(),
)


def optimum(task: Task, tol: float) -> CertifiedPoint:
    """Solve without A by the interior-point method; if its weights violate Aμ ≥ p, solve the declarations."""
    free = replace(task, own={**task.own, "A": np.zeros((0, task.count)), "p": np.zeros(0)})
    alone, _ = drive(InteriorSingle(), GMKL, free, tol)
    functions = Weighted(alone.upper.coefficients, alone.upper.mu)
    best = certify(GMKL, task, Points([alone.lower.alpha], [functions, *GMKL.trivial_points(task).primals]))
    for unit in UNITS:
        if best.certificate.proves(tol):
            break
        point = _sharper(task, solve_declared(GMKL, task, tol, units=(unit,))[0])
        lower = max(best.lower, point.lower, key=lambda bound: bound.value)
        best = joined(GMKL, lower, min(best.upper, point.upper, key=lambda bound: bound.value))
    return best


def _sharper(task: Task, point: CertifiedPoint) -> CertifiedPoint:
    """Improve a point by the SVM at its weights: the error of its value is the square of the weights' error."""
    mu = point.upper.mu
    if not mu.any():
        return point
    _, alpha = machine(task.combined(mu), task.y, task.box, task.bias)
    candidates = Points(
        [PricedAlpha(alpha, point.lower.delta)], [Weighted(RankOneCoefficients(mu, alpha * task.y), mu)]
    )
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
    tol: float = 1e-8,
) -> Baseline:
    """The certified optimum, for y, or for every class or label against the rest."""
    params = {"C": C, "regulariser": regulariser, "sigma": sigma, "lam": lam, "A": A, "p": p, "bias": bias}
    parameters: dict[str, Any] = {}
    check_tolerance(tol)

    def learn(single: Instance) -> Label:
        task, resolved = GMKL.task(single, params)
        parameters.update(resolved)
        point = optimum(task, tol)
        lower, upper = point.lower, point.upper
        multipliers = {"alpha": lower.alpha, "delta": lower.delta, "norms": upper.norms}
        message = shortfall(point, tol)
        return Label(upper.coefficients, upper.risk.bias, upper.mu, point.certificate, multipliers, message)

    return per_label("gmkl", instance, parameters, learn)
