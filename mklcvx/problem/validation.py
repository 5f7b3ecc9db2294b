"""Validation of kernels: real, finite, square, and up to rounding symmetric and positive semidefinite."""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping, Sequence
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import DTypeLike, NDArray

from ..errors import InputError, clipped, remedy, warn
from .distributed import DaskArray, Distributed, is_dask
from .low_rank import LowRank, Stored
from .memory import check_copy, load_libraries
from .numbers import Array, RealArray, are_doubles, read_array
from .ownership import checksum, is_mapped, owned
from .stack import mirrored
from .streamed import Streamed

Given: TypeAlias = Stored | DaskArray  # a stack whose shape has been checked

LARGEST = 1e150
REPAIRS = ("clip", "shift", "symmetrise")
SINGLE = 2.0**-24  # unit roundoff of single precision
LEAST, MOST = 512, 100_000  # samples for which single precision is worth a try, and its bound is proved
FEW = 128  # samples that tell whether it is in vain
TILE = 256  # rows and columns that are compared with their mirror image at a time: both stay in the cache


class KnownStack(NamedTuple):
    """Kernels, and which of them are semidefinite up to rounding: by construction, or by a test that was made before.

    Only `Instance` asks for that, to refuse kernels that are none. Certificates do not rely on it: they prove the δ
    that the combination at hand lacks (`certificate.ridge`), whoever made the kernels."""

    kernels: Stored
    semidefinite: Sequence[bool]


def as_stack(kernels: object) -> Given:
    """Check the shape; return factors, a memory map, an array that no other code can write to, or one of Dask's."""
    load_libraries()
    check_copy(kernels)
    stack: Given
    if isinstance(kernels, LowRank | Streamed | Distributed):
        stack = kernels
    elif is_dask(kernels):
        stack = _check_lazy(kernels)
    else:
        stack = as_array(kernels, "kernels", "(M, n, n)")
    if stack.ndim != 3:
        words = "give a three-dimensional stack (M, n, n)"
        if stack.ndim == 2:
            words += remedy(", kernels[None] for one kernel", "")
            words += "" if stack.shape[0] == stack.shape[1] else "; features make kernels by mklcvx.kernels"
        raise InputError(f"kernels have shape {stack.shape}: {words}")
    stack = _index_first(stack)
    count, rows, columns = stack.shape
    if count == 0:
        raise InputError("kernels: the stack holds no kernel (M = 0): give at least one")
    if rows != columns:
        wanted = "give (M, n, n), kernel index first, or (n, n, M), kernel index last"
        raise InputError(f"kernels have shape {stack.shape}, not square: {wanted}")
    if rows == 0:
        raise InputError(f"kernels have shape {stack.shape}: they are empty; give at least two samples")
    if rows < 2:
        raise InputError(f"kernels are for n = {rows} sample: give at least two, one of each class")
    return _ours(stack, new=isinstance(kernels, list | tuple)) if isinstance(stack, np.ndarray) else stack


def _index_first(stack: Given) -> Given:
    """(n, n, M) as (M, n, n), with a warning, where the shape can be nothing else."""
    if isinstance(stack, LowRank | Streamed | Distributed) or 0 in stack.shape:
        return stack
    if not stack.shape[0] == stack.shape[1] != stack.shape[2]:
        return stack
    warn(f"kernels have shape {stack.shape}: read as (n, n, M), kernel index last")
    return np.moveaxis(stack, -1, 0)  # type: ignore[type-var]  # Dask's too


def _check_lazy(kernels: DaskArray) -> DaskArray:
    """What can be said of a Dask array before it is computed."""
    if kernels.dtype.kind not in "fiub":
        raise InputError(f"kernels have dtype {kernels.dtype}: give real numbers, an array (M, n, n)")
    if any(math.isnan(length) for length in kernels.shape):
        raise InputError("kernels are a Dask array of unknown shape: call kernels.compute_chunk_sizes() first")
    return kernels


def _ours(stack: RealArray, new: bool) -> RealArray:
    """An array of our own. Kernels that are not contiguous are read many times more slowly, so they are copied once,
    unless they are a memory map, which may be larger than memory."""
    if not stack[0].flags.forc and not is_mapped(stack):
        return np.ascontiguousarray(stack)
    return stack if new else owned(stack)


def as_array(values: object, name: str, shape: str) -> RealArray:
    if isinstance(values, Mapping):
        words = remedy(f"give list({name}.values()), and its keys as names", "store lists, one for each matrix")
        raise InputError(f"{name} are a dict: {words}")
    if is_dask(values) or (isinstance(values, list | tuple) and any(map(is_dask, values))):
        raise InputError(f"{name} are on a cluster: give {name}.compute(), or kernels as dask.array.stack(kernels)")
    if isinstance(values, Distributed):
        values.refuse("all of them are asked for in one place")
    array = read_array(values, name, f"an array {shape}")
    if array.dtype.kind not in "fiub":
        raise InputError(f"{name} have dtype {array.dtype}: give real numbers, an array {shape}")
    return np.ma.getdata(array) if isinstance(array, np.ma.MaskedArray) else array


def validated(
    stack: Stored,
    names: tuple[str, ...],
    repair: str | None,
    semidefinite: Sequence[bool] | None = None,
    first: int = 0,
    count: int | None = None,
) -> dict[str, object]:
    """Validate the stack and return fields of an Instance: the stack, its repairs, whether it is exactly symmetric, the
    checksums of a memory map, and the largest entry of every kernel. `semidefinite` tells which kernels need no test
    of that. Of a part of `count` kernels, `first` is the index of its first."""
    asked = repairs_asked(repair)
    if isinstance(stack, Streamed):
        return {"kernels": stack}  # its features have been checked, and Gaussians are semidefinite
    if isinstance(stack, LowRank):
        for m, name in enumerate(names):
            _check_entries(stack.factor(m), f"the factor of kernel {name!r} (index {m})", np.sqrt(LARGEST))
        return {"kernels": stack}
    if isinstance(stack, Distributed):  # by its workers, when it was made
        return {"kernels": stack}
    mapped, tolerance = is_mapped(stack), rounding(stack.dtype)
    repairs: list[str] = []
    checksums: list[int] = []
    symmetric, sizes = True, np.empty(len(names))
    for m, name in enumerate(names):
        with np.errstate(over="ignore"):
            kernel = np.asarray(stack[m], dtype=np.float64)
        checksums += [checksum(stack[m])] if mapped else []
        where = f"kernel {name!r} (index {first + m})"
        size = _check_entries(kernel, where)
        if not are_doubles(stack[m], kernel):
            fault = f"{where} has {stack.dtype} numbers that are no doubles, and rounding them is another problem"
            raise InputError(f"{fault}: round them yourself, by astype(float), or count features from their mean")
        change = asymmetry(kernel)
        if change > tolerance * size:
            if "symmetrise" not in asked:
                raise _asymmetric(kernel, where, len(names) if count is None else count)
            kernel = (kernel + kernel.T) / 2
            stack = _writeable(stack)
            stack[m] = kernel
            repairs.append(f"{where}: symmetrised, largest entry change {change / 2:.3g}")
            size = largest_entry(kernel)
        elif change > 0:
            kernel = mirrored(kernel)
            size = largest_entry(kernel)
            if mapped:
                symmetric = False
            else:
                stack = _writeable(stack)
                stack[m] = kernel
        sizes[m] = size
        known = semidefinite is not None and semidefinite[m]
        smallest = None if known else smallest_eigenvalue(kernel, tolerance, size)
        if smallest is None:
            continue
        if not asked & {"clip", "shift"}:
            fault = f"{where} is not positive semidefinite: smallest eigenvalue {smallest:.3g}"
            give = remedy("repair='clip' or repair='shift'", "--repair clip or --repair shift")
            raise InputError(f"{fault}; correct the kernel, or give {give}")
        stack = _writeable(stack)
        stack[m], words = _repaired(kernel, "shift" if "shift" in asked else "clip", smallest)
        sizes[m] = largest_entry(np.asarray(stack[m], dtype=np.float64))
        repairs.append(f"{where}: {words}")
    kept = () if repairs else tuple(checksums)
    return {"kernels": stack, "repairs": tuple(repairs), "symmetric": symmetric, "checksums": kept, "sizes": sizes}


def repairs_asked(repair: str | None) -> frozenset[str]:
    """The repairs that are asked for, separated by commas."""
    if repair is None:
        return frozenset()
    asked = frozenset(word.strip() for word in str(repair).split(","))
    if not asked <= {*REPAIRS} or {"clip", "shift"} <= asked:
        given = remedy(f"repair = {repair!r:.40}", f"--repair {clipped(repair, 40)}")
        fault = "asks for two ways of the same" if asked <= {*REPAIRS} else "is unknown"
        raise InputError(f"{given} {fault}: give 'clip' or 'shift', 'symmetrise', or 'symmetrise,clip'")
    return asked


def _writeable(stack: RealArray) -> RealArray:
    """A stack of floating-point numbers that can be written to; a copy where this one cannot."""
    if stack.flags.writeable and stack.dtype.kind == "f" and not is_mapped(stack):
        return stack
    return np.array(stack, dtype=stack.dtype if stack.dtype.kind == "f" else np.float64, order="K")


def rounding(dtype: DTypeLike) -> float:
    """Tolerated rounding error of an entry, relative to the largest: 1.5e-9 for doubles, 3.5e-5 for singles."""
    return 0.1 * float(np.sqrt(precision(dtype)))


def precision(dtype: DTypeLike) -> float:
    """The machine epsilon of a dtype, at least that of doubles."""
    double = np.finfo(np.float64).eps
    return float(max(np.finfo(dtype).eps, double) if np.dtype(dtype).kind == "f" else double)


def largest_entry(kernel: Array) -> float:
    """max |K_ij|; not finite if an entry is not."""
    return float(max(kernel.max(), -kernel.min()))


def largest_entries(stack: RealArray) -> Array:
    """max |K_ij| of every kernel."""
    return np.array([largest_entry(kernel) for kernel in stack])


def _check_entries(kernel: Array, where: str, limit: float = LARGEST) -> float:
    """The largest entry. Refuse entries that are not finite, or whose square, or the square of whose inverse, could
    overflow."""
    largest = largest_entry(kernel)
    if not np.isfinite(largest):
        if absent := len(missing_samples(kernel)):
            raise InputError(missing_view(where, absent, len(kernel)))
        i, j = np.argwhere(~np.isfinite(kernel))[0]
        raise InputError(f"{where} has the entry {kernel[i, j]} at [{i}, {j}]: give finite numbers")
    if largest > limit or 0 < largest < 1 / limit:
        fault, remedy = ("too large", "divide") if largest > limit else ("too small", "multiply")
        fault = f"{where} has the largest entry {largest:.3g}, {fault} for double precision"
        raise InputError(f"{fault}: {remedy} it by a constant")
    return largest


def missing_samples(kernel: Array) -> NDArray[np.intp]:
    """The samples whose rows and columns are NaN throughout, if nothing else in the kernel is, and some are left."""
    unknown = np.isnan(kernel)
    missing = unknown.all(axis=0) & unknown.all(axis=1) if kernel.shape[0] == kernel.shape[1] else np.zeros(1, bool)
    left = kernel[~missing][:, ~missing] if missing.any() and not missing.all() else None
    return np.flatnonzero(missing) if left is not None and np.isfinite(left).all() else np.empty(0, dtype=np.intp)


def missing_view(where: str, absent: int, samples: int) -> str:
    fault = f"{where} has NaN in the rows and columns of {absent} of {samples} samples, which lack this view"
    step = remedy("", "in Python, ") + "mklcvx.fill_missing centres the kernels and puts them at the mean, by zeros"
    return f"{fault}: leave these samples out of all kernels, or fill them in: {step}"


def asymmetry(kernel: Array) -> float:
    """The largest |K_ij − K_ji|."""
    starts = range(0, len(kernel), TILE)
    tiles = [(slice(i, i + TILE), slice(j, j + TILE)) for i in starts for j in starts if j <= i]
    if all(np.array_equal(kernel[rows, columns], kernel[columns, rows].T) for rows, columns in tiles):
        return 0.0
    return float(np.abs(kernel - kernel.T).max())


def _asymmetric(kernel: Array, where: str, count: int) -> InputError:
    difference = np.abs(kernel - kernel.T)
    i, j = np.unravel_index(difference.argmax(), difference.shape)
    fault = f"{where} is not symmetric: [{i}, {j}] and [{j}, {i}] differ by {difference[i, j]:.3g}"
    words = "for (K + K')/2 give " + remedy("repair='symmetrise'", "--repair symmetrise")
    if count == len(kernel):
        turn = remedy("give numpy.moveaxis(kernels, -1, 0)", "store the stack in the other order of its axes")
        words += f"; M = n: if the kernel index is at the other end, {turn}"
    return InputError(f"{fault}; {words}")


def smallest_eigenvalue(kernel: Array, tolerance: float, size: float | None = None) -> float | None:
    """None if the kernel is PSD up to rounding: one Cholesky factorisation; eigenvalues only where it fails.

    Rounding may make an eigenvalue as negative as 4εn times the largest entry: 8.9e-16·n for doubles and for integers,
    booleans and long doubles, which are treated as doubles; 4.8e-7·n for singles, 3.9e-3·n for half precision. Centring
    can reduce the entries of a kernel so much that the same eigenvalue would be refused afterwards;
    `Preprocessing.train` therefore sets such eigenvalues to zero. `size` is the largest entry, if it is known.
    """
    size = largest_entry(kernel) if size is None else size
    if size == 0 or surely_definite(kernel, size):
        return None
    # Rounding of n entries moves eigenvalues by up to n·ε·size; Cholesky and the eigenvalues need as much again.
    slack = len(kernel) * size * 400 * tolerance**2
    if _has_factor(_lifted(kernel, slack)):
        return None
    smallest = float(np.linalg.eigvalsh(_lifted(kernel, slack))[0]) - slack
    return smallest if smallest < -slack else None


def surely_definite(kernel: Array, size: float) -> bool:
    """Whether less work than a factorisation proves that λ_min(K) > 0 by far: diagonal dominance (Gershgorin), or one
    factorisation in single precision.

    v = 2⁻²⁴ is the unit roundoff of singles, n ≤ 10⁵. A = 2⁻ᵉK − tI has entries up to 1, and B is A rounded to singles.
    If the factorisation of B succeeds, some Δ makes B + Δ ⪰ 0, |Δ_ij| ≤ γ √(b_ii b_jj) with γ = (n + 4)v/(1 − (n + 4)v)
    (Demmel; Higham 2002, theorem 10.5: any order of summation; reciprocals of pivots, which some libraries multiply by,
    are counted). So ‖Δ‖₂ ≤ γ tr B. Also |b_ij| ≤ (1 + 3γ) √(b_ii b_jj), and the rounding of A, v of each entry,
    moves eigenvalues by 1.1v tr B at most. Together λ_min(A) ≥ −1.02 (n + 8)v tr A. With t = 1.1 (n + 8)v 2⁻ᵉtr K

        λ_min(K) ≥ 2ᵉ(t − 1.02 (n + 8)v tr A) ≥ 0.08 (n + 8)v tr K.

    Such a kernel passes the test in double precision as well: that cannot fail where λ_min(K) exceeds 1.1 n(n + 3)u max
    K_ii (theorem 10.7), which is less. What is not proved here is left to it: both together accept what it alone would.
    A factorisation that some of the samples show to fail is not tried: principal submatrices of A have no smaller
    eigenvalues."""
    n, unit = len(kernel), 2.0 ** -math.frexp(size)[1]
    diagonal = unit * np.diagonal(kernel)
    lifted = 1.1 * (n + 8) * SINGLE * float(diagonal.sum())
    if not LEAST <= n <= MOST or not float(diagonal.min()) > lifted:
        return False
    some = slice(None, None, -(-n // FEW))
    if not _has_factor(_lifted(unit * kernel[some, some], -lifted)):
        return False
    if float((2 * diagonal - unit * np.abs(kernel).sum(axis=1)).min()) > lifted:
        return True
    single = np.empty(kernel.shape, dtype=np.float32)
    np.multiply(kernel, unit, out=single, casting="same_kind")
    single[np.diag_indices(n)] = diagonal - lifted
    return _has_factor(single)


def _has_factor(matrix: RealArray) -> bool:
    """Whether the Cholesky factorisation succeeds. SciPy's needs no copy, but is used only if imported already."""
    lapack = sys.modules.get("scipy.linalg.lapack")
    if lapack is not None:
        factored = lapack.spotrf if matrix.dtype == np.float32 else lapack.dpotrf
        return bool(factored(matrix.T, lower=1, clean=0, overwrite_a=1)[1] == 0)
    try:
        np.linalg.cholesky(matrix)
    except np.linalg.LinAlgError:
        return False
    return True


def _lifted(kernel: Array, slack: float) -> Array:
    """A copy of the kernel with `slack` added to the diagonal."""
    shifted = np.array(kernel, order="C")
    shifted[np.diag_indices_from(shifted)] += slack
    return shifted


def _repaired(kernel: Array, repair: str, smallest: float) -> tuple[Array, str]:
    if repair == "shift":
        shift = -smallest * (1 + 1e-10)
        return kernel + shift * np.eye(len(kernel)), f"shifted: {shift:.3g} added to the diagonal"
    clipped, negative = positive_part(kernel)
    change = float(np.abs(clipped - kernel).max())
    return clipped, f"clipped: {negative} negative eigenvalues set to zero, largest entry change {change:.3g}"


def positive_part(kernel: Array) -> tuple[Array, int]:
    """The nearest PSD kernel, and the number of negative eigenvalues that were set to zero."""
    values, vectors = np.linalg.eigh((kernel + kernel.T) / 2)
    clipped = (vectors * np.maximum(values, 0)) @ vectors.T
    return (clipped + clipped.T) / 2, int((values < 0).sum())


def check_test_stack(test_kernels: object, count: int, samples: int) -> RealArray:
    """Test kernels (M, t, n): one row per new sample, one column per training sample."""
    stack = as_array(test_kernels, "test_kernels", "(M, t, n)")
    if stack.ndim == 3 and stack.shape[::2] != (count, samples) and stack.shape[1:] == (samples, count):
        warn(f"test_kernels have shape {stack.shape}: read as (t, n, M), kernel index last")
        stack = np.moveaxis(stack, -1, 0)
    if stack.ndim != 3 or stack.shape[0] != count or stack.shape[2] != samples:
        wanted = f"({count}, t, {samples}), new samples in rows, training samples in columns"
        raise InputError(f"test_kernels have shape {stack.shape}: give {wanted}, or (t, {samples}, {count})")
    for m, kernel in enumerate(stack):
        with np.errstate(over="ignore"):
            kernel = kernel.astype(np.float64, copy=False)  # a long double may be beyond it
        if not np.isfinite(kernel).all():
            i, j = np.argwhere(~np.isfinite(kernel))[0]
            words = "give finite numbers, or leave that sample out"
            if np.isnan(kernel[i]).all() or np.isnan(kernel[:, j]).all():
                words += "; for views that samples lack see mklcvx.fill_missing"
            fault = f"test_kernels have the entry {kernel[i, j]} at [{m}, {i}, {j}]: kernel, new and training sample"
            raise InputError(f"{fault}: {words}")
    return stack
