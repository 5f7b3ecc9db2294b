"""Columns of features by name, number, slice, mask, or by a function that selects them, as in `ColumnTransformer`."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError, clipped, nearest
from ..problem.numbers import is_whole
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


def resolved(columns: Any, table: Table) -> list[int]:
    """The numbers of the columns, as `ColumnTransformer` finds them in the table as it was given."""
    from sklearn.utils._indexing import _get_column_indices

    chosen = _selected(columns, table.given)
    try:
        listed = [*chosen] if isinstance(chosen, range | tuple) else chosen
        numbers = [int(j) for j in _get_column_indices(table.given, listed)]
    except (ValueError, TypeError, IndexError, NotImplementedError, AttributeError):
        raise _misfit(chosen, table) from None
    if not numbers:
        raise InputError(f"kernels: features {clipped(repr(chosen))} select no column of X: {REMEDY}")
    return numbers


def _selected(columns: Any, given: Any) -> Any:
    if not callable(columns):
        return columns
    try:
        return columns(given)
    except (ValueError, TypeError, AttributeError, KeyError) as fault:
        name = getattr(columns, "__name__", type(columns).__name__)
        what = clipped(fault, 120)
        raise InputError(f"kernels: the function {name} selects no columns of X ({what}): {REMEDY}") from None


def _misfit(columns: Any, table: Table) -> InputError:
    """Why these are no columns of the table."""
    fault = f"kernels: features {clipped(repr(columns))} are"
    listed = [*columns] if isinstance(columns, list | tuple | np.ndarray) else [columns]
    if all(isinstance(column, str) for column in listed):
        if table.names is None:
            after = "after a transformer in a pipeline, its set_output(transform='pandas')"
            return InputError(f"{fault} names, and X has none: give a DataFrame ({after}), or columns' numbers")
        if missing := [column for column in listed if column not in table.names]:
            known = clipped(nearest(missing[0], map(str, table.names)), 120)
            return InputError(f"kernels: features has {clipped(missing[0], 40)!r}, no column of X: {known}")
    count = table.X.shape[1]
    if all(is_whole(column, -sys.maxsize) for column in listed):
        return InputError(f"{fault} not all among the {count} columns of X: give 0 to {count - 1}")
    return InputError(f"{fault} unknown: {REMEDY}")
