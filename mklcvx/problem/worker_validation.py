"""Validation of kernels where they lie: each chunk of a Dask array by the worker that loads it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple, cast

import numpy as np
from numpy.typing import DTypeLike

from ..errors import InputError
from .distributed import Array, DaskArray, Distributed, faults_told, gathered
from .numbers import RealArray
from .ownership import checksum
from .validation import as_array, repairs_asked, validated

if TYPE_CHECKING:
    from distributed import Client


class Facts(NamedTuple):
    """What is known of the kernels of a chunk."""

    repairs: tuple[str, ...]
    sizes: Array
    checksums: list[int]
    dtype: DTypeLike


def validated_there(
    array: DaskArray, names: tuple[str, ...], repair: str | None, semidefinite: Sequence[bool] | None = None
) -> dict[str, object]:
    """Validate the kernels on the workers, keep them there, and return fields of an Instance.

    Kernels are whole on one worker; chunks along the first axis stay as they are."""
    repairs_asked(repair)
    client, whole = _client(), array.rechunk({1: -1, 2: -1})
    from dask import delayed
    from distributed import wait

    sizes = whole.chunks[0]
    starts, tasks = np.cumsum([0, *sizes]).tolist(), []
    for c, block in enumerate(whole.to_delayed().ravel()):
        start, end = starts[c : c + 2]
        known = None if semidefinite is None else list(semidefinite[start:end])
        tasks.append(delayed(_validated)(block, array.shape[1], names, start, end, repair, known))
    # Where they lie is left to the scheduler: a task that asks for one worker, even if another will do, waits for ever
    # once all workers were lost at a time, though others have come.
    with faults_told():
        loaded = client.compute(tasks)
        asked = [client.submit(_facts, chunk, pure=False) for chunk in loaded]
    facts: list[Facts] = [gathered(client, [task])[0] for task in asked]  # in their order: the first fault is told
    both = zip(loaded, facts, strict=True)
    chunks = [client.submit(_same, chunk, about.checksums, pure=False) for chunk, about in both]
    wait(chunks)
    places = [(c, i) for c, size in enumerate(sizes) for i in range(size)]
    return {
        "kernels": Distributed(client, chunks, places, array.shape[1], facts[0].dtype),
        "repairs": tuple(line for about in facts for line in about.repairs),
        "sizes": np.concatenate([about.sizes for about in facts]),
    }


def _client() -> Client:
    try:
        from distributed import get_client
    except ImportError:
        fault = "kernels are a Dask array, and distributed is not installed"
        raise InputError(f"{fault}: pip install mklcvx[dask], or give kernels.compute()") from None
    try:
        return get_client()
    except ValueError:
        fault = "kernels are a Dask array, and there is no cluster to hold them"
        raise InputError(f"{fault}: make a distributed.Client first, or give kernels.compute()") from None


def _validated(
    block: object, samples: int, names: tuple[str, ...], start: int, end: int, repair: str | None,
    known: list[bool] | None,
) -> tuple[RealArray, Facts]:  # fmt: skip
    """On a worker: the kernels of a chunk as they are kept, and what is known of them."""
    stack = np.ascontiguousarray(as_array(block, "kernels", "(M, n, n)"))
    said = (end - start, samples, samples)
    if stack.shape != said:
        fault = f"kernels: the chunk from kernel {names[start]!r} (index {start}) has shape {stack.shape}"
        raise InputError(f"{fault}, the Dask array says {said}: give the shapes that its chunks have")
    checked = validated(stack, names[start:end], repair, known, first=start, count=len(names))
    kernels = np.ascontiguousarray(cast(RealArray, checked["kernels"]))
    repairs, sizes = cast("tuple[str, ...]", checked["repairs"]), cast(Array, checked["sizes"])
    return kernels, Facts(repairs, sizes, [checksum(kernel) for kernel in kernels], kernels.dtype)


def _facts(chunk: tuple[RealArray, Facts]) -> Facts:
    return chunk[1]


def _same(chunk: tuple[RealArray, Facts], checksums: list[int]) -> RealArray:
    """On a worker: the kernels that were validated; what a lost chunk is made again of may have changed meanwhile."""
    if chunk[1].checksums != checksums:
        fault = "a worker was lost, and the kernels that were loaded again are not the ones that were validated"
        raise InputError(f"{fault}: leave their source as it is, and build the Instance again")
    return chunk[0]
