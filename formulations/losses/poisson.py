"""poisson — the Poisson loss: half the deviance of counts y ≥ 0, whose mean is e^z.

    ℓ(y, z) = e^z − yz + y log y − y          g(α) = c [u − u log u − y + y log y],   u = y − α/c ≥ 0,   α ≤ c y

with c_i = C times the weight of sample i; 0 log 0 = 0. The constant y log y − y makes ℓ(y, log y) = 0: the value is
half the deviance of the means e^z from the counts, never negative. Minus the logarithm of the likelihood of whole
counts is larger by a constant, log(y!) − y log y + y.

From one to the other. c e^z − c y + α = 0 makes cℓ + αz least: u = e^z is the mean, and z = log u. −g is the conjugate
of the exponential, u log u − u on the half line, at u = y − α/c.

    gradient       α = c(y − e^z): the count less its mean, at the price c; unique
    bounds         α = c y would be the mean 0, and is reached by no finite z. A count of 0 has α < 0. Below there is no
                   bound, but no optimum is beyond α = −4 Σ_j c_j (1 + y_j^(3/2)), which keeps α in a box: with a bias
                   Σα = 0 holds α ≥ −Σ_j c_j y_j; without, no sample costs more at the optimum than all do at f = 0,
                   where the mean is 1, Σ_j c_j (1 + y_j log y_j − y_j), and log y ≤ 2√y
    curvature      of g: 1/(c u), which falls as the mean grows; in the box it has a least value
    Fenchel–Young  c (u log(u/p) − u + p), the divergence of u from the mean p = e^z
    least bias     e^b = Σ c y / Σ c e^f: unique, and the means sum to the counts

Targets: a response, y ≥ 0; whole numbers are not asked for.
Parameters: C > 0, default 1.
Degenerate cases: with a bias and all counts 0 the value 0 is approached for b → −∞ and not attained: refused. Other
units of y, or a constant that is added to it, change the problem; counts times t and C/t leave α, f and the value as
they are and add log t to b. Where all counts are the same, f = 0, b is their logarithm, and the value is 0.

Reference: Nelder & Wedderburn 1972; McCullagh & Nelder 1989; its dual, Collins, Dasgupta & Schapire 2001.
"""

from __future__ import annotations

import math

import numpy as np

from ...errors import InputError
from ...problem.stack import Array
from .._cvxpy import cp
from ._exact import divergence
from ._loss import COUNTS, Loss, Risk

ROUNDING = 4 * float(np.finfo(float).eps)  # of an exponential, relatively


class Poisson(Loss):
    name = kind = "poisson"
    targets = COUNTS
    log_link = True

    def prices(self, number: float, weight: Array, y: Array, bias: bool) -> Array:
        rows = np.atleast_2d(y)
        if (rows < 0).any():
            raise InputError(f"loss poisson takes counts y ≥ 0, the least is {rows.min():g}: use another loss")
        if bias and not rows.any(axis=1).all():
            words = "the bias would go to −∞: set bias to false, or leave the output out"
            raise InputError(f"loss poisson has no minimum with a bias where all counts are 0, {words}")
        return super().prices(number, weight, y, bias)

    def declare_risk(self, margins: cp.Expression, y: Array, price: Array) -> tuple[cp.Expression, cp.Constraint]:
        reached, constant = cp.Variable(len(price)), sum(self.constants(y, price).values())
        return price @ cp.exp(reached) - (price * y) @ reached + constant, reached == margins

    def declare_gain(self, alpha: cp.Variable, y: Array, price: Array) -> tuple[cp.Expression, list[cp.Constraint]]:
        mean = y - cp.multiply(1 / price, alpha)
        return price @ (mean + cp.entr(mean)) + sum(self.constants(y, price).values()), []

    def value(self, outputs: Array, y: Array, price: Array, rho: float = 0.0) -> Array:
        return poisson_divergence(price * y, price, outputs)

    def risk(self, outputs: Array, y: Array, price: Array, bias: bool) -> Risk:
        best = 0.0
        if bias:
            top = float(outputs.max())
            best = math.log(float(price @ y)) - top - math.log(float(price @ np.exp(outputs - top)))
        value = float(self.value(outputs + best, y, price).sum())
        return Risk(value, best, (best, best), None, value)

    def gain(self, alpha: Array, y: Array, price: Array) -> float:
        """α log y − c(u log(u/y) − u + y), and −α + α log u for y = 0: near α = 0 nothing cancels."""
        counts, log_y = price * y, np.log(np.where(y > 0, y, 1.0))
        with np.errstate(divide="ignore", invalid="ignore"):
            of_zero = np.where(alpha < 0, alpha * np.log(-alpha / price), 0.0) - alpha
        apart = np.where(y > 0, -poisson_divergence(counts - alpha, counts, np.zeros_like(y)), of_zero)
        return math.fsum([*(alpha * log_y), *apart])

    def gradient(self, alpha: Array, y: Array, price: Array) -> Array:
        with np.errstate(divide="ignore"):
            return np.log((price * y - alpha) / price)

    def curvature(self, alpha: Array, y: Array, price: Array) -> Array:
        with np.errstate(divide="ignore"):
            return 1 / (price * y - alpha)

    def bounds(self, y: Array, price: Array) -> tuple[Array, Array]:
        return np.full(len(price), -4 * math.fsum(price * (1 + y * np.sqrt(y)))), price * y

    def constants(self, y: Array, price: Array) -> dict[str, float]:
        return {"Σ c(y log y − y)": math.fsum(price * (y * np.log(np.where(y > 0, y, 1.0)) - y))}

    def fenchel_young(self, alpha: Array, outputs: Array, y: Array, price: Array, rho: float = 0.0) -> Array:
        return poisson_divergence(price * y - alpha, price, outputs)


def poisson_divergence(part: Array, price: Array, outputs: Array) -> Array:
    """u log(u/p) − u + p ≥ 0 for u = part and p = c e^z; 0 where the two differ by rounding alone."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        p = price * np.exp(outputs)
        apart = np.where(np.abs(part - p) <= ROUNDING * p, 0.0, part - p)
        direct = np.where(part > 0, part * (np.log(part / price) - outputs), 0.0) - apart
        return divergence(apart, p, direct)


POISSON = Poisson()
