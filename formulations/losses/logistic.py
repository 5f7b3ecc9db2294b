"""logistic — the logistic loss: the negative log-likelihood of labels, with probability 1/(1 + e^(−yz)).

    ℓ(y, z) = log(1 + e^(−yz))          g(α) = −α log u − (c − α) log(1 − u),   u = α/c,   0 ≤ α ≤ c

with c_i = C times the weight of sample i; 0 log 0 = 0.

From one to the other. In t = yz: −c/(1 + e^t) + α = 0 makes c log(1 + e^(−t)) + αt least: u is the probability of the
other label, t = log((1 − u)/u), and the value there is c times the entropy of u.

    gradient       α = c/(1 + e^(yz)), unique and strictly between the bounds
    bounds         reached by no finite z: every sample is a support vector
    curvature      of g: c/(α(c − α)) ≥ 4/c, without bound towards both ends
    Fenchel–Young  c times the divergence of Kullback and Leibler of u from the probability 1/(1 + e^t)
    least bias     unique where there are two classes

Targets: labels ±1.
Parameters: C > 0, default 1.
Degenerate cases: with a bias and one class only the value 0 is approached for |b| → ∞ and not attained. f = 0 costs
c log 2 for every sample.

Reference: Cox 1958; its dual with kernels, Jaakkola & Haussler 1999, Keerthi et al. 2005.
"""

from __future__ import annotations

import math

import numpy as np

from ...problem.stack import Array
from .._cvxpy import cp
from .._roots import increasing_root
from ._exact import divergence
from ._loss import Loss, Risk

FAR = 64.0  # e^(−FAR) is nothing beside 1


class Logistic(Loss):
    name = kind = "logistic"
    log_odds = True

    def declare_risk(self, margins: cp.Expression, y: Array, price: Array) -> tuple[cp.Expression, cp.Constraint]:
        reached = cp.Variable(len(price))
        return price @ cp.logistic(-reached), reached <= margins

    def declare_gain(self, alpha: cp.Variable, y: Array, price: Array) -> tuple[cp.Expression, list[cp.Constraint]]:
        share = cp.multiply(1 / price, alpha)
        return price @ (cp.entr(share) + cp.entr(1 - share)), [alpha <= price]

    def value(self, outputs: Array, y: Array, price: Array, rho: float = 0.0) -> Array:
        return price * np.logaddexp(0.0, -y * outputs)

    def risk(self, outputs: Array, y: Array, price: Array, bias: bool) -> Risk:
        """At |b| = max|z| + |log of the classes' prices, one over the other| the slope in b has its sign."""
        best = 0.0
        if bias:
            positive, negative = (price[y == side].sum() for side in (1, -1))
            far = float(np.abs(outputs).max()) + (abs(math.log(positive / negative)) if positive and negative else FAR)
            best = increasing_root(lambda b: -float((price * y) @ chance(-y * (outputs + b))), -far, far)
        value = float(self.value(outputs + best, y, price).sum())
        return Risk(value, best, (best, best), None, value)

    def gain(self, alpha: Array, y: Array, price: Array) -> float:
        rest = price - alpha
        return -math.fsum([*information(alpha, rest), *information(rest, alpha)])

    def gradient(self, alpha: Array, y: Array, price: Array) -> Array:
        return log_share(price - alpha, alpha) - log_share(alpha, price - alpha)

    def curvature(self, alpha: Array, y: Array, price: Array) -> Array:
        with np.errstate(divide="ignore"):
            return price / (alpha * (price - alpha))

    def bounds(self, y: Array, price: Array) -> tuple[Array, Array]:
        return np.zeros(len(price)), price

    def fenchel_young(self, alpha: Array, outputs: Array, y: Array, price: Array, rho: float = 0.0) -> Array:
        t, rest = y * outputs, price - alpha
        apart = np.where(alpha < rest, alpha / price - chance(-t), chance(t) - rest / price)
        return price * (
            _divergence(alpha / price, log_share(alpha, rest), t, apart)
            + _divergence(rest / price, log_share(rest, alpha), -t, -apart)
        )


def chance(t: Array) -> Array:
    """1/(1 + e^(−t)), accurate in both tails."""
    small = np.exp(-np.abs(t))
    return np.where(t >= 0, 1.0, small) / (1 + small)


def log_share(part: Array, rest: Array) -> Array:
    """log(part/(part + rest)); −∞ where there is no part."""
    with np.errstate(divide="ignore"):
        return np.where(part < rest, np.log(part / (part + rest)), np.log1p(-rest / (part + rest)))


def information(part: Array, rest: Array) -> Array:
    """part log(part/(part + rest)); 0 where there is no part."""
    return np.multiply(part, log_share(part, rest), out=np.zeros_like(part), where=part > 0)


def _divergence(u: Array, log_u: Array, t: Array, apart: Array) -> Array:
    """u log(u/p) − u + p ≥ 0 for p = 1/(1 + e^t) and apart = u − p."""
    p = chance(-t)
    with np.errstate(invalid="ignore"):
        direct = np.where(u > 0, u * (log_u + np.logaddexp(0.0, t)), 0.0) - apart
    return divergence(apart, p, direct)


LOGISTIC = Logistic()
