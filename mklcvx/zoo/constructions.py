"""Problems with one difficulty each, from whole features: distances and inner products are exact, exponentials rounded.

Features are multiples of 1/16 and few, so every comparison of two samples is exact in whatever order it is summed;
Gaussians then go through `quantised`, kernels of whole features stay what they are, rank and all.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..problem.instance import Instance
from .grid import Array, Draws, quantised
from .plans import Optimum

SMALL_PRICE = 2.0**-7


def signs(n: int, positive: int | None = None) -> Array:
    """Return labels; the first half, or the first `positive`, are +1."""
    return np.where(np.arange(n) < (n // 2 if positive is None else positive), 1.0, -1.0)


def pairs(count: int) -> NDArray[np.intp]:
    """Groups of two kernels each."""
    return np.arange(count) // 2


def gaussian(x: Array, gamma: float) -> Array:
    """exp(−γ‖x − z‖²), from exact distances."""
    return np.exp(-gamma * ((x[:, None, :] - x[None, :, :]) ** 2).sum(axis=2))


def clouds(
    n: int, M: int, seed: int, *, apart: float = 1.0, features: int = 3, positive: int | None = None
) -> tuple[Array, Array]:
    """M Gaussians on views of two clouds, their centres 2·apart/(1 + m/2) from each other in view m, and y."""
    draws, y = Draws(seed), signs(n, positive)
    shifts = np.round(16 * apart / (1 + np.arange(M) / 2)) / 16
    stack = [gaussian(draws.bell(n, features) + shift * y[:, None], 0.25) for shift in shifts]
    return quantised(np.stack(stack)), y


# -------------------------------------------------------------------------------------------------- from the papers
def redundancy(parts: int, count: int = 12, samples: int = 60, seed: int = 0) -> Instance:
    """Govindaraj's construction, ρ = parts/count: features in `parts` disjoint sets, a kernel X A'A X' with a random A
    for each set, and for copies of sets until there are `count` kernels. As many features as kernels, τ = 4."""
    draws, y = Draws(seed), np.where(np.arange(samples) % 2 == 0, 1.0, -1.0)
    x = draws.bell(samples, count, step=0.25) + 0.5 * y[:, None]
    sets = np.array_split(draws.order(count), parts)
    chosen = [*range(parts), *draws.whole(0, parts - 1, count - parts)]
    kernels = []
    for k in chosen:
        mapped = x[:, sets[k]] @ draws.bell(4 * len(sets[k]), len(sets[k]), step=0.5).T
        kernels.append(mapped @ mapped.T)
    return Instance(quantised(np.stack(kernels)), y, groups=np.asarray(chosen) if parts > 1 else pairs(count))


def noise_features(share: float, x: Array, y: Array, seed: int = 0) -> Instance:
    """As in Fig. 2 of Xu et al.: share·d features of pure noise beside the d real ones; on all features together and on
    each alone two Gaussians (bandwidths ½ and 2) and the quadratic kernel of their bank, of trace n."""
    n, d = x.shape
    wide = np.hstack([x, Draws(seed).bell(n, round(share * d))])
    alone = [(f"x{j}" if j < d else f"noise{j - d}", wide[:, j : j + 1]) for j in range(wide.shape[1])]
    kernels, names = [], []
    for name, view in [("all", wide), *alone]:
        quadratic = (1 + view @ view.T) ** 2
        kernels += [gaussian(view, 2.0), gaussian(view, 0.125), quadratic * (n / np.trace(quadratic))]
        names += [f"{kind}[{name}]" for kind in ("gaussian(0.5)", "gaussian(2)", "quadratic")]
    groups = np.repeat([0, 1, 2], [3, 3 * d, 3 * (len(alone) - d)])
    return Instance(quantised(np.stack(kernels)), y, names=names, groups=groups)


# ----------------------------------------------------------------------------------------------------- conditioning
def hadamard(n: int, powers: Sequence[int], seed: int) -> Instance:
    """K_m = H D_m H' with H Sylvester's Hadamard matrix, its rows in an order of their own for each kernel, and D_m
    running from 1 to 2^(−powers[m]): the condition numbers are exactly 2^powers[m]."""
    sylvester = np.array([[1.0]])
    while len(sylvester) < n:
        sylvester = np.block([[sylvester, sylvester], [sylvester, -sylvester]])
    draws, kernels = Draws(seed), []
    for power in powers:
        rows = sylvester[draws.order(n)][:, draws.order(n)]
        spectrum = np.ldexp(1.0, -np.round(np.linspace(0, power, n)).astype(int))
        kernel = np.zeros((n, n))
        # From the smallest term up: every partial sum is a multiple of the smallest term, hence exact.
        for column, value in zip(rows.T[::-1], spectrum[::-1], strict=True):
            kernel += value * np.outer(column, column)
        kernels.append(kernel / n)
    return Instance(np.stack(kernels), signs(n), groups=pairs(len(powers)))


def nearly_equal(n: int, M: int, power: int, seed: int) -> Instance:
    """One kernel, M times, each time with 2^(−power) of another: solvers that agree in value differ in weights."""
    kernels, y = clouds(n, M + 1, seed)
    return Instance(kernels[0] + np.ldexp(kernels[1:], -power), y, groups=pairs(M))


# ---------------------------------------------------------------------------------------------------------- symmetry
def cyclic(blocks: int, size: int, seed: int) -> Instance:
    """One kernel in as many arrangements as there are blocks of samples, each block moved to the next one's place.
    The labels are invariant, so equal weights are optimal in every formulation of family A: all kernels are tied."""
    n = blocks * size
    labels = np.tile(signs(size), blocks)
    kernel = quantised(gaussian(Draws(seed).bell(n, 3) + 0.5 * labels[:, None], 0.25)[None])[0]
    turns = [np.roll(np.arange(n), size * k) for k in range(blocks)]
    return Instance(np.stack([kernel[turn][:, turn] for turn in turns]), labels, groups=np.arange(blocks))


def single_features(n: int, M: int, seed: int, informative: int | None = None) -> Instance:
    """Linear kernels on single whole features, of rank one; only the first `informative` know the labels."""
    draws, y = Draws(seed), signs(n)
    x = draws.bell(n, M, step=0.25) + 0.5 * y[:, None] * (np.arange(M) < (M if informative is None else informative))
    return Instance(quantised(np.stack([np.outer(column, column) for column in x.T])), y, groups=pairs(M))


def separated(n: int, M: int, seed: int) -> Instance:
    """Linear kernels on two features each, classes far apart in all of them: no slack, α small, C without effect."""
    draws, y = Draws(seed), signs(n)
    views = [draws.bell(n, 2, step=0.25) + 4.0 * y[:, None] for _ in range(M)]
    return Instance(quantised(np.stack([view @ view.T for view in views])), y, groups=pairs(M))


# ------------------------------------------------------------------------------------------------------------ labels
def labelled(n: int, M: int, k: int, seed: int, overlap: int = 3) -> tuple[Array, Array]:
    """M Gaussians on views of which view m knows label m mod k, and (n, k) labels that about one in `overlap` has."""
    draws = Draws(seed)
    members = (draws.whole(0, overlap - 1, n, k) == 0).astype(float)
    members[np.arange(k), np.arange(k)] = 1.0  # an instance refuses labels without members
    views = [draws.bell(n, 2) + np.outer(members[:, m % k], [2.0, 0.0]) for m in range(M)]
    return quantised(np.stack([gaussian(view, 0.25) for view in views])), members


# -------------------------------------------------------------------------------------------- one thing changed or odd
def clouds_with(
    change: Callable[[Array, Array], tuple[Array, Array]], n: int, M: int, seed: int, **options: Any
) -> Instance:
    """Apply a change to the kernels and labels of clouds; groups have two kernels each."""
    kernels, y = change(*clouds(n, M, seed, **options))
    return Instance(kernels, y, groups=pairs(len(kernels)))


def unchanged(kernels: Array, y: Array) -> tuple[Array, Array]:
    return kernels, y


def with_extra(extra: Callable[[tuple[int, int]], Array], kernels: Array, y: Array) -> tuple[Array, Array]:
    """Append a kernel, `np.zeros` or `np.ones`."""
    return np.concatenate([kernels, extra((len(y), len(y)))[None]]), y


def weighted(n: int, M: int, seed: int, positive: int) -> Instance:
    """Clouds whose positive samples have the weight 19."""
    kernels, y = clouds(n, M, seed, positive=positive)
    return Instance(kernels, y, groups=pairs(M), sample_weight=np.where(y > 0, 19.0, 1.0))


# ------------------------------------------------------------------------------------------------------ known optima
def at_the_bound(n: int, M: int, seed: int) -> Optimum:
    """With |f| < 1 everywhere, α = C for all samples: the value is nC − ½C² max y'K_m y."""
    kernels, y = clouds(n, M, seed)
    q = np.array([y @ kernel @ y for kernel in kernels])
    value = n * SMALL_PRICE - SMALL_PRICE**2 * float(q.max()) / 2
    best = np.where(q == q.max(), 1.0, 0.0)
    return Optimum("l1", {"C": SMALL_PRICE}, value, best, np.full(n, SMALL_PRICE))


def hopeless(n: int) -> Optimum:
    """The two slacks of a sample and its contradiction sum to 2 at least: f = 0 is optimal, and α = C."""
    return Optimum("l1", {"C": 1.0}, float(n), None, np.ones(n))


def worked_out() -> Optimum:
    return Optimum("l1", {"C": 1.0}, 9 / 8, np.array([2 / 3, 1 / 3]), None, 0.0)


# ------------------------------------------------------------------------------------------------------------ labels
def labelled_with(change: Callable[[Array], Array], n: int, M: int, k: int, seed: int) -> Instance:
    kernels, members = labelled(n, M, k, seed)
    return Instance(kernels, labels=change(members))


def classes(n: int, M: int, k: int, seed: int) -> Instance:
    kernels, members = labelled(n, M, k, seed, overlap=k)
    return Instance(kernels, classes=np.argmax(members, axis=1))
