"""Checks at the doors: what cannot be used is refused in one line, before it is used.

A public function calls them on its arguments at its top. Arrays are read by `numbers.read_array`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from ..errors import InputError, InputTypeError, clipped, nearest


def check_type(wanted: type | tuple[type, ...], words: str, **given: object) -> None:
    """Refuse arguments that are of no such type; the words say what to give."""
    for name, value in given.items():
        if not isinstance(value, wanted):
            raise misfit(name, value, words)


def check_functions(**given: object) -> None:
    for name, value in given.items():
        if not callable(value) or isinstance(value, type):
            raise misfit(name, value, "a function")


def check_flags(**given: object) -> None:
    check_type((bool, np.bool_), "True or False", **given)


def check_dicts(**given: object) -> None:
    check_type((Mapping, type(None)), "a dict or None", **given)


def check_lists(words: str, **given: object) -> None:
    """Refuse what has no entries, an array without dimensions among it."""
    for name, value in given.items():
        if not isinstance(value, Iterable) or getattr(value, "ndim", 1) == 0:
            raise misfit(name, value, words)


def misfit(name: str, value: object, words: str) -> InputTypeError:
    return InputTypeError(f"{name} = {shown(value)} is {kind_of(value)}: give {words}")


def check_name(kind: str, name: object, known: Iterable[str]) -> None:
    """Refuse a name that there is not, and suggest the nearest one."""
    if not isinstance(name, str) or name not in known:
        raise InputError(f"unknown {kind} {shown(name)}: {nearest(str(name)[:40], known)}")


def shown(value: object) -> str:
    """A value in one short line, whatever its own `__repr__` does."""
    try:
        return clipped(repr(value), 40)
    except Exception:
        return "…"


def kind_of(value: object) -> str:
    name = clipped(type(value).__name__, 40)
    return "None" if value is None else f"{'an' if name[:1] in 'aeiouAEIOU' else 'a'} {name}"
