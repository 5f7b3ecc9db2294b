"""Columns of features by name, number, slice, mask, or by a function that selects them, as in `ColumnTransformer`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError, clipped, nearest
from ..problem.stack import Array
from .inputs import View

Columns: TypeAlias = str | int | slice | Sequence[str] | Sequence[int] | Sequence[bool] | Callable[[Any], Any]
REMEDY = "give columns' names, numbers, a slice, a mask, or a function that selects them"


@dataclass(frozen=True)
class Table:
    """Features, or kernels, as checked numbers X, and as they were given: as a DataFrame with names, say."""

    X: Array
    given: Any
    names: Sequence[str] | None = None
    views: Sequence[View] = ()
    factored: bool = False  # whether the views are factors of kernels

    def rows(self, chosen: NDArray[np.intp]) -> Table:
        """The table with some of its rows; a function that selects columns sees all of them."""
        return replace(self, X=self.X[chosen])

    def of(self, columns: Sequence[int]) -> Table:
        """The table with some of its columns."""
        from sklearn.utils import _safe_indexing

        names = None if self.names is None else [self.names[j] for j in columns]
        return Table(self.X[:, columns], _safe_indexing(self.given, list(columns), axis=1), names)

    def labels(self, columns: Sequence[int]) -> list[str]:
        """Names of columns, x0, x1 … where they have none."""
        return [f"x{j}" if self.names is None else str(self.names[j]) for j in columns]


def are_numbers(columns: object) -> bool:
    """Whether these are numbers of columns, one at least."""
    whole = isinstance(columns, list) and all(isinstance(j, int) and not isinstance(j, bool) for j in columns)
    return whole and bool(columns)


def resolved(columns: Any, table: Table) -> list[int]:
    """The numbers of the columns; names and functions need the table as it was given."""
    chosen = _listed(_selected(columns, table.given))
    count, shown = table.X.shape[1], clipped(repr(chosen))
    if not are_numbers(chosen):
        chosen = _by_scikit_learn(chosen, table, shown)
    if not chosen:
        raise InputError(f"kernels: features {shown} select no column of X: {REMEDY}")
    if not all(-count <= j < count for j in chosen):
        raise InputError(f"kernels: features {shown} are not all among the {count} columns of X: give 0 to {count - 1}")
    return [j % count for j in chosen]


def _selected(columns: Any, given: Any) -> Any:
    if not callable(columns):
        return columns
    try:
        return columns(given)
    except (ValueError, TypeError, AttributeError, KeyError) as fault:
        name = getattr(columns, "__name__", type(columns).__name__)
        what = clipped(fault, 120)
        raise InputError(f"kernels: the function {name} selects no columns of X ({what}): {REMEDY}") from None


def _listed(columns: Any) -> Any:
    """A single column as a list, and other sequences as lists of Python's own values."""
    if isinstance(columns, str | int | np.integer | np.bool_) and not isinstance(columns, bool):
        return [columns.item() if isinstance(columns, np.generic) else columns]
    if isinstance(columns, slice | str | bool) or not hasattr(columns, "__len__") or np.ndim(columns) != 1:
        return columns
    return [value.item() if isinstance(value, np.generic) else value for value in columns]


def _by_scikit_learn(columns: Any, table: Table, shown: str) -> list[int]:
    from sklearn.utils._indexing import _get_column_indices

    words = isinstance(columns, list) and all(isinstance(one, str) for one in columns)
    if words and table.names is None:
        after = "after a transformer in a pipeline, its set_output(transform='pandas')"
        raise InputError(
            f"kernels: features {shown} are names, and X has none: give a DataFrame ({after}), or columns' numbers"
        )
    try:
        return [int(j) for j in _get_column_indices(table.given, columns)]
    except (ValueError, TypeError, IndexError, NotImplementedError, AttributeError):
        missing = [one for one in columns if one not in (table.names or ())] if words else []
        if missing:
            known = clipped(nearest(missing[0], map(str, table.names or ())), 120)
            raise InputError(f"kernels: features has {clipped(missing[0], 40)!r}, no column of X: {known}") from None
        raise InputError(f"kernels: features {shown} are unknown: {REMEDY}") from None
