"""Kernels as functions of one comparison of two samples x and z: their inner product ⟨x, z⟩, their squared distance
D²(x, z), or their χ² distance. The number of every distance kernel is γ, never σ; `Gaussian.from_sigma` translates.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from math import isfinite
from typing import ClassVar, Literal, Self

import numpy as np

from ..errors import InputError
from .numbers import Array, is_number, is_whole

Comparison = Literal["inner product", "squared distance", "χ² distance"]


def _require_number(owner: str, field: str, value: float, bound: str = "> 0") -> None:
    if not is_number(value) or not isfinite(value) or value < 0 or (value == 0 and bound == "> 0"):
        raise InputError(f"{owner}: {field} is {value!r}, not a finite number {bound}: give {field} {bound}")


@dataclass(frozen=True)
class MeanDistance:
    """A bandwidth relative to the data: γ = factor / A, with A the training mean of what γ multiplies.

    A is the mean of D² (of the χ² distance for `ChiSquare`) over all n² ordered pairs of training samples,
    the n zero pairs (x, x) included; leaving them out would multiply A by n / (n − 1). Xu et al. (2013) take
    factor = 4ⁿ⁻¹, and for their χ² kernels, where γ = 1 / (A 4ⁿ⁻¹), factor = 4¹⁻ⁿ.
    """

    factor: float

    def __post_init__(self) -> None:
        _require_number("MeanDistance", "factor", self.factor)

    def __format__(self, spec: str) -> str:
        return f"{self.factor:{spec}}/A"


class Kernel(ABC):
    """A positive semidefinite function of one comparison of two samples."""

    comparison: ClassVar[Comparison]

    @property
    @abstractmethod
    def name(self) -> str:
        """Name shown in the list of kernels."""

    def fitted(self, mean: Callable[[Comparison], float]) -> Kernel:
        """The kernel with every number known, given the training mean of any comparison."""
        return self

    @abstractmethod
    def of(self, compared: Array) -> Array:
        """The kernel values of samples already compared."""

    @property
    def is_inner_product(self) -> bool:
        """Whether k(x, z) = ⟨x, z⟩, so that the features are a factor of the kernel."""
        return False


@dataclass(frozen=True)
class Linear(Kernel):
    """k(x, z) = ⟨x, z⟩."""

    comparison = "inner product"
    name = "linear"

    def of(self, compared: Array) -> Array:
        return compared

    @property
    def is_inner_product(self) -> bool:
        return type(self).of is Linear.of


@dataclass(frozen=True)
class Polynomial(Kernel):
    """k(x, z) = (scale ⟨x, z⟩ + coef0)^degree, with coef0 ≥ 0: a negative one is not semidefinite."""

    degree: int = 3
    coef0: float = 1.0
    scale: float = 1.0
    comparison = "inner product"

    def __post_init__(self) -> None:
        if not is_whole(self.degree, 1):
            raise InputError(f"Polynomial: degree is {self.degree!r}, not a whole number ≥ 1: give degree ≥ 1")
        _require_number("Polynomial", "coef0", self.coef0, "≥ 0")
        _require_number("Polynomial", "scale", self.scale)

    @property
    def name(self) -> str:
        coef0 = "" if self.coef0 == 1 else f", coef0={self.coef0:g}"
        scale = "" if self.scale == 1 else f", scale={self.scale:g}"
        return f"polynomial(degree={self.degree}{coef0}{scale})"

    def of(self, compared: Array) -> Array:
        return (float(self.scale) * compared + float(self.coef0)) ** self.degree


@dataclass(frozen=True)
class DistanceKernel(Kernel):
    """A decreasing function of s = γD², equal to 1 at D = 0; γ is a number or relative to the data."""

    gamma: float | MeanDistance
    comparison: ClassVar[Comparison] = "squared distance"
    kind: ClassVar[str]
    decay: ClassVar[staticmethod[[Array], Array]]

    def __post_init__(self) -> None:
        if not isinstance(self.gamma, MeanDistance):
            _require_number(type(self).__name__, "gamma", self.gamma)

    @property
    def name(self) -> str:
        return f"{self.kind}(γ={self.gamma:g})"

    def fitted(self, mean: Callable[[Comparison], float]) -> Kernel:
        if isinstance(self.gamma, MeanDistance):
            return replace(self, gamma=self.gamma.factor / mean(self.comparison))
        return self

    def of(self, compared: Array) -> Array:
        assert not isinstance(self.gamma, MeanDistance), "fitted() computes γ"
        return self.decay(float(self.gamma) * compared)


class Gaussian(DistanceKernel):
    """k(x, z) = exp(−γ D²(x, z)). The number is γ; `from_sigma` takes σ, with γ = 1 / (2σ²)."""

    kind = "gaussian"
    decay = staticmethod(lambda s: np.exp(-s))

    @classmethod
    def from_sigma(cls, sigma: float) -> Self:
        """k(x, z) = exp(−D²(x, z) / (2σ²))."""
        _require_number("Gaussian.from_sigma", "sigma", sigma)
        return cls(gamma=0.5 / sigma / sigma)


class Laplacian(DistanceKernel):
    """k(x, z) = exp(−√γ D(x, z)), D Euclidean or given, as in Xu et al. (2013). The number is γ.

    The `laplacian_kernel` of scikit-learn is another one: exp(−γ‖x − z‖₁), with the L1 distance and no root.
    """

    kind = "laplacian"
    decay = staticmethod(lambda s: np.exp(-np.sqrt(s)))


class ChiSquare(DistanceKernel):
    """k(x, z) = exp(−γ χ²(x, z)), χ²(x, z) = Σⱼ (xⱼ − zⱼ)² / (xⱼ + zⱼ), features ≥ 0. The number is γ."""

    comparison = "χ² distance"
    kind = "chi-square"
    decay = staticmethod(lambda s: np.exp(-s))


class InverseSquareDistance(DistanceKernel):
    """k(x, z) = 1 / (γ D²(x, z) + 1). The number is γ."""

    kind = "inverse-square-distance"
    decay = staticmethod(lambda s: 1 / (s + 1))


class InverseDistance(DistanceKernel):
    """k(x, z) = 1 / (√γ D(x, z) + 1). The number is γ."""

    kind = "inverse-distance"
    decay = staticmethod(lambda s: 1 / (np.sqrt(s) + 1))
