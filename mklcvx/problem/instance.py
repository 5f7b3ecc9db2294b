"""The instance: kernels and targets, validated once and then frozen. No later code validates them again."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import InputError
from .checks import check_lists
from .distributed import Distributed, is_dask
from .groups import as_groups
from .low_rank import Kernels, LowRank, Stored, part_of
from .numbers import AnyArray, Array, RealArray, as_indices, is_whole
from .ownership import checksum, handed_over, is_mapped, owned, read_only
from .stack import Memory, mirrored
from .streamed import Streamed
from .target_checks import as_names, as_targets, find_test_targets, named_classes
from .targets import Targets
from .validation import KnownStack, as_array, as_stack, check_test_stack, largest_entries, validated
from .weights import as_weights, class_weights, combined_weights
from .worker_validation import validated_there

KEPT = ("groups", "names", "sample_weight", "test_kernels", "test_diagonals")  # arguments that are fields as well


@dataclass(frozen=True, eq=False)
class Instance:
    """A stack of M kernels (M, n, n) and targets, validated once and then frozen.

    The targets are one of `y`, `classes`, `labels` and `response`, or there are none. A kernel is its lower triangle:
    one that is symmetric up to rounding only is copied with that triangle mirrored.

    The instance owns its arrays, so that the validated numbers are the ones that are solved: arrays are copied, in
    their own dtype and order. Arrays are not copied if they, and the arrays that they are views of, are read-only
    (`array.flags.writeable = False`). Memory maps are not copied either, since they may exceed memory: `checksums` has
    one for each kernel, and `check_unchanged`, which `solve`, `second_stage` and `verify` call, refuses kernels that
    have changed since they were validated. Changes of mapped test kernels are not detected.

    Parameters
    ----------
    kernels : array_like of shape (M, n, n), LowRank, or dask.array.Array
        Positive semidefinite kernel matrices, or their factors. A stack (n, n, M) is accepted with a warning, unless
        M = n. A Dask array is validated and kept by the workers of the cluster whose client there is.
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
    memory: Memory | None = field(default=None, repr=False)

    def __init__(
        self,
        kernels: Kernels | KnownStack,
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
        given, known = kernels if isinstance(kernels, KnownStack) else (kernels, None)
        stack = as_stack(given)
        targets = as_targets(y, classes, labels, label_names, stack.shape[1], response)
        count, samples, _ = stack.shape
        default_names = (f"K{m + 1}" for m in range(count))
        kernel_names = as_names("names", default_names if names is None else names, count, "kernels", "kernel")
        if is_dask(stack):
            checked = validated_there(stack, kernel_names, repair, known)
        else:
            checked = validated(cast(Stored, stack), kernel_names, repair, known)
        weight = combined_weights(as_weights(sample_weight, samples), class_weights(class_weight, targets))
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

    def __getstate__(self) -> dict[str, object]:
        """The fields, without what can be computed again."""
        return {**vars(self), "memory": None}

    def __setstate__(self, state: dict[str, object]) -> None:
        """Set the fields and make their arrays read-only, also after unpickling or a deep copy."""
        for name, value in state.items():
            frozen = replace(value, values=read_only(value.values)) if isinstance(value, Targets) else value
            object.__setattr__(self, name, read_only(value) if isinstance(value, np.ndarray) else frozen)
        if self.memory is None and not self.checksums:  # a memory map may change between two looks at it
            object.__setattr__(self, "memory", Memory(self.kernels, keeps=False))

    def __repr__(self) -> str:
        kind = "low-rank kernels" if isinstance(self.kernels, LowRank) else f"{self.kernels.dtype} kernels"
        kind += " on a cluster" if isinstance(self.kernels, Distributed) else ""
        kind = "streamed kernels" if isinstance(self.kernels, Streamed) else kind
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

    def with_kernels(self, kernels: Kernels | KnownStack, **changes: object) -> Instance:
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
        return self._inheriting(targets=targets, test_targets=None)

    def of_samples(
        self, samples: NDArray[np.intp], targets: Targets | None = None, sample_weight: ArrayLike | None = None
    ) -> Instance:
        """Return the problem of some of the samples, which is not validated again.

        A principal submatrix of a symmetric, semidefinite matrix is symmetric and semidefinite.

        Parameters
        ----------
        samples : ndarray of int
            Indices of the samples.
        targets : Targets, optional
            Other targets, of these samples. The default is those that they have.
        sample_weight : array_like, optional
            Other weights, of these samples. The default is those that they have.

        Returns
        -------
        Instance
            A new instance, without test samples.
        """
        samples = as_indices(samples, self.samples)
        targets = self.targets.of_samples(samples) if targets is None else targets
        weight = self.sample_weight[samples] if sample_weight is None else as_weights(sample_weight, len(samples))
        none: dict[str, object] = dict.fromkeys(("test_kernels", "test_diagonals", "test_targets"))
        if np.array_equal(samples, np.arange(self.samples)):
            return self._inheriting(targets=targets, sample_weight=weight, **none)
        self.check_unchanged()  # a memory map is read for the last time
        kernels = part_of(self.kernels, samples)
        none |= {"sizes": None}
        if isinstance(kernels, np.ndarray):
            if not self.symmetric:
                kernels = np.stack([mirrored(kernel)[np.ix_(samples, samples)] for kernel in self.kernels])
            none |= {"sizes": largest_entries(handed_over(kernels)), "symmetric": True, "checksums": ()}
        return self._inheriting(kernels=kernels, targets=targets, sample_weight=weight, repairs=(), memory=None, **none)

    def remembering(self) -> Instance:
        """Return the instance for several solutions: what depends on kernels and weights alone is computed once.

        Returns
        -------
        Instance
            A new instance, which keeps a combination of the kernels, as large as one of them, while it is there.
        """
        numbers = None if self.memory is None else self.memory.numbers
        return self._inheriting(memory=Memory(self.kernels, numbers))

    def forget(self) -> None:
        """Drop what is remembered. It refers to tasks that refer to it, and would stay until the next collection."""
        if self.memory is not None:
            self.memory.values.clear()

    def _inheriting(self, **changes: object) -> Instance:
        """This instance with other fields, which are known to be valid."""
        made = object.__new__(Instance)
        made.__setstate__({**vars(self), **changes})
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
        check_lists("a list of indices or names", kernels=kernels)
        chosen = [self._index(kernel) for kernel in kernels]
        if not chosen:
            raise InputError("kernels: the stack holds no kernel (M = 0): give at least one")
        parts = {name: getattr(self, name) for name in ("test_kernels", "test_diagonals", "sizes")}
        changes: dict[str, object] = {name: part[chosen] for name, part in parts.items() if part is not None}
        stack = self.kernels[chosen[0] : chosen[0] + 1] if len(chosen) == 1 else self.kernels[chosen]
        changes["checksums"] = tuple(self.checksums[m] for m in chosen) if self.checksums else ()
        if self.checksums and not (isinstance(stack, np.ndarray) and is_mapped(stack)):  # it was read for the last time
            self.check_unchanged()
            changes["checksums"] = ()
        groups = None if self.groups is None else as_groups(self.groups[chosen], len(chosen))
        names = tuple(self.names[m] for m in chosen)
        return self._inheriting(kernels=stack, names=names, groups=groups, repairs=(), memory=None, **changes)

    def _index(self, kernel: int | str) -> int:
        if isinstance(kernel, str) and kernel in self.names:
            return self.names.index(kernel)
        try:
            index = int(kernel) if isinstance(kernel, str) or is_whole(kernel, -self.count) else self.count
        except ValueError:
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


def no_test_samples(instance: Instance) -> dict[str, None]:
    """The arguments that leave the test samples out."""
    return dict.fromkeys(("test_kernels", "test_diagonals", instance.targets.test_field))


def _as_test_diagonals(test_diagonals: object, count: int, test: RealArray | None) -> Array:
    """k(x, x) of the test samples, (M, t)."""
    diagonals = as_array(test_diagonals, "test_diagonals", "(M, t)")
    rows = 0 if test is None else test.shape[1]
    if diagonals.shape != (count, rows):
        fault = f"test_diagonals have shape {diagonals.shape} for {rows} rows of test_kernels"
        raise InputError(f"{fault}: give ({count}, {rows})")
    if not np.isfinite(diagonals).all():
        raise InputError("test_diagonals have entries that are not finite: give finite numbers")
    return diagonals.astype(np.float64)


def _as_test(targets: Targets, test: RealArray | None, given: Mapping[str, object]) -> AnyArray | None:
    fields = [name for name, value in given.items() if value is not None]
    if len(fields) > 1:
        raise InputError(f"{' and '.join(fields)} are given: give {targets.test_field} alone")
    rows = 0 if test is None else test.shape[1]
    checked = find_test_targets(given, targets.kind, rows, len(targets.names))
    if checked is not None and targets.kind == "classes":
        named_classes(checked, targets.classes(), targets.names)
    return checked
