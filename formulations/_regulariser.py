"""The kernel side of a single task: a regulariser R of the weights μ, with penalty and conjugate derived from it.

    min over μ ≥ 0 of max over α of   gain(α) − Σ_m μ_m ½ q_m(α) + R(μ),      ψ(μ) = 0 or ψ(μ) ≤ 0,      μ ≤ cap

R(μ) = Σ_m r(μ_m) and ψ(μ) = Σ_m g(μ_m) − 1 are separable and convex, so that their Hessians are diagonal. A linear ψ
is an equality (the simplex), a nonlinear one an inequality (a ball). In terms of norms and of α

    U(a) = min over μ of ½ Σ a_m²/μ_m + R(μ),      U*(d) = R*(½d²),      R*(v) = sup over μ of μ'v − R(μ).

Functions take μ and the formulation's own parameters.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from ..problem.stack import Array
from ._formulation import OfOwn, Own


class Elementwise(ABC):
    """A function of every weight by itself, with its two derivatives."""

    @abstractmethod
    def value(self, mu: Array, *_: Own, **own: Own) -> Array: ...

    @abstractmethod
    def slope(self, mu: Array, *_: Own, **own: Own) -> Array: ...

    @abstractmethod
    def curvature(self, mu: Array, *_: Own, **own: Own) -> Array: ...


class Constraint(Elementwise):
    """ψ(μ) = Σ value(μ_m) − 1."""

    curved: ClassVar[bool] = True

    def at(self, mu: Array, **own: Own) -> tuple[Array, Array, Array]:
        """ψ(μ), ψ' and ψ''."""
        return np.asarray(self.value(mu, **own).sum() - 1), self.slope(mu, **own), self.curvature(mu, **own)


class Simplex(Constraint):
    """Σμ = 1."""

    curved = False

    def value(self, mu: Array, **own: Own) -> Array:
        return mu

    def slope(self, mu: Array, **own: Own) -> Array:
        return np.ones_like(mu)

    def curvature(self, mu: Array, **own: Own) -> Array:
        return np.zeros_like(mu)


class Regulariser(ABC):
    """r, r' and r'', ψ and the cap. `start` returns weights inside the domain for a number of kernels. If the domain is
    a single point, `start` returns it and `alone(count, **own)` is true."""

    constraint: ClassVar[Constraint | None] = Simplex()
    cap: ClassVar[OfOwn[float] | None] = None  # if weights have one
    of_shares: ClassVar[Elementwise | None] = None  # μ of shares on the simplex, if Newton's method is to see those
    flat: ClassVar[bool] = False  # whether R = 0 on the simplex: optimal weights need not be unique then

    def value(self, mu: Array, *_: Own, **own: Own) -> Array:
        return np.zeros_like(mu)

    def slope(self, mu: Array, *_: Own, **own: Own) -> Array:
        return np.zeros_like(mu)

    def curvature(self, mu: Array, *_: Own, **own: Own) -> Array:
        return np.zeros_like(mu)

    def start(self, count: int, *_: Own, **own: Own) -> Array:
        return np.full(count, 1 / count)

    def alone(self, count: int, *_: Own, **own: Own) -> bool:
        return False

    @abstractmethod
    def best_weights(self, a: Array, *_: Own, **own: Own) -> Array:
        """The μ that minimises ½ Σ a²/μ + R(μ). It is feasible despite rounding: the penalty is valid."""

    @abstractmethod
    def conjugate(self, v: Array, *_: Own, **own: Own) -> float:
        """R*(v)."""

    def penalty(self, a: Array, *_: Own, **own: Own) -> float:
        """½ Σ a²/μ + R(μ) at the best weights; subclasses override it where there is a closed form."""
        mu, used = self.best_weights(a, **own), a > 0
        return float(np.sum(a[used] ** 2 / mu[used]) / 2 + np.sum(self.value(mu, **own)))

    def multipliers(self, v: Array, *_: Own, **own: Own) -> Mapping[str, float | Array]:
        """The dual variables beside α that a solution reports, from v = ½q."""
        return {"tau": self.conjugate(v, **own)}


class Fixed(Regulariser):
    """Fixed weights, the same for every kernel."""

    constraint = None

    def __init__(self, share: Callable[[int], float]) -> None:
        self.share = share

    def start(self, count: int, **own: Own) -> Array:
        return np.full(count, self.share(count))

    def alone(self, count: int, **own: Own) -> bool:
        return True

    def best_weights(self, a: Array, **own: Own) -> Array:
        return self.start(len(a))

    def penalty(self, a: Array, **own: Own) -> float:
        return float(a @ a / (2 * self.share(len(a))))

    def conjugate(self, v: Array, **own: Own) -> float:
        return float(self.share(len(v)) * v.sum())

    def multipliers(self, v: Array, **own: Own) -> Mapping[str, float | Array]:
        return {}


class SoftMargin(Regulariser):
    """R*(v) = min over τ of τ + price((v − τ)₊): the slack of kernel m above the margin τ is ζ_m."""

    @abstractmethod
    def price(self, zeta: Array, *_: Own, **own: Own) -> float: ...

    @abstractmethod
    def threshold(self, v: Array, *_: Own, **own: Own) -> float:
        """The best τ."""

    def conjugate(self, v: Array, *_: Own, **own: Own) -> float:
        tau = self.threshold(v, **own)
        return tau + self.price(np.maximum(v - tau, 0), **own)

    def multipliers(self, v: Array, *_: Own, **own: Own) -> Mapping[str, float | Array]:
        tau = self.threshold(v, **own)
        return {"tau": tau, "zeta": np.maximum(v - tau, 0)}


@dataclass(frozen=True)
class Between:
    """The block-∞ penalties: shares t_j on the simplex of groups j, shares t_m on the simplex within each group.

        max over α, t_j of min over t_m of   gain(α) − c Σ_j t_j^{−e} Σ_{m∈j} t_m q_m(α)

    For 0 ≤ e ≤ 1 the cost is jointly convex in (α, t_j), with minimum c (Σ_j D_j^{1/(1+e)})^{1+e} over t_j, where
    D_j = max q_m. So e = 1 is (Σ √D_j)², e = 0 is Σ D_j. The weights are μ_m = 2c t_m/t_j^e.
    """

    price: float
    exponent: OfOwn[float] = lambda **own: 1.0
    groups: OfOwn[NDArray[np.intp]] = lambda count, groups, **own: groups
