"""Functions of an Instance that accept kernels and labels in its place."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar, cast, overload

from numpy.typing import ArrayLike

from ..errors import InputError
from .checks import check_type
from .faults import told
from .instance import Instance
from .low_rank import Kernels

Options = ParamSpec("Options")
Result = TypeVar("Result")
Found = TypeVar("Found", covariant=True)


class TakesProblem(Protocol[Options, Found]):
    """A function of an Instance, or of kernels and y in its place."""

    @overload
    def __call__(self, instance: Instance, /, *args: Options.args, **options: Options.kwargs) -> Found: ...

    @overload
    def __call__(self, kernels: Kernels, y: ArrayLike, /, *args: Options.args, **options: Options.kwargs) -> Found: ...


def takes_kernels(function: Callable[Concatenate[Instance, Options], Result]) -> TakesProblem[Options, Result]:
    """Let a function of an Instance accept kernels and y as well."""

    @wraps(function)
    def call(*args: Any, **options: Any) -> Result:
        try:
            return function(*_posed(function.__name__, args, options), **options)
        except Exception as fault:
            refusal = told(fault, (*args, *options.values()))
            if refusal is fault:
                raise
            raise refusal from None

    return cast(TakesProblem[Options, Result], call)


def _posed(name: str, args: tuple[Any, ...], options: dict[str, Any]) -> tuple[Any, ...]:
    """The arguments with an Instance first; `kernels`, `y` and `response` are removed from the options."""
    if "instance" in options:
        check_type(Instance, "an Instance", instance=options["instance"])
    if not args and "kernels" in options:
        args = (options.pop("kernels"),)
    if not args:
        return args
    usage = f"give {name}(instance, 'l1') or {name}(kernels, y, 'l1')"
    first, rest = args[0], args[1:]
    if isinstance(first, Instance):
        for target in ("y", "response"):
            if target in options or (rest and _depth(rest[0])):
                raise InputError(f"{name}: {target} is given beside an Instance, which has its own: {usage}")
        return args
    if isinstance(first, str | bytes | os.PathLike):
        raise InputError(f"{name}: the first argument is {str(first)!r:.60}, a word: {usage}; files: load_instance")
    given = {target: options.pop(target) for target in ("y", "response") if target in options}
    if given:
        return Instance(first, **given), *rest
    if not rest or isinstance(rest[0], str):
        fault = f"the second is {rest[0]!r:.60}" if rest else "y is missing"
        raise InputError(f"{name}: {fault}, and the first argument is not an Instance: {usage}")
    if isinstance(rest[0], Instance) or _depth(first) < 2 <= _depth(rest[0]):
        raise InputError(f"{name}: the first two arguments are the wrong way round: {usage}")
    return Instance(first, rest[0]), *rest[1:]


def _depth(value: Any) -> int:
    """The number of dimensions of an array, or of nested lists."""
    if isinstance(value, list | tuple):
        return 1 + (_depth(value[0]) if value else 0)
    return int(getattr(value, "ndim", 0))
