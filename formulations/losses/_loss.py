"""The interface of a loss: the sample side of primal and dual.

    primal   min over f, b of   U(‖f_1‖, …, ‖f_M‖) + Σ_i c_i ℓ(y_i, f(x_i) + b)
    dual     max over α of      Σ_i g_i(α_i) − U*(√q_1(α), …, √q_M(α)),   g_i(α) = inf over z of c_i ℓ(y_i, z) + s_i α z

One dual variable serves every kind of target: β = s∘α, with the signs s = y for labels ±1 (α ≥ 0 then) and s = 1 for
real targets and counts (α of either sign) and for none. With a bias s'α = 0. A loss whose margin ρ is an unknown has ρ
in place of 1, −ρ in the risk and 1'α = 1. A loss whose tube ε is an unknown has Nε in the risk and ‖α‖₁ ≤ N. Such an
unknown is the level of the loss.

The risk is the sum of the losses at prices c (`box` of a task), least over the bias; the gain is the sum of the g_i,
minus the conjugate of the risk. Fenchel–Young: c_i ℓ(y_i, z) ≥ g_i(α) − s_i α z for every z and every α, with
equality where α minimises the difference; summed over the samples it is the half of weak duality without kernels.
"""

from __future__ import annotations

import math
import sys
from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import ClassVar, NamedTuple, Self

import numpy as np

from ...problem.stack import Array
from .._cvxpy import cp
from .._formulation import Given, Parameter
from ._exact import balanced

C = Parameter("C", "price of a sample's loss", "C > 0", lambda v, _: v > 0, lambda _: 1.0, "1")
LABELS, REAL, COUNTS, CLASSES, NONE = "labels", "response", "counts", "classes", "none"


class Risk(NamedTuple):
    """The least risk of given outputs over everything but the kernels: bias, and the margin ρ or tube ε where it is an
    unknown."""

    value: float
    bias: float
    bias_interval: tuple[float, float]
    rho: float | None
    largest_term: float
    epsilon: float | None = None

    @property
    def unknown(self) -> float:
        """The level where the loss has one: ρ or ε; else 0."""
        return self.rho or self.epsilon or 0.0

    @property
    def level(self) -> float:
        """The margin from which on a sample costs nothing: 1, or ρ."""
        return 1.0 if self.rho is None else self.rho


@dataclass(frozen=True)
class AnyLoss(ABC):
    """What losses of one output and joint ones have in common. The fields are the loss's own parameters, described by
    `own`; `price` is c, one number per sample."""

    name: ClassVar[str]
    other_names: ClassVar[tuple[str, ...]] = ()
    kind: ClassVar[str]  # which mathematics serves it: "quadratic" for those that a record states
    targets: ClassVar[str] = LABELS  # which it takes: labels ±1, a response, one that is ≥ 0, classes, or none
    parameter: ClassVar[Parameter] = C  # sets the price
    own: ClassVar[tuple[Parameter, ...]] = ()
    lengths: ClassVar[tuple[str, ...]] = ()  # own parameters in the units of real targets
    degree: ClassVar[int] = 1  # for real targets: ℓ(ty, tz) = t^degree ℓ(y, z), lengths being multiplied by t as well
    free_margin: ClassVar[bool] = False  # whether ρ is an unknown
    free_tube: ClassVar[bool] = False  # whether ε is an unknown
    takes_bias: ClassVar[bool] = True
    log_odds: ClassVar[bool] = False  # whether 1/(1 + e^(−z)) is the probability of +1; of classes, e^(z_j) is in ratio
    log_link: ClassVar[bool] = False  # whether e^z is the mean of the target
    joint: ClassVar[bool] = False  # whether it takes several outputs at once

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        return self.parameter, *self.own

    @property
    def level_name(self) -> str:
        """What files call the unknown level; empty where there is none."""
        return "rho" if self.free_margin else "epsilon" if self.free_tube else ""

    # ------------------------------------------------------------------------------------------- its description
    @property
    def theorem(self) -> str:
        """The docstring of its file."""
        return sys.modules[type(self).__module__].__doc__ or ""

    @property
    def title(self) -> str:
        """The theorem's headline."""
        return self.theorem.splitlines()[0].partition(" — ")[2].rstrip(".")

    @property
    def reference(self) -> str:
        return " ".join(self.theorem.partition("Reference: ")[2].rstrip(" .\n").split())

    @property
    def notation(self) -> str:
        """Definitions that the theorem uses."""
        return __doc__

    @property
    def described_parameters(self) -> list[tuple[str, str]]:
        """Name and description of every parameter, that of the price first."""
        bias = [("bias", "whether f has a constant term; default true")] * self.takes_bias
        return [*(parameter.described for parameter in self.parameters), *bias]

    @property
    def needs_groups(self) -> bool:
        return False

    @property
    def usage(self) -> str:
        """What to append to `mklcvx solve problem.npz`."""
        return f"-f l1 --set loss={self.name}"

    # --------------------------------------------------------------------------------------------- its parameters
    def with_own(self, given: Given, count: int) -> Self:
        """The loss with these parameters of its own, each within its limits, the others by default."""
        words = f"loss {self.name}"
        return replace(self, **{p.name: p.resolve(given.get(p.name), words, count) for p in self.own})

    def mean(self, outputs: Array) -> Array:
        """The target that outputs stand for."""
        return np.exp(outputs) if self.log_link else outputs

    # ----------------------------------------------------------------------------------- prices and their units
    def prices(self, number: float, weight: Array, y: Array, bias: bool) -> Array:
        """The price of each sample, from the parameter and the sample weights."""
        return number * weight

    def price_unit(self, size: float) -> float:
        """The factor of prices and α when every kernel is divided by `size` and f stays, in the units of y: parameters
        of the loss stay as well."""
        return size

    def value_unit(self, size: float) -> float:
        """The factor of the value when every kernel is divided by `size`."""
        return size

    def in_units_of(self, size: float) -> Self:
        """The loss for real targets divided by `size`: f and α are divided by it, prices are multiplied by
        size^(degree − 2), and where U is of degree two the value is divided by its square."""
        return replace(self, **{name: getattr(self, name) / size for name in self.lengths})


@dataclass(frozen=True)
class Loss(AnyLoss):
    """A loss of one output."""

    def signs(self, y: Array) -> Array:
        """s, which leads from α to β = s∘α."""
        return y if self.targets == LABELS else np.ones(len(y))

    # -------------------------------------------------------------------------------------- programmes in CVXPY
    @abstractmethod
    def declare_risk(self, margins: cp.Expression, y: Array, price: Array) -> tuple[cp.Expression, cp.Constraint]:
        """The risk in slacks, and the constraint on the margins s_i f(x_i) that defines them: its multiplier is α."""

    @abstractmethod
    def declare_gain(self, alpha: cp.Variable, y: Array, price: Array) -> tuple[cp.Expression, list[cp.Constraint]]:
        """The gain of α, and its constraints other than α ≥ 0 (unless targets are real) and that of the bias."""

    # ------------------------------------------------------------------------------------------ numbers in NumPy
    @abstractmethod
    def value(self, outputs: Array, y: Array, price: Array, rho: float = 0.0) -> Array:
        """c_i ℓ(y_i, z_i) for every sample; `rho` is the level where it is an unknown, ρ or ε."""

    @abstractmethod
    def risk(self, outputs: Array, y: Array, price: Array, bias: bool) -> Risk:
        """The least risk of these outputs over b (and ρ or ε)."""

    @abstractmethod
    def gain(self, alpha: Array, y: Array, price: Array) -> float: ...

    @abstractmethod
    def gradient(self, alpha: Array, y: Array, price: Array) -> Array:
        """Of the gain."""

    @abstractmethod
    def curvature(self, alpha: Array, y: Array, price: Array) -> Array:
        """Minus the second derivatives of the gain."""

    @abstractmethod
    def bounds(self, y: Array, price: Array) -> tuple[Array, Array]:
        """The smallest and the largest α; they may be infinite."""

    @abstractmethod
    def fenchel_young(self, alpha: Array, outputs: Array, y: Array, price: Array, rho: float = 0.0) -> Array:
        """c_i ℓ(y_i, z_i) − g_i(α_i) + s_i α_i z_i ≥ 0 for every sample, evaluated without cancellation. Where ε is an
        unknown, ε(N − ‖α‖₁) ≥ 0 is left of the gap (`slack`)."""

    def level_cost(self, level: float, price: Array) -> float:
        """What the level itself adds to the risk."""
        return -level if self.free_margin else self.most(price) * level if self.free_tube else 0.0

    def most(self, price: Array) -> float:
        """N, the largest ‖α‖₁: what a unit of ε costs, where it is an unknown."""
        return math.inf

    def slack(self, alpha: Array, price: Array) -> float:
        """N − ‖α‖₁, rounded once."""
        return math.fsum([self.most(price), *(-np.abs(alpha))])

    def constants(self, y: Array, price: Array) -> dict[str, float]:
        """Parts of the risk that depend on the targets alone, by name."""
        return {}

    def equalities(self, y: Array, bias: bool) -> tuple[Array, Array]:
        """The feasible set's, as rows and totals: s'α = 0 with a bias, 1'α = 1 where the margin is free."""
        rows = [self.signs(y)] * bias + [np.ones(len(y))] * self.free_margin
        return np.array(rows).reshape(len(rows), len(y)), np.array([0.0] * bias + [1.0] * self.free_margin)

    def feasible(self, alpha: Array, y: Array, price: Array, bias: bool) -> Array:
        """An α in the feasible set near the given one; its equalities hold exactly."""
        low, high = self.bounds(y, price)
        alpha = np.clip(np.nan_to_num(alpha), low, high)
        return balanced(alpha, low, high, self.signs(y)) if bias else alpha
