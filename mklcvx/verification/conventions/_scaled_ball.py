"""Ivanov and Tikhonov regularisation: weights in a ball of fixed radius, or a penalty on the radius.

Let U be one of our penalties that are homogeneous of degree two (`l1`, `l2`, `lp`), B its ball of weights,
h(α) = U*(√q(α)), and V(C) = max over α ∈ S(C) of 1'α − h(α) the optimal value with box C; h(tα) = t² h(α).

    theirs   min over μ ≥ 0, f, b    ½ Σ_m ‖f_m‖²/μ_m + (κ/k) ‖μ‖^k + C Σ_i ξ_i,        κ > 0, k ≥ 1,

where ‖·‖ is the norm with unit ball B. Write μ = t u with u ∈ B. Minimising over u first,

    theirs = min over t > 0 of  (1/t) [U(‖f‖) + tC Σ ξ] + (κ/k) t^k  =  min over t of  V(tC)/t + (κ/k) t^k :

for the best t their f is that of our problem with box tC, and with α = theirs × t, u = μ/t we have
f_m = μ_m K_m(theirs∘y) = u_m K_m(α∘y). The values are related by theirs = V(tC)/t + (κ/k) t^k.

Finding t. Substituting tα for α, V(tC)/t = max over α ∈ S(C) of 1'α − t h(α): a maximum of affine functions of t, so
convex, with derivative −h(α_t) at the maximiser. The best t is where κ t^{k−1} = h(α_t). The left side does not fall;
the right side does not rise, and t² h(α_t) = h(tα_t), half the square of the norm of our f, does not fall: on
logarithmic scales the difference F = log h(α_t) − log κ t^{k−1} has a slope between −(k+1) and −(k−1). A step of
F/(k+1) never passes the root, and each trial is one of our certified solutions.

There is no root exactly if k = 1 and h(α_t) < κ for all t: then f = 0 is optimal, and no C of ours gives it. One trial
tells: if α_t has the largest gain 1'α that S(C) allows, it has the least h among all α with that gain, so that α_s =
α_t will do for every s < t, and h(α_t) is the largest value that h ever has.

Only for k = 1 can several f be optimal: then h(α_t) = κ on an interval of t, as where every α is at its bound, which
happens for exceptional κ alone. All of them have the same value; ours is that of one t in the interval.
References: Kloft et al. 2011, Theorem 1 (k = 2); Bach et al. 2004 and Suzuki & Tomioka 2011 (k = 1, plain block
norm).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from ...errors import InputError
from ...problem.instance import Instance
from ...solvers.solving import solve
from ._convention import AnswerMap, ConvertedProblem, Factor, Parameters

FINE, ENOUGH = 1e-11, 1e-7  # the gap that a trial is asked for, and the one that it must reach
ROUNDING = 1e-10  # relative: how far from its root an equation holds, and from its bound a gain is at it
MAX_TRIALS = 80


@dataclass(frozen=True)
class Penalty:
    """(κ/k) ‖μ‖^k, the price of the radius; `said` formats κ as their parameter."""

    kappa: float
    k: float
    said: Callable[[float], str] = lambda kappa: f"mu = {kappa:.6g}"

    def __call__(self, t: float) -> float:
        return self.kappa / self.k * t**self.k


@dataclass(frozen=True)
class Tikhonov:
    """Their problem: `formulation` has the ball, `own` its parameters, `price` is their C."""

    instance: Instance
    formulation: str
    own: Parameters
    price: float
    bias: bool
    penalty: Penalty

    def parameters(self, t: float) -> Parameters:
        return {"C": t * self.price, "bias": self.bias, **self.own}

    def as_ours(self, alpha: Factor = 1.0, normalised: bool = False, factor: float = 1.0) -> ConvertedProblem:
        """Our problem. `alpha` is what their α is multiplied by besides t; `normalised` says that they report u = μ/t
        and tα themselves; `factor` × their objective is the one above."""
        t = self.radius()
        scale = 1.0 if normalised else t
        answers = AnswerMap(weights=1 / scale, alpha=alpha * scale, objective=t * factor, shift=-t * self.penalty(t))
        note = f"C = {t * self.price:.6g} of {self.formulation} was solved for: their weights have norm {t:.6g}"
        return ConvertedProblem(self.formulation, self.parameters(t), self.instance, answers, (note,))

    def radius(self) -> float:
        """The t with κ t^{k−1} = h(α_t), to rounding."""
        from scipy.optimize import brentq

        low, high = self._bracket()
        root = low if low == high else brentq(self._excess, low, high, xtol=1e-13, rtol=1e-14, maxiter=MAX_TRIALS)
        return math.exp(root)

    def _excess(self, x: float) -> float:
        """F at t = exp(x)."""
        return math.log(self.trial(math.exp(x))[0]) - math.log(self.penalty.kappa) - (self.penalty.k - 1) * x

    def _bracket(self) -> tuple[float, float]:
        """Two logarithms of t on either side of the root."""
        x, stretch = 0.0, 1.0
        value = self._excess(x)
        for _ in range(MAX_TRIALS):
            if abs(value) <= ROUNDING:
                return x, x
            if self.penalty.k == 1 and value < 0 and self.trial(math.exp(x))[1]:
                raise self._no_function(value)
            there = x + stretch * value / (self.penalty.k + 1)
            beyond = self._excess(there)
            if beyond * value <= 0:
                return min(x, there), max(x, there)
            x, value, stretch = there, beyond, 2 * stretch
        raise InputError(f"{self.formulation}: no C of ours was found for their problem: give less extreme parameters")

    def trial(self, t: float) -> tuple[float, bool]:
        """h(α_t), and whether no α has a larger gain than α_t."""
        ours = solve(self.instance, self.formulation, solver="interior", tol=FINE, **self.parameters(t))
        if not ours.certificate.proves(ENOUGH):
            raise InputError(
                f"{self.formulation} with C = {t * self.price:.3g}, which their problem needs, was {ours.message}: "
                "give less extreme parameters"
            )
        tau = float(ours.multipliers["tau"])
        if ours.certificate.scale <= ours.certificate.rounding:
            raise self._no_function(-math.inf)
        gain = ours.certificate.lower + tau  # the bound is gain(α) − h(α)
        box, positive = self.price * self.instance.sample_weight, self.instance.y > 0
        largest = float(2 * min(box[positive].sum(), box[~positive].sum()) if self.bias else box.sum())  # 1'α in S(C)
        return tau / t**2, gain >= (1 - ROUNDING) * t * largest

    def _no_function(self, excess: float) -> InputError:
        fault = "no kernel tells the classes apart"
        if math.isfinite(excess):
            least = self.penalty.said(self.penalty.kappa * math.exp(excess))
            fault = f"parameter {self.penalty.said(self.penalty.kappa)} is not below {least}"
        return InputError(f"{fault}, so f = 0 is optimal, which no C of ours gives: give a smaller penalty")
