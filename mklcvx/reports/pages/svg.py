"""A picture as SVG inside a page: in the page's colours, which follow light, dark and paper, and in its letters."""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Callable
from typing import Any

from ...errors import InputError
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
        from matplotlib import style
        from matplotlib.figure import Figure
    except ImportError:
        raise InputError("reports need matplotlib: pip install 'mklcvx[plot]'") from None
    written = io.StringIO()
    with style.context(["default", SETTINGS]), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing")  # the reader's own fonts will have it
        drawing = Figure(figsize=(WIDTH, height), layout="constrained")
        draw(drawing.subplots())
        drawing.savefig(written, format="svg", metadata={"Date": None, "Creator": None, "Format": None, "Type": None})
    return Markup(_adapted(written.getvalue(), title, prefix))


def _adapted(text: str, title: str, prefix: str) -> str:
    """Only the element itself, without size, comments and namespaces, every tag in the page's terms."""
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>|<!--.*?-->", "", text, flags=re.DOTALL)
    head, rest = text.split(">", 1)
    box = re.search(r'viewBox="[^"]*"', head)
    assert box is not None
    rest = re.sub(r"<[^>]*>", lambda tag: _retold(tag[0], prefix), rest)
    return f'<svg {box[0]} role="img" aria-label="{escaped(title)}">{rest}'


def _retold(tag: str, prefix: str) -> str:
    """Ids and what refers to them with a prefix; known colours as variables; of a font its size alone."""
    tag = re.sub(r"(?<=\sid=\")|(?<=url\(#)|(?<=href=\"#)", f"{prefix}-", tag).replace("xlink:href", "href")
    tag = re.sub(r"\b(fill|stroke)=\"(#[^\"]*)\"", r'style="\1: \2"', tag)  # of hatches, which have no style yet
    for colour, variable in VARIABLES.items():
        tag = tag.replace(colour, variable)
    return re.sub(r"font: (?:[a-z]+ )*([\d.]+px)[^;\"]*", r"font-size: \1", tag)
