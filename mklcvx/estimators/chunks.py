"""Independent problems of one kernel stack, several at once.

joblib writes a large stack once to a file that its processes map into memory. A process gets some of the problems at a
time, so that they share what depends on the kernels alone, and one thread for linear algebra: processes that have more
than their share of the processors wait for each other. Not scikit-learn's `Parallel`: it hands on warning filters, and
so changes those of the whole process where the workers are threads.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from typing import TypeVar

from joblib import Parallel, delayed, effective_n_jobs
from threadpoolctl import threadpool_limits

from ..problem.numbers import check_jobs

Problem = TypeVar("Problem")
Answer = TypeVar("Answer")
ONE_AT_A_TIME = threading.Lock()  # limits hold for the whole process: two threads would leave each other's behind
CHUNKS = 2  # for each job, so that one with easy problems can take over


def in_chunks(
    solve: Callable[[Sequence[Problem]], list[Answer]], problems: Sequence[Problem], n_jobs: int | None
) -> list[Answer]:
    """The answers to all problems, in their order; `solve` answers some of them, whichever."""
    check_jobs(n_jobs=n_jobs)
    jobs = min(effective_n_jobs(n_jobs), len(problems))
    if jobs == 1:
        return solve(problems)
    count = min(CHUNKS * jobs, len(problems))
    chunks = [problems[k::count] for k in range(count)]
    with ONE_AT_A_TIME, threadpool_limits(1, "blas"):  # of threads, where these are what joblib is told to use
        parts = Parallel(n_jobs=n_jobs)(delayed(_solved)(solve, chunk, os.getpid()) for chunk in chunks)
    return [parts[i % count][i // count] for i in range(len(problems))]


def _solved(solve: Callable[[Sequence[Problem]], list[Answer]], chunk: Sequence[Problem], caller: int) -> list[Answer]:
    with threadpool_limits(1, "blas") if os.getpid() != caller else nullcontext():
        return solve(chunk)
