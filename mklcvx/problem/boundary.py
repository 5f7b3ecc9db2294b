"""Where the caller's world ends and ours begins: what is public raises our own errors, of one line, and no others.

A public function or class is marked by `public`. What it refuses itself passes, and so do a caller's own errors, such
as those of a callback. Anything else that leaves it is a fault that nobody has foreseen. Its arguments are then
compared with the types that the signature states, and the first one that does not fit is named: one rule, in place of
a check in every function. It costs nothing until something fails.

`is_numerical` tells a fault of numbers from one of code: solvers make a status of the first.
"""

from __future__ import annotations

import functools
import inspect
import os
import re
import types
import typing
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from numbers import Integral, Real
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

import numpy as np

from ..errors import InputError, InputTypeError, InternalError, NotEnoughMemory, clipped
from .numbers import is_masked

Given = ParamSpec("Given")
Result = TypeVar("Result")
Class = TypeVar("Class", bound=type)

MARK = "__boundary__"
# Ours; those that say how warnings are to be treated; those that say what is not there.
OURS = (InputError, InternalError, Warning, ImportError, NotImplementedError, StopIteration)
BY_CONVENTION = ("NotFittedError",)  # scikit-learn's, which its tools catch by name
ARRAYS = frozenset({"ArrayLike", "Array", "NDArray", "RealArray", "AnyArray", "Kernels", "Stored"})
WORDS: dict[Any, str] = {
    float: "a number", int: "a whole number", str: "a string", bool: "True or False", Mapping: "a dict", dict: "a dict",
    Sequence: "a list", list: "a list", tuple: "a tuple", Iterable: "a list", Callable: "a function", Path: "a path",
}  # fmt: skip
LONGEST = 350
DEEPEST = 50  # lists in lists
ARGUMENTS = (ValueError, TypeError, LookupError, AttributeError)  # what Python raises about arguments
NEAR = 3  # frames of ours, the mark's among them: where arguments are read, not where a problem is solved
ROUTINES = ("scipy.optimize", "scipy.linalg", "scipy.sparse", "scipy.special", "numpy.linalg", "sklearn.svm")
OF_NUMBERS = (
    "math domain error", "cannot convert float NaN", "-inf + inf in fsum", "expected a nonnegative",
    "expected a positive",
)  # fmt: skip
CHECKS_OF_DATA = "sklearn"  # of X and y


# ---------------------------------------------------------------------------------------------------------- the marks
def public(function: Callable[Given, Result]) -> Callable[Given, Result]:
    """Mark a public function: what leaves it is a result, an error of ours, or an error of the caller's own code."""

    @functools.wraps(function)
    def call(*args: Given.args, **options: Given.kwargs) -> Result:
        try:
            if any(map(is_masked, (*args, *options.values()))):
                raise InputError(_masked(function, args, options))
            return function(*args, **options)
        except OURS:
            raise
        except Exception as fault:
            found = explained(function, args, options, fault)
            if found is fault:
                raise
            raise found from (fault if isinstance(found, InternalError) else None)

    setattr(call, MARK, True)
    return call


def public_class(made: Class) -> Class:
    """Mark a public class: its constructor, its public methods and properties, with those that it inherits from us."""
    for base in made.__mro__[1:]:
        if base.__module__.startswith("mklcvx."):
            _mark_members(base)
    _mark_members(made)
    return made


def _mark_members(made: type) -> None:
    for name, member in list(vars(made).items()):
        if name.startswith("_") and name not in ("__init__", "__call__"):
            continue
        inside = getattr(member, "__func__", getattr(member, "fget", None))
        if hasattr(inside or member, MARK):
            continue
        if isinstance(member, types.FunctionType):
            setattr(made, name, public(member))
        elif isinstance(member, staticmethod | classmethod):
            setattr(made, name, type(member)(public(member.__func__)))
        elif isinstance(member, property) and inside is not None:
            setattr(made, name, property(public(inside), member.fset, member.fdel, member.__doc__))
        elif isinstance(getattr(member, "fn", None), types.FunctionType):  # scikit-learn's `available_if`
            member.fn = public(member.fn)


# ----------------------------------------------------------------------------------------------------- what was wrong
def explained(function: Callable[..., Any], args: Any, options: Any, fault: Exception) -> Exception:
    """What to raise in place of a fault: the fault itself where it is the caller's own."""
    where = function.__qualname__
    if args and function.__name__ == "__init__":
        where = type(args[0]).__name__  # it may have inherited its constructor
    if type(fault).__name__ in BY_CONVENTION or of_caller(fault, _handed_over(function, args, options)):
        return fault
    if isinstance(fault, ValueError | TypeError) and _raised_in(fault, CHECKS_OF_DATA):
        return (InputTypeError if isinstance(fault, TypeError) else InputError)(" ".join(_text(fault).split()))
    try:
        given = inspect.signature(function).bind(*args, **options).arguments
    except TypeError as mismatch:
        return InputTypeError(f"{where}: {mismatch}: see help({where})")
    found = next(misfits(function, given), "") or _own_fault(fault, given)
    if found:
        return InputTypeError(f"{where}: {found}")
    words = clipped(_text(fault), LONGEST)
    if isinstance(fault, MemoryError):
        return NotEnoughMemory("not enough memory for this instance: use fewer samples, or kernels of lower rank")
    if isinstance(fault, RecursionError) and any(map(_is_deep, _handed_over(function, args, options))):
        return InputError(f"{where}: an argument is nested too deeply, or contains itself: give a flat one")
    if is_numerical(fault):
        remedy = "bring kernels and parameters nearer to 1"
        return InputError(f"{where}: a number left the range of double precision ({words}): {remedy}")
    if isinstance(fault, OSError):
        return InputError(f"{where}: {fault.strerror or words}{f' ({fault.filename})' if fault.filename else ''}")
    raised = f"{type(fault).__name__}: {words}"
    if isinstance(fault, ARGUMENTS) and sum(is_ours(frame) for frame in frames(fault)) <= NEAR:
        return InputError(f"{where}: these arguments cannot be used ({raised}): see help({where})")
    return InternalError(f"{where}: {raised}")


def _masked(function: Callable[..., Any], args: Any, options: Any) -> str:
    named = {**dict(zip(inspect.signature(function).parameters, args, strict=False)), **options}
    name = next(name for name, value in named.items() if is_masked(value))
    return f"{name}: entries are masked, and NumPy forgets masks: fill them, or leave these samples out"


def _handed_over(function: Callable[..., Any], args: Any, options: Any) -> list[Any]:
    """The arguments, and of a method the fields of its object: an estimator is given its functions before."""
    is_method = bool(args) and next(iter(inspect.signature(function).parameters), "") == "self"
    return [*args, *options.values(), *(getattr(args[0], "__dict__", {}).values() if is_method else ())]


def _is_deep(value: Any, above: tuple[int, ...] = ()) -> bool:
    """Whether lists are in lists beyond measure, or in themselves."""
    if id(value) in above or len(above) > DEEPEST:
        return True
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list | tuple) else ()
    return any(_is_deep(one, (*above, id(value))) for one in parts)


def misfits(function: Callable[..., Any], given: Mapping[str, Any]) -> Iterator[str]:
    """The arguments that do not fit the signature, in words; then the fields of the object that a method belongs to."""
    parameters = inspect.signature(function).parameters
    spaces = getattr(inspect.unwrap(function), "__globals__", {})
    for name, value in given.items():
        parameter = parameters[name]
        if name == "self":
            yield from _field_misfits(value)
        elif parameter.kind is parameter.VAR_KEYWORD:
            yield from (
                words for key, one in value.items() if (words := _misfit(key, one, parameter.annotation, spaces))
            )
        elif parameter.kind is not parameter.VAR_POSITIONAL and value is not parameter.default:
            yield from filter(None, [_misfit(name, value, parameter.annotation, spaces)])


def _field_misfits(owner: object) -> Iterator[str]:
    for made in type(owner).__mro__:
        spaces = vars(inspect.getmodule(made) or types)
        for name, hint in inspect.get_annotations(made).items():
            if name in vars(owner) and "ClassVar" not in str(hint):
                yield from filter(None, [_misfit(name, vars(owner)[name], hint, spaces)])


def _misfit(name: str, value: Any, hint: Any, spaces: Mapping[str, Any]) -> str:
    """What is wrong with an argument, and what to give; nothing if it fits."""
    if hint is inspect.Parameter.empty:
        return ""
    text = hint if isinstance(hint, str) else getattr(hint, "__name__", str(hint))
    names = set(re.findall(r"\w+", text))
    if value is None and "None" in names:
        return ""
    if text.startswith("Sequence[") and (not isinstance(value, Iterable) or getattr(value, "ndim", 1) == 0):
        return f"{name} = {shown(value)} is {_kind(value)}: give a list"
    if names & ARRAYS:
        fault = "" if isinstance(value, str) else _no_array(value)
        return f"{name} {fault}: give an array of numbers" if fault else ""
    try:
        alone = types.SimpleNamespace(__annotations__={name: hint})  # one that cannot be found out spoils no other
        wanted = typing.get_type_hints(alone, dict(spaces))[name]
    except (NameError, TypeError, AttributeError):  # a name that is imported for type checkers alone
        return ""
    if fits(value, wanted):
        return ""
    return f"{name} = {shown(value)} is {_kind(value)}: give {described(wanted)}"


def _no_array(value: Any) -> str:
    """Why a value cannot be read as an array of numbers; nothing if it can."""
    if hasattr(value, "shape") and hasattr(value, "dtype") and not isinstance(value, np.ndarray | np.generic):
        return ""  # kernels in factors, tables, arrays of another library
    try:
        array = np.asarray(value)
    except Exception as fault:
        return f"is {_kind(value)} that cannot be read ({type(fault).__name__}: {clipped(_text(fault), 80)})"
    return f"= {shown(value)} is {_kind(value)} of {array.dtype}" if array.dtype.kind in "OcVmM" else ""


def fits(value: Any, hint: Any) -> bool:
    """Whether a value is of a type, as a caller would see it: any real number is a float, a string is a path."""
    origin, parts = typing.get_origin(hint), typing.get_args(hint)
    if hint is None or hint is type(None):
        return value is None
    if origin in (typing.Union, types.UnionType):
        return any(fits(value, part) for part in parts)
    if origin is typing.Literal:
        return any(value is part or (isinstance(value, type(part)) and value == part) for part in parts)
    if origin is typing.Annotated:
        return fits(value, parts[0])
    kind = origin or hint
    if kind in (float, int):
        return isinstance(value, Real if kind is float else Integral) and not isinstance(value, bool)
    if kind is bool:
        return isinstance(value, bool | np.bool_)
    if kind is Path:
        return isinstance(value, str | os.PathLike)
    if kind is Callable:
        return callable(value)
    if kind is Any or not isinstance(kind, type) or kind is object or getattr(kind, "_is_protocol", False):
        return True
    if kind in (Sequence, Iterable):
        if isinstance(value, np.ndarray) and value.ndim == 0:
            return False
        if parts and isinstance(value, list | tuple | np.ndarray | str | bytes | bytearray | dict):
            return all(fits(one, parts[0]) for one in value)
        return isinstance(value, (np.ndarray, kind))
    return isinstance(value, kind)


def described(hint: Any) -> str:
    """A type in words."""
    origin, parts = typing.get_origin(hint), typing.get_args(hint)
    if origin in (typing.Union, types.UnionType):
        return " or ".join(dict.fromkeys(described(part) for part in parts))
    if origin is typing.Literal:
        return " or ".join(map(repr, parts))
    kind = origin or hint
    if kind in (Sequence, Iterable) and parts and typing.get_origin(parts[0]) is Mapping:
        return "a list of dicts"
    name = "None" if hint is None or hint is type(None) else getattr(kind, "__name__", str(kind))
    return WORDS.get(kind, name)


def shown(value: object) -> str:
    """A value in one short line, whatever its own `__repr__` does."""
    try:
        return clipped(repr(value), 40)
    except Exception:
        return "…"


def _text(fault: Exception) -> str:
    try:
        return str(fault)
    except Exception:
        return ""


def _kind(value: object) -> str:
    name = type(value).__name__
    return "None" if value is None else f"{'an' if name[:1] in 'aeiouAEIOU' else 'a'} {name}"


# ------------------------------------------------------------------------------------------------------ where it arose
def frames(fault: Exception) -> Iterator[types.FrameType]:
    trace = fault.__traceback__
    while trace is not None:
        yield trace.tb_frame
        trace = trace.tb_next


def is_ours(frame: types.FrameType) -> bool:
    return str(frame.f_globals.get("__name__", "")).startswith("mklcvx.")


def _raised_in(fault: Exception, *modules: str) -> bool:
    """Whether one of the modules raised it, itself or by what it called."""
    names = (str(frame.f_globals.get("__name__", "")) for frame in frames(fault))
    return any(name == module or name.startswith(f"{module}.") for name in names for module in modules)


def is_numerical(fault: Exception) -> bool:
    """Whether numbers are at fault: they leave the range, a matrix is singular, a numerical routine gives up."""
    if isinstance(fault, ArithmeticError | np.linalg.LinAlgError) or _text(fault).startswith(OF_NUMBERS):
        return True
    return isinstance(fault, ValueError | RuntimeError) and not isinstance(fault, OURS) and _raised_in(fault, *ROUTINES)


def of_caller(fault: Exception, values: Iterable[Any]) -> bool:
    """Whether it came out of a function that the caller has given."""
    codes = {code for value in values if (code := _code_of(value)) is not None}
    return bool(codes) and any(frame.f_code in codes for frame in frames(fault))


def _own_fault(fault: Exception, given: Mapping[str, Any]) -> str:
    """The argument whose own code has raised it, such as its `__array__`, in words; nothing if there is none."""
    innermost = list(frames(fault))[-1]
    ours = is_ours(innermost)
    home = str(innermost.f_globals.get("__name__", ""))
    seen = set() if ours else {id(value) for value in innermost.f_locals.values()}
    for name, value in given.items():
        parts = getattr(value, "__dict__", {}) if name == "self" else value
        for key, one in parts.items() if isinstance(parts, dict) else [(name, value)]:
            in_c = ours and name != "self" and callable(one) and _code_of(one) is None  # a class, or a function in C
            if (id(one) in seen and type(one).__module__ == home) or in_c:
                raised = f"{type(fault).__name__}: {clipped(_text(fault), 80)}"
                return f"{key} is {_kind(one)} that cannot be used ({raised}): give another one"
    return ""


def _code_of(value: Any) -> types.CodeType | None:
    while isinstance(value, functools.partial):
        value = value.func
    if isinstance(value, types.MethodType):
        value = value.__func__
    if isinstance(value, types.FunctionType):
        return value.__code__
    return getattr(vars(type(value)).get("__call__"), "__code__", None)
