"""Kernel banks: many kernels on the same samples, fitted on training samples, evaluated on any others.

Every kernel is a function of one comparison of two samples (`kernel_functions`). A bank makes each comparison once, and
its kernels from it. The number of every distance kernel is γ, never σ; `Gaussian.from_sigma` translates.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from functools import cache, lru_cache, partial
from typing import ClassVar, Self, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import InputError
from .checks import check_lists, check_name, check_type
from .cross_kernels import CrossKernel, CrossKernels, Product
from .kernel_functions import (
    Array,
    ChiSquare,
    Comparison,
    DistanceKernel,
    Gaussian,
    InverseDistance,
    InverseSquareDistance,
    Kernel,
    Laplacian,
    Linear,
    MeanDistance,
    Polynomial,
)
from .memory import check_stack
from .numbers import as_real_array

__all__ = [
    "Bank", "ChiSquare", "DistanceBank", "DistanceKernel", "Gaussian", "InverseDistance", "InverseSquareDistance",
    "Kernel", "KernelBank", "Laplacian", "Linear", "MeanDistance", "Polynomial", "kumar_bank", "xu_bank",
    "xu_distance_bank",
]  # fmt: skip

Data = ArrayLike | Sequence[ArrayLike]
View: TypeAlias = "slice[int | None, int | None, int | None] | int"  # columns of the features, or a matrix of several

FEATURES = ("all", "each", "all+each")
# Distances from rounded arithmetic miss symmetry and the zero diagonal by about √ε of the largest.
ROUNDED_DISTANCE = 1e-6


class Bank(ABC):
    """Every kernel on every view of the samples: a group of features, or one of several given distances."""

    takes: ClassVar[type] = Kernel

    def __init__(self, kernels: Sequence[Kernel]) -> None:
        check_lists(f"a list of {self.takes.__name__}", kernels=kernels)
        self.kernels = tuple(kernels)
        self._views: dict[str, View] = {}
        self._weight: Array | None = None
        self._fitted: list[tuple[str, Kernel]] = []
        if not self.kernels:
            raise InputError(f"{type(self).__name__}: kernels is empty: give at least one, such as Linear()")
        for kernel in self.kernels:
            check_type(self.takes, f"a {self.takes.__name__}, such as Gaussian(0.5)", kernel=kernel)

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
        if self._train.ndim == 2:  # features
            check_stack(1, len(self._train), len(self._train))
        with np.errstate(over="ignore"):
            compared, weight = self._compare(self._train, view, comparison), self._weight
            mean = float(compared.mean() if weight is None else weight @ compared @ weight / weight.sum() ** 2)
        if not np.finfo(float).tiny < mean < np.inf:
            raise InputError(f"MeanDistance: the mean {comparison}{view} is {mean:g}: give gamma a number")
        return mean

    def _fill(
        self, compare: Callable[[str, Comparison], Array], shape: tuple[int, ...], symmetric: bool = False,
        out: Array | None = None,
    ) -> Array:  # fmt: skip
        if out is None:
            check_stack(len(self._fitted), shape[0], shape[-1] if len(shape) == 2 else 1)
        stack = np.empty((len(self._fitted), *shape)) if out is None else out
        for m, values in self._each(compare, np.ones(len(stack), dtype=bool)):
            stack[m] = values / 2 + values.T / 2 if symmetric else values
        return stack

    def _each(
        self, compare: Callable[[str, Comparison], Array], wanted: NDArray[np.bool_]
    ) -> Iterator[tuple[int, Array]]:
        """The kernels that are wanted, one after the other."""
        compare_once = lru_cache(maxsize=3)(compare)  # the three comparisons of the current view
        for m in map(int, np.flatnonzero(wanted)):
            view, kernel = self._fitted[m]
            with np.errstate(over="ignore", invalid="ignore"):
                values = kernel.of(compare_once(view, kernel.comparison))
            if not np.isfinite(values).all():
                raise InputError(f"kernel {self.names[m]} overflows on these samples: rescale the features")
            yield m, values


class KernelBank(Bank):
    """Kernels on all features together ("all"), on each feature alone ("each"), or both ("all+each").

    The stack lists all kernels on all features, then all kernels on feature x0, on x1 and so on, numbered
    like columns. Euclidean distances are summed difference by difference, so a sample is at distance exactly
    0 from itself, whether it is a training or a test sample.
    """

    def __init__(self, kernels: Sequence[Kernel], features: str = "all") -> None:
        super().__init__(kernels)
        check_name("features", features, FEATURES)
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

    def stack(self, X: ArrayLike | None = None, out: Array | None = None) -> Array:
        """The kernels (M, t, n) of samples X with the training samples, or (M, n, n) of the latter; `out` is the array
        that they are written to, if any."""
        check_type((np.ndarray, type(None)), "an array of NumPy, or None", out=out)
        samples = self._given(X)
        shape = (len(self._fitted), len(samples), len(self._train))
        if out is not None and np.shape(out) != shape:
            raise InputError(f"out has shape {np.shape(out)}: give an array {shape}, or leave it out")
        return self._fill(partial(self._compare, samples), shape[1:], X is None, out)

    def cross(self, X: ArrayLike) -> CrossKernels:
        """The kernels of samples X with the training samples, made when asked for; inner products as factors."""
        samples = self._given(X)
        inner = np.array([kernel.is_inner_product for _, kernel in self._fitted])

        def each(wanted: NDArray[np.bool_]) -> Iterator[tuple[int, CrossKernel]]:
            others = self._each(partial(self._compare, samples), wanted & ~inner)
            for m in map(int, np.flatnonzero(wanted)):
                columns = self._views[self._fitted[m][0]]
                yield (m, Product(samples[:, columns], self._train[:, columns])) if inner[m] else next(others)

        return CrossKernels((len(inner), len(samples), len(self._train)), each)

    def factors(self) -> list[Array] | None:
        """Factors F of the training kernels FF': the features, if all kernels are inner products; else None."""
        self._require_fit()
        if not all(kernel.is_inner_product for kernel in self.kernels):
            return None
        return [self._train[:, self._views[view]] for view, _ in self._fitted]

    def count_for(self, features: int) -> int:
        """The number of kernels that samples with so many features will have."""
        return len(self.kernels) * (("all" in self.features) + features * ("each" in self.features))

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
