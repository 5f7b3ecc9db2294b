"""mklcvx: multiple kernel learning, declared in CVXPY and solved with a certificate."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import estimators, formulations, plot
from ._version import __version__
from .certificate import Certificate
from .conformance import conform
from .errors import InputError
from .formulations._low_rank import LowRank
from .instance import Instance
from .paths import Path, path
from .second_stage import second_stage
from .solution import Solution
from .solving import solve
from .verify import Report, shrink, verify

if TYPE_CHECKING:
    from .estimators import HypergraphEmbedding, MKLClassifier, MultiLabelMKL, TwoStageMKL, load_model, mkl_path

__all__ = [
    "Certificate", "HypergraphEmbedding", "InputError", "Instance", "LowRank", "MKLClassifier", "MultiLabelMKL",
    "Path", "Report", "Solution", "TwoStageMKL", "__version__", "conform", "formulations", "load_model", "mkl_path",
    "path", "plot", "second_stage", "shrink", "solve", "verify",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    """The estimators, which need scikit-learn, when they are first asked for."""
    if name in estimators.__all__:
        return getattr(estimators, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
