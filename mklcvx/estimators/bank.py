"""What `kernels` may be, and the stack that it becomes.

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

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError, nearest
from ..problem.kernels import FEATURES, Gaussian, Kernel, KernelBank, MeanDistance, kumar_bank, xu_bank
from .parts import KINDS, BankPart, FunctionPart, Part, TransformerPart, settings_of

Array = NDArray[np.float64]

ALIASES = {"rbf": "gaussian", "poly": "polynomial", "chi2": "chi-square"}
GAUSSIANS = tuple(4.0**power for power in range(-3, 4))
NAMED: dict[str, Callable[[], KernelBank]] = {
    "gaussians": lambda: KernelBank([Gaussian(MeanDistance(factor)) for factor in GAUSSIANS]),
    "kumar": kumar_bank,
    "kumar_each": lambda: kumar_bank("all+each"),
    "xu": xu_bank,
}
REMEDY = "give a name, a dict such as {'kernel': 'gaussian', 'gamma': 0.5}, a function k(X, Z) or a transformer"


def parts_of(kernels: Any) -> list[Part]:
    """The parts that `kernels` names, not fitted yet."""
    if isinstance(kernels, str):
        if kernels == "precomputed":
            raise InputError("kernels: 'precomputed' stands for all kernels: give it alone, not in a list")
        if kernels not in NAMED and _kind(kernels) not in KINDS:
            known = nearest(kernels, [*NAMED, *KINDS, *ALIASES, "precomputed"])
            raise InputError(f"kernels {kernels!r:.40} is unknown: {known}")
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
    features = (
        list(features) if isinstance(features, tuple | range | np.ndarray) and np.ndim(features) == 1 else features
    )
    if not (isinstance(features, list) and features and all(_is_index(j) for j in features)):
        words, shown = ", ".join(map(repr, FEATURES)), " ".join(repr(features).split())[:40]
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
    """All parts together, in order."""

    def __init__(self, kernels: Any) -> None:
        self.parts = parts_of(kernels)

    def fit(self, X: Array, y: Any, sample_weight: Array | None) -> FittedBank:
        for part in self.parts:
            part.fit(X, y, sample_weight)
        return self

    @property
    def without_diagonal(self) -> str:
        """The transformer among the parts, if any: it has no k(x, x)."""
        found = (part for part in self.parts if isinstance(part, TransformerPart))
        return next((type(part.transformer).__name__ for part in found), "")

    @property
    def names(self) -> list[str]:
        return [name for part in self.parts for name in part.names]

    def stack(self, X: Array | None = None) -> Array:
        stacks = [part.stack(X) for part in self.parts]
        return stacks[0] if len(stacks) == 1 else np.concatenate(stacks)

    def diagonal(self, X: Array) -> Array | None:
        found = [part.diagonal(X) for part in self.parts]
        known = [values for values in found if values is not None]
        return np.concatenate(known) if len(known) == len(found) else None

    def as_plain(self) -> list[dict[str, Any]]:
        return [part.as_plain() for part in self.parts]
