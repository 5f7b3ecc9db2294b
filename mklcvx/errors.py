"""The two kinds of errors, unusable input and a defect of mklcvx; and the warnings about data and parameters."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class InputError(ValueError):
    """Input that cannot be used.

    The message is one line that names the input, the fault and the remedy.
    """


class InternalError(RuntimeError):
    """A defect of mklcvx itself, such as a bound that contradicts weak duality."""


class ScaleWarning(UserWarning):
    """Kernels of very different size are combined, and nothing scales them."""


class OneClassWarning(UserWarning):
    """A classifier predicts one class for all of its training samples."""


class GridEdgeWarning(UserWarning):
    """The best point of a cross-validation lies on the edge of the grid."""


def nearest(name: str, known: Iterable[str]) -> str:
    """A hint for an unknown name: the nearest known one, or all of them."""
    names = sorted(known)
    close = difflib.get_close_matches(name.lower(), names, n=1, cutoff=0.61)  # theta is no delta
    return f"did you mean {close[0]!r}?" if close else f"known: {', '.join(names)}"
