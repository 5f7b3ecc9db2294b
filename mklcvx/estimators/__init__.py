"""Estimators with scikit-learn's conventions: kernels from features or a precomputed stack, certified weights."""

from __future__ import annotations

from .classifier import MKLClassifier
from .embedding import HypergraphEmbedding
from .joint import MultiLabelMKL, TwoStageMKL

__all__ = ["HypergraphEmbedding", "MKLClassifier", "MultiLabelMKL", "TwoStageMKL"]
