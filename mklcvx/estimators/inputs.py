"""What `fit` and `predict` take beside a plain array: DataFrames, lists of views or of kernels, arrays of others.

[A, B], {"text": A, "image": B}     features (n, d) of each view: the bank is made for each
Views([A, B]), Views({"text": A})   the same, as a table of which samples can be chosen
[K1, K2], {"text": K1, "image": K2} precomputed kernels (n, n), or (t, n) of new samples
LowRank([F1, F2])                   factors (n, r) of precomputed kernels, or (t, r) of new samples
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np

from ..errors import InputError, InputTypeError, NotEnoughMemory, clipped
from ..problem.low_rank import LowRank
from ..problem.memory import check_stack
from ..problem.numbers import check_unmasked
from ..problem.stack import Array
from .missing import of_features, of_kernel
from .views import Views

# Threads in which scikit-learn checks arguments: it changes the warning filters of all. `with` takes it beside
# `checks_of_sklearn`, not within: an interrupt that comes between a generator and its `with` would keep the lock.
ONE_AT_A_TIME = threading.RLock()


@contextmanager
def checks_of_sklearn() -> Iterator[None]:
    """Within it scikit-learn checks arguments; what it refuses is refused in one line."""
    try:
        yield
    except InputError:
        raise
    except MemoryError:
        raise NotEnoughMemory("not enough memory for these arrays: give smaller ones") from None
    except (ValueError, TypeError) as fault:
        raise (InputTypeError if isinstance(fault, TypeError) else InputError)(fault) from None


class View(NamedTuple):
    """The name of a view, empty if it has none, its columns among those of all views, and their headings, if any."""

    name: str
    columns: list[int]
    headings: Sequence[str] = ()


def host_array(X: Any, name: str) -> Any:
    """An array of the array API as one of NumPy's; anything else as it is."""
    check_unmasked(X, name)
    if isinstance(X, np.ndarray) or not hasattr(X, "__array_namespace__"):
        return X
    for read in (np.asarray, np.from_dlpack):
        try:
            array = read(X)
        except (TypeError, ValueError, RuntimeError, AttributeError, BufferError):
            continue
        if array.dtype != object:
            return array
    kind = f"{type(X).__module__.split('.')[0]}.{type(X).__name__}"
    remedy = "move it to the CPU, and give a NumPy array"
    raise InputError(f"{name} is an array {kind:.60} that NumPy cannot read: {remedy}")


def gathered(X: Any, precomputed: bool, width: int | None = None) -> tuple[Any, list[View]]:
    """One array of all views with their columns, or one stack of all kernels, samples first, with their names;
    anything else as it is, without views. `width` is the number of training samples, once it is known."""
    if isinstance(X, LowRank):
        if not precomputed:
            raise InputError("X is LowRank, factors of kernels: set kernels='precomputed'")
        return X.columns, [
            View(f"K{m + 1}", list(range(start, start + rank)))
            for m, (start, rank) in enumerate(zip(X.starts.tolist(), X.ranks, strict=True))
        ]
    X = X.views if isinstance(X, Views) else host_array(X, "X")
    _check_headings(X)
    entries, matrices = _entries(X)
    by_name = _is_by_name(X)
    stacked = matrices and precomputed and not by_name and _are_rows(entries, width)
    if not matrices or stacked:
        if by_name:
            raise InputError("X is a dict, and not of arrays with two dimensions: give one for each view")
        return X, []
    if precomputed and not _are_kernels(entries, width):
        _refuse_matrices(entries, width)
    names = [str(name) for name in X] if by_name else [""] * len(entries)
    parts = [_matrix(entry, name, i, precomputed) for i, (name, entry) in enumerate(zip(names, entries, strict=True))]
    heights = {part.shape if precomputed else len(part) for part in parts}
    if len(heights) > 1:
        shapes = ", ".join(str(part.shape) for part in parts)[:80]
        raise InputError(f"X has views of shapes {shapes}: give the same samples in each")
    if precomputed:
        check_stack(len(parts), *parts[0].shape)
        return np.stack(parts, axis=-1), [View(name, []) for name in names]
    ends = np.cumsum([part.shape[1] for part in parts]).tolist()
    columns = [list(range(end - part.shape[1], end)) for part, end in zip(parts, ends, strict=True)]
    return np.hstack(parts), list(map(View, names, columns, map(_headings, entries)))


def cut_by_samples(X: Any) -> Any:
    """Views of the same samples as one object of which samples can be taken; anything else as it is."""
    return Views(X) if not isinstance(X, Views) and _entries(X)[1] else X


def _entries(X: Any) -> tuple[Sequence[Any], bool]:
    """What a list or a dict holds, and whether that is matrices."""
    entries = [*X.values()] if _is_by_name(X) else X if isinstance(X, list | tuple) else []
    return entries, len(entries) > 0 and all(hasattr(entry, "shape") and len(entry.shape) == 2 for entry in entries)


def _is_by_name(X: Any) -> bool:
    return isinstance(X, Mapping) and not hasattr(X, "shape")  # sparse matrices may be mappings


def _check_headings(X: Any) -> None:
    twice = [name for name, count in Counter(getattr(X, "columns", ())).items() if count > 1]
    if twice:
        raise InputError(f"X has several columns called {twice[0]!r:.40}: give each a name of its own")


def _headings(view: Any) -> Sequence[str]:
    """The names of a DataFrame's columns. As for scikit-learn, only words are names."""
    headings = tuple(getattr(view, "columns", ()))
    return headings if all(isinstance(name, str) for name in headings) else ()


def in_order(X: Array, views: list[View], known: Sequence[View]) -> Array:
    """The array with its views, or its kernels, in the order of the training. Those without names are in it already."""
    names, sizes = [view.name for view in known], [len(view.columns) for view in known]
    given = {view.name: number for number, view in enumerate(views)}
    if "" in given:
        given = dict(zip(names, range(len(views)), strict=False))
    order = [views[given[name]] for name in names if name in given]
    if len(order) != len(views) or len(views) != len(known) or [len(view.columns) for view in order] != sizes:
        theirs, ours = (_described(some) for some in (views, known))
        raise InputError(f"X has the views {theirs}, the model was fitted on {ours}: give these")
    for view, trained in zip(order, known, strict=True):
        if view.headings and trained.headings and view.headings != trained.headings:
            theirs, ours = (clipped(", ".join(some.headings), 80) for some in (view, trained))
            where, remedy = f"X: view {clipped(trained.name, 40)}", "give these, in this order"
            raise InputError(f"{where} has the columns {theirs}, the model was fitted on {ours}: {remedy}")
    if not sizes[0]:
        return X[..., [given[name] for name in names]]
    return X[:, [column for view in order for column in view.columns]]


def _described(views: Sequence[View]) -> str:
    called = [view.name or str(i + 1) for i, view in enumerate(views)]
    sizes = [f" ({len(view.columns)})" if view.columns else "" for view in views]
    return ", ".join(name + size for name, size in zip(called, sizes, strict=True))[:80] or "none"


def _are_kernels(entries: Any, width: int | None) -> bool:
    """Whether these are kernels, and not the rows of a stack (n, n, M)."""
    return all(entry.shape[1] == (entry.shape[0] if width is None else width) for entry in entries)


def _are_rows(entries: Any, width: int | None) -> bool:
    """Whether these may be the rows (n, M) of a stack (n, n, M), or (t, n, M), and are no kernels."""
    high = len(entries) if width is None else width
    return all(entry.shape[0] == high for entry in entries) and not _are_kernels(entries, width)


def _refuse_matrices(entries: Any, width: int | None) -> None:
    shapes = clipped(", ".join(str(tuple(entry.shape)) for entry in entries), 80)
    wanted = "(n, n)" if width is None else f"(t, {width})"
    others = "factors are given as mklcvx.LowRank, features of views with a bank such as kernels='gaussians'"
    raise InputError(f"X has matrices of shapes {shapes}, no kernels {wanted}: give these; {others}")


def _matrix(values: Any, name: str, index: int, precomputed: bool) -> Array:
    from sklearn.utils import check_array

    try:
        with ONE_AT_A_TIME, checks_of_sklearn():
            return np.asarray(check_array(host_array(values, "X"), dtype=np.float64))
    except ValueError as fault:
        view = f"X: view {name or index + 1}"
        known = of_kernel(values, name or f"K{index + 1}", index) if precomputed else of_features(values, view)
        raise InputError(known or f"{view}: {clipped(fault, 160)}") from None
