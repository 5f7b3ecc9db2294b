"""The page around the sections, and the pictures in it: one file that asks nothing of any other.

It is made for light, dark, a phone and paper; pictures are SVG in the page's colours, which follow, and in its letters.
"""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from ..._version import __version__
from ...errors import InputError
from ...io.writing import write_whole
from ..plot._style import COLOURS, FAINT, INK, PAPER
from .html import Markup, element, escaped, joined

LIGHT = """--ink:#1b1f24;--paper:#ffffff;--soft:#f4f6f8;--line:#d5dae0;--faint:#7b828a;--good:#0a6b3d;--bad:#b3261e;
--open:#8a5a00;--c1:#0072b2;--c2:#d55e00;--c3:#009e73;--c4:#b0558a;--c5:#b87900;--c6:#3a8fc4"""
DARK = """--ink:#e4e8ec;--paper:#15181c;--soft:#1f242a;--line:#3a424b;--faint:#8d959e;--good:#5fd39a;--bad:#ff8a80;
--open:#f0bd5c;--c1:#4da6e0;--c2:#ff8a3d;--c3:#3fd0a4;--c4:#e39ac4;--c5:#f0b93a;--c6:#8acbf2"""
STYLE = f"""
:root{{color-scheme:light dark;{LIGHT}}}
@media (prefers-color-scheme:dark){{:root{{{DARK}}}}}
@media print{{:root{{color-scheme:light;{LIGHT}}}}}
*{{box-sizing:border-box}}
html{{-webkit-text-size-adjust:100%}}
body{{margin:0 auto;max-width:66rem;padding:1.2rem clamp(.9rem,4vw,2.5rem) 3rem;background:var(--paper);
color:var(--ink);overflow-wrap:anywhere;
font:1rem/1.55 system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans","DejaVu Sans",sans-serif}}
h1{{font-size:clamp(1.35rem,5vw,1.9rem);line-height:1.2;margin:.2rem 0 .4rem}}
h2{{font-size:1.25rem;margin:2.2rem 0 .7rem;padding-top:.7rem;border-top:1px solid var(--line)}}
h3{{font-size:1.02rem;margin:1.4rem 0 .4rem}}
p{{margin:.6rem 0;max-width:46rem}}
.sub,figcaption,footer{{color:var(--faint);font-size:.9rem}}
nav{{display:flex;flex-wrap:wrap;gap:.3rem 1rem;font-size:.92rem;margin:.8rem 0}}
a{{color:var(--c1)}}
.badge{{display:inline-block;border:1.5px solid currentColor;border-radius:1rem;padding:.05rem .7rem;font-weight:600}}
.good{{color:var(--good)}}.bad{{color:var(--bad)}}.open{{color:var(--open)}}
.said{{background:var(--soft);border-left:4px solid var(--line);padding:.6rem .9rem;margin:.8rem 0;max-width:46rem}}
dl{{margin:.6rem 0}}
dl>div{{display:grid;grid-template-columns:minmax(7rem,11rem) 1fr;gap:.1rem 1rem;padding:.28rem 0;
border-bottom:1px solid var(--line)}}
dt{{color:var(--faint)}}dd{{margin:0;font-variant-numeric:tabular-nums}}
.theorem{{background:var(--soft);padding:.3rem .9rem;border-radius:.4rem}}
.theorem dt{{font-style:italic}}.theorem>div:last-child{{border-bottom:0}}
.theorem,.formula{{font-family:Cambria,"Noto Serif","DejaVu Serif",Georgia,serif}}
.formula{{margin:.2rem 0 .2rem 1.4rem;text-indent:-.6rem;padding-left:.6rem}}
sub,sup{{line-height:0;font-size:.72em}}
code,pre{{font-family:ui-monospace,Consolas,"DejaVu Sans Mono",monospace;font-size:.92em}}
pre{{background:var(--soft);padding:.6rem .9rem;border-radius:.4rem;white-space:pre-wrap;margin:.5rem 0}}
.wide{{overflow-x:auto;margin:.6rem 0}}
table{{border-collapse:collapse;font-size:.93rem}}
th,td{{text-align:left;padding:.26rem .9rem .26rem 0;border-bottom:1px solid var(--line);vertical-align:top;
overflow-wrap:break-word;min-width:3.2rem}}
th{{font-weight:600;color:var(--faint)}}
td.n,th.n{{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}}
.spark{{display:block;height:1.3rem;width:auto;max-width:9rem;fill:var(--c1);border-bottom:1px solid var(--faint)}}
.figures{{display:flex;flex-wrap:wrap;gap:1rem 2rem}}
figure{{margin:.6rem 0;flex:1 1 19rem;max-width:30rem}}
figure svg{{display:block;width:100%;height:auto;overflow:visible}}
figure svg text{{fill:currentColor;font-family:inherit}}
footer{{margin-top:2.5rem;border-top:1px solid var(--line);padding-top:.6rem}}
@media (max-width:30rem){{dl>div{{grid-template-columns:6.4rem 1fr}}dt{{font-size:.9rem}}
.theorem>div{{grid-template-columns:1fr}}.stack thead{{display:none}}.stack table,.stack tbody{{display:block}}
.stack tr{{display:block;border-bottom:1px solid var(--line);padding:.4rem 0}}
.stack td,.stack td.n{{display:grid;grid-template-columns:6.4rem 1fr;gap:1rem;border:0;padding:.1rem 0;text-align:left;
white-space:normal}}.stack td:first-child{{display:block;font-weight:600}}
.stack td[data-label]:has(>span:empty){{display:none}}
.stack td[data-label]::before{{content:attr(data-label);color:var(--faint);font-size:.9rem}}

th,td{{padding-right:.6rem}}.formula{{margin-left:.4rem}}}}
@media print{{@page{{margin:16mm 14mm}}body{{max-width:none;padding:0;font-size:10pt}}nav{{display:none}}
h2{{margin-top:1.2rem}}h2,h3{{break-after:avoid}}figure,tr,.said,dl>div{{break-inside:avoid}}.wide{{overflow:visible}}
figure{{flex-basis:7.5cm;max-width:8.6cm}}a{{color:inherit;text-decoration:none}}}}
"""


def page(title: str, subtitle: Any, badge: Markup | None, sections: Sequence[Markup]) -> str:
    """A whole document; the sections are reached by their titles."""
    titles = [re.search(r'id="([^"]*)"><h2>(.*?)</h2>', text) for text in sections]
    links = [element("a", Markup(found[2]), href=f"#{found[1]}") for found in titles if found is not None]
    head = joined([
        element("meta", charset="utf-8"),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="referrer", content="no-referrer"),
        element("meta", http_equiv="Content-Security-Policy", content="default-src 'none'; style-src 'unsafe-inline'"),
        element("title", title),
        Markup(f"<style>{STYLE}</style>"),
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
    """`kind` is good, bad or open."""
    return element("span", escaped(text), class_=f"badge {kind}")


def save(path: str | Path, text: str) -> None:
    """Whole or not at all."""
    write_whole(path, lambda file: file.write(text.encode("utf-8")))


# ------------------------------------------------------------------------------------------------------------ pictures
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
