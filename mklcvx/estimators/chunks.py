"""Independent problems of one kernel stack, several at once.

joblib writes a large stack once to a file that its processes map into memory. A process gets some of the problems at a
time, so that they share what depends on the kernels alone, and one thread for linear algebra: processes that have more
than their share of the processors wait for each other. Not scikit-learn's `Parallel`: it hands on warning filters, and
so changes those of the whole process where the workers are threads.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from typing import TypeVar

from joblib import Parallel, delayed, effective_n_jobs
from threadpoolctl import threadpool_limits

Problem = TypeVar("Problem")
Answer = TypeVar("Answer")
_lock, _inside = threading.Lock(), list[threadpool_limits]()
CHUNKS = 2  # for each job, so that one with easy problems can take over


def in_chunks(
    solve: Callable[[Sequence[Problem]], list[Answer]], problems: Sequence[Problem], n_jobs: int | None
) -> list[Answer]:
    """The answers to all problems, in their order; `solve` answers some of them, whichever."""
    jobs = min(effective_n_jobs(n_jobs), len(problems))
    if jobs == 1:
        return solve(problems)
    count = min(CHUNKS * jobs, len(problems))
    chunks = [problems[k::count] for k in range(count)]
    with _one_thread_each():  # of threads, where these are what joblib is told to use
        parts = Parallel(n_jobs=n_jobs)(delayed(_solved)(solve, chunk, os.getpid()) for chunk in chunks)
    return [parts[i % count][i // count] for i in range(len(problems))]


def _solved(solve: Callable[[Sequence[Problem]], list[Answer]], chunk: Sequence[Problem], caller: int) -> list[Answer]:
    with _one_thread_each() if os.getpid() != caller else nullcontext():
        return solve(chunk)


@contextmanager
def _one_thread_each() -> Iterator[None]:
    """Linear algebra with one thread in the whole process: the first to ask sets it, the last to leave sets it back."""
    with _lock:
        _inside.append(_inside[0] if _inside else threadpool_limits(1, "blas"))
    try:
        yield
    finally:
        with _lock:
            limits = _inside.pop()
            if not _inside:
                limits.restore_original_limits()
