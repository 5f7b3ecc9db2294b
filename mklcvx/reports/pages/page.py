"""The HTML document around the sections, and figures as inline SVG.

A page is one file that loads nothing else. It adapts to light and dark mode, phones and paper; figures use the page's
colours and fonts.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Sequence
from pathlib import Path

from ..._version import __version__
from ...errors import InputError, unheard
from ..plot._style import COLOURS, FAINT, INK, PAPER
from .html import Markup, element, escaped, joined

STYLE = Path(__file__).with_name("page.css").read_text(encoding="utf-8")


def page(title: str, subtitle: object, badge: Markup | None, sections: Sequence[Markup]) -> str:
    """Return a complete document with links to its sections."""
    titles = [re.search(r'id="([^"]*)"><h2>(.*?)</h2>', text) for text in sections]
    links = [element("a", Markup(match[2]), href=f"#{match[1]}") for match in titles if match is not None]
    head = joined([
        element("meta", charset="utf-8"),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="referrer", content="no-referrer"),
        element("meta", http_equiv="Content-Security-Policy", content="default-src 'none'; style-src 'unsafe-inline'"),
        element("title", title),
        Markup(f"<style>\n{STYLE}</style>"),
    ])  # fmt: skip
    body = joined([
        element("header", element("h1", title), badge, element("p", subtitle, class_="sub")),
        element("nav", *links),
        element("main", *sections),
        element("footer", f"mklcvx {__version__}. This page is complete in itself: it loads nothing."),
    ])  # fmt: skip
    root = element("html", element("head", head), element("body", body), lang="en")
    return f"<!DOCTYPE html>\n{root}\n"


def badge(text: str, kind: str) -> Markup:
    """Return a label; `kind` is good, bad or open."""
    return element("span", escaped(text), class_=f"badge {kind}")


# ------------------------------------------------------------------------------------------------------------ pictures
WIDTH = 4.3  # inches; text stays legible on a phone
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


def inline(draw: Callable[[object], object], height: float, title: str, prefix: str) -> Markup:
    """Return what `draw(axes)` draws as an SVG element; `prefix` makes its ids unique on the page."""
    try:
        from matplotlib import style
        from matplotlib.figure import Figure
    except ImportError:
        raise InputError("reports need matplotlib: pip install 'mklcvx[plot]'") from None
    written = io.StringIO()
    with style.context(["default", SETTINGS]), unheard(UserWarning, "Glyph .* missing"):  # the browser's fonts have it
        drawing = Figure(figsize=(WIDTH, height), layout="constrained")
        draw(drawing.subplots())
        drawing.savefig(written, format="svg", metadata={"Date": None, "Creator": None, "Format": None, "Type": None})
    return Markup(_adapted(written.getvalue(), title, prefix))


def _adapted(text: str, title: str, prefix: str) -> str:
    """Keep the SVG element alone, without size, comments and namespaces, and adapt its tags to the page."""
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>|<!--.*?-->", "", text, flags=re.DOTALL)
    head, rest = text.split(">", 1)
    box = re.search(r'viewBox="[^"]*"', head)
    assert box is not None
    rest = re.sub(r"<[^>]*>", lambda tag: _retold(tag[0], prefix), rest)
    return f'<svg {box[0]} role="img" aria-label="{escaped(title)}">{rest}'


def _retold(tag: str, prefix: str) -> str:
    """Prefix ids and references to them, replace known colours by CSS variables, and keep only the size of fonts."""
    tag = re.sub(r"(?<=\sid=\")|(?<=url\(#)|(?<=href=\"#)", f"{prefix}-", tag).replace("xlink:href", "href")
    tag = re.sub(r"\b(fill|stroke)=\"(#[^\"]*)\"", r'style="\1: \2"', tag)  # hatches have no style attribute
    for colour, variable in VARIABLES.items():
        tag = tag.replace(colour, variable)
    return re.sub(r"font: (?:[a-z]+ )*([\d.]+px)[^;\"]*", r"font-size: \1", tag)
