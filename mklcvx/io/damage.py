"""What files must hold, and the refusal of one that is damaged, or whose parts do not fit together."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError
from .archives import Unreadable
from .json_text import first_line


@contextmanager
def damage_reported(where: str, remedy: str = "write it again") -> Iterator[None]:
    """Within it, what a damaged file makes fail is a refusal of that file."""
    try:
        yield
    except Unreadable:
        raise
    except (LookupError, TypeError, ValueError, OverflowError, RecursionError) as fault:
        what = first_line(fault) if isinstance(fault, InputError) else f"{type(fault).__name__}: {first_line(fault)}"
        raise InputError(f"{where}: incomplete or damaged ({what}): {remedy}") from None


def require(holds: object, fault: str) -> None:
    """Refuse a file whose parts do not fit together."""
    if not holds:
        raise ValueError(fault)


def as_words(values: Any) -> tuple[str, ...]:
    require(isinstance(values, list), "a list of words is missing")
    return tuple(str(value) for value in values)


def as_members(values: Any, samples: int) -> NDArray[np.intp]:
    """Indices of samples, in their order."""
    array = np.asarray(values)
    whole = array.dtype.kind in "iu" and array.ndim == 1 and array.size > 0
    ordered = whole and array[0] >= 0 and array[-1] < samples and (array[1:] > array[:-1]).all()
    require(ordered, "indices of samples are out of range, or of order")
    return array.astype(np.intp)
