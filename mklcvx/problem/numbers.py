"""Numbers that a user gives: counts, seeds, tolerances, arrays."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from numbers import Integral, Real
from typing import Any, TypeAlias, TypeGuard

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError, clipped
from .checks import kind_of, shown

MANTISSA = 2.0**53  # below, every whole number is a double
MOST_JOBS = 10_000
PLAIN = {float, int, str, bytes, bool, type(None)}
Array = NDArray[np.float64]
Indices = NDArray[np.intp]
# Of a dtype that is known when the code runs: numbers of any precision; or classes, which may be words as well.
RealArray: TypeAlias = NDArray[np.number]  # type: ignore[explicit-any]
AnyArray: TypeAlias = NDArray[Any]  # type: ignore[explicit-any]


def is_number(value: object) -> TypeGuard[float]:
    return isinstance(value, Real) and not isinstance(value, bool)


def is_whole(value: object, least: int, most: float = float("inf")) -> bool:
    """Whether a value, of Python or NumPy, is a whole number within limits."""
    return isinstance(value, Integral) and not isinstance(value, bool) and least <= int(value) <= most


def check_whole(least: int, most: int | None = None, **given: object) -> None:
    """Refuse what is no whole number within limits."""
    within = f"at least {least}" if most is None else f"between {least} and {most}"
    for name, value in given.items():
        if not is_whole(value, least, float("inf") if most is None else most):
            raise InputError(f"{name} = {shown(value)}: give a whole number {within}")


def check_seed(seed: object) -> None:
    check_whole(0, 2**32 - 1, seed=seed)


def check_jobs(**given: object) -> None:
    """Refuse a number of processes that joblib does not know."""
    for name, jobs in given.items():
        if jobs is not None and (not is_whole(jobs, -MOST_JOBS, MOST_JOBS) or jobs == 0):
            raise InputError(f"{name} = {shown(jobs)}: give a number of processes, −1 for one per core, or None")


def check_tolerance(tol: object, example: str = "a relative gap such as 1e-8") -> None:
    if not (is_number(tol) and 0 < tol < 1):
        raise InputError(f"tol = {tol!r:.40} is not between 0 and 1: give {example}")


def is_masked(values: object, depth: int = 6) -> bool:
    """Whether an array has masked entries, one in lists and dicts among them: NumPy forgets such masks."""
    if isinstance(values, np.ndarray) and (values.dtype != object or np.ma.is_masked(values)):
        return bool(np.ma.is_masked(values))
    parts: Iterable[object] = values if isinstance(values, list | tuple) else ()
    if isinstance(values, np.ndarray | dict):
        parts = values.flat if isinstance(values, np.ndarray) else values.values()
    return depth > 0 and any(is_masked(part, depth - 1) for part in parts if type(part) not in PLAIN)


def check_unmasked(values: object, name: str) -> None:
    if is_masked(values):
        raise InputError(f"{name}: entries are masked, and NumPy forgets masks: fill them, or leave these samples out")


def mixes_words(values: object) -> bool:
    """Whether words are in a list with something else, such as NaN, of which NumPy makes a word as well."""
    if isinstance(values, np.ndarray) or as_any_array(values).dtype.kind not in "US":
        return False
    return not all(isinstance(entry, str | bytes) for entry in np.asarray(values, dtype=object).flat)


def are_doubles(given: RealArray, doubles: NDArray[np.float64]) -> bool:
    """Whether no finite number of an array was rounded when it was made doubles."""
    if given.dtype.kind == "f":
        return given.dtype.itemsize <= 8 or bool((given == doubles)[np.isfinite(doubles)].all())
    long = given[np.abs(doubles) >= MANTISSA]
    return all(int(float(number)) == number for number in long.tolist())


def read_array(values: object, name: str, wanted: str) -> AnyArray:
    """An array of what a caller has given, whose own code may raise anything."""
    check_unmasked(values, name)
    try:
        return np.asarray(values)
    except (InputError, MemoryError):
        raise
    except Exception as fault:
        if isinstance(values, list | tuple) and isinstance(fault, ValueError):
            raise InputError(f"{name} is ragged, and all must have one size: give {wanted}") from None
        why = f"{type(fault).__name__}: {clipped(fault, 80)}"
        raise InputError(f"{name} is {kind_of(values)} that cannot be read ({why}): give {wanted}") from None


def as_any_array(values: object) -> AnyArray:
    """An array; if the values cannot be converted, one of dtype object."""
    try:
        return np.asarray(values)
    except InputError:  # of kernels that are elsewhere
        raise
    except Exception:  # whatever a stranger's object may raise
        return np.asarray(None)


def is_text(array: AnyArray) -> bool:
    """Whether an array of strings has characters of Unicode alone. NumPy holds others, and Python breaks on them."""
    codes = np.frombuffer(array.tobytes(), np.dtype("u4").newbyteorder(array.dtype.byteorder))
    return bool(codes.max(initial=0) <= sys.maxunicode)


def as_real_array(values: object, name: str, wanted: str) -> RealArray:
    """An array of real numbers of any dtype."""
    array = read_array(values, name, wanted)
    if array.dtype.kind not in "fiub":
        raise InputError(f"{name} is not an array of real numbers: give {wanted}")
    return array


def as_indices(chosen: object, samples: int) -> NDArray[np.intp]:
    """Indices of samples, counted from 0, or from the end if they are negative."""
    given = read_array(chosen, "samples", "a list of whole numbers")
    if given.size == 0:
        raise InputError("samples: none is chosen: give at least one index")
    if given.ndim != 1 or given.dtype.kind not in "iu":
        raise InputError(f"samples are an array {given.shape} of {given.dtype}: give a list of whole numbers")
    if not -samples <= given.min() <= given.max() < samples:
        raise InputError(f"samples has an index beyond {samples} samples: give numbers from 0 to {samples - 1}")
    return given.astype(np.intp)
