"""How large kernels are beside each other, and the unit of C that goes with them.

Scaling all kernels by t and C by 1/t leaves every decision function as it is. So C is measured in 1/(mean k(x, x)): the
same number means the same for kernels of any size.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .distributed import Distributed
from .kernel_functions import Array
from .low_rank import LowRank, Stored, by_rows
from .streamed import Streamed

UNLIKE = 10.0  # ratio of traces from which on sizes decide what is learned
DIGITS = 12  # of the unit: one that is 1 up to rounding is 1


def diagonals(kernels: Stored) -> Array:
    """The values k(x, x) of every kernel, (M, n)."""
    if isinstance(kernels, LowRank):
        return by_rows(kernels, lambda rows: kernels.sums(rows**2)).T
    if isinstance(kernels, Distributed):
        return np.stack(kernels.each(np.diagonal))
    if isinstance(kernels, Streamed):
        return np.ones(kernels.shape[:2])
    return np.asarray(np.einsum("mii->mi", kernels), dtype=float)


def unit_of_price(kernels: Stored, weight: Array | None = None) -> float:
    """1/(mean k(x, x)) over samples and kernels, the C that is called "scale"; 1 where all kernels are zero."""
    size = float(np.average(diagonals(kernels).mean(axis=0), weights=weight))
    return float(f"{1 / size:.{DIGITS}g}") if size > 0 else 1.0


def unlike_sizes(kernels: Stored, names: Sequence[str], weight: Array | None = None) -> str:
    """Which kernels differ most in trace, and how much; empty unless it is more than tenfold."""
    traces = diagonals(kernels) @ (np.ones(kernels.shape[1]) if weight is None else weight)
    known = np.flatnonzero(traces > 0)  # a kernel that is zero has no say
    if not len(known):
        return ""
    least, most = known[np.argmin(traces[known])], known[np.argmax(traces[known])]
    ratio = traces[most] / traces[least]
    if ratio <= UNLIKE:
        return ""
    return f"the trace of kernel {names[most]} is {ratio:.3g} times that of {names[least]}"
