"""The instance: kernels and labels, validated once and then frozen. Nothing behind it checks again."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .errors import InputError

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Instance:
    """A stack of M kernels (M, n, n) and labels y ∈ {−1,+1}ⁿ, with optional groups, names and sample weights.

    The stack is kept as it comes (any real dtype, order, memory map), read-only and without a copy, unless
    `repair` has to change a kernel: "clip" sets negative eigenvalues to zero, "shift" adds the size of the
    smallest one to the diagonal; `repairs` says what was changed. `class_weight` is "balanced" or a weight for
    each of −1 and +1; it multiplies the sample weights.
    """

    kernels: NDArray[Any]
    y: Array
    groups: NDArray[np.intp] | None = None
    names: tuple[str, ...] = ()
    sample_weight: Array = field(default_factory=lambda: np.empty(0))
    test_kernels: NDArray[Any] | None = None
    test_y: Array | None = None
    test_diagonals: Array | None = None
    repairs: tuple[str, ...] = ()
    symmetric: bool = True

    def __init__(
        self,
        kernels: ArrayLike | Sequence[ArrayLike],
        y: ArrayLike,
        *,
        groups: ArrayLike | Sequence[Sequence[int]] | None = None,
        names: Iterable[str] | None = None,
        sample_weight: ArrayLike | None = None,
        class_weight: str | Mapping[Any, float] | None = None,
        test_kernels: ArrayLike | None = None,
        test_y: ArrayLike | None = None,
        test_diagonals: ArrayLike | None = None,
        repair: str | None = None,
    ) -> None:
        stack = _as_stack(kernels)
        labels = _as_labels(y, "y")
        if len(labels) != stack.shape[1]:
            raise InputError(
                f"y has {len(labels)} labels, the kernels are {stack.shape[1]} by {stack.shape[2]}: "
                "give one label per sample"
            )
        kernel_names = _as_names(names, len(stack))
        stack, repairs, symmetric = _validated(stack, kernel_names, repair)
        weight = _as_weights(sample_weight, labels) * _class_weights(class_weight, labels)
        test = _as_test_stack(test_kernels, stack.shape)
        for name, value in {
            "kernels": _read_only(stack),
            "y": _read_only(labels),
            "groups": None if groups is None else _read_only(_as_groups(groups, len(stack))),
            "names": kernel_names,
            "sample_weight": _read_only(weight),
            "test_kernels": None if test is None else _read_only(test),
            "test_y": None if test_y is None else _read_only(_as_test_labels(test_y, test)),
            "test_diagonals": None if test_diagonals is None else np.asarray(test_diagonals, float),
            "repairs": tuple(repairs),
            "symmetric": symmetric,
        }.items():
            object.__setattr__(self, name, value)

    @property
    def count(self) -> int:
        return len(self.kernels)

    @property
    def samples(self) -> int:
        return len(self.y)

    def select(self, kernels: Sequence[int | str]) -> Instance:
        """The instance with some of its kernels, by index or name."""
        chosen = [self._index(kernel) for kernel in kernels]
        return Instance(
            self.kernels[chosen[0] : chosen[0] + 1] if len(chosen) == 1 else self.kernels[chosen],
            self.y,
            groups=None if self.groups is None else self.groups[chosen],
            names=[self.names[m] for m in chosen],
            sample_weight=self.sample_weight,
            test_kernels=None if self.test_kernels is None else self.test_kernels[chosen],
            test_y=self.test_y,
            test_diagonals=None if self.test_diagonals is None else self.test_diagonals[chosen],
        )

    def _index(self, kernel: int | str) -> int:
        if isinstance(kernel, str) and kernel in self.names:
            return self.names.index(kernel)
        try:
            index = int(kernel)
        except ValueError:
            index = self.count
        if not -self.count <= index < self.count:
            known = f"an index below {self.count} or one of {', '.join(self.names[:8])}"
            raise InputError(f"unknown kernel {kernel!r}: give {known}")
        return index % self.count


# ------------------------------------------------------------------------------------------------ kernels
def _as_stack(kernels: Any) -> NDArray[Any]:
    stack = _as_array(kernels, "kernels", "(M, n, n)")
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
    return stack


def _as_array(values: Any, name: str, shape: str) -> NDArray[Any]:
    try:
        array = values if isinstance(values, np.ndarray) else np.asarray(values)
    except ValueError as fault:
        raise InputError(f"{name} are ragged: all must have one size; give an array {shape}") from fault
    if array.dtype.kind not in "fiub":
        raise InputError(f"{name} have dtype {array.dtype}: give real numbers, an array {shape}")
    return array


def _validated(stack: NDArray[Any], names: tuple[str, ...], repair: str | None) -> tuple[NDArray[Any], list[str], bool]:
    if repair not in (None, "clip", "shift"):
        raise InputError(f"repair = {repair!r} is unknown: give 'clip' or 'shift'")
    repairs: list[str] = []
    symmetric = True
    for m, name in enumerate(names):
        kernel = np.asarray(stack[m], dtype=np.float64)
        where = f"kernel {name!r} (index {m})"
        tolerance = _rounding(stack.dtype)
        _check_finite(kernel, where)
        symmetric &= _check_symmetric(kernel, where, tolerance)
        smallest = _smallest_eigenvalue(kernel, tolerance)
        if smallest is None:
            continue
        if repair is None:
            raise InputError(
                f"{where} is not positive semidefinite: smallest eigenvalue {smallest:.3g}; "
                "mend the kernel, or ask for repair='clip' or repair='shift'"
            )
        if not repairs:
            stack = stack.astype(np.float64)
        stack[m], change = _repaired(kernel, repair, smallest)
        repairs.append(f"{where}: {change}")
    return stack, repairs, symmetric


def _rounding(dtype: np.dtype[Any]) -> float:
    """How far rounding may move an entry, relative to the largest: 1.5e-9 for doubles, 3.5e-5 for singles."""
    return 0.1 * float(np.sqrt(np.finfo(dtype if dtype.kind == "f" else np.float64).eps))


def _check_finite(kernel: Array, where: str) -> None:
    if not np.isfinite(kernel).all():
        i, j = np.argwhere(~np.isfinite(kernel))[0]
        raise InputError(f"{where} has the entry {kernel[i, j]} at [{i}, {j}]: give finite numbers")


def _check_symmetric(kernel: Array, where: str, tolerance: float) -> bool:
    """Whether the kernel is symmetric to the last bit; refused if it is not even up to rounding."""
    difference = np.abs(kernel - kernel.T)
    if difference.max() > tolerance * np.abs(kernel).max():
        i, j = np.unravel_index(difference.argmax(), difference.shape)
        raise InputError(
            f"{where} is not symmetric: [{i}, {j}] and [{j}, {i}] differ by {difference[i, j]:.3g}; "
            "give (K + K')/2 if that is what you mean"
        )
    return not difference.any()


def _smallest_eigenvalue(kernel: Array, tolerance: float) -> float | None:
    """None if the kernel is PSD up to rounding: one Cholesky factorisation; eigenvalues only where it fails."""
    size = np.abs(kernel).max()
    if size == 0:
        return None
    shifted = (kernel + kernel.T) / 2
    # Rounding of n entries moves eigenvalues by about n·ε·size; Cholesky itself needs the same again.
    slack = len(kernel) * size * 40 * tolerance**2
    shifted[np.diag_indices_from(shifted)] += slack
    try:
        np.linalg.cholesky(shifted)
    except np.linalg.LinAlgError:
        smallest = float(np.linalg.eigvalsh(shifted)[0]) - slack
        return smallest if smallest < -slack else None
    return None


def _repaired(kernel: Array, repair: str, smallest: float) -> tuple[Array, str]:
    if repair == "shift":
        shift = -smallest * (1 + 1e-10)
        return kernel + shift * np.eye(len(kernel)), f"shifted: {shift:.3g} added to the diagonal"
    values, vectors = np.linalg.eigh((kernel + kernel.T) / 2)
    clipped = (vectors * np.maximum(values, 0)) @ vectors.T
    negative, change = int((values < 0).sum()), float(np.abs(clipped - kernel).max())
    return (clipped + clipped.T) / 2, (
        f"clipped: {negative} negative eigenvalues set to zero, largest entry change {change:.3g}"
    )


# ------------------------------------------------------------------------------------------ everything else
def _as_labels(y: Any, name: str) -> Array:
    labels = np.asarray(y)
    if labels.ndim == 2 and 1 in labels.shape:
        labels = labels.ravel()
    if labels.ndim != 1:
        raise InputError(f"{name} has shape {labels.shape}: give one label per sample, shape (n,)")
    values = np.unique(labels)
    if labels.dtype.kind in "fiub" and np.isin(values, (-1, 1)).all() and labels.dtype.kind != "b":
        if len(values) < 2 and name == "y":
            raise InputError(f"{name} has one class only ({values[0]:+g}): give samples of both −1 and +1")
        return labels.astype(np.float64)
    raise InputError(f"{name} has labels {_listed(values)}, not −1 and +1: {_mapping(values, name)}")


def _listed(values: NDArray[Any]) -> str:
    shown = ", ".join(str(v) for v in values[:4])
    return shown + (f", … ({len(values)} values)" if len(values) > 4 else "")


def _mapping(values: NDArray[Any], name: str) -> str:
    if len(values) == 1:
        return "give samples of two classes"
    if len(values) == 2:
        return f"map them, for example numpy.where({name} == {values[1].item()!r}, 1, -1)"
    return f"choose one against the rest, for example numpy.where({name} == {values[-1].item()!r}, 1, -1)"


def _as_names(names: Iterable[str] | None, count: int) -> tuple[str, ...]:
    if names is None:
        return tuple(f"K{m + 1}" for m in range(count))
    result = tuple(str(name) for name in names)
    if len(result) != count:
        raise InputError(f"names: {len(result)} names for {count} kernels: give one per kernel")
    return result


def _as_weights(sample_weight: Any, y: Array) -> Array:
    if sample_weight is None:
        return np.ones(len(y))
    weights = _as_array(sample_weight, "sample_weight", "(n,)").astype(np.float64).ravel()
    if len(weights) != len(y):
        raise InputError(f"sample_weight has {len(weights)} entries for {len(y)} samples: give one per sample")
    if not (np.isfinite(weights).all() and (weights > 0).all()):
        raise InputError(
            "sample_weight has entries that are not positive and finite: leave such samples out of the kernels"
        )
    return weights


def _class_weights(class_weight: str | Mapping[Any, float] | None, y: Array) -> Array:
    if class_weight is None:
        return np.ones(len(y))
    positive = y > 0
    if class_weight == "balanced":
        up, down = len(y) / (2 * positive.sum()), len(y) / (2 * (~positive).sum())
    elif isinstance(class_weight, Mapping) and set(class_weight) == {-1, 1}:
        up, down = float(class_weight[1]), float(class_weight[-1])
    else:
        raise InputError(f"class_weight = {class_weight!r}: give 'balanced' or {{-1: weight, 1: weight}}")
    if not (0 < up < np.inf and 0 < down < np.inf):
        raise InputError(f"class_weight = {class_weight!r}: weights must be positive and finite")
    return np.where(positive, up, down)


def _as_groups(groups: Any, count: int) -> NDArray[np.intp]:
    items = list(groups)
    if any(np.ndim(item) > 0 for item in items):
        return _from_partition(items, count)
    labels = np.asarray(items)
    if labels.dtype.kind not in "iu" and not (labels.dtype.kind == "f" and (labels == np.floor(labels)).all()):
        raise InputError(f"groups have dtype {labels.dtype}: give one integer per kernel")
    if len(labels) != count:
        raise InputError(
            f"groups do not cover the kernels: {len(labels)} entries for {count} kernels; give one integer per kernel"
        )
    return np.unique(labels, return_inverse=True)[1].astype(np.intp)


def _from_partition(parts: list[Any], count: int) -> NDArray[np.intp]:
    members = [int(m) for part in parts for m in np.ravel(part)]
    if sorted(members) != list(range(count)):
        missing = sorted(set(range(count)) - set(members))
        fault = f"kernel {missing[0]} is in none" if missing else "a kernel is in two, or unknown"
        raise InputError(f"groups do not cover the kernels: {fault}; give each of the {count} kernels one group")
    labels = np.empty(count, dtype=np.intp)
    for j, part in enumerate(parts):
        labels[np.ravel(part).astype(int)] = j
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


def _as_test_labels(test_y: Any, test: NDArray[Any] | None) -> Array:
    labels = _as_labels(test_y, "test_y")
    if test is None or len(labels) != test.shape[1]:
        rows = 0 if test is None else test.shape[1]
        raise InputError(f"test_y has {len(labels)} labels for {rows} rows of test_kernels: give one per row")
    return labels


def _read_only(array: NDArray[Any]) -> NDArray[Any]:
    view = array.view()
    view.flags.writeable = False
    return view
