"""The family tree drawn: an SVG whose boxes lead to the formulations' pages, from the tested list of edges."""

from __future__ import annotations

from html import escape
from typing import Any

from docutils import nodes
from docutils.parsers.rst import Directive

from family import EDGES, PLACES, SPOTS, Edge

COLUMN, ROW, LEFT, TOP, HIGH = 122, 104, 46, 24, 34


def centre(name: str) -> tuple[float, float]:
    column, row = PLACES[name]
    return LEFT + column * COLUMN, TOP + row * ROW


def wide(name: str) -> float:
    return 24 + 9.2 * len(name)


def box(name: str) -> str:
    x, y = centre(name)
    return (
        f'<a href="formulations/{name}.html"><rect x="{x - wide(name) / 2:.0f}" y="{y - HIGH / 2}" '
        f'width="{wide(name):.0f}" height="{HIGH}" rx="6"/><text x="{x:.0f}" y="{y + 5:.0f}">{escape(name)}</text></a>'
    )


def ends(edge: Edge) -> tuple[float, float, float, float]:
    """From border to border, along the line between the centres."""
    (x, y), (u, v) = centre(edge.of), centre(edge.gives)
    return (*_border(edge.of, u - x, v - y), *_border(edge.gives, x - u, y - v))


def _border(name: str, across: float, down: float) -> tuple[float, float]:
    x, y = centre(name)
    half, high = wide(name) / 2 + 3, HIGH / 2 + 3
    share = min(half / abs(across) if across else 1e9, high / abs(down) if down else 1e9)
    return x + share * across, y + share * down


def arrow(edge: Edge) -> str:
    x, y, u, v = ends(edge)
    style = "" if edge.exact else ' stroke-dasharray="6 4"'
    place = SPOTS.get((edge.of, edge.gives), 0.42)
    a, b = x + place * (u - x), y + place * (v - y)
    return (
        f'<line x1="{x:.0f}" y1="{y:.0f}" x2="{u:.0f}" y2="{v:.0f}"{style} marker-end="url(#tip)"/>'
        f'<text class="at" x="{a:.0f}" y="{b + 4:.0f}">{escape(edge.sign)}</text>'
    )


def svg() -> str:
    width = max(centre(name)[0] + wide(name) / 2 for name in PLACES) + 10
    height = max(centre(name)[1] for name in PLACES) + HIGH
    label = "Family tree of MKL formulations: an arrow leads from a formulation to its special case"
    tip = (
        '<defs><marker id="tip" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="8" markerHeight="8" '
        'orient="auto-start-reverse"><path d="M0 0 10 5 0 10z"/></marker></defs>'
    )
    drawn = "".join(map(arrow, EDGES)) + "".join(map(box, PLACES))
    return (
        f'<div class="family-tree"><svg viewBox="0 0 {width:.0f} {height:.0f}" role="img" aria-label="{label}">'
        f"{tip}{drawn}</svg></div>"
    )


class FamilyTree(Directive):
    """`{family-tree}`: the picture."""

    def run(self) -> list[nodes.Node]:
        return [nodes.raw("", svg(), format="html")]


def edge_table() -> str:
    rows = [
        f"| [`{edge.of}`](formulations/{edge.of}.md) | {edge.at} | {'is' if edge.exact else 'tends to'} "
        f"| [`{edge.gives}`](formulations/{edge.gives}.md) |"
        for edge in EDGES
    ]
    return "\n".join(["| formulation | at | | becomes |", "|---|---|---|---|", *rows])


def setup(app: Any) -> dict[str, Any]:
    app.add_directive("family-tree", FamilyTree)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
