"""The instance: kernels and labels, validated once and then frozen. Nothing behind it checks again."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .errors import InputError
from .formulations._low_rank import LowRank
from .targets import Targets, as_targets, find_test_targets, named_classes

Array = NDArray[np.float64]

LARGEST = 1e150
LARGEST_WEIGHT = 1e100


@dataclass(frozen=True, eq=False)
class Instance:
    """A stack of M kernels (M, n, n) and targets, with optional groups, names and sample weights.

    The targets are one of y (n,) in {−1, +1}, classes (n,) and labels (n, k) in {0, 1}.

    The stack is kept as it comes (any real dtype, order, memory map), read-only and without a copy, unless the kernels'
    entries take turns in memory, or `repair` has to change a kernel: "clip" sets negative eigenvalues to zero, "shift"
    adds the size of the smallest one to the diagonal; `repairs` says what was changed. `class_weight` is "balanced" or
    a weight for each of −1 and +1; it multiplies the sample weights.
    """

    kernels: NDArray[Any]
    targets: Targets
    groups: NDArray[np.intp] | None = None
    names: tuple[str, ...] = ()
    sample_weight: Array = field(default_factory=lambda: np.empty(0))
    test_kernels: NDArray[Any] | None = None
    test_targets: NDArray[Any] | None = None
    test_diagonals: Array | None = None
    repairs: tuple[str, ...] = ()
    symmetric: bool = True

    def __init__(
        self,
        kernels: ArrayLike | Sequence[ArrayLike],
        y: ArrayLike | None = None,
        *,
        classes: ArrayLike | None = None,
        labels: ArrayLike | None = None,
        label_names: Iterable[str] | None = None,
        groups: ArrayLike | Sequence[Sequence[int]] | None = None,
        names: Iterable[str] | None = None,
        sample_weight: ArrayLike | None = None,
        class_weight: str | Mapping[Any, float] | None = None,
        test_kernels: ArrayLike | None = None,
        test_y: ArrayLike | None = None,
        test_classes: ArrayLike | None = None,
        test_labels: ArrayLike | None = None,
        test_diagonals: ArrayLike | None = None,
        repair: str | None = None,
    ) -> None:
        stack = _as_stack(kernels)
        targets = as_targets(y, classes, labels, label_names, stack.shape[1])
        kernel_names = _as_names(names, len(stack))
        stack, repairs, symmetric = _validated(stack, kernel_names, repair)
        weight = _combined(_as_weights(sample_weight, len(targets)), _class_weights(class_weight, targets))
        test = _as_test_stack(test_kernels, stack.shape)
        diagonals = None if test_diagonals is None else _as_test_diagonals(test_diagonals, len(stack), test)
        for name, value in {
            "kernels": stack if isinstance(stack, LowRank) else _read_only(stack),
            "targets": replace(targets, values=_read_only(targets.values)),
            "groups": None if groups is None else _read_only(_as_groups(groups, len(stack))),
            "names": kernel_names,
            "sample_weight": _read_only(weight),
            "test_kernels": None if test is None else _read_only(test),
            "test_targets": _as_test(targets, test, test_y=test_y, test_classes=test_classes, test_labels=test_labels),
            "test_diagonals": None if diagonals is None else _read_only(diagonals),
            "repairs": tuple(repairs),
            "symmetric": symmetric,
        }.items():
            object.__setattr__(self, name, value)

    @property
    def count(self) -> int:
        return len(self.kernels)

    @property
    def samples(self) -> int:
        return len(self.targets)

    @property
    def y(self) -> Array:
        """The labels ±1; an empty array where the targets are of another kind."""
        return self.targets.values if self.targets.kind == "y" else np.empty(0)

    @property
    def test_y(self) -> Array | None:
        return self.test_targets if self.targets.kind == "y" else None

    def with_kernels(self, kernels: Any, **changes: Any) -> Instance:
        """The same samples with other kernels."""
        given: dict[str, Any] = {
            self.targets.kind: self.targets.values,
            "label_names": None if self.targets.kind == "y" else self.targets.names,
            "groups": self.groups,
            "names": self.names,
            "sample_weight": self.sample_weight,
            "test_kernels": self.test_kernels,
            f"test_{self.targets.kind}": self.test_targets,
            "test_diagonals": self.test_diagonals,
        }
        return Instance(kernels, **{**given, **changes})

    def select(self, kernels: Sequence[int | str]) -> Instance:
        """The instance with some of its kernels, by index or name."""
        chosen = [self._index(kernel) for kernel in kernels]
        return self.with_kernels(
            self.kernels[chosen[0] : chosen[0] + 1] if len(chosen) == 1 else self.kernels[chosen],
            groups=None if self.groups is None else self.groups[chosen],
            names=[self.names[m] for m in chosen],
            test_kernels=None if self.test_kernels is None else self.test_kernels[chosen],
            test_diagonals=None if self.test_diagonals is None else self.test_diagonals[chosen],
        )

    def _index(self, kernel: int | str) -> int:
        if isinstance(kernel, str) and kernel in self.names:
            return self.names.index(kernel)
        try:
            index = int(kernel)
        except (ValueError, TypeError):
            index = self.count
        if not -self.count <= index < self.count:
            known = f"an index below {self.count} or one of {', '.join(self.names[:8])}"
            raise InputError(f"unknown kernel {kernel!r}: give {known}")
        return index % self.count


# ------------------------------------------------------------------------------------------------ kernels
def _as_stack(kernels: Any) -> Any:
    stack = kernels if isinstance(kernels, LowRank) else _as_array(kernels, "kernels", "(M, n, n)")
    if stack.ndim != 3:
        raise InputError(f"kernels have shape {stack.shape}: give a three-dimensional stack (M, n, n)")
    count, rows, columns = stack.shape
    if count == 0:
        raise InputError("kernels: the stack holds no kernel (M = 0): give at least one")
    if rows != columns:
        raise InputError(
            f"kernels have shape {stack.shape}, not square: give (M, n, n), kernel index first"
            + (" (the index seems to come last)" if count == rows else "")
        )
    if rows == 0:
        raise InputError(f"kernels have shape {stack.shape}: they are empty; give at least two samples")
    if rows < 2:
        raise InputError(f"kernels are for n = {rows} sample: give at least two, one of each class")
    return stack if isinstance(stack, LowRank) else _untangled(stack)


def _untangled(stack: NDArray[Any]) -> NDArray[Any]:
    """Kernels whose entries take turns in memory, or that are parts of larger ones, are read many times more slowly:
    one copy is worth it, but for a memory map, which may be larger than memory."""
    return stack if stack[0].flags.forc or isinstance(stack, np.memmap) else np.ascontiguousarray(stack)


def _as_array(values: Any, name: str, shape: str) -> NDArray[Any]:
    try:
        array = values if isinstance(values, np.ndarray) else np.asarray(values)
    except ValueError as fault:
        raise InputError(f"{name} are ragged: all must have one size; give an array {shape}") from fault
    if array.dtype.kind not in "fiub":
        raise InputError(f"{name} have dtype {array.dtype}: give real numbers, an array {shape}")
    if isinstance(array, np.ma.MaskedArray):
        if np.ma.is_masked(array):
            raise InputError(f"{name} have masked entries: give finite numbers, an array {shape}")
        return np.ma.getdata(array)
    return array


def _validated(stack: NDArray[Any], names: tuple[str, ...], repair: str | None) -> tuple[NDArray[Any], list[str], bool]:
    if repair not in (None, "clip", "shift"):
        raise InputError(f"repair = {repair!r} is unknown: give 'clip' or 'shift'")
    if isinstance(stack, LowRank):
        for m, name in enumerate(names):
            _check_finite(stack.factor(m), f"the factor of kernel {name!r} (index {m})")
            _check_size(stack.factor(m), f"the factor of kernel {name!r} (index {m})", np.sqrt(LARGEST))
        return stack, [], True
    repairs: list[str] = []
    symmetric = True
    tolerance = rounding(stack.dtype)
    for m, name in enumerate(names):
        with np.errstate(over="ignore"):
            kernel = np.asarray(stack[m], dtype=np.float64)
        where = f"kernel {name!r} (index {m})"
        _check_finite(kernel, where)
        _check_size(kernel, where)
        exactly = _check_symmetric(kernel, where, tolerance)
        symmetric &= exactly
        smallest = smallest_eigenvalue(kernel, tolerance, exactly)
        if smallest is None:
            continue
        if repair is None:
            raise InputError(
                f"{where} is not positive semidefinite: smallest eigenvalue {smallest:.3g}; "
                "mend the kernel, or ask for repair='clip' or repair='shift'"
            )
        if not repairs:
            stack = stack.astype(stack.dtype if stack.dtype.kind == "f" else np.float64)
        stack[m], change = _repaired(kernel, repair, smallest)
        repairs.append(f"{where}: {change}")
    return stack, repairs, symmetric


def rounding(dtype: np.dtype[Any]) -> float:
    """How far rounding may move an entry, relative to the largest: 1.5e-9 for doubles, 3.5e-5 for singles."""
    return 0.1 * float(np.sqrt(np.finfo(dtype if dtype.kind == "f" else np.float64).eps))


def largest_entry(kernel: Array) -> float:
    """max |K_ij|; not finite if an entry is not."""
    return float(max(kernel.max(), -kernel.min()))


def _check_finite(kernel: Array, where: str) -> None:
    if not np.isfinite(largest_entry(kernel)):
        i, j = np.argwhere(~np.isfinite(kernel))[0]
        raise InputError(f"{where} has the entry {kernel[i, j]} at [{i}, {j}]: give finite numbers")


def _check_size(kernel: Array, where: str, limit: float = LARGEST) -> None:
    """Sizes whose squares, and whose inverse's squares, are numbers too."""
    largest = largest_entry(kernel)
    if largest > limit or 0 < largest < 1 / limit:
        kind, remedy = ("large", "divide") if largest > LARGEST else ("small", "multiply")
        raise InputError(
            f"{where} has the largest entry {largest:.3g}, too {kind} for double precision: {remedy} it by a constant"
        )


def _check_symmetric(kernel: Array, where: str, tolerance: float) -> bool:
    """Whether the kernel is symmetric to the last bit; refused if it is not even up to rounding."""
    if np.array_equal(kernel, kernel.T):
        return True
    difference = np.abs(kernel - kernel.T)
    if difference.max() > tolerance * largest_entry(kernel):
        i, j = np.unravel_index(difference.argmax(), difference.shape)
        raise InputError(
            f"{where} is not symmetric: [{i}, {j}] and [{j}, {i}] differ by {difference[i, j]:.3g}; "
            "give (K + K')/2 if that is what you mean"
        )
    return False


def smallest_eigenvalue(kernel: Array, tolerance: float, symmetric: bool = False) -> float | None:
    """None if the kernel is PSD up to rounding: one Cholesky factorisation; eigenvalues only where it fails."""
    size = largest_entry(kernel)
    if size == 0:
        return None
    # Rounding of n entries moves eigenvalues by up to n·ε·size; Cholesky and the eigenvalues need as much again.
    slack = len(kernel) * size * 400 * tolerance**2
    if _has_factor(_lifted(kernel, slack, symmetric)):
        return None
    smallest = float(np.linalg.eigvalsh(_lifted(kernel, slack, symmetric))[0]) - slack
    return smallest if smallest < -slack else None


def _has_factor(matrix: Array) -> bool:
    """Whether Cholesky's factorisation goes through; SciPy's spares a copy, but no refusal waits for it."""
    lapack = sys.modules.get("scipy.linalg.lapack")
    if lapack is not None:
        return bool(lapack.dpotrf(matrix.T, lower=1, clean=0, overwrite_a=1)[1] == 0)
    try:
        np.linalg.cholesky(matrix)
    except np.linalg.LinAlgError:
        return False
    return True


def _lifted(kernel: Array, slack: float, symmetric: bool) -> Array:
    """The symmetric part with `slack` on the diagonal, in memory of its own."""
    shifted = np.array(kernel, order="C") if symmetric else (kernel + kernel.T) / 2
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
    """The nearest PSD kernel, and how many negative eigenvalues were set to zero."""
    values, vectors = np.linalg.eigh((kernel + kernel.T) / 2)
    clipped = (vectors * np.maximum(values, 0)) @ vectors.T
    return (clipped + clipped.T) / 2, int((values < 0).sum())


# ------------------------------------------------------------------------------------------ everything else
def _as_names(names: Iterable[str] | None, count: int) -> tuple[str, ...]:
    if names is None:
        return tuple(f"K{m + 1}" for m in range(count))
    try:
        result = tuple(name.decode() if isinstance(name, bytes) else str(name) for name in names)
    except (TypeError, ValueError, SystemError):  # the last is what NumPy makes of impossible characters
        raise InputError("names are no list of words: give one per kernel") from None
    if len(result) != count:
        raise InputError(f"names: {len(result)} names for {count} kernels: give one per kernel")
    return result


def _as_weights(sample_weight: Any, samples: int) -> Array:
    if sample_weight is None:
        return np.ones(samples)
    given = _as_array(sample_weight, "sample_weight", "(n,)")
    weights = given.astype(np.float64).ravel()
    if len(weights) != samples or max(given.shape, default=0) != samples:
        raise InputError(f"sample_weight has shape {given.shape} for {samples} samples: give one per sample")
    if not (np.isfinite(weights).all() and (weights > 0).all()):
        raise InputError(
            "sample_weight has entries that are not positive and finite: leave such samples out of the kernels"
        )
    return weights


def check_weight_sizes(weights: Array) -> None:
    """Sizes whose squares and inverses are numbers."""
    strange = weights[(weights > LARGEST_WEIGHT) | (weights < 1 / LARGEST_WEIGHT)]
    if len(strange):
        raise InputError(f"sample_weight has the entry {strange[0]:.3g}, beyond 1e±100: rescale the weights")


def _class_weights(class_weight: str | Mapping[Any, float] | None, targets: Targets) -> Array:
    if class_weight is None:
        return np.ones(len(targets))
    if targets.kind != "y":
        raise InputError(f"class_weight needs y, the instance has {targets.kind}: give sample_weight instead")
    y = targets.values
    positive = y > 0
    shown = " ".join(repr(class_weight).split())
    if isinstance(class_weight, str) and class_weight == "balanced":
        return np.where(positive, len(y) / (2 * positive.sum()), len(y) / (2 * (~positive).sum()))
    if not isinstance(class_weight, Mapping) or set(class_weight) != {-1, 1}:
        raise InputError(f"class_weight = {shown}: give 'balanced' or {{-1: weight, 1: weight}}")
    try:
        up, down = float(class_weight[1]), float(class_weight[-1])
    except (TypeError, ValueError, OverflowError):
        up = down = np.nan
    if not (0 < up < np.inf and 0 < down < np.inf):
        raise InputError(f"class_weight = {shown}: weights must be positive and finite")
    return np.where(positive, up, down)


def _combined(sample_weight: Array, class_weight: Array) -> Array:
    with np.errstate(over="ignore", under="ignore"):
        weight = sample_weight * class_weight
    if not ((weight <= LARGEST_WEIGHT) & (weight >= 1 / LARGEST_WEIGHT)).all():
        raise InputError("sample_weight times class_weight leaves the range of 1e±100: give moderate weights")
    return weight


def _as_groups(groups: Any, count: int) -> NDArray[np.intp]:
    remedy = f"give one integer for each of the {count} kernels, or lists of kernel indices"
    try:
        items = list(groups)
        parts = [_integers(item) for item in items] if any(np.ndim(item) > 0 for item in items) else None
        labels = _integers(items) if parts is None else _from_partition(parts, count)
    except (TypeError, ValueError, OverflowError) as fault:
        if isinstance(fault, InputError):
            raise
        raise InputError(f"groups are no integers: {remedy}") from None
    if len(labels) != count:
        raise InputError(f"groups do not cover the kernels: {len(labels)} entries for {count} kernels; {remedy}")
    return np.unique(labels, return_inverse=True)[1].astype(np.intp)


def _integers(values: Any) -> NDArray[np.intp]:
    array = np.ravel(np.asarray(values))
    if array.size == 0:
        return np.empty(0, dtype=np.intp)
    if array.dtype.kind not in "fiu" or not np.isfinite(array).all() or (array != np.floor(array)).any():
        raise ValueError("not integers")
    return array.astype(np.intp)


def _from_partition(parts: list[NDArray[np.intp]], count: int) -> NDArray[np.intp]:
    members = np.concatenate(parts)
    if sorted(members.tolist()) != list(range(count)):
        missing = sorted(set(range(count)) - set(members.tolist()))
        fault = f"kernel {missing[0]} is in none" if missing else "a kernel is in two, or unknown"
        raise InputError(f"groups do not cover the kernels: {fault}; give each of the {count} kernels one group")
    labels = np.empty(count, dtype=np.intp)
    for j, part in enumerate(parts):
        labels[part] = j
    return labels


def _as_test_stack(test_kernels: Any, shape: tuple[int, ...]) -> NDArray[Any] | None:
    if test_kernels is None:
        return None
    return check_test_stack(test_kernels, shape[0], shape[1])


def check_test_stack(test_kernels: Any, count: int, samples: int) -> NDArray[Any]:
    """Test kernels (M, t, n): one row per new sample, one column per training sample."""
    stack = _as_array(test_kernels, "test_kernels", "(M, t, n)")
    if stack.ndim != 3 or stack.shape[0] != count or stack.shape[2] != samples:
        raise InputError(
            f"test_kernels have shape {stack.shape}: give ({count}, t, {samples}), "
            "new samples in rows, training samples in columns"
        )
    if not all(np.isfinite(kernel).all() for kernel in stack):
        raise InputError("test_kernels have entries that are not finite: give finite numbers")
    return stack


def _as_test_diagonals(test_diagonals: Any, count: int, test: NDArray[Any] | None) -> Array:
    """k(x, x) of the test samples, (M, t)."""
    diagonals = _as_array(test_diagonals, "test_diagonals", "(M, t)").astype(np.float64)
    rows = 0 if test is None else test.shape[1]
    if diagonals.shape != (count, rows):
        raise InputError(
            f"test_diagonals have shape {diagonals.shape} for {rows} rows of test_kernels: give ({count}, {rows})"
        )
    if not np.isfinite(diagonals).all():
        raise InputError("test_diagonals have entries that are not finite: give finite numbers")
    return diagonals


def _as_test(targets: Targets, test: NDArray[Any] | None, **given: Any) -> NDArray[Any] | None:
    found = [name for name, value in given.items() if value is not None]
    if len(found) > 1:
        raise InputError(f"{' and '.join(found)} are given: give test_{targets.kind}, as the training samples have it")
    rows = 0 if test is None else test.shape[1]
    checked = find_test_targets(given, targets.kind, rows, len(targets.names))
    if checked is None:
        return None
    if targets.kind == "classes":
        named_classes(checked, targets.classes(), targets.names)
    return _read_only(checked)


def _read_only(array: NDArray[Any]) -> NDArray[Any]:
    view = array.view()
    view.flags.writeable = False
    return view
