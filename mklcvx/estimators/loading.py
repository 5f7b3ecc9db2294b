"""`load_model`: the fitted estimator that a file holds, whichever it is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from .saving import read_model, restored


def load_model(path: str | Path) -> Any:
    """The fitted estimator that `save` wrote."""
    parts = read_model(path)
    from .classifier import MKLClassifier  # scikit-learn is imported only once the file is known to be sound
    from .embedding import HypergraphEmbedding
    from .joint import MultiLabelMKL, TwoStageMKL

    kinds = (MKLClassifier, MultiLabelMKL, TwoStageMKL, HypergraphEmbedding)
    return restored(path, parts, {kind.__name__: kind for kind in kinds})
