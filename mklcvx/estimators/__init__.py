"""Estimators with scikit-learn's conventions: kernels from features or a precomputed stack, certified weights.

They are imported on first use, because importing scikit-learn is slow.
"""

from __future__ import annotations

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .along import mkl_path
    from .classifier import MKLClassifier
    from .embedding import HypergraphEmbedding
    from .importance import kernel_importance
    from .joint import MultiLabelMKL, TwoStageMKL
    from .loading import load_model, save_model
    from .one_class import OneClassMKL
    from .regressor import MKLRegressor
    from .views import Views

__all__ = [
    "HypergraphEmbedding", "MKLClassifier", "MKLRegressor", "MultiLabelMKL", "OneClassMKL", "TwoStageMKL", "Views",
    "kernel_importance", "load_model", "mkl_path", "save_model",
]  # fmt: skip

HOMES = {
    "HypergraphEmbedding": "embedding", "MKLClassifier": "classifier", "MKLRegressor": "regressor",
    "MultiLabelMKL": "joint", "OneClassMKL": "one_class", "TwoStageMKL": "joint", "load_model": "loading",
    "kernel_importance": "importance", "mkl_path": "along", "save_model": "loading", "Views": "views",
}  # fmt: skip


def __getattr__(name: str) -> Any:
    if name in HOMES:
        return getattr(import_module(f".{HOMES[name]}", __name__), name)
    if name == "bank":  # the docstrings point to it
        return import_module(".bank", __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}", name=name, obj=sys.modules[__name__])
