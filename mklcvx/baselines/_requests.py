"""Numbers that several baselines are given: counts, seeds, tolerances."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

from ..errors import InputError


def is_whole(value: Any, least: int, most: float = float("inf")) -> bool:
    """Whether a value, of Python's or of NumPy's, is a whole number within limits."""
    return isinstance(value, Integral) and not isinstance(value, bool) and least <= int(value) <= most


def check_seed(seed: Any) -> None:
    if not is_whole(seed, 0, 2**32 - 1):
        raise InputError(f"seed = {seed!r:.40}: give a whole number between 0 and {2**32 - 1}")


def check_tolerance(tol: Any) -> None:
    if not isinstance(tol, Real) or isinstance(tol, bool) or not 0 < float(tol) < 1:
        raise InputError(f"tol = {tol!r:.40} is not between 0 and 1: give a relative gap such as 1e-8")
