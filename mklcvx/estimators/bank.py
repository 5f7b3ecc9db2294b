"""The parameter `kernels` of the estimators, and the stack of kernels that it describes.

A bank is a list of parts; each part makes one or more kernels of the same samples:

    "gaussian", {"kernel": "polynomial", "degree": 2}, Gaussian(0.5)   a kernel of `problem.kernels`, on all features
    {"kernel": "gaussian", "gamma": 1.0, "features": "each"}           … on each feature alone, or on [0, 2, 5]
    xu_bank()                                                          a `KernelBank`
    k with k(X, Z) → (t, n)                                            a function of two sets of samples
    a transformer with fit(X, y) and transform(X) → (t, n) or (t, n, M)

A bandwidth that is not given is relative to the training samples, γ = 1/A with A their mean squared distance; with
{"relative": r} it is γ = r/A. Named banks: "gaussians" (γ = 4⁻³/A … 4³/A), "kumar", "kumar_each" and "xu".
"""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from ..errors import InputError, nearest
from ..problem import kernels as known
from ..problem.kernels import Gaussian, Kernel, KernelBank, MeanDistance
from ..problem.stack import Array

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
ALIASES = {"rbf": "gaussian", "poly": "polynomial", "chi2": "chi-square"}
GAUSSIANS = tuple(4.0**power for power in range(-3, 4))
NAMED: dict[str, Callable[[], KernelBank]] = {
    "gaussians": lambda: KernelBank([Gaussian(MeanDistance(factor)) for factor in GAUSSIANS]),
    "kumar": known.kumar_bank,
    "kumar_each": lambda: known.kumar_bank("all+each"),
    "xu": known.xu_bank,
}
REMEDY = "give a name, a dict such as {'kernel': 'gaussian', 'gamma': 0.5}, a function k(X, Z) or a transformer"


# ---------------------------------------------------------------------------------------------------------- parts
class Part(ABC):
    """Some kernels of a bank. `fit` sets their names."""

    names: list[str]

    @abstractmethod
    def fit(self, X: Array, y: Any, sample_weight: Array | None) -> None: ...

    @abstractmethod
    def stack(self, X: Array | None) -> Array:
        """(M, t, n) of samples with the training samples, or (M, n, n) of the latter."""

    def diagonal(self, X: Array) -> Array:
        """k(x, x), (M, t), where it is known."""
        raise NotImplementedError

    @abstractmethod
    def as_plain(self) -> dict[str, Any]:
        """A description for JSON, from which the same part can be made again."""


class BankPart(Part):
    """Kernels of `mklcvx.problem.kernels` on some columns, all of them if `columns` is None."""

    def __init__(self, bank: KernelBank, columns: Sequence[int] | None = None) -> None:
        self.bank, self.columns = copy.deepcopy(bank), None if columns is None else list(columns)

    def fit(self, X: Array, y: Any, sample_weight: Array | None) -> None:
        if self.columns is not None and not all(0 <= j < X.shape[1] for j in self.columns):
            raise InputError(f"kernels: features {self.columns} are not all among the {X.shape[1]} columns of X")
        self.bank.fit(self._seen(X), sample_weight)
        view = "" if self.columns is None else f"[{','.join(f'x{j}' for j in self.columns)}]"
        self.names = [f"{name}{view}" for name in self.bank.names]

    def stack(self, X: Array | None) -> Array:
        return self.bank.stack(None if X is None else self._seen(X))

    def diagonal(self, X: Array) -> Array:
        return self.bank.diagonal(self._seen(X))

    def as_plain(self) -> dict[str, Any]:
        features = self.bank.features if self.columns is None else self.columns
        return {"kernels": [as_dict(kernel) for kernel in self.bank.kernels], "features": features}

    def _seen(self, X: Array) -> Array:
        return X if self.columns is None else X[:, self.columns]


class FunctionPart(Part):
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


class TransformerPart(Part):
    """A transformer that yields kernels with the training samples, (t, n) or (t, n, M)."""

    def __init__(self, transformer: Any) -> None:
        from sklearn.base import clone

        self.transformer = clone(transformer) if hasattr(transformer, "get_params") else copy.deepcopy(transformer)

    def fit(self, X: Array, y: Any, sample_weight: Array | None) -> None:
        self.train = X
        self.transformer.fit(X, y)
        name, count = type(self.transformer).__name__, len(self.stack(X))
        self.names = [name] if count == 1 else [f"{name}[{m}]" for m in range(count)]

    def stack(self, X: Array | None) -> Array:
        X, name = self.train if X is None else X, type(self.transformer).__name__
        values = numbers_of(self.transformer.transform(X), f"transformer {name}")
        values = values[..., None] if values.ndim == 2 else values
        if values.ndim != 3 or values.shape[:2] != (len(X), len(self.train)):
            wanted = f"({len(X)}, {len(self.train)}, M)"
            raise InputError(f"transformer {name} returned shape {values.shape}: return kernels of shape {wanted}")
        return np.ascontiguousarray(np.moveaxis(values, -1, 0))

    def as_plain(self) -> dict[str, Any]:
        raise InputError(
            f"kernels of {type(self.transformer).__name__} cannot be saved: put the transformer into a pipeline before "
            "a model with kernels='precomputed', and save that model"
        )


def numbers_of(values: Any, who: str) -> Array:
    array = np.asarray(values.toarray() if hasattr(values, "toarray") else values)
    if array.dtype.kind not in "biuf":
        raise InputError(f"{who} returned {array.dtype}: return real numbers")
    return array.astype(float)


def settings_of(kind: type[Kernel]) -> list[str]:
    return [field.name for field in fields(kind)] if is_dataclass(kind) else []


def as_dict(kernel: Kernel) -> dict[str, Any]:
    """A description from which `_kernel` makes the same kernel again."""
    kind = next((name for name, one in KINDS.items() if type(kernel) is one), None)
    if kind is None:
        raise InputError(f"kernel {kernel.name!r:.40} is of a class of its own, which no file can hold: use known ones")
    given = {name: getattr(kernel, name) for name in settings_of(type(kernel))}
    if isinstance(given.get("gamma"), MeanDistance):
        given = {"relative": given["gamma"].factor}
    return {"kernel": kind, **{name: np.asarray(value).item() for name, value in given.items()}}


# -------------------------------------------------------------------------------------------------------- descriptions
def parts_of(kernels: Any) -> list[Part]:
    """The parts that `kernels` describes, not fitted yet."""
    if isinstance(kernels, str):
        if kernels == "precomputed":
            raise InputError("kernels: 'precomputed' stands for all kernels: give it alone, not in a list")
        if kernels not in NAMED and _kind(kernels) not in KINDS:
            words = nearest(kernels, [*NAMED, *KINDS, *ALIASES, "precomputed"])
            raise InputError(f"kernels {kernels!r:.40} is unknown: {words}")
        return [BankPart(NAMED[kernels]())] if kernels in NAMED else [_part(kernels)]
    if isinstance(kernels, list | tuple):
        if not kernels:
            raise InputError(f"kernels is empty: {REMEDY}")
        return [part for entry in kernels for part in parts_of(entry)]
    return [_part(kernels)]


def _part(entry: Any) -> Part:
    if isinstance(entry, KernelBank):
        return BankPart(entry)
    if isinstance(entry, Kernel):
        return BankPart(KernelBank([entry]))
    if isinstance(entry, str | Mapping):
        return _described(entry if isinstance(entry, Mapping) else {"kernel": entry})
    if hasattr(entry, "transform") and hasattr(entry, "fit") and not isinstance(entry, type):
        return TransformerPart(entry)
    if isinstance(entry, type):
        name = entry.__name__
        raise InputError(f"kernels has the class {name}: give one of its objects, such as {name}(...)")
    if callable(entry):
        return FunctionPart(entry)
    raise InputError(f"kernels has {' '.join(repr(entry).split())[:40]}: {REMEDY}")


def _described(entry: Mapping[str, Any]) -> Part:
    """{"kernel": …, its parameters, "features": …}, or {"kernels": […], "features": …} for several on one view."""
    given = dict(entry)
    features = given.pop("features", "all")
    several = given.pop("kernels", None)
    if several is None:
        kernels = [_kernel(given)]
    elif isinstance(several, list | tuple) and all(isinstance(one, Mapping) for one in several) and not given:
        kernels = [_kernel(one) for one in several]
    else:
        raise InputError("kernels: an entry 'kernels' is no list of dicts, or stands beside others: list dicts in it")
    if isinstance(features, str):
        return BankPart(KernelBank(kernels, features))
    if isinstance(features, tuple | range | np.ndarray) and np.ndim(features) == 1:
        features = list(features)
    if not (isinstance(features, list) and features and all(_is_index(j) for j in features)):
        words, shown = ", ".join(map(repr, known.FEATURES)), " ".join(repr(features).split())[:40]
        raise InputError(f"kernels: features {shown} are unknown: give {words} or a list of columns' numbers")
    return BankPart(KernelBank(kernels), [int(j) for j in features])


def _kernel(entry: Mapping[str, Any]) -> Kernel:
    given = dict(entry)
    kind = _kind(given.pop("kernel", None))
    if kind not in KINDS:
        raise InputError(f"kernel {kind!r:.40} is unknown: {nearest(str(kind)[:40], [*KINDS, *ALIASES])}")
    if "relative" in given:
        given["gamma"] = MeanDistance(given.pop("relative"))
    elif hasattr(KINDS[kind], "decay"):
        given.setdefault("gamma", MeanDistance(1.0))
    try:
        return KINDS[kind](**given)
    except TypeError:
        takes = ", ".join(settings_of(KINDS[kind])) or "no parameters"
        shown = ", ".join(map(str, given)) or "none"
        raise InputError(f"kernel {kind!r} has parameters {shown:.60}: it takes {takes}") from None


def _kind(name: Any) -> Any:
    return ALIASES.get(name, name) if isinstance(name, str) else name


def _is_index(value: Any) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


class FittedBank:
    """The parts of a bank in their order."""

    def __init__(self, kernels: Any) -> None:
        self.parts = parts_of(kernels)

    def fit(self, X: Array, y: Any, sample_weight: Array | None) -> FittedBank:
        for part in self.parts:
            part.fit(X, y, sample_weight)
        return self

    @property
    def without_diagonal(self) -> str:
        """The name of a transformer among the parts, if any: transformers have no k(x, x)."""
        found = (part for part in self.parts if isinstance(part, TransformerPart))
        return next((type(part.transformer).__name__ for part in found), "")

    @property
    def names(self) -> list[str]:
        return [name for part in self.parts for name in part.names]

    def stack(self, X: Array | None = None) -> Array:
        stacks = [part.stack(X) for part in self.parts]
        return stacks[0] if len(stacks) == 1 else np.concatenate(stacks)

    def diagonal(self, X: Array) -> Array:
        return np.concatenate([part.diagonal(X) for part in self.parts])

    def as_plain(self) -> list[dict[str, Any]]:
        return [part.as_plain() for part in self.parts]
