"""KEY=VALUE on the command line."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from .errors import InputError

Settings = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="A parameter, for example C=10 or nu=0.3; may be repeated."),
]


def parse_grid(items: list[str]) -> dict[str, list[Any]]:
    """KEY=V1,V2,... as lists of numbers, or of words."""
    grid: dict[str, list[Any]] = {}
    for item in items:
        key, separator, values = item.partition("=")
        parts = [part.strip() for part in values.split(",")]
        if not separator or not key or not all(parts):
            raise InputError(f"--grid {item!r} is not KEY=V1,V2,...: write for example --grid C=0.1,1,10")
        if key in grid:
            raise InputError(f"--grid {key} is given twice: keep one")
        grid[key] = [_number_or_word(part) for part in parts]
    return grid


def parse_settings(items: list[str], option: str = "--set") -> dict[str, Any]:
    """KEY=VALUE pairs as numbers, or as words where they are none."""
    given: dict[str, Any] = {}
    example = "C=10" if option == "--set" else "seed=1"
    for item in items:
        key, separator, value = item.partition("=")
        if not separator or not key or not value:
            raise InputError(f"{option} {item!r} is not KEY=VALUE: write for example {option} {example}")
        if key in given:
            raise InputError(f"{option} {key} is given twice: keep one")
        given[key] = _number_or_word(value)
    return given


def _number_or_word(value: str) -> Any:
    for kind in (int, float):
        try:
            return kind(value)
        except ValueError:
            continue
    return value
