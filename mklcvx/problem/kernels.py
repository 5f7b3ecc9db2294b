"""Kernel banks: many kernels on the same samples, fitted on training samples, evaluated on any others.

Every kernel here is a function of one comparison of two samples x and z: their inner product ⟨x, z⟩, their
squared distance D²(x, z), or their χ² distance. A bank makes each comparison once and fills its stack from
it. The number of every distance kernel is γ, never σ; `Gaussian.from_sigma` translates.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache, partial
from math import isfinite
from typing import ClassVar, Literal, Self, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import InputError, nearest
from .numbers import as_real_array, is_number, is_whole

Array = NDArray[np.float64]
Comparison = Literal["inner product", "squared distance", "χ² distance"]
Data = ArrayLike | Sequence[ArrayLike]
View: TypeAlias = "slice[int | None, int | None, int | None] | int"  # columns of the features, or a matrix of several

FEATURES = ("all", "each", "all+each")
# Distances from rounded arithmetic miss symmetry and the zero diagonal by about √ε of the largest.
ROUNDED_DISTANCE = 1e-6


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


@dataclass(frozen=True)
class Linear(Kernel):
    """k(x, z) = ⟨x, z⟩."""

    comparison = "inner product"
    name = "linear"

    def of(self, compared: Array) -> Array:
        return compared


@dataclass(frozen=True)
class Polynomial(Kernel):
    """k(x, z) = (scale ⟨x, z⟩ + coef0)^degree, with coef0 ≥ 0: a negative one is not semidefinite."""

    degree: int
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
        return (self.scale * compared + self.coef0) ** self.degree


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
        return self.decay(self.gamma * compared)


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


class Bank(ABC):
    """Every kernel on every view of the samples: a group of features, or one of several given distances."""

    takes: ClassVar[type] = Kernel

    def __init__(self, kernels: Sequence[Kernel]) -> None:
        self.kernels = tuple(kernels)
        self._views: dict[str, View] = {}
        self._weight: Array | None = None
        self._fitted: list[tuple[str, Kernel]] = []
        if not self.kernels:
            raise InputError(f"{type(self).__name__}: kernels is empty: give at least one, such as Linear()")
        for kernel in self.kernels:
            if not isinstance(kernel, self.takes):
                raise InputError(f"{kernel!r:.40} is not a {self.takes.__name__}: give one, such as Gaussian(0.5)")

    @property
    def names(self) -> list[str]:
        """One name per kernel of the stack; a γ relative to the data stays as declared."""
        self._require_fit()
        return [kernel.name + view for view in self._views for kernel in self.kernels]

    @property
    def gammas(self) -> list[float | None]:
        """The number γ of each kernel of the stack, None where it has none."""
        self._require_fit()
        return [getattr(kernel, "gamma", None) for _, kernel in self._fitted]

    def _require_fit(self) -> None:
        if not self._views:
            raise InputError(f"{type(self).__name__} is not fitted: call fit on the training data first")

    @abstractmethod
    def _compare(self, samples: Array, view: str, comparison: Comparison) -> Array:
        """The comparison of samples with the training samples, in one view."""

    def _fit(self, train: Array, views: dict[str, View]) -> None:
        self._train, self._views, self._fitted = train, views, []
        try:
            for view in views:
                mean = cache(partial(self._mean, view))
                self._fitted += [(view, kernel.fitted(mean)) for kernel in self.kernels]
        except InputError:
            self._views = {}
            raise

    def _mean(self, view: str, comparison: Comparison) -> float:
        with np.errstate(over="ignore"):
            compared, weight = self._compare(self._train, view, comparison), self._weight
            mean = float(compared.mean() if weight is None else weight @ compared @ weight / weight.sum() ** 2)
        if not np.finfo(float).tiny < mean < np.inf:
            raise InputError(f"MeanDistance: the mean {comparison}{view} is {mean:g}: give gamma a number")
        return mean

    def _fill(
        self, compare: Callable[[str, Comparison], Array], shape: tuple[int, ...], symmetric: bool = False
    ) -> Array:
        stack = np.empty((len(self._fitted), *shape))
        compare_once = lru_cache(maxsize=3)(compare)  # the three comparisons of the current view
        for m, (view, kernel) in enumerate(self._fitted):
            with np.errstate(over="ignore", invalid="ignore"):
                values = kernel.of(compare_once(view, kernel.comparison))
            if not np.isfinite(values).all():
                raise InputError(f"kernel {self.names[m]} overflows on these samples: rescale the features")
            stack[m] = values / 2 + values.T / 2 if symmetric else values
        return stack


class KernelBank(Bank):
    """Kernels on all features together ("all"), on each feature alone ("each"), or both ("all+each").

    The stack lists all kernels on all features, then all kernels on feature x0, on x1 and so on, numbered
    like columns. Euclidean distances are summed difference by difference, so a sample is at distance exactly
    0 from itself, whether it is a training or a test sample.
    """

    def __init__(self, kernels: Sequence[Kernel], features: str = "all") -> None:
        super().__init__(kernels)
        if features not in FEATURES:
            raise InputError(f"KernelBank: unknown features {features!r}: {nearest(str(features), FEATURES)}")
        self.features = features

    def fit(self, X: ArrayLike, sample_weight: Array | None = None, feature_names: Sequence[str] | None = None) -> Self:
        """Store the training samples X (n × d) and compute the bandwidths relative to them; a sample of weight 2 counts
        as two in the means. Columns are x0, x1 … unless they have names."""
        train, self._weight = self._samples(X), sample_weight
        views: dict[str, View] = {"": slice(None)} if "all" in self.features else {}
        if "each" in self.features:
            names = [f"x{j}" for j in range(train.shape[1])] if feature_names is None else feature_names
            views |= {f"[{name}]": slice(j, j + 1) for j, name in enumerate(names)}
        self._fit(train, views)
        return self

    def stack(self, X: ArrayLike | None = None) -> Array:
        """The kernels (M, t, n) of samples X with the training samples, or (M, n, n) of the latter."""
        samples = self._given(X)
        return self._fill(partial(self._compare, samples), (len(samples), len(self._train)), X is None)

    def diagonal(self, X: ArrayLike | None = None) -> Array:
        """The values k(x, x), (M, t), of samples X, or (M, n) of the training samples."""
        samples = self._given(X)

        def with_itself(view: str, comparison: Comparison) -> Array:
            squares = (samples[:, self._views[view]] ** 2).sum(axis=-1)
            return squares if comparison == "inner product" else np.zeros(len(samples))

        return self._fill(with_itself, (len(samples),))

    def _compare(self, samples: Array, view: str, comparison: Comparison) -> Array:
        x, z = samples[:, self._views[view]], self._train[:, self._views[view]]
        if comparison == "inner product":
            return x @ z.T
        if comparison == "squared distance":
            from scipy.spatial.distance import cdist

            return cdist(x, z, "sqeuclidean")
        from sklearn.metrics.pairwise import additive_chi2_kernel

        return -additive_chi2_kernel(x, z)

    def _samples(self, X: ArrayLike) -> Array:
        samples = _finite(X, "X", 2, "samples × features, X.reshape(-1, 1) for a single feature")
        if samples.min() < 0 and any(isinstance(kernel, ChiSquare) for kernel in self.kernels):
            raise InputError("X has negative features, which ChiSquare refuses: shift them or leave it out")
        return samples

    def _given(self, X: ArrayLike | None) -> Array:
        self._require_fit()
        samples, d = self._train if X is None else self._samples(X), self._train.shape[1]
        if samples.shape[1] != d:
            raise InputError(f"X has {samples.shape[1]} features, the bank was fitted on {d}: give those {d}")
        return samples


class DistanceBank(Bank):
    """Distance kernels on given distances: all kernels on the first distance D0, then on D1 and so on.

    Distances are plain, not squared; for `ChiSquare` the distance given is the χ² distance itself. On
    distances that are not Euclidean some of these kernels are not semidefinite. This is not checked here.
    """

    takes = DistanceKernel

    def fit(self, distances: Data) -> Self:
        """Store the training distances (d, n, n), symmetric with a zero diagonal up to rounding."""
        train = _distances(distances)
        if train.shape[1] != train.shape[2]:
            raise InputError(f"training distances have shape {train.shape}: give square ones, (d, n, n)")
        for d, D in enumerate(train):
            if max(np.abs(D - D.T).max(), D.diagonal().max()) > ROUNDED_DISTANCE * D.max():
                raise InputError(f"training distance D{d} is not symmetric with zero diagonal: correct it")
            np.fill_diagonal(D, 0.0)
        self._fit(train, {f"[D{d}]": d for d in range(len(train))})
        return self

    def stack(self, distances: Data | None = None) -> Array:
        """The kernels (M, t, n) of test-to-train distances (d, t, n), or (M, n, n) of the training ones."""
        given = self._given(distances)
        return self._fill(partial(self._compare, given), given.shape[1:], distances is None)

    def diagonal(self, distances: Data | None = None) -> Array:
        """The values k(x, x), (M, t): all 1, since D(x, x) = 0."""
        return np.ones((len(self.names), self._given(distances).shape[1]))

    def _compare(self, samples: Array, view: str, comparison: Comparison) -> Array:
        given = samples[self._views[view]]
        return given if comparison == "χ² distance" else given**2

    def _given(self, distances: Data | None) -> Array:
        self._require_fit()
        given, (d, n, _) = self._train if distances is None else _distances(distances), self._train.shape
        if given.shape[::2] != (d, n):
            raise InputError(f"distances have shape {given.shape}: give ({d}, t, {n}), as in fit")
        return given


def _distances(distances: Data) -> Array:
    given = _finite(distances, "distances", 3, "(d, t, n), or a list of d matrices, [D] for a single one")
    if given.min() < 0:
        raise InputError(f"distances have a negative entry, {given.min():g}: give plain distances D ≥ 0")
    return given


def _finite(values: Data, name: str, dimensions: int, wanted: str) -> Array:
    """A float copy of the values, independent of later changes by the caller."""
    array = as_real_array(values, name, wanted)
    if array.ndim != dimensions or array.size == 0:
        fault = "is empty" if array.size == 0 else f"has {array.ndim} dimensions, not {dimensions}"
        raise InputError(f"{name} {fault}: give {wanted}")
    if not np.isfinite(array).all():
        raise InputError(f"{name} has NaN or infinite entries: remove or impute them")
    return np.array(array, dtype=float)


def kumar_bank(features: str = "all") -> KernelBank:
    """The 13 kernels of Kumar et al. (2012): 9 Gaussians γ = 2⁻¹⁰ … 2⁻², degrees 2, 3, 4 and linear.

    With features="all+each", their second setting, 13 + 13d kernels. The paper does not give the constant of
    the polynomials; it is 1 here. The paper centres each kernel and gives it unit variance (see preprocessing).
    """
    gaussians = [Gaussian(gamma=2.0**power) for power in range(-10, -1)]
    return KernelBank([*gaussians, *map(Polynomial, (2, 3, 4)), Linear()], features)


def xu_bank() -> KernelBank:
    """The 13 + 13d kernels of Xu et al. (2013): 10 Gaussians of bandwidth 2⁻³ … 2⁶ and degrees 1, 2, 3.

    They follow SimpleMKL, where the bandwidth is σ in exp(−D² / (2σ²)) and the constant of polynomials is 1.
    Features are meant to have zero mean and unit variance on the training samples.
    """
    gaussians = [Gaussian.from_sigma(2.0**power) for power in range(-3, 7)]
    return KernelBank([*gaussians, *map(Polynomial, (1, 2, 3))], features="all+each")


def xu_distance_bank() -> DistanceBank:
    """The 20 kernels per distance of Xu et al. (2013): four kinds, γ = 4ⁿ⁻¹ / A for n = −2 … 2."""
    kinds = (Gaussian, Laplacian, InverseSquareDistance, InverseDistance)
    return DistanceBank([kind(MeanDistance(4.0 ** (n - 1))) for kind in kinds for n in range(-2, 3)])
