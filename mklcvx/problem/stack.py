"""A stack of kernels as the formulations see it: one kernel at a time, in double precision, factored once."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import NamedTuple, Self, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from .distributed import Asked, Distributed, adder, entries, rows_at_once
from .factors import EPSILON, Factor, NumericalFactor, factored, offsets_of, orthogonal, pivoted, pivoted_cholesky
from .low_rank import LowRank, Stored
from .numbers import Array, RealArray
from .streamed import Streamed

T = TypeVar("T")

MOSTLY = 4e-3  # spread relative to the constant below which a kernel is mostly constant
OVERWHELMING = 1e-6  # spread below which a kernel of full rank is centred: above, that costs more than the digits lost
SMALL = 100  # samples up to which one product with all kernels costs less than one call for each
SPARSE = 0.25  # share of the samples up to which a product reads their rows, and not half of the kernel
BLURRED = 1e-6  # of trace times ‖v‖²: below, the root of v'Kv is not known to ten digits


class Memory:
    """What solutions with the same kernels compute once. `numbers` belong to single kernels and are always kept; if it
    `keeps` values, as for the solutions of all classes, also the last value of its kind."""

    def __init__(
        self, kernels: Stored, numbers: dict[tuple[str, int], float] | None = None, keeps: bool = True
    ) -> None:
        self.kernels, self.keeps, self.values = kernels, keeps, dict[str, tuple[Array, object]]()
        self.numbers = {} if numbers is None else numbers

    def __reduce__(self) -> tuple[type[None], tuple[()]]:
        """Another process is not sent what it can compute: there is no memory there."""
        return type(None), ()

    def is_of(self, stack: KernelStack) -> bool:
        """Whether these are the kernels of a stack, the same numbers in the same place."""
        return stack.offsets is None and same_place(self.kernels, stack.kernels)

    def recalled(self, name: str, at: Array, compute: Callable[[], T]) -> T:
        """The value at these numbers; an array is read-only, since several threads may have it."""
        known = self.values.get(name)  # read once: another thread may replace it
        if known is None or not np.array_equal(known[0], at):
            known = self.values[name] = at.copy(), compute()
            if isinstance(known[1], np.ndarray):
                known[1].setflags(write=False)
        return cast(T, known[1])


def same_place(kernels: Stored, other: Stored) -> bool:
    """Whether two stacks are the same numbers in the same place; False for what is made anew."""
    if isinstance(kernels, LowRank | Streamed) or isinstance(other, LowRank | Streamed):
        return False
    if isinstance(kernels, Distributed) or isinstance(other, Distributed):
        return kernels is other
    return kernels is other or kernels.__array_interface__ == other.__array_interface__


@dataclass(frozen=True)
class KernelStack:
    """Kernels (M, n, n) of any real dtype, or `LowRank`. A kernel is its stored lower triangle, mirrored; `symmetric`
    says that both triangles are the same to the last bit.

    `offsets` (M, n), rows g_m, or None: what is worked with is then K_m − g_m1' − 1g_m'. With a bias that is the same
    problem, since Σβ = 0, and without large constants it has more digits left."""

    kernels: Stored
    symmetric: bool = field(default=True, kw_only=True)
    sizes: Array | None = field(default=None, kw_only=True, repr=False, compare=False)  # max |K_ij|, where known
    offsets: Array | None = field(default=None, kw_only=True, repr=False, compare=False)
    memory: Memory | None = field(default=None, kw_only=True, repr=False, compare=False)  # of several tasks, if any
    _last: dict[str, tuple[Array, Array]] = field(default_factory=dict, init=False, repr=False, compare=False)
    _pivoted: dict[int, tuple[int, Array | None]] = field(default_factory=dict, init=False, repr=False, compare=False)
    _factored: dict[tuple[int, bool], NumericalFactor | None] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    @property
    def count(self) -> int:
        return len(self.kernels)

    @property
    def samples(self) -> int:
        return int(self.kernels.shape[1])

    def each_kernel(self) -> Iterator[Array]:
        """One kernel at a time in double precision, so that a float32 or memory-mapped stack is never copied."""
        return (self.kernel(m) for m in range(self.count))

    @cached_property
    def largest_entries(self) -> Array:
        """max |K_ij| of every kernel as stored; of factors, of the factor."""
        if self.sizes is not None:
            return self.sizes
        if isinstance(self.kernels, Streamed):
            return np.ones(self.count)
        if isinstance(self.kernels, LowRank):
            return np.array([_largest(self.kernels.factor(m)) for m in range(self.count)])
        return np.array(self._each_stored(_largest))

    def each(self, function: Asked[T], *own: Sequence[object] | Array, of: Iterable[int] | None = None) -> list[T]:
        """function(kernel, *items) of every kernel, or of some, where the kernels lie: with doubles, and one item of
        each of `own`. Functions and items must be such that they can be sent to a worker."""
        if isinstance(self.kernels, Distributed):
            return self.kernels.each(function, *own, of=of, offsets=self.offsets)
        chosen = range(self.count) if of is None else of
        return [function(self.kernel(m), *(items[m] for items in own)) for m in chosen]

    def _each_stored(self, function: Asked[T]) -> list[T]:
        """The same with kernels as they are stored."""
        if isinstance(self.kernels, Distributed):
            return self.kernels.each(function, stored=True)
        return [function(kernel) for kernel in self.kernels]

    def of_some(self, samples: NDArray[np.intp]) -> Array:
        """The kernels of some of the samples, as they are stored, in double precision."""
        return np.stack(self._each_stored(partial(_part, samples=samples)))

    def once(self, name: str, at: Array, compute: Callable[[], T]) -> T:
        """What `compute` finds at these numbers; not computed again where another task with these kernels has."""
        known = self.memory is not None and self.memory.keeps and self.memory.is_of(self)
        return self.memory.recalled(name, at, compute) if self.memory is not None and known else compute()

    def number_of(self, name: str, m: int, compute: Callable[[], float]) -> float:
        """A number that kernel m has by itself, computed once for all tasks with these kernels."""
        if self.memory is None or not self.memory.is_of(self):
            return compute()
        known = self.memory.numbers
        if (name, m) not in known:
            known[name, m] = compute()
        return known[name, m]

    def combined(self, weights: Array) -> Array:
        """Σ_m weight_m K_m."""
        return self.once("combined", weights, lambda: self._combined(weights))

    def _combined(self, weights: Array) -> Array:
        kernel = np.zeros((self.samples, self.samples))
        self.add_combined(kernel, weights)
        return kernel if self.symmetric or isinstance(self.kernels, LowRank) else mirrored(kernel)

    def add_combined(self, kernel: Array, weights: Array) -> None:
        """Add Σ_m weight_m K_m in place; kernels without weight are not read. The lower triangle is that of the
        kernels; the upper one may differ from it by what validation allows kernels to be asymmetric."""
        if isinstance(self.kernels, LowRank):
            columns = self.kernels.columns
            kernel += (columns * self.kernels.spread(weights)) @ columns.T
            return
        if isinstance(self.kernels, Distributed):
            kernel += self.kernels.begin_sum(weights, self.offsets)()
            return
        if self._rows is not None:
            kernel += (weights @ self._rows.reshape(self.count, -1)).reshape(kernel.shape)
            return
        add = adder(kernel, rows_at_once(self.samples))
        for m in np.flatnonzero(weights):
            add(self._flat(self._entries(int(m))), weights[m])

    def update_and_matvec(self, kernel: Array, weights: Array, vector: Array) -> Array:
        """Both in one pass: Σ_m weight_m K_m added in place as by `add_combined`, and K_m v for every kernel, each read
        while it is near."""
        if isinstance(self.kernels, LowRank):
            self.add_combined(kernel, weights)
            return self.matvecs(vector)
        if isinstance(self.kernels, Distributed):
            changed = self.kernels.begin_sum(weights, self.offsets)
            images = self.matvecs(vector)
            kernel += changed()
            return images
        if self._rows is not None:
            if weights.any():
                self.add_combined(kernel, weights)
            return (self._rows @ vector).reshape(self.count, -1)
        images, rows = np.empty((self.count, self.samples)), self._few_rows(vector)
        add = adder(kernel, rows_at_once(self.samples))
        for m in range(self.count):
            base = self._entries(m)
            images[m] = _image(base, vector, rows)
            if weights[m] != 0:
                add(self._flat(base), weights[m])
        return images

    @cached_property
    def _rows(self) -> Array | None:
        """The rows of all kernels, (Mn, n), where these are few doubles that lie one after the other."""
        kernels, as_stored = self.kernels, self.symmetric and self.offsets is None
        if not isinstance(kernels, np.ndarray) or self.samples > SMALL or not as_stored:
            return None
        plain = kernels.dtype == np.float64 and kernels.flags.c_contiguous
        return cast(Array, kernels.reshape(-1, self.samples)) if plain else None

    def _flat(self, kernel: Array) -> Array:
        """The entries one after the other; of a symmetric kernel as they lie in memory, so that nothing is copied."""
        return kernel.ravel(order="K") if self.symmetric and kernel.flags.forc else kernel.ravel()

    def _entries(self, m: int) -> Array:
        """Kernel m in double precision, less its offsets; only the lower triangle counts."""
        return entries(self.kernels[m], None if self.offsets is None else self.offsets[m])

    def kernel(self, m: int) -> Array:
        """Kernel m in double precision, less its offsets."""
        kernel = self._entries(m)
        return kernel if self.symmetric else mirrored(kernel)

    def matvecs(self, vector: Array) -> Array:
        """K_m v for every kernel, (M, n), read-only. Asked again for the same vector, no kernel is read again: the two
        bounds of a point that weights and α describe cost one pass together."""
        known = self._last.get("matvecs")
        if known is not None and np.array_equal(known[0], vector):
            return known[1]
        return self.know_matvecs(vector, self.once("images", vector, lambda: self._matvecs(vector)))

    def know_matvecs(self, vector: Array, images: Array) -> Array:
        """Take K_m v, (M, n), as known: the next `matvecs` of this vector reads no kernel."""
        images.setflags(write=False)
        self._last["matvecs"] = vector.copy(), images
        return images

    def _matvecs(self, vector: Array) -> Array:
        if not vector.any():
            return np.zeros((self.count, self.samples))
        if isinstance(self.kernels, LowRank | Streamed):
            return self.kernels.matvecs(vector)
        if self._rows is not None:
            return (self._rows @ vector).reshape(self.count, -1)
        return self._images(range(self.count), vector)

    def matvecs_of(self, chosen: NDArray[np.bool_], vector: Array) -> Array:
        """K_m v for the kernels that are chosen, and zeros for the others, which are not read; (M, n)."""
        if chosen.all() or isinstance(self.kernels, LowRank | Streamed):
            return self.matvecs(vector)
        images = np.zeros((self.count, self.samples))
        if chosen.any():
            images[chosen] = self._images(np.flatnonzero(chosen).tolist(), vector)
        return images

    def _images(self, of: Iterable[int], vector: Array) -> Array:
        if isinstance(self.kernels, Distributed):
            return np.stack(self.kernels.each(partial(_image, vector=vector), of=of, offsets=self.offsets))
        rows = self._few_rows(vector)
        return np.stack([_image(self._entries(m), vector, rows) for m in of])

    def _few_rows(self, vector: Array) -> FewRows | None:
        """Room for the rows where a vector is not zero, if they are so few that reading them alone takes less time."""
        used = np.flatnonzero(vector)
        few = self.symmetric and len(used) < SPARSE * len(vector)
        return FewRows(used, np.empty((len(used), len(vector)))) if few else None

    def matvecs_each(self, vectors: Array) -> Array:
        """K_m v_m for every kernel and its own vector, (M, n)."""
        if isinstance(self.kernels, Streamed):
            return self.kernels.matvecs_each(vectors)
        if isinstance(self.kernels, LowRank):
            factors = [self.kernels.factor(m) for m in range(self.count)]
            return np.stack([factor @ (vector @ factor) for factor, vector in zip(factors, vectors, strict=True)])
        return np.stack(self.each(np.matmul, vectors))

    def quad_forms(self, vector: Array) -> Array:
        """v'K_m v for every kernel."""
        if isinstance(self.kernels, LowRank):
            return self.kernels.quad_forms(vector)
        return np.maximum(self.matvecs(vector) @ vector, 0.0)

    def accurate_quad_forms(self, vector: Array) -> Array:
        """The same where roots are to be taken: of a square that is nearly nothing rounding is all that is left, and
        its root has half the digits. A kernel of low rank is then taken as what its factor makes: K up to rounding."""
        squares = self.quad_forms(vector)
        if not isinstance(self.kernels, LowRank):
            for m in np.flatnonzero(squares < BLURRED * self.traces * float(vector @ vector)):
                factor = self._pivot(int(m))[1]
                if factor is not None:
                    squares[m] = float(np.sum((vector @ factor) ** 2))
        return squares

    def rank(self, m: int) -> int:
        """How many directions kernel m has, up to rounding; of a factor, its columns."""
        return int(self.kernels.factor(m).shape[1]) if isinstance(self.kernels, LowRank) else self._pivot(m)[0]

    def _pivot(self, m: int) -> tuple[int, Array | None]:
        """Rank of kernel m up to rounding, and its factor if that is low. Computed once."""
        if m not in self._pivoted:
            (self._pivoted[m],) = self.each(partial(pivoted_cholesky, tolerance=self.samples * EPSILON), of=[m])
        return self._pivoted[m]

    @cached_property
    def traces(self) -> Array:
        if isinstance(self.kernels, LowRank):
            return self.kernels.sums(np.sum(self.kernels.columns**2, axis=0))
        if isinstance(self.kernels, Streamed):
            return np.full(self.count, float(self.samples))
        traces = np.array([float(trace) for trace in self._each_stored(np.trace)])
        return traces if self.offsets is None else traces - 2 * self.offsets.sum(axis=1)

    @property
    def has_factors(self) -> bool:
        """Whether factors of all kernels can be made here."""
        return not isinstance(self.kernels, Distributed)

    @cached_property
    def factors(self) -> list[Factor]:
        if isinstance(self.kernels, Distributed):
            self.kernels.refuse("factors of all of them are asked for")
        return [self.factor(m) for m in range(self.count)]

    def factor(self, m: int) -> Factor:
        if isinstance(self.kernels, LowRank):
            return orthogonal(self.kernels.factor(m))
        return self.each(factored, of=[m])[0]

    def share_factors(self, scaled: KernelStack, size: float) -> None:
        """Give a stack whose kernels count as divided by `size` this one's factors, rescaled: made once for all units.

        Set beside the frozen fields. The kernels themselves stay as they are, so a task in other units serves
        declarations, never bounds.
        """
        root = math.sqrt(size)
        scaled.__dict__["factors"] = [Factor(f.columns / root, f.to_coefficients * root) for f in self.factors]

    # ------------------------------------------------------------------------------------------- centring
    def mostly_constant(self, m: int) -> bool:
        """Whether a constant added to all entries of kernel m is a few hundred times what is left without it."""
        return bool(self._spreads[m] < MOSTLY)

    @cached_property
    def _spreads(self) -> Array:
        """What is left of each kernel without a constant, as a share of it; of factors in the column with the least."""
        return self.once("spreads", np.empty(0), self._find_spreads)

    def _find_spreads(self) -> Array:
        if isinstance(self.kernels, LowRank):
            return np.array([_spread_of_factor(self.kernels.factor(m)) for m in range(self.count)])
        return np.array(self._each_stored(_spread_of))

    @cached_property
    def reference(self) -> int:
        """The sample nearest to the mean of all: the one whose row is taken away with a constant."""
        if isinstance(self.kernels, LowRank):
            columns = self.kernels.columns - self.kernels.columns.mean(axis=0)
            return int(np.argmin(np.sum((columns / np.maximum(np.ptp(columns, axis=0), 1e-300)) ** 2, axis=1)))
        distances = np.zeros(self.samples)
        for apart in self.each(_from_the_mean):
            distances += (apart - apart.min()) / max(float(np.ptp(apart)), 1e-300)
        return int(np.argmin(distances))

    def without_constants(self) -> Self:
        """What a bias makes the same problem, without large constants: features are counted from the reference,
        K_ij − K_ir − K_rj + K_rr. The stack itself where there are no constants to take away."""
        if isinstance(self.kernels, Streamed) or not any(self.mostly_constant(m) for m in range(self.count)):
            return self
        kernels, offsets = self.once("without constants", np.empty(0), self._counted_from_reference)
        if kernels is self.kernels and offsets is None:
            return self
        return replace(self, kernels=kernels, offsets=offsets, sizes=self.sizes if kernels is self.kernels else None)

    def _counted_from_reference(self) -> tuple[Stored, Array | None]:
        """The kernels, in factors where these are few columns, and the offsets, if any."""
        r = self.reference
        if isinstance(self.kernels, LowRank):
            factors = [self.kernels.factor(m) for m in range(self.count)]
            return LowRank([factor - factor[r] for factor in factors]), None
        factors = []
        for m in range(self.count):
            columns = self.low_rank_factor(m, True)
            if columns is None:
                break
            factors.append(columns.factor)
        else:  # steps with few columns cost next to nothing
            return LowRank(factors), None
        if self._spreads.min() > OVERWHELMING:
            return self.kernels, None
        return self.kernels, np.stack(self.each(partial(offsets_of, reference=r)))

    def low_rank_factor(self, m: int, centred: bool) -> NumericalFactor | None:
        """A factor of kernel m with few columns, if `centred` for features counted from the reference; None if its rank
        is too high. Computed once."""
        if (m, centred) not in self._factored:
            reference = self.reference if centred else None
            (self._factored[m, centred],) = self.each(partial(pivoted, reference=reference), of=[m])
        return self._factored[m, centred]

    def typical_kernel_size(self) -> float:
        """Geometric mean over the kernels of the mean diagonal entry."""
        sizes = self.traces / self.samples
        return float(np.exp(np.mean(np.log(sizes[sizes > 0])))) if (sizes > 0).any() else 1.0


def _largest(kernel: RealArray) -> float:
    return float(max(kernel.max(), -kernel.min()))


def _part(kernel: RealArray, samples: NDArray[np.intp]) -> Array:
    return np.asarray(kernel[samples][:, samples], dtype=np.float64)


def _spread_of(kernel: RealArray) -> float:
    """What is left of a kernel without a constant, as a share of it."""
    diagonal = np.diagonal(kernel).astype(np.float64)
    distances = diagonal[0] + diagonal - 2 * np.asarray(kernel[:, 0], dtype=np.float64)
    size = float(np.max(diagonal))
    return float(np.max(distances)) / size if size > 0 else 1.0


def _spread_of_factor(factor: Array) -> float:
    spread, size = np.ptp(factor, axis=0), np.abs(factor).max(axis=0)
    return float(np.min(spread / np.maximum(size, 1e-300), initial=1.0, where=size > 0))


def _from_the_mean(kernel: Array) -> Array:
    """The squared distance of every sample from the mean of all, but for a constant."""
    return np.asarray(np.diagonal(kernel) - 2 * kernel.mean(axis=1))


def mirrored(kernel: Array) -> Array:
    """The symmetric matrix with this lower triangle."""
    return np.asarray(np.tril(kernel) + np.tril(kernel, -1).T)


class FewRows(NamedTuple):
    """The rows that a product reads, and room for a copy of them: the same for all kernels of a pass."""

    used: NDArray[np.intp]
    room: Array


def _image(kernel: Array, vector: Array, rows: FewRows | None = None) -> Array:
    """Kv, from the lower triangle; of a symmetric kernel from some rows, if they are given."""
    from scipy.linalg.blas import dsymv  # reads half of a kernel

    by_columns = kernel.flags.f_contiguous
    if rows is not None:  # another mode than to clip would need a second copy
        return vector[rows.used] @ np.take(kernel.T if by_columns else kernel, rows.used, 0, rows.room, mode="clip")
    return dsymv(1.0, kernel if by_columns else kernel.T, vector, lower=int(by_columns))
