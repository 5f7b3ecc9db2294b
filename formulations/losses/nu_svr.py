"""nu_svr — the ε-insensitive loss whose tube is an unknown: the loss of ν-SVR.

    risk(f) = min over b, ε ≥ 0 of Σ_i c_i max(0, |y_i − f(x_i) − b| − ε) + Nε       g(α) = yα,   −c ≤ α ≤ c,   ‖α‖₁ ≤ N

with c_i = C times the weight of sample i and N = ν Σ_i c_i.

From one to the other. For given ε it is `epsilon_insensitive`; −ε‖α‖₁ + Nε is bounded below over ε ≥ 0 only where
‖α‖₁ ≤ N.

    subgradient    α = 0 where |y − z| < ε, α = ±c where y − z lies beyond ±ε; between only at y − z = ±ε
    bounds         |α| = c: outside the tube; as ‖α‖₁ ≤ νΣc, samples outside have at most a share ν of the prices. Where
                   ε > 0, ‖α‖₁ = νΣc, and samples with α ≠ 0 have at least that share
    least bias     with u = b + ε and l = b − ε the risk separates: Σ c (r − u)₊ + N u/2 and Σ c (l − r)₊ − N l/2, with
                   r = y − f. Both are weighted quantiles, and u ≥ l as ν ≤ 1. Without a bias ε is one of |r|

Targets: a response.
Parameters: C > 0, default 1; 0 < nu ≤ 1, default ½.
Degenerate cases: ν = 1 is `absolute`, as max(0, |r| − ε) + ε ≥ |r|. Where every target can be fitted exactly at a price
below what ε costs, ε = 0 and ‖α‖₁ < N. At the ε that it finds the solution is that of `epsilon_insensitive`, and the
value is larger by Nε.

Reference: Schölkopf et al. 2000, section 3; Chang & Lin 2002.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ...problem.stack import Array
from .._cvxpy import cp
from .._formulation import Parameter
from ._exact import balanced, flat_bottom, middle
from ._loss import REAL, Risk
from ._quadratic import PiecewiseQuadratic, QuadraticShape

SHRUNK = 2.0**-50  # of ‖α‖₁, where scaling it down has to be exact


@dataclass(frozen=True)
class NuSVR(PiecewiseQuadratic):
    """The record is that of ε = 0; `rho`, the level, is ε."""

    name = "nu_svr"
    kind = "tube"
    targets = REAL
    free_tube = True
    own: ClassVar[tuple[Parameter, ...]] = (
        Parameter(
            "nu", "bounds the share of samples outside the tube from above, of support vectors from below", "0 < ν ≤ 1",
            lambda v, _: 0 < v <= 1, lambda _: 0.5, "1/2",
        ),
    )  # fmt: skip

    nu: float = 0.5

    def shape(self, y: Array, price: Array) -> QuadraticShape:
        return self.at_level(y, price, 0.0)

    def at_level(self, y: Array, price: Array, level: float) -> QuadraticShape:
        return QuadraticShape.of(price, a=y, epsilon=level, low=-price, high=price)

    def most(self, price: Array) -> float:
        return self.nu * math.fsum(price)

    def declare_risk(self, margins: cp.Expression, y: Array, price: Array) -> tuple[cp.Expression, cp.Constraint]:
        part, tube = cp.Variable(len(price)), cp.Variable(nonneg=True)
        return price @ cp.pos(cp.abs(part) - tube) + self.most(price) * tube, y - part == margins

    def declare_gain(self, alpha: cp.Variable, y: Array, price: Array) -> tuple[cp.Expression, list[cp.Constraint]]:
        return y @ alpha, [cp.abs(alpha) <= price, cp.norm1(alpha) <= self.most(price)]

    def value(self, outputs: Array, y: Array, price: Array, rho: float = 0.0) -> Array:
        return self.at_level(y, price, rho).value(y - outputs)

    def fenchel_young(self, alpha: Array, outputs: Array, y: Array, price: Array, rho: float = 0.0) -> Array:
        return self.at_level(y, price, rho).fenchel_young(alpha, y - outputs)

    def risk(self, outputs: Array, y: Array, price: Array, bias: bool) -> Risk:
        r, most = y - outputs, self.most(price)
        if bias:
            above, below = flat_bottom(-r, price, most / 2), flat_bottom(r, price, most / 2)
            u, low = -middle(*above), middle(*below)
            best, tube = (u + low) / 2, max((u - low) / 2, 0.0)
            interval = ((below[0] - above[1]) / 2, (below[1] - above[0]) / 2)
        else:
            best, interval = 0.0, (0.0, 0.0)
            tube = max(-middle(*flat_bottom(-np.abs(r), price, most)), 0.0)
        value = float(self.value(outputs + best, y, price, tube).sum()) + most * tube
        return Risk(value, best, interval, None, value, tube)

    def feasible(self, alpha: Array, y: Array, price: Array, bias: bool) -> Array:
        """Clipped, scaled down until ‖α‖₁ ≤ N, and balanced; N is not exceeded by a last bit either."""
        most, alpha = self.most(price), np.clip(np.nan_to_num(alpha), -price, price)
        for shrink in (0.0, SHRUNK, 4 * SHRUNK, 16 * SHRUNK):
            size = math.fsum(np.abs(alpha))
            scaled = alpha * (most / size * (1 - shrink)) if size * (1 + shrink) > most else alpha
            within = balanced(scaled, -price, price, np.ones(len(y))) if bias else scaled
            if self.slack(within, price) >= 0:
                return within
        return np.zeros(len(y))


NU_SVR = NuSVR()
