"""Where an exception arose: in numbers or memory, of which there is a status or a refusal, or in the caller's code."""

from __future__ import annotations

import functools
import types
from collections.abc import Iterable, Iterator

import numpy as np

from ..errors import InputError, InternalError, NotEnoughMemory, clipped

NO_MEMORY = "not enough memory for this instance: use fewer samples, or kernels of lower rank"
OURS = (InputError, InternalError, Warning, ImportError, NotImplementedError)
ROUTINES = ("scipy.optimize", "scipy.linalg", "scipy.sparse", "scipy.special", "numpy.linalg", "sklearn.svm")
OF_NUMBERS = (
    "math domain error", "cannot convert float NaN", "-inf + inf in fsum", "expected a nonnegative",
    "expected a positive",
)  # fmt: skip


def frames(fault: Exception) -> Iterator[types.FrameType]:
    trace = fault.__traceback__
    while trace is not None:
        yield trace.tb_frame
        trace = trace.tb_next


def is_ours(frame: types.FrameType) -> bool:
    return str(frame.f_globals.get("__name__", "")).startswith("mklcvx.")


def is_numerical(fault: Exception) -> bool:
    """Whether numbers are at fault: they leave the range, a matrix is singular, a numerical routine gives up."""
    if isinstance(fault, ArithmeticError | np.linalg.LinAlgError) or str(fault).startswith(OF_NUMBERS):
        return True
    return isinstance(fault, ValueError | RuntimeError) and not isinstance(fault, OURS) and _in_routines(fault)


def told(fault: Exception, given: Iterable[object]) -> Exception:
    """What a public function raises in place of a fault: a refusal where memory or numbers are at fault, unless it came
    out of a function that the caller has given."""
    if isinstance(fault, InputError) or of_caller(fault, given):
        return fault
    if isinstance(fault, MemoryError):
        return NotEnoughMemory(NO_MEMORY)
    if is_numerical(fault):
        words = f"a number left the range of double precision ({clipped(fault, 100)})"
        return InputError(f"{words}: bring kernels and parameters nearer to 1")
    return fault


def _in_routines(fault: Exception) -> bool:
    """Whether a numerical routine raised it, itself or by what it called."""
    names = (str(frame.f_globals.get("__name__", "")) for frame in frames(fault))
    return any(name == module or name.startswith(f"{module}.") for name in names for module in ROUTINES)


def of_caller(fault: Exception, values: Iterable[object]) -> bool:
    """Whether it came out of a function that the caller has given."""
    codes = {code for value in values if (code := _code_of(value)) is not None}
    return bool(codes) and any(frame.f_code in codes for frame in frames(fault))


def _code_of(value: object) -> types.CodeType | None:
    while isinstance(value, functools.partial):
        value = value.func
    if isinstance(value, types.MethodType):
        value = value.__func__
    if isinstance(value, types.FunctionType):
        return value.__code__
    return getattr(vars(type(value)).get("__call__"), "__code__", None)
