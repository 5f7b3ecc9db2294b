"""Numbers in tables of Markdown: medians, ratios, exponents, few digits."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np


def median(values: Iterable[float | None]) -> float | None:
    """The median, what was never reached counting as infinite; None where that is the median."""
    found = float(np.median([np.inf if value is None else value for value in values]))
    return found if np.isfinite(found) else None


def ratio(above: float | None, below: float | None) -> float | None:
    return None if above is None or below is None or below == 0 else above / below


def exponent(sizes: Sequence[float], costs: Sequence[float | None]) -> float | None:
    """The slope of log cost against log size, by least squares over the sizes where there is a cost."""
    known = [(np.log(size), np.log(cost)) for size, cost in zip(sizes, costs, strict=True) if cost]
    if len(known) < 3:
        return None
    return round(float(np.polyfit(*np.transpose(known), 1)[0]), 3) + 0.0


def shown(value: float | None, digits: int = 3, missing: str = "never") -> str:
    if value is None or not np.isfinite(value):
        return missing
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.{digits}g}"


def table(header: Sequence[str], rows: Iterable[Sequence[Any]]) -> list[str]:
    cells = [[str(cell) if isinstance(cell, str) else shown(cell) for cell in row] for row in rows]
    return ["| " + " | ".join(header) + " |", "|" + "---|" * len(header), *("| " + " | ".join(r) + " |" for r in cells)]
