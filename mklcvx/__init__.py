"""mklcvx: multiple kernel learning, declared in CVXPY and solved with a certificate."""

from __future__ import annotations

from . import formulations
from ._version import __version__
from .certificate import Certificate
from .errors import InputError
from .instance import Instance

__all__ = ["Certificate", "InputError", "Instance", "__version__", "formulations"]
