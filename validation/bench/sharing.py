"""What the benchmarks share with the headlines: tables, exponents, pictures."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).resolve().parents[1] / "headlines"))

from measuring import exponent, shown, table
from plots import label, panels, style, ticks

LINES = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)))


def line(index: int) -> dict[str, Any]:
    """A line that differs from its neighbours without colours too: by marker and by dashes."""
    return {**style(index), "linestyle": LINES[index % len(LINES)]}


def legend(axis: Any, names: list[str]) -> None:
    """The names of the lines in a panel of their own, where they cover nothing."""
    for index, name in enumerate(names):
        axis.plot([], [], label=name, **line(index))
    axis.set_axis_off()


__all__ = ["exponent", "label", "legend", "line", "panels", "shown", "table", "ticks"]
