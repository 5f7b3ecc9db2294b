"""The weights' side of a single task, for methods that work with weights and α together.

    min over μ ≥ 0 of max over α of   gain(α) − Σ_m μ_m ½ q_m(α) + R(μ),      ψ(μ) = 0 or ψ(μ) ≤ 0,      μ ≤ cap

R(μ) = Σ_m r(μ_m) and ψ(μ) = Σ_m g(μ_m) − 1 are separable and convex, so that slopes and curvatures say all. A linear ψ
is an equality (the simplex); a curved one is an inequality (a ball). Functions take μ and the formulation's own
parameters.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..problem.stack import Array

Along = Callable[..., Array]  # of μ and the formulation's own parameters


def nothing(mu: Array, **own: Any) -> Array:
    return np.zeros_like(mu)


def ones(mu: Array, **own: Any) -> Array:
    return np.ones_like(mu)


@dataclass(frozen=True)
class Constraint:
    """ψ(μ) = Σ value(μ_m) − 1."""

    value: Along
    slope: Along
    curvature: Along
    curved: bool = True

    def at(self, mu: Array, **own: Any) -> tuple[Array, Array, Array]:
        """ψ(μ), ψ' and ψ''."""
        return np.asarray(self.value(mu, **own).sum() - 1), self.slope(mu, **own), self.curvature(mu, **own)


SIMPLEX = Constraint(lambda mu, **own: mu, ones, nothing, curved=False)


@dataclass(frozen=True)
class Regulariser:
    """r, r' and r'', ψ, the cap; `start` are weights inside the domain, from the number of kernels. Where the domain is
    a single point, `start` is that point and `alone(count, **own)` says so."""

    constraint: Constraint | None = SIMPLEX
    value: Along = nothing
    slope: Along = nothing
    curvature: Along = nothing
    cap: Callable[..., float] | None = None
    start: Callable[..., Array] = lambda count, **own: np.full(count, 1 / count)
    alone: Callable[..., bool] = lambda count, **own: False


def fixed(start: Callable[..., Array]) -> Regulariser:
    """Weights that are given, not found."""
    return Regulariser(constraint=None, start=start, alone=lambda count, **own: True)


@dataclass(frozen=True)
class Between:
    """The block-∞ side: groups j of kernels compete for α, kernels within a group for the group's share.

        max over α, t ∈ Δ of min over λ_j ∈ Δ of   gain(α) − c Σ_j t_j^{−e} Σ_{m∈j} λ_m q_m(α)

    For 0 ≤ e ≤ 1 the cost is jointly convex in (α, t), and least over t at c (Σ_j D_j^{1/(1+e)})^{1+e}, D_j = max q_m.
    So e = 1 is (Σ √D_j)², e = 0 is Σ D_j. The weights are μ_m = 2c λ_m/t_j^e.
    """

    price: float
    exponent: Callable[..., float] = lambda **own: 1.0
    groups: Callable[..., NDArray[np.intp]] = lambda count, groups, **own: groups
