"""Names of solvers, and those that they had before."""

from __future__ import annotations

from ..renamed import warn

RENAMED = {"exact": "clarabel"}


def current_name(name: str) -> str:
    """The name that a solver has now."""
    return RENAMED.get(name, name) if isinstance(name, str) else name


def former_names(name: str) -> list[str]:
    """The names that a solver had before."""
    return [old for old, new in RENAMED.items() if new == name]


def accepted_name(name: str) -> str:
    """The name that a solver has now; an old one warns."""
    new = current_name(name)
    if isinstance(name, str) and new != name:
        warn(f"solver {name!r} is now {new!r}: use that name")
    return new
