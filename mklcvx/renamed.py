"""Names that have moved: the old one still leads to the new object, and says so."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def renamed(
    module: str, names: Mapping[str, str], otherwise: Callable[[str], Any] | None = None
) -> Callable[[str], Any]:
    """A module's `__getattr__` for old names, each with where it is now: {"old": "mklcvx.place:new"}.

    `otherwise` is the `__getattr__` that the module had before.
    """

    def find(name: str) -> Any:
        if name not in names:
            if otherwise is not None:
                return otherwise(name)
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        place, _, new = names[name].partition(":")
        warnings.warn(f"{module}.{name} is now {place}.{new}: use that name", FutureWarning, stacklevel=2)
        return getattr(import_module(place), new)

    return find
