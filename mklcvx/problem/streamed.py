"""Gaussian kernels as functions of features, computed block by block where they are asked for and never stored.

K_m(i, j) = exp(−γ_m ‖x_i − x_j‖²) for features and γ_m as they are stored, read as exact reals. Such a kernel is
positive semidefinite whatever the samples are (Bochner 1932; Schoenberg 1938): nothing has to be factored to know it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeAlias, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import InputError
from .checks import check_lists
from .kernel_functions import Comparison, Gaussian
from .memory import check_stack
from .numbers import Array, as_real_array, is_number
from .ownership import handed_over

Chosen: TypeAlias = "slice[int | None, int | None, int | None] | list[int] | NDArray[np.intp] | NDArray[np.bool_]"

ENTRIES = 1 << 16  # of a block: it stays in the cache while every kernel is made of its distances
LARGEST = 1e150  # of a feature: squares and their sums are numbers
STEEPEST = 1e30  # the largest γ: what underflow takes from a squared distance stays nothing
MOST = 10**6  # features


class Streamed:
    """A stack of Gaussian kernels, made of features block by block.

    It looks like an array (M, n, n) and holds the features alone.

    Parameters
    ----------
    X : array_like of shape (n, d)
        Features.
    kernels : list of float or Gaussian
        The numbers γ, or kernels with them. A `MeanDistance` is relative to the mean squared distance of X.

    Raises
    ------
    InputError
        If features or kernels cannot be used.
    """

    ndim = 3

    def __init__(self, X: ArrayLike, kernels: Sequence[float | Gaussian]) -> None:
        check_lists("a list of numbers γ", kernels=kernels)
        self.X = handed_over(np.array(_features(X), dtype=np.float64, order="C"))
        self.gammas = handed_over(np.array([_gamma(kernel, self.X) for kernel in kernels], dtype=np.float64))
        if not len(self.gammas):
            raise InputError("kernels is empty: give at least one γ, such as [0.5]")

    @property
    def shape(self) -> tuple[int, int, int]:
        """The shape (M, n, n)."""
        return len(self.gammas), len(self.X), len(self.X)

    @property
    def dtype(self) -> np.dtype[np.float64]:
        """Data type of the entries."""
        return self.X.dtype

    @property
    def nbytes(self) -> int:
        """Bytes of the features."""
        return self.X.nbytes

    @property
    def features(self) -> int:
        """Number of features, d."""
        return int(self.X.shape[1])

    @property
    def names(self) -> list[str]:
        """One name per kernel."""
        return [Gaussian(float(gamma)).name for gamma in self.gammas]

    def __len__(self) -> int:
        return len(self.gammas)

    @overload
    def __getitem__(self, which: Chosen) -> Streamed: ...

    @overload
    def __getitem__(self, which: int | tuple[Chosen, Chosen | int, Chosen | int]) -> Array: ...

    def __getitem__(self, which: int | Chosen | tuple[Chosen, Chosen | int, Chosen | int]) -> Array | Streamed:
        if isinstance(which, tuple):  # entries of every kernel: of one row, of one column, or at pairs of indices
            distances = np.sum((self.X[which[1]] - self.X[which[2]]) ** 2, axis=-1)
            return np.exp(-np.multiply.outer(self.gammas, distances))
        gammas = self.gammas[which]
        if np.ndim(gammas):
            return self._with(self.X, np.asarray(gammas))
        every = np.arange(len(self.X))
        check_stack(1, len(every), len(every))
        return self._with(self.X, np.array([gammas])).block(every, every)[0]

    def __iter__(self) -> Iterator[Array]:
        return (self[m] for m in range(len(self)))

    def _with(self, X: Array, gammas: Array) -> Streamed:
        other = object.__new__(Streamed)
        other.X, other.gammas = handed_over(X), handed_over(gammas)
        return other

    def of_samples(self, chosen: Chosen) -> Streamed:
        """The kernels of some of the samples."""
        return self._with(np.ascontiguousarray(self.X[chosen]), self.gammas)

    def block(self, rows: NDArray[np.intp], columns: NDArray[np.intp]) -> Array:
        """Some rows and columns of every kernel, (M, rows, columns)."""
        entries = np.empty((len(self), len(rows), len(columns)))
        for here, m, values in self._blocks(rows, columns):
            entries[m, here] = values
        return entries

    def products(self, vectors: Array) -> Array:
        """K_m V for vectors (n, k), (M, n, k), in one pass over the columns where a vector is not zero."""
        every, used = np.arange(len(self.X)), np.flatnonzero(vectors.any(axis=1))
        images = np.zeros((len(self), *vectors.shape))
        short = np.ascontiguousarray(vectors[used])
        for here, m, values in self._blocks(every, used):
            np.matmul(values, short, out=images[m, here])
        return images

    def matvecs(self, vector: Array) -> Array:
        """K_m v for every kernel, (M, n)."""
        return np.ascontiguousarray(self.products(vector[:, None])[:, :, 0])

    def matvecs_each(self, vectors: Array) -> Array:
        """K_m v_m for every kernel and its own vector, (M, n)."""
        every, used = np.arange(len(self.X)), np.flatnonzero(vectors.any(axis=0))
        images, short = np.zeros(vectors.shape), np.ascontiguousarray(vectors[:, used])
        for here, m, values in self._blocks(every, used):
            images[m, here] = values @ short[m]
        return images

    def _blocks(self, rows: NDArray[np.intp], columns: NDArray[np.intp]) -> Iterator[tuple[slice, int, Array]]:
        """Blocks of rows, one kernel after the other; the array is written over by the next."""
        from scipy.spatial.distance import cdist  # differences first: nothing cancels, wherever the samples lie

        if not len(columns):
            return
        others, height = self.X[columns], max(1, ENTRIES // len(columns))
        room = np.empty((height, len(columns)))
        for start in range(0, len(rows), height):
            distances = cdist(self.X[rows[start : start + height]], others, "sqeuclidean")
            values = room[: len(distances)]
            for m, gamma in enumerate(self.gammas):
                np.multiply(distances, -gamma, out=values)
                np.exp(values, out=values)
                yield slice(start, start + len(distances)), m, values


def _features(X: ArrayLike) -> Array:
    array = as_real_array(X, "X", "samples × features, (n, d)")
    if array.ndim != 2 or 0 in array.shape or array.shape[1] > MOST:
        raise InputError(f"X has shape {array.shape}: give samples × features, (n, d), with d between 1 and {MOST}")
    if not float(np.abs(array).max()) <= LARGEST:  # which a single-precision number cannot be compared with
        raise InputError(f"X has entries that are not finite, or above {LARGEST:g}: remove, impute or rescale them")
    return np.asarray(array, dtype=np.float64)


def _gamma(kernel: float | Gaussian, X: Array) -> float:
    """The number γ of a kernel."""
    given = kernel if isinstance(kernel, Gaussian) else Gaussian(kernel) if is_number(kernel) else None
    if given is None or type(given) is not Gaussian:
        raise InputError(f"kernels has {kernel!r:.40}: give Gaussians by their numbers γ, such as [0.1, 1.0, 10.0]")

    def mean(comparison: Comparison) -> float:
        """Of all squared distances: twice the squared distance from the centre."""
        average = 2 * float(np.mean(np.sum((X - X.mean(axis=0)) ** 2, axis=1)))
        if not np.finfo(float).tiny < average < np.inf:
            raise InputError(f"MeanDistance: the mean {comparison} is {average:g}: give gamma a number")
        return average

    gamma = float(getattr(given.fitted(mean), "gamma"))  # noqa: B009  # a Kernel has no γ, a fitted Gaussian has
    if gamma > STEEPEST:
        raise InputError(f"kernels has γ = {gamma:g}, above {STEEPEST:g}: rescale the features")
    return gamma
