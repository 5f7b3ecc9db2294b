"""`load_model`: read a fitted estimator of any class from a file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from .saving import NAMES, read_model, restored

if TYPE_CHECKING:
    from .base import KernelEstimator


def load_model(path: str | Path) -> KernelEstimator:
    """Read a fitted estimator that its method `save` wrote.

    Parameters
    ----------
    path : str or Path
        File `.npz`.

    Returns
    -------
    object
        The fitted estimator, of the class that was saved.

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
    from . import classifier, embedding, joint, one_class, regressor  # scikit-learn is imported after the check

    homes = (classifier, regressor, one_class, joint, embedding)
    return restored(path, parts, {name: getattr(home, name) for home in homes for name in NAMES if hasattr(home, name)})
