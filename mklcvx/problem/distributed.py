"""Kernels on the workers of a Dask cluster: one more kind of stack, which is never in one place.

A chunk of the Dask array, some kernels, lies with one worker. What is asked of a stack is asked of its chunks, where
they lie, and only answers travel: vectors, numbers, factors of few columns, one kernel where one is asked for. A
product with every kernel is one task for each chunk.

**The weighted sum** is made in strips of rows. A strip goes from chunk to chunk, each adds its kernels to it, and
different strips are with different workers at a time. So every entry is summed in the order of the kernels, whatever
the number of workers; and no more than the lower triangle travels. BLAS rounds an entry according to its place in what
is added at once (fused in the middle, twice at the end), so one process adds the same blocks of rows as the workers,
and strips consist of such blocks.

**A worker that is lost** takes its chunks with it. The scheduler makes them again as it made them first, from what the
Dask array was made of, and validates them again; they must have the checksums that were validated.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple, NoReturn, Protocol, TypeAlias, TypeGuard, TypeVar, cast, overload

import numpy as np
from numpy.typing import DTypeLike, NDArray

from ..errors import InputError, clipped
from .faults import frames, is_ours
from .numbers import AnyArray, Array, RealArray

if TYPE_CHECKING:
    from distributed import Client, Future

Several: TypeAlias = "slice[int | None, int | None, int | None] | list[int] | NDArray[np.intp]"
Place: TypeAlias = tuple[int, int]  # of a kernel: its chunk, and its index in it
T = TypeVar("T")
Asked: TypeAlias = Callable[..., T]  # type: ignore[explicit-any]  # a kernel, and what else is handed over

OUTSIDE = 2  # frames of a fault: `faults_told`, and what it is told in; further ones of ours ran on a worker
STRIPS = 4  # for each chunk: with as many as chunks, half of the workers would wait
BLOCK = 1 << 18  # entries that are added at once; a strip of fewer is not worth a task


class DaskArray(Protocol):
    """What is asked of a Dask array."""

    shape: tuple[int, ...]
    dtype: np.dtype[np.float64]  # or of other numbers
    chunks: tuple[tuple[int, ...], ...]

    @property
    def ndim(self) -> int: ...
    def rechunk(self, chunks: dict[int, int]) -> DaskArray: ...
    def to_delayed(self) -> NDArray[np.object_]: ...


def is_dask(values: object) -> TypeGuard[DaskArray]:
    """Whether it is an array of Dask; Dask is not imported to find out."""
    return hasattr(values, "__dask_graph__") and hasattr(values, "to_delayed") and hasattr(values, "chunks")


def entries(kernel: RealArray, offsets: Array | None) -> Array:
    """The kernel in double precision, less its offsets: K − g1' − 1g'."""
    doubles: Array = np.asarray(kernel, dtype=np.float64)
    if offsets is None:
        return doubles
    doubles = doubles - offsets[:, None]
    doubles -= offsets
    return doubles


def rows_at_once(samples: int) -> int:
    """How many rows of a kernel make a block of the weighted sum, here and on every worker."""
    return max(1, BLOCK // samples)


def adder(total: Array, rows: int) -> Callable[[Array, float], None]:
    """What adds multiples of kernels, their entries one after the other, to a sum in place, so many rows at once."""
    from scipy.linalg.blas import daxpy

    sums, size = total.ravel(), rows * total.shape[1]
    blocks = [(slice(first, first + size), sums[first : first + size]) for first in range(0, len(sums), size)]

    def add(kernel: Array, weight: float) -> None:
        for block, part in blocks:
            daxpy(kernel[block], part, a=weight)

    return add


class ChunkRequest(NamedTuple):
    """Kernels that are asked one after the other and lie in one chunk: their numbers, and their places in it."""

    chunk: Future
    kernels: list[int]
    places: list[int]


class Distributed:
    """A stack (M, n, n) of validated kernels, whose chunks are futures of a cluster; kernel m is at `places[m]`, the
    chunk and the index in it."""

    ndim = 3

    def __init__(
        self, client: Client, chunks: Sequence[Future], places: Sequence[Place], samples: int, dtype: DTypeLike
    ) -> None:
        self.client, self.chunks, self.places = client, tuple(chunks), tuple(places)
        self.shape, self.dtype = (len(self.places), samples, samples), np.dtype(dtype)

    @property
    def nbytes(self) -> int:
        """Bytes of all kernels."""
        return len(self) * self.shape[1] ** 2 * self.dtype.itemsize

    def __len__(self) -> int:
        return len(self.places)

    def __iter__(self) -> Iterator[AnyArray]:
        return (self[m] for m in range(len(self)))

    @overload
    def __getitem__(self, which: int | tuple[object, ...]) -> AnyArray: ...  # a tuple is refused

    @overload
    def __getitem__(self, which: Several) -> Distributed: ...

    def __getitem__(self, which: int | Several | tuple[object, ...]) -> AnyArray | Distributed:
        """One kernel, which is fetched, or some, which stay where they are."""
        if isinstance(which, tuple):
            self.refuse("entries of all kernels are asked for")
        chosen = np.arange(len(self))[which]
        if np.ndim(chosen) == 0:
            (kernel,) = self.each(_itself, of=[int(chosen)], stored=True)
            return kernel
        return Distributed(self.client, self.chunks, [self.places[m] for m in chosen], self.shape[1], self.dtype)

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> NoReturn:
        self.refuse("all of them are asked for in one place")

    def __reduce__(self) -> NoReturn:
        self.refuse("they cannot be copied to another process")

    def refuse(self, why: str) -> NoReturn:
        """Refuse what would need the whole stack here."""
        whole = f"{len(self)} kernels of {self.shape[1]} samples, {self.nbytes / 1e9:.3g} GB"
        remedy = "give kernels.compute(), if they fit into memory"
        raise InputError(f"kernels are on a cluster ({whole}), and {why}: {remedy}")

    def each(
        self,
        function: Asked[T],
        *own: Sequence[object] | Array,
        of: Iterable[int] | None = None,
        offsets: Array | None = None,
        stored: bool = False,
    ) -> list[T]:
        """function(kernel, *items) of every kernel, or of some, where the kernels lie. `own` have an item for each
        kernel of the stack. Kernels are doubles, less their offsets; or as they are `stored`."""
        columns = (*own, [None] * len(self) if offsets is None else offsets)
        tasks = []
        for run in self._runs(range(len(self)) if of is None else of):
            items = [tuple(column[m] for column in columns) for m in run.kernels]
            tasks.append(self._submit(_applied, run.chunk, run.places, function, items, stored))
        return list(itertools.chain.from_iterable(gathered(self.client, tasks)))

    def begin_sum(self, weights: Array, offsets: Array | None = None) -> Callable[[], Array]:
        """Begin Σ_m weight_m K_m, which a call of what is returned waits for; chunks without weight are not asked."""
        n, strips = self.shape[1], list[object]()
        runs = list(self._runs(np.flatnonzero(weights).tolist()))
        rows_of_block = rows_at_once(n)
        blocks = -(-n // rows_of_block)
        firsts = np.linspace(0, blocks, min(STRIPS * len(runs), blocks) + 1).astype(int)
        edges = np.minimum(rows_of_block * firsts, n).tolist()
        for rows in itertools.pairwise(edges) if runs else ():
            strip: object = None
            for run in runs:
                less = None if offsets is None else offsets[run.kernels]
                own = weights[run.kernels]
                strip = self._submit(_added, run.chunk, run.places, strip, rows, rows_of_block, own, less)
            strips.append(strip)

        def ended() -> Array:
            total, parts = np.zeros((n, n)), cast("list[Array]", gathered(self.client, strips))
            for start, part in zip(edges, parts, strict=False):
                end = start + len(part)
                total[start:end, :end] = part
                total[:start, start:end] = part[:, :start].T
            return total

        return ended

    def of_samples(self, samples: NDArray[np.intp]) -> Distributed:
        """The kernels of some of the samples, beside the others."""
        chunks = [self._submit(_of_samples, chunk, samples) for chunk in self.chunks]
        return Distributed(self.client, chunks, self.places, len(samples), self.dtype)

    def _runs(self, kernels: Iterable[int]) -> Iterator[ChunkRequest]:
        for chunk, group in itertools.groupby(kernels, key=lambda m: self.places[m][0]):
            run = list(group)
            yield ChunkRequest(self.chunks[chunk], run, [self.places[m][1] for m in run])

    def _submit(self, function: Asked[object], *given: object) -> Future:
        with faults_told():
            return self.client.submit(function, *given, pure=False)  # a name of its own: arguments are not hashed


def gathered(client: Client, tasks: Sequence[object]) -> list[T]:
    """Results of tasks."""
    with faults_told():
        return cast("list[T]", client.gather(list(tasks)))


@contextmanager
def faults_told() -> Iterator[None]:
    """Refuse, in one line, what the cluster cannot make or no longer has: workers that are lost, a client that was
    closed, a chunk that raises."""
    from concurrent.futures import CancelledError

    from distributed import KilledWorker
    from distributed import client as clients

    closed = getattr(clients, "ClosedClientError", CancelledError)  # which older versions do not have
    try:
        yield
    except (KilledWorker, CancelledError, closed, OSError) as fault:
        remedy = "make the Instance again, with workers that have the memory and chunks that can be loaded again"
        raise InputError(f"the cluster no longer gives the kernels ({_described(fault)}): {remedy}") from fault
    except Exception as fault:
        inside = list(frames(fault))[OUTSIDE:]
        if isinstance(fault, InputError | MemoryError) or any(map(is_ours, inside)):
            raise
        remedy = "try kernels.compute(), and mend what makes that chunk"
        words = f"a chunk of the Dask array cannot be loaded ({_described(fault)})"
        raise InputError(f"kernels: {words}: {remedy}") from None


def _described(fault: Exception) -> str:
    return clipped(f"{type(fault).__name__}: {fault}", 120)


def _itself(kernel: AnyArray) -> AnyArray:
    return kernel


def _applied(
    kernels: RealArray, places: list[int], function: Asked[T], items: list[tuple[object, ...]], stored: bool
) -> list[T]:
    """On a worker: what `each` asks of the kernels of a chunk; the last item is the offsets."""
    results = []
    for place, (*own, offsets) in zip(places, items, strict=True):
        kernel = kernels[place] if stored else entries(kernels[place], cast("Array | None", offsets))
        results.append(function(kernel, *own))
    return results


def _added(
    kernels: RealArray,
    places: list[int],
    strip: Array | None,
    rows: tuple[int, int],
    rows_of_block: int,
    weights: Array,
    offsets: Array | None,
) -> Array:
    """On a worker: a strip of the sum's lower triangle, with the kernels of a chunk added. The strip that came stays
    as it is, since it may be asked for again."""
    start, end = rows
    total = np.zeros((end - start, kernels.shape[2]))
    if strip is not None:
        total[:, :end] = strip
    add = adder(total, rows_of_block)
    for k, place in enumerate(places):
        part = np.asarray(kernels[place, start:end], dtype=np.float64)
        if offsets is not None:
            part = part - offsets[k][start:end, None]
            part -= offsets[k]
        add(part.ravel(), weights[k])
    return total[:, :end].copy()


def _of_samples(kernels: RealArray, samples: NDArray[np.intp]) -> RealArray:
    return np.ascontiguousarray(kernels[:, samples[:, None], samples])
