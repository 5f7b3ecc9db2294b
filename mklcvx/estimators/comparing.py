"""Fits on folds of the training samples: what learning the weights is worth, beside the average of the same kernels."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn import config_context
from sklearn.base import clone, is_classifier
from sklearn.model_selection import KFold, StratifiedKFold, cross_val_score

from ..defaults import FOLDS, SEED, SOLVER
from ..errors import InputError, OneClassWarning, ScaleWarning, unheard
from ..problem.stack import Array


def counted(model: Any, X: Array, y: NDArray[Any], weight: Array | None) -> tuple[Array, NDArray[Any], Array | None]:
    """The samples of positive weight."""
    if weight is None:
        return X, y, None
    kept = np.flatnonzero(weight > 0)
    pairwise = model._source.bank is None
    return X[np.ix_(kept, kept)] if pairwise else X[kept], y[kept], weight[kept]


def unfitted(model: Any) -> Any:
    """A copy to be fitted on arrays: columns that were selected by name are numbers in it, and views are columns."""
    bank = model._source.bank
    kernels = {} if bank is None else {"kernels": [part.with_numbers() for part in bank.parts]}
    return clone(model).set_params(**kernels, compare_average=False)


@contextmanager
def fits_of_our_own() -> Iterator[None]:
    """Without the warnings that the fit on all samples gives; weights reach the folds whatever the user routes."""
    with unheard(ScaleWarning), unheard(OneClassWarning), config_context(enable_metadata_routing=False):
        yield


def compared(model: Any, X: Array, y: NDArray[Any], weight: Array | None) -> tuple[Array, Array]:
    """Scores of the model, and of the average of its kernels, on the same held-out samples."""
    X, y, weight = counted(model, X, y, weight)
    folds, kind = min(FOLDS, len(y) // 2), KFold
    if is_classifier(model):
        folds, kind = min(FOLDS, int(np.unique(y, return_counts=True)[1].min())), StratifiedKFold
    if folds < 2:
        least = "two samples of every class" if is_classifier(model) else "four samples"
        raise InputError(f"compare_average=True needs {least}, for held-out scores: give more")
    cut = kind(folds, shuffle=True, random_state=SEED)
    plain = unfitted(model).set_params(**({"probability": False} if is_classifier(model) else {}))
    of_average = {"formulation": "average", "solver": SOLVER, **dict.fromkeys(model.of_regularisers)}
    even = clone(plain).set_params(**of_average, solver_options=None, groups=None)
    params = None if weight is None else {"sample_weight": weight}
    with fits_of_our_own():
        score = partial(cross_val_score, X=X, y=y, cv=cut, params=params, error_score="raise")
        return score(plain), score(even)
