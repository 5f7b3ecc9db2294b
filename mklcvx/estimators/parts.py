"""The parts of a bank: some kernels each, fitted on training samples, evaluated on any others, described for a file."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from dataclasses import fields, is_dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError
from ..problem.kernels import (
    ChiSquare,
    Gaussian,
    InverseDistance,
    InverseSquareDistance,
    Kernel,
    KernelBank,
    Laplacian,
    Linear,
    MeanDistance,
    Polynomial,
)

Array = NDArray[np.float64]
ROUNDING = 1e-8  # of the largest entry: what a function may be asymmetric by

KINDS: dict[str, type[Kernel]] = {
    "linear": Linear,
    "polynomial": Polynomial,
    "gaussian": Gaussian,
    "laplacian": Laplacian,
    "chi-square": ChiSquare,
    "inverse-square-distance": InverseSquareDistance,
    "inverse-distance": InverseDistance,
}


class Part(Protocol):
    """Some kernels of a bank, fitted on training samples."""

    @property
    def names(self) -> list[str]: ...

    def fit(self, X: Array, y: Any, sample_weight: Array | None) -> None: ...

    def stack(self, X: Array | None) -> Array:
        """(M, t, n) of samples with the training samples, or (M, n, n) of the latter."""
        ...

    def diagonal(self, X: Array) -> Array | None:
        """k(x, x), (M, t), where it is known."""
        ...

    def as_plain(self) -> dict[str, Any]:
        """What makes the same part again, for JSON."""
        ...


class BankPart:
    """Kernels of `mklcvx.problem.kernels` on some columns, all of them if `columns` is None."""

    def __init__(self, bank: KernelBank, columns: Sequence[int] | None = None) -> None:
        self.bank, self.columns = copy.deepcopy(bank), None if columns is None else list(columns)

    @property
    def names(self) -> list[str]:
        if self.columns is None:
            return self.bank.names
        return [f"{name}[{','.join(f'x{j}' for j in self.columns)}]" for name in self.bank.names]

    def fit(self, X: Array, y: Any, sample_weight: Array | None) -> None:
        if self.columns is not None and not all(0 <= j < X.shape[1] for j in self.columns):
            raise InputError(f"kernels: features {self.columns} are not all among the {X.shape[1]} columns of X")
        self.bank.fit(self._seen(X), sample_weight)

    def stack(self, X: Array | None) -> Array:
        return self.bank.stack(None if X is None else self._seen(X))

    def diagonal(self, X: Array) -> Array:
        return self.bank.diagonal(self._seen(X))

    def as_plain(self) -> dict[str, Any]:
        features = self.bank.features if self.columns is None else self.columns
        return {"kernels": [as_dict(kernel) for kernel in self.bank.kernels], "features": features}

    def _seen(self, X: Array) -> Array:
        return X if self.columns is None else X[:, self.columns]


class FunctionPart:
    """A function of two sets of samples."""

    def __init__(self, function: Callable[[Array, Array], Any]) -> None:
        self.function = function
        self.names = [getattr(function, "__name__", type(function).__name__)]

    def fit(self, X: Array, y: Any, sample_weight: Array | None) -> None:
        self.train = X

    def stack(self, X: Array | None) -> Array:
        rows = self.train if X is None else X
        values = self._values(rows, self.train)
        if X is None and np.allclose(values, values.T, rtol=0.0, atol=ROUNDING * np.abs(values).max(initial=0.0)):
            values = values / 2 + values.T / 2
        return values[None]

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


class TransformerPart:
    """A transformer that yields kernels with the training samples, (t, n) or (t, n, M)."""

    def __init__(self, transformer: Any) -> None:
        from sklearn.base import clone

        self.transformer = clone(transformer) if hasattr(transformer, "get_params") else copy.deepcopy(transformer)

    def fit(self, X: Array, y: Any, sample_weight: Array | None) -> None:
        self.train = X
        self.transformer.fit(X, y)
        self.count = self._stack(X).shape[0]

    @property
    def names(self) -> list[str]:
        name = type(self.transformer).__name__
        return [name] if self.count == 1 else [f"{name}[{m}]" for m in range(self.count)]

    def stack(self, X: Array | None) -> Array:
        return self._stack(self.train if X is None else X)

    def diagonal(self, X: Array) -> None:
        return None

    def as_plain(self) -> dict[str, Any]:
        raise InputError(
            f"kernels of {type(self.transformer).__name__} cannot be saved: put the transformer into a pipeline before "
            "a model with kernels='precomputed', and save that model"
        )

    def _stack(self, X: Array) -> Array:
        values = numbers_of(self.transformer.transform(X), f"transformer {type(self.transformer).__name__}")
        values = values[..., None] if values.ndim == 2 else values
        if values.ndim != 3 or values.shape[:2] != (len(X), len(self.train)):
            name, wanted = type(self.transformer).__name__, f"({len(X)}, {len(self.train)}, M)"
            raise InputError(f"transformer {name} returned shape {values.shape}: return kernels of shape {wanted}")
        return np.ascontiguousarray(np.moveaxis(values, -1, 0))


def numbers_of(values: Any, who: str) -> Array:
    array = np.asarray(values.toarray() if hasattr(values, "toarray") else values)
    if array.dtype.kind not in "biuf":
        raise InputError(f"{who} returned {array.dtype}: return real numbers")
    return array.astype(float)


def settings_of(kind: type[Kernel]) -> list[str]:
    return [field.name for field in fields(kind)] if is_dataclass(kind) else []


def as_dict(kernel: Kernel) -> dict[str, Any]:
    """The description from which `_kernel` makes the kernel again."""
    kind = next((name for name, known in KINDS.items() if type(kernel) is known), None)
    if kind is None:
        raise InputError(f"kernel {kernel.name!r:.40} is of a class of its own, which no file can hold: use known ones")
    given = {name: getattr(kernel, name) for name in settings_of(type(kernel))}
    gamma = given.get("gamma")
    if isinstance(gamma, MeanDistance):
        given = {"relative": gamma.factor}
    return {"kernel": kind, **{name: np.asarray(value).item() for name, value in given.items()}}
