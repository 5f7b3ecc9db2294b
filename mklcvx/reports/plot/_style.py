"""Styles of all figures: markers, lines and hatches differ wherever colours do, and no colour comes twice among forty.

Colours: Okabe & Ito 2008, which the colour-blind tell apart, then others that are far from them and from each other
(by their distance in OKLab; on white and on dark paper). A page may replace the first ones, ink and paper by its own.
Legends stand beside the axes, where they cover nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...errors import InputError
from ...problem.checks import check_lists, check_type

INK, PAPER, FAINT = "#000000", "#ffffff", "#808080"
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")
FURTHER = (
    "#7a2ca6", "#a6004e", "#645900", "#907aff", "#90c800", "#7a597a", "#a6bc90", "#909000", "#e985ff", "#c8b1e9",
    "#90370b", "#006459", "#f4a69b", "#4e4ed3", "#00d3bc", "#bc43b1", "#007a00", "#ff646f", "#a67a64", "#8585bc",
    "#0090ff", "#37a616", "#4e8590", "#bc4e59", "#00d37a", "#434e90", "#ff6fc8", "#de4385", "#ff8543", "#90377a",
    "#6f8559", "#b16fd3", "#bc1600", "#f49bd3",
)  # fmt: skip
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
LINES = ("-", "--", "-.", ":")
HATCH = "////"
LONGEST = 28  # characters of a name
SMALL, SMALLEST = 8.3, 5.0  # points: the size of a legend's letters, and of those of a long one
LINE, LETTER, HANDLE = 1.5, 0.55, 4.8  # a legend's row, letter, and the line with its gaps, in units of that size
BELOW = 36.0  # points from the axes to a legend below them: tick labels and the axis label
ROWS = 4  # of a legend below the axes; longer ones stand on the right


def look(index: int) -> dict[str, str]:
    """Return the style of a line; the first 40 differ in colour, and consecutive ones in marker and line too."""
    styles = {"color": COLOURS + FURTHER, "marker": MARKERS, "linestyle": LINES}
    return {name: choices[index % len(choices)] for name, choices in styles.items()}


def axes(ax: Any, size: tuple[float, float] = (5.6, 3.6)) -> Any:
    """Return the given axes, or new ones."""
    try:
        from matplotlib import pyplot
    except ImportError:
        raise InputError("pictures need matplotlib: pip install 'mklcvx[plot]'") from None
    if ax is not None:
        check_type(pyplot.Axes, "axes of matplotlib", ax=ax)
        return ax
    return pyplot.subplots(figsize=size, layout="constrained")[1]


def words(name: Any, longest: int = LONGEST) -> str:
    """Make a name printable, and shorten it in the middle."""
    text = "".join(c if c.isprintable() else "�" for c in str(name))
    return text if len(text) <= longest else f"{text[: longest - longest // 3 - 1]}…{text[-(longest // 3) :]}"


def legend(ax: Any, handles: Sequence[Any], names: Sequence[Any], own: bool = False, **options: Any) -> None:
    """Add a legend beside the axes, below them if its names fit into a few rows, else on the right. Names are not
    parsed: dollars and leading underscores are shown. A figure of our `own` grows with it. With `loc` it stands inside.
    """
    texts = [words(name) for name in names]
    if "loc" not in options:
        texts, place = _beside(ax, texts, own)
        options = {**place, **options}
    made = ax.legend(handles, [str(number) for number in range(len(handles))], **{"fontsize": SMALL, **options})
    for text, name in zip(made.get_texts(), texts, strict=True):
        text.set_parse_math(False)
        text.set_text(name)


def _beside(ax: Any, texts: list[str], own: bool) -> tuple[list[str], dict[str, Any]]:
    """Return the names, shortened if the axes are narrow, and options of a legend outside of the axes."""
    from matplotlib.transforms import ScaledTranslation

    box, count, longest = ax.get_window_extent(), len(texts), max(map(len, texts), default=0)
    width, height = (72 * side / ax.figure.dpi for side in (box.width, box.height))
    plain = {"borderaxespad": 0.0, "frameon": False}
    columns = max(1, int(width / (SMALL * (LETTER * longest + HANDLE))))
    rows = -(-count // columns)
    if rows <= ROWS:
        shift = ScaledTranslation(0.0, -BELOW / 72, ax.figure.dpi_scale_trans)
        below = {"loc": "upper center", "bbox_to_anchor": (0.5, 0.0), "bbox_transform": ax.transAxes + shift}
        return texts, {**plain, **below, "ncols": max(1, -(-count // max(1, rows)))}
    right = {**plain, "loc": "upper left", "bbox_to_anchor": (1.02, 1.0)}
    if own:
        more = SMALL * (LETTER * longest + HANDLE), max(0.0, LINE * SMALL * count - height)
        ax.figure.set_size_inches(*(side + by / 72 for side, by in zip(ax.figure.get_size_inches(), more, strict=True)))
        return texts, right
    size = min(SMALL, max(SMALLEST, height / (LINE * count)))
    columns = -(-count // int(height / (LINE * size) + 0.01))
    room = max(6, int((0.6 * width / columns / size - HANDLE) / LETTER))
    return [words(text, room) for text in texts], {**right, "fontsize": size, "ncols": columns}


def name_of_kernels(names: Sequence[Any] | None, count: int) -> list[str]:
    if names is None:
        return [f"K{m + 1}" for m in range(count)]
    check_lists("a list of names", names=names)
    names = [*names]
    if len(names) != count:
        raise InputError(f"names: {len(names)} names for {count} kernels: give one per kernel")
    return [words(name) for name in names]
