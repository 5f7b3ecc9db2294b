"""`load_model`: read a fitted estimator of any class from a file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from .saving import read_model, restored

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
    MKLClassifier, MultiLabelMKL, TwoStageMKL or HypergraphEmbedding
        The fitted estimator.

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
    from .classifier import MKLClassifier  # scikit-learn is imported after the file has been checked
    from .embedding import HypergraphEmbedding
    from .joint import MultiLabelMKL, TwoStageMKL

    kinds = (MKLClassifier, MultiLabelMKL, TwoStageMKL, HypergraphEmbedding)
    return restored(path, parts, {kind.__name__: kind for kind in kinds})
