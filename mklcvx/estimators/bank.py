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

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ..errors import InputError, clipped, nearest
from ..problem import kernels as known
from ..problem.kernels import Gaussian, Kernel, KernelBank, MeanDistance
from ..problem.low_rank import LowRank
from ..problem.memory import check_stack
from ..problem.stack import Array
from .bank_parts import KINDS, BankEntry, BankPart, FunctionPart, Group, TransformerPart, settings_of
from .columns import Table
from .inputs import View

ALIASES = {"rbf": "gaussian", "poly": "polynomial", "chi2": "chi-square"}
GAUSSIANS = tuple(4.0**power for power in range(-3, 4))
NAMED: dict[str, Callable[[], KernelBank]] = {
    "gaussians": lambda: KernelBank([Gaussian(MeanDistance(factor)) for factor in GAUSSIANS]),
    "kumar": known.kumar_bank,
    "kumar_each": lambda: known.kumar_bank("all+each"),
    "xu": known.xu_bank,
}
DEEPEST = 50  # lists in lists
BESIDE = 4  # matrices (n, n) that a solver needs beside the kernels, at least
KEEPING = "they have factors, which are kept with centre=False and normalise='diagonal', 'trace' or None: set these"
REMEDY = "give a name, a dict such as {'kernel': 'gaussian', 'gamma': 0.5}, a function k(X, Z) or a transformer"
EXAMPLE = "(name, kernels, columns), such as ('body', 'gaussian', ['age', 'weight'])"


def parts_of(kernels: Any, depth: int = 0) -> list[BankEntry]:
    """The parts that `kernels` describes, not fitted yet."""
    if depth > DEEPEST:
        raise InputError("kernels is nested too deeply, or contains itself: give a flat list")
    if isinstance(kernels, str):
        if kernels == "precomputed":
            raise InputError("kernels: 'precomputed' stands for all kernels: give it alone, not in a list")
        if kernels not in NAMED and _kind(kernels) not in KINDS:
            words = nearest(kernels, [*NAMED, *KINDS, *ALIASES, "precomputed"])
            listed = "" if words.startswith("did") else f"; columns come last: {EXAMPLE}"
            raise InputError(f"kernels {clipped(kernels, 40)!r} is unknown: {words}{listed}")
        return [BankPart(NAMED[kernels]())] if kernels in NAMED else [_part(kernels)]
    if isinstance(kernels, list | tuple):
        if not kernels:
            raise InputError(f"kernels is empty: {REMEDY}")
        groups = ([_group(entry, depth)] if _is_group(entry) else parts_of(entry, depth + 1) for entry in kernels)
        return [part for group in groups for part in group]
    return [_part(kernels)]


def _is_group(entry: Any) -> bool:
    """Whether it is (name, kernels) or (name, kernels, columns), and no tuple of kernels' names."""
    if not (isinstance(entry, tuple) and len(entry) in (2, 3) and isinstance(entry[0], str)):
        return False
    return not all(isinstance(word, str) and (word in NAMED or _kind(word) in KINDS) for word in entry)


def _group(entry: tuple[Any, ...], depth: int) -> BankEntry:
    name, kernels, *columns = entry
    return Group(name, parts_of(kernels, depth + 1), columns[0] if columns else None)


def _part(entry: Any) -> BankEntry:
    if isinstance(entry, BankEntry):
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


def _described(entry: Mapping[str, Any]) -> BankEntry:
    """{"kernel": …, its parameters, "features": …, "name": …}, {"kernels": […], …} for several on one view, or what a
    group is in a file."""
    given = dict(entry)
    name = given.pop("name", None)
    if not isinstance(name, str | None):
        raise InputError(f"kernels: name {name!r:.40} is no word: give one, such as 'age'")
    if "group" in given:
        return Group(name, [_described(member) for member in given["group"]], given.get("columns"))
    features = given.pop("features", "all")
    several = given.pop("kernels", None)
    if several is None:
        kernels = [_kernel(given)]
    elif isinstance(several, list | tuple) and all(isinstance(settings, Mapping) for settings in several) and not given:
        kernels = [_kernel(settings) for settings in several]
    else:
        raise InputError("kernels: an entry 'kernels' is no list of dicts, or stands beside others: list dicts in it")
    of_all = isinstance(features, str) and features in known.FEATURES
    part = BankPart(KernelBank(kernels, features)) if of_all else BankPart(KernelBank(kernels), features)
    return part if name is None else Group(name, [part])


def _kernel(entry: Mapping[str, Any]) -> Kernel:
    given = dict(entry)
    kind = _kind(given.pop("kernel", None))
    if kind not in KINDS:
        raise InputError(f"kernel {kind!r:.40} is unknown: {nearest(str(kind)[:40], [*KINDS, *ALIASES])}")
    if "relative" in given and "gamma" in given:
        fault = f"kernel {kind!r} has both gamma and relative, which is gamma in units of 1/A"
        raise InputError(f"{fault}: give one of them")
    if "relative" in given:
        given["gamma"] = MeanDistance(given.pop("relative"))
    elif hasattr(KINDS[kind], "decay"):
        given.setdefault("gamma", MeanDistance(1.0))
    try:
        return KINDS[kind](**given)
    except TypeError:
        takes = settings_of(KINDS[kind])
        unknown = next((str(name) for name in entry if name not in (*takes, "kernel", "relative")), None)
        if unknown is not None and takes:
            fault = f"kernel {kind!r} has no parameter {clipped(unknown, 40)!r}"
            raise InputError(f"{fault}: {nearest(unknown, takes)}") from None
        shown = clipped(", ".join(map(str, given)) or "none")
        raise InputError(f"kernel {kind!r} has parameters {shown}: it takes {', '.join(takes) or 'none'}") from None


def _kind(name: Any) -> Any:
    return ALIASES.get(name, name) if isinstance(name, str) else name


class FittedBank(Group):
    """The parts of a bank in their order; of each view, where there are several."""

    def __init__(self, kernels: Any, views: Sequence[View] = ()) -> None:
        named = [Group(view.name or f"view {i + 1}", parts_of(kernels), view.columns) for i, view in enumerate(views)]
        super().__init__(None, named or parts_of(kernels))

    @property
    def views(self) -> list[View]:
        """Groups of columns that follow each other and are all of X: what can be given as views."""
        groups = [part for part in self.parts if isinstance(part, Group) and part.numbers]
        views = [View(str(part.name), list(part.numbers or ())) for part in groups]
        follow = [column for view in views for column in view.columns]
        return views if len(groups) == len(self.parts) and follow == list(range(len(follow))) else []

    def check_size(self, table: Table, in_factors: bool) -> None:
        """Refuse, before anything is computed, kernels that do not fit into memory. Kernels in factors do."""
        factors = self.has_factors()
        if not (in_factors and factors):
            samples = len(table.X)
            check_stack(self.count_for(table), samples, samples, passing=BESIDE, otherwise=KEEPING if factors else None)

    def in_factors(self, always: bool = False) -> LowRank | None:
        """The training kernels in factors, if all have some, and these save work or are wanted `always`."""
        factors = self.factors()
        if factors is None or not (always or sum(factor.shape[1] for factor in factors) < len(factors[0]) / 2):
            return None
        return LowRank(factors)

    def stack(self, samples: int) -> Array:
        """The training kernels (M, n, n)."""
        check_stack(len(self.names), samples, samples, passing=BESIDE)
        stack = np.empty((len(self.names), samples, samples))
        self.fill(stack)
        return stack
