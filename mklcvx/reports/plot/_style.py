"""Styles of all figures: markers, lines and hatches differ wherever colours do.

Colours: Okabe & Ito 2008, which the colour-blind tell apart. A page may replace them, ink and paper by its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...errors import InputError

INK, PAPER, FAINT = "#000000", "#ffffff", "#808080"
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
LINES = ("-", "--", "-.", ":")
HATCH = "////"
LONGEST = 28  # characters of a name


def look(index: int) -> dict[str, str]:
    """Return the style of a line; the first 84 differ, and consecutive ones differ in colour, marker and line."""
    styles = {"color": COLOURS, "marker": MARKERS, "linestyle": LINES}
    return {name: choices[index % len(choices)] for name, choices in styles.items()}


def axes(ax: Any, size: tuple[float, float] = (5.6, 3.6)) -> Any:
    """Return the given axes, or new ones."""
    if ax is not None:
        return ax
    try:
        from matplotlib import pyplot
    except ImportError:
        raise InputError("pictures need matplotlib: pip install 'mklcvx[plot]'") from None
    return pyplot.subplots(figsize=size, layout="constrained")[1]


def words(name: Any, longest: int = LONGEST) -> str:
    """Make a name printable, and shorten it in the middle."""
    text = "".join(c if c.isprintable() else "�" for c in str(name))
    return text if len(text) <= longest else f"{text[: longest - longest // 3 - 1]}…{text[-(longest // 3) :]}"


def legend(ax: Any, handles: Sequence[Any], names: Sequence[Any], **options: Any) -> None:
    """Add a legend whose names are not parsed: dollars and leading underscores are shown."""
    made = ax.legend(handles, [str(number) for number in range(len(handles))], **{"fontsize": "small", **options})
    for text, name in zip(made.get_texts(), names, strict=True):
        text.set_parse_math(False)
        text.set_text(words(name))


def name_of_kernels(names: Sequence[Any] | None, count: int) -> list[str]:
    if names is None:
        return [f"K{m + 1}" for m in range(count)]
    if len(names) != count:
        raise InputError(f"names: {len(names)} names for {count} kernels: give one per kernel")
    return [words(name) for name in names]
