"""The parameter `kernels` of the estimators, and the stack of kernels that it describes.

A bank is a list of parts; each part makes one or more kernels of the same samples:

    "gaussian", {"kernel": "polynomial", "degree": 2}, Gaussian(0.5)   a kernel of `problem.kernels`, on all features
    {"kernel": "gaussian", "features": ["age", "weight"]}              … on some: names, numbers, a slice, a mask
    {"kernel": "gaussian", "features": "each"}                         … on each feature alone
    ("body", "gaussian", ["age", "weight"])                            a name, kernels, and columns, as in
    ("genes", ["linear", "gaussians"], make_column_selector("^g"))     scikit-learn's `ColumnTransformer`
    ("shape", "laplacian")                                             a name and kernels, on all features
    xu_bank()                                                          a `KernelBank`
    k with k(X, Z) → (t, n)                                            a function of two sets of samples
    Nystroem(), RBFSampler(), PCA(2)                                   a transformer: the inner products of its features
    a transformer with transform(X) → (t, n, M), or (t, n) symmetric   kernels with the training samples

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
from .columns import Columns, Table, resolved
from .inputs import View

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
    def fit(self, table: Table, y: Any, sample_weight: Array | None) -> None: ...

    @abstractmethod
    def stack(self, X: Array | None) -> Array:
        """(M, t, n) of samples with the training samples, or (M, n, n) of the latter."""

    def diagonal(self, X: Array) -> Array:
        """k(x, x), (M, t), where it is known."""
        raise NotImplementedError

    @property
    def without_diagonal(self) -> str:
        """What lacks k(x, x) of new samples, if anything."""
        return ""

    @abstractmethod
    def as_plain(self) -> dict[str, Any]:
        """A description for JSON, from which the same part can be made again."""


class BankPart(Part):
    """Kernels of `mklcvx.problem.kernels` on some columns, all of them if `columns` is None."""

    def __init__(self, bank: KernelBank, columns: Columns | None = None) -> None:
        self.bank, self.columns = copy.deepcopy(bank), columns
        self._numbers: list[int] | None = None

    def fit(self, table: Table, y: Any, sample_weight: Array | None) -> None:
        self._numbers = None if self.columns is None else resolved(self.columns, table)
        self.bank.fit(self._seen(table.X), sample_weight, table.names if self._numbers is None else None)
        view = "" if self._numbers is None else f"[{','.join(table.labels(self._numbers))}]"
        self.names = [f"{name}{view}" for name in self.bank.names]

    def stack(self, X: Array | None) -> Array:
        return self.bank.stack(None if X is None else self._seen(X))

    def diagonal(self, X: Array) -> Array:
        return self.bank.diagonal(self._seen(X))

    def as_plain(self) -> dict[str, Any]:
        features = self.bank.features if self._numbers is None else self._numbers
        return {"kernels": [as_dict(kernel) for kernel in self.bank.kernels], "features": features}

    def _seen(self, X: Array) -> Array:
        return X if self._numbers is None else X[:, self._numbers]


class Group(Part):
    """Parts on some columns, all of them if `columns` is None, under a name of the user's, if any."""

    def __init__(self, name: str | None, parts: Sequence[Part], columns: Columns | None = None) -> None:
        self.name, self.parts, self.columns = name, list(parts), columns
        self._numbers: list[int] | None = None

    def fit(self, table: Table, y: Any, sample_weight: Array | None) -> None:
        self._numbers = None if self.columns is None else resolved(self.columns, table)
        seen = table if self._numbers is None else table.of(self._numbers)
        for part in self.parts:
            part.fit(seen, y, sample_weight)
        inner = [name for part in self.parts for name in part.names]
        if self.name is not None:
            self.names = [self.name] if len(inner) == 1 else [f"{self.name}: {name}" for name in inner]
        else:
            self.names = inner

    def stack(self, X: Array | None) -> Array:
        seen = None if X is None else self._seen(X)
        return np.concatenate([part.stack(seen) for part in self.parts])

    def diagonal(self, X: Array) -> Array:
        return np.concatenate([part.diagonal(self._seen(X)) for part in self.parts])

    @property
    def without_diagonal(self) -> str:
        return next(filter(None, (part.without_diagonal for part in self.parts)), "")

    def as_plain(self) -> dict[str, Any]:
        return {"name": self.name, "group": [part.as_plain() for part in self.parts], "columns": self._numbers}

    def _seen(self, X: Array) -> Array:
        return X if self._numbers is None else X[:, self._numbers]


class FunctionPart(Part):
    """A function of two sets of samples."""

    def __init__(self, function: Callable[[Array, Array], Any]) -> None:
        self.function = function
        self.names = [getattr(function, "__name__", type(function).__name__)]

    def fit(self, table: Table, y: Any, sample_weight: Array | None) -> None:
        self.train = table.X

    def stack(self, X: Array | None) -> Array:
        rows = self.train if X is None else X
        values = self._values(rows, self.train)
        if X is None and _is_kernel(values):
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

    def stack(self, X: Array | None) -> Array:
        if self.features is not None:
            return (self._features(X) @ self.features.T)[None]
        X = self.train if X is None else X
        values = self._values(X)
        values = values[..., None] if values.ndim == 2 else values
        if values.shape[:2] != (len(X), len(self.train)):
            wanted = f"({len(X)}, {len(self.train)}, M)"
            raise InputError(f"transformer {self.who} returned shape {values.shape}: return kernels of shape {wanted}")
        return np.ascontiguousarray(np.moveaxis(values, -1, 0))

    def diagonal(self, X: Array) -> Array:
        return (self._features(X) ** 2).sum(axis=1)[None]

    @property
    def without_diagonal(self) -> str:
        return "" if self.features is not None else self.who

    def as_plain(self) -> dict[str, Any]:
        raise InputError(
            f"kernels of {self.who} cannot be saved: put the transformer into a pipeline before a model with "
            "kernels='precomputed' or 'linear', and save that model"
        )

    def _features(self, X: Array | None) -> Array:
        assert self.features is not None, "of a transformer that yields kernels there are none"
        return self.features if X is None else self._values(X)

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
        return [part for entry in kernels for part in ([_group(entry)] if _is_group(entry) else parts_of(entry))]
    return [_part(kernels)]


def _is_group(entry: Any) -> bool:
    """Whether it is (name, kernels) or (name, kernels, columns), and no tuple of kernels' names."""
    if not (isinstance(entry, tuple) and len(entry) in (2, 3) and isinstance(entry[0], str)):
        return False
    return not all(isinstance(one, str) and (one in NAMED or _kind(one) in KINDS) for one in entry)


def _group(entry: tuple[Any, ...]) -> Part:
    name, kernels, *columns = entry
    return Group(name, parts_of(kernels), columns[0] if columns else None)


def _part(entry: Any) -> Part:
    if isinstance(entry, Part):
        return entry
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
    """{"kernel": …, its parameters, "features": …, "name": …}, {"kernels": […], …} for several on one view, or what a
    group is in a file."""
    given = dict(entry)
    name = given.pop("name", None)
    if not isinstance(name, str | None):
        raise InputError(f"kernels: name {name!r:.40} is no word: give one, such as 'age'")
    if "group" in given:
        return Group(name, [_described(one) for one in given["group"]], given.get("columns"))
    features = given.pop("features", "all")
    several = given.pop("kernels", None)
    if several is None:
        kernels = [_kernel(given)]
    elif isinstance(several, list | tuple) and all(isinstance(one, Mapping) for one in several) and not given:
        kernels = [_kernel(one) for one in several]
    else:
        raise InputError("kernels: an entry 'kernels' is no list of dicts, or stands beside others: list dicts in it")
    if isinstance(features, str) and features in known.FEATURES:
        part = BankPart(KernelBank(kernels, features))
    else:
        part = BankPart(KernelBank(kernels), features)
    return part if name is None else Group(name, [part])


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


class FittedBank:
    """The parts of a bank in their order; of each view, where there are several."""

    def __init__(self, kernels: Any, views: Sequence[View] = ()) -> None:
        self.parts = [Group(view.name, parts_of(kernels), view.columns) for view in views] or parts_of(kernels)

    def fit(self, table: Table, y: Any, sample_weight: Array | None) -> FittedBank:
        for part in self.parts:
            part.fit(table, y, sample_weight)
        return self

    @property
    def without_diagonal(self) -> str:
        """The name of a part that lacks k(x, x) of new samples, if any."""
        return next(filter(None, (part.without_diagonal for part in self.parts)), "")

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
