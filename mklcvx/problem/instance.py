"""The instance: kernels and targets, validated once and then frozen. No later code validates them again."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import InputError
from .low_rank import Kernels, LowRank, Stored
from .numbers import AnyArray, RealArray
from .ownership import checksum, owned, read_only
from .target_checks import as_names, as_targets, find_test_targets, named_classes
from .targets import Targets
from .validation import as_array, as_stack, check_test_stack, validated

Array = NDArray[np.float64]

LARGEST_WEIGHT = 1e100
KEPT = ("groups", "names", "sample_weight", "test_kernels", "test_diagonals")  # arguments that are fields as well


@dataclass(frozen=True, eq=False)
class Instance:
    """A stack of M kernels (M, n, n) and targets, validated once and then frozen.

    The targets are one of `y`, `classes`, `labels` and `response`, or there are none. A kernel is its lower triangle:
    one that is symmetric up to rounding only is copied with that triangle mirrored.

    The instance owns its arrays, so that the validated numbers are the ones that are solved: arrays are copied, in
    their own dtype and order. Arrays are not copied if they, and the arrays that they are views of, are read-only
    (`array.flags.writeable = False`). Memory maps are not copied either, since they may exceed memory: `checksums` has
    one for each kernel, and `check_unchanged`, which `solve` and `verify` call, refuses kernels that have changed since
    they were validated. Changes of mapped test kernels are not detected.

    Parameters
    ----------
    kernels : array_like of shape (M, n, n), or LowRank
        Positive semidefinite kernel matrices, or their factors. A stack (n, n, M) is accepted with a warning, unless
        M = n.
    y : array_like of shape (n,), optional
        Labels −1 and +1.
    classes : array_like of shape (n,), optional
        One class for each sample, as numbers or words.
    labels : array_like of shape (n, k), optional
        Label sets, 0 and 1.
    response : array_like of shape (n,) or (n, k), optional
        Real targets, with one column for each output. They may be constant.
    label_names : iterable of str, optional
        Names of the classes, labels or outputs.
    groups : array_like of shape (M,), or list of lists, optional
        Group of each kernel, or the kernels of each group.
    names : iterable of str, optional
        Names of the kernels. The default is K1, K2 and so on.
    sample_weight : array_like of shape (n,), optional
        Positive weights of the samples.
    class_weight : "balanced" or dict, optional
        Weights of −1 and +1, which multiply the sample weights.
    test_kernels : array_like of shape (M, t, n), optional
        Kernels between test and training samples.
    test_y : array_like of shape (t,), optional
        Labels of the test samples. Without targets: +1 for samples like the training ones, −1 for others.
    test_classes : array_like of shape (t,), optional
        Classes of the test samples.
    test_labels : array_like of shape (t, k), optional
        Label sets of the test samples.
    test_response : array_like of shape (t,) or (t, k), optional
        Real targets of the test samples.
    test_diagonals : array_like of shape (M, t), optional
        Values k(x, x) of the test samples.
    repair : {"clip", "shift", "symmetrise"}, optional
        Repair indefinite kernels: "clip" sets negative eigenvalues to zero, "shift" adds the size of the smallest one
        to the diagonal; or asymmetric ones: "symmetrise" takes (K + K')/2. "symmetrise,clip" does both. `repairs`
        describes the changes.

    Raises
    ------
    InputError
        If kernels or targets cannot be used.

    Examples
    --------
    >>> import numpy as np
    >>> import mklcvx
    >>> mklcvx.Instance([np.eye(4), np.ones((4, 4))], [1, 1, -1, -1], names=["identity", "constant"])
    Instance(2 float64 kernels, 4 samples, target='y')
    """

    kernels: Stored
    targets: Targets
    groups: NDArray[np.intp] | None = None
    names: tuple[str, ...] = ()
    sample_weight: Array = field(default_factory=lambda: np.empty(0))
    test_kernels: RealArray | None = None
    test_targets: AnyArray | None = None
    test_diagonals: Array | None = None
    repairs: tuple[str, ...] = ()
    symmetric: bool = True
    checksums: tuple[int, ...] = ()
    sizes: Array | None = field(default=None, repr=False)

    def __init__(
        self,
        kernels: Kernels,
        y: ArrayLike | None = None,
        *,
        classes: ArrayLike | None = None,
        labels: ArrayLike | None = None,
        response: ArrayLike | None = None,
        label_names: Iterable[str] | None = None,
        groups: ArrayLike | Sequence[Sequence[int]] | None = None,
        names: Iterable[str] | None = None,
        sample_weight: ArrayLike | None = None,
        class_weight: str | Mapping[int, float] | None = None,
        test_kernels: ArrayLike | None = None,
        test_y: ArrayLike | None = None,
        test_classes: ArrayLike | None = None,
        test_labels: ArrayLike | None = None,
        test_response: ArrayLike | None = None,
        test_diagonals: ArrayLike | None = None,
        repair: str | None = None,
    ) -> None:
        stack = as_stack(kernels)
        targets = as_targets(y, classes, labels, label_names, stack.shape[1], response)
        count, samples, _ = stack.shape
        default_names = (f"K{m + 1}" for m in range(count))
        kernel_names = as_names("names", default_names if names is None else names, count, "kernels", "kernel")
        checked = validated(stack, kernel_names, repair)
        weight = _combined(_as_weights(sample_weight, samples), _class_weights(class_weight, targets))
        test = None if test_kernels is None else owned(check_test_stack(test_kernels, count, samples))
        test_targets = {
            "test_y": test_y, "test_classes": test_classes, "test_labels": test_labels, "test_response": test_response,
        }  # fmt: skip
        fields = {
            "targets": targets,
            "names": kernel_names,
            "sample_weight": weight,
            "test_kernels": test,
            "test_diagonals": None if test_diagonals is None else _as_test_diagonals(test_diagonals, count, test),
            "groups": None if groups is None else as_groups(groups, count),
            "test_targets": _as_test(targets, test, test_targets),
        }
        self.__setstate__({**checked, **fields})

    def __setstate__(self, state: dict[str, object]) -> None:
        """Set the fields and make their arrays read-only, also after unpickling or a deep copy."""
        for name, value in state.items():
            frozen = replace(value, values=read_only(value.values)) if isinstance(value, Targets) else value
            object.__setattr__(self, name, read_only(value) if isinstance(value, np.ndarray) else frozen)

    def __repr__(self) -> str:
        kind = "low-rank kernels" if isinstance(self.kernels, LowRank) else f"{self.kernels.dtype} kernels"
        parts = [f"{self.count} {kind}", f"{self.samples} samples", f"target={self.targets.kind!r}"]
        if self.targets.values.ndim == 2 or self.targets.kind == "classes":
            things = "outputs" if self.targets.kind == "response" else "labels"
            parts += [f"{len(self.targets.names)} {things}"] if self.targets.names else []
        parts += [] if self.groups is None else [f"{len(np.unique(self.groups))} groups"]
        parts += [] if self.test_kernels is None else [f"{self.test_kernels.shape[1]} test samples"]
        return f"Instance({', '.join(parts)})"

    @property
    def count(self) -> int:
        """Number of kernels, M."""
        return len(self.kernels)

    @property
    def samples(self) -> int:
        """Number of samples, n."""
        return len(self.targets)

    @property
    def y(self) -> Array:
        """Labels ±1; an empty array where the targets are of another kind."""
        return self.targets.values if self.targets.kind == "y" else np.empty(0)

    @property
    def test_y(self) -> Array | None:
        """Labels ±1 of the test samples, or None."""
        return self.test_targets if self.targets.test_field == "test_y" else None

    @property
    def response(self) -> Array:
        """Real targets (n,) or (n, k); an empty array where the targets are of another kind."""
        return self.targets.values if self.targets.kind == "response" else np.empty(0)

    @property
    def test_response(self) -> Array | None:
        """Real targets of the test samples, or None."""
        return self.test_targets if self.targets.kind == "response" else None

    def check_unchanged(self) -> None:
        """Refuse a memory map whose file has been written to since it was validated.

        Raises
        ------
        InputError
            If a kernel has changed.
        """
        for m, known in enumerate(self.checksums):
            if checksum(self.kernels[m]) != known:
                fault = f"kernel {self.names[m]!r} has changed since it was validated"
                raise InputError(f"{fault}: build the Instance again from its memory map")

    def with_kernels(self, kernels: Kernels, **changes: object) -> Instance:
        """Return the same samples with other kernels.

        Parameters
        ----------
        kernels : array_like of shape (M, n, n), or LowRank
            The other kernels.
        **changes : dict
            Other arguments of `Instance` that change.

        Returns
        -------
        Instance
            A new instance.
        """
        return Instance(kernels, **{**arguments_of(self), **changes})  # type: ignore[arg-type]  # it checks each

    def with_targets(self, targets: Targets) -> Instance:
        """Return the same kernels with other targets, which are not validated again.

        Parameters
        ----------
        targets : Targets
            The other targets, of the same samples.

        Returns
        -------
        Instance
            A new instance, without targets of test samples.
        """
        made = object.__new__(Instance)
        made.__setstate__({**vars(self), "targets": targets, "test_targets": None})
        return made

    def select(self, kernels: Sequence[int | str]) -> Instance:
        """Return the instance with some of its kernels.

        Parameters
        ----------
        kernels : list of int or str
            Indices or names.

        Returns
        -------
        Instance
            A new instance.

        Raises
        ------
        InputError
            If there is no such kernel.
        """
        chosen = [self._index(kernel) for kernel in kernels]
        parts = {name: getattr(self, name) for name in ("groups", "test_kernels", "test_diagonals")}
        changes = {name: part[chosen] for name, part in parts.items() if part is not None}
        stack = self.kernels[chosen[0] : chosen[0] + 1] if len(chosen) == 1 else self.kernels[chosen]
        return self.with_kernels(stack, names=[self.names[m] for m in chosen], **changes)

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


def arguments_of(instance: Instance) -> dict[str, object]:
    """The arguments that make the instance, except the kernels."""
    return {
        **instance.targets.arguments(),
        instance.targets.test_field: instance.test_targets,
        **{name: getattr(instance, name) for name in KEPT},
    }


def _as_weights(sample_weight: object, samples: int) -> Array:
    if sample_weight is None:
        return np.ones(samples)
    given = as_array(sample_weight, "sample_weight", "(n,)")
    weights = given.astype(np.float64).ravel()
    if len(weights) != samples or max(given.shape, default=0) != samples:
        raise InputError(f"sample_weight has shape {given.shape} for {samples} samples: give one per sample")
    if not (np.isfinite(weights).all() and (weights > 0).all()):
        raise InputError("sample_weight has entries that are not positive and finite: leave such samples out")
    return weights


def check_weight_sizes(weights: Array) -> None:
    """Refuse weights whose squares or inverses could overflow."""
    strange = _beyond(weights)
    if len(strange):
        raise InputError(f"sample_weight has the entry {strange[0]:.3g}, beyond 1e±100: rescale the weights")


def _beyond(weights: Array) -> Array:
    return weights[~((weights <= LARGEST_WEIGHT) & (weights >= 1 / LARGEST_WEIGHT))]


def _class_weights(class_weight: str | Mapping[int, float] | None, targets: Targets) -> Array:
    if class_weight is None:
        return np.ones(len(targets))
    if targets.kind != "y":
        raise InputError(f"class_weight needs y, the instance has {targets.present}: give sample_weight instead")
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
    if len(_beyond(weight)):
        raise InputError("sample_weight times class_weight leaves the range of 1e±100: give moderate weights")
    return weight


def as_groups(groups: object, count: int) -> NDArray[np.intp]:
    remedy = f"give one integer for each of the {count} kernels, or lists of kernel indices"
    try:
        items = list(cast(Iterable[ArrayLike], groups))  # a TypeError where there are none
        parts = [_integers(item) for item in items] if any(np.ndim(item) > 0 for item in items) else None
        labels = _integers(items) if parts is None else _from_partition(parts, count)
    except (TypeError, ValueError, OverflowError) as fault:
        if isinstance(fault, InputError):
            raise
        raise InputError(f"groups are not integers: {remedy}") from None
    if len(labels) != count:
        raise InputError(f"groups do not cover the kernels: {len(labels)} entries for {count} kernels; {remedy}")
    return np.unique(labels, return_inverse=True)[1].astype(np.intp)


def _integers(values: object) -> NDArray[np.intp]:
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


def _as_test_diagonals(test_diagonals: object, count: int, test: RealArray | None) -> Array:
    """k(x, x) of the test samples, (M, t)."""
    diagonals = as_array(test_diagonals, "test_diagonals", "(M, t)").astype(np.float64)
    rows = 0 if test is None else test.shape[1]
    if diagonals.shape != (count, rows):
        fault = f"test_diagonals have shape {diagonals.shape} for {rows} rows of test_kernels"
        raise InputError(f"{fault}: give ({count}, {rows})")
    if not np.isfinite(diagonals).all():
        raise InputError("test_diagonals have entries that are not finite: give finite numbers")
    return diagonals


def _as_test(targets: Targets, test: RealArray | None, given: Mapping[str, object]) -> AnyArray | None:
    found = [name for name, value in given.items() if value is not None]
    if len(found) > 1:
        raise InputError(f"{' and '.join(found)} are given: give {targets.test_field} alone")
    rows = 0 if test is None else test.shape[1]
    checked = find_test_targets(given, targets.kind, rows, len(targets.names))
    if checked is not None and targets.kind == "classes":
        named_classes(checked, targets.classes(), targets.names)
    return checked
