"""Kernels of low rank, kept as their factors: K_m = F_m F_m' with F_m (n, r_m)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeAlias, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import InputError
from .checks import check_lists
from .distributed import DaskArray, Distributed
from .memory import check_memory, check_stack
from .numbers import Array, RealArray, as_indices, as_real_array, check_whole
from .ownership import handed_over, is_settled
from .streamed import Chosen, Streamed

ENTRIES = 1 << 17  # of factors, for which something is computed at a time: it stays in the cache


def _checked(factor: ArrayLike, m: int) -> Array:
    part = as_real_array(factor, f"factor {m}", "(n, r), one row per sample")
    if part.ndim != 2 or 0 in part.shape:
        raise InputError(f"factor {m} has shape {part.shape}: give (n, r), one row per sample, r at least 1")
    return part.astype(np.float64, copy=False)


def _alone(factor: Array) -> Array:
    return factor if is_settled(factor) else np.array(factor, order="K")


class LowRank:
    """A stack of kernels K_m = F_m F_m', kept as their factors.

    It looks like an array (M, n, n) and forms a kernel only where one is asked for. `columns` are all factors side by
    side, (n, R), in memory that nobody else writes to; `starts` is where each begins.

    Parameters
    ----------
    factors : list of array_like
        One factor of shape (n, r_m) for each kernel.

    Raises
    ------
    InputError
        If a factor is no matrix of numbers, or their rows differ.

    Examples
    --------
    >>> import numpy as np
    >>> import mklcvx
    >>> kernels = mklcvx.LowRank([np.eye(4)[:, :2], np.ones((4, 1))])
    >>> kernels.shape, kernels.rank
    ((2, 4, 4), 3)
    """

    ndim = 3

    def __init__(self, factors: Sequence[ArrayLike]) -> None:
        check_lists("a list of factors (n, r)", factors=factors)
        parts = [_checked(factor, m) for m, factor in enumerate(factors)]
        if not parts or len({len(part) for part in parts}) > 1:
            heights = ", ".join(str(len(part)) for part in parts[:8]) or "none"
            raise InputError(f"factors have {heights} rows: give at least one (n, r), all with one row per sample")
        check_memory(sum(part.nbytes for part in parts), "the factors", "take fewer samples, or fewer columns")
        self.columns: Array = handed_over(_alone(parts[0]) if len(parts) == 1 else np.concatenate(parts, axis=1))
        self.ranks = tuple(part.shape[1] for part in parts)
        self.starts = np.cumsum([0, *self.ranks[:-1]])

    def __setstate__(self, state: dict[str, object]) -> None:
        self.__dict__.update(state)
        handed_over(self.columns)

    @property
    def shape(self) -> tuple[int, int, int]:
        """The shape (M, n, n)."""
        return len(self.ranks), len(self.columns), len(self.columns)

    @property
    def dtype(self) -> np.dtype[np.float64]:
        """Data type of the entries."""
        return self.columns.dtype

    @property
    def nbytes(self) -> int:
        """Bytes of the factors."""
        return self.columns.nbytes

    @property
    def rank(self) -> int:
        """Rank of all kernels together, at most."""
        return int(sum(self.ranks))

    def factor(self, m: int) -> Array:
        """Return the factor of a kernel.

        Parameters
        ----------
        m : int
            Index of the kernel.

        Returns
        -------
        ndarray of shape (n, r_m)
            A view.
        """
        check_whole(0, len(self) - 1, m=m)
        return self.columns[:, self.starts[m] : self.starts[m] + self.ranks[m]]

    def __len__(self) -> int:
        return len(self.ranks)

    @overload
    def __getitem__(self, which: Chosen) -> LowRank: ...

    @overload
    def __getitem__(self, which: int | tuple[Chosen, Chosen | int, Chosen | int]) -> Array: ...

    def __getitem__(self, which: int | Chosen | tuple[Chosen, Chosen | int, Chosen | int]) -> Array | LowRank:
        if isinstance(which, tuple):
            return self._entries(*which)
        chosen = np.arange(len(self))[which]
        if np.ndim(chosen) == 0:
            factor = self.factor(int(chosen))
            return factor @ factor.T
        return LowRank([self.factor(int(m)) for m in chosen])

    def _entries(self, which: Chosen, rows: Chosen | int, columns: Chosen | int) -> Array:
        """Entries of every kernel, (M, …): of one row, of one column, or at pairs of indices; no kernel is formed."""
        if which != slice(None) or (isinstance(rows, slice) and isinstance(columns, slice)):
            raise TypeError("of kernels in factors, entries are taken from all, of one row, one column, or at pairs")
        return np.moveaxis(self.sums(self.columns[rows] * self.columns[columns]), -1, 0)

    def of_samples(self, chosen: Chosen) -> LowRank:
        """Return the kernels of some of the samples.

        Parameters
        ----------
        chosen : array_like of int
            Indices of samples.

        Returns
        -------
        LowRank
            A new stack.
        """
        samples = as_indices(chosen, len(self.columns))
        return LowRank([self.factor(m)[samples] for m in range(len(self))])

    def __iter__(self) -> Iterator[Array]:
        return (self[m] for m in range(len(self)))

    def sums(self, values: Array) -> Array:
        """Sum over the columns of every factor, along the last axis.

        Parameters
        ----------
        values : ndarray of shape (..., R)
            One number for each column.

        Returns
        -------
        ndarray of shape (..., M)
            One number for each kernel.
        """
        each = as_real_array(values, "values", "a number for each column")
        if each.shape[-1:] != (self.rank,):
            raise InputError(f"values have shape {each.shape}: give (…, {self.rank}), a number for each column")
        return np.asarray(np.add.reduceat(each, self.starts, axis=-1), dtype=np.float64)

    def spread(self, weights: Array) -> Array:
        """Repeat a number of each kernel for its columns.

        Parameters
        ----------
        weights : ndarray of shape (M,)
            One number for each kernel.

        Returns
        -------
        ndarray of shape (R,)
            One number for each column.
        """
        given = as_real_array(weights, "weights", "a number for each kernel")
        if given.shape != (len(self),):
            raise InputError(f"weights have shape {given.shape}: give a number for each of {len(self)} kernels")
        return np.repeat(given, self.ranks)

    def matvecs(self, vector: Array) -> Array:
        """Compute K_m v for every kernel.

        Parameters
        ----------
        vector : ndarray of shape (n,)
            The vector v.

        Returns
        -------
        ndarray of shape (M, n)
            One row for each kernel.
        """
        inside = self._vector(vector) @ self.columns
        return by_rows(self, lambda rows: self.sums(rows * inside)).T.copy()

    def quad_forms(self, vector: Array) -> Array:
        """Compute v'K_m v for every kernel, as sums of squares: exact where they vanish.

        Parameters
        ----------
        vector : ndarray of shape (n,)
            The vector v.

        Returns
        -------
        ndarray of shape (M,)
            One number for each kernel.
        """
        return self.sums((self._vector(vector) @ self.columns) ** 2)

    def _vector(self, vector: ArrayLike) -> Array:
        array = as_real_array(vector, "vector", f"{len(self.columns)} numbers, one per sample")
        if array.shape[-1:] != (len(self.columns),):
            raise InputError(f"vector has shape {array.shape}: give {len(self.columns)} numbers, one per sample")
        return array.astype(np.float64, copy=False)


def by_rows(kernels: LowRank, function: Callable[[Array], Array]) -> Array:
    """What a function makes of the factors' rows: of some at a time, so that nothing as large as they are is made."""
    height = max(1, ENTRIES // kernels.rank)
    starts = range(0, len(kernels.columns), height)
    return np.concatenate([function(kernels.columns[start : start + height]) for start in starts])


Kernels: TypeAlias = ArrayLike | Sequence[ArrayLike] | LowRank | Streamed | Distributed | DaskArray  # as they are given
Stored: TypeAlias = RealArray | LowRank | Streamed | Distributed  # kernels (M, n, n) as they are kept


def dense(kernels: Stored) -> RealArray:
    """The kernels as an array; those in factors are formed."""
    if not isinstance(kernels, LowRank | Streamed):
        return np.asarray(kernels)
    check_stack(*kernels.shape)
    return np.stack(list(kernels))


def part_of(kernels: Stored, samples: NDArray[np.intp]) -> Stored:
    """The kernels of some of the samples, each in one piece: products with a view across the stack take ten times as
    long."""
    if not isinstance(kernels, np.ndarray):
        return kernels.of_samples(samples)
    return np.stack([kernel[samples[:, None], samples] for kernel in kernels])
