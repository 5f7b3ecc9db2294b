"""A picture as SVG inside a page: in the page's colours, which follow light, dark and paper, and in its letters."""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Callable
from typing import Any

from ..errors import InputError
from ..plot._style import COLOURS, FAINT, INK, PAPER
from .html import Markup, escaped

WIDTH = 4.3  # inches: on a phone the letters stay legible
VARIABLES = {
    INK: "currentColor", PAPER: "var(--paper)", FAINT: "var(--faint)",
    **{colour: f"var(--c{index})" for index, colour in enumerate(COLOURS, start=1)},
}  # fmt: skip
SETTINGS = {
    "svg.fonttype": "none", "svg.hashsalt": "mklcvx", "font.size": 8.5, "axes.unicode_minus": True,
    "figure.facecolor": "none", "axes.facecolor": "none", "savefig.facecolor": "none", "legend.facecolor": PAPER,
    "legend.framealpha": 0.85, "legend.edgecolor": FAINT, "axes.spines.top": False, "axes.spines.right": False,
    "axes.linewidth": 0.7, "hatch.linewidth": 0.7,
}  # fmt: skip


def inline(draw: Callable[[Any], Any], height: float, title: str, prefix: str) -> Markup:
    """What `draw` draws on axes, as an element; `prefix` keeps its ids apart from those of other pictures."""
    try:
        import matplotlib
        from matplotlib.figure import Figure
    except ImportError:
        raise InputError("reports need matplotlib: pip install 'mklcvx[plot]'") from None
    written = io.StringIO()
    with matplotlib.rc_context(SETTINGS), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing")  # the reader's own fonts will have it
        drawing = Figure(figsize=(WIDTH, height), layout="constrained")
        draw(drawing.subplots())
        drawing.savefig(written, format="svg", metadata={"Date": None, "Creator": None, "Format": None, "Type": None})
    return Markup(_adapted(written.getvalue(), title, prefix))


def _adapted(text: str, title: str, prefix: str) -> str:
    """Only the element itself, without size, comments and namespaces; ids with a prefix; colours as variables."""
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>|<!--.*?-->", "", text, flags=re.DOTALL)
    head, rest = text.split(">", 1)
    box = re.search(r'viewBox="[^"]*"', head)
    assert box is not None
    words = escaped(title)
    rest = re.sub(r"(?<=\sid=\")(?=[^\"]*\")", f"{prefix}-", rest)
    rest = re.sub(r"(?<=url\(#)|(?<=href=\"#)", f"{prefix}-", rest)
    rest = re.sub(r"(style=\")([^\"]*)(\")", lambda found: found[1] + _restyled(found[2]) + found[3], rest)
    return f'<svg {box[0]} role="img" aria-label="{words}">{rest.replace("xlink:href", "href")}'


def _restyled(style: str) -> str:
    """Known colours become variables, the font its size alone."""
    for colour, variable in VARIABLES.items():
        style = style.replace(colour, variable)
    return re.sub(r"font: (?:[a-z]+ )*([\d.]+px)[^;]*", r"font-size: \1", style)
