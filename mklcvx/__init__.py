"""mklcvx: multiple kernel learning, declared in CVXPY and solved with a certificate."""

from __future__ import annotations

from . import formulations, plot
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

__all__ = [
    "Certificate", "InputError", "Instance", "LowRank", "Path", "Report", "Solution", "__version__", "conform",
    "formulations", "path", "plot", "second_stage", "shrink", "solve", "verify",
]  # fmt: skip
