"""`save_model` and `load_model`: fitted estimators of any class in files, and scalers before them in a pipeline."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import InputError, clipped
from ..io.damage import damage_reported
from ..io.writing import check_path
from .saving import SAVE_AGAIN, read_model, restored, written
from .scalers import parted, steps_of

if TYPE_CHECKING:
    from sklearn.model_selection import GridSearchCV
    from sklearn.pipeline import Pipeline

    from .base import KernelEstimator


def save_model(path: str | Path, model: KernelEstimator | Pipeline | GridSearchCV) -> None:
    """Write a fitted estimator, or a pipeline that ends in one, to a file, without pickle.

    Before the estimator a pipeline may have scikit-learn's StandardScaler, MinMaxScaler, MaxAbsScaler and RobustScaler.
    Rows that are as they came are then scaled, and predicted, by `load_model(path).predict` and by `mklcvx predict`.

    Parameters
    ----------
    path : str or Path
        File `.npz`.
    model : MKLClassifier or another estimator, Pipeline, or a search such as GridSearchCV
        The fitted model; of a search its `best_estimator_`.

    Raises
    ------
    InputError
        If the file cannot be written, or cannot hold the model.

    Examples
    --------
    >>> import mklcvx
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> X, y = load_wine(return_X_y=True)
    >>> model = make_pipeline(StandardScaler(), mklcvx.MKLClassifier()).fit(X[::6], y[::6])
    >>> mklcvx.save_model("model.npz", model)
    >>> mklcvx.load_model("model.npz").predict(X[:2])
    array([0, 0])
    """
    from .base import KernelEstimator

    check_path(path, "save_model('model.npz', model)")
    before, name, last = parted(model)
    if not isinstance(last, KernelEstimator):
        kind = clipped(type(last).__name__, 40)
        raise InputError(f"save_model: {kind} is no estimator of mklcvx: give one, or a pipeline that ends in one")
    written(path, last, name, before)


def load_model(path: str | Path) -> KernelEstimator | Pipeline:
    """Read a fitted estimator, or a pipeline, that `save` or `save_model` wrote.

    Parameters
    ----------
    path : str or Path
        File `.npz`.

    Returns
    -------
    object
        The fitted estimator, of the class that was saved; a pipeline, if scalers were saved with it.

    Raises
    ------
    InputError
        If the file cannot be read or is incomplete.

    Examples
    --------
    >>> import mklcvx
    >>> from sklearn.datasets import load_wine
    >>> X, y = load_wine(return_X_y=True)
    >>> mklcvx.TwoStageMKL("alignment").fit(X[::6], y[::6]).save("model.npz")
    >>> mklcvx.load_model("model.npz").formulation
    'alignment'
    """
    parts = read_model(path)
    from .along import ESTIMATORS  # scikit-learn is imported after the check

    model = restored(path, parts, {estimator.__name__: estimator for estimator in ESTIMATORS})
    if not parts.is_pipeline:
        return model
    from sklearn.pipeline import Pipeline

    with damage_reported(f"model {path}", SAVE_AGAIN):
        before = steps_of(parts.record["before"], parts.arrays, parts.record["features"])
        return Pipeline([*before, (str(parts.record["step"]), model)])
