"""What is wrong with X where scikit-learn has refused it: samples that lack a view, columns with NaN or with words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import clipped
from ..problem.validation import missing_samples, missing_view

IMPUTED = "leave these samples out, or put an imputer of scikit-learn before the model, such as SimpleImputer()"
ENCODED = "encode them as numbers, as scikit-learn's OneHotEncoder does, or leave the column out"


def fault_of(X: Any, precomputed: bool, names: Sequence[str] | None) -> str:
    """The fault and its remedy in a line; empty where scikit-learn's own words must do. `names` are the kernels'."""
    if not precomputed:
        return of_features(X, "X")
    if not isinstance(X, np.ndarray) or X.ndim != 3:
        return ""
    known = names if names is not None and len(names) == X.shape[2] else [f"K{m + 1}" for m in range(X.shape[2])]
    faults = (of_kernel(X[..., m], name, m) for m, name in enumerate(known))
    return next(filter(None, faults), "")


def of_kernel(kernel: Any, name: str, index: int) -> str:
    """The words about samples that lack a view; empty if there are none."""
    values = np.asarray(kernel)
    absent = len(missing_samples(values)) if values.dtype.kind == "f" and values.ndim == 2 else 0
    return missing_view(f"X: kernel {clipped(name, 40)!r} (index {index})", absent, len(values)) if absent else ""


def of_features(X: Any, where: str) -> str:
    """The words about columns with NaN, or with words in place of numbers; empty if there are none."""
    if hasattr(X, "columns"):
        columns = {repr(name): np.asarray(X[name]) for name in X.columns}
    else:
        array = X if isinstance(X, np.ndarray) and X.ndim == 2 else np.empty((0, 0))
        columns = {str(j): values for j, values in enumerate(array.T)}
    for name, values in columns.items():
        if word := _first_word(values):
            return f"{where} has {clipped(word, 30)!r} in column {name}, no number: {ENCODED}"
    gaps = {name: np.isnan(values) for name, values in columns.items() if values.dtype.kind == "f"}
    lacking = [name for name, gap in gaps.items() if gap.any()]
    if not lacking:
        return ""
    absent = np.any([*gaps.values()], axis=0)
    listed = f"column{'s' if len(lacking) > 1 else ''} {clipped(', '.join(lacking), 80)}"
    return f"{where} has NaN in {listed}, in {np.count_nonzero(absent)} of {len(absent)} samples: {IMPUTED}"


def _first_word(column: NDArray[Any]) -> str:
    for value in column if column.dtype.kind in "OU" else ():
        if isinstance(value, str):
            try:
                float(value)
            except ValueError:
                return value
    return ""
