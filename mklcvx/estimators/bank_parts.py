"""The parts of a bank: kernels of our own, functions, transformers, and groups of them on some columns."""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from ..errors import InputError
from ..problem import kernels as known
from ..problem.cross_kernels import CrossKernels, Product, side_by_side
from ..problem.kernels import Gaussian, Kernel, KernelBank, MeanDistance
from ..problem.stack import Array
from .columns import Columns, Table, resolved

ROUNDING = 1e-8  # asymmetry of a function that is taken for rounding, relative to the largest entry
KINDS: dict[str, type[Kernel]] = {
    "linear": known.Linear,
    "polynomial": known.Polynomial,
    "gaussian": Gaussian,
    "laplacian": known.Laplacian,
    "chi-square": known.ChiSquare,
    "inverse-square-distance": known.InverseSquareDistance,
    "inverse-distance": known.InverseDistance,
}


class BankEntry(ABC):
    """Some kernels of a bank. `fit` sets their names."""

    names: list[str]

    @abstractmethod
    def fit(self, table: Table, y: Any, sample_weight: Array | None) -> None: ...

    @abstractmethod
    def fill(self, stack: Array) -> None:
        """Write the kernels of the training samples into a stack (M, n, n)."""

    @abstractmethod
    def cross(self, X: Array) -> CrossKernels:
        """The kernels of new samples with the training samples."""

    def count_for(self, table: Table) -> int:
        """The number of kernels, as far as it is known before `fit`."""
        return 1

    def has_factors(self) -> bool:
        """Whether the training kernels may have factors, as far as it is known before `fit`."""
        return False

    def diagonal(self, X: Array) -> Array:
        """k(x, x), (M, t), where it is known."""
        raise NotImplementedError

    @property
    def without_diagonal(self) -> str:
        """What lacks k(x, x) of new samples, if anything."""
        return ""

    @property
    def semidefinite(self) -> list[bool]:
        """Which kernels are semidefinite by construction, whatever the samples."""
        return [self.factors() is not None] * len(self.names)

    def factors(self) -> list[Array] | None:
        """Factors F of the training kernels FF', if they are known."""
        return None

    def with_numbers(self) -> BankEntry:
        """A fitted part whose columns are numbers, to be fitted on arrays."""
        return self

    @abstractmethod
    def as_plain(self) -> dict[str, Any]:
        """A description for JSON, from which the same part can be made again."""


class BankPart(BankEntry):
    """Kernels of `mklcvx.problem.kernels` on some columns, all of them if `columns` is None."""

    def __init__(self, bank: KernelBank, columns: Columns | None = None) -> None:
        self.bank, self.columns = copy.deepcopy(bank), columns
        self._numbers: list[int] | None = None

    def fit(self, table: Table, y: Any, sample_weight: Array | None) -> None:
        self._numbers = None if self.columns is None else resolved(self.columns, table)
        self.bank.fit(self._seen(table.X), sample_weight, table.names if self._numbers is None else None)
        view = "" if self._numbers is None else f"[{','.join(table.labels(self._numbers))}]"
        self.names = [f"{name}{view}" for name in self.bank.names]

    def fill(self, stack: Array) -> None:
        self.bank.stack(out=stack)

    def cross(self, X: Array) -> CrossKernels:
        return self.bank.cross(self._seen(X))

    def count_for(self, table: Table) -> int:
        return self.bank.count_for(table.X.shape[1] if self.columns is None else len(resolved(self.columns, table)))

    def has_factors(self) -> bool:
        return all(kernel.is_inner_product for kernel in self.bank.kernels)

    def factors(self) -> list[Array] | None:
        return self.bank.factors()

    @property
    def semidefinite(self) -> list[bool]:
        """The functions of KINDS are, on features; of other classes of kernels it is not known."""
        ours = [type(kernel) in KINDS.values() for kernel in self.bank.kernels]
        return ours * (len(self.names) // len(ours))

    def diagonal(self, X: Array) -> Array:
        return self.bank.diagonal(self._seen(X))

    def as_plain(self) -> dict[str, Any]:
        features = self.bank.features if self._numbers is None else self._numbers
        return {"kernels": [as_dict(kernel) for kernel in self.bank.kernels], "features": features}

    def with_numbers(self) -> BankEntry:
        return BankPart(self.bank, self._numbers)

    def _seen(self, X: Array) -> Array:
        return X if self._numbers is None else X[:, self._numbers]


class Group(BankEntry):
    """Parts on some columns, all of them if `columns` is None, under a name of the user's, if any."""

    def __init__(self, name: str | None, parts: Sequence[BankEntry], columns: Columns | None = None) -> None:
        self.name, self.parts, self.columns = name, list(parts), columns
        self.numbers: list[int] | None = None

    def fit(self, table: Table, y: Any, sample_weight: Array | None) -> None:
        self.numbers = None if self.columns is None else resolved(self.columns, table)
        seen = table if self.numbers is None else table.of(self.numbers)
        for part in self.parts:
            part.fit(seen, y, sample_weight)
        inner = [name for part in self.parts for name in part.names]
        self.names = inner
        if self.name is not None:
            self.names = [self.name] if len(inner) == 1 else [f"{self.name}: {name}" for name in inner]

    def fill(self, stack: Array) -> None:
        start = 0
        for part in self.parts:
            part.fill(stack[start : start + len(part.names)])
            start += len(part.names)

    def cross(self, X: Array) -> CrossKernels:
        return side_by_side([part.cross(self._seen(X)) for part in self.parts])

    def count_for(self, table: Table) -> int:
        seen = table if self.columns is None else table.of(resolved(self.columns, table))
        return sum(part.count_for(seen) for part in self.parts)

    def has_factors(self) -> bool:
        return all(part.has_factors() for part in self.parts)

    def diagonal(self, X: Array) -> Array:
        return np.concatenate([part.diagonal(self._seen(X)) for part in self.parts])

    @property
    def without_diagonal(self) -> str:
        return next(filter(None, (part.without_diagonal for part in self.parts)), "")

    @property
    def semidefinite(self) -> list[bool]:
        return [holds for part in self.parts for holds in part.semidefinite]

    def factors(self) -> list[Array] | None:
        factors = [part.factors() for part in self.parts]
        return None if None in factors else [factor for some in factors for factor in some or ()]

    def as_plain(self) -> dict[str, Any]:
        return {"name": self.name, "group": [part.as_plain() for part in self.parts], "columns": self.numbers}

    def with_numbers(self) -> BankEntry:
        return Group(self.name, [part.with_numbers() for part in self.parts], self.numbers)

    def _seen(self, X: Array) -> Array:
        return X if self.numbers is None else X[:, self.numbers]


class FunctionPart(BankEntry):
    """A function of two sets of samples."""

    def __init__(self, function: Callable[[Array, Array], Any]) -> None:
        self.function = function
        self.names = [getattr(function, "__name__", type(function).__name__)]

    def fit(self, table: Table, y: Any, sample_weight: Array | None) -> None:
        self.train = table.X

    def fill(self, stack: Array) -> None:
        values = self._values(self.train, self.train)
        stack[0] = values / 2 + values.T / 2 if _is_kernel(values) else values

    def cross(self, X: Array) -> CrossKernels:
        return CrossKernels((1, len(X), len(self.train)), lambda _: iter([(0, self._values(X, self.train))]))

    def diagonal(self, X: Array) -> Array:
        return np.array([[self._values(row[None], row[None])[0, 0] for row in X]])

    def as_plain(self) -> dict[str, Any]:
        raise InputError(
            f"kernel {self.names[0]!r} is a function, which no file can hold: save a model with kernels='precomputed' "
            "and compute the kernel yourself, or use named kernels"
        )

    def _values(self, rows: Array, columns: Array) -> Array:
        values = numbers_of(self.function(rows, columns), f"kernel {self.names[0]!r}")
        if values.shape != (len(rows), len(columns)):
            wanted = f"({len(rows)}, {len(columns)})"
            raise InputError(f"kernel {self.names[0]!r} returned shape {values.shape}: return {wanted}, k(X, Z)")
        return values


class TransformerPart(BankEntry):
    """A transformer whose features φ(x) make the kernel φ(x)'φ(z), or that yields kernels with the training samples,
    (t, n, M) or symmetric (t, n)."""

    def __init__(self, transformer: Any) -> None:
        from sklearn.base import clone

        self.transformer = clone(transformer) if hasattr(transformer, "get_params") else copy.deepcopy(transformer)
        self.who = type(self.transformer).__name__

    def fit(self, table: Table, y: Any, sample_weight: Array | None) -> None:
        self.train: Array = table.X
        self.transformer.fit(self.train, y)
        values = self._values(self.train)
        self.features = values if values.ndim == 2 and not _is_kernel(values) else None
        count = 1 if values.ndim == 2 else values.shape[2]
        self.names = [self.who] if count == 1 else [f"{self.who}[{m}]" for m in range(count)]

    def fill(self, stack: Array) -> None:
        stack[:] = self._kernels(self.train) if self.features is None else self.features @ self.features.T

    def cross(self, X: Array) -> CrossKernels:
        if self.features is None:
            return CrossKernels.of_stack(self._kernels(X))
        train = self.features
        return CrossKernels((1, len(X), len(train)), lambda _: iter([(0, Product(self._values(X), train))]))

    def has_factors(self) -> bool:
        return True

    def _kernels(self, X: Array) -> Array:
        values = self._values(X)
        values = values[..., None] if values.ndim == 2 else values
        if values.shape[:2] != (len(X), len(self.train)):
            wanted = f"({len(X)}, {len(self.train)}, M)"
            raise InputError(f"transformer {self.who} returned shape {values.shape}: return kernels of shape {wanted}")
        return np.ascontiguousarray(np.moveaxis(values, -1, 0))

    def diagonal(self, X: Array) -> Array:
        return (self._values(X) ** 2).sum(axis=1)[None]

    def factors(self) -> list[Array] | None:
        return None if self.features is None else [self.features]

    @property
    def without_diagonal(self) -> str:
        return "" if self.features is not None else self.who

    def as_plain(self) -> dict[str, Any]:
        raise InputError(
            f"kernels of {self.who} cannot be saved: put the transformer into a pipeline before a model with "
            "kernels='precomputed' or 'linear', and save that model; joblib.dump keeps this one"
        )

    def _values(self, X: Array) -> Array:
        values = numbers_of(self.transformer.transform(X), f"transformer {self.who}")
        if values.ndim not in (2, 3) or len(values) != len(X) or 0 in values.shape:
            wanted = f"features ({len(X)}, r), or kernels ({len(X)}, {len(self.train)}, M)"
            raise InputError(f"transformer {self.who} returned shape {values.shape}: return {wanted}")
        return values


def _is_kernel(values: Array) -> bool:
    """Whether the values of the training samples are a kernel of them: square and symmetric up to rounding."""
    if values.shape[0] != values.shape[1]:
        return False
    return bool(np.allclose(values, values.T, rtol=0.0, atol=ROUNDING * np.abs(values).max(initial=0.0)))


def numbers_of(values: Any, who: str) -> Array:
    array = np.asarray(values.toarray() if hasattr(values, "toarray") else values)
    if array.dtype.kind not in "biuf":
        raise InputError(f"{who} returned {array.dtype}: return real numbers")
    if not np.isfinite(array).all():
        raise InputError(f"{who} returned NaN or infinite numbers: return finite ones")
    return array.astype(float)


def settings_of(kind: type[Kernel]) -> list[str]:
    return [field.name for field in fields(kind)] if is_dataclass(kind) else []


def as_dict(kernel: Kernel) -> dict[str, Any]:
    """A description from which `_kernel` makes the same kernel again."""
    kind = next((name for name, kernel_class in KINDS.items() if type(kernel) is kernel_class), None)
    if kind is None:
        raise InputError(f"kernel {kernel.name!r:.40} is of a class of its own, which no file can hold: use known ones")
    given = {name: getattr(kernel, name) for name in settings_of(type(kernel))}
    if isinstance(given.get("gamma"), MeanDistance):
        given = {"relative": given["gamma"].factor}
    return {"kernel": kind, **{name: np.asarray(value).item() for name, value in given.items()}}
